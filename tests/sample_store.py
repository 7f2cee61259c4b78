"""``python -m sample_store DIR``: a small store with known content, for the examples in docs."""

from __future__ import annotations

import sys

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.engine import _native
from iosonde.store import Store

REPETITIONS, NODES = 3, (1, 2)


def operations(nodes: int, number: int) -> np.ndarray:
    """4 KiB reads at scattered offsets of a 64 MiB file, 60 to 130 µs each; the same on every machine."""
    rows = np.zeros(200 * nodes, OPERATION)
    n = np.arange(len(rows)) + 1000 * number
    rows["rank"] = np.repeat(np.arange(nodes), 200)
    rows["kind"] = _native.KINDS.index("read")
    rows["size"] = 4096
    rows["offset"] = n * 7919 % 2**14 * 4096
    rows["duration_ns"] = n * n * 6007 % 70_001 + 60_000
    for rank in range(nodes):
        mine = rows["rank"] == rank
        rows["start_ns"][mine] = 10**15 + np.cumsum(rows["duration_ns"][mine]) - rows["duration_ns"][mine]
    return rows


def run(number: int, nodes: int, repetition: int) -> Run:
    rows = operations(nodes, number)
    seconds = float((rows["start_ns"] + rows["duration_ns"]).max() - rows["start_ns"].min()) / 1e9
    rate = round(len(rows) / seconds)
    return Run(
        id=f"envelope-7f3a-{number:04}",
        experiment="envelope-7f3a",
        source="iosonde envelope",
        started_at=f"2026-11-21T10:{number:02}:00Z",
        seconds=round(seconds, 3) + 4,
        factors={"nodes": nodes, "repetition": repetition, "fs": "nfs"},
        observations=[
            Observation("read", "rate_last_done", rate, "operations/s", count=len(rows), includes="open,close"),
            Observation("read", "bandwidth_last_done", rate * 4096, "bytes/s", count=len(rows), includes="open,close"),
            *(Observation("read", "seconds", seconds, "s", rank=rank, count=200) for rank in range(nodes)),
        ],
        facts={"hosts": [f"node{number:02}" for number in range(1, nodes + 1)], "target": "/mnt/zeus"},
        operations=rows,
        phases=[{"index": 0, "name": "read"}],
        seed=number,
        missing=["rank 1 on node02 did not finish the phase read"] if number == 5 else [],
    )


def main(path: str) -> None:
    cells = [(nodes, repetition) for repetition in range(REPETITIONS) for nodes in NODES]
    store = Store.create(path)
    store.save_experiment(
        Experiment(
            id="envelope-7f3a",
            name="MTC envelope of /mnt/zeus",
            factors=[Factor("nodes", levels=NODES)],
            settings={"target": "/mnt/zeus"},
            trials=[Trial(n, {"nodes": cell[0]}, cell[1], cell[1], n) for n, cell in enumerate(cells)],
            seed=7,
            created_at="2026-11-21T10:00:00Z",
        )
    )
    for number, cell in enumerate(cells):
        store.append(run(number, *cell))


if __name__ == "__main__":
    main(sys.argv[1])
