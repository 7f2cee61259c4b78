"""Effect of the order of two sides measured one after the other: drift within them, and a step between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array, Flags, Indices
from iosonde.core.types import Estimate

from .autocorrelation import estimate_autocorrelation
from .distributions import t_critical
from .trend import estimate_trend

ALPHA = 0.01  # of a drift
DEPENDENCE_ALPHA = 0.02  # of an autocorrelation of trials in turn
_BIAS = 4.0  # of the correlation of neighbours about a line, 4ρ/n, besides 2/n (Kendall 1954, Biometrika 41, 403-404)
_LARGEST_LAG1 = 0.95
# When the first trial of each setting differs.
_LEAST_TRIALS, _LEAST_SERIES, _MOST = 4, 3, 0.8


@dataclass(frozen=True)
class OrderEffect:
    """``drift``: from the first trial to the last of a side, relative to the mean, with ``drift_p``; None if not
    significant. ``step``: B - A at the border, with a separate line for each side; of logarithms if all values are
    positive. ``worth``: the number of independent trials that a trial is worth, by the correlation of neighbours."""

    drift: float | None
    drift_p: float
    step: Estimate | None
    worth: float


@dataclass(frozen=True)
class OrderedTrials:
    """Trials in the order of measurement: values, whether each is of B, and cells."""

    values: Array
    is_b: Flags
    cells: Indices

    @property
    def in_turn(self) -> bool:
        """Return whether one side was measured completely before the other."""
        return bool(np.count_nonzero(np.diff(self.is_b)) == 1)


def estimate_order_effect(trials: OrderedTrials, level: float, step_cells: Indices | None = None) -> OrderEffect:
    """Estimate the effect of the order of trials whose sides were measured one after the other.

    A drift is a common trend of both sides, or one of a side alone (Kendall's tests, at 1 and twice 0.5 in 100). The
    step is the difference of two straight lines at the border, by least squares, inside the ``step_cells`` (by default
    all).
    """
    steps = trials if step_cells is None else replace(trials, cells=step_cells)
    y = np.log(trials.values) if np.all(trials.values > 0) else trials.values
    places = np.arange(y.size)
    keys = [(side, cell) for side in (False, True) for cell in np.unique(trials.cells)]
    at = [np.flatnonzero((trials.is_b == side) & (trials.cells == cell)) for side, cell in keys]
    series = {key: trials.values[rows] for key, rows in zip(keys, at, strict=True) if rows.size}
    trends = [
        (estimate_trend([x for key, x in series.items() if key[0] in sides]), share)
        for sides, share in (((False, True), 1.0), ((False,), 2.0), ((True,), 2.0))
    ]
    best = min(
        ((drift.p * share, drift) for drift, share in trends if drift is not None),
        key=lambda each: each[0],
        default=None,
    )
    related = estimate_autocorrelation(list(series.values()), [places[rows] for rows in at if rows.size])
    worth = related.effective_share if related is not None and related.p < DEPENDENCE_ALPHA else 1.0
    is_drift = best is not None and best[0] < ALPHA and not _differs_first_alone(list(series.values()))
    return (
        OrderEffect(None, 1.0 if best is None else min(1.0, max(ALPHA, best[0])), None, worth)
        if best is None or not is_drift
        else OrderEffect(best[1].relative_change, best[0], _estimate_step(y, steps, level), worth)
    )


def _differs_first_alone(series: Sequence[Array]) -> bool:
    """Return whether the first trials of most series are apart from all others, which show no trend: a warm-up (S129)
    rises in each setting anew, and is no drift over all of them."""
    longer = [values for values in series if values.size >= _LEAST_TRIALS]
    apart = [values for values in longer if np.abs(values[1:] - values[0]).min() > np.ptp(values[1:])]
    if len(longer) < _LEAST_SERIES or len(apart) < _MOST * len(longer):
        return False
    rest = estimate_trend([values[1:] for values in longer])
    return rest is None or rest.p >= ALPHA


def _estimate_step(y: Array, trials: OrderedTrials, level: float) -> Estimate | None:
    """Estimate the difference of the lines at the border; None without degrees of freedom."""
    away = np.arange(y.size) - (float(np.flatnonzero(np.diff(trials.is_b))[0]) + 0.5)
    cells = (trials.cells[:, None] == np.unique(trials.cells)).astype(float)
    b = trials.is_b.astype(float)
    x = np.column_stack([cells, b, away * b, away * (1 - b)])
    beta, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    df = y.size - int(rank)
    if df < 1 or rank < x.shape[1]:
        return None
    residuals = y - x @ beta
    inflation = _compute_inflation(residuals, trials.is_b)
    variance = float((residuals**2).sum()) / df * inflation
    place = cells.shape[1]
    half = t_critical(level, max(1.0, df / inflation)) * math.sqrt(
        variance * float(np.linalg.inv(x.T @ x)[place, place])
    )
    value = float(beta[place])
    return Estimate(value, value - half, value + half, level, int(y.size))


def _compute_inflation(residuals: Array, is_b: Flags) -> float:
    """Return the inflation of the variance of a mean, (1 + ρ) / (1 - ρ), by the correlation of neighbours on a side,
    with the bias of residuals about a line removed; at least 1, as it is for
    too few trials to know the correlation."""
    total, size = float(residuals @ residuals), residuals.size / 2
    if total == 0 or size < 2 * _BIAS:
        return 1.0
    is_same = is_b[1:] == is_b[:-1]
    lag1 = float((residuals[1:] * residuals[:-1])[is_same].sum()) / total
    correlation = min(_LARGEST_LAG1, max(0.0, (lag1 * size + 2) / (size - _BIAS)))
    return (1 + correlation) / (1 - correlation)


def is_explained_by_drift(effect: OrderEffect, above: bool) -> bool:
    """Return whether the drift explains a difference: there is no step at the border in its direction."""
    step = effect.step
    if effect.drift is None:
        return False
    if step is None or step.low is None or step.high is None:
        return True
    return step.low <= 0 if above else step.high >= 0


def sort_trials(values: Array, is_b: Flags, cells: Indices, order: Array) -> OrderedTrials:
    """Sort the trials by ``order``; ties keep their sequence."""
    places = np.argsort(order, kind="stable")
    return OrderedTrials(values[places], is_b[places], cells[places])
