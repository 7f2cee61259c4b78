"""A balanced fraction: so many of all allowed cells, chosen so that every level, and every pair, comes up alike often.

For factors with many levels, and constraints, for which no table of orthogonal fractions is made. What is made small is
the sum of (n - due)² / due over all levels and pairs of levels, which is 0 of an orthogonal array (the criterion J2 of
H. Xu, Technometrics 44 (2002), 356-368, with what constraints leave due to each). Cells are taken one by one, always
one whose levels and pairs were taken least so far; then a taken cell is exchanged for another one as long as that makes
the sum smaller (V. V. Fedorov, Theory of Optimal Experiments, 1972, ch. 3). That is tried from drawn cells, too: a
search for a nearly orthogonal array, not its proof.

``cells``  how many
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.types import Factor

from .kinds import crossed
from .plan import Cell, Plan, judge, read_integer

KEYS = ("cells",)
# The search looks at every cell for each that it takes: these take a second or two.
MOST_CELLS = 2_000
_MOST_STARTS, _FEWEST_PASSES, _MOST_PASSES = 100, 3, 20
_WORK = 8_000_000  # looks at a cell's level or pair, in all starts together: about a second
_TOGETHER = 0.5  # Cramér's V of factors that are said to go together
Codes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.float64]


def balanced(plan: Plan, design: Mapping[str, Any], seed: int) -> tuple[list[Cell], list[Cell]]:
    """(the chosen cells, all allowed ones) over ``plan.over``, crossed with the other factors. Raises InputError."""
    count = read_integer(design, "cells", 2)
    if count > MOST_CELLS:
        raise InputError(
            "too-many-cells",
            "design.cells: {count} is more than {max_cells}",
            "take fewer, or the design full",
            count=count,
            max_cells=MOST_CELLS,
        )
    if not plan.over:
        raise InputError("no-varying-factor", "design.kind: no factor varies", "give a factor several levels")
    fixed: Cell = {factor.name: factor.levels[0] for factor in plan.crossed if len(factor.levels) == 1}
    allows = judge(plan.constraints, {factor.name for factor in plan.over} | fixed.keys())
    allowed = [cell for cell in crossed([fixed], plan.over, plan.over) if allows(fixed | cell)]
    if not allowed:
        raise InputError("no-allowed-cells", "design.constraints: no cell is left", "loosen one of them")
    chosen = allowed
    if count < len(allowed):
        # Python's own generator, whose numbers stay the same over versions: a campaign that goes on finds its cells.
        Random(f"{seed}/balanced").shuffle(allowed)
        chosen = [allowed[i] for i in _choose_best(_encode_levels(allowed, plan.over), count, seed)]
    return (crossed(chosen, plan.crossed, plan.factors), crossed(allowed, plan.crossed, plan.factors))


def together(cells: Sequence[Cell], allowed: Sequence[Cell], factors: Sequence[Factor]) -> list[tuple[str, str, float]]:
    """Pairs of factors that change together in ``cells``, though not in ``allowed``: their names and Cramér's V, 1
    where one tells the other (H. Cramér, Mathematical Methods of Statistics, 1946, 21.9)."""
    varied = [factor.name for factor in factors if len({repr(cell[factor.name]) for cell in cells}) > 1]
    pairs = [(first, other, _cramers_v(cells, first, other)) for first, other in combinations(varied, 2)]
    return [
        (first, other, v)
        for first, other, v in pairs
        if v >= _TOGETHER and v > _cramers_v(allowed, first, other) + 1e-9
    ]


def _cramers_v(cells: Sequence[Cell], first: str, other: str) -> float:
    codes = [np.unique([repr(cell[name]) for cell in cells], return_inverse=True)[1] for name in (first, other)]
    table = np.zeros([int(each.max()) + 1 for each in codes])
    np.add.at(table, tuple(codes), 1)
    due = np.outer(table.sum(1), table.sum(0)) / table.sum()
    fewest = min(table.shape) - 1
    return float(np.sqrt(((table - due) ** 2 / due).sum() / table.sum() / fewest)) if fewest else 0.0


def _encode_levels(cells: list[Cell], factors: tuple[Factor, ...]) -> list[Codes]:
    """For every factor and every pair of factors: which of its levels each cell has, as a number from 0."""
    single = [np.array([factor.levels.index(cell[factor.name]) for cell in cells]) for factor in factors]
    pairs = [first * (int(other.max()) + 1) + other for first, other in combinations(single, 2)]
    return [np.unique(codes, return_inverse=True)[1].astype(np.int64) for codes in (*single, *pairs)]


def _choose_best(codes: list[Codes], count: int, seed: int) -> list[int]:
    """The best of several starts: what is greedy, and what is drawn, which ends in other places."""
    size = codes[0].size
    # A level that few allowed cells have is due less often than one that many have.
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
    """``taken``, with each exchanged for what makes the sum smallest in its place, until none is better elsewhere."""
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
