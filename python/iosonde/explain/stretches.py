"""Stretches of a trial that does not fit in memory: all operations of all ranks that begin in one are kept.

This preserves order, periods and simultaneous operations of ranks. The time is cut into equal parts with one stretch
each at a random place (stratified: Cochran, Sampling Techniques, 1977, chapter 5). The first one is at the beginning,
to include first touches.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .operations import Columns

MAX_OPERATIONS = 1 << 22  # operations in all stretches, about
SEED = 1977
_FEWEST, _MOST, _OF_RANK = 4, 16, 8192
_BURST = 4  # times the average number of operations: a stretch is cut off beyond it


class Stretches:
    """Stretches of ``n`` operations of ``ranks`` ranks over ``elapsed_ns``."""

    def __init__(self, n: int, ranks: int, elapsed_ns: float, max_operations: int = MAX_OPERATIONS) -> None:
        self.count = int(np.clip(max_operations // (max(ranks, 1) * _OF_RANK), _FEWEST, _MOST))
        part = max(elapsed_ns, 1.0) / self.count
        self.width_ns = part * min(1.0, max_operations / max(n, 1))
        free = np.random.default_rng(SEED).random(self.count) * (part - self.width_ns)
        self.begins_ns = np.arange(self.count) * part + np.where(np.arange(self.count) == 0, 0.0, free)
        self._most = max(_BURST * max_operations // (self.count * max(ranks, 1)), 1)
        self._counts: dict[tuple[int, int], int] = {}
        self._parts: list[list[dict[str, npt.NDArray[Any]]]] = [[] for _ in range(self.count)]

    @property
    def operations(self) -> int:
        """The number of kept operations."""
        return sum(part["rank"].size for parts in self._parts for part in parts)

    def add(self, columns: Columns, parts: list[tuple[int, int, int]]) -> None:
        """Add rows of a trial; ``parts``: (rank, first row, row after the last), by start within it."""
        for rank, begin, end in parts:
            start = columns["start_ns"][begin:end]
            lows = begin + np.searchsorted(start, self.begins_ns)
            highs = begin + np.searchsorted(start, self.begins_ns + self.width_ns)
            for place in np.flatnonzero(highs > lows):
                count = self._counts.get((rank, int(place)), 0)
                low, high = int(lows[place]), min(int(highs[place]), int(lows[place]) + self._most - count)
                if high > low:
                    self._counts[rank, int(place)] = count + high - low
                    self._parts[place].append({name: values[low:high].copy() for name, values in columns.items()})

    def each(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield the columns of each stretch that has operations, with times relative to its beginning."""
        for parts, begin in zip(self._parts, self.begins_ns.astype(np.int64), strict=True):
            if parts:
                columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
                yield columns | {"start_ns": columns["start_ns"] - begin}
