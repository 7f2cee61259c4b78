"""What the values of a column look like, whatever it is called."""

import numpy as np

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
