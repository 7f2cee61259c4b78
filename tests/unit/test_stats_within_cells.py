"""A against B inside the cells of other settings: by other libraries, and how often it is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.oneway import anova_generic

from iosonde.core.types import Estimate
from iosonde.stats.estimate import within_cells
from iosonde.stats.estimate.coarse import Rounding
from iosonde.stats.estimate.compare import (
    CANNOT_TELL,
    DIFFERENT,
    EQUAL,
    POWER,
    apply_holm_correction,
    build_group,
    compare_groups,
    find_least_n,
)
from iosonde.stats.estimate.compare_words import describe_comparison
from iosonde.stats.estimate.within_cells import average_cell_differences, compare_within_cells
from messages import assert_problem, codes, with_code


def cells(seed: int, difference: float = 0.0, sizes: tuple[int, int] = (1, 5), interaction: float = 0.0):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(7):
        center = 3 * rng.standard_normal()
        n, m = rng.integers(*sizes, 2)
        own = difference + interaction * rng.standard_normal()
        made.append((center + 0.2 * rng.standard_normal(n), center + own + 0.2 * rng.standard_normal(m)))
    return made


@pytest.mark.parametrize("seed", range(10))
def test_the_difference_is_that_of_least_squares_and_the_error_has_a_variance_of_each_side_and_cell(seed):
    data = cells(seed, 0.1, (2, 6))
    rows = [(place, side, y) for place, both in enumerate(data) for side, x in zip("ab", both, strict=True) for y in x]
    fitted = ols("y ~ C(cell) + side", pd.DataFrame(rows, columns=["cell", "side", "y"])).fit()
    made = average_cell_differences(data)
    total = sum(a.size * b.size / (a.size + b.size) for a, b in data)
    parts = [
        ((a.size * b.size / (a.size + b.size) / total) ** 2 * np.var(x, ddof=1) / x.size, x.size - 1)
        for a, b in data
        for x in (a, b)
    ]
    variance = sum(part for part, _ in parts)
    df = variance**2 / sum(part**2 / (nu + 2) for part, nu in parts) - 2
    assert (made.value, made.error, made.df) == pytest.approx((fitted.params["side[T.b]"], variance**0.5, df))
    found, half = made.interval(0.95, 7), stats.t.ppf(0.975, df) * variance**0.5
    assert (found.low, found.high) == pytest.approx((made.value - half, made.value + half))


def test_of_one_cell_it_is_welch_and_of_unrepeated_cells_the_paired_t():
    ((a, b),) = cells(2, 0.1, (4, 9))[:1]
    one, welch = average_cell_differences([(a, b)]), stats.ttest_ind(b, a, equal_var=False)
    assert (one.value / one.error, one.df) == pytest.approx((welch.statistic, welch.df))
    single = cells(2, 0.1, (1, 2))
    made = average_cell_differences(single)
    paired = stats.ttest_rel(*(np.concatenate(side) for side in zip(*[(b, a) for a, b in single], strict=True)))
    assert (made.value / made.error, made.df) == pytest.approx((paired.statistic, paired.df))


def test_cells_that_differ_are_tested_by_welch_where_their_spread_differs():
    rng = np.random.default_rng(4)
    data = [(rng.normal(0, sd, 5), rng.normal(shift, sd, 7)) for sd, shift in ((0.3, 0.4), (0.05, 0), (0.05, 0.1))]
    means = np.array([b.mean() - a.mean() for a, b in data])
    of = [[np.var(x, ddof=1) / x.size for x in both] for both in data]
    variance = np.array([sum(both) for both in of])
    df = variance**2 / np.array([a**2 / 4 + b**2 / 6 for a, b in of])
    known = anova_generic(means, variance * (df + 1), df + 1, use_var="unequal")
    # With one variance a side the noisy cell would be unlike the others.
    assert average_cell_differences(data).p_same == pytest.approx(known.pvalue)


@pytest.mark.long
@pytest.mark.parametrize(
    ("k", "n", "sd"),
    [
        (4, (3, 9), (0.10, 0.03)),
        (4, (2, 8), (0.20, 0.02)),
        (2, (3, 12), (0.15, 0.05)),
        (3, (3, 30), (0.10, 0.02)),
        (4, (3, 3), (0.10, 0.10)),
        (9, (3, 3), (0.10, 0.02)),
        (2, (6, 6), (0.10, 0.10)),
    ],
)
def test_unequal_trials_and_spreads_make_no_difference_where_there_is_none(k, n, sd):
    """22 to 47 in 100 were called different where one variance was taken for both sides; as many cells unlike."""
    rng = np.random.default_rng(7)
    false = unlike = 0
    for _ in range(1000):
        data = [tuple(10 * np.exp(rng.normal(0, s, m)) for m, s in zip(n, sd, strict=True)) for _ in range(k)]
        made = compare_within_cells(("a", "b"), data, 0.95, 0.0, None)
        false += made.verdict != CANNOT_TELL
        unlike += made.cells_differ
    assert false / 1000 <= 0.065 and unlike / 1000 <= 0.03


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "m"),
    [
        ((2, 1), (20, 20)),
        ((1, 1, 3), (20, 20, 20)),
        ((2, 2), (20, 20)),
        ((1, 1, 1, 1, 1, 6), (30,) * 6),
        ((1, 1, 1, 1, 1, 6), (6,) * 6),
    ],
)
def test_unrepeated_cells_have_one_variance_and_no_degrees_of_freedom_of_their_own(n, m):
    """8 to 19 in 100 were called different where each unrepeated cell counted as one more variance."""
    rng = np.random.default_rng(9)
    false = 0
    for _ in range(4000):
        found = average_cell_differences(
            [(rng.normal(0, 1, k), rng.normal(0, 1, o)) for k, o in zip(n, m, strict=True)]
        )
        false += not abs(found.value) <= found.interval(0.95, 3).high - found.value
    assert false / 4000 <= 0.065


@pytest.mark.parametrize(
    ("n", "m", "few"),
    [
        ((3, 3), (40, 40), True),
        ((1, 3), (40, 6), True),
        ((40, 40), (2, 2), True),
        ((4, 4), (40, 40), False),
        ((3,) * 9, (40,) * 9, False),
        ((3, 3), (6, 6), False),
        ((6, 6), (6, 6), False),
    ],
)
def test_two_or_three_trials_a_cell_against_many_are_warned_of(n, m, few):
    rng = np.random.default_rng(10)
    data = [(rng.normal(10, 1, k), rng.normal(10, 1, o)) for k, o in zip(n, m, strict=True)]
    made = compare_within_cells(("a", "b"), data, 0.95, 0.02, None)
    assert ("few-trials" in made.doubts, "few-trials" in codes(made.warnings)) == (few, few)
    assert not few or made.df <= min(sum(n) - len(n), sum(m) - len(m))


@pytest.mark.long
@pytest.mark.parametrize(("k", "n", "least"), [(4, 3, 0.55), (9, 3, 0.90), (4, 2, 0.35)])
def test_balanced_cells_keep_their_power(k, n, least):
    """One variance for all found 63, 94 and 43 of 100."""
    rng = np.random.default_rng(8)
    found = 0
    for _ in range(500):
        data = [(np.exp(rng.normal(0, 0.1, n)), np.exp(rng.normal(0.1, 0.1, n))) for _ in range(k)]
        found += compare_within_cells(("a", "b"), data, 0.95, 0.0, None).verdict != CANNOT_TELL
    assert found / 500 >= least


def test_what_the_cells_differ_in_hides_no_difference():
    """Pooled, the same trials cannot tell."""
    positive = [(np.exp(a), np.exp(b)) for a, b in cells(3, 0.2, (4, 6))]
    a, b = (np.concatenate(side) for side in zip(*positive, strict=True))
    assert compare_groups(build_group("a", a), build_group("b", b), 0.95, 0.02).verdict == CANNOT_TELL
    made = compare_within_cells(("a", "b"), positive, 0.95, 0.02, None)
    assert made.verdict == DIFFERENT and made.ratio.low < np.exp(0.2) < made.ratio.high and made.cells == 7


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(1, 2), (1, 4), (3, 4)])
def test_it_covers_also_unbalanced_and_unrepeated_cells(sizes):
    hits = []
    for seed in range(400):
        found = average_cell_differences(cells(seed, 0.3, sizes)).interval(0.95, 7)
        hits.append(found.low <= 0.3 <= found.high)
    assert 0.92 < np.mean(hits) < 0.98


def test_cells_whose_ratios_differ_are_said_to():
    positive = [(np.exp(a), np.exp(b)) for a, b in cells(5, 0.2, (5, 6), interaction=0.5)]
    made = compare_within_cells(("a", "b"), positive, 0.95, 0.02, None)
    warning = with_code(made.warnings, "cells-differ")
    assert_problem(warning, "cells-differ", effect="ratio")
    assert "--by" in warning
    same = compare_within_cells(
        ("a", "b"), [(np.exp(a), np.exp(b)) for a, b in cells(5, 0.2, (5, 6))], 0.95, 0.02, None
    )
    assert not same.warnings


def turn(*ratios):
    """Cells whose sides differ by these ratios, each beyond doubt."""
    spread = np.array([0.99, 1.0, 1.01, 1.0])
    return compare_within_cells(("a", "b"), [(100 * spread, 100 * x * spread) for x in ratios], 0.95, 0.02, None)


def test_sides_that_cells_order_differently_are_neither_equal_nor_more_on_the_whole():
    across = turn(1.5, 1 / 1.5)
    assert across.verdict == EQUAL and across.depends and across.to_json()["depends"]
    mostly = turn(1.5, 1.5, 1.5, 1 / 1.5)
    assert mostly.verdict == DIFFERENT and mostly.depends
    alike, grows = turn(1.0, 1.0), turn(1.2, 1.5)
    assert not alike.depends and not grows.depends and grows.cells_differ
    # Among very many comparisons a difference of cells may be chance as well.
    chance = replace(across, p_depends=0.009)
    assert apply_holm_correction([chance])[0].p_depends == 0.009
    assert not apply_holm_correction([chance], [0.5] * 9)[0].depends


def test_no_number_of_trials_is_promised_where_the_cells_disagree():
    def told(interaction):
        made = [(np.exp(a), np.exp(b)) for a, b in cells(5, 0.0, (5, 6), interaction=interaction)]
        return compare_within_cells(("a", "b"), made, 0.95, 0.001, None)

    unlike, alike = told(0.5), told(0.0)
    assert unlike.verdict == alike.verdict == CANNOT_TELL
    assert unlike.n_needed is None and unlike.cells_differ and unlike.to_json()["cells_differ"]
    assert alike.n_needed and str(alike.n_needed) in describe_comparison(alike) and not alike.cells_differ
    advised = ["--by" in describe_comparison(comparison) for comparison in (unlike, alike)]
    assert advised == [True, False]


def test_values_that_never_vary_inside_their_cells_are_doubted_as_they_are_without_cells():
    """`1.000 (1.000 to 1.000)`, and not a word."""
    same = [(np.full(3, 100.13), np.full(3, 100.13))] * 3
    plain = compare_groups(build_group("a", same[0][0]), build_group("b", same[0][1]), 0.95, 0.02)
    assert plain.doubts == ("coarse-clock",) and "varies" in plain.warnings[0]
    for data in (same, [(a[:1], b[:1]) for a, b in same], [(-a, -b) for a, b in same]):
        made = compare_within_cells(("a", "b"), data, 0.95, 0.02, None)
        assert made.t is None and (made.warnings, made.doubts) == (plain.warnings, plain.doubts)


def test_values_of_zero_are_compared_by_their_difference():
    made = compare_within_cells(("a", "b"), [(x - 1, y - 1) for x, y in cells(3, 0.5, (4, 6))], 0.95, 0.02, None)
    assert made.ratio is None and made.difference.low < 0.5 < made.difference.high


def test_one_trial_a_side_in_one_cell_shows_nothing():
    made = compare_within_cells(("a", "b"), [(np.array([1.0]), np.array([2.0]))], 0.95, 0.02, None)
    assert made.verdict == CANNOT_TELL and "single-trial" in codes(made.warnings)


POSITIVE = [(np.exp(a), np.exp(b)) for a, b in cells(3, 0.02, (3, 6))[:3]]


def list_ends(estimate: Estimate) -> list[float]:
    return [estimate.value, estimate.low, estimate.high]


def compute_by_hand(data, level: float) -> tuple[float, float, float, list[float]]:
    """Value, standard error, degrees of freedom and ends: weights nm ÷ (n + m), a variance of each cell and side."""
    weights = np.array([a.size * b.size / (a.size + b.size) for a, b in data])
    share = weights / weights.sum()
    value = sum(w * (b.mean() - a.mean()) for w, (a, b) in zip(share, data, strict=True))
    parts = [(w**2 * np.var(x, ddof=1) / x.size, x.size - 1) for w, both in zip(share, data, strict=True) for x in both]
    variance = sum(part for part, _ in parts)
    df = variance**2 / sum(part**2 / (nu + 2) for part, nu in parts) - 2
    half = stats.t.ppf(0.5 + level / 2, df) * variance**0.5
    return value, variance**0.5, df, [value, value - half, value + half]


def compute_pooled_variance(samples) -> float:
    return sum(((x - x.mean()) ** 2).sum() for x in samples) / sum(x.size - 1 for x in samples)


def test_every_number_of_ratios_within_cells_is_that_of_a_second_computation():
    logs = [(np.log(a), np.log(b)) for a, b in POSITIVE]
    value, error, df, ends = compute_by_hand(logs, 0.9)
    made = compare_within_cells(("x", "y"), POSITIVE, 0.9, 0.05, None)
    assert (made.a.name, made.b.name, made.cells, made.method) == ("x", "y", 3, within_cells.METHOD)
    assert (made.t, made.df) == pytest.approx((-value / error, df))
    assert made.p == pytest.approx(2 * stats.t.sf(abs(value / error), df))
    assert list_ends(made.ratio) == pytest.approx(np.exp(ends))
    assert list_ends(made.difference) == pytest.approx(compute_by_hand(POSITIVE, 0.9)[3])
    a, b = (np.concatenate(side) for side in zip(*POSITIVE, strict=True))
    assert (made.mean_a, made.mean_b) == (
        Estimate(a.mean(), None, None, 0.9, a.size),
        Estimate(b.mean(), None, None, 0.9, b.size),
    )
    assert (made.a.values.tolist(), made.b.values.tolist()) == (a.tolist(), b.tolist())
    assert (made.ratio.n, made.difference.n, made.ratio.level) == (*[min(a.size, b.size)] * 2, 0.9)
    assert made.difference_margin == pytest.approx(0.05 * max(a.mean(), b.mean()))
    variance = sum(compute_pooled_variance(side) for side in zip(*logs, strict=True))
    assert (made.verdict, made.n_needed) == (CANNOT_TELL, find_least_n(variance, abs(value), 0.9, POWER))
    assert list_ends(made.ratio_at(0.99)) == pytest.approx(np.exp(compute_by_hand(logs, 0.99)[3]))
    assert (made.paired, made.typical, made.rank_test, made.effect_size) == (False, None, None, None)
    assert (made.overlap, made.mean_inside, made.warnings, made.doubts, made.cells_differ) == (
        None,
        None,
        (),
        (),
        False,
    )


def test_every_number_of_differences_within_cells_is_that_of_a_second_computation():
    """Logarithms to base 10 have no ratio, and the margin is that of the ratio behind them."""
    data = cells(3, 0.02, (3, 6))[:3]
    value, error, df, ends = compute_by_hand(data, 0.95)
    made = compare_within_cells(("x", "y"), data, 0.95, 0.05, 10.0)
    assert (made.ratio, made.at, made.decides) == (None, None, "difference")
    assert list_ends(made.difference) == pytest.approx(ends)
    assert (made.t, made.df) == pytest.approx((-value / error, df))
    assert made.difference_margin == pytest.approx(np.log10(1.05))
    variance = sum(compute_pooled_variance(side) for side in zip(*data, strict=True))
    assert made.n_needed == find_least_n(variance, abs(value), 0.95, POWER)
    assert [verdict for _, verdict in made.by_level] == [CANNOT_TELL] * 3
    positive = compare_within_cells(("x", "y"), POSITIVE, 0.95, 0.05, 2.0)
    assert positive.ratio is None and list_ends(positive.difference) == pytest.approx(
        compute_by_hand(POSITIVE, 0.95)[3]
    )


def test_means_and_differences_may_be_those_of_other_values_than_the_ratios():
    display = [(10 * a + 1, 10 * b + 1) for a, b in POSITIVE]
    made = compare_within_cells(("x", "y"), POSITIVE, 0.95, 0.05, None, display_cells=display)
    plain = compare_within_cells(("x", "y"), POSITIVE, 0.95, 0.05, None)
    assert made.ratio == plain.ratio and made.a.side.mean == pytest.approx(10 * plain.a.side.mean + 1)
    assert list_ends(made.difference) == pytest.approx(10 * np.array(list_ends(plain.difference)))


def test_each_side_of_cells_has_the_half_tick_of_its_own_spread():
    coarse, fine = np.array([10.0, 10, 10, 20]), np.array([10.0, 50, 90])
    far = np.array([100.0, 100, 100, 110])
    assert within_cells._measure_rounding([(fine, coarse), (fine, far)]) == Rounding(0.0, 0.0)
    assert within_cells._measure_rounding([(fine, coarse[:3]), (fine, far[:3])]) == Rounding(0.0, 5.0)
    assert within_cells._measure_rounding([(coarse[:3], fine), (far[:3], fine)]) == Rounding(5.0, 0.0)
    assert within_cells._measure_rounding([(coarse[:1], fine), (far[:1], fine)]) == Rounding()
    still = [(coarse[:3], fine), (far[:3], fine)]
    rounded, exact = (compare_within_cells(("x", "y"), still, 0.95, 0.02, None, exact=exact) for exact in (False, True))
    assert (rounded.doubts, exact.doubts) == (("coarse-clock",), ())
    assert rounded.difference.high == pytest.approx(exact.difference.high + 5)
    assert (rounded.n_needed, exact.n_needed is None) == (None, exact.verdict != CANNOT_TELL)


def test_half_ticks_are_shares_of_each_mean_weighed_as_the_cells():
    data = [(np.full(2, 10.0), np.full(2, 20.0)), (np.full(3, 40.0), np.full(6, 50.0))]
    by_cell = [-np.log1p(-2 / a) - np.log1p(-4 / b) for a, b in ((10, 20), (40, 50))]
    assert within_cells._compute_slack(data, Rounding(2.0, 4.0)) == pytest.approx((by_cell[0] + 2 * by_cell[1]) / 3)
    assert within_cells._share_to_log_slack(1.0) == within_cells._share_to_log_slack(9.0) == -np.log1p(-0.999)


def test_few_repetitions_leave_the_spread_to_the_differences_of_the_cells():
    """Three cells, one of them repeated once: one degree of freedom of side B is below two of the cells."""
    data = [(np.array([0.0]), np.array([1.0])), (np.array([0.0]), np.array([3.0])), (np.zeros(2), np.array([1.0, 3.0]))]
    made = average_cell_differences(data)
    weights, each = np.array([0.5, 0.5, 1.0]), np.array([1.0, 3.0, 2.0])
    without = [np.average(np.delete(each, at), weights=np.delete(weights, at)) for at in range(3)]
    variance = 2 / 3 * np.square(without - np.mean(without)).sum()
    assert (made.value, made.error, made.df, made.variance) == pytest.approx((2, variance**0.5, 2, 2 * variance * 2))
    assert (made.spread, made.p_same, made.few, made.slack) == ((1.0, 3.0), None, False, 0.0)
    repeated = [(np.array([0.0, 1.0]), np.array([2.0, 4.0])), (np.array([0.5]), np.array([2.0]))]
    made = average_cell_differences(repeated)  # as many degrees of freedom as cells beyond the first
    assert made.variance == pytest.approx(0.5 + 2.0) and made.spread == (1.5, 2.5)
    one = average_cell_differences([(np.array([1.0]), np.array([2.0, 3.0]))])
    assert (one.value, one.error, one.df) == (1.5, 0.0, 0)


def test_cells_of_two_trials_share_a_variance_for_each_side():
    rng = np.random.default_rng(6)
    data = [(rng.normal(0, 1, 2), rng.normal(shift, 1, 5)) for shift in (0.0, 1.0, 4.0)]
    means = np.array([b.mean() - a.mean() for a, b in data])
    side_a, side_b = (compute_pooled_variance(side) for side in zip(*data, strict=True))
    parts, dfs = np.array([side_a / 2, side_b / 5]), np.array([3, 12])
    f = np.var(means, ddof=1) / parts.sum()
    assert average_cell_differences(data).p_same == pytest.approx(
        stats.f.sf(f, 2, parts.sum() ** 2 / (parts**2 / dfs).sum())
    )


def test_cells_that_differ_are_named_with_their_extremes():
    data = [(np.exp(a), np.exp(b + 2 * at)) for at, (a, b) in enumerate(cells(5, 0.0, (5, 6))[:3])]
    each = [np.log(b).mean() - np.log(a).mean() for a, b in data]
    for base, ends, effect in ((None, np.exp([min(each), max(each)]), "ratio"), (10.0, None, "difference")):
        made = compare_within_cells(("a", "b"), data, 0.95, 0.02, base)
        if ends is None:
            each = [b.mean() - a.mean() for a, b in data]
            ends = [min(each), max(each)]
        warning = with_code(made.warnings, "cells-differ")
        assert_problem(warning, "cells-differ", effect=effect, low=f"{ends[0]:.3g}", high=f"{ends[1]:.3g}")
        assert made.doubts == ("cells-differ",) and made.n_needed is None
