"""Mean response at each level of a factor, with the other factors held: least-squares means (Searle, Speed & Milliken,
The American Statistician 34, 1980, 216-221).

A level that was mostly measured at fast settings of the others has a high plain mean, even where it is the slower one
at each of them (Simpson's paradox). Held are the other factors and those interactions that do not hold the factor."""

from collections.abc import Sequence

import numpy as np

from iosonde.stats.regression.interactions import Interaction, multiply_columns
from iosonde.stats.regression.mixed import compute_column_basis

from .additive import build_factor_columns
from .design import Design
from .variances import Array

_MOST_COLUMNS = 300
_HARDLY_SEPARABLE = 0.05  # of the length of a column, beyond all that is held
_SAME = 0.01  # relative difference of two means below which the plain one is shown


def adjust_level_means(
    design: Design, factor: int, interactions: Sequence[Interaction], by_logarithms: bool
) -> Array | None:
    """Return the adjusted mean at each level of a factor. None if the plain means say the same, or if the others held
    leave nothing of it. ``by_logarithms``: effects multiply."""
    y, weights = design.means, design.counts / design.n
    by_logarithms = by_logarithms and bool(y.min() > 0)
    own, rest = _build_columns(design, factor, interactions)
    if own is None or not rest or own.shape[1] + sum(part.shape[1] for part in rest) > _MOST_COLUMNS:
        return None
    root = np.sqrt(weights)[:, None]

    def center(x: Array) -> Array:
        return np.asarray((x - weights @ x) * root)

    basis = compute_column_basis(center(np.column_stack(rest)))
    columns, values = center(own), center((np.log(y) if by_logarithms else y)[:, None])
    beyond, residual = (part - basis @ (basis.T @ part) for part in (columns, values))
    if np.linalg.svd(beyond / np.linalg.norm(columns, axis=0), compute_uv=False).min() <= _HARDLY_SEPARABLE:
        return None
    effects = np.append(0.0, np.linalg.lstsq(beyond, residual, rcond=None)[0])
    codes = design.codes[:, factor]
    share = np.bincount(codes, weights)
    plain = np.bincount(codes, weights * y) / share
    mean = float(weights @ y)
    if by_logarithms:
        ratios = np.exp(effects)
        adjusted = mean * ratios / (share @ ratios)
    else:
        adjusted = mean + effects - share @ effects
    is_same_order = adjusted.argmin() == plain.argmin() and adjusted.argmax() == plain.argmax()
    is_same = is_same_order and bool(np.all(np.abs(adjusted - plain) <= _SAME * np.abs(plain)))
    return None if is_same else np.asarray(adjusted)


def _build_columns(
    design: Design, factor: int, interactions: Sequence[Interaction]
) -> tuple[Array | None, list[Array]]:
    """Return the columns of the levels of a factor, None of bins; and those of all that is held."""
    names = [feature.name for feature in design.features]
    if names[factor] in design.binned:
        return None, []
    columns = {name: build_factor_columns(design, place) for place, name in enumerate(names)}
    products = [
        multiply_columns(*(np.column_stack([columns[name] for name in unit]) for unit in pair.units))
        for pair in interactions
        if names[factor] not in pair.factors and columns.keys() >= set(pair.factors)
    ]
    return columns[names[factor]], [*(part for name, part in columns.items() if name != names[factor]), *products]
