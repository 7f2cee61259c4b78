"""A step in a series that is too short for a test."""

import numpy as np
import pytest

from iosonde.changes.step import find_step, measure_step


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([70, 71, 69, 70, 165, 160, 166, 170], 4),
        ([165, 160, 166, 170, 70, 71, 69], 4),
        ([1, 2, 3, 100, 101, 102], 3),
        ([1, 2, 9, 100, 101, 8, 102], None),
        ([1, 1, 1, 1, 1, 1], None),
        ([1, 1, 1, 2, 2], None),
        ([0, 1, 1, 2, 2, 2], None),
        ([], None),
    ],
)
def test_a_step_separates_all_values_before_from_all_after(values, place):
    assert find_step(np.array(values, dtype=float)) == place


def test_a_step_has_the_same_size_in_both_directions():
    up = np.array([1.0, 1, 1, 2, 2, 2])
    assert measure_step(up, 3) == pytest.approx(np.log(2)) == measure_step(up[::-1], 3)
