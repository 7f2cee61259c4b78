"""Trials without a value: named by side, tested, and bounded; what survives is not all that there was."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.commands.compare.text import lines
from iosonde.core.table import build_table
from iosonde.core.verdict import Direction, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.stats.estimate.compare import EQUAL
from iosonde.stats.estimate.missing import compute_fisher_exact_p, compute_worst_case
from messages import assert_problem


def compared(a, b, name="time") -> Comparisons:
    order = np.random.default_rng(0).permutation(len(a) + len(b))
    sides = np.array(["a"] * len(a) + ["b"] * len(b))[order].tolist()
    table = build_table({"v": sides, name: np.concatenate([a, b])[order].tolist()})
    return compare(open_data(table), ResponseQuery((name,)), Sides(("a", "b"), "v"))


def times(seed: int, mean: float = 10.0, n: int = 10, missing: int = 0):
    values = np.random.default_rng(seed).normal(mean, 0.01 * mean, n)
    values[n - missing :] = np.nan
    return values


def test_timeouts_of_one_side_leave_an_equal_or_open_verdict_open_and_are_named():
    """`About 6184 trials a side would tell`, and not a word of the five that timed out."""
    made = compared(times(1), times(2, missing=5))
    (claim,), (item,) = made.verdicts, made.items
    assert claim.state is VerdictState.INCONCLUSIVE and claim.doubts == ("missing-values",)
    assert_problem(item.overriding.why, "missing-values", side="b")
    assert item.overriding.why in item.sentence and item.comparison.n_more is None
    text = " ".join(" ".join(lines(made)).split())
    assert "0 of 10 of a and 5 of 10 of b" in text and "p = 0.033" in text
    equal = compared(times(1, n=40), times(2, n=40, missing=12))
    assert equal.items[0].comparison.verdict == EQUAL
    assert equal.verdicts[0].state is VerdictState.INCONCLUSIVE


@pytest.mark.parametrize(
    ("name", "mean", "state"),
    [
        ("time", 15.0, VerdictState.DIFFERENT),
        ("time", 8.0, VerdictState.INCONCLUSIVE),
        ("bandwidth", 8.0, VerdictState.DIFFERENT),
        ("bandwidth", 15.0, VerdictState.INCONCLUSIVE),
    ],
)
def test_a_side_that_lacks_more_is_called_worse_and_never_better(name, mean, state):
    (claim,) = compared(times(1), times(2, mean, missing=6), name).verdicts
    assert claim.state is state and claim.doubts == ("missing-values",)
    assert claim.direction == ({15.0: Direction.UP, 8.0: Direction.DOWN}[mean] if claim.state == "different" else None)


def test_as_many_of_both_sides_are_named_and_no_doubt():
    made = compared(times(1, missing=1), times(2, 20.0, missing=1))
    assert (made.verdicts[0].state, made.verdicts[0].doubts) == (VerdictState.DIFFERENT, ())
    assert any("1 of 10 of a and 1 of 10 of b" in one for one in made.items[0].warnings)


def test_one_more_of_a_side_is_a_doubt_and_the_verdict_stays():
    (claim,) = compared(times(1), times(2, 20.0, missing=1)).verdicts
    assert claim.state is VerdictState.DIFFERENT and claim.doubts == ("missing-values",)


@pytest.mark.parametrize("table", [(0, 10, 5, 10), (3, 7, 1, 30), (2, 5, 2, 5), (0, 4, 0, 4), (9, 10, 1, 12)])
def test_fisher_is_that_of_another_library(table):
    k, n, m, o = table
    assert compute_fisher_exact_p(*table) == pytest.approx(stats.fisher_exact([[k, n - k], [m, o - m]]).pvalue)


@pytest.mark.parametrize("n", [(3, 4), (6, 6), (5, 12), (20, 20)])
def test_fisher_of_every_small_table_is_the_exact_one(n):
    """Also where two tables are as likely, as in two sides of one size."""
    for gone in itertools.product(range(n[0] + 1), range(n[1] + 1)):
        lost = sum(gone)
        ways = [math.comb(n[0], k) * math.comb(n[1], lost - k) for k in range(lost + 1)]
        exact = sum(way for way in ways if way <= ways[gone[0]]) / math.comb(sum(n), lost)
        assert compute_fisher_exact_p(gone[0], n[0], gone[1], n[1]) == pytest.approx(exact, rel=1e-9)


def test_fisher_of_many_rows_grows_with_them_and_no_faster():
    """Of a million rows a side; binomials of 20,000 had so many digits that they took half a minute."""
    for k, m, n in ((4000, 5000, 20_000), (500_000, 500_000, 1_000_000), (200_000, 201_200, 1_000_000)):
        assert compute_fisher_exact_p(k, n, m, n) == pytest.approx(
            stats.fisher_exact([[k, n - k], [m, n - m]]).pvalue, rel=1e-5
        )


def test_the_worst_case_bounds_what_is_true():
    """B's slowest are cut at a timeout: the median with them is no less than the bound."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        a, b = rng.lognormal(0, 0.3, 9), rng.lognormal(0.5, 0.8, 11)
        limit = max(a.max(), np.sort(b)[rng.integers(2, 11)])
        seen = b[b <= limit]
        low = compute_worst_case(a, 0, seen, b.size - seen.size, above=True)
        assert low.ratio <= np.median(b) / np.median(a) * (1 + 1e-12)
        high = compute_worst_case(1 / a, 0, 1 / seen, b.size - seen.size, above=False)
        assert high.ratio >= np.median(1 / b) / np.median(1 / a) * (1 - 1e-12)
    assert compute_worst_case(a, 30, b, 0, above=True).ratio is None


def test_half_of_a_side_missing_is_bounded_by_what_was_seen_and_by_nothing_invented():
    """`At most 0.954 times the rate`, where the missing half of B at the slowest rate seen makes it 1.5."""
    a, b = np.array([1.0, 1.0, 1.0, 1.1]), np.array([2.0, 2.1])
    assert compute_worst_case(a, 0, b, 2, above=False).ratio == pytest.approx(1.5)
    assert compute_worst_case(1 / a, 0, 1 / b, 2, above=True).ratio == pytest.approx((1 / 2 + 1) / 2)
    # Of A such a value may be as far away as it likes, and so may the ratio.
    assert compute_worst_case(b, 2, a, 0, above=False).ratio is None
    assert compute_worst_case(1 / b, 2, 1 / a, 0, above=True).ratio is None


@pytest.mark.parametrize("gone", [(0, 3), (1, 4), (2, 5), (2, 2), (4, 4), (1, 7)])
@pytest.mark.parametrize("above", [True, False])
def test_whatever_the_missing_values_are_the_bound_holds(gone, above):
    rng = np.random.default_rng(11)
    for _ in range(200):
        a, b = rng.lognormal(0, 0.5, 5), rng.lognormal(rng.normal(), 0.5, 4)
        seen = np.concatenate([a, b])
        found = compute_worst_case(a, gone[0], b, gone[1], above)
        further = [rng.choice([0.0, 0.01, 1.0, 5.0]) * rng.random(n) for n in gone]
        lost = [seen.max() * (1 + x) if above else seen.min() / (1 + x) for x in further]
        true = np.median(np.concatenate([b, lost[1]])) / np.median(np.concatenate([a, lost[0]]))
        assert found.ratio <= true * (1 + 1e-12) if above else found.ratio >= true * (1 - 1e-12)
