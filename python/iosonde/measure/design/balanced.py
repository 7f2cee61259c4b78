"""Balanced fraction: a subset of the allowed cells in which every level, and every pair, occurs about equally often.

For factors with many levels, and constraints, for which no table of orthogonal fractions exists. The search minimises
the sum of (n - due)² / due over all levels and pairs of levels. An orthogonal array has a sum of 0 (the criterion J2 of
H. Xu, Technometrics 44 (2002), 356-368, with ``due`` as the constraints allow). It takes cells one by one, each time
one whose levels and pairs were taken least so far. Then it exchanges cells as long as the sum falls (V. V. Fedorov,
Theory of Optimal Experiments, 1972, ch. 3). It also starts from drawn cells: a search for a nearly orthogonal array,
without proof of the optimum.

``cells`` number of cells
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.types import Factor

from .kinds import cross_with_factors
from .plan import Cell, Plan, build_cell_check, read_integer

KEYS = ("cells",)
# The search checks every cell for each that it takes: these limits take a second or two.
MOST_CELLS = 2_000
_MOST_STARTS, _FEWEST_PASSES, _MOST_PASSES = 100, 3, 20
_WORK = 8_000_000  # checks of a cell's level or pair, in all starts together: about a second
_TOGETHER = 0.5  # Cramér's V of factors that are reported to change together
Codes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.float64]


def choose_balanced_cells(plan: Plan, design: Mapping[str, Any], seed: int) -> tuple[list[Cell], list[Cell]]:
    """Return (the chosen cells, all allowed ones) over ``plan.over``, crossed with the other factors. Raises
    InputError."""
    count = read_integer(design, "cells", 2)
    if count > MOST_CELLS:
        raise InputError(
            "too-many-cells",
            "design.cells: {count} is more than {max_cells}",
            "take fewer cells, or use a full design",
            count=count,
            max_cells=MOST_CELLS,
        )
    if not plan.over:
        raise InputError("no-varying-factor", "design.kind: no factor varies", "give a factor several levels")
    fixed: Cell = {factor.name: factor.levels[0] for factor in plan.crossed if len(factor.levels) == 1}
    allows = build_cell_check(plan.constraints, {factor.name for factor in plan.over} | fixed.keys())
    allowed = [cell for cell in cross_with_factors([fixed], plan.over, plan.over) if allows(fixed | cell)]
    if not allowed:
        raise InputError("no-allowed-cells", "design.constraints: no cell is left", "loosen one of them")
    chosen = allowed
    if count < len(allowed):
        # Python's own generator gives the same numbers in all versions: a resumed campaign finds its cells.
        Random(f"{seed}/balanced").shuffle(allowed)
        chosen = [allowed[i] for i in _choose_best(_encode_levels(allowed, plan.over), count, seed)]
    return (
        cross_with_factors(chosen, plan.crossed, plan.factors),
        cross_with_factors(allowed, plan.crossed, plan.factors),
    )


def find_confounded_factors(
    cells: Sequence[Cell], allowed: Sequence[Cell], factors: Sequence[Factor]
) -> list[tuple[str, str, float]]:
    """Return pairs of factors that change together in ``cells``, though not in ``allowed``: their names and Cramér's V,
    which is 1 if one factor determines the other (H. Cramér, Mathematical Methods of Statistics, 1946, 21.9)."""
    varied = [factor.name for factor in factors if len({repr(cell[factor.name]) for cell in cells}) > 1]
    pairs = [(first, other, _compute_cramers_v(cells, first, other)) for first, other in combinations(varied, 2)]
    return [
        (first, other, v)
        for first, other, v in pairs
        if v >= _TOGETHER and v > _compute_cramers_v(allowed, first, other) + 1e-9
    ]


def _compute_cramers_v(cells: Sequence[Cell], first: str, other: str) -> float:
    codes = [np.unique([repr(cell[name]) for cell in cells], return_inverse=True)[1] for name in (first, other)]
    table = np.zeros([int(each.max()) + 1 for each in codes])
    np.add.at(table, tuple(codes), 1)
    due = np.outer(table.sum(1), table.sum(0)) / table.sum()
    fewest = min(table.shape) - 1
    return float(np.sqrt(((table - due) ** 2 / due).sum() / table.sum() / fewest)) if fewest else 0.0


def _encode_levels(cells: list[Cell], factors: tuple[Factor, ...]) -> list[Codes]:
    """Return the level number (from 0) of each cell, for every factor and every pair of factors."""
    single = [np.array([factor.levels.index(cell[factor.name]) for cell in cells]) for factor in factors]
    pairs = [first * (int(other.max()) + 1) + other for first, other in combinations(single, 2)]
    return [np.unique(codes, return_inverse=True)[1].astype(np.int64) for codes in (*single, *pairs)]


def _choose_best(codes: list[Codes], count: int, seed: int) -> list[int]:
    """Return the best result of several starts: one greedy, the others random, which end in different optima."""
    size = codes[0].size
    # A level of few allowed cells is due less often than one of many.
    due = [np.bincount(code) / size * count for code in codes]
    starts = max(1, min(_MOST_STARTS, _WORK // (_FEWEST_PASSES * size * count * len(codes))))
    draw = Random(f"{seed}/balanced/starts")
    solutions: list[tuple[float, list[int]]] = []
    for start in range(starts):
        begin = draw.sample(range(size), count) if start else _choose_greedily(codes, due, count)
        chosen = _exchange_cells(codes, due, begin)
        solutions.append((_compute_cost(codes, due, chosen), chosen))
        if solutions[-1][0] < 1e-9:
            break
    return min(solutions, key=lambda solution: round(solution[0], 9))[1]


def _compute_cost(codes: list[Codes], due: list[Counts], chosen: Sequence[int]) -> float:
    return sum(
        float(((np.bincount(code[chosen], minlength=d.size) - d) ** 2 / d).sum())
        for code, d in zip(codes, due, strict=True)
    )


def _choose_greedily(codes: list[Codes], due: list[Counts], count: int) -> list[int]:
    counts = [np.zeros_like(target) for target in due]
    open_cells = np.ones(codes[0].size, bool)
    taken: list[int] = []
    for _ in range(count):
        cost = sum((n / d)[code] for code, n, d in zip(codes, counts, due, strict=True))
        best = int(np.argmin(np.where(open_cells, cost, np.inf)))
        taken.append(best)
        open_cells[best] = False
        for code, n in zip(codes, counts, strict=True):
            n[code[best]] += 1
    return taken


def _exchange_cells(codes: list[Codes], due: list[Counts], taken: list[int]) -> list[int]:
    """Exchange each cell of ``taken`` for the one with the smallest sum in its place, until no exchange improves it."""
    counts = [np.bincount(code[taken], minlength=d.size).astype(np.float64) for code, d in zip(codes, due, strict=True)]
    open_cells = np.ones(codes[0].size, bool)
    open_cells[taken] = False
    chosen = list(taken)
    for _ in range(max(_FEWEST_PASSES, min(_MOST_PASSES, _WORK // (codes[0].size * len(taken) * len(codes))))):
        changed = False
        for place, mine in enumerate(chosen):
            for code, n in zip(codes, counts, strict=True):
                n[code[mine]] -= 1
            # (n + 1 - due)² / due less (n - due)² / due
            cost = np.sum(
                [((2 * (n - d) + 1) / d)[code] for code, n, d in zip(codes, counts, due, strict=True)], axis=0
            )
            best = int(np.argmin(np.where(open_cells, cost, np.inf)))
            if cost[best] < cost[mine] - 1e-9:
                chosen[place], changed = best, True
                open_cells[best], open_cells[mine] = False, True
            for code, n in zip(codes, counts, strict=True):
                n[code[chosen[place]]] += 1
        if not changed:
            break
    return chosen
