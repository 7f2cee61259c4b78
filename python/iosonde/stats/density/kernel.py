"""Gaussian kernel density estimates of a histogram by the fast Fourier transform, and rules for the bandwidth.

Silverman (1982), Algorithm AS 176: Kernel density estimation using the fast Fourier transform, Applied Statistics 31,
93-99. Bandwidths are of natural logarithms: 0.1 is about 10 % of a value.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError

from .histogram import WIDTH, LogHistogram

STABLE, ISJ, SILVERMAN, SCOTT = "stable", "isj", "silverman", "scott"
RULES = (STABLE, ISJ, SILVERMAN, SCOTT)
_NOISE = 1e-12  # rounding error of the transform, relative to its maximum
Array = npt.NDArray[np.float64]


def smooth_counts(counts: npt.NDArray[np.generic], bandwidths: Sequence[float], width: float = WIDTH) -> list[Array]:
    """Return counts per natural logarithm, smoothed by each bandwidth; zeros where there is nothing but rounding.

    ``counts``: bins of equal ``width``, 0 outside. The transform is padded to twice the length, to prevent wrap-around.
    """
    length = 1 << (2 * counts.size - 1).bit_length()
    transformed = np.fft.rfft(counts.astype(float), length)
    frequency = 2 * math.pi * np.fft.rfftfreq(length, width)
    curves = []
    for bandwidth in bandwidths:
        curve = np.fft.irfft(transformed * np.exp(-0.5 * (bandwidth * frequency) ** 2), length)[: counts.size] / width
        curves.append(np.where(curve > _NOISE * curve.max(), curve, 0.0))
    return curves


def compute_rule_bandwidth(histogram: LogHistogram, name: str) -> float:
    """Return the bandwidth by a rule of ``RULES`` other than ``stable``. Raises InputError for another name."""
    sd, iqr = histogram.spread()
    narrow = min(sd, iqr / 1.34) if iqr > 0 else sd
    if name == SILVERMAN:  # Silverman (1986), Density Estimation, eq. 3.31
        return max(0.9 * narrow * math.pow(histogram.n, -0.2), WIDTH)
    if name == SCOTT:  # Scott (1992), Multivariate Density Estimation, eq. 6.42
        return max(1.06 * sd * math.pow(histogram.n, -0.2), WIDTH)
    if name == ISJ:
        return compute_sheather_jones_bandwidth(histogram)
    raise InputError(
        "unknown-option-value",
        "unknown bandwidth '{bandwidth}'",
        "use one of {rules}, or a number such as 0.05",
        bandwidth=name,
        rules=", ".join(RULES),
    )


def compute_sheather_jones_bandwidth(histogram: LogHistogram) -> float:
    """Return the bandwidth of Botev, Grotowski and Kroese (2010), Kernel density estimation via diffusion, Annals of
    Statistics 38, 2916-2957: the fixed point of eq. (26) with l = 7 on the cosine transform of the histogram. It
    assumes no normal hill. Without a fixed point, return Silverman's rule."""
    from scipy.fft import dct
    from scipy.optimize import brentq

    padded = histogram.pad_with_empty_bins(0.1 * histogram.counts.size * WIDTH)
    log_range = padded.counts.size * WIDTH
    share = padded.counts / padded.n
    squares = (dct(share, type=2)[1:] / 2) ** 2
    order = np.arange(1, share.size, dtype=float) ** 2
    grid = np.geomspace(1e-12, 0.1, 120)
    residuals = np.array([_compute_fixed_point_error(candidate, histogram.n, order, squares) for candidate in grid])
    crossing = np.flatnonzero((residuals[:-1] < 0) & (residuals[1:] >= 0) & np.isfinite(residuals[1:]))
    if not crossing.size:
        return compute_rule_bandwidth(histogram, SILVERMAN)
    first = int(crossing[0])
    t = brentq(_compute_fixed_point_error, grid[first], grid[first + 1], args=(histogram.n, order, squares))
    return max(math.sqrt(t) * log_range, WIDTH)


def _compute_fixed_point_error(t: float, n: int, order: Array, squares: Array) -> float:
    """Return t − ξγ^[7](t)."""
    stage = 7
    norm = 2 * math.pi ** (2 * stage) * float(np.sum(order**stage * squares * np.exp(-order * math.pi**2 * t)))
    for s in range(stage - 1, 1, -1):
        if not norm > 0:
            return math.nan
        odd = math.prod(range(1, 2 * s, 2)) / math.sqrt(2 * math.pi)
        constant = (1 + 0.5 ** (s + 0.5)) / 3
        time = (2 * constant * odd / (n * norm)) ** (2 / (3 + 2 * s))
        norm = 2 * math.pi ** (2 * s) * float(np.sum(order**s * squares * np.exp(-order * math.pi**2 * time)))
    return t - (2 * n * math.sqrt(math.pi) * norm) ** -0.4 if norm > 0 else math.nan
