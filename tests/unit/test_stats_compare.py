"""Comparing: the published case, the verdict's rules, the tests beside it, and how often it is wrong."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Better, Estimate, Metric
from iosonde.stats.estimate import compare, missing, modes, rank_tests
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, EQUAL, NEGLIGIBLE, build_group
from iosonde.stats.estimate.compare_words import Wording, describe_comparison
from iosonde.stats.estimate.multiple import adjust_by_holm
from iosonde.stats.estimate.published import PublishedSummary, build_published_group
from iosonde.stats.estimate.ratio import compute_moments, estimate_ratio_of_means
from iosonde.stats.estimate.within_cells import compare_within_cells
from messages import has_message, raises

CP1 = [179.5, 193.2, 197.4, 231.8, 202.4, 180.3, 222.1, 186.2]
CP3 = [178.0, 207.9, 202.0, 213.9, 218.2, 249.0, 207.6, 213.2]
UFS = {"mean": 177.1, "low": 167.6, "high": 186.6, "n": 8, "level": 0.9}
positive = st.lists(st.floats(1, 1000), min_size=3, max_size=10)


def test_a_published_interval_stands_in_for_one_side():
    made = compare.compare_groups(
        build_group("Ficus", CP1), build_published_group(PublishedSummary("UFS", **UFS)), 0.9, 0.02
    )
    assert (made.overlap, made.mean_inside) == (True, False)
    assert (made.t, made.df, made.p) == (
        pytest.approx(2.618035, abs=1e-3),
        pytest.approx(12.923033, abs=1e-3),
        pytest.approx(0.02135, abs=1e-4),
    )
    assert made.verdict == DIFFERENT and made.rank_test is None
    assert made.mean_b.low == pytest.approx(167.6)


@settings(max_examples=60)
@given(positive, positive, st.sampled_from([0.9, 0.95, 0.99]))
def test_one_is_in_the_interval_of_the_ratio_where_the_test_of_the_means_does_not_reject_it(a, b, level):
    made = compare.compare_groups(build_group("a", a), build_group("b", b), level, 0.02)
    if made.p is None or made.a.half_tick or made.b.half_tick or made.ratio.low is None:
        return
    assert (made.ratio.low <= 1 <= made.ratio.high) is (made.p >= 1 - level)
    assert made.ratio.low <= made.ratio.value <= made.ratio.high
    assert made.ratio_at(level) == made.ratio


def test_an_outlier_that_logarithms_exaggerate_does_not_hide_a_difference_of_means():
    a, b = [89.2, 98.1, 118.0, 120.0, 143.6, 161.3], [3.2, 45.4, 63.8, 73.0, 89.3, 98.2]
    made = compare.compare_groups(build_group("a", a), build_group("b", b), 0.95, 0.02)
    assert made.p < 0.05 and (made.verdict, made.above) == (DIFFERENT, False)
    assert made.typical.low < 0.2 and made.ratio.low == made.typical.low < made.ratio.high < 1


def test_an_interval_made_with_z_is_read_with_z():
    one = build_published_group(PublishedSummary("x", mean=10, n=8, low=8, high=12, level=0.9, kind="z"))
    assert one.side.sd == pytest.approx(2 * math.sqrt(8) / 1.644854, rel=1e-5)


@pytest.mark.parametrize(
    "summary",
    [
        {"mean": 1, "n": 1, "sd": 1},
        {"mean": 1, "n": 8},
        {"mean": 9, "n": 8, "low": 1, "high": 2, "level": 0.9},
        {"mean": 1, "n": 8, "low": 0, "high": 2, "level": 1.0},
    ],
)
def test_a_summary_that_cannot_be_is_refused(summary):
    with pytest.raises(InputError):
        build_published_group(PublishedSummary("x", **summary))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.99, 1.01, EQUAL),
        (1.005, 1.015, NEGLIGIBLE),
        (1.005, 1.5, DIFFERENT),
        (0.5, 0.9, DIFFERENT),
        (0.9, 1.01, CANNOT_TELL),
        (None, None, CANNOT_TELL),
        (0.985, 0.995, NEGLIGIBLE),
    ],
)
def test_the_interval_decides(low, high, said):
    assert compare.judge_ratio(Estimate(1.0, low, high, 0.95, 6), 0.02) == said


@settings(max_examples=30, deadline=None)
@given(positive, positive, st.floats(0.01, 100))
def test_exchanging_sides_and_scaling_units_keep_the_verdict(x, y, factor):
    one = compare.compare_groups(build_group("a", x), build_group("b", y), 0.95, 0.05)
    swapped = compare.compare_groups(build_group("b", y), build_group("a", x), 0.95, 0.05)
    scaled = compare.compare_groups(
        build_group("a", np.multiply(x, factor)), build_group("b", np.multiply(y, factor)), 0.95, 0.05
    )
    edges = [1 / 1.05, 1, 1.05]
    near = any(math.isclose(bound, edge, rel_tol=1e-6) for bound in (one.ratio.low, one.ratio.high) for edge in edges)
    if not near:
        assert one.verdict == swapped.verdict == scaled.verdict
    assert swapped.ratio.low == pytest.approx(1 / one.ratio.high)
    assert scaled.ratio.value == pytest.approx(one.ratio.value)


def test_welch_and_paired_t_agree_with_scipy():
    made = compare.compare_groups(build_group("a", CP1), build_group("b", CP3), 0.95, 0.02)
    expected = scipy_stats.ttest_ind(CP1, CP3, equal_var=False)
    assert (made.t, made.p, made.df) == pytest.approx((expected.statistic, expected.pvalue, expected.df))
    made = compare.compare_groups(build_group("a", CP1), build_group("b", CP3), 0.95, 0.02, pairs=True)
    expected = scipy_stats.ttest_rel(np.log(CP1), np.log(CP3))
    assert (made.t, made.p, made.df) == pytest.approx((expected.statistic, expected.pvalue, 7))


def test_pairs_take_out_what_both_sides_share():
    rng = np.random.default_rng(3)
    shared = rng.lognormal(5, 0.5, 12)
    a, b = build_group("a", shared), build_group("b", shared * 1.1 * np.exp(0.01 * rng.standard_normal(12)))
    assert compare.compare_groups(a, b, 0.95, 0.02).verdict == CANNOT_TELL
    made = compare.compare_groups(a, b, 0.95, 0.02, pairs=True)
    assert made.verdict == DIFFERENT and made.ratio.low < 1.1 < made.ratio.high


def test_one_trial_is_refused():
    with pytest.raises(DataError):
        build_group("a", [1.0])


def test_holm_agrees_with_its_definition():
    assert adjust_by_holm([0.01, 0.04, None, 0.03]) == [
        pytest.approx(0.03),
        pytest.approx(0.06),
        None,
        pytest.approx(0.06),
    ]


def test_among_many_comparisons_a_lucky_one_is_said_to_be():
    rng = np.random.default_rng(1)
    base = compare.compare_groups(
        build_group("a", rng.normal(100, 2, 8)), build_group("b", rng.normal(102, 2, 8)), 0.95, 0.0
    )
    assert base.verdict == DIFFERENT and 0.005 < base.p < 0.05
    made = compare.apply_holm_correction([base] * 12)
    assert made[0].p_holm == pytest.approx(12 * base.p) and "12 comparisons" in made[0].warnings[-1]


def test_a_disagreeing_test_is_a_warning():
    a = [100.0, 101, 102, 103, 104, 105, 106, 107]
    b = [108.0, 109, 110, 111, 112, 113, 114, 20]
    made = compare.compare_groups(build_group("a", a), build_group("b", b), 0.95, 0.02)
    assert made.verdict == CANNOT_TELL and any("Mann-Whitney" in w for w in made.warnings)


def verdict_of(a: np.ndarray, b: np.ndarray, margin: float) -> str:
    return compare.judge_ratio(estimate_ratio_of_means(compute_moments(b), compute_moments(a), 0.95), margin)


@pytest.mark.parametrize("spread", [0.02, 0.08])
def test_with_n_needed_trials_the_answer_is_never_cannot_tell(spread):
    rng = np.random.default_rng(7)

    def unsure(n: int, shift: float) -> bool:
        a, b = np.exp(spread * rng.standard_normal((2, n)))
        return verdict_of(a, b * np.exp(shift), 0.05) == CANNOT_TELL

    many = compute_moments(np.exp(spread * rng.standard_normal(2000)))
    variance = compare._compute_trial_variance(many, many, True)
    enough = compare.find_least_n(variance, math.log(1.05) / 2, 0.95)
    assert np.mean([unsure(enough, shift) for shift in np.linspace(-0.08, 0.08, 60)]) < 0.1
    assert np.mean([unsure(max(3, enough // 4), 0.03) for _ in range(60)]) > 0.2


def test_n_needed_finds_the_observed_difference_beyond_the_margin_and_equality_within_it():
    """Power by SciPy's noncentral t, of 4 comparisons (Bonferroni)."""
    z = np.array([-1.3, -0.9, 0.2, 0.4, 0.6, 1.0])
    a, b = build_group("a", 100 + 8 * z), build_group("b", 100 * 1.05 + 8 * z[::-1])
    made = compare.compare_groups(a, b, 0.95, 0.02)
    assert (made.verdict, made.to_json()["n_needed_for"]) == (CANNOT_TELL, "difference")
    same = compare.compare_groups(a, build_group("b", 100 * 1.005 + 8 * z[::-1]), 0.95, 0.02)
    assert (same.verdict, same.to_json()["n_needed_for"]) == (CANNOT_TELL, "equality")
    of_four = compare.apply_holm_correction([made, same, same, same])
    assert of_four[0].n_needed > made.n_needed and of_four[1].n_needed == same.n_needed
    for comparison, alpha in ((made, 0.05), (of_four[0], 0.05 / 4)):
        n = comparison.n_needed
        shift = math.log(b.side.mean / a.side.mean) / math.sqrt(made.trial_variance / n)
        power = scipy_stats.nct.sf(scipy_stats.t.ppf(1 - alpha / 2, 2 * n - 2), 2 * n - 2, shift)
        assert power == pytest.approx(0.8, abs=0.02)


