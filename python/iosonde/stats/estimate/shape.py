"""Shape of a latency distribution: operations counted in buckets of equal width in log time.

For plots only. Percentiles come from the durations themselves (percentiles.py). A plot needs only these counts, which
add over ranks and trials and cost the same for ten operations and ten million.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

PER_DECADE = 20
_DECADES = 13  # 1 ns to 10^4 s
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """``counts`` per bucket, and the total time of these operations (ns)."""

    counts: Counts
    total_ns: float

    def __add__(self, other: Shape) -> Shape:
        return Shape(self.counts + other.counts, self.total_ns + other.total_ns)

    @property
    def operations(self) -> int:
        """Return the number of operations."""
        return int(self.counts.sum())

    def trim_empty_buckets(self) -> tuple[list[float], list[float]]:
        """Return (edges in s, shares of the operations) from the first to the last non-empty bucket."""
        filled = np.flatnonzero(self.counts)
        if not filled.size:
            return [], []
        first, last = int(filled[0]), int(filled[-1]) + 1
        shares = self.counts[first:last] / self.counts.sum()
        return (10.0 ** (np.arange(first, last + 1) / PER_DECADE - 9)).tolist(), shares.tolist()


def shape_from_durations(durations_ns: npt.ArrayLike) -> Shape:
    """Count each operation's duration. 0 ns (below the clock's resolution) counts as 1 ns."""
    x = np.asarray(durations_ns, dtype=float)
    return Shape(_count_buckets(x, None), float(x.sum()))


def shape_from_buckets(edges_ns: Sequence[float] | npt.NDArray[np.float64], pairs: Iterable[Sequence[int]]) -> Shape:
    """Convert the engine's histogram: pairs (bucket, count), each bucket placed at its geometric middle."""
    edges = np.asarray(edges_ns, dtype=float)
    table = np.array([tuple(pair) for pair in pairs], dtype=np.int64).reshape(-1, 2)
    middle = np.sqrt(np.maximum(edges[table[:, 0]], 1.0) * np.maximum(edges[table[:, 0] + 1], 1.0))
    return Shape(_count_buckets(middle, table[:, 1]), float((middle * table[:, 1]).sum()))


def _count_buckets(x: npt.NDArray[np.float64], weights: Counts | None) -> Counts:
    buckets = np.floor(np.log10(np.maximum(x, 1.0)) * PER_DECADE).astype(np.int64)
    buckets = np.clip(buckets, 0, _DECADES * PER_DECADE - 1)
    return np.bincount(buckets, weights, minlength=_DECADES * PER_DECADE).astype(np.int64)
