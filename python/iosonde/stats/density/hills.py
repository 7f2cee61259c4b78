"""The hills of a density, the valleys between them, and over which bandwidths they stay.

A maximum is a hill where the valley to the next higher one is deeper than chance makes it: at x a kernel of bandwidth
h gathers about M = n·h·f(x)·2√π values (their variance is that of so many counts), √M has the variance 1/4 whatever M,
and 2(√M_top − √M_valley)/√2 is compared with a normal quantile, with all places that a valley may be at taken into
account. (What of a smoothed picture is really there: Chaudhuri and Marron 1999, SiZer for exploration of structures
in curves, JASA 94, 807-823, from whom the effective sample size M is.)

How many hills there are is asked at 32 bandwidths; the answer that stays over the widest part of them (by ratio) is
taken, at its middle bandwidth, and its part is told as ``stability``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..estimate.distributions import normal_quantile
from . import kernel
from .histogram import WIDTH, LogHistogram

FINEST = 0.01  # hills that lie nearer than about 3 % are one
_WIDEST = 0.1
_OVERSMOOTHED = 0.46  # Terrell (1990): 1.144 σ n^-1/5, above which no bandwidth is reasonable, of 100 values
_BANDWIDTHS = 32
_ALPHA = 0.001
_SIDES = 1.5
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hills:
    """``tops`` and the ``valleys`` between them are values, from the least; ``heights`` are the density at the tops,
    values per natural logarithm.

    ``counts_at``: (bandwidth, number of hills) for each that was tried; ``stability``: the part of them, by ratio, that
    has as many hills as were taken; ``stable_from`` and ``stable_to`` are its ends. ``grid`` and ``density`` are the
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
        """The density in the highest valley, as a part of the lower hill beside it; 0 of one hill."""
        lower = [min(pair) for pair in zip(self.heights, self.heights[1:], strict=False)]
        return max((float(np.interp(valley, self.grid, self.density)) / height
                    for valley, height in zip(self.valleys, lower, strict=True)), default=0.0)  # fmt: skip


def hills(histogram: LogHistogram, bandwidth: str | float = kernel.STABLE) -> Hills:
    """Of a histogram with at least two values; ``bandwidth``: a rule of ``kernel.RULES``, or a number."""
    sd, iqr = histogram.spread()
    widest = max(_WIDEST, _OVERSMOOTHED * (min(sd, iqr / 1.34) if iqr > 0 else sd))
    tried = np.geomspace(FINEST, widest, _BANDWIDTHS)
    padded = histogram.padded(_SIDES * max(widest, bandwidth if isinstance(bandwidth, float) else 0.0))
    curves = kernel.densities(padded.counts, tried.tolist())
    many = [len(_locate_hills(curve, candidate)[0]) for curve, candidate in zip(curves, tried, strict=True)]
    if bandwidth == kernel.STABLE:
        first, last = _find_longest(many)
        chosen = math.sqrt(float(tried[first] * tried[last]))
    else:
        chosen = bandwidth if isinstance(bandwidth, float) else kernel.rule(histogram, str(bandwidth))
        at = int(np.abs(np.log(tried / chosen)).argmin())
        first, last = _part_of(many, at)
    curve = kernel.densities(padded.counts, [chosen])[0]
    tops, valleys = _locate_hills(curve, chosen)
    return Hills(
        tuple(padded.value(np.array(tops) + 0.5).tolist()), tuple(padded.value(np.array(valleys) + 0.5).tolist()),
        tuple(curve[tops].tolist()), chosen, tuple(zip(tried.tolist(), many, strict=True)),
        sum(count == len(tops) for count in many) / len(many), float(tried[first]), float(tried[last]),
        padded.value(np.arange(curve.size) + 0.5), curve,
    )  # fmt: skip


def hills_of(curve: Array, bandwidth: float) -> tuple[list[int], list[int]]:
    """(bins of the tops, bins of the valleys between them) of a density of counts per natural logarithm."""
    return _locate_hills(curve, bandwidth)


def gathered(curve: Array, bandwidth: float) -> Array:
    """M: how many values a kernel at each place gathers."""
    return curve * (bandwidth * 2 * math.sqrt(math.pi))


def _locate_hills(curve: Array, bandwidth: float) -> tuple[list[int], list[int]]:
    roots = np.sqrt(gathered(curve, bandwidth))
    places = max(2.0, curve.size * WIDTH / bandwidth)
    deep = normal_quantile(1 - _ALPHA / places) / math.sqrt(2)
    rises = np.diff(curve, prepend=0.0, append=0.0)
    turns = np.flatnonzero((rises[:-1] > 0) & (rises[1:] <= 0))
    tops = [int(turn) for turn in turns if roots[turn] >= deep] or [int(curve.argmax())]
    valleys = [start + int(curve[start : right + 1].argmin()) for start, right in zip(tops, tops[1:], strict=False)]
    return _merge_shallow(tops, valleys, roots, deep)


def _merge_shallow(tops: list[int], valleys: list[int], roots: Array, deep: float) -> tuple[list[int], list[int]]:
    """Without the hills whose valley is no deeper than chance, the shallowest first."""
    while valleys:
        depth = [min(roots[start], roots[right]) - roots[valley]
                 for start, right, valley in zip(tops, tops[1:], valleys, strict=False)]  # fmt: skip
        least = int(np.argmin(depth))
        if depth[least] >= deep:
            break
        lower = least if roots[tops[least]] < roots[tops[least + 1]] else least + 1
        del tops[lower]
        del valleys[least]
        # The valley that stays between two tops is the lowest place between them.
    return tops, valleys


def _find_longest(many: Sequence[int]) -> tuple[int, int]:
    """The longest part with one number of hills; of equal ones that of more hills."""
    parts = []
    at = 0
    while at < len(many):
        first, last = _part_of(many, at)
        parts.append((last - first, many[at], first, last))
        at = last + 1
    return max(parts)[2:]


def _part_of(many: Sequence[int], at: int) -> tuple[int, int]:
    first = last = at
    while first > 0 and many[first - 1] == many[at]:
        first -= 1
    while last + 1 < len(many) and many[last + 1] == many[at]:
        last += 1
    return first, last
