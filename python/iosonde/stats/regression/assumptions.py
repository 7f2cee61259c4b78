"""Assumptions of least squares, as values; findings turn them into sentences.

Linearity (lack of fit against the pure error of repeats), normal residuals, equal variance, independence of the run
order, no influential point, no collinear predictors.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..estimate.distributions import chi2_upper_p, f_quantile, f_upper_p, normal_two_sided_p, t_two_sided_p
from ..estimate.normality import MOST, compute_normal_quantiles, run_shapiro_wilk_test
from ..estimate.trend import estimate_trend
from .ols import Fit
from .rounding import zero_if_rounding

Array = npt.NDArray[np.float64]
_OUTLIER_P = 0.01
_LEVERAGE_TOLERANCE = 1e-8  # rounding error of a leverage of 1
_MANY_VALUES = 1000  # values searched for a third distinct one
_LEAST_DF = 5  # with fewer degrees of freedom residuals mostly reflect the fit
_TREND_MOST = 2000
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ ÷ golden ratio: Fibonacci hashing (Knuth, vol. 3, §6.4)


@dataclass(frozen=True)
class LackOfFit:
    """Sums of squares of the lack of fit and of the pure error (between repeats), F and p (Jain 1991, §15; Draper &
    Smith). F and p are None if all repeats are identical: any misfit is then certain."""

    ss_lack_of_fit: float
    ss_pure_error: float
    df_lack_of_fit: int
    df_pure_error: int
    f: float | None
    p: float | None


@dataclass(frozen=True)
class Assumptions:
    """Values of every check; None if the data do not allow it. ``influential_rows`` count within the rows used.
    ``deciding_rows``: rows without which coefficients cannot be estimated, each with the names of these."""

    lack_of_fit: LackOfFit | None
    repeats: bool  # whether any setting occurs twice
    design_like: bool  # every setting occurs once, on a grid of few levels: rows may be means
    shapiro_w: float | None
    shapiro_p: float | None
    qq_correlation: float
    breusch_pagan_p: float
    brown_forsythe_p: float | None
    autocorrelation: float
    autocorrelation_p: float
    trend_tau: float | None
    trend_p: float | None
    largest_cook: float
    cook_limit: float
    largest_studentized: float
    studentized_p: float  # Bonferroni over all rows
    influential_rows: list[int]
    vif: dict[str, float]
    condition_number: float
    deciding_rows: dict[int, tuple[str, ...]] = field(default_factory=dict)
    curvature_p: dict[str, float] = field(default_factory=dict)  # by predictor; only without repeats

    @property
    def is_ruled_by_a_row(self) -> bool:
        """Return whether one row moves the coefficients as a whole: it decides some of them, it is a significant
        outlier, or its Cook's distance reaches 1 (Cook 1977). Rows of S305 may move them by less."""
        return bool(self.deciding_rows) or self.studentized_p < _OUTLIER_P or self.largest_cook >= 1

    def to_json(self) -> dict[str, Any]:
        """Return all values by name."""
        return {**asdict(self), "deciding_rows": {str(row): list(names) for row, names in self.deciding_rows.items()}}


