"""Two groups of trials in one sample: the best split compared with that of a unimodal population.

The statistic is Engelman and Hartigan's (JASA 64, 1969, 1647-1648): over all splits of the sorted sample the largest
ratio of between to within sum of squares. Its null distribution is that of a uniform population, the flattest unimodal
one (as for Hartigan's dip), simulated with a fixed seed: the same data always give the same result. For positive data
both the values and their logs must be significant: skew alone makes one or the other look split.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

LEAST = 10
# Share that a split in the middle of a uniform population explains. More than half of its samples exceed it: p is set
# to 1 without simulation.
UNIMODAL_SHARE = 0.75
_DRAWS = 20_000
_LARGEST = 100  # larger samples are thinned to this many order statistics: enough for two groups of similar size


@dataclass(frozen=True)
class TwoModes:
    """The two groups: their means, the number of trials in the lower one, and the p-value under one population."""

    low_mean: float
    high_mean: float
    n_low: int
    p: float


def detect_two_modes(values: npt.NDArray[np.float64]) -> TwoModes | None:
    """Return the split if each side holds at least a fifth (and 3) of the trials; None below 10 trials."""
    x = np.sort(np.asarray(values, dtype=float))
    if x.size < LEAST or np.ptp(x) == 0:
        return None
    if x.size > _LARGEST:
        x = np.quantile(x, np.linspace(0, 1, _LARGEST))
    ratio, cut = _find_best_split(x[None, :])
    share = float(ratio[0])
    if x[0] > 0:
        share = min(share, float(_find_best_split(np.log(x)[None, :])[0][0]))
    at = int(cut[0])
    return TwoModes(
        float(x[:at].mean()), float(x[at:].mean()), round(at / x.size * len(values)), _compute_p(share, x.size)
    )


def _find_best_split(samples: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Return (largest share of the sum of squares that a split explains, its position) for each sorted row."""
    n = samples.shape[1]
    least = max(3, n // 5)
    centered = samples - samples.mean(axis=1, keepdims=True)
    sums = np.cumsum(centered, axis=1)[:, least - 1 : n - least]
    sizes = np.arange(least, n - least + 1)
    between = sums**2 * (1 / sizes + 1 / (n - sizes))
    best = np.argmax(between, axis=1)
    share: npt.NDArray[np.float64] = between[np.arange(len(best)), best] / (centered**2).sum(axis=1)
    return share, best + least


@cache
def _simulate_null(n: int) -> npt.NDArray[np.float64]:
    draws = np.sort(np.random.default_rng(1969).random((_DRAWS, n)), axis=1)
    return np.sort(_find_best_split(draws)[0])


def _compute_p(share: float, n: int) -> float:
    if share <= UNIMODAL_SHARE:
        return 1.0
    null = _simulate_null(n)
    return float((null.size - np.searchsorted(null, share, "left") + 1) / (null.size + 1))
