"""A small store with a known truth, for the tests of summary: two operations, two node counts, six trials."""

from __future__ import annotations

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.core.types import Observation, Run
from iosonde.engine._native import KINDS
from iosonde.store import Store

MEAN = {("create", 1): 10_000.0, ("create", 2): 19_000.0, ("read_1to1_large", 1): 2e9, ("read_1to1_large", 2): 2.2e9}


def run(nodes: int, repetition: int, rng: np.random.Generator, **changes) -> Run:
    """One trial; rates spread by 2 %, durations log-normal around 100 µs."""
    whole = []
    for (operation, size), mean in MEAN.items():
        if size == nodes:
            large = operation.endswith("large")
            metric, unit = ("bandwidth", "bytes/s") if large else ("rate", "operations/s")
            value = mean * (1 + 0.02 * rng.standard_normal())
            whole += [
                Observation(operation, f"{metric}_last_done", value, unit, None, repetition, 100, "close"),
                Observation(operation, f"{metric}_sum_of_ranks", 1.1 * value, unit, None, repetition, 100, "close"),
                Observation(operation, f"{metric}_own", value / nodes, unit, 0, repetition, 50, "close"),
            ]
    made = {
        "id": f"x-{nodes}-{repetition:02d}",
        "experiment": "x",
        "source": "test",
        "seconds": 1.0,
        "observations": whole,
        "operations": _operations(nodes, rng),
        "phases": _phases(nodes),
        "started_at": f"2026-11-21T10:{repetition:02d}:{nodes:02d}.000Z",
        "facts": {"order": 2 * repetition + nodes},
        "factors": {
            "nodes": nodes,
            "ranks_per_node": 1,
            "ranks": nodes,
            "repetition": repetition,
            "block": repetition,
            "reader": "other_rank" if nodes > 1 else "same_rank",
        },
    }
    return Run(**(made | changes))


def store(path, repetitions: int = 6, seed: int = 1, **changes) -> Store:
    """The store at ``path``."""
    made, rng = Store.create(path), np.random.default_rng(seed)
    for repetition in range(repetitions):
        for nodes in (1, 2):
            made.append(run(nodes, repetition, rng, **changes))
    return made


def _phases(nodes: int) -> list[dict]:
    ranks = [{"rank": r, "host": "a", "node": r, "started_ns": 0, "ended_ns": 10**9, "bytes": 0} for r in range(nodes)]
    return [
        {
            "index": index,
            "name": name,
            "operation": name,
            "duration_ns": 10**9,
            "start_spread_ns": 1000,
            "comparable": True,
            "recorded_all": True,
            "ranks": ranks,
            "cache": None,
            "totals": {},
        }
        for index, name in enumerate(("create", "read_1to1_large"))
    ]


def _operations(nodes: int, rng: np.random.Generator) -> np.ndarray:
    rows = np.zeros(nodes * 2 * 500, OPERATION)
    rows["rank"] = np.repeat(np.arange(nodes), 1000)
    rows["phase"] = np.tile(np.repeat([0, 1], 500), nodes)
    rows["kind"] = np.where(rows["phase"] == 0, KINDS.index("create"), KINDS.index("read"))
    rows["start_ns"] = np.arange(len(rows)) * 10**6
    rows["duration_ns"] = (1e5 * np.exp(0.3 * rng.standard_normal(len(rows)))).astype("u8")
    return rows


def examined(table, responses=(), by=None, **rest):
    """What ``check`` says of a table whose columns are read as they look."""
    from iosonde.data import roles
    from iosonde.stats.checks import examine

    seen = roles.guess_roles(table, responses, by)
    return examine.examine_table(table, 0.95, seen.responses, seen.settings, (*seen.numbering, *seen.remarks), **rest)
