"""Numbers of small estimators by hand, by published examples, and by SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.core.errors import InputError
from iosonde.core.schema import OPERATION
from iosonde.core.types import Estimate
from iosonde.stats.estimate import modes, outliers, percentiles, rank_tests, ratio, scaling, trend
from iosonde.stats.estimate.percentiles import TrialPercentiles
from iosonde.stats.estimate.selection import Selection, detect_selection
from messages import assert_problem

ROSNER = (
    "-0.25 0.68 0.94 1.15 1.20 1.26 1.26 1.34 1.38 1.43 1.49 1.49 1.55 1.56 1.58 1.65 1.69 1.70 1.76 1.77 1.81 1.91 "
    "1.94 1.96 1.99 2.06 2.09 2.10 2.14 2.15 2.23 2.24 2.26 2.35 2.37 2.40 2.47 2.54 2.62 2.64 2.90 2.92 2.92 2.93 "
    "3.21 3.26 3.30 3.59 3.68 4.30 4.64 5.34 5.42 6.01"
)


def test_rosners_own_example_has_its_three_outliers_and_critical_values():
    """The 54 values of Rosner (1983), as in the NIST/SEMATECH handbook, 1.3.5.17.3."""
    values = np.array([float(value) for value in ROSNER.split()])
    assert outliers.find_outliers(values, 0.05) == [53, 52, 51]
    critical = [outliers._compute_critical(54, i, 0.05) for i in range(1, 11)]
    assert critical == pytest.approx([3.158, 3.151, 3.143, 3.136, 3.128, 3.120, 3.111, 3.103, 3.094, 3.085], abs=1e-3)
    assert outliers.find_outliers(values, 1e-6) == []


def test_outliers_are_one_in_five_at_most_and_take_six_values():
    five = np.array([1.0, 1.1, 0.9, 1.05, 99])
    assert outliers.find_outliers(five, 0.05) == []
    assert outliers.find_outliers(np.append(five, 0.95), 0.05) == [4]
    assert outliers.find_outliers(np.append(five, [0.95, 99, 1.02]), 0.05) == []  # two of eight hide each other
    eleven = np.array([1.0, 1.1, 0.9, 1.05, 99, 0.95, 98, 1.02, 1.01, 0.99, 1.03])
    assert outliers.find_outliers(eleven, 0.05) == [4, 6]
    assert outliers.find_outliers(np.ones(9), 0.05) == []


def test_a_far_value_is_far_on_the_scale_of_logs_too_if_all_are_positive():
    skewed = np.exp(np.array([0.0, 0.5, 1, 1.5, 2, 2.5, 3, 4.6]))
    assert outliers.find_outliers(skewed, 0.05) == [7] and outliers.find_far_values(skewed, 0.05) == []
    assert outliers.find_far_values(skewed - 1, 0.05) == [7]  # one is 0: no logs
    assert outliers.find_far_values(np.array([1.0, 1.1, 0.9, 1.05, 99, 0.95]), 0.05) == [4]


def split_by_hand(x: list[float], least: int) -> tuple[float, int]:
    values, total = np.array(x), np.var(x) * len(x)
    shares = {
        cut: (total - np.var(values[:cut]) * cut - np.var(values[cut:]) * (len(x) - cut)) / total
        for cut in range(least, len(x) - least + 1)
    }
    best = max(shares, key=lambda cut: shares[cut])
    return shares[best], best


@pytest.mark.parametrize(
    ("x", "least"),
    [
        ([1.0, 2, 3, 4, 5, 6, 7, 30, 31, 33], 3),
        ([1.0, 2, 3, 4, 5, 6, 7, 8, 31, 33], 3),
        ([0.0, 1, 9, 20, 20, 21, 22, 23, 24, 25], 3),
        ([1.0, 2, 3, *range(20, 37)], 4),
    ],
)
def test_the_best_split_leaves_a_fifth_and_three_on_either_side(x, least):
    share, cut = split_by_hand(x, least)
    found, at = modes._find_best_split(np.array([x, x[::-1]]))
    assert (found[0], at[0]) == (pytest.approx(share), cut)


def test_two_modes_are_compared_with_the_null_on_both_scales():
    x = np.array([1.0, 1.2, 1.1, 1.3, 9.0, 9.1, 9.4, 9.2, 9.3, 9.6])
    share = min(split_by_hand(sorted(x), 3)[0], split_by_hand(sorted(np.log(x)), 3)[0])
    null = modes._simulate_null(10)
    p = (np.sum(null >= share) + 1) / (null.size + 1)
    assert modes.detect_two_modes(x) == modes.TwoModes(pytest.approx(1.15), pytest.approx(9.266667), 4, p)
    shifted = modes.detect_two_modes(x - 1)  # with a 0 only the values count
    assert shifted.p == (np.sum(null >= split_by_hand(sorted(x), 3)[0]) + 1) / (null.size + 1)
    assert modes._compute_p(modes.UNIMODAL_SHARE, 10) == 1.0 and modes._compute_p(1.0, 10) == 1 / 20_001
    assert modes.detect_two_modes(np.ones(12)) is modes.detect_two_modes(x[:9]) is None


def test_many_trials_are_thinned_and_counted_in_full():
    split = modes.detect_two_modes(np.concatenate([np.linspace(1, 1.1, 100), np.linspace(5, 5.1, 300)]))
    assert split.n_low == 100 and split.p == 1 / 20_001
    assert (split.low_mean, split.high_mean) == pytest.approx((1.05, 5.05), abs=0.01)


def test_a_trend_adds_up_the_pairs_of_all_series():
    a, b = np.array([10.0, 12.0, 11.0]), np.array([1.0, 2.0, 4.0, 3.0])
    found = trend.estimate_trend([a, b, np.ones(5), np.array([1.0, 2.0])])
    assert (found.s, found.tau, found.n) == (1 + 4, pytest.approx(5 / 9), 7)
    slopes = [x / 11 for x in (2, 0.5, -1)] + [x / 2.5 for x in (1, 1.5, 2 / 3, 2, 0.5, -1)]
    assert found.relative_change == pytest.approx(np.median(slopes) * 3)
    assert trend.estimate_trend([-a]).relative_change == pytest.approx(-2 * 0.5 / 11)
    assert trend.estimate_trend([np.array([-1.0, 0.0, 1.0])]).relative_change == 2.0  # a mean of 0 is no divisor
    assert trend.estimate_trend([np.array([1.0, 2.0])]) is trend.estimate_trend([]) is None


def test_the_normal_p_of_a_trend_is_kendalls_with_his_correction_for_ties_and_continuity():
    x = np.array([1.0, 1, 2, 3, 3, 3, 4])
    ties = sum(t * (t - 1) * (2 * t + 5) for t in (2, 3))
    variance = (7 * 6 * 19 - ties) / 18
    s = 21 - 1 - 3
    found = trend.estimate_trend([x])
    assert (found.s, found.p) == (s, pytest.approx(2 * scipy_stats.norm.sf((s - 1) / math.sqrt(variance))))
    both = trend.estimate_trend([x, x[::-1], x])
    assert both.p == pytest.approx(2 * scipy_stats.norm.sf((s - 1) / math.sqrt(3 * variance)))
    assert trend.estimate_trend([x, x[::-1]]).p == 1.0


def test_a_long_series_is_averaged_over_neighbours():
    x = np.arange(10.0)
    assert trend._thin_series(x, 10) is x
    assert trend._thin_series(x, 5).tolist() == [0.5, 2.5, 4.5, 6.5, 8.5]
    assert trend._thin_series(x, 4).tolist() == [0.5, 3.0, 5.5, 8.0]  # from 0, 2, 5, 7 on
    assert trend.estimate_trend([np.arange(5000.0)]).n == 1000
    many = [np.arange(200.0) + i for i in range(10_000)]
    assert trend.estimate_trend(many[:2]).n == 400
    assert trend.estimate_trend([x[:40]] * 3).tau == 1.0


@pytest.mark.parametrize(
    ("low", "high", "size", "base", "verdict"),
    [
        (1.0, 1.2, 2, 1, "linear"),
        (1.01, 1.2, 2, 1, "more than linear"),
        (0.6, 1.0, 2, 1, "linear"),
        (0.51, 0.99, 2, 1, "less than linear"),
        (0.5, 0.6, 2, 1, "adds little or nothing"),
        (0.5, 0.54, 2, 1, "adds nothing"),
        (0.5, 0.55, 2, 1, "adds little or nothing"),
        (0.5, 0.75, 2, 1, "cannot tell"),
        (0.4, 0.5, 2, 1, "adds nothing"),
        (0.4, 0.49, 2, 1, "slower than on fewer"),
        (0.2, 0.26, 8, 2, "adds nothing"),
        (0.2, 0.62, 8, 2, "adds little or nothing"),
        (0.2, 0.63, 8, 2, "cannot tell"),
        (None, 0.63, 8, 2, "cannot tell"),
        (0.2, None, 8, 2, "cannot tell"),
        (0.34, 22.9, 3, 1, "cannot tell"),
    ],
)
def test_an_efficiency_is_judged_at_its_limits(low, high, size, base, verdict):
    assert scaling.judge_efficiency(Estimate(0.5, low, high, 0.95, 6), size, base) == verdict


def test_an_efficiency_is_the_ratio_over_the_growth_of_the_size():
    trials = {8: [36.0, 40.0, 44.0, 39.0], 2: [20.0, 21.0, 19.0, 20.5], 4: [38.0, 41.0, 40.0]}
    made = scaling.estimate_efficiencies(trials, 0.9)
    assert list(made) == [4, 8]
    plain = ratio.estimate_ratio_of_means(ratio.compute_moments(trials[8]), ratio.compute_moments(trials[2]), 0.9)
    eight = made[8]
    assert (eight.value, eight.low, eight.high) == pytest.approx([x / 4 for x in (plain.value, plain.low, plain.high)])
    assert (eight.level, eight.n, made[4].n, made[4].value) == (0.9, 4, 3, pytest.approx(119 / 3 / 20.125 / 2))
    assert scaling.estimate_efficiencies({0: [1.0, 2.0], 2: [3.0, 4.0]}, 0.9) == {}


def test_a_percentile_of_a_histogram_is_linear_inside_its_bucket():
    edges, counts = [0.0, 10.0, 20.0, 40.0], [100, 0, 300]
    made = percentiles.percentiles_from_histogram(edges, counts, (0.125, 0.25, 0.5, 0.999), 0.95)
    assert made == {0.125: 5.0, 0.25: 10.0, 0.5: pytest.approx(20 + 20 / 3), 0.999: None}
    assert percentiles.percentiles_from_histogram([0.0], [], (0.5,), 0.95) == {0.5: None}
    assert percentiles.percentiles_from_histogram(edges, [1, 0, 1], (0.5,), 0.5) == {0.5: 10.0}
    many = percentiles.percentiles_from_histogram(edges, [1, 0, 5000], (0.999,), 0.95)
    assert many[0.999] == pytest.approx(20 + 20 * (0.999 * 5001 - 1) / 5000)


@pytest.mark.parametrize(("n", "known"), [(5, False), (6, True)])
def test_a_median_takes_six_operations(n, known):
    durations = np.arange(n) + 1
    assert (percentiles.percentiles_from_durations(durations, (0.5,), 0.95)[0.5] is not None) is known
    assert (percentiles.percentiles_from_histogram([0, 9], [n], (0.5,), 0.95)[0.5] is not None) is known


def test_each_phase_and_kind_of_a_trial_has_percentiles_of_its_own():
    rows = np.zeros(30, OPERATION)
    rows["phase"], rows["kind"] = np.repeat([2, 3, 3], 10), np.repeat([0, 0, 1], 10)
    rows["duration_ns"] = np.arange(30)
    made = percentiles.percentiles_from_trial(rows, {3: "three", 2: "two", 9: "nine"}, ["open", "read"], 0.95, (0.5,))
    assert made == [
        TrialPercentiles("three", "open", 10, {0.5: 14.0}),
        TrialPercentiles("three", "read", 10, {0.5: 24.0}),
        TrialPercentiles("two", "open", 10, {0.5: 4.0}),
    ]


def test_a_percentile_over_trials_is_the_geometric_mean_in_seconds():
    def trial(duration_ns: float | None, n: int = 1000) -> TrialPercentiles:
        return TrialPercentiles("read", "read", n, {0.5: duration_ns})

    made = percentiles.estimate_over_trials([trial(1e9), trial(4e9), trial(2e9)], 0.5, 0.9)
    half = scipy_stats.t.ppf(0.95, 2) * np.std(np.log([1, 4, 2]), ddof=1) / math.sqrt(3)
    assert (made.value, made.low, made.high) == pytest.approx((2, 2 * math.exp(-half), 2 * math.exp(half)))
    assert percentiles.estimate_over_trials([trial(0.0)], 0.5, 0.9).value == pytest.approx(0.5e-9)
    none = percentiles.estimate_over_trials([trial(1.0, 9), trial(None, 5)], 0.5, 0.95)
    assert (none.value, none.n, none.level) == (None, 2, 0.95)
    assert_problem(none.warnings[0], "too-few-operations", least=6, percentile=50.0, fewest=5)
    assert_problem(percentiles.estimate_over_trials([], 0.5, 0.95).warnings[0], "too-few-operations", fewest=0)


@pytest.mark.parametrize(
    ("is_low", "low", "high", "explained"),
    [
        (True, 1.0, 5.0, True),
        (True, 2.1, 5.0, False),
        (True, -5.0, -0.1, False),
        (True, -5.0, 0.0, True),
        (False, -5.0, -1.0, True),
        (False, -5.0, -2.1, False),
        (False, 0.1, 5.0, False),
    ],
)
def test_a_change_towards_the_mean_is_explained_up_to_the_regression(is_low, low, high, explained):
    assert Selection(0.001, is_low, 2.0 if is_low else -2.0).explains(low, high) is explained


def test_the_regression_of_selected_units_is_their_share_of_noise_times_their_distance():
    paired, others = np.array([1.0, 2, 3, 4]), np.arange(10.0, 20.0)
    partners = paired + [1.0, -1.0, 2.0, 0.0]
    everything = np.concatenate([paired, others])
    noise = np.var([1.0, -1.0, 2.0, 0.0], ddof=1) * 3 / scipy_stats.chi2.ppf(0.05, 3)
    share = noise / np.var(everything, ddof=1)
    p = scipy_stats.mannwhitneyu(paired, others, method="exact").pvalue
    made = detect_selection(paired, partners, others)
    regression = share * (everything.mean() - 2.5)
    assert share < 1 and made == Selection(pytest.approx(p), True, pytest.approx(regression))
    high = detect_selection(-paired, -partners, -others)
    assert high == Selection(pytest.approx(p), False, pytest.approx(-regression))
    wild = detect_selection(paired, paired + [50.0, -50, 50, -50], others)
    assert wild.regression == pytest.approx(everything.mean() - 2.5)  # no more than to the mean of all
    assert detect_selection(paired, partners, others[:3]) is detect_selection(paired[:1], partners[:1], others) is None
    assert detect_selection(paired, partners, np.arange(1.0, 8.0)) is None


def test_a_constant_shift_of_pairs_has_the_p_of_its_signs():
    a = np.array([1.0, 5.0, 2.0, 8.0, 3.0, 9.0])
    made = rank_tests.run_paired_test(a, a + 1, 0.95)
    assert (made.name, made.p, made.superiority) == ("Wilcoxon", 2 / 2**6, 1.0)
    assert (made.shift.value, made.shift.low, made.shift.high, made.shift.n) == (1.0, 1.0, 1.0, 6)
    same = rank_tests.run_paired_test(a, a, 0.95)
    assert (same.p, same.superiority, same.shift.value) == (1.0, 0.5, 0.0)
    mixed = rank_tests.run_paired_test(a, a + [1.0, 0.0, -1.0, 1.0, 1.0, 0.0], 0.95)
    assert mixed.superiority == pytest.approx(3 / 6 + 2 / 6 / 2)


def test_sums_are_picked_without_computing_all_of_them():
    x, y = np.array([-3.0, 0.5, 2.0, 7.0]), np.array([-1.0, 0.0, 4.0])
    sums = np.sort(np.add.outer(x, y).ravel())
    pick = rank_tests._build_sum_picker(x, y)
    assert [pick(k) for k in range(1, 13)] == pytest.approx(sums, abs=1e-9)
    folded = rank_tests._build_sum_picker(x, x, folded=True)
    rows, columns = np.triu_indices(4)
    assert [folded(k) for k in range(1, 11)] == pytest.approx(np.sort(x[rows] + x[columns]), abs=1e-9)


@pytest.mark.parametrize("limit", [0, 4_000_000])
def test_shifts_of_many_pairs_are_those_of_few(monkeypatch, limit):
    monkeypatch.setattr(rank_tests, "_MOST_PAIRS", limit)
    rng = np.random.default_rng(8)
    a, b = rng.normal(5, 1, 9), rng.normal(6, 1, 9)
    differences = np.sort(np.subtract.outer(b, a).ravel())
    made = rank_tests.run_unpaired_test(a, b, 0.95).shift
    rank = rank_tests._find_interval_rank_of_pairs(9, 9, 0.95)
    assert rank == 18  # the tables of Mann and Whitney: 17 is critical for 9 and 9
    assert (made.value, made.low, made.high) == pytest.approx(
        (differences[40], differences[rank - 1], differences[81 - rank]), abs=1e-9
    )
    d = b - a
    rows, columns = np.triu_indices(9)
    walsh = np.sort((d[rows] + d[columns]) / 2)
    paired = rank_tests.run_paired_test(a, b, 0.95).shift
    assert (paired.value, paired.low, paired.high) == pytest.approx((walsh[22], walsh[5], walsh[39]), abs=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_ratio_takes_a_level_between_0_and_1(level):
    a, b = ratio.compute_moments([1.0, 2.0, 3.0]), ratio.compute_moments([2.0, 3.0])
    for estimate in (ratio.estimate_ratio_of_means, ratio.estimate_geometric_ratio):
        with pytest.raises(InputError):
            estimate(a, b, level)


@pytest.mark.parametrize("digits", [9, 1])
@pytest.mark.parametrize("shift", [0.0, 0.4, -0.7])
def test_many_trials_have_the_normal_p_of_mann_and_whitney(digits, shift):
    rng = np.random.default_rng(3)
    a, b = np.round(rng.normal(0, 1, 70), digits), np.round(rng.normal(shift, 1, 150), digits)
    u = scipy_stats.mannwhitneyu(b, a, method="asymptotic")
    p = rank_tests._compute_mann_whitney_p(a, b, u.statistic / (70 * 150))
    assert p == pytest.approx(u.pvalue)


@pytest.mark.parametrize(("n", "m"), [(50, 40), (40, 50), (11, 200)])
def test_the_interval_of_a_shift_of_many_trials_has_the_normal_rank(n, m):
    normal = scipy_stats.norm(n * m / 2, math.sqrt(n * m * (n + m + 1) / 12))
    assert rank_tests._find_interval_rank_of_pairs(n, m, 0.9) == math.floor(normal.ppf(0.05))