# 20-fold, log-normal noise of 35 %: Welch's p of the values is 0.04, of their logarithms 0.0006.
FAST, SLOW = np.array([1240.0, 640.0, 715.0]), np.array([27.0, 47.0, 30.0])


def test_logarithms_decide_between_means_that_are_far_apart():
    made = compare.compare_groups(build_group("a", FAST), build_group("b", SLOW), 0.95, 0.02)
    welch = scipy_stats.ttest_ind(np.log(FAST), np.log(SLOW), equal_var=False)
    assert scipy_stats.ttest_ind(FAST, SLOW, equal_var=False).pvalue > 0.04
    assert (made.t, made.df, made.p) == pytest.approx((welch.statistic, welch.df, welch.pvalue))
    assert made.to_json()["scale"] == "logarithms" and made.verdict == DIFFERENT and made.ratio.high < 0.2
    assert not compare.apply_holm_correction([made] * 12)[0].by_chance
    near = compare.compare_groups(build_group("a", FAST), build_group("b", 15 * SLOW), 0.95, 0.02)
    assert near.p == pytest.approx(scipy_stats.ttest_ind(FAST, 15 * SLOW, equal_var=False).pvalue)
    assert near.to_json()["scale"] == "values"


def test_logarithms_that_differ_the_other_way_do_not_decide():
    a, b = np.array([10.0, 11.0, 12.0, 400.0]), np.array([40.0, 41.0, 42.0, 43.0])
    assert a.mean() > 2 * b.mean() and np.log(a).mean() < np.log(b).mean()
    made = compare.compare_groups(build_group("a", a), build_group("b", b), 0.95, 0.02)
    assert made.p == pytest.approx(scipy_stats.ttest_ind(a, b, equal_var=False).pvalue)


