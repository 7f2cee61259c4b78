"""A store of many made-up runs: 5 node counts × 2 file systems × 4 request sizes, two operations of 20 calls a rank."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.engine._native import KINDS
from iosonde.store import Store

NODES, FILE_SYSTEMS, SIZES = (1, 2, 4, 8, 16), ("nfs", "ext4"), (2**12, 2**16, 2**20, 2**22)
CELLS = [(nodes, fs, size) for nodes in NODES for fs in FILE_SYSTEMS for size in SIZES]
CALLS = 20
_AT_ONCE = 500


def many_runs(path: Path, n: int, seed: int = 1) -> None:
    """Make the store."""
    store, random = Store.create(path), np.random.default_rng(seed)
    factors = [Factor("nodes", "", NODES), Factor("fs", "", FILE_SYSTEMS), Factor("request_size", "bytes", SIZES)]
    store.save_experiment(Experiment("many", "many", factors, {}, [], seed, "2026-11-01T00:00:00Z"))
    for first in range(0, n, _AT_ONCE):
        store.append_many([_run(number, random) for number in range(first, min(n, first + _AT_ONCE))])


def _run(number: int, random: np.random.Generator) -> Run:
    nodes, fs, size = CELLS[number % len(CELLS)]
    phases, tables, observations = [], [], []
    for index, (operation, base) in enumerate((("write", 200e6), ("read", 500e6))):
        rate = base * nodes**0.8 * (1.3 if fs == "ext4" else 1.0) * (size / 2**20) ** 0.2 * random.lognormal(0, 0.05)
        ranks = list(_ranks(index, operation, nodes, size, rate, random))
        tables += [rows for _, rows in ranks]
        phases.append(_phase(index, operation, size, [rank for rank, _ in ranks]))
        observations += [
            Observation(operation, "bandwidth_last_done", rate, "bytes/s"),
            Observation(operation, "bandwidth_sum_of_ranks", 1.1 * rate, "bytes/s"),
        ]
    facts = {"target": "/mnt/x", "machine": {"host": {"name": "node-0", "boot_id": "b"}, "mount": {"type": "nfs4"}}}
    at = f"2026-11-{1 + number // 1440 % 28:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"
    settings = {"nodes": nodes, "fs": fs, "request_size": size, "repetition": number // len(CELLS)}
    return Run(
        id=f"r-{number:06}",
        experiment="many",
        source="iosonde experiment",
        started_at=at,
        seconds=2.0,
        factors=settings,
        operations=np.concatenate(tables),
        observations=observations,
        phases=phases,
        facts=facts,
    )


def _ranks(
    phase: int, operation: str, nodes: int, size: int, rate: float, random: np.random.Generator
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """(what run.json says of a rank, its operations)."""
    for rank in range(nodes):
        rows = np.zeros(CALLS, OPERATION)
        rows["rank"], rows["phase"], rows["kind"], rows["size"] = rank, phase, KINDS.index(operation), size
        took = random.lognormal(np.log(size * nodes / rate * 1e9), 0.3, CALLS).astype(np.int64)
        rows["duration_ns"], rows["start_ns"] = took, np.cumsum(took) - took
        yield (
            {
                "rank": rank,
                "host": f"node-{rank}",
                "node": rank,
                "started_ns": 0,
                "ended_ns": int(took.sum()),
                "bytes": CALLS * size,
            },
            rows,
        )


def _phase(index: int, operation: str, size: int, ranks: list[dict[str, Any]]) -> dict[str, Any]:
    ends, count = [rank["ended_ns"] for rank in ranks], CALLS * len(ranks)
    return {
        "index": index,
        "name": operation,
        "operation": operation,
        "comparable": True,
        "recorded_all": True,
        "duration_ns": max(ends),
        "start_spread_ns": 0,
        "end_spread_ns": max(ends) - min(ends),
        "ranks": ranks,
        "cache": None,
        "totals": {operation: {"count": count, "bytes": count * size, "errors": 0}},
    }
