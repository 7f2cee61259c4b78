"""Effects of the order of measurement: drift, a step between two sides, and resembling neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from iosonde.core.types import Estimate
from iosonde.stats.estimate.autocorrelation import Autocorrelation, estimate_autocorrelation
from iosonde.stats.estimate.order_effect import (
    OrderedTrials,
    OrderEffect,
    estimate_order_effect,
    is_explained_by_drift,
    sort_trials,
)

NOISE = np.array([0.3, -0.4, 0.1, 0.5, -0.2, -0.5, 0.4, -0.1, 0.2, -0.3, 0.45, -0.35])


def trials(values, n_a: int = 6, cells=None) -> OrderedTrials:
    values = np.asarray(values, float)
    cells = np.zeros(values.size, int) if cells is None else np.asarray(cells)
    return OrderedTrials(values, np.arange(values.size) >= n_a, cells)


def test_trials_are_sorted_by_the_order_and_ties_keep_their_sequence():
    ordered = sort_trials(
        np.array([1.0, 2, 3, 4]), np.array([1, 0, 1, 0], bool), np.array([0, 1, 0, 1]), np.array([9, 1, 1, 0])
    )
    assert (ordered.values.tolist(), ordered.is_b.tolist(), ordered.cells.tolist()) == (
        [4, 2, 3, 1],
        [False, False, True, True],
        [1, 1, 0, 0],
    )


@pytest.mark.parametrize(
    ("sides", "in_turn"), [("aabb", True), ("bbba", True), ("abab", False), ("abba", False), ("aaaa", False)]
)
def test_sides_are_in_turn_if_they_change_once(sides, in_turn):
    is_b = np.array([side == "b" for side in sides])
    assert OrderedTrials(np.ones(4), is_b, np.zeros(4, int)).in_turn is in_turn


@pytest.mark.parametrize("logs", [False, True])
def test_the_step_is_that_of_two_lines_by_least_squares(logs):
    """statsmodels fits a line for each side that meet at the border, between the trials 5 and 6."""
    y = np.arange(12) + NOISE + np.where(np.arange(12) >= 6, 5.0, 0.0)
    y = 0.1 * y if logs else y - 8  # the second has negative values
    cells = np.tile([0, 1], 6)
    effect = estimate_order_effect(trials(np.exp(y) if logs else y, cells=cells), 0.9)
    away = np.arange(12) - 5.5
    b = (np.arange(12) >= 6).astype(float)
    frame = pd.DataFrame({"y": y, "cell": cells, "b": b, "before": away * (1 - b), "after": away * b})
    fit = ols("y ~ C(cell) + b + before + after", frame).fit()
    low, high = fit.conf_int(0.1).loc["b"]
    assert (effect.step.value, effect.step.low, effect.step.high) == pytest.approx((fit.params["b"], low, high))
    assert (effect.step.level, effect.step.n) == (0.9, 12)


def test_a_drift_is_tested_over_both_sides_and_in_either_alone():
    """Six rising trials have p = 2/720, doubled because either side is asked; both together much less."""
    falling_and_rising = [*range(16, 10, -1), *range(1, 7)]
    effect = estimate_order_effect(trials(falling_and_rising), 0.95)
    assert effect.drift_p == pytest.approx(2 * 2 / 720)
    assert effect.drift == pytest.approx(-5 / 13.5)  # the first of two equal ones: A falls by 5 of its mean 13.5
    both = estimate_order_effect(trials(range(1, 13)), 0.95)
    assert both.drift > 0 and both.drift_p < 1e-4
    still = [3.0, 1, 4, 2, 5, 3.5, 3.1, 4.1, 2.1, 5.1, 1.1, 3.2]
    assert estimate_order_effect(trials(still), 0.95) == OrderEffect(None, pytest.approx(1, abs=0.9), None, 1.0)
    assert estimate_order_effect(trials(np.ones(6), 3), 0.95) == OrderEffect(None, 1.0, None, 1.0)


def test_two_lines_through_four_trials_have_no_interval():
    effect = estimate_order_effect(trials([*range(1, 8), 1.0], n_a=7), 0.95)
    assert effect.drift is not None and effect.step is None  # one trial has no line


@pytest.mark.parametrize(
    ("low", "high", "above", "explained"),
    [
        (1, 3, True, False),
        (0, 3, True, True),
        (-3, -1, True, True),
        (-3, -1, False, False),
        (-3, 0, False, True),
        (1, 3, False, True),
        (None, None, True, True),
    ],
)
def test_a_drift_explains_a_difference_without_a_step_in_its_direction(low, high, above, explained):
    step = Estimate(2.0, low, high, 0.95, 12)
    assert is_explained_by_drift(OrderEffect(0.1, 0.001, step, 1.0), above) is explained
    assert is_explained_by_drift(OrderEffect(None, 0.5, step, 1.0), above) is False
    assert is_explained_by_drift(OrderEffect(0.1, 0.001, None, 1.0), above) is True


@pytest.mark.parametrize(("lag1", "share"), [(0.5, 1 / 3), (0.0, 1.0), (-0.5, 1.0), (1.0, 0.0)])
def test_a_trial_that_resembles_its_neighbour_is_worth_less(lag1, share):
    assert Autocorrelation(lag1, 0.1, 9000).effective_share == pytest.approx(share, abs=0.02)


def test_neighbours_are_those_of_the_common_order_of_all_cells():
    """Two cells in turn: each alternates in itself, and together they rise and fall slowly."""
    wave = np.sin(np.arange(24) / 4) + 0.01 * NOISE[np.arange(24) % 12]
    in_turn = [wave[::2], wave[1::2]], [np.arange(0, 24, 2), np.arange(1, 24, 2)]
    related = estimate_autocorrelation(*in_turn)
    assert related.n == 24 and related.lag1 > 0.8 and related.p < 1e-3
    assert estimate_autocorrelation([wave], [np.random.default_rng(3).permutation(24)]).p > 0.01
    swings = estimate_autocorrelation([np.tile([1.0, -1.0], 12)], [np.arange(24)])
    assert swings.lag1 == pytest.approx((-23 + 1) / 24, abs=0.03) and swings.p > 0.99  # in random order -1 is expected


def test_what_is_too_short_or_never_varies_has_no_neighbours():
    x = np.arange(8.0)
    at = np.arange(8)
    assert estimate_autocorrelation([x], [at]).n == 8
    assert estimate_autocorrelation([x[:7]], [at[:7]]) is None
    assert estimate_autocorrelation([x[:7], x[:2]], [at[:7], at[:2]]) is None
    assert estimate_autocorrelation([np.ones(9)], [np.arange(9)]) is None
    assert estimate_autocorrelation([x, np.ones(9)], [at, np.arange(9)]).n == 8


@pytest.mark.parametrize(("first", "slope", "drifts"), [(0.4, 0.0, False), (1.0, 0.02, True), (0.4, 0.04, True)])
def test_a_first_trial_that_differs_in_each_setting_is_no_drift(first, slope, drifts):
    noise = np.random.default_rng(5).standard_normal((6, 5))
    values = (1 + slope * np.arange(5) + 0.01 * noise) * np.array([100, 230, 540, 108, 250, 580])[:, None]
    values[:, 0] *= first
    effect = estimate_order_effect(trials(values.ravel(), 15, np.repeat([0, 1, 2, 0, 1, 2], 5)), 0.95)
    assert (effect.drift is not None) is drifts and (effect.drift_p < 0.01) is drifts