@settings(max_examples=60)
@given(positive, positive)
def test_no_interval_is_cut_at_one(a, b):
    made = compare.compare_groups(build_group("a", a), build_group("b", b), 0.95, 0.02)
    if made.ratio.low is None or made.p is None or made.a.half_tick or made.b.half_tick or abs(made.p - 0.05) < 1e-6:
        return
    assert all(abs(end - 1) > 1e-9 for end in (made.ratio.low, made.ratio.high))


@pytest.mark.parametrize("n", [3, 6, 25])
def test_a_difference_is_not_found_in_noise_more_often_than_the_level_says(n):
    rng = np.random.default_rng(n)
    said = [verdict_of(*rng.normal(100, 5, (2, n)), 0.0) for _ in range(1000)]
    assert np.mean([verdict == DIFFERENT for verdict in said]) < 0.07


@pytest.mark.parametrize(("n", "m"), [(3, 4), (5, 5), (2, 7)])
def test_the_place_of_the_shifts_interval_is_that_of_all_orders(n, m):
    scores = [
        sum(x > y for x in chosen for y in set(range(n + m)) - set(chosen))
        for chosen in itertools.combinations(range(n + m), n)
    ]
    for level in (0.8, 0.9, 0.95):
        k = rank_tests._find_interval_rank_of_pairs(n, m, level)
        assert np.mean(np.array(scores) < k) <= (1 - level) / 2 + 1e-9 < np.mean(np.array(scores) < k + 1)


