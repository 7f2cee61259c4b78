"""``python -m tools_sample DIR``: a store with two trials of known operations, for ``show --as`` and its relatives.

Four ranks on two nodes, the second node's clock 5 s ahead. Ranks start 2 ms apart; rank 3 is half as fast; fsync and
close take long, as on a file system that writes back late.
"""

from __future__ import annotations

import sys

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.core.types import Experiment, Factor, Run, Trial
from iosonde.engine import _native
from iosonde.store import Store

RANKS, MIB = 4, 2**20
OFFSET_NS = 5_000_000_000
US = 1000


def _rank(phase: int, rank: int, steps: list[tuple[str, int, int, int, int]]) -> list[tuple]:
    """Operations one after the other, from ``rank`` × 2 ms on; a step is (kind, µs, size, offset, file)."""
    rows, now = [], 10**12 + rank * 2000 * US + (OFFSET_NS if rank >= 2 else 0)
    for kind, us, size, offset, file in steps:
        rows.append((rank, phase, _native.KINDS.index(kind), 0, size, file, offset, now, us * US))
        now += us * US
    return rows


def operations(trial: int) -> np.ndarray:
    """Of phases create (0), write_large (1), read_shared (2)."""
    rows: list[tuple] = []
    for rank in range(RANKS):
        slow = 2 if rank == 3 else 1
        small = [(kind, 50 + 10 * trial + n, 0, 0, n) for n in range(20) for kind in ("create", "close")]
        rows += _rank(0, rank, small)
        writes = [("write", slow * (900 + 100 * (n % 3) + 20 * trial), MIB, n * MIB, 0) for n in range(32)]
        ends = [("fsync", slow * 12_000, 0, 0, 0), ("close", slow * 3000, 0, 0, 0)]
        rows += _rank(1, rank, [("create", 800, 0, 0, 0), *writes, *ends])
        reads = [("read", slow * 300, MIB, (rank * 16 + n) * MIB, 0) for n in range(16)]
        rows += _rank(2, rank, [("open", 200, 0, 0, 0), *reads, ("close", 20, 0, 0, 0)])
    return np.sort(np.array(rows, OPERATION), order=["rank", "start_ns"])


def phase(index: int, name: str, measures: str, shared: bool = False, recorded_all: bool = True) -> dict:
    ranks = [{"rank": rank, "clock_offset_ns": OFFSET_NS if rank >= 2 else 0} for rank in range(RANKS)]
    return {
        "index": index,
        "name": name,
        "operation": name,
        "measures": measures,
        "shared": shared,
        "recorded_all": recorded_all,
        "clock_error_ns": 2000,
        "ranks": ranks,
    }


def run(trial: int) -> Run:
    return Run(
        id=f"zeus-{trial:04}",
        experiment="zeus",
        source="iosonde envelope",
        started_at=f"2026-11-21T10:{trial:02}:00Z",
        seconds=3.0,
        factors={"nodes": 2, "ranks_per_node": 2, "ranks": 4, "repetition": trial, "client_cache": "cold-verified"},
        observations=[],
        facts={"nodes": [0, 0, 1, 1], "target": "/mnt/zeus", "steps": [{"workload": "envelope", "direct": False}]},
        operations=operations(trial),
        phases=[
            phase(0, "create", "rate"),
            phase(1, "write_large", "bandwidth"),
            phase(2, "read_shared", "bandwidth", shared=True),
            phase(3, "open", "rate", recorded_all=False),
        ],
        seed=trial,
    )


def main(path: str) -> None:
    store = Store.create(path)
    store.save_experiment(
        Experiment(
            id="zeus",
            name="zeus",
            factors=[Factor("nodes", levels=(2,))],
            settings={},
            seed=1,
            trials=[Trial(n, {"nodes": 2}, n, n, n) for n in range(2)],
            created_at="2026-11-21T10:00:00Z",
        )
    )
    for trial in range(2):
        store.append(run(trial))


if __name__ == "__main__":
    main(sys.argv[1])
