"""The hills of a density, the valleys between them, and over which bandwidths they stay.

A maximum is a hill if the valley to the next higher one is deeper than chance makes it. At x a kernel of bandwidth h
gathers about M = n·h·f(x)·2√π values, whose variance is that of M counts. √M has the variance 1/4 whatever M. So
2(√M_top − √M_valley)/√2 is compared with a normal quantile, corrected for all possible places of a valley. (Significant
features of a smoothed density: Chaudhuri and Marron 1999, SiZer for exploration of structures in curves, JASA 94,
807-823; the effective sample size M is theirs.)

Hills are counted at 32 bandwidths. The count that is constant over the widest range of them (by ratio) is taken, at its
middle bandwidth; the share of this range is ``stability``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array

from ..estimate.distributions import normal_quantile
from . import kernel
from .histogram import WIDTH, LogHistogram

FINEST = 0.01  # hills nearer than about 3 % are merged
_WIDEST = 0.1
_OVERSMOOTHED = 0.46  # Terrell (1990): 1.144 σ n^-1/5, above which no bandwidth is reasonable, of 100 values
_BANDWIDTHS = 32
_ALPHA = 0.001
_SIDES = 1.5


@dataclass(frozen=True)
class Hills:
    """``tops`` and the ``valleys`` between them are values in ascending order. ``heights`` are the density at the tops,
    in values per natural logarithm.

    ``counts_at``: (bandwidth, number of hills) for each bandwidth. ``stability``: the share of bandwidths, by ratio,
    with the chosen number of hills; ``stable_from`` and ``stable_to`` are its ends. ``grid`` and ``density`` are the
    curve at ``bandwidth``.
    """

    tops: tuple[float, ...]
    valleys: tuple[float, ...]
    heights: tuple[float, ...]
    bandwidth: float
    counts_at: tuple[tuple[float, int], ...]
    stability: float
    stable_from: float
    stable_to: float
    grid: Array
    density: Array

    @property
    def overlap(self) -> float:
        """Return the density in the highest valley relative to its lower neighbouring hill; 0 for one hill."""
        lower = [min(pair) for pair in zip(self.heights, self.heights[1:], strict=False)]
        return max(
            (
                float(np.interp(valley, self.grid, self.density)) / height
                for valley, height in zip(self.valleys, lower, strict=True)
            ),
            default=0.0,
        )


def detect_hills(histogram: LogHistogram, bandwidth: str | float = kernel.STABLE) -> Hills:
    """Detect the hills of a histogram with at least two values. ``bandwidth``: a rule of ``kernel.RULES``, or a
    number."""
    sd, iqr = histogram.spread()
    widest = max(_WIDEST, _OVERSMOOTHED * (min(sd, iqr / 1.34) if iqr > 0 else sd))
    tried = np.geomspace(FINEST, widest, _BANDWIDTHS)
    padded = histogram.pad_with_empty_bins(_SIDES * max(widest, bandwidth if isinstance(bandwidth, float) else 0.0))
    curves = kernel.smooth_counts(padded.counts, tried.tolist())
    many = [len(_locate_hills(curve, candidate)[0]) for curve, candidate in zip(curves, tried, strict=True)]
    if bandwidth == kernel.STABLE:
        first, last = _find_longest_equal_run(many)
        chosen = math.sqrt(float(tried[first] * tried[last]))
    else:
        chosen = bandwidth if isinstance(bandwidth, float) else kernel.compute_rule_bandwidth(histogram, str(bandwidth))
        first, last = _find_equal_run(many, int(np.abs(np.log(tried / chosen)).argmin()))
    curve = kernel.smooth_counts(padded.counts, [chosen])[0]
    tops, valleys = _locate_hills(curve, chosen)
    return Hills(
        tuple(padded.value(np.array(tops) + 0.5).tolist()),
        tuple(padded.value(np.array(valleys) + 0.5).tolist()),
        tuple(curve[tops].tolist()),
        chosen,
        tuple(zip(tried.tolist(), many, strict=True)),
        sum(count == len(tops) for count in many) / len(many),
        float(tried[first]),
        float(tried[last]),
        padded.value(np.arange(curve.size) + 0.5),
        curve,
    )


def locate_stable_hills(curve: Array, bandwidth: float) -> tuple[list[int], list[int]]:
    """Return (bins of the tops, bins of the valleys between them) of a density of counts per natural logarithm."""
    return _locate_hills(curve, bandwidth)


def count_values_in_kernel(curve: Array, bandwidth: float) -> Array:
    """Return M: the number of values that a kernel gathers at each place."""
    return curve * (bandwidth * 2 * math.sqrt(math.pi))


def _locate_hills(curve: Array, bandwidth: float) -> tuple[list[int], list[int]]:
    roots = np.sqrt(count_values_in_kernel(curve, bandwidth))
    places = max(2.0, curve.size * WIDTH / bandwidth)
    deep = normal_quantile(1 - _ALPHA / places) / math.sqrt(2)
    rises = np.diff(curve, prepend=0.0, append=0.0)
    turns = np.flatnonzero((rises[:-1] > 0) & (rises[1:] <= 0))
    tops = [int(turn) for turn in turns if roots[turn] >= deep] or [int(curve.argmax())]
    return _merge_shallow(
        tops,
        [start + int(curve[start : right + 1].argmin()) for start, right in zip(tops, tops[1:], strict=False)],
        roots,
        deep,
    )


def _merge_shallow(tops: list[int], valleys: list[int], roots: Array, deep: float) -> tuple[list[int], list[int]]:
    """Merge hills whose valley is no deeper than chance, the shallowest first."""
    while valleys:
        depth = [
            min(roots[start], roots[right]) - roots[valley]
            for start, right, valley in zip(tops, tops[1:], valleys, strict=False)
        ]
        least = int(np.argmin(depth))
        if depth[least] >= deep:
            break
        lower = least if roots[tops[least]] < roots[tops[least + 1]] else least + 1
        del tops[lower]
        del valleys[least]
        # The valley left between two tops is the lowest place between them.
    return tops, valleys


def _find_longest_equal_run(many: Sequence[int]) -> tuple[int, int]:
    """Return the longest run with one number of hills; on a tie the one with more hills."""
    parts = []
    at = 0
    while at < len(many):
        first, last = _find_equal_run(many, at)
        parts.append((last - first, many[at], first, last))
        at = last + 1
    return max(parts)[2:]


def _find_equal_run(many: Sequence[int], at: int) -> tuple[int, int]:
    first = last = at
    while first > 0 and many[first - 1] == many[at]:
        first -= 1
    while last + 1 < len(many) and many[last + 1] == many[at]:
        last += 1
    return first, last
