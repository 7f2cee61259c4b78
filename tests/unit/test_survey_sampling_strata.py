"""Stratified samples: the books' allocation and variance by hand, one stratum as none, and intervals that hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iosonde.survey.sampling import strata
from iosonde.survey.sampling.shares import DrawnSample, estimate_mean, estimate_share
from iosonde.survey.sampling.strata import (
    StratumValues,
    allocate_by_mass,
    estimate_stratified_mean,
    estimate_stratified_share,
)


def test_draws_are_proportional_and_no_stratum_gets_one_or_more_than_it_has():
    assert allocate_by_mass(100, [500, 300, 200], [500, 300, 200]) == [50, 30, 20]
    assert allocate_by_mass(10, [1, 1, 1], [100, 100, 100]) == [4, 3, 3], "the rest to the largest remainders"
    assert allocate_by_mass(100, [9_990, 9, 1], [9_990, 9, 1]) == [100, 2, 1]
    assert allocate_by_mass(100, [900.0, 100.0, 0.0], [3, 500, 20]) == [3, 97, 0], (
        "what has few files leaves draws to others"
    )
    assert allocate_by_mass(100, [60, 30, 10], [1, 2, 3]) == [1, 2, 3]
    assert allocate_by_mass(10, [0, 0], [5, 5]) == [0, 0]


def by_count(population: int, values) -> StratumValues:
    n = len(values)
    return StratumValues(DrawnSample(float(population), np.ones(n), np.full(n, n / population)), values)


def test_value_and_variance_are_those_of_the_book():
    """Cochran 5.3: mean = Σ W p, variance = Σ W² (1 − f) p q / (n − 1)."""
    strata = [(600, 30, 12), (300, 20, 5), (100, 10, 9)]
    found = estimate_stratified_share([by_count(size, [1] * has + [0] * (n - has)) for size, n, has in strata], 0.95)
    value = sum(size * has / n for size, n, has in strata) / 1000
    variance = sum((size / 1000) ** 2 * (1 - n / size) * (has / n) * (1 - has / n) / (n - 1) for size, n, has in strata)
    assert found.estimate.value == pytest.approx(value) and found.estimate.n == 60
    assert found.design_effect == pytest.approx(variance / (value * (1 - value) / 60))
    half = 1.96 * math.sqrt(variance)
    assert found.estimate.low == pytest.approx(value - half, abs=0.03)
    assert found.estimate.high == pytest.approx(value + half, abs=0.03)
    same = estimate_stratified_mean([by_count(size, [1] * has + [0] * (n - has)) for size, n, has in strata], 0.95)
    assert same.estimate.low == pytest.approx(found.estimate.low, abs=0.02)
    assert same.estimate.high == pytest.approx(found.estimate.high, abs=0.02)


def test_one_stratum_is_no_stratum():
    random = np.random.default_rng(3)
    sizes, chances = random.lognormal(3, 2, 40), np.r_[np.ones(5), random.uniform(0.05, 0.9, 35)]
    sample, answered = DrawnSample(9_000.0, sizes, chances), random.random(40) > 0.1
    has, values = random.random(40) < 0.3, random.random(40)
    one = estimate_share(sample, has, 0.9, answered)
    same = estimate_stratified_share([StratumValues(sample, has, answered)], 0.9)
    for field in ("value", "low", "high", "n"):
        assert getattr(same.estimate, field) == pytest.approx(getattr(one.estimate, field))
    assert (same.design_effect, same.if_none, same.if_all) == pytest.approx(
        (one.design_effect, one.if_none, one.if_all)
    )
    within = random.random(40) / 50
    one = estimate_mean(sample, values, 0.9, answered, within)
    same = estimate_stratified_mean([StratumValues(sample, values, answered, within)], 0.9)
    for field in ("value", "low", "high", "n"):
        assert getattr(same.estimate, field) == pytest.approx(getattr(one.estimate, field))


def test_strata_that_are_known_or_give_no_answer():
    known = StratumValues(DrawnSample(10.0, np.full(2, 5.0), np.ones(2)), [1, 0])
    found = estimate_stratified_share([known, known], 0.95)
    assert (found.estimate.value, found.estimate.low, found.estimate.high, found.design_effect) == (0.5, 0.5, 0.5, 0)
    silent = StratumValues(DrawnSample(20.0, np.ones(2), np.full(2, 0.1)), [0, 0], [False, False])
    found = estimate_stratified_share([known, silent], 0.95)
    assert found.estimate.value is None, "of two thirds nothing is known"
    assert (found.if_none, found.if_all) == pytest.approx((1 / 6, 5 / 6))
    assert found.estimate.low <= 1 / 6 and found.estimate.high >= 5 / 6
    assert estimate_stratified_share([silent], 0.95).estimate.value is None
    assert estimate_stratified_mean([silent], 0.95).estimate.value is None


def test_draws_that_are_all_alike_do_not_make_it_certain():
    none = estimate_stratified_share([by_count(1000, [0] * 20), by_count(500, [0] * 10)], 0.95).estimate
    assert none.value == none.low == 0 and 0.08 < none.high < 0.13, "as 30 draws without one"
    alike = estimate_stratified_mean([by_count(1000, [0.0] * 20), by_count(500, [0.0] * 10)], 0.95).estimate
    assert alike.high == pytest.approx(none.high, rel=0.1)
    single = estimate_stratified_share([by_count(1000, [0, 1] * 10), by_count(1000, [1])], 0.95).estimate
    assert single.high - single.low > 0.5, "one draw says little of half of the files"


@pytest.mark.slow
def test_intervals_hold_and_are_narrower_where_strata_differ():
    random = np.random.default_rng(11)
    shares = [0.02, 0.3, 0.6, 0.95]
    parts = [random.random(size) < p for size, p in zip((4000, 2500, 2000, 1500), shares, strict=True)]
    truth = np.concatenate(parts).mean()
    given = allocate_by_mass(200, [len(one) for one in parts], [len(one) for one in parts])
    held, effects = [], []
    for _ in range(600):
        strata = [by_count(len(one), random.choice(one, n, replace=False)) for one, n in zip(parts, given, strict=True)]
        found = estimate_stratified_share(strata, 0.95)
        held.append(found.estimate.low <= truth <= found.estimate.high)
        effects.append(found.design_effect)
    assert np.mean(held) > 0.93
    assert np.mean(effects) < 0.7, "what the strata explain is not in the variance"


def test_nothing_is_unknown_of_strata_that_were_drawn_whole():
    whole = StratumValues(DrawnSample(10.0, np.full(2, 5.0), np.ones(2)), [0.25, 0.75])
    combined, bounds = strata._combine_strata([whole, whole])
    assert (combined.effective, combined.rest, combined.rest_mean, combined.spread) == (0.0, 0, 0.0, 0.0)
    assert (combined.mass, combined.value, combined.n, bounds) == (20.0, 0.5, 4, (0.5, 0.5))
    assert combined.weighted.size == 0 and combined.freedom == 1


def test_the_design_effect_of_a_mean_is_that_of_draws_without_replacement():
    """40 of 100: (1 - 0.4) · s² ÷ 40, over the variance of as many draws with replacement."""
    values = np.linspace(0.1, 0.9, 40)
    found = estimate_mean(DrawnSample(100.0, np.ones(40), np.full(40, 0.4)), values, 0.95)
    assert found.design_effect == pytest.approx(0.6 * 40 / 39)
    same = estimate_stratified_mean([StratumValues(DrawnSample(100.0, np.ones(40), np.full(40, 0.4)), values)], 0.95)
    assert same.design_effect == pytest.approx(0.6 * 40 / 39)
