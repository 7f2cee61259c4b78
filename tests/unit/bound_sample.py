"""A store with known losses: two ranks, of which the second starts late; fsync, a tail, and work between operations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.core.types import Observation, Run
from iosonde.engine._native import KINDS
from iosonde.store import Store

MS = 10**6
SIZE = 2**20
COUNT = 200  # writes of a rank


def store(path: str | Path, repetitions: int = 6) -> Store:
    """Writes of 1 MiB on two nodes: 2 ms each, every 100th 30 ms; fsync 40 ms; rank 1 starts 50 ms late; all of it a
    little more in each repetition."""
    made = Store.create(path)
    for repetition in range(repetitions):
        made.append(_run(repetition))
    return made


def _run(repetition: int) -> Run:
    ranks, tables = [], []
    for rank in range(2):
        rows = np.zeros(COUNT + 1, OPERATION)
        rows["rank"], rows["kind"], rows["size"] = rank, KINDS.index("write"), SIZE
        rows["duration_ns"] = 2 * MS + repetition * 10_000 + 1000 * rank
        rows["duration_ns"][99::100] = 30 * MS
        rows["kind"][-1], rows["duration_ns"][-1] = KINDS.index("fsync"), 40 * MS + repetition * MS
        gaps = np.full(COUNT + 1, 20_000 + repetition * 1000)
        began = (50 * MS + repetition * MS) * rank
        rows["start_ns"] = began + np.cumsum(rows["duration_ns"] + gaps) - rows["duration_ns"] - gaps
        ended = int(rows["start_ns"][-1] + rows["duration_ns"][-1])
        ranks.append(
            {"rank": rank, "host": "a", "node": rank, "started_ns": began, "ended_ns": ended, "bytes": COUNT * SIZE}
        )
        tables.append(rows)
    span = max(rank["ended_ns"] for rank in ranks)
    n_bytes = 2 * COUNT * SIZE
    phase = {
        "index": 0,
        "name": "write_large",
        "operation": "write_large",
        "comparable": True,
        "recorded_all": True,
        "duration_ns": span,
        "start_spread_ns": 50 * MS,
        "ranks": ranks,
        "cache": None,
        "totals": {"write": {"count": 2 * COUNT, "bytes": n_bytes, "errors": 0}},
    }
    return Run(
        id=f"w-{repetition}",
        experiment="w",
        source="test",
        started_at=f"2026-11-21T10:0{repetition}:00Z",
        seconds=span / 1e9,
        factors={"nodes": 2, "repetition": repetition},
        operations=np.concatenate(tables),
        observations=[Observation("write_large", "bandwidth_last_done", n_bytes / span * 1e9, "bytes/s")],
        phases=[phase],
    )