def check_assumptions(fit: Fit, values: Mapping[str, npt.NDArray[np.generic]]) -> Assumptions:
    """Run every check of one fit; ``values`` are the raw predictors, which identify repeats."""
    residuals, cells = fit.residuals, _number_settings(values, fit.n)
    scale = float(np.sqrt(fit.sse / fit.n))
    exact = scale <= 1e-12 * (abs(fit.mean_y) + float(np.abs(fit.y).max()) if fit.y is not None else 1.0)
    blind = exact or fit.df < _LEAST_DF
    cook, studentized = _compute_influence(fit)
    limit = f_quantile(0.5, len(fit.names), fit.df)
    worst = float(np.abs(studentized).max())
    outlier_p = min(1.0, fit.n * t_two_sided_p(worst, fit.df - 1)) if not blind else 1.0
    above = np.flatnonzero(cook > limit)
    influential = [int(i) for i in above[np.argsort(-cook[above])][:5]]
    if outlier_p < _OUTLIER_P and int(np.abs(studentized).argmax()) not in influential:
        influential.append(int(np.abs(studentized).argmax()))
    w, w_p = (None, None) if blind or not 3 <= fit.n <= MOST else run_shapiro_wilk_test(residuals)
    r1, r1_p = _estimate_autocorrelation(fit, blind)
    triangle = fit.triangle
    assert triangle is not None  # None only for a fit of sums
    # Residuals that should be equal differ by rounding, which is no order.
    thinned = np.round(residuals[:: max(1, fit.n // _TREND_MOST)] / (scale or 1.0), 6)
    drift = None if blind else estimate_trend([thinned])
    return Assumptions(
        lack_of_fit=_test_lack_of_fit(fit, cells, exact),
        repeats=bool(cells.max() + 1 < fit.n),
        design_like=_is_design_like(values, cells, fit.n),
        shapiro_w=w,
        shapiro_p=w_p,
        qq_correlation=compute_qq_correlation(residuals),
        breusch_pagan_p=1.0 if blind else _compute_breusch_pagan_p(fit, residuals),
        brown_forsythe_p=None if exact else compute_brown_forsythe_p(residuals, cells),
        autocorrelation=r1,
        autocorrelation_p=r1_p,
        trend_tau=None if drift is None else drift.tau,
        trend_p=None if drift is None else drift.p,
        largest_cook=float(cook.max()),
        cook_limit=limit,
        largest_studentized=worst,
        studentized_p=outlier_p,
        influential_rows=[] if blind else influential,
        vif=_compute_vif(fit.names[1:], triangle),
        condition_number=float(np.linalg.cond(triangle)),
        deciding_rows=_find_deciding_rows(fit),
        curvature_p={} if blind or cells.max() + 1 < fit.n else _test_curvature(fit),
    )


def compute_qq_points(residuals: Array) -> tuple[Array, Array]:
    """Return (normal quantiles at (i - 0.5)/n, sorted residuals): the Q-Q plot (Jain 1991, §14.7)."""
    n = residuals.size
    return compute_normal_quantiles((np.arange(1, n + 1) - 0.5) / n), np.sort(residuals)


def compute_qq_correlation(residuals: Array) -> float:
    """Return the straightness of the Q-Q plot; 1 for normal residuals."""
    quantiles, ordered = compute_qq_points(residuals)
    return float(np.corrcoef(quantiles, ordered)[0, 1]) if np.ptp(ordered) > 0 else 1.0


def _number_settings(values: Mapping[str, npt.NDArray[np.generic]], n: int) -> npt.NDArray[np.intp]:
    """Return the number of each row's setting: rows with equal predictors are repeats.

    Settings are identified by a 64-bit hash: among a million rows two settings collide with a probability of 10⁻⁷.
    """
    keys = np.zeros(n, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in values.values():
            bits = _encode_objects(column) if column.dtype == object else (column.astype(float) + 0.0).view(np.uint64)
            keys = (keys ^ (bits * _MIX)) * _MIX
            keys ^= keys >> np.uint64(29)
    return np.unique(keys, return_inverse=True)[1]


def _encode_objects(column: npt.NDArray[np.generic]) -> npt.NDArray[np.uint64]:
    codes: dict[object, int] = {}
    return np.fromiter((codes.setdefault(cell, len(codes)) for cell in column), np.uint64, len(column))


def _is_design_like(values: Mapping[str, npt.NDArray[np.generic]], cells: npt.NDArray[np.intp], n: int) -> bool:
    if cells.max() + 1 < n:
        return False
    if len(values) == 1:
        return n <= 12
    return all(
        2 * np.unique(_encode_objects(column) if column.dtype == object else column).size <= n
        for column in values.values()
    )


def _test_lack_of_fit(fit: Fit, cells: npt.NDArray[np.intp], exact: bool) -> LackOfFit | None:
    assert fit.y is not None
    sizes = np.bincount(cells)
    df_pure, df_lack = fit.n - sizes.size, sizes.size - len(fit.names)
    if df_pure < 1 or df_lack < 1 or exact:
        return None
    means = np.bincount(cells, fit.y) / sizes
    pure = zero_if_rounding(float(np.sum((fit.y - means[cells]) ** 2)), fit.y)
    lack = max(0.0, fit.sse - pure)
    f = lack / df_lack / (pure / df_pure) if pure > 0 else None
    return LackOfFit(lack, pure, df_lack, df_pure, f, None if f is None else f_upper_p(f, df_lack, df_pure))


def _compute_breusch_pagan_p(fit: Fit, residuals: Array) -> float:
    """Return p of Koenker's studentised form (J. Econometrics 17, 1981): n·R² of the squared residuals on the
    predictors."""
    assert fit.x is not None
    squared = residuals**2
    fitted = fit.x @ (fit.unscaled @ (fit.x.T @ squared))
    total = float(np.sum((squared - squared.mean()) ** 2))
    r2 = 1 - float(np.sum((squared - fitted) ** 2)) / total if total > 0 else 0.0
    return chi2_upper_p(fit.n * max(0.0, r2), fit.k)


def compute_brown_forsythe_p(residuals: Array, cells: npt.NDArray[np.intp]) -> float | None:
    """Return p of Levene's test about the medians (Brown & Forsythe, JASA 69, 1974), over settings with at least 3
    repeats."""
    groups = [residuals[cells == cell] for cell in np.flatnonzero(np.bincount(cells) >= 3)[:200]]
    if len(groups) < 2 or all(np.ptp(group) == 0 for group in groups):
        return None
    spreads = [np.abs(group - np.median(group)) for group in groups]
    distances, df = np.concatenate(spreads), len(groups) - 1
    between = sum(float(spread.size * (spread.mean() - distances.mean()) ** 2) for spread in spreads)
    within = sum(float(np.sum((spread - spread.mean()) ** 2)) for spread in spreads)
    if within <= 1e-20 * float(distances @ distances):  # each setting has a single distance: no error to test against
        return 1.0 if between <= 1e-20 * float(distances @ distances) else None
    df_within = distances.size - len(groups)
    return f_upper_p(between / df / (within / df_within), df, df_within)


def _estimate_autocorrelation(fit: Fit, exact: bool) -> tuple[float, float]:
    """Return (r of neighbours in the order of the rows, p under independent normal errors).

    Residuals are not independent errors: those of one cell sum to 0, so its neighbours correlate by -1/(repeats - 1).
    The mean and variance of r = e'Ae/e'e follow from the residual maker M, by tr(MA) and tr(MAMA) (Durbin & Watson,
    Biometrika 37, 1950, 409-428).
    """
    residuals = fit.residuals
    total = float(residuals @ residuals)
    if exact or total == 0:
        return 0.0, 1.0
    assert fit.x is not None
    r = float(residuals[1:] @ residuals[:-1]) / total
    q = np.linalg.qr(fit.x)[0]
    neighbours = np.zeros_like(q)
    neighbours[1:] += q[:-1] / 2
    neighbours[:-1] += q[1:] / 2
    inside = q.T @ neighbours
    trace = -float(np.trace(inside))
    squared = (fit.n - 1) / 2 - 2 * float(np.sum(neighbours**2)) + float(np.sum(inside * inside.T))
    mean = trace / fit.df
    variance = (trace**2 + 2 * squared) / (fit.df * (fit.df + 2)) - mean**2
    return r, normal_two_sided_p((r - mean) / math.sqrt(variance)) if variance > 1e-12 else 1.0


def _compute_influence(fit: Fit) -> tuple[Array, Array]:
    """Return (Cook's distances (Technometrics 19, 1977), externally studentised residuals)."""
    assert fit.leverage is not None
    residuals, h = fit.residuals, np.minimum(fit.leverage, 1 - 1e-12)
    if fit.mse <= 0:
        return np.zeros(fit.n), np.zeros(fit.n)
    without = np.maximum(fit.sse - residuals**2 / (1 - h), 1e-300) / max(1, fit.df - 1)
    return residuals**2 * h / (len(fit.names) * fit.mse * (1 - h) ** 2), residuals / np.sqrt(without * (1 - h))


def _find_deciding_rows(fit: Fit) -> dict[int, tuple[str, ...]]:
    """Return the rows of leverage 1. Each lies on the line whatever its value, and without it some coefficients have no
    estimate (Hoaglin & Welsch, The American Statistician 32, 1978)."""
    assert fit.leverage is not None and fit.x is not None
    lengths = np.linalg.norm(fit.x, axis=0)
    deciding: dict[int, tuple[str, ...]] = {}
    for row in np.flatnonzero(fit.leverage > 1 - _LEVERAGE_TOLERANCE):
        moved = np.abs(fit.unscaled @ fit.x[row]) * lengths
        parts = list(zip(fit.names, moved, strict=True))[1:]
        names = tuple(name for name, by in parts if by > _LEVERAGE_TOLERANCE * moved.max())
        deciding |= {int(row): names} if names else {}
    return deciding


def _test_curvature(fit: Fit) -> dict[str, float]:
    """Return predictor → p of its square added to the model, for numbers with at least three values. Without repeats it
    is the only test of curvature."""
    assert fit.x is not None
    p_by_predictor, residuals = {}, fit.residuals
    for place, name in enumerate(fit.names[1:], 1):
        column = fit.x[:, place]
        if np.unique(column[:_MANY_VALUES]).size < 3:
            continue
        square = (column - column.mean()) ** 2
        own = square - fit.x @ np.linalg.lstsq(fit.x, square, rcond=None)[0]
        length = float(own @ own)
        if length <= 1e-12 * float(square @ square):
            continue
        more = float(own @ residuals) ** 2 / length
        rest = max(fit.sse - more, 1e-300) / (fit.df - 1)
        p_by_predictor[name] = f_upper_p(more / rest, 1, fit.df - 1)
    return p_by_predictor


def _compute_vif(names: Sequence[str], triangle: Array) -> dict[str, float]:
    """Return the variance inflation 1/(1 - R²) of each predictor on the others; 1 is none, above 10 is high."""
    inverse = np.linalg.inv(triangle)
    return {name: float(factor) for name, factor in zip(names, np.einsum("ij,ij->i", inverse, inverse), strict=True)}
