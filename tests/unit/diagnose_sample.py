"""Operations with a known cause: a fast hill, a slow one by a rule, for the tests of diagnose."""

from __future__ import annotations

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.core.types import Observation, Run
from iosonde.engine._native import KINDS
from iosonde.explain.classes import classify_by_density
from iosonde.explain.operations import Operations
from iosonde.stats.density import histogram
from iosonde.store import Store

SIZE = 65536
FAST, SLOW = 20_000.0, 300_000.0  # ns
BEGIN = 10**12


def rows(n: int, ranks: int, rule, rng: np.random.Generator, offsets=None) -> np.ndarray:
    """``rule(rank, number, offset) -> bool array``: which are slow. Sequential where no ``offsets`` are given."""
    made = np.zeros(n * ranks, OPERATION)
    made["rank"] = np.repeat(np.arange(ranks), n)
    number = np.tile(np.arange(n), ranks)
    made["size"], made["kind"] = SIZE, KINDS.index("read")
    made["file"] = made["rank"]
    made["offset"] = number * SIZE if offsets is None else offsets
    slow = rule(made["rank"].astype(int), number, made["offset"].astype(np.int64))
    took = FAST * np.exp(0.15 * rng.standard_normal(made.size))
    took[slow] = SLOW * np.exp(0.15 * rng.standard_normal(int(slow.sum())))
    made["duration_ns"] = took
    for rank in range(ranks):
        own = slice(rank * n, (rank + 1) * n)
        made["start_ns"][own] = BEGIN + np.concatenate([[0], np.cumsum(took[own][:-1] + 500)])
    return made


def operations(made: np.ndarray, **more) -> Operations:
    start = made["start_ns"].astype(np.int64)
    return Operations(
        made["rank"], made["file"], made["offset"], start - start.min(), made["duration_ns"], SIZE, **more
    )


def classes_of(made: np.ndarray):
    return classify_by_density(histogram.histogram_from_values(made["duration_ns"]))


def store(path, trials: list[np.ndarray], facts: dict | None = None, **changes) -> Store:
    """A store with one phase ``read`` and so many trials; ``facts`` of each run."""
    made = Store.create(path)
    for place, one in enumerate(trials):
        ends = one["start_ns"] + one["duration_ns"]
        elapsed = int(ends.max() - one["start_ns"].min())
        total = {"read": {"count": len(one), "bytes": int(one["size"].sum()), "errors": 0}}
        ranks = [{"rank": int(rank), "host": f"n{rank // 2}", "clock_offset_ns": 0} for rank in np.unique(one["rank"])]
        phase = {
            "index": 0,
            "name": "read",
            "operation": "read",
            "recorded_all": True,
            "comparable": True,
            "duration_ns": elapsed,
            "counted_kind": "read",
            "totals": total,
            "ranks": ranks,
            "histograms": {},
        }
        rate = Observation("read", "bandwidth_last_done", total["read"]["bytes"] / (elapsed / 1e9), "bytes/s")
        made.append(
            Run(
                f"r-{place}",
                "x",
                "iosonde",
                f"2026-11-01T00:00:{place:02d}Z",
                elapsed / 1e9,
                {"nodes": 2, "repetition": place},
                [rate],
                facts=facts or {},
                operations=one,
                phases=[{**phase, **changes}],
            )
        )
    return made
