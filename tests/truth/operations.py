"""Operations with a known cause: what ``diagnose`` says of a table with a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .ask import Question, question
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


def slow_offsets(_: np.ndarray, file: np.ndarray) -> np.ndarray:
    """The second half of each rank's operations."""
    return np.tile(np.arange(OF_RANK) >= OF_RANK // 2, RANKS)


def slow_pair(rank: np.ndarray, file: np.ndarray) -> np.ndarray:
    """One rank, where it reads one in four files."""
    return (rank == 1) & (file < FILES // 4)


def by_chance(rng: np.random.Generator, spread: float, share: float, times: float) -> Columns:
    """Operations of which some are slow wherever they are."""
    rows = dict(operations(rng, spread, None))
    slow = rng.random(len(rows["rank"])) < share
    rows["duration_us"] = rows["duration_us"] * np.where(slow, times, 1.0)
    return rows


def dependent(rng: np.random.Generator) -> Columns:
    """Neighbours are alike: AR(0.9) in the logarithm, of each rank."""
    rows = dict(operations(rng, 0.0, None))
    noise = rng.standard_normal((RANKS, OF_RANK))
    for place in range(1, OF_RANK):
        noise[:, place] = 0.9 * noise[:, place - 1] + np.sqrt(1 - 0.81) * noise[:, place]
    rows["duration_us"] = FAST_US * np.exp(0.3 * noise.ravel())
    return rows


def more(scale: float) -> Iterator[Cell]:
    """Slow by chance, from a moment on, of one rank in some files; other noise."""
    draws = max(round(DRAWS * scale), 1)
    nothing = question("diagnose", truth("cause", EQUAL, INCONCLUSIVE, optional=True), response="duration_us")
    blames = truth("cause", EQUAL, INCONCLUSIVE, DIFFERENT, claim=("chance", "cache", "random"), optional=True)
    chance = question("diagnose", blames, response="duration_us")
    still: list[tuple[str, Question, Callable[[np.random.Generator], Columns]]] = [
        ("nothing is slow; AR(0.9); 4000 operations", nothing, dependent),
        ("nothing is slow; log-normal, σ 0.1; 4000 operations", nothing, partial(operations, spread=0.1, slow=None)),
        ("one in ten by chance is 10 × slower", chance, partial(by_chance, spread=0.15, share=0.1, times=10.0)),
        ("one in a hundred by chance is 10 × slower", chance, partial(by_chance, spread=0.15, share=0.01, times=10.0)),
    ]
    for name, asked, draw in still:
        yield Cell(name, asked, draw, draws, None, frozenset({FALSE}))
    for name, slow, words, promises in (
        ("the second half is ten times slower", slow_offsets, ("from ",), {FALSE, FOUND}),
        ("one rank in 5 of 20 files is ten times slower", slow_pair, ("rank", "node", "file"), {FALSE}),
    ):
        asked = question("diagnose", truth("cause", DIFFERENT, claim=words), response="duration_us")
        draw = partial(operations, spread=0.15, slow=slow)
        yield Cell(f"{name}; 4000 operations", asked, draw, draws, None, frozenset(promises))


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
    yield from more(scale)
