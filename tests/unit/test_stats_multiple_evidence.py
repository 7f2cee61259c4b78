"""Numbers that are the same evidence: a bandwidth and a rate at one size count once in a family of tests."""

import numpy as np
import pytest

from iosonde.stats.estimate.multiple import adjust_by_holm, correct_distinct, is_same_evidence
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.story import find_repeated_evidence

RATES = ("bytes/s", "operations/s")


@pytest.mark.parametrize(
    ("units", "b", "same"),
    [
        (RATES, lambda a: a / 4096, True),
        (RATES, lambda a: np.round(a / 4096), True),
        (RATES, lambda a: a / np.array([4096, 65536] * 5), False),
        (RATES, lambda a: a[::-1] / 4096, False),
        (("bytes/s", "bytes/s"), lambda a: a, False),
        (("bytes/s", "s"), lambda a: a / 4096, False),
        (RATES, lambda a: a[:5], False),
        (RATES, lambda a: 0 * a, False),
    ],
)
def test_one_is_the_other_times_a_constant(units, b, same):
    a = 1e6 * np.exp(0.05 * np.random.default_rng(1).normal(size=10))
    assert is_same_evidence(units, a, b(a)) is same


def test_a_repeated_item_is_corrected_in_the_place_of_the_other():
    p_values = [0.01, 0.02, 0.0101]
    assert correct_distinct(p_values, {2: 0}, adjust_by_holm) == [0.02, 0.02, 0.0202]
    assert correct_distinct(p_values, {}, adjust_by_holm) == adjust_by_holm(p_values)


def test_responses_of_cells_are_compared_at_each_setting():
    rng = np.random.default_rng(2)
    values = {size: 1e6 * np.exp(0.1 * rng.normal(size=4)) for size in (4096, 65536)}

    def cells(unit, scale, operation="read"):
        return [TrialCell({"size": size}, "m", unit, at * scale(size), operation) for size, at in values.items()]

    bandwidth = cells("bytes/s", lambda size: 1)
    fixed, varying = cells("operations/s", lambda size: 1 / 4096), cells("operations/s", lambda size: 1 / size)
    assert find_repeated_evidence([bandwidth, varying, fixed]) == {2: 0}
    assert find_repeated_evidence([bandwidth, cells("operations/s", lambda size: 1, "write"), []]) == {}
