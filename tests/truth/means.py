"""The intervals that ``summary`` prints beside its sentence: of the mean, and of the harmonic mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from .ask import question
from .cells import FALSE, INTERVAL, Cell, Columns
from .noises import DIFFICULT, INDEPENDENT, normal
from .scores import EQUAL, INCONCLUSIVE, truth
from .sides import two_sides

DRAWS = 700
# 1 ÷ the mean of the inverse, of a mean of 100: where one trial in ten is at 0.3 of the others.
HARMONIC_OF_RARE_SLOW = 100 / (0.93 * (0.1 / 0.3 * (1 + (0.02 / 0.3) ** 2) + 0.9 * (1 + 0.02**2)))


def holds(answer: Mapping[str, Any], value: float, what: str) -> bool | None:
    """Whether the interval of A's mean (``what``) holds the true value; one end may be open."""
    group = next(group for group in answer["groups"] if group["by"]["v"] == "A")
    low, high = group[f"{what}_low"], group[f"{what}_high"]
    if low is None and high is None:
        return None
    return (low is None or low <= value) and (high is None or value <= high)


def rates(rng: np.random.Generator, n: int) -> Columns:
    """A has a rare slow mode, B has not; both have the same mean."""
    drawn = two_sides(rng, DIFFICULT["one in ten at 0.3"], normal(0.1), (n, n), 1.0)
    return {"v": drawn["v"], "y (MB/s)": drawn["y"]}


def cells(scale: float = 1.0) -> Iterator[Cell]:
    """Every cell of means; ``scale`` times as many draws."""
    draws = max(round(DRAWS * scale), 1)
    none = truth("effect", EQUAL, INCONCLUSIVE)
    asked = question("summary", none, response="y", by="v")
    for promised, noises in ((True, INDEPENDENT), (False, DIFFICULT)):
        for name, noise in noises.items():
            for n in (4, 10):
                draw = partial(two_sides, a=noise, b=noise, counts=(n, n), ratio=1.0)
                promises = frozenset({FALSE, INTERVAL} if promised else ())
                held = partial(holds, value=100.0, what="mean")
                yield Cell(f"mean; {name}; n = {n}", asked, draw, draws, None, promises, held)
    for n in (2, 3, 4, 6, 10, 30):
        draw = partial(rates, n=n)
        yield Cell(
            f"harmonic mean; one in ten at 0.3; n = {n}",
            asked,
            draw,
            draws // 2 or 1,
            None,
            frozenset(),
            partial(holds, value=HARMONIC_OF_RARE_SLOW, what="harmonic_mean"),
        )
