"""Raw and standardised coefficients of the straight line in all factors, and their tested effects."""

import numpy as np

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.model.fit.features import Examples
from iosonde.stats.regression import ols
from iosonde.stats.regression.effect_types import FactorEffect, ResponseEffects, correct_effects
from iosonde.stats.regression.effects import estimate_effects

from .design import Design
from .permutation import Null
from .ranking import Slope
from .variances import Array


def estimate_slopes(design: Design, level: float) -> tuple[list[Slope | None], float | None]:
    """Return (for each factor its slope; R²). A slope is None for a category of more than two levels; all are None if
    the line cannot be fitted. Intervals allow unequal variances (HC3)."""
    rows = np.repeat(np.arange(design.n_cells), design.counts.astype(int))
    columns: list[Array] = []
    place: dict[int, int] = {}
    for i, feature in enumerate(design.features):
        values = design.x[rows, i]
        if feature.numeric or len(feature.levels) == 2:
            place[i] = len(columns)
            columns.append(values)
        elif len(feature.levels) <= 50:
            columns += [(values == other).astype(float) for other in range(1, len(feature.levels))]
    if not columns:
        return [None] * len(design.features), None
    try:
        fitted = ols.fit_ols(
            np.column_stack(columns), design.y, [str(i) for i in range(len(columns))], level, robust=True
        )
    except DataError:
        return [None] * len(design.features), None
    coefficients = fitted.coefficients()[1:]
    spread = float(design.y.std())
    slopes: list[Slope | None] = []
    for i in range(len(design.features)):
        if i not in place:
            slopes.append(None)
            continue
        c, scale = coefficients[place[i]], float(columns[place[i]].std()) / spread
        slopes.append(
            Slope(
                Estimate(c.estimate, c.low, c.high, level, design.n),
                Estimate(c.estimate * scale, c.low * scale, c.high * scale, level, design.n),
            )
        )
    return slopes, fitted.r2


def estimate_effects_by_level(data: Examples, level: float, log_base: float | None = None) -> ResponseEffects:
    """Test the effects of all factors by their levels; not yet corrected. ``log_base``: of a response of logarithms."""
    order = np.argsort(data.cells, kind="stable")
    _, starts = np.unique(data.cells[order], return_index=True)
    return estimate_effects(
        {feature.name: data.x[order][starts, place].tolist() for place, feature in enumerate(data.features)},
        np.split(data.y[order], starts[1:]),
        None if data.bring_ups is None else data.bring_ups[order][:, None],
        level,
        log_base,
    )


def estimate_effects_by_shuffled_bins(design: Design, nulls: list[Null], shares: list[Estimate]) -> ResponseEffects:
    """Test numbers with too many levels by shuffled labels of their bins."""
    names = tuple(feature.name for feature in design.features)
    effects = tuple(
        FactorEffect((name,), Estimate(share.value, share.low or None, share.high, share.level, share.n), null.p)
        for name, null, share in zip(names, nulls, shares, strict=True)
    )
    if all(effect.p is None for effect in effects):
        return ResponseEffects(names, (), Message("no-error-term", "no data to estimate the noise"), False)
    return correct_effects([ResponseEffects(names, effects, "", design.df_repeats > 0)])[0]