def test_the_place_of_the_paired_interval_is_that_of_all_signs():
    scores = np.array([sum(i + 1 for i in range(7) if signs >> i & 1) for signs in range(2**7)])
    k = rank_tests._find_interval_rank_of_averages(7, 0.9)
    assert np.mean(scores < k) <= 0.05 < np.mean(scores < k + 1)


def test_the_shift_covers():
    rng = np.random.default_rng(9)
    covered = []
    for _ in range(150):
        a, b = rng.exponential(1, 8), 3 + rng.exponential(1, 9)
        shift = rank_tests.run_unpaired_test(a, b, 0.95).shift
        covered.append(shift.low <= 3 <= shift.high)
    assert np.mean(covered) > 0.92


def test_sentences_can_be_quoted():
    made = compare.compare_groups(
        build_group("1", CP1), build_published_group(PublishedSummary("UFS", **UFS)), 0.9, 0.02
    )
    words = Wording(Metric("real", "s", Better.LOWER), "s", "replicas")
    assert describe_comparison(made, words) == (
        "UFS is faster than replicas=1 (the base): 0.889 (0.823 to 0.964) times the time; 199 → 177 s, n = 8 and 8."
    )
    made = compare.compare_groups(build_group("1", CP1), build_group("3", CP3), 0.95, 0.02)
    assert describe_comparison(made, words) == (
        "Inconclusive: replicas=3 may be slower or faster than replicas=1 (the base): 1.061 (0.959 to 1.174) times "
        "the time, which includes 1 and extends beyond ± 2.0 %; 199 → 211 s, n = 8 and 8. About 42 trials per side "
        "are needed to find a difference of this size (power 80 %): 34 more."
    )


@pytest.mark.parametrize(
    ("metric", "up", "down"),
    [
        (Metric("real", "s", Better.LOWER), "slower", "faster"),
        (Metric("x", "MB/s"), "faster", "slower"),
        (Metric("bandwidth", ""), "faster", "slower"),
        (Metric("latency_p99", "", Better.LOWER), "slower", "faster"),
        (Metric("errors", "", Better.LOWER), "more", "less"),
        (Metric("memory", "bytes"), "more", "less"),
        (Metric("temperature", ""), "more", "less"),
    ],
)
def test_the_words_follow_the_metric(metric, up, down):
    few, many = build_group("a", [10.0, 10.1, 9.9]), build_group("b", [20.0, 20.1, 19.9])
    made, back = compare.compare_groups(few, many, 0.95, 0.02), compare.compare_groups(many, few, 0.95, 0.02)
    assert (Wording(metric).describe_verdict(made), Wording(metric).describe_verdict(back)) == (up, down)
    assert f"b is {up} than a (the base)" in describe_comparison(made, Wording(metric))


def test_values_of_zero_and_logarithms_have_a_difference_and_no_ratio():
    """0 and 0.1 were 'nan times': the mean below the line may be 0."""
    made = compare.compare_groups(
        build_group("a", [0.0, 0.0, 1.0, 2.0]), build_group("b", [8.0, 9.0, 9.0, 10.0]), 0.95, 0.02
    )
    expected = scipy_stats.ttest_ind([8, 9, 9, 10], [0, 0, 1, 2], equal_var=False).confidence_interval()
    assert made.ratio is None and made.typical is None and made.decides == "difference" and made.verdict == DIFFERENT
    assert (made.difference.low, made.difference.high) == pytest.approx((expected.low, expected.high))
    logs = compare.compare_groups(
        build_group("a", np.log(CP1)), build_group("b", np.log(CP1) + 0.01), 0.95, 0.02, base=math.e
    )
    assert logs.ratio is None and logs.difference_margin == pytest.approx(math.log(1.02))
    assert "by 0.0100 (" in describe_comparison(logs)
    same = compare.compare_groups(build_group("a", [-1.0, 11.0] * 50), build_group("b", [-1.0, 11.0] * 50), 0.95, 0.02)
    assert same.verdict == CANNOT_TELL and same.n_needed > 100


