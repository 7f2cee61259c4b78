"""Counts of positive values in bins of their logarithm: the input of densities, merged by addition.

Bins are numbered from the value 1, in any unit, 1024 per octave: 0.07 % wide. Histograms of the same unit have the same
bins: counts of trials, ranks and files are simply added.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.arrays import Array, Integers

PER_OCTAVE = 1024
WIDTH = math.log(2) / PER_OCTAVE  # bin width in natural logarithms
LEAST_BINS = 2**14
_BLOCK = 1 << 18  # values per step: they fit into the processor's cache
_SAMPLE = 100_000
_FEW_LEVELS = 500
_SEED = 1985


@dataclass(frozen=True)
class LogHistogram:
    """``counts`` of values from 2^(first/1024) on. ``unspread``: the counts before values were spread over the clock's
    tick, or None if they were not spread."""

    first: int
    counts: Integers
    unspread: Integers | None = None

    @property
    def recorded(self) -> Integers:
        """Return the counts of the values as they were recorded."""
        return self.counts if self.unspread is None else self.unspread

    @property
    def n(self) -> int:
        """Return the number of values."""
        return int(self.counts.sum())

    def value(self, place: float | npt.NDArray[Any]) -> Array:
        """Return the value at a place: 0 is the lower edge of the first bin, 0.5 its middle."""
        values: Array = np.exp2((self.first + np.asarray(place, np.float64)) / PER_OCTAVE)
        return values

    def below(self, value: float) -> int:
        """Return the number of bins below a value."""
        return int(np.clip(round(math.log2(value) * PER_OCTAVE) - self.first, 0, self.counts.size))

    def quantile(self, share: float) -> float:
        """Return the quantile at ``share``, with the resolution of a bin."""
        upto = np.cumsum(self.counts)
        return float(self.value(int(np.searchsorted(upto, share * upto[-1])) + 0.5))

    def total(self) -> float:
        """Return the sum of the values, with the resolution of a bin."""
        return float(self._bin_values() @ self.counts)

    def slowest(self, share: float) -> float:
        """Return the part of the sum that the largest ``share`` of the values contributes."""
        sums = np.cumsum((self._bin_values() * self.counts)[::-1])
        return float(np.interp(share * self.n, np.cumsum([0, *self.counts[::-1]]), [0.0, *sums]) / sums[-1])

    def _bin_values(self) -> Array:
        return self.value(np.arange(self.counts.size) + 0.5)

    def spread(self) -> tuple[float, float]:
        """Return (standard deviation, interquartile range) of the natural logarithms."""
        at = np.arange(self.counts.size) * WIDTH
        middle = float(at @ self.counts) / self.n
        ends = [float(np.searchsorted(np.cumsum(self.counts), share * self.n)) for share in (0.25, 0.75)]
        return math.sqrt(float((at - middle) ** 2 @ self.counts) / self.n), (ends[1] - ends[0]) * WIDTH

    def pad_with_empty_bins(self, sides: float) -> LogHistogram:
        """Pad both sides with empty bins for ``sides`` natural logarithms, to at least 2^14 bins in all."""
        more = max(math.ceil(sides / WIDTH), (LEAST_BINS - self.counts.size + 1) // 2)
        return LogHistogram(self.first - more, np.pad(self.counts, more))


def histogram_from_values(values: npt.NDArray[Any]) -> LogHistogram | None:
    """Return the histogram of positive values, or None if no value is above 0. Values at or below 0 (finer than the
    clock) count as half a tick.

    Values that are multiples of a relatively large tick are spread evenly over it, with a fixed seed. Otherwise every
    tick would be a hill of its own.
    """
    step = find_tick(values)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if not high > 0:
        return None
    least = low if low > 0 else step / 2 or high * 1e-9
    spread = step if step > 2 * WIDTH * max(low, step) else 0.0
    first, last = (
        math.floor(math.log2(edge) * PER_OCTAVE)
        for edge in (min(least, max(least - spread, spread / 4)), high + spread)
    )
    counts = np.zeros(last - first + 2, np.int64)
    unspread = np.zeros_like(counts) if spread else None
    rng = np.random.default_rng(_SEED)
    for at in range(0, values.size, _BLOCK):
        part = np.maximum(values[at : at + _BLOCK].astype(np.float32), np.float32(least))
        if unspread is not None:
            unspread += _count_by_bin(part.copy(), first, counts.size)
            part = _spread_over_tick(part, np.float32(spread), rng)
        counts += _count_by_bin(part, first, counts.size)
    filled = np.flatnonzero(counts if unspread is None else counts + unspread)
    span = slice(int(filled[0]), int(filled[-1]) + 1)
    return LogHistogram(first + span.start, counts[span], None if unspread is None else unspread[span])


def _spread_over_tick(
    values: npt.NDArray[np.float32], step: np.float32, rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Spread each value evenly over its tick, none below a quarter of one."""
    lows = np.maximum(values - step / 2, step / 4)
    spread: npt.NDArray[np.float32] = lows + (values + step / 2 - lows) * rng.random(values.size, np.float32)
    return spread


