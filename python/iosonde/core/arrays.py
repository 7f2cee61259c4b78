"""Names of array types; median and distinct count without numpy's masked arrays, whose import costs as much as
summarising a small table."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
Integers = npt.NDArray[np.int64]


def compute_median(values: Sequence[float] | Array) -> float:
    """The median of at least one value; NaN if any is NaN."""
    ordered = np.sort(np.asarray(values, dtype=float))  # NaN last
    if np.isnan(ordered[-1]):
        return float("nan")
    return float(ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2


def count_distinct(values: Array | Indices) -> int:
    """Count the distinct values; all NaN count as one."""
    return int(np.unique(values, return_counts=True)[0].size)
