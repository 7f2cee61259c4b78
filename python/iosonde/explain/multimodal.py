"""Silverman's test of more than one hill.

Silverman (1981), Using kernel density estimates to investigate multimodality, JRSS B 43, 97-99. The critical bandwidth
is the least at which the estimate has one mode. p is the share of samples from that estimate, with the variance of the
data, that have more than one mode at this bandwidth. Hall and York (2001), On the calibration of Silverman's test,
Statistica Sinica 11, 515-536: the plain test is conservative. At 1.13 times the bandwidth its level is right at 0.05,
with modes counted in a bounded interval: here the middle 99 % of the values.

Values are assumed independent; consecutive operations are not quite, which makes p too small.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.stats.density import kernel
from iosonde.stats.density.histogram import LogHistogram

LEAST = 30
_BINS = 1024
_DRAWS = 200
_CALIBRATION = 1.13  # Hall and York, for a level of 0.05
_STEPS = 24
_MIDDLE = 0.99
_SEED = 1981
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Multimodality:
    """``critical``: the least bandwidth with one hill. ``p``: p-value under one hill."""

    critical: float
    p: float


def run_silverman_test(histogram: LogHistogram) -> Multimodality | None:
    """Test one hill against more; None below 30 values or if all are equal."""
    n, (sd, _) = histogram.n, histogram.spread()
    if n < LEAST or sd == 0:
        return None
    counts, width, inside = _coarsen_histogram(histogram, sd)
    low, high = width, 8 * sd
    if _count_modes(counts, low, width, inside) == 1:
        return Multimodality(low, 1.0)
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _count_modes(counts, middle, width, inside) == 1 else (middle, high)
    return Multimodality(high, _simulate_p(counts, high, width, inside, sd))


def _coarsen_histogram(histogram: LogHistogram, sd: float) -> tuple[npt.NDArray[np.int64], float, slice]:
    """Return (counts in about 1024 wider bins with padding, their width, the bins of the middle values)."""
    lows = np.cumsum(histogram.counts) / histogram.n
    outer = (1 - _MIDDLE) / 2
    begin, end = (int(np.searchsorted(lows, share)) for share in (outer, 1 - outer))
    step = max(1, math.ceil(histogram.counts.size / _BINS))
    width = step * math.log(2) / 1024
    sides = math.ceil(3 * sd / width)
    counts = np.pad(histogram.counts, (0, -histogram.counts.size % step)).reshape(-1, step).sum(axis=1)
    return np.pad(counts, sides), width, slice(sides + begin // step, sides + end // step + 1)


def _count_modes(counts: npt.NDArray[np.generic], bandwidth: float, width: float, inside: slice) -> int:
    curve = kernel.smooth_counts(counts, [bandwidth], width)[0]
    rises = np.sign(np.diff(curve[max(0, inside.start - 1) : inside.stop + 1]))
    turns = rises[rises != 0]
    return int(((turns[:-1] > 0) & (turns[1:] < 0)).sum()) + int(turns.size == 0)


def _simulate_p(counts: npt.NDArray[np.int64], critical: float, width: float, inside: slice, sd: float) -> float:
    """Return the share of samples of the smoothed estimate, scaled to the variance of the data, with several modes."""
    curve = kernel.smooth_counts(counts, [critical], width)[0]
    at = np.arange(curve.size, dtype=float)
    middle = float(at @ counts) / counts.sum()
    scaled = np.interp(middle + (at - middle) * math.sqrt(1 + (critical / sd) ** 2), at, curve, 0.0, 0.0)
    rng = np.random.default_rng(_SEED)
    drawn = rng.multinomial(int(counts.sum()), scaled / scaled.sum(), _DRAWS)
    several = sum(_count_modes(sample, _CALIBRATION * critical, width, inside) > 1 for sample in drawn)
    return (several + 1) / (_DRAWS + 1)
