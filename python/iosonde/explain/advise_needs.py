"""What to measure where nothing can be advised: how many instances, which cells, how many trials of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.stats.table import Cell

from .advise_defaults import best_of
from .advise_gain import Crossed
from .instances import Instances

_MOST_CELLS = 5
_MOST_TRIALS = 1000


@dataclass(frozen=True)
class Need:
    """Two settings of one instance that cannot be told apart yet; so many trials of each would, if the difference is
    what it looks like (None: so small that nobody should try)."""

    instance: dict[str, Cell]
    setting: str
    other: str
    ratio: float
    trials: int
    more: int | None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"instance": self.instance, "setting": self.setting, "other": self.other, "ratio": self.ratio,
                "trials": self.trials, "more": self.more}  # fmt: skip


@dataclass(frozen=True)
class Needs:
    """``instances``: so many, in all, would show a gain of the size that was seen (None: no gain was seen);
    ``cells`` the instances with most to gain and least certainty; ``repeats`` what every cell needs first (0: none)."""

    instances: int | None
    cells: tuple[Need, ...]
    repeats: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"instances": self.instances, "repeats": self.repeats, "cells": [c.to_json() for c in self.cells]}


def needs(made: Instances, crossed: Crossed | None, ties: npt.NDArray[np.bool_], level: float) -> Needs:
    """What would settle the choice."""
    repeats = 0 if made.folds > 1 else 2
    wanted = None
    if crossed is not None and not crossed.by_repeat:
        gains = crossed.advice - crossed.default
        mean, sd = float(gains.mean()), float(gains.std(ddof=1))
        if mean > 0:
            wanted = max(len(made) + 1, math.ceil((_z(level) * sd / mean) ** 2))
    return Needs(wanted, () if repeats else tuple(_cells(made, ties, level)), repeats)


def _cells(made: Instances, ties: npt.NDArray[np.bool_], level: float) -> list[Need]:
    """Of each instance with a tie, the best and the farthest that is tied with it; the widest gaps first."""
    values, noise, counts = made.values, made.noise(), made.counts.sum(axis=2)
    best = best_of(values, made.lower)
    gap = np.abs(np.log(values) - np.log(best)[:, None])
    found = []
    for row in np.flatnonzero(ties.sum(axis=1) > 1).tolist():
        at = int(values[row].argmin() if made.lower else values[row].argmax())
        rest = [s for s in np.flatnonzero(ties[row]).tolist() if s != at and gap[row, s] > 0]
        if rest:
            other = max(rest, key=lambda s: gap[row, s])
            found.append((float(gap[row, other]), row, at, other))
    found.sort(key=lambda item: -item[0])
    made_of = []
    for size, row, at, other in found[:_MOST_CELLS]:
        trials = int(min(counts[row, at], counts[row, other]))
        needed = 2 * (_z(level) * float(noise[row]) / size) ** 2
        more = None if needed > _MOST_TRIALS else max(1, math.ceil(needed) - trials)
        made_of.append(Need(made.key(row), made.names[at], made.names[other], math.exp(size), trials, more))
    return made_of


def _z(level: float) -> float:
    """Both the level and a power of 80 %."""
    from iosonde.stats.distributions import normal_quantile

    return normal_quantile(0.5 + level / 2) + normal_quantile(0.8)
