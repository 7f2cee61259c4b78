"""A against B inside the cells of other settings: by other libraries, and how often it is wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.oneway import anova_generic

from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, build_group, compare_groups
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


def test_no_number_of_trials_is_promised_where_the_cells_disagree():
    def told(interaction):
        made = [(np.exp(a), np.exp(b)) for a, b in cells(5, 0.0, (5, 6), interaction=interaction)]
        return compare_within_cells(("a", "b"), made, 0.95, 0.001, None)

    unlike, alike = told(0.5), told(0.0)
    assert unlike.verdict == alike.verdict == CANNOT_TELL
    assert unlike.n_needed is None and unlike.cells_differ and unlike.to_json()["cells_differ"]
    assert "differ significantly" in describe_comparison(unlike)
    assert (
        alike.n_needed
        and str(alike.n_needed) in describe_comparison(alike)
        and "differ significantly" not in describe_comparison(alike)
    )


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
