"""Sides that were measured one after the other: time in the difference, seen by a drift inside the sides, or said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.stats.estimate.order_effect import OrderedTrials, estimate_order_effect
from messages import assert_problem


def compared(y, more: dict | None = None, order=None) -> Comparisons:
    half = len(y) // 2
    data = {"v": ["a"] * half + ["b"] * half, "y": [float(value) for value in y], **(more or {})}
    if order is not None:
        data = {name: [values[place] for place in order] for name, values in data.items()}
    return compare(open_data(build_table(data)), ResponseQuery(("y",)), Sides(("a", "b"), "v"))


def drifting(seed: int, n: int = 10, noise: float = 1.0, slope: float = -0.8):
    return 100 + slope * np.arange(2 * n) + np.random.default_rng(seed).normal(0, noise, 2 * n)


TIMES = {"start": [f"2026-11-21T10:{place:02d}:00" for place in range(20)]}


@pytest.mark.parametrize(
    "more", [{}, TIMES, {"order": list(range(20))}, {"block": [place // 2 for place in range(20)]}]
)
def test_a_drift_that_explains_the_difference_leaves_it_open(more):
    """`b is less than a, p = 2.8e-05` and not a word, where check says S103."""
    for seed in range(10):
        (item,) = compared(drifting(seed), more).items
        (claim,) = compared(drifting(seed), more).verdicts
        assert item.comparison.verdict == "different" and claim.doubts == ("drift",)
        assert claim.state is VerdictState.INCONCLUSIVE and claim.direction is None
        assert_problem(item.overriding.why, "drift")
        assert item.overriding.why in item.sentence
        assert item.comparison.n_more is None and item.verdict_word == "inconclusive"


def test_a_step_between_the_sides_stays_a_difference_with_its_doubt():
    y = drifting(1)
    y[10:] -= 30
    (claim,) = compared(y).verdicts
    assert claim.state is VerdictState.DIFFERENT and claim.doubts == ("drift",)


def test_a_warm_up_promises_no_number_of_trials():
    y = 100 + np.random.default_rng(2).normal(0, 0.5, 20)
    y[:10] += 25 * np.exp(-np.arange(10) / 3)
    made = compared(y)
    (claim,), (item,) = made.verdicts, made.items
    assert claim.state is VerdictState.INCONCLUSIVE and claim.doubts == ("drift",)
    assert item.comparison.n_needed is None and item.comparison.n_more is None


def test_without_a_drift_only_a_column_of_time_says_that_time_is_in_the_difference():
    y = 100 + np.random.default_rng(3).normal(0, 1, 20)
    y[10:] += 20
    (rows,), (times,) = compared(y).verdicts, compared(y, TIMES).verdicts
    assert (rows.state, rows.doubts) == (VerdictState.DIFFERENT, ())
    assert (times.state, times.doubts) == (VerdictState.DIFFERENT, ("order",))


def test_trials_in_random_order_are_what_a_drift_is_spread_over():
    order = np.random.default_rng(4).permutation(20)
    moods = drifting(5)
    y = np.empty(20)
    y[order] = moods  # the trial that was made first stands at order[0]
    data = compared(y, {"start": [TIMES["start"][place] for place in np.argsort(order)]})
    assert data.verdicts[0].doubts == ()


@pytest.mark.long
def test_noise_gets_no_warnings():
    rng = np.random.default_rng(6)
    doubted = found = 0
    for place in range(600):
        n = (4, 6, 10, 20)[place % 4]
        doubted += bool(compared(100 + rng.normal(0, 5, 2 * n)).verdicts[0].doubts)
        y = 100 + rng.normal(0, 5, 2 * n)
        y[n:] *= 2
        found += compared(y).verdicts[0].state is VerdictState.DIFFERENT
    assert doubted / 600 <= 0.05 and found / 600 >= 0.9


@pytest.mark.long
def test_trials_that_resemble_their_neighbours_are_worth_less():
    """Of AR(0.5) 25 of 100 equal sides were called different."""
    rng = np.random.default_rng(7)
    wrong = doubted = 0
    for _ in range(200):
        y = rng.normal(0, 1, 60)
        for place in range(1, 60):
            y[place] += 0.7 * y[place - 1]
        made = compared(100 + y)
        wrong += made.verdicts[0].state is VerdictState.DIFFERENT and not made.verdicts[0].doubts
        doubted += bool(made.verdicts[0].doubts)
    assert doubted > 150 and wrong < 0.07 * 200


def test_the_step_is_that_of_two_lines_by_least_squares():
    rng = np.random.default_rng(8)
    y = np.exp(0.1 * np.arange(14) + 0.5 * (np.arange(14) >= 7) + rng.normal(0, 0.02, 14))
    trials = OrderedTrials(y, np.arange(14) >= 7, np.zeros(14, dtype=np.intp))
    effect = estimate_order_effect(trials, 0.9)
    lines_at = [stats.linregress(np.arange(7), np.log(half)) for half in (y[:7], y[7:])]
    expected = (lines_at[1].intercept - 0.5 * lines_at[1].slope) - (lines_at[0].intercept + 6.5 * lines_at[0].slope)
    assert effect.step.value == pytest.approx(expected) and effect.step.low < expected < effect.step.high
    assert effect.drift > 0 and effect.drift_p < 0.01 and effect.step.low > 0
