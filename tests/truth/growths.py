"""Growth again: noisier rates, other sizes, unequal trials, ranks, and what ``scale`` then says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .ask import question
from .cells import FALSE, FOUND, INTERVAL, Cell, Columns
from .laws import LAWS, Law, falling, predicted
from .noises import Draw, lognormal, normal
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, truth

DRAWS, DRAWS_OF_A_LINE = 20, 60
Rng = np.random.Generator


@dataclass(frozen=True)
class Sizes:
    """Sizes with their trials, and the noise."""

    name: str
    sizes: tuple[int, ...]
    trials: tuple[int, ...]
    noise: Draw


def rates(rng: Rng, law: Law, at: Sizes) -> Columns:
    """Rates at these sizes, in random order."""
    nodes = rng.permutation(np.repeat(at.sizes, at.trials))
    return {"nodes": nodes, "MBps": 100 * np.array([law(float(n)) for n in nodes]) * at.noise(rng, len(nodes))}


def rates_of_ranks(rng: Rng, law: Law, sizes: Sequence[int]) -> Columns:
    """Three trials at each size, four ranks each: a trial's ranks share its mood."""
    nodes = np.repeat(sizes, 12)
    mood = np.repeat(normal(0.05)(rng, len(nodes) // 4), 4)
    trial, rank = np.tile(np.repeat(np.arange(3), 4), len(sizes)), np.tile(np.arange(4), len(nodes) // 4)
    rate = 100 * np.array([law(float(n)) for n in nodes]) * mood * normal(0.01)(rng, len(nodes))
    return {"nodes": nodes, "trial": trial, "rank": rank, "MBps": rate}


def rates_by_size(rng: Rng) -> Columns:
    """Linear for each of two request sizes; the larger one was measured at few nodes alone."""
    nodes = np.array([1, 1, 2, 2, 4, 4, 8, 8, 16, 16] * 2)
    size = np.repeat(["4k", "1m"], 10)
    keep = (size == "4k") == (nodes >= 4)
    rate = 100 * nodes * np.where(size == "1m", 5.0, 1.0) * normal(0.02)(rng, 20)
    return {"nodes": nodes[keep], "size": size[keep], "MBps": rate[keep]}


def half_way(n: float) -> float:
    """Straight, until half of the largest size."""
    return min(n, 8.0)


GRIDS = (
    Sizes("1 to 16 nodes, 3 trials; cv 10 %", (1, 2, 4, 8, 16), (3,) * 5, normal(0.1)),
    Sizes("1 to 32 nodes, 5 trials; cv 10 %", (1, 2, 4, 8, 16, 32), (5,) * 6, normal(0.1)),
    Sizes("1, 2, 3, 4, 6, 8, 12 nodes, 3 trials; cv 3 %", (1, 2, 3, 4, 6, 8, 12), (3,) * 7, normal(0.03)),
    Sizes("1 to 32 nodes, 10 to 2 trials; cv 3 %", (1, 2, 4, 8, 16, 32), (10, 8, 6, 4, 3, 2), normal(0.03)),
    Sizes("4 to 64 nodes, 4 trials; log-normal, σ 0.1", (4, 8, 16, 32, 64), (4,) * 5, lognormal(0.1)),
)


def growths(scale: float) -> Iterator[Cell]:
    """Each law on each grid."""
    for at in GRIDS:
        for name in ("linear", "Amdahl", "USL", "min-law"):
            law, _ = LAWS[name]
            draws = max(round((DRAWS_OF_A_LINE if name == "linear" else DRAWS) * scale), 2)
            right = (EQUAL, INCONCLUSIVE) if name == "linear" else (DIFFERENT, INCONCLUSIVE)
            twice = 2 * at.sizes[-1]
            yield Cell(
                f"{name}; {at.name}",
                question("scale", truth("limit", *right), on="nodes", response="MBps", at=[twice]),
                partial(rates, law=law, at=at),
                draws,
                None,
                frozenset({FALSE, INTERVAL} if min(at.sizes) == 1 else {FALSE}),
                partial(predicted, value=100 * law(twice)),
            )


def others(scale: float) -> Iterator[Cell]:
    """Ranks of trials, a limit half way, a fall, a setting that varies and was not asked about."""
    draws = max(round(DRAWS * scale), 2)
    straight, limited = truth("limit", EQUAL, INCONCLUSIVE), truth("limit", DIFFERENT)
    sizes = (1, 2, 4, 8, 16)
    for name, law, right in (("linear", LAWS["linear"][0], straight), ("min-law", LAWS["min-law"][0], limited)):
        yield Cell(
            f"{name}; 3 trials of 4 ranks at 1 to 16 nodes",
            question("scale", right, on="nodes", response="MBps"),
            partial(rates_of_ranks, law=law, sizes=sizes),
            draws,
            None,
            frozenset({FALSE} if right is straight else {FALSE, FOUND}),
        )
    quiet = Sizes("", (1, 2, 4, 8, 16), (4,) * 5, normal(0.03))
    for name, law in (("a limit half way", half_way), ("a fall at the last size", partial(falling, last=16))):
        yield Cell(
            f"{name}; 1 to 16 nodes, 4 trials; cv 3 %",
            question("scale", limited, on="nodes", response="MBps"),
            partial(rates, law=law, at=quiet),
            draws,
            None,
            frozenset({FALSE, FOUND}),
        )
    hidden = truth("limit", EQUAL, INCONCLUSIVE, faults=["varies-besides"])
    yield Cell(
        "linear; requests are larger at few nodes, and not asked about",
        question("scale", hidden, on="nodes", response="MBps"),
        rates_by_size,
        draws,
        None,
        frozenset({FALSE}),
    )


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell; ``scale`` times as many draws."""
    return [*growths(scale), *others(scale)]
