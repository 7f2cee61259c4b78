"""Clocks as coarse as the spread, and two or three trials against many: what the interval of a ratio makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.table import Column, Table
from iosonde.core.types import Estimate
from iosonde.stats.estimate.coarse import (
    ENDLESS,
    compute_expected_ties,
    compute_half_ticks,
    count_decimals,
    find_tick,
    measure_rounding,
    widen_estimate,
    widen_ratio,
)
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, build_group, compare_groups
from iosonde.stats.estimate.compare_words import describe_comparison
from iosonde.stats.estimate.within_cells import compare_within_cells
from iosonde.stats.overview.overview import build_overview_from_table
from iosonde.stats.overview.types import OverviewRow
from messages import assert_problem, codes, with_code


def test_three_ticks_against_three_of_twice_as_long_are_not_sure_to_the_last_digit():
    """It was `2.000 (2.000 to 2.000)`."""
    made = compare_groups(build_group("a", [10.0] * 3), build_group("b", [20.0] * 3), 0.95, 0.02)
    assert made.ratio.value == 2 and (made.ratio.low, made.ratio.high) == pytest.approx((15 / 15, 25 / 5))
    assert made.verdict == CANNOT_TELL and made.doubts == ("coarse-clock",) and made.n_needed is None
    assert (made.mean_a.low, made.mean_a.high) == (5, 15) and codes(made.warnings) == ["coarse-clock"]
    assert "trials" not in describe_comparison(made)


@pytest.mark.long
@pytest.mark.parametrize("ticks", [0.5, 1, 3, 10])  # standard deviations
@pytest.mark.parametrize("n", [3, 6])
def test_the_ratio_is_held_whatever_the_clock(ticks, n):
    """Ticks of 3 standard deviations: the mean of three was held in 58 of 100."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        mean = 100 + rng.uniform(0, 10)
        a, b = (np.round(rng.normal(m, 1, n) / ticks) * ticks for m in (mean, 1.3 * mean))
        ratio = compare_groups(build_group("a", a), build_group("b", b), 0.95, 0.02).ratio
        held += ratio.low <= 1.3 <= ratio.high
    assert held / 400 >= 0.93


def test_a_fine_clock_is_nothing_to_say():
    rng = np.random.default_rng(6)
    for n in (4, 6, 10):
        for digits in (1, 3, 15):
            sides = (np.round(rng.normal(m, 1, n), digits) for m in (100, 200))
            made = compare_groups(*(build_group(name, x) for name, x in zip("ab", sides, strict=True)), 0.95, 0.02)
            assert made.verdict == DIFFERENT and made.doubts == () and made.warnings == ()


def test_what_is_counted_is_exact():
    a, b = (build_group(name, [n] * 4 + [n + 1]) for name, n in (("a", 10.0), ("b", 20.0)))
    rounded, exact = compare_groups(a, b, 0.95, 0.02), compare_groups(replace(a, exact=True), b, 0.95, 0.02)
    assert exact.doubts == () and exact.ratio.low > rounded.ratio.low and rounded.doubts == ("coarse-clock",)
    same = compare_groups(build_group("a", [10.0] * 4), build_group("b", [20.0] * 3 + [25.0]), 0.95, 0.02)
    assert same.doubts == ("coarse-clock",) and same.a.half_tick == 2.5 and same.b.half_tick == 0


def test_cells_widen_by_half_a_tick_of_their_means():
    cells = [(np.full(3, x), np.full(3, 2 * x)) for x in (10.0, 20.0)]
    made = compare_within_cells(("a", "b"), cells, 0.95, 0.02, None)
    slack = np.mean([-np.log1p(-5 / a) - np.log1p(-5 / b) for a, b in ((10, 20), (20, 40))])
    assert made.doubts == ("coarse-clock",) and made.ratio.high == pytest.approx(2 * np.exp(slack))
    assert (made.difference.low, made.difference.high) == (15 - 10, 15 + 10)


def groups(unit: str, *sides: list[float]) -> tuple[OverviewRow, ...]:
    names = [name for name, side in zip("ab", sides, strict=True) for _ in side]
    columns = (Column("fs", np.array(names, dtype=object)), Column("v", np.concatenate(sides), "v", unit))
    return build_overview_from_table(Table({one.name: one for one in columns}), ["v"], ["fs"], 0.95).rows


def test_a_summary_knows_a_mean_no_better_than_a_comparison():
    """It was `2.00 (2.00–2.00)`, and `compare` said 1.50–2.50."""
    sides = ([2.0] * 6, [2.0] * 5 + [3.0])
    found = groups("s", *sides)
    made = compare_groups(*(build_group(name, side) for name, side in zip("ab", sides, strict=True)), 0.95, 0.02)
    for one, mean in zip(found, (made.mean_a, made.mean_b), strict=True):
        assert (one.mean.low, one.mean.high) == pytest.approx((mean.low, mean.high))
        assert one.median.low < one.median.high
        assert "coarse-clock" in codes(one.mean.warnings)
    a, b = groups("s", [10.0] * 4, [20.0] * 3 + [25.0])
    assert a.mean.high - a.mean.low == pytest.approx(5) and not b.mean.warnings


