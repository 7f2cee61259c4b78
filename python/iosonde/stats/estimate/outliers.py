"""Outliers: Rosner's generalised extreme Studentised deviate (Technometrics 25, 1983, 165-172)."""

import math

import numpy as np
import numpy.typing as npt

from .distributions import t_quantile
from .summarise import compute_sd

LEAST = 6
MOST = 20


def find_outliers(values: npt.NDArray[np.float64], alpha: float) -> list[int]:
    """Return the positions of the outliers, worst first; at most one value in five, and 20, are tested. Empty below 6
    values.

    ``alpha`` is the probability of any outlier in a normal sample. For one candidate this is Grubbs' test.
    """
    x, n = np.asarray(values, dtype=float), len(values)
    if n < LEAST:
        return []
    remaining, removed, n_outliers = np.arange(n), [], 0
    for i in range(1, min(MOST, max(1, n // 5)) + 1):
        spread = compute_sd(x[remaining])
        if not spread > 0:
            break
        deviations = np.abs(x[remaining] - np.mean(x[remaining])) / spread
        worst = int(np.argmax(deviations))
        removed.append(int(remaining[worst]))
        if deviations[worst] > _compute_critical(n, i, alpha):
            n_outliers = i
        remaining = np.delete(remaining, worst)
    return removed[:n_outliers]


def find_far_values(values: npt.NDArray[np.float64], alpha: float) -> list[int]:
    """Return the values that are outliers on their own scale and, if all are positive, on that of their logs, too.

    A right-skewed population has outliers on the first scale and none on the second: these are its tail.
    """
    positions = find_outliers(values, alpha)
    if positions and np.all(np.asarray(values) > 0):
        also = find_outliers(np.log(values), alpha)
        return [position for position in positions if position in also]
    return positions


def _compute_critical(n: int, i: int, alpha: float) -> float:
    df = n - i - 1
    t = t_quantile(1 - alpha / (2 * (n - i + 1)), df)
    return (n - i) * t / math.sqrt((df + t * t) * (n - i + 1))
