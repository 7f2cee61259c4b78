"""Compare A and B with numbers held: the analysis of covariance (Fisher 1932; Huitema 2011, chapter 6).

Each number is a straight line with one slope for both sides, inside the cells of the other settings. The means are
those at the mean of the numbers; errors are HC3's (MacKinnon & White 1985), as the sides may differ in spread. Over
cells, logarithms are compared, so that the cells' ratios are averaged."""

import math
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.errors import IosondeError
from iosonde.core.types import Estimate

from ..estimate.compare import (
    CANNOT_TELL,
    COVARIANCE,
    Comparison,
    Group,
    check_margin,
    compute_difference_margin,
    judge_difference,
    judge_ratio,
    list_verdicts_by_level,
)
from ..estimate.distributions import t_critical
from ..estimate.logs import exp_estimate
from ..estimate.means_test import MeansTest, agree_with_test
from ..estimate.ratio import Moments
from .ols import Fit, fit_ols

_SIDE = 1  # place of the side among the coefficients


@dataclass(frozen=True)
class SideRows:
    """The rows of a side: ``values``, the numbers of its ``lines`` (a row each), and the number of the cell of each."""

    name: str
    values: Array
    lines: Array
    cells: Indices


@dataclass(frozen=True)
class _AdjustedMeans:
    """A fit of values or of their logarithms: the mean of A and the difference B - A, with their covariance."""

    fit: Fit
    mean_a: float
    difference: float

    @property
    def mean_b(self) -> float:
        return self.mean_a + self.difference

    def estimate(self, weights: tuple[float, float], value: float, level: float) -> Estimate:
        """Return ``value`` ± the error of this linear form of the mean of A and the difference."""
        form = np.array(weights)
        error = math.sqrt(max(0.0, float(form @ self.fit.covariance[: _SIDE + 1, : _SIDE + 1] @ form)))
        half = t_critical(level, self.fit.df) * error
        return Estimate(value, value - half, value + half, level, self.fit.n)


def compare_adjusted_sides(
    a: SideRows, b: SideRows, level: float, margin: float, base: float | None
) -> Comparison | None:
    """Compare the sides with the numbers held; None if these, or the cells, tell the sides, or leave too few rows.
    ``base``: as in ``compare_groups``."""
    check_margin(level, margin)
    values = np.concatenate([a.values, b.values])
    n_cells = np.unique(np.concatenate([a.cells, b.cells])).size
    is_positive = base is None and bool(np.all(values > 0))
    plain = _fit_sides(a, b, values, level)
    logs = _fit_sides(a, b, np.log(values), level) if is_positive and n_cells > 1 else None
    if plain is None or (logs is None and is_positive and n_cells > 1):
        return None
    decisive = logs or plain
    has_ratio = is_positive and (logs is not None or min(plain.mean_a, plain.mean_b) > 0)
    test = _build_test(decisive, logs is not None)
    wide = compute_difference_margin(plain.mean_a, plain.mean_b, margin, base)

    def ratio_at(other: float) -> Estimate | None:
        if not has_ratio:
            return None
        return agree_with_test(_estimate_ratio(plain, logs, other), test)

    def verdict_at(other: float) -> str:
        ratio = ratio_at(other)
        return (
            judge_difference(plain.estimate((0, 1), plain.difference, other), wide)
            if ratio is None
            else (judge_ratio(ratio, margin))
        )

    ratio, outcome = ratio_at(level), verdict_at(level)
    scale = 1.0 if logs or not has_ratio else (plain.mean_a + plain.mean_b) / 2
    variance = 2 * decisive.fit.sse / decisive.fit.df / scale**2
    comparison = Comparison(
        _build_group(a, plain.mean_a, plain),
        _build_group(b, plain.mean_b, plain),
        plain.estimate((1, 0), plain.mean_a, level),
        plain.estimate((1, 1), plain.mean_b, level),
        overlap=None,
        mean_inside=None,
        t=test.t,
        df=test.df,
        p=test.p,
        ratio=ratio,
        typical=None,
        difference=plain.estimate((0, 1), plain.difference, level),
        method=COVARIANCE,
        rank_test=None,
        effect_size=None,
        margin=margin,
        difference_margin=wide,
        verdict=outcome,
        paired=False,
        n_needed=None,
        warnings=(),
        cells=n_cells,
        by_level=list_verdicts_by_level(verdict_at),
        at=ratio_at if has_ratio else None,
        on_logarithms=test.on_logarithms,
        trial_variance=variance,
    )
    return comparison.with_n_needed() if outcome == CANNOT_TELL else comparison


def _fit_sides(a: SideRows, b: SideRows, y: Array, level: float) -> _AdjustedMeans | None:
    is_b = np.repeat([0.0, 1.0], [a.values.size, b.values.size])
    lines, cells = np.vstack([a.lines, b.lines]), np.concatenate([a.cells, b.cells])
    others = np.column_stack([lines, *(cells == cell for cell in np.unique(cells)[1:])]).astype(float)
    others -= others.mean(axis=0)
    spread = others.std(axis=0)
    others = others[:, spread > 0] / spread[spread > 0]
    names = ["side", *(f"line {place}" for place in range(others.shape[1]))]
    try:
        fit = fit_ols(np.column_stack([is_b, others]), y, names, level, robust=True)
    except IosondeError:
        return None
    return _AdjustedMeans(fit, float(fit.beta[0]), float(fit.beta[_SIDE])) if fit.df >= 1 else None


def _build_test(means: _AdjustedMeans, on_logarithms: bool) -> MeansTest:
    """Return the t test of equal means, of A - B."""
    error = math.sqrt(max(0.0, float(means.fit.covariance[_SIDE, _SIDE])))
    t = -means.difference / error if error > 0 else None
    return MeansTest(t, float(means.fit.df), on_logarithms)


def _estimate_ratio(plain: _AdjustedMeans, logs: _AdjustedMeans | None, level: float) -> Estimate:
    """Return the ratio B ÷ A: of the adjusted means by the delta method on logarithms, or of logarithms over cells."""
    if logs is not None:
        return exp_estimate(logs.estimate((0, 1), logs.difference, level))
    a, b = plain.mean_a, plain.mean_b
    return exp_estimate(plain.estimate((1 / b - 1 / a, 1 / b), math.log(b / a), level))


def _build_group(side: SideRows, mean: float, means: _AdjustedMeans) -> Group:
    """Return a side with its adjusted mean, and the spread that the numbers leave."""
    sd = math.sqrt(means.fit.sse / means.fit.df)
    return Group(side.name, Moments(mean, sd, int(side.values.size), None, None), is_pooled=True)