def test_a_summary_of_counts_or_of_a_fine_clock_has_no_half_step():
    rng = np.random.default_rng(9)
    for unit, of in (
        ("bytes", lambda: [10.0] * 4 + [11.0]),
        ("s", lambda: list(rng.normal(9, 1, 5))),
    ):
        for one in groups(unit, of(), of()):
            assert not any("half a step" in text for text in one.mean.warnings)
    (low, high), _ = [(one.mean.low, one.mean.high) for one in groups("bytes", [10.0] * 5, [11.0] * 5)]
    assert low == high == 10


def test_a_mean_that_half_a_tick_may_take_away_has_no_ratio():
    found = widen_ratio(Estimate(2.0, 1.9, 2.1, 0.95, 3), 1.0, 0.1)
    assert found.value == 2 and found.low is None and found.warnings
    assert not measure_rounding(np.array([2.0, 2.0]), np.array([2.0, 2.0]), 0, 0)


@pytest.mark.parametrize(
    ("n", "sd"), [((2, 30), (0.1, 0.1)), ((2, 30), (0.1, 0.02)), ((3, 12), (0.1, 0.1)), ((3, 30), (0.1, 0.03))]
)
def test_two_or_three_trials_against_many_are_not_believed(n, sd):
    """13 and 7 of 100 equal sides were different by Welch's degrees of freedom."""
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(600):
        sides = [build_group(name, np.exp(rng.normal(0, s, m))) for name, m, s in zip("ab", n, sd, strict=True)]
        made = compare_groups(*sides, 0.95, 0.0)
        false += made.verdict == DIFFERENT
        assert made.doubts == ("few-trials",) and made.df == min(n) - 1
    assert false / 600 <= 0.065
    assert_problem(with_code(made.warnings, "few-trials"), "few-trials", n_few=min(n), n_many=max(n))


def test_three_against_eleven_are_welch():
    rng = np.random.default_rng(8)
    made = compare_groups(build_group("a", rng.normal(10, 1, 3)), build_group("b", rng.normal(10, 1, 11)), 0.95, 0.02)
    assert made.doubts == () and made.df > 2


@pytest.mark.parametrize(
    ("value", "decimals"),
    [(0.0, 0), (3.0, 0), (0.5, 1), (-0.25, 2), (1.125, 3), (1e-12, 12), (1e-13, ENDLESS), (1 / 3, ENDLESS), (1e6, 0)],
)
def test_decimals_are_the_fewest_that_write_a_value(value, decimals):
    assert count_decimals(np.array([value])).tolist() == [decimals]


@pytest.mark.parametrize(
    ("value", "decimals"),
    [(1234567890.125, 3), (12345678901.25, 2), (1234567890.1235, ENDLESS), (9999999999999.0, 0)],
)
def test_more_than_thirteen_digits_are_a_floats_own(value, decimals):
    assert count_decimals(np.array([value])).tolist() == [decimals]


@pytest.mark.parametrize(
    ("values", "tick"),
    [
        ([4, 6, 10], 2.0),
        ([0.25, 0.75, -1.5], 0.25),
        ([0.1, 0.2, 0.35], 0.05),
        ([5, float("nan"), 15], 5.0),
        ([1 / 3, 1.0], None),
        ([0.0, 0.0], None),
        ([2.0**53, 2.0], None),
        ([], None),
    ],
)
def test_the_tick_is_the_greatest_common_divisor(values, tick):
    found = find_tick(np.array(values, float))
    assert found == (None if tick is None else pytest.approx(tick))


def test_half_a_tick_counts_for_a_side_that_varies_by_less():
    values = [np.array([10.0, 12.0]), np.array([20.0, 30.0])]
    assert compute_half_ticks(values, [0.9, 1.0]) == [1.0, 0.0]
    assert compute_half_ticks([np.array([7.0, 7.0])], [0.0]) == [0.0]  # equal values show no tick
    both = measure_rounding(*values, 1.0, 0.5)
    assert (both.a, both.b, bool(both), both.step) == (0.0, 1.0, True, 2.0)
    assert not measure_rounding(*values, 1.0, 1.0)


def test_an_interval_of_a_ratio_widens_by_the_shares_of_both_means():
    ratio = Estimate(2.0, 1.0, 4.0, 0.95, 9)
    wide = widen_ratio(ratio, 0.25, 0.5)
    assert (wide.value, wide.low, wide.high) == (2.0, pytest.approx(0.4), pytest.approx(8.0))
    assert widen_ratio(ratio, 0, 0) is ratio
    assert widen_ratio(ratio, 0.25, 2.0).low == 0.0
    none = widen_ratio(ratio, 1.0, 0.0)
    assert (none.low, none.high, codes(none.warnings)) == (None, None, ["coarse-clock"])
    difference = widen_estimate(ratio, 0.5)
    assert (difference.value, difference.low, difference.high) == (2.0, 0.5, 4.5)


def test_ties_are_expected_as_often_as_neighbours_a_tick_apart():
    """0, 1, …, 99 once each: 100 - k pairs are k ticks apart, and those up to 10 ticks are counted."""
    values = np.arange(100.0)
    assert compute_expected_ties(values) == pytest.approx((sum(100 - k for k in range(1, 11)) + 0.5) / 10)
    within = sum(100 - k for k in range(1, 53))  # 10.5 ticks of 5
    assert compute_expected_ties(values, coarsest=5.0) == pytest.approx((within + 0.5) / 10)
    assert compute_expected_ties(np.array([0.0, 1000.0, 2000.0])) == pytest.approx(3 * 1000 / 2000)  # evenly spread
    assert compute_expected_ties(np.array([3.0, 3.0])) == float("inf")
