"""Caveats of a single comparison: its order, pairing, missing values, and covariates."""

from __future__ import annotations

import numpy as np

from iosonde.core.message import Message
from iosonde.core.units import significant
from iosonde.stats.estimate.compare import Comparison, compare, group

from .asked import Sides
from .caveat import Caveat
from .cells import InCells
from .missing import missing_caveats
from .order import order_caveats
from .parts import DATA, ROW
from .selected import selection_caveats

_ALPHA = 0.01


def own_caveats(matched: InCells, comparison: Comparison, sides: Sides) -> tuple[Caveat, ...]:
    """Return the caveats of a comparison of two levels of a column, or of two DATA."""
    column = DATA if sides.other is not None else sides.group
    if column is None:
        return ()
    by_rows = sides.other is None and ROW in matched.pair.part.rows.columns
    order = order_caveats(matched, comparison, column, by_rows)
    selection = selection_caveats(matched, comparison, column, sides.pair) if sides.pair else ()
    return (*order, *selection, *missing_caveats(matched, comparison, column), *_covariate_caveats(matched, column))


def _covariate_caveats(matched: InCells, side_column: str) -> list[Caveat]:
    """Return the caveats of covariates that differ between the sides."""
    part, caveats = matched.pair.part, []
    codes, levels = part.rows.column(side_column).codes()
    names = np.array([str(levels[code]) for code in codes])
    compared = ~np.isnan(part.rows.numbers(part.column))
    for name in part.covariates:
        values = part.rows.numbers(name)
        sides = [
            values[compared & (names == side.name) & ~np.isnan(values)] for side in (matched.pair.a, matched.pair.b)
        ]
        if min(x.size for x in sides) < 2:
            continue
        a, b = (group(side.name, x) for side, x in zip((matched.pair.a, matched.pair.b), sides, strict=True))
        p = compare(a, b, 0.95, 0.0, base=2).p  # base: their difference
        if p is None or p < _ALPHA / len(part.covariates):
            means = f"{significant(a.side.mean)} in {a.name}, {significant(b.side.mean)} in {b.name}"
            template = "{covariate} differs between the sides, too ({means}): regress adjusts for it"
            caveats.append(
                Caveat(Message("covariate-differs", template, covariate=name, means=means), "varies-besides")
            )
    return caveats
