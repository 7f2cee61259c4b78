"""Median and distinct count without numpy's masked arrays, whose import costs as much as summarising a small table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def middle(values: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """The median of at least one value; NaN if any is NaN."""
    ordered = np.sort(np.asarray(values, dtype=float))  # NaN last
    if np.isnan(ordered[-1]):
        return float("nan")
    return float(ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2


def n_distinct(values: npt.NDArray[np.float64] | npt.NDArray[np.intp]) -> int:
    """Count the distinct values; all NaN count as one."""
    return int(np.unique(values, return_counts=True)[0].size)