def test_the_ratio_of_geometric_means_is_a_number_of_its_own():
    made = compare.compare_groups(build_group("a", CP1), build_group("b", CP3), 0.95, 0.02).to_json()
    assert made["ratio_of_geometric_means"]["value"] == pytest.approx(scipy_stats.gmean(CP3) / scipy_stats.gmean(CP1))
    assert made["ratio"]["value"] == pytest.approx(np.mean(CP3) / np.mean(CP1)) and made["method"] == "logarithms"


@given(st.lists(st.floats(1, 2), min_size=4, max_size=9), st.lists(st.floats(1, 2), min_size=4, max_size=9))
def test_the_verdicts_at_other_levels_are_those_of_comparisons_at_them(x, y):
    made = compare.compare_groups(build_group("a", x), build_group("b", y), 0.8, 0.02)
    cells = [(np.array(x), np.array(y))]
    inside = compare_within_cells(("a", "b"), cells, 0.8, 0.02, None)
    for at, (level, said) in enumerate(made.by_level):
        assert said == compare.compare_groups(build_group("a", x), build_group("b", y), level, 0.02).verdict
        assert inside.by_level[at] == (level, compare_within_cells(("a", "b"), cells, level, 0.02, None).verdict)
    assert [level for level, _ in made.by_level] == [0.9, 0.95, 0.99]


def test_a_verdict_may_differ_from_level_to_level():
    made = compare.compare_groups(
        build_group("a", [10.0, 11.0, 10.5, 10.2]), build_group("b", [11.0, 11.9, 11.3, 10.9]), 0.95, 0.0
    )
    assert [said for _, said in made.by_level] == [DIFFERENT, DIFFERENT, CANNOT_TELL]


def test_sides_that_never_vary_have_no_t():
    made = compare.compare_groups(build_group("a", [2.0] * 6), build_group("b", [2.0] * 6), 0.95, 0.02)
    assert made.t is None and made.verdict == EQUAL and "clock" in made.warnings[-1]


A6, B6 = np.array([100.0, 102, 98, 104, 96, 101]), np.array([103.0, 107, 99, 105, 97, 106])


def interval(value, low, high, n=6, level=0.95):
    return {
        "value": pytest.approx(value),
        "low": pytest.approx(low),
        "high": pytest.approx(high),
        "level": level,
        "n": n,
    }


def numbers(document):
    """A comparison without the names and texts: the numbers of an estimate by name."""
    names = ("t", "df", "p", "effect_size", "margin", "verdict", "paired", "decides", "method", "n_needed")
    estimates = ("ratio", "ratio_of_geometric_means", "difference")
    short = {name: document[name] and _strip(document[name]) for name in estimates}
    return {name: document[name] for name in names} | short


def _strip(estimate):
    return {name: estimate[name] for name in ("value", "low", "high", "level", "n")}