def _count_by_bin(values: npt.NDArray[np.float32], first: int, size: int) -> Integers:
    """Count the values of each bin; overwrites the values."""
    np.log2(values, out=values)
    values *= PER_OCTAVE
    values -= first
    return np.bincount(np.clip(values, 0, size - 1).astype(np.int32), minlength=size)


def histogram_from_buckets(edges: npt.NDArray[Any], pairs: Iterable[Sequence[int]]) -> LogHistogram | None:
    """Convert a histogram of wider buckets: (bucket, count) each, from ``edges[bucket]`` to the next. Counts are spread
    evenly over their bucket, in whole values. Return None if it is empty."""
    table = np.array([tuple(pair) for pair in pairs if pair[1]], np.int64).reshape(-1, 2)
    if not table.size:
        return None
    lows, highs = (np.log2(np.maximum(edges[table[:, 0] + more], 0.5)) * PER_OCTAVE for more in (0, 1))
    first, last = math.floor(lows.min()), math.ceil(highs.max())
    counts = np.zeros(last - first + 1, np.int64)
    for low, high, count in zip(lows - first, highs - first, table[:, 1], strict=True):
        places = np.arange(math.floor(low), max(math.ceil(high), math.floor(low) + 1))
        upto = np.clip((places + 1 - low) / max(high - low, 1e-9), 0.0, 1.0)
        upto[-1] = 1.0
        counts[places] += np.diff(np.round(upto * count).astype(np.int64), prepend=0)
    filled = np.flatnonzero(counts)
    return LogHistogram(first + int(filled[0]), counts[filled[0] : filled[-1] + 1])


def merge_histograms(parts: Iterable[LogHistogram]) -> LogHistogram:
    """Merge at least one histogram into one."""
    several = list(parts)
    first = min(part.first for part in several)
    counts = np.zeros(max(part.first + part.counts.size for part in several) - first, np.int64)
    recorded = np.zeros_like(counts)
    for part in several:
        place = slice(part.first - first, part.first - first + part.counts.size)
        counts[place] += part.counts
        recorded[place] += part.recorded
    return LogHistogram(first, counts, recorded)


def find_clock_step(values: npt.NDArray[Any]) -> int:
    """Return the greatest step of which all values are whole multiples; 0 if none is above 0."""
    return int(np.gcd.reduce(values[:: max(1, values.size // _SAMPLE)].astype(np.int64), initial=0))


def find_tick(values: npt.NDArray[Any]) -> float:
    """Return the clock step of a sample, or 0 if its values do not count in steps. It is the distance from the most
    frequent value to the next, where few distinct values recur. Rare values, such as a long tail, lie further apart
    than a step."""
    sample = values[:: max(1, values.size // _SAMPLE)]
    levels, counts = np.unique(sample, return_counts=True)
    if levels.size < 3 or sample.size < 4 * levels.size or levels.size > max(_FEW_LEVELS, sample.size // 100):
        return 0.0
    return float(np.median(np.repeat(np.diff(levels.astype(np.float64)), counts[:-1])))
