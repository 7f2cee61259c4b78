"""Spearman's rank correlation with its interval, also partial, and the unit that carries it.

The interval is Fisher's z with the variance (1 + ρ² ÷ 2) ÷ (n - 3) (Bonett & Wright, Psychometrika 65, 2000, 23-28).
The p-value is Student's t of ρ (Kendall & Stuart, The Advanced Theory of Statistics 2, 1973, ch. 31). With k controls,
both have n - k in place of n (Fisher, Metron 3, 1924, 329-332); the partial ρ is that of the ranks.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .distributions import normal_quantile, t_two_sided_p

Array = npt.NDArray[np.float64]

LEAST = 10  # units, from which the t distribution holds within a tenth of 5 %
_MOST_LEFT_OUT = 600  # units; of more none can carry a correlation, and each costs their square


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's ``rho`` over n units, and its two-sided ``p``; None if the units are too few or all equal.
    ``carrier`` is the unit without which ρ is closest to 0 or has the other sign; ``rho_without`` and ``p_without`` are
    those without it."""

    rho: Estimate
    p: float | None = None
    carrier: int | None = None
    rho_without: float | None = None
    p_without: float | None = None


def estimate_rank_correlation(x: Array, y: Array, level: float, control: Array | None = None) -> RankCorrelation:
    """Estimate the rank correlation of ``x`` and ``y``, one finite value per unit; with ``control`` that among units of
    equal control (partial)."""
    n = len(x)
    if n < LEAST:
        return RankCorrelation(_refuse(level, n, Message("too-few-units", "needs {needed} units", needed=LEAST)))
    several = [x, y] if control is None or np.ptp(control) == 0 else [x, y, control]
    rho, worth = float(_correlate(*map(compute_mean_ranks, several))), n - (len(several) - 2)
    if not math.isfinite(rho):
        return RankCorrelation(_refuse(level, n, Message("equal-values", "all values are equal")))
    plain = RankCorrelation(Estimate(rho, *_compute_limits(rho, worth, level), level, n), _compute_p(rho, worth))
    if n > _MOST_LEFT_OUT:
        return plain
    without = _correlate(*map(_rank_without_each, several))
    toward = np.where(np.isfinite(without), without, 0.0) * math.copysign(1.0, rho)
    carrier = int(np.argmin(toward))
    reduced = float(without[carrier])
    if not math.isfinite(reduced):  # without it, all are equal
        return replace(plain, carrier=carrier)
    return replace(plain, carrier=carrier, rho_without=reduced, p_without=_compute_p(reduced, worth - 1))


def compute_mean_ranks(values: Array) -> Array:
    """Return the rank of each value, from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Array = (np.cumsum(counts) - (counts - 1) / 2)[inverse.reshape(-1)]
    return ranks


def _rank_without_each(values: Array) -> Array:
    """Return, in row i, the mean ranks of the others without unit i; NaN for the unit itself."""
    ranks: Array = compute_mean_ranks(values) - (values[:, None] < values) - 0.5 * (values[:, None] == values)
    np.fill_diagonal(ranks, np.nan)
    return ranks


def _correlate(a: Array, b: Array, control: Array | None = None) -> Array:
    """Return the (partial) correlation over the last axis, leaving NaN out; NaN where a value does not vary."""
    rho = _correlate_two(a, b)
    if control is None:
        return rho
    to_a, to_b = _correlate_two(a, control), _correlate_two(b, control)
    with np.errstate(invalid="ignore", divide="ignore"):
        partial: Array = (rho - to_a * to_b) / np.sqrt((1 - to_a**2) * (1 - to_b**2))
    return np.clip(partial, -1.0, 1.0)


def _correlate_two(a: Array, b: Array) -> Array:
    a, b = (values - np.nanmean(values, axis=-1, keepdims=True) for values in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        rho: Array = np.nansum(a * b, axis=-1) / np.sqrt(np.nansum(a * a, axis=-1) * np.nansum(b * b, axis=-1))
    return np.clip(rho, -1.0, 1.0)


def _compute_limits(rho: float, n: int, level: float) -> tuple[float, float]:
    # A perfect order has no variance; half of the least possible step from it does (12 ÷ (n³ - n)).
    inside = min(abs(rho), 1 - 6 / (n**3 - n))
    half = normal_quantile(0.5 + level / 2) * math.sqrt((1 + inside**2 / 2) / (n - 3))
    z = math.copysign(math.atanh(inside), rho)
    return min(math.tanh(z - half), rho), max(math.tanh(z + half), rho)


def _compute_p(rho: float, n: int) -> float:
    rest = 1 - rho * rho
    return t_two_sided_p(rho * math.sqrt((n - 2) / rest), n - 2) if rest > 0 else 0.0


def _refuse(level: float, n: int, why: Message) -> Estimate:
    return Estimate(None, None, None, level, n, (why,))