def test_every_number_of_a_comparison_is_that_of_a_second_computation():
    made = compare.compare_groups(build_group("a", A6), build_group("b", B6), 0.95, 0.02)
    welch, logs = scipy_stats.ttest_ind(A6, B6, equal_var=False), [np.log(x) for x in (B6, A6)]
    shares = [x.std(ddof=1) / x.mean() / np.sqrt(6) for x in (A6, B6)]
    df = sum(s**2 for s in shares) ** 2 / sum(s**4 / 5 for s in shares)
    half, value = scipy_stats.t.ppf(0.975, df) * np.hypot(*shares), B6.mean() / A6.mean()
    log_ends = scipy_stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    typical = np.exp([logs[0].mean() - logs[1].mean(), log_ends.low, log_ends.high])
    ends = scipy_stats.ttest_ind(B6, A6, equal_var=False).confidence_interval(0.95)
    spreads = [max(np.log(x).std(ddof=1), x.std(ddof=1) / x.mean()) for x in (A6, B6)]
    needed = next(
        n
        for n in itertools.count(2)
        if scipy_stats.t.ppf([0.975, 0.8], 2 * n - 2).sum() * np.hypot(*spreads) / np.sqrt(n) <= np.log(value)
    )
    document = made.to_json()
    assert numbers(document) == {
        "t": pytest.approx(welch.statistic),
        "df": pytest.approx(welch.df),
        "p": pytest.approx(welch.pvalue),
        "effect_size": pytest.approx(
            (B6.mean() - A6.mean()) / np.sqrt((A6.var(ddof=1) + B6.var(ddof=1)) / 2) * (1 - 3 / 39)
        ),
        "margin": 0.02,
        "verdict": CANNOT_TELL,
        "paired": False,
        "decides": "ratio",
        "method": "logarithms",
        "n_needed": needed,
        "ratio": interval(value, min(value * np.exp(-half), typical[1]), max(value * np.exp(half), typical[2])),
        "ratio_of_geometric_means": interval(*typical),
        "difference": interval(B6.mean() - A6.mean(), ends.low, ends.high),
    }
    assert (document["a"]["n_more"], document["b"]["n_more"]) == (needed - 6, needed - 6) == made.n_more
    shifts = np.sort(np.subtract.outer(B6, A6).ravel())
    assert document["rank_test"]["shift"]["value"] == np.median(shifts)
    assert (made.rank_test.shift.low, made.rank_test.shift.high) == (shifts[5], shifts[30])  # P(U < 6) = 0.021
    assert document["rank_test"] | {"shift": 0} == {
        "name": "Mann-Whitney",
        "p": made.rank_test.p,
        "shift": 0,
        "superiority": pytest.approx(np.mean(shifts > 0) + np.mean(shifts == 0) / 2),
    }
    assert (document["overlap"], document["mean_inside"], document["cells"], document["p_holm"]) == (
        True,
        True,
        1,
        None,
    )
    side = document["b"]
    low, high = scipy_stats.t.interval(0.95, 5, B6.mean(), B6.std(ddof=1) / np.sqrt(6))
    assert (side["name"], side["n"], side["sd"], side["published"]) == ("b", 6, pytest.approx(B6.std(ddof=1)), False)
    assert (side["mean"], side["mean_low"], side["mean_high"]) == pytest.approx((B6.mean(), low, high))


def test_every_number_of_pairs_is_that_of_a_second_computation():
    document = compare.compare_groups(build_group("a", A6), build_group("b", B6), 0.95, 0.02, pairs=True).to_json()
    paired = scipy_stats.ttest_rel(np.log(A6), np.log(B6))
    d, logs = B6 - A6, np.log(B6) - np.log(A6)
    low, high = scipy_stats.t.interval(0.95, 5, d.mean(), d.std(ddof=1) / np.sqrt(6))
    log_low, log_high = scipy_stats.t.interval(0.95, 5, logs.mean(), logs.std(ddof=1) / np.sqrt(6))
    expected = {
        "t": pytest.approx(paired.statistic),
        "df": 5,
        "p": pytest.approx(paired.pvalue),
        "effect_size": 0,
        "margin": 0.02,
        "verdict": DIFFERENT,
        "paired": True,
        "decides": "ratio",
        "method": "the pairs' ratios",
        "n_needed": 0,
        "ratio": interval(*np.exp([logs.mean(), log_low, log_high])),
        "ratio_of_geometric_means": None,
        "difference": interval(d.mean(), low, high),
    }
    assert numbers(document) | {"effect_size": 0, "n_needed": 0} == expected
    assert document["n_needed"] is None and document["rank_test"]["name"] == "Wilcoxon"
    assert document["rank_test"]["superiority"] == 1.0
    averages = np.sort([(d[i] + d[j]) / 2 for i in range(6) for j in range(i, 6)])
    shift = document["rank_test"]["shift"]
    assert (shift["value"], shift["low"], shift["high"]) == (np.median(averages), averages[0], averages[-1])


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("variance", "half"), [(0.5, 0.4), (2.0, 0.3), (0.001, 0.5)])
def test_the_least_number_of_trials_is_the_first_that_is_enough(level, variance, half):
    def is_enough(n):
        return scipy_stats.t.ppf(0.5 + level / 2, 2 * n - 2) * math.sqrt(variance / n) <= half

    assert compare.find_least_n(variance, half, level) == next(n for n in itertools.count(2) if is_enough(n))
    assert compare.find_least_n(variance, 0.0, level) is None


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-1.0, 1.0, EQUAL),
        (-1.01, 1.0, CANNOT_TELL),
        (-1.0, 1.01, CANNOT_TELL),
        (0.0, 1.0, EQUAL),
        (0.01, 1.0, NEGLIGIBLE),
        (0.01, 1.01, DIFFERENT),
        (-1.0, -0.01, NEGLIGIBLE),
        (-1.01, -0.01, DIFFERENT),
        (None, 1.0, CANNOT_TELL),
        (0.5, None, CANNOT_TELL),
    ],
)
def test_a_difference_is_judged_against_0_and_the_margin(low, high, verdict):
    assert compare.judge_difference(Estimate(0.0, low, high, 0.95, 9), 1.0) == verdict


