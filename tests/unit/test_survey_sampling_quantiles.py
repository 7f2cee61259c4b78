"""Woodruff's intervals of quantiles: exact where all is known, and as often right as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.survey.sampling.quantiles import estimate_weighted_quantile
from iosonde.survey.sampling.shares import DrawnSample, estimate_share


def asked(values, sample, q, level=0.95):
    return estimate_weighted_quantile(
        values, sample.weights, q, level, lambda at: estimate_share(sample, np.asarray(values) <= at, level)
    )


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.floats(0.01, 0.99))
def test_of_all_files_it_is_exact_and_as_numpy_has_it(values, q):
    ones = np.ones(len(values))
    found = asked(values, DrawnSample(float(len(values)), ones, ones), q).estimate
    expected = np.quantile(values, q, method="inverted_cdf")
    assert (found.value, found.low, found.high) == (expected,) * 3


def test_nothing_drawn_and_ends_that_nothing_reaches():
    nothing = DrawnSample(10.0, np.array([]), np.array([]))
    assert asked([], nothing, 0.5).estimate.value is None
    few = DrawnSample(1000.0, np.ones(5), np.full(5, 0.005))
    found = asked([1, 2, 3, 4, 5], few, 0.9).estimate
    assert found.value == 5.0 and found.low is not None and found.low < 5.0
    lowest = asked([1, 2, 3, 4, 5], few, 0.1).estimate
    assert (lowest.value, lowest.low) == (1.0, None) and "beyond" in lowest.warnings[0]


@pytest.mark.long
@pytest.mark.parametrize("by_size", [False, True])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_intervals_hold_the_truth_as_often_as_they_say(by_size, q):
    random = np.random.default_rng(5)
    sizes = np.ceil(random.lognormal(8, 2, 20_000))
    order = np.sort(sizes)
    filled = np.cumsum(order) / order.sum() if by_size else np.arange(1, 20_001) / 20_000
    truth = order[np.searchsorted(filled, q)]
    held = 0
    for _ in range(400):
        keys = random.random(len(sizes)) / (sizes if by_size else 1.0)
        chosen = np.argpartition(keys, 300)[:301]
        chosen = chosen[np.argsort(keys[chosen])]
        drawn, threshold = chosen[:300], keys[chosen[300]]
        chances = np.minimum(1.0, sizes[drawn] * threshold) if by_size else np.full(300, 300 / 20_000)
        masses = sizes[drawn] if by_size else np.ones(300)
        found = asked(sizes[drawn], DrawnSample(sizes.sum() if by_size else 20_000.0, masses, chances), q).estimate
        held += (found.low is None or found.low <= truth) and (found.high is None or truth <= found.high)
    assert held / 400 >= 0.92, held  # of 95 %, fewer come once in 300 times; the seed is fixed
