"""The two stand-ins for numpy agree with it."""

import math

import numpy as np
import pytest

from iosonde.core.arrays import compute_median, count_distinct


@pytest.mark.parametrize("size", [1, 2, 3, 10, 11])
def test_the_middle_is_the_median(size):
    values = np.random.default_rng(size).normal(0, 1e9, size)
    assert compute_median(values) == np.median(values)
    assert compute_median(list(values)) == np.median(values)


def test_a_nan_is_not_passed_over():
    assert math.isnan(compute_median([1.0, math.nan, 3.0]))


def test_distinct_values_are_counted_as_numpy_does():
    for values in ([1.0, 2, 2], [math.nan, math.nan, 1], [], [0.0, -0.0]):
        assert count_distinct(np.array(values)) == np.unique(np.array(values)).size