def test_the_margin_of_a_difference_is_a_share_of_the_larger_mean_or_a_distance_of_logarithms():
    assert compare.compute_difference_margin(-10.0, 4.0, 0.1, None) == pytest.approx(1.0)
    assert compare.compute_difference_margin(2.0, 4.0, 0.1, None) == pytest.approx(0.4)
    assert compare.compute_difference_margin(2.0, 4.0, 0.1, 10.0) == pytest.approx(math.log10(1.1))


def test_trials_that_are_missing_are_counted_for_each_side():
    made = compare.compare_groups(build_group("a", A6), build_group("b", [*B6, *B6]), 0.95, 0.02)
    assert made.verdict == CANNOT_TELL and made.n_needed > 12
    assert made.n_more == (made.n_needed - 6, made.n_needed - 12)
    assert dataclasses.replace(made, n_needed=8).n_more == (2, 0)
    assert dataclasses.replace(made, n_needed=6).n_more is None
    assert dataclasses.replace(made, n_needed=None).n_more is None


def test_few_trials_against_many_are_a_doubt_with_both_numbers():
    made = compare.compare_groups(build_group("a", A6[:3]), build_group("b", [*B6, *B6]), 0.95, 0.02)
    assert made.doubts == ("few-trials",) and made.df == 2
    assert has_message(made.warnings, "few-trials", n_few=3, n_many=12)
    enough = compare.compare_groups(build_group("a", A6[:3]), build_group("b", [*B6, *B6][:11]), 0.95, 0.02)
    assert enough.doubts == () and not has_message(enough.warnings, "few-trials")


def test_holm_takes_a_verdict_back_only_among_several_and_above_alpha():
    """p of 0.03: significant alone, 0.06 among two; a p below 0.01 stays."""
    lucky = compare.compare_groups(build_group("a", A6), build_group("b", B6 + 2.5), 0.95, 0.02)
    assert lucky.verdict == DIFFERENT and 0.025 < lucky.p < 0.05
    sure = compare.compare_groups(build_group("a", A6), build_group("b", A6 + 50), 0.95, 0.02)
    equal = compare.compare_groups(build_group("a", A6), build_group("b", A6), 0.95, 0.5)
    (alone,) = compare.apply_holm_correction([lucky])
    assert (alone.p_holm, alone.by_chance, alone.warnings) == (lucky.p, False, lucky.warnings)
    made = compare.apply_holm_correction([lucky, sure, equal])
    assert [one.p_holm for one in made] == pytest.approx([2 * lucky.p, 3 * sure.p, 1.0])
    assert [one.by_chance for one in made] == [True, False, False]
    assert has_message(made[0].warnings, "not-significant", n_comparisons=3) and not made[2].warnings


def test_the_worst_case_ranks_what_is_missing_beyond_all_others():
    """A: 1, 2, 3, 4; B: 2, 3, 5 and one missing, ranked above (then as 5 for the ratio) or below (as 1)."""
    a, b = np.array([1.0, 2, 3, 4]), np.array([2.0, 3, 5])
    for above, beyond, edge in ((True, 9.0, 5.0), (False, -3.0, 1.0)):
        worst = missing.compute_worst_case(a, 0, b, 1, above)
        filled = np.append(b, beyond)
        pairs = np.subtract.outer(filled, a)
        assert worst == missing.WorstCase(
            pytest.approx(rank_tests.run_unpaired_test(a, filled, 0.95).p),
            pytest.approx(np.mean(pairs > 0) + np.mean(pairs == 0) / 2),
            pytest.approx(np.median([*b, edge]) / 2.5),
        )
    assert missing.compute_worst_case(a, 3, b, 0, False).ratio is not None
    assert missing.compute_worst_case(a, 4, b, 0, False).ratio is None  # half of A is unknown
    assert missing.compute_worst_case(a - 5, 0, b, 1, True).ratio is None
    assert missing.compute_worst_case(a[:0], 4, b, 0, True) is missing.compute_worst_case(a, 0, b[:0], 3, True) is None


