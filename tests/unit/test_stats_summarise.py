"""Means, medians and their intervals: right numbers, right coverage, right words when there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Estimate
from iosonde.stats.estimate import summarise
from messages import assert_problem, codes, raises

# cp with one replica (tests/golden/data/cp_raw.csv)
CP1 = [179.5, 193.2, 197.4, 231.8, 202.4, 180.3, 222.1, 186.2]
samples = st.lists(st.floats(1.0, 1e6), min_size=2, max_size=30)


def test_mean_has_the_t_interval_and_not_the_normal_one():
    estimate = summarise.estimate_mean(CP1, 0.9)
    assert (estimate.value, estimate.n) == (pytest.approx(199.1125), 8)
    assert (estimate.low, estimate.high) == (pytest.approx(186.325626), pytest.approx(211.899374))


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_mean_agrees_with_scipy(level):
    expected = scipy_stats.ttest_1samp(CP1, 0).confidence_interval(level)
    estimate = summarise.estimate_mean(CP1, level)
    assert (estimate.low, estimate.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_one_trial_has_no_interval_and_says_the_cure():
    estimate = summarise.estimate_mean([5.0], 0.95)
    assert (estimate.value, estimate.low, estimate.high) == (5.0, None, None)
    assert "6 times" in estimate.warnings[0]


def test_no_trial_has_no_value():
    assert summarise.estimate_mean([], 0.95).value is None
    assert summarise.estimate_median([], 0.95).value is None


@pytest.mark.parametrize(("level", "least"), [(0.9, 5), (0.95, 6), (0.99, 8), (0.999, 11)])
def test_least_trials_for_a_median(level, least):
    assert summarise.compute_least_n_for_median(level) == least
    short = summarise.estimate_median(range(least - 1), level)
    assert short.low is None
    assert_problem(short.warnings[0], "too-few-trials", least=least, n=least - 1)
    full = summarise.estimate_median(range(least), level)
    assert (full.low, full.high) == (0, least - 1)


@pytest.mark.parametrize(("p", "least"), [(0.5, 6), (0.99, 299), (0.999, 2995)])
def test_least_operations_for_a_percentile(p, least):
    assert summarise.compute_least_n_for_quantile(p, 0.95) == least


@given(st.integers(6, 200), st.sampled_from([0.9, 0.95, 0.99]))
def test_median_interval_covers_at_least_its_level_and_no_narrower_one_does(n, level):
    if n < summarise.compute_least_n_for_median(level):
        return
    estimate = summarise.estimate_median(np.arange(1.0, n + 1), level)
    k = int(estimate.low)
    assert estimate.high == n + 1 - k
    assert 1 - 2 * scipy_stats.binom.cdf(k - 1, n, 0.5) >= level - 1e-9
    assert 1 - 2 * scipy_stats.binom.cdf(k, n, 0.5) < level


@pytest.mark.parametrize("p", [0.05, 0.1, 0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_quantile_interval_covers_at_least_its_level_and_the_next_narrower_one_does_not(p, level):
    least = summarise.compute_least_n_for_quantile(p, level)
    none = summarise.estimate_quantile(np.arange(1.0, least), p, level)
    assert none.value is None and none.low is None
    assert_problem(none.warnings[0], "too-few-trials", least=least, n=least - 1)
    for n in (least, least + 1, 2 * least, 200):
        made = summarise.estimate_quantile(np.arange(1.0, n + 1), p, level)
        k, s = int(made.low), int(made.high)
        binomial = scipy_stats.binom(n, p)
        assert binomial.cdf(s - 1) - binomial.cdf(k - 1) >= level - 1e-9
        assert binomial.cdf(s - 2) - binomial.cdf(k - 1) < level
        assert made.value == max(1, np.ceil(p * n - 1e-9)) and made.low <= made.value <= made.high
        assert binomial.cdf(k - 1) <= (1 - level) / 2 + 1e-9 or k == 1


def test_harmonic_mean_is_total_work_over_total_time():
    estimate = summarise.estimate_harmonic_mean([60.0, 30.0, 20.0], 0.9)
    assert estimate.value == pytest.approx(3 * 1 / (1 / 60 + 1 / 30 + 1 / 20))
    assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize(
    ("draw", "truth", "n", "least"),
    [
        (lambda rng, n: 100 + 10 * rng.standard_normal(n), 98.97, 4, 0.93),
        (lambda rng, n: np.exp(rng.standard_normal(n)), math.exp(-0.5), 3, 0.89),
        (lambda rng, n: np.exp(rng.standard_normal(n)), math.exp(-0.5), 6, 0.89),
        # One trial in ten at 0.3 times the rate: in 12 % of samples of 20 there is none of them.
        (
            lambda rng, n: np.where(rng.random(n) < 0.1, 30.0, 100.0) * (1 + 0.02 * rng.standard_normal(n)),
            81.05,
            20,
            0.84,
        ),
    ],
)
def test_the_interval_of_the_harmonic_mean_is_never_shown_only_where_it_is_narrow(draw, truth, n, least):
    rng = np.random.default_rng(2)
    made = [summarise.estimate_harmonic_mean(draw(rng, n), 0.95) for _ in range(1000)]
    assert all(estimate.low is not None and estimate.high is not None for estimate in made)
    held = np.mean([estimate.low <= truth <= estimate.high for estimate in made])
    assert least <= held < 0.98


@pytest.mark.parametrize("function", [summarise.estimate_geometric_mean, summarise.estimate_harmonic_mean])
def test_positive_means_refuse_zero(function):
    assert function([0.0, 1.0], 0.95).value is None


def test_equal_values_have_no_spread_at_all():
    assert summarise.compute_sd([0.1] * 7) == 0.0
    estimate = summarise.estimate_mean([0.1] * 7, 0.95)
    assert estimate.low == estimate.value == estimate.high == 0.1


def test_sd_interval_is_the_chi_square_one():
    estimate = summarise.estimate_sd(CP1, 0.9)
    s = np.std(CP1, ddof=1)
    assert estimate.value == pytest.approx(s)
    assert estimate.low == pytest.approx(s * math.sqrt(7 / scipy_stats.chi2.ppf(0.95, 7)))
    assert estimate.high == pytest.approx(s * math.sqrt(7 / scipy_stats.chi2.ppf(0.05, 7)))


def test_coefficient_of_variation_above_a_third_has_no_interval():
    assert summarise.estimate_variation_coefficient([1.0, 9.0, 2.0], 0.95).low is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_that_are_no_numbers_are_refused(bad):
    with pytest.raises(DataError):
        summarise.estimate_mean([1.0, bad], 0.95)


@pytest.mark.parametrize(("level", "hint"), [(0.0, "0.95"), (1.0, "0.95"), (95, "0.95"), (-1, "0.95")])
def test_impossible_levels_are_refused_with_a_hint(level, hint):
    with pytest.raises(InputError) as refused:
        summarise.estimate_mean([1.0, 2.0], level)
    assert hint in refused.value.hint


@given(samples, st.floats(0.001, 1e3), st.randoms())
def test_scaling_and_permuting_change_nothing_else(values, factor, random):
    shuffled = [value * factor for value in values]
    random.shuffle(shuffled)
    for function in (summarise.estimate_mean, summarise.estimate_median, summarise.estimate_geometric_mean):
        one, other = function(values, 0.95), function(shuffled, 0.95)
        for name in ("value", "low", "high"):
            left, right = getattr(one, name), getattr(other, name)
            if left is None:
                assert right is None
            else:
                assert right == pytest.approx(left * factor, rel=1e-9, abs=1e-6 * factor * max(values))


@given(samples, st.floats(0, 1e6))
def test_a_constant_moves_the_mean_and_not_its_width(values, constant):
    one, other = (
        summarise.estimate_mean(values, 0.9),
        summarise.estimate_mean([value + constant for value in values], 0.9),
    )
    assert other.value == pytest.approx(one.value + constant)
    assert other.high - other.low == pytest.approx(one.high - one.low, rel=1e-6, abs=1e-8 * (1e6 + constant))


@pytest.mark.parametrize(
    ("function", "draw", "truth", "least"),
    [
        (summarise.estimate_mean, lambda rng: rng.normal(10, 1, 6), 10.0, 0.935),
        (summarise.estimate_median, lambda rng: rng.normal(10, 1, 6), 10.0, 0.955),
        (summarise.estimate_median, lambda rng: rng.exponential(1, 11), math.log(2), 0.94),
        (summarise.estimate_geometric_mean, lambda rng: np.exp(rng.normal(1, 0.5, 6)), math.e, 0.935),
        (summarise.estimate_sd, lambda rng: rng.normal(10, 1, 10), 1.0, 0.935),
        (summarise.estimate_variation_coefficient, lambda rng: rng.normal(10, 1, 6), 0.1, 0.935),
    ],
)
def test_intervals_cover_what_they_say(function, draw, truth, least):
    rng = np.random.default_rng(17)
    estimates = [function(draw(rng), 0.95) for _ in range(1500)]
    covered = np.mean([estimate.low <= truth <= estimate.high for estimate in estimates])
    assert least < covered < 0.99


@given(st.lists(st.floats(0.1, 1e6), min_size=2, max_size=12))
def test_coefficient_of_variation_never_fails_and_holds_its_value(values):
    found = summarise.estimate_variation_coefficient(values, 0.95)
    if found.low is None:
        assert found.warnings
    else:
        assert found.low <= found.value <= found.high


def test_values_whose_squares_overflow_are_refused_in_words():
    with raises("value-too-large", DataError, largest="1e+308"):
        summarise.estimate_mean([1.0, 1e308, -1e308], 0.95)


def test_too_few_trials_are_said_with_the_number_that_is_needed():
    for estimate, values in (
        (summarise.estimate_median([1.0] * 5, 0.95), {"least": 6, "level": 95.0, "n": 5}),
        (summarise.estimate_quantile([1.0] * 9, 0.9, 0.95), {"least": 29, "percentile": 90.0, "level": 95.0, "n": 9}),
        (summarise.estimate_quantile([1.0] * 3, 0.25, 0.9), {"least": 9, "percentile": 25.0, "level": 90.0, "n": 3}),
    ):
        assert_problem(estimate.warnings[0], "too-few-trials", **values)
        assert (estimate.low, estimate.high, estimate.n) == (None, None, values["n"])


ESTIMATORS = {
    "mean": summarise.estimate_mean,
    "geometric": summarise.estimate_geometric_mean,
    "harmonic": summarise.estimate_harmonic_mean,
    "sd": summarise.estimate_sd,
    "variation": summarise.estimate_variation_coefficient,
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_none_and_one_trial_have_no_interval(name):
    none, single = (ESTIMATORS[name](values, 0.9) for values in ([], [5.0]))
    assert (none.value, none.low, none.high, none.level, none.n, codes(none.warnings)) == (
        *(None, None, None, 0.9, 0),
        ["no-values"],
    )
    value = None if name in ("sd", "variation") else pytest.approx(5.0)
    assert (single.value, single.low, single.high, single.level, single.n, codes(single.warnings)) == (
        *(value, None, None, 0.9, 1),
        ["single-trial"],
    )


@pytest.mark.parametrize(("name", "bad"), [("geometric", 0.0), ("geometric", -1.0), ("harmonic", 0.0)])
def test_positive_means_count_the_trials_that_they_refuse(name, bad):
    made = ESTIMATORS[name]([bad, 1.0, 2.0], 0.9)
    assert (made.value, made.low, made.high, made.level, made.n) == (None, None, None, 0.9, 3)
    assert_problem(made.warnings[0], "nonpositive-value", mean=name)


def test_every_number_of_the_means_of_logs_and_of_reciprocals():
    x = np.array(CP1)
    half = scipy_stats.t.ppf(0.95, 7) / math.sqrt(8)
    mean, sd = np.log(x).mean(), np.log(x).std(ddof=1)
    assert summarise.estimate_geometric_mean(CP1, 0.9) == Estimate(
        *(pytest.approx(math.exp(mean + side * half * sd)) for side in (0, -1, 1)), 0.9, 8
    )
    for values in (x, np.array([1.0, 1.0, 1.0, 30.0])):  # the logs vary more, the reciprocals
        spread = max((1 / values).std(ddof=1) / (1 / values).mean(), np.log(values).std(ddof=1))
        wide = scipy_stats.t.ppf(0.95, values.size - 1) * spread / math.sqrt(values.size)
        made = summarise.estimate_harmonic_mean(values, 0.9)
        center = scipy_stats.hmean(values)
        assert made == Estimate(
            *(pytest.approx(center * math.exp(side * wide)) for side in (0, -1, 1)), 0.9, values.size
        )


def test_the_coefficient_of_variation_has_vangels_interval():
    x = np.array(CP1)
    k, bounds = x.std(ddof=1) / x.mean(), []
    for p in (0.95, 0.05):
        u = scipy_stats.chi2.ppf(p, 7)
        bounds.append(k / math.sqrt(((u + 2) / 8 - 1) * k**2 + u / 7))
    for values in (x, -x):
        assert summarise.estimate_variation_coefficient(values, 0.9) == Estimate(
            pytest.approx(k), *map(pytest.approx, bounds), 0.9, 8
        )


@pytest.mark.parametrize(
    ("values", "value", "code"),
    [
        ([-1.0, 1.0], None, "zero-mean"),
        ([2.0, 3.0, 4.0], 1 / 3, "spread-too-large"),
        ([1.0, 9.0], math.sqrt(32) / 5, "spread-too-large"),
        ([7.0, 10.0, 13.0], 0.3, "too-few-trials"),
    ],
)
def test_a_coefficient_of_variation_without_an_interval_says_why(values, value, code):
    made = summarise.estimate_variation_coefficient(values, 0.99)
    assert (made.low, made.high, made.level, made.n) == (None, None, 0.99, len(values))
    assert made.value == (None if value is None else pytest.approx(value)) and codes(made.warnings) == [code]


def test_the_median_of_nothing_keeps_its_level():
    none, single = summarise.estimate_median([], 0.9), summarise.estimate_median([5.0], 0.9)
    assert (none.value, none.level, none.n, codes(none.warnings)) == (None, 0.9, 0, ["no-values"])
    assert (single.value, single.low, single.level, single.n) == (5.0, None, 0.9, 1)


def test_values_are_refused_from_where_their_squares_overflow():
    assert summarise.estimate_mean([1e140, -1e140], 0.95).value == 0
    with raises("value-too-large"):
        summarise.estimate_mean([0.0, -1.1e140], 0.95)
    with raises("non-finite-value"):
        summarise.estimate_median([math.nan], 0.95)
    assert math.isnan(summarise.compute_sd([1.0])) and summarise.compute_sd([1.0, 3.0]) == pytest.approx(math.sqrt(2))
