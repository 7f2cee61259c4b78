"""Logarithms turned back: what spreads so far that an end is beyond all numbers has no interval."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.types import Estimate
from iosonde.stats.estimate.compare import build_group, compare_groups
from iosonde.stats.estimate.logs import TOO_FAR, exp_estimate
from iosonde.stats.estimate.summarise import estimate_geometric_mean
from iosonde.stats.estimate.within_cells import compare_within_cells


def test_logarithms_are_turned_back():
    made = exp_estimate(Estimate(1.0, 0.0, 2.0, 0.9, 5, ("few",)))
    assert (made.value, made.low, made.high, made.n) == (np.e, 1.0, pytest.approx(np.e**2), 5)
    assert exp_estimate(Estimate(None, None, None, 0.9, 0)).value is None
    far = exp_estimate(Estimate(710.0, 0.0, 1420.0, 0.9, 2))
    assert (far.value, far.low, far.high, far.warnings) == (None, None, None, (TOO_FAR,))


@pytest.mark.parametrize(
    "of",
    [
        lambda a, b: estimate_geometric_mean(np.array([a[0], a[1]]), 0.999),
        lambda a, b: compare_groups(build_group("a", a), build_group("b", b), 0.999, 0.02, pairs=True).ratio,
        lambda a, b: compare_within_cells(("a", "b"), [(a[:1], b[:1]), (a[1:], b[1:])], 0.999, 0.02, None).ratio,
    ],
)
def test_one_spike_in_two_trials_is_no_error_and_no_interval(of):
    """It was an OverflowError, or an interval from 0 to inf."""
    made = of(np.array([1000.0, 1e9]), np.array([1028.5, 1028.5]))
    assert made.value > 0 and made.low is None and made.high is None and TOO_FAR in made.warnings