@pytest.mark.parametrize("table", [(0, 10, 5, 10), (1, 8, 6, 9), (3, 7, 3, 7), (2, 3, 0, 12), (0, 4, 0, 5)])
def test_fishers_test_agrees_with_scipy(table):
    missing_a, n_a, missing_b, n_b = table
    expected = scipy_stats.fisher_exact([[missing_a, n_a - missing_a], [missing_b, n_b - missing_b]]).pvalue
    assert missing.compute_fisher_exact_p(*table) == pytest.approx(expected)


@pytest.mark.parametrize(("values", "n"), [([], "no trial"), ([1.0], "one trial")])
def test_a_side_without_a_spread_is_refused_with_its_number_of_trials(values, n):
    with raises("too-few-trials", DataError, side="a", n=n):
        build_group("a", values)


@pytest.mark.parametrize("missing_end", ["low", "high", "level"])
def test_a_summary_needs_both_ends_and_their_level(missing_end):
    summary = {"mean": 10.0, "n": 8, "low": 8.0, "high": 12.0, "level": 0.9} | {missing_end: None}
    with raises("incomplete-summary"):
        build_published_group(PublishedSummary("x", **summary))
    with raises("unknown-interval-kind", kind="q"):
        build_published_group(PublishedSummary("x", 10.0, 8, None, 8.0, 12.0, 0.9, "q"))
    assert build_published_group(PublishedSummary("x", 10.0, 8, 3.0)).side.sd == 3.0


@pytest.mark.parametrize(
    ("a", "b", "half_ticks"),
    [([10.0, 10, 10, 20], [-10.0, 0, 0, 10], (0.0, 0.0)), ([10.0] * 15 + [20.0], [0.0, 0, 10, 20], (5.0, 0.0))],
)
def test_a_coarse_clock_widens_a_difference_by_half_a_tick_of_either_side(a, b, half_ticks):
    made = compare.compare_groups(build_group("a", a), build_group("b", b), 0.95, 0.02)
    ends = scipy_stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert (made.a.half_tick, made.b.half_tick) == half_ticks
    assert made.difference.low == pytest.approx(ends.low - sum(half_ticks))
    assert made.difference.high == pytest.approx(ends.high + sum(half_ticks))
    assert ("coarse-clock" in made.doubts) is any(half_ticks)
    turned = compare.compare_groups(build_group("b", b), build_group("a", a), 0.95, 0.02).difference
    assert (turned.low, turned.high) == pytest.approx((-made.difference.high, -made.difference.low))


@pytest.mark.parametrize("marks", [(1, 1, 1, 0, 0, 0), (1, 1, 0, 0, 0, 1, 0), (1, 0, 1, 0, 1, 0)])
def test_too_few_runs_have_the_p_of_all_orders(marks):
    def count(order):
        return 1 + sum(x != y for x, y in itertools.pairwise(order))

    runs = [count(order) for order in set(itertools.permutations(marks))]
    p = rank_tests.compute_too_few_runs_p(np.array(marks, bool))
    assert p == pytest.approx(np.mean(np.array(runs) <= count(marks)))


def test_too_few_of_many_runs_have_a_normal_p():
    """21 runs of 102 marks of one kind and 100 of the other."""
    usual = 1 + 2 * 102 * 100 / 202
    z = (21 + 0.5 - usual) / math.sqrt((usual - 1) * (usual - 2) / 201)
    p = rank_tests.compute_too_few_runs_p(np.arange(202) % 20 < 10)
    assert p == pytest.approx(scipy_stats.norm.cdf(z), rel=1e-9)
    assert rank_tests.compute_too_few_runs_p(np.ones(9, bool)) == 1.0


def test_two_modes_of_many_trials_are_those_of_their_quantiles():
    x = np.concatenate([np.linspace(99, 101, 150), np.linspace(199, 201, 250)])
    split = modes.detect_two_modes(x)
    assert (split.low_mean, split.high_mean) == (pytest.approx(100, rel=0.01), pytest.approx(200, rel=0.01))
    assert split.n_low == pytest.approx(150, abs=4) and split.p < 1e-4
    few = np.concatenate([np.linspace(99, 101, 3), np.linspace(199, 201, 10)])
    assert modes.detect_two_modes(few).n_low == 3 and modes.detect_two_modes(few).p < 0.01
    assert modes.detect_two_modes(np.linspace(100, 101, 40)).p > 0.3
