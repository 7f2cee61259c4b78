"""A balanced fraction: so many of all allowed cells, chosen so that every level, and every pair, comes up alike often.

For factors with many levels, and constraints, for which no table of orthogonal fractions is made. Cells are taken one
by one: always one whose levels, and whose pairs of levels, were taken least so far, each count in units of what is
due to it; of several the first in an order drawn from the seed. It is a greedy search for a nearly orthogonal array
(the idea of the coordinate-wise criterion J2 of H. Xu, Technometrics 44 (2002), 356-368), not an optimal one.

``cells``  how many
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.types import Factor

from .kinds import crossed
from .plan import Cell, Plan, judge, whole

KEYS = ("cells",)
# The search looks at every cell for each that it takes: these take a second or two.
MOST_CELLS = 2_000
Codes = npt.NDArray[np.int64]


def balanced(plan: Plan, design: Mapping[str, Any], seed: int) -> tuple[list[Cell], list[Cell]]:
    """(the chosen cells, all allowed ones) over ``plan.over``, crossed with the other factors. Raises InputError."""
    count = whole(design, "cells", 2)
    if count > MOST_CELLS:
        raise InputError(f"design.cells: {count} is more than {MOST_CELLS}", "take fewer, or the design full")
    if not plan.over:
        raise InputError("design.kind: no factor varies", "give a factor several levels")
    held: Cell = {factor.name: factor.levels[0] for factor in plan.crossed if len(factor.levels) == 1}
    allows = judge(plan.constraints, {factor.name for factor in plan.over} | held.keys())
    allowed = [cell for cell in crossed([held], plan.over, plan.over) if allows(held | cell)]
    if not allowed:
        raise InputError("design.constraints: no cell is left", "loosen one of them")
    chosen = allowed
    if count < len(allowed):
        # Python's own generator, whose numbers stay the same over versions: a campaign that goes on finds its cells.
        Random(f"{seed}/balanced").shuffle(allowed)
        chosen = [allowed[i] for i in _taken(_codes(allowed, plan.over), count)]
    return (crossed(chosen, plan.crossed, plan.factors), crossed(allowed, plan.crossed, plan.factors))


def _codes(cells: list[Cell], factors: tuple[Factor, ...]) -> list[Codes]:
    """For every factor and every pair of factors: which of its levels each cell has, as a number from 0."""
    single = [np.array([factor.levels.index(cell[factor.name]) for cell in cells]) for factor in factors]
    pairs = [one * (int(other.max()) + 1) + other for one, other in combinations(single, 2)]
    return [np.unique(codes, return_inverse=True)[1].astype(np.int64) for codes in (*single, *pairs)]


def _taken(codes: list[Codes], count: int) -> list[int]:
    # A level that few allowed cells have is due less often than one that many have.
    due = [np.bincount(one) / one.size * count for one in codes]
    counts = [np.zeros_like(one) for one in due]
    open_cells = np.ones(codes[0].size, bool)
    taken: list[int] = []
    for _ in range(count):
        cost = sum((n / d)[one] for one, n, d in zip(codes, counts, due, strict=True))
        best = int(np.argmin(np.where(open_cells, cost, np.inf)))
        taken.append(best)
        open_cells[best] = False
        for one, n in zip(codes, counts, strict=True):
            n[one[best]] += 1
    return taken
