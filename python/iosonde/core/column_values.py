"""What the values of a column look like, whatever it is called."""

import numpy as np
import numpy.typing as npt

from .table import Column

_MIN_DISTINCT_SHARE = 0.5


def is_mostly_distinct(column: Column) -> bool:
    """Return whether it has hardly any duplicates."""
    present = column.values[~column.missing]
    return len(set(present.tolist())) > _MIN_DISTINCT_SHARE * present.size


def has_integers(column: Column) -> bool:
    """Return whether all its numbers are whole."""
    present = column.values[~column.missing].astype(float)
    return bool(np.all(present == np.round(present)))


def is_consecutive(numbers: npt.NDArray[np.float64]) -> bool:
    """Return whether there are several numbers, and each is one more than the previous one."""
    return numbers.size > 1 and bool(np.all(numbers[1:] == numbers[:-1] + 1))
