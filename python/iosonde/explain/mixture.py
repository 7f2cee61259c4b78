"""An independent check of the hills: a mixture of normal distributions of the logarithms, fitted to the histogram.

Dempster, Laird and Rubin (1977), JRSS B 39, 1-38: expectation maximisation on binned counts. Schwarz's criterion (1978,
Annals of Statistics 6, 461-464) chooses the number of components. A hill that is not normal needs several components.
So the hills of the fitted curve, by the same rule, are compared with those of the density (Hennig 2010, Advances in
Data Analysis and Classification 4, 3-34, on merging components).
"""

import math
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array
from iosonde.stats.density.hills import locate_stable_hills
from iosonde.stats.density.histogram import WIDTH, LogHistogram

MOST = 6
_BINS = 256
_ROUNDS = 150
_SETTLED = 1e-7  # change of the log-likelihood per value
_NARROWEST = 0.005


@dataclass(frozen=True)
class Normals:
    """``weights``, ``medians`` (values) and ``sds`` (of the natural logarithm) of each component, by median. ``hills``
    of the fitted curve; ``bic``: Schwarz's criterion."""

    weights: tuple[float, ...]
    medians: tuple[float, ...]
    sds: tuple[float, ...]
    hills: int
    bic: float


def fit_normals(histogram: LogHistogram, bandwidth: float) -> Normals:
    """Fit the mixture of 1 to 6 components with the least BIC. ``bandwidth``: the one at which its hills are
    counted."""
    step = max(1, math.ceil(histogram.counts.size / _BINS))
    counts = np.pad(histogram.counts, (0, -histogram.counts.size % step)).reshape(-1, step).sum(axis=1)
    filled = np.flatnonzero(counts)
    x = (filled.astype(np.float64) + 0.5) * (step * WIDTH)
    weight = counts[filled].astype(float)
    best, components = math.inf, (np.ones(1), np.zeros(1), np.ones(1))
    for k in range(1, min(MOST, filled.size) + 1):
        candidate, likelihood = max(
            (_fit_components(x, weight, at, step * WIDTH) for at in _guess_means(x, weight, k)), key=lambda fit: fit[1]
        )
        bic = (3 * k - 1) * math.log(histogram.n) - 2 * likelihood
        if bic < best:
            best, components = bic, candidate
    return _build_normals(histogram, components, bandwidth, best)


def _guess_means(x: Array, weight: Array, k: int) -> list[Array]:
    """Return starting means of k components: with equal numbers of values and, for small hills far off, equally
    spaced."""
    upto = (np.cumsum(weight) - weight / 2) / weight.sum()
    places = (np.arange(k) + 0.5) / k
    return [np.interp(places, upto, x), x[0] + places * (x[-1] - x[0])]


def _fit_components(x: Array, weight: Array, mean: Array, width: float) -> tuple[tuple[Array, Array, Array], float]:
    n, k = weight.sum(), mean.size
    total_sd = math.sqrt(float(weight @ (x - weight @ x / n) ** 2) / n)
    least = max(_NARROWEST, width / 2)
    sd, share, before = np.full(k, max(total_sd / k, least)), np.full(k, 1 / k), -math.inf
    likelihood = -math.inf
    for _ in range(_ROUNDS):  # one row per component
        height = np.log(share / (sd * math.sqrt(2 * math.pi)))
        logs = height[:, None] - ((x - mean[:, None]) / sd[:, None]) ** 2 / 2
        top = logs.max(axis=0)
        parts = np.exp(logs - top)
        sums = parts.sum(axis=0)
        likelihood = float(weight @ (top + np.log(sums)))
        if likelihood - before < _SETTLED * n:
            break
        before = likelihood
        mine = parts * (weight / sums)
        each = np.maximum(mine.sum(axis=1), 1e-9 * n)
        mean = mine @ x / each
        sd = np.sqrt(np.maximum((mine * (x - mean[:, None]) ** 2).sum(axis=1) / each, least**2))
        share = each / each.sum()
    return (share, mean, sd), likelihood


def _build_normals(
    histogram: LogHistogram, components: tuple[Array, Array, Array], bandwidth: float, bic: float
) -> Normals:
    share, mean, sd = (values[np.argsort(components[1])] for values in components)
    padded = histogram.pad_with_empty_bins(4 * float(sd.max()))
    at = (np.arange(padded.counts.size) + padded.first - histogram.first + 0.5) * WIDTH
    curve = np.zeros(at.size)
    for weight, middle, width in zip(share, mean, np.sqrt(sd**2 + bandwidth**2), strict=True):
        curve += histogram.n * weight * np.exp(-(((at - middle) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
    tops, _ = locate_stable_hills(curve, bandwidth)
    return Normals(
        tuple(share.tolist()), tuple(histogram.value(mean / WIDTH).tolist()), tuple(sd.tolist()), len(tops), bic
    )
