"""Ratios of means and scaling efficiency: the interval covers, and scale changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats

from iosonde.core.types import Estimate
from iosonde.stats.estimate import ratio, scaling
from iosonde.stats.estimate.compare import CANNOT_TELL
from iosonde.stats.estimate.distributions import t_critical
from messages import codes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng: (rng.normal(120, 12, 6), rng.normal(100, 5, 6)), 1.2),
        (lambda rng: (rng.lognormal(1, 0.4, 6), rng.lognormal(0, 0.4, 9)), np.e),
        (lambda rng: (rng.normal(120, 40, 25), rng.normal(100, 30, 30)), 1.2),
    ],
    ids=["few normal", "few skewed", "Fieller"],
)
def test_the_interval_of_a_ratio_covers(draw, truth):
    rng = np.random.default_rng(23)
    covered = []
    for _ in range(1500):
        a, b = draw(rng)
        estimate = ratio.estimate_ratio_of_means(ratio.compute_moments(a), ratio.compute_moments(b), 0.95)
        covered.append(estimate.low <= truth <= estimate.high)
    assert 0.935 < np.mean(covered) < 0.975


def test_fieller_bounds_solve_the_equation_of_the_pivot():
    rng = np.random.default_rng(2)
    a, b = ratio.compute_moments(rng.normal(120, 20, 25)), ratio.compute_moments(rng.normal(100, 20, 25))
    estimate = ratio.estimate_ratio_of_means(a, b, 0.95)
    t = t_critical(0.95, ratio.compute_welch_df(a.sd**2, 25, estimate.value**2 * b.sd**2, 25))

    def pivot(r):
        return (a.mean - r * b.mean) ** 2 - t**2 * (a.sd**2 / 25 + r**2 * b.sd**2 / 25)

    assert estimate.low == pytest.approx(optimize.brentq(pivot, 0.5, estimate.value))
    assert estimate.high == pytest.approx(optimize.brentq(pivot, estimate.value, 3))


def test_a_denominator_that_may_be_zero_gives_no_interval():
    rng = np.random.default_rng(2)
    estimate = ratio.estimate_ratio_of_means(
        ratio.compute_moments(rng.normal(5, 1, 25)), ratio.compute_moments(rng.normal(0.1, 5, 25)), 0.95
    )
    assert estimate.low is None and codes(estimate.warnings) == ["denominator-near-zero"]


@given(st.lists(st.floats(1, 100), min_size=2, max_size=8), st.floats(0.01, 100))
def test_scaling_both_sides_changes_nothing(values, factor):
    other = [v + 1 for v in values]
    one = ratio.estimate_ratio_of_means(ratio.compute_moments(values), ratio.compute_moments(other), 0.95)
    two = ratio.estimate_ratio_of_means(
        ratio.compute_moments(np.multiply(values, factor)), ratio.compute_moments(np.multiply(other, factor)), 0.95
    )
    assert two.value == pytest.approx(one.value) and two.low == pytest.approx(one.low, abs=1e-9)


def test_efficiency_of_linear_scaling_is_one():
    found = scaling.estimate_efficiencies({1: [10.0, 11.0, 9.0], 2: [20.0, 22.0, 18.0], 4: [20.0, 21.0, 19.0]}, 0.95)
    assert found[2].value == pytest.approx(1.0) and found[4].value == pytest.approx(0.5)
    assert found[2].low < 1 < found[2].high


def test_efficiency_counts_from_the_smallest_size():
    assert scaling.estimate_efficiencies({2: [20.0, 21.0], 8: [40.0, 41.0]}, 0.95)[8].value == pytest.approx(
        0.5, abs=0.02
    )
    assert scaling.estimate_efficiencies({2: [20.0, 21.0]}, 0.95) == {}


def test_one_trial_gives_an_efficiency_without_interval():
    (estimate,) = scaling.estimate_efficiencies({1: [10.0], 2: [15.0]}, 0.95).values()
    assert (estimate.value, estimate.low) == (0.75, None)
    assert scaling.judge_efficiency(estimate, 2) == CANNOT_TELL


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.95, 1.02, "linear"),
        (1.1, 1.2, "more than linear"),
        (0.6, 0.7, "less than linear"),
        (0.49, 0.52, "adds nothing"),
        (0.2, 0.7, "adds little or nothing"),
        (0.3, 0.4, "slower than on fewer"),
        (0.4, 0.99, "cannot tell"),
    ],
)
def test_verdicts(low, high, said):
    assert scaling.judge_efficiency(Estimate((low + high) / 2, low, high, 0.95, 6), 2) == said


def test_trials_that_spread_beyond_any_number_have_no_interval():
    wild = ratio.compute_moments([1e-150, 1e150])
    found = ratio.estimate_ratio_of_means(wild, wild, 0.999999)
    assert found.value == 1 and found.low is None and "spread-too-large" in codes(found.warnings)


skewed = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=25)


@given(skewed, skewed)
def test_the_interval_holds_its_own_point_and_is_above_zero(above, below):
    estimate, method = ratio.estimate_ratio_and_method(ratio.compute_moments(above), ratio.compute_moments(below), 0.95)
    assert method in (ratio.FIELLER, ratio.LOGARITHMS) and estimate.value == pytest.approx(
        np.mean(above) / np.mean(below)
    )
    if estimate.low is not None:
        assert 0 <= estimate.low <= estimate.value * (1 + 1e-12) and estimate.value * (1 - 1e-12) <= estimate.high


def test_one_outlier_leaves_the_point_inside():
    """Times of opening a file: 580 µs on average because of one, 16 µs without. It was 0.0276 (0.0279-1.168)."""
    slow, fast = ratio.compute_moments([14, 15, 15, 16, 16, 3400]), ratio.compute_moments([15, 16, 16, 16, 16, 17])
    found = ratio.estimate_ratio_of_means(fast, slow, 0.95)
    assert found.low < found.value < found.high and found.low < 1 < found.high
    assert "skewed-trials" in codes(found.warnings)
    typical = ratio.estimate_geometric_ratio(fast, slow, 0.95)
    assert typical.low < typical.value < typical.high and typical.value == pytest.approx(
        (16**4 * 15 * 17 / (14 * 15 * 15 * 16 * 16 * 3400)) ** (1 / 6)
    )


def test_rates_that_vary_by_more_than_their_mean_have_no_ratio_below_zero():
    wild, calm = ratio.compute_moments([1.0] * 24 + [1000.0]), ratio.compute_moments(np.linspace(9, 11, 25))
    found, method = ratio.estimate_ratio_and_method(wild, calm, 0.95)
    assert method == ratio.LOGARITHMS and 0 < found.low < found.value < found.high


def test_a_value_of_zero_has_no_geometric_mean():
    assert (
        ratio.estimate_geometric_ratio(ratio.compute_moments([0.0, 1.0]), ratio.compute_moments([1.0, 2.0]), 0.95).value
        is None
    )


def test_moments_are_of_values_and_of_their_logs_if_all_are_positive():
    x = np.array([1.0, 2.0, 4.0])
    logs = np.log(x)
    expected = ratio.Moments(*(pytest.approx(f) for f in (7 / 3, x.std(ddof=1))), 3, pytest.approx(logs.mean()), 0)
    made = ratio.compute_moments(x)
    assert made.log_sd == pytest.approx(logs.std(ddof=1))
    assert (made.mean, made.sd, made.n, made.log_mean) == (expected.mean, expected.sd, 3, expected.log_mean)
    assert ratio.compute_moments([0.0, 2.0]) == ratio.Moments(1.0, pytest.approx(2**0.5), 2, None, None)
    assert ratio.moments_from_summary(8.0, 2.0, 5) == ratio.Moments(8.0, 2.0, 5, pytest.approx(np.log(8)), 0.25)
    assert ratio.moments_from_summary(0.0, 2.0, 5) == ratio.Moments(0.0, 2.0, 5, None, None)


@pytest.mark.parametrize(
    ("n", "method"), [((19, 30), ratio.LOGARITHMS), ((30, 19), ratio.LOGARITHMS), ((20, 20), ratio.FIELLER)]
)
def test_logarithms_are_for_fewer_than_twenty_trials_of_positive_values(n, method):
    a, b = (ratio.compute_moments(np.linspace(9, 11, size)) for size in n)
    made, by = ratio.estimate_ratio_and_method(a, b, 0.95)
    assert (by, made.n) == (method, min(n))
    signed = ratio.compute_moments(np.linspace(-1, 11, n[0]))
    for sides in ((signed, b), (b, signed)):
        assert ratio.estimate_ratio_and_method(*sides, 0.95)[1] == ratio.FIELLER


def test_a_ratio_without_an_interval_has_no_method():
    zero, single, two = (ratio.compute_moments(x) for x in ([-1.0, 1.0, 0.0], [4.0], [1.0, 3.0]))
    none, by = ratio.estimate_ratio_and_method(two, zero, 0.9)
    assert (none.value, none.low, none.n, none.level, by, codes(none.warnings)) == (
        *(None, None, 2, 0.9, ""),
        ["denominator-zero"],
    )
    for sides, value in (((single, two), 2.0), ((two, single), 0.5)):
        made, by = ratio.estimate_ratio_and_method(*sides, 0.9)
        assert (made.value, made.low, made.high, made.n, by, codes(made.warnings)) == (
            *(value, None, None, 1, ""),
            ["single-trial"],
        )


def test_the_ratio_of_geometric_means_is_welchs_interval_of_logs():
    a, b = np.array([1.0, 2.0, 4.0, 3.0]), np.array([10.0, 11.0, 9.5])
    welch = scipy_stats.ttest_ind(np.log(a), np.log(b), equal_var=False).confidence_interval(0.9)
    value = scipy_stats.gmean(a) / scipy_stats.gmean(b)
    sides = ratio.compute_moments(a), ratio.compute_moments(b)
    assert ratio.estimate_geometric_ratio(*sides, 0.9) == Estimate(
        pytest.approx(value), *(pytest.approx(np.exp(end)) for end in (welch.low, welch.high)), 0.9, 3
    )
    single = ratio.compute_moments([2.0])
    for pair, at in (((single, sides[1]), 2 / scipy_stats.gmean(b)), ((sides[1], single), scipy_stats.gmean(b) / 2)):
        assert ratio.estimate_geometric_ratio(*pair, 0.9) == Estimate(pytest.approx(at), None, None, 0.9, 1)
    zero = ratio.compute_moments([0.0, 2.0])
    for pair in ((zero, sides[0]), (sides[0], zero)):
        none = ratio.estimate_geometric_ratio(*pair, 0.9)
        assert (none.value, none.low, none.level, none.n) == (None, None, 0.9, 2)
        assert codes(none.warnings) == ["nonpositive-value"]


@pytest.mark.parametrize(
    ("n_a", "n_b", "few"),
    [(3, 12, True), (12, 3, True), (3, 11, False), (2, 8, True), (2, 7, False), (4, 40, False), (1, 4, True)],
)
def test_three_trials_against_four_times_as_many_are_too_few(n_a, n_b, few):
    assert ratio.has_too_few_trials(n_a, n_b) is few
    expected = min(n_a, n_b) - 1 if few else n_a + n_b - 2
    assert ratio.compute_welch_df(0.0, n_a, 0.0, n_b) == expected
    if not few:
        a, b = 2.0 / n_a, 3.0 / n_b
        df = (a + b) ** 2 / (a**2 / (n_a - 1) + b**2 / (n_b - 1))
        assert ratio.compute_welch_df(2.0, n_a, 3.0, n_b) == pytest.approx(df)
