"""Classes of operations by duration: from valley to valley of the density of log duration.

Kunkel, "Analysis of Input/Output Phenomena using Statistics and Machine Learning" (2017): each hill of the density is
the effect of an optimisation that was hit or missed. A small hill at the far right, or operations beyond the last one
with a density close to zero, are "unexpectedly slow".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.explain.mixture import Normals, fit_normals
from iosonde.explain.multimodal import Multimodality, run_silverman_test
from iosonde.stats.density import kernel
from iosonde.stats.density.hills import Hills, count_values_in_kernel, detect_hills
from iosonde.stats.density.histogram import LogHistogram

SMALL = 0.05  # share of the operations: a last hill below it is unexpectedly slow
STANDARD = 0.1  # a hill with less is not the reference of the others, however fast it is
_GAP = 0.2  # bandwidth at which the density must reach zero, and the tolerance
_ZERO = 0.25


@dataclass(frozen=True)
class DensityClasses:
    """Classes of durations.

    ``bounds_ns`` lie between neighbouring classes. ``typical_ns``: the median of each; ``fast``: the reference class;
    ``unexpected``: that at the far right, None without one. ``hills``, ``test`` and ``mixture`` are the underlying
    density and further tests.
    """

    bounds_ns: tuple[float, ...]
    ends_ns: tuple[float, float]
    typical_ns: tuple[float, ...]
    shares: tuple[float, ...]
    fast: int
    unexpected: int | None
    hills: Hills
    test: Multimodality | None
    mixture: Normals

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.typical_ns)

    def classify(self, durations_ns: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Return the number of the class of each operation."""
        numbers = np.zeros(durations_ns.size, np.uint8)
        for bound in self.bounds_ns:
            numbers += durations_ns >= bound
        return numbers


def classify_by_density(histogram: LogHistogram, bandwidth: str | float = kernel.STABLE) -> DensityClasses:
    """Classify the durations (ns) of operations; ``bandwidth`` as in ``hills``."""
    density_hills = detect_hills(histogram, bandwidth)
    bounds = list(density_hills.valleys)
    beyond = _find_tail_cut(histogram, density_hills)
    last = histogram.recorded[histogram.below(bounds[-1]) if bounds else 0 :].sum() / histogram.n
    small_last = bool(bounds) and 0 < last <= SMALL
    if beyond is not None and not small_last:
        bounds.append(beyond)
    bounds, edges = _drop_empty_classes(histogram, bounds)
    counts = [histogram.recorded[begin:end] for begin, end in zip(edges, edges[1:], strict=False)]
    shares = tuple(float(count.sum()) / histogram.n for count in counts)
    has_last = len(bounds) > 0 and (small_last or beyond is not None)
    return DensityClasses(
        tuple(bounds),
        (float(histogram.value(0)), float(histogram.value(histogram.counts.size))),
        tuple(_compute_median(histogram, begin, end) for begin, end in zip(edges, edges[1:], strict=False)),
        shares,
        next((place for place, share in enumerate(shares) if share >= STANDARD), 0),
        len(bounds) if has_last else None,
        density_hills,
        run_silverman_test(histogram),
        fit_normals(histogram, density_hills.bandwidth),
    )


def _drop_empty_classes(histogram: LogHistogram, bounds: Sequence[float]) -> tuple[list[float], list[int]]:
    """Return (the bounds between non-empty classes, the bins at which these begin and end). Between ticks of the clock
    there may be a hill without operations."""
    retained: list[float] = []
    edges = [0]
    for bound in bounds:
        place = histogram.below(bound)
        if histogram.recorded[edges[-1] : place].any() and histogram.recorded[place:].any():
            retained.append(bound)
            edges.append(place)
    return retained, [*edges, histogram.counts.size]


def _find_tail_cut(histogram: LogHistogram, density_hills: Hills) -> float | None:
    """Return the point after the last hill where the density is close to zero; None if nothing lies beyond."""
    wide = max(_GAP, density_hills.bandwidth)
    padded = histogram.pad_with_empty_bins(5 * wide)
    last_top = padded.below(density_hills.tops[-1])
    sparse = count_values_in_kernel(kernel.smooth_counts(padded.counts, [wide])[0], wide)[last_top:] < _ZERO
    if not sparse.any():
        return None
    cut = float(padded.value(last_top + int(sparse.argmax())))
    return cut if histogram.recorded[histogram.below(cut) :].any() else None


def _compute_median(histogram: LogHistogram, begin: int, end: int) -> float:
    upto = np.cumsum(histogram.counts[begin:end])
    if not upto.size or not upto[-1]:
        return float(histogram.value((begin + end) / 2))
    return float(histogram.value(begin + int(np.searchsorted(upto, upto[-1] / 2)) + 0.5))
