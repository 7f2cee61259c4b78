"""Operations with a known cause: what ``diagnose`` says of a table with a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .ask import question
from .cells import FALSE, FOUND, Cell, Columns
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, truth

FAST_US, SLOW_US = 200.0, 2000.0
RANKS, FILES, OF_RANK = 4, 20, 1000
DRAWS = 30
Slow = Callable[[np.ndarray, np.ndarray], np.ndarray]


def operations(rng: np.random.Generator, spread: float, slow: Slow | None) -> Columns:
    """Reads of four ranks from twenty files; ``slow(rank, file)`` says which take ten times as long."""
    count = RANKS * OF_RANK
    rank = np.repeat(np.arange(RANKS), OF_RANK)
    number = np.tile(np.arange(OF_RANK), RANKS)
    file = rng.integers(0, FILES, count)
    took = FAST_US * np.exp(spread * rng.standard_normal(count))
    if slow is not None:
        is_slow = slow(rank, file)
        took[is_slow] = SLOW_US * np.exp(spread * rng.standard_normal(int(is_slow.sum())))
    start = np.concatenate([np.cumsum(took[rank == each]) - took[rank == each] for each in range(RANKS)])
    return {
        "rank": rank,
        "file": file,
        "offset": number * 65536,
        "size": np.full(count, 65536),
        "start_us": start,
        "duration_us": took,
    }


def slow_file(_: np.ndarray, file: np.ndarray) -> np.ndarray:
    """One of twenty."""
    return file == 7


def slow_rank(rank: np.ndarray, _: np.ndarray) -> np.ndarray:
    """One of four."""
    return rank == 2


def cells(scale: float = 1.0) -> Iterator[Cell]:
    """Every cell of operations; ``scale`` times as many draws."""
    draws = max(round(DRAWS * scale), 1)
    nothing = question("diagnose", truth("cause", EQUAL, INCONCLUSIVE, optional=True), response="duration_us")
    for spread in (0.3, 0.8):
        yield Cell(
            f"nothing is slow; log-normal, σ {spread:g}; 4000 operations",
            nothing,
            partial(operations, spread=spread, slow=None),
            draws,
            None,
            frozenset({FALSE}),
        )
    for name, slow, words in (("one file of 20", slow_file, ("file",)), ("one rank of 4", slow_rank, ("rank", "node"))):
        asked = question("diagnose", truth("cause", DIFFERENT, claim=words), response="duration_us")
        yield Cell(
            f"{name} is ten times slower; 4000 operations",
            asked,
            partial(operations, spread=0.15, slow=slow),
            draws,
            None,
            frozenset({FALSE, FOUND}),
        )
