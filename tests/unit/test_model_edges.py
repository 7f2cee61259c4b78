"""Edges of models: intervals that meet, associations without freedom, bounds without draws, laws that bend."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from iosonde.core.types import Estimate
from iosonde.model.scaling.words import _is_bent
from iosonde.model.sensitivity.design import _compute_cramers_v, _compute_spearman
from iosonde.model.sensitivity.order import _is_overlapping
from iosonde.model.sensitivity.parts import draw_shares_under_noise
from iosonde.model.sensitivity.shapley_additive import AdditiveEffects
from iosonde.stats.regression.effect_types import FactorEffect


def effect(low: float | None, high: float | None) -> FactorEffect:
    return FactorEffect(("a",), Estimate(0.3, low, high, 0.95, 9), 0.01)


@pytest.mark.parametrize(
    ("first", "other", "is_overlapping"),
    [
        ((0.1, 0.2), (0.2, 0.3), True),
        ((0.2, 0.3), (0.1, 0.2), True),
        ((0.1, 0.2), (0.21, 0.3), False),
        ((0.21, 0.3), (0.1, 0.2), False),
        ((0.1, 0.9), (0.2, 0.3), True),
        *((ends, (0.8, 0.9), True) for ends in ((None, 0.1), (0.0, None), (None, None))),
    ],
)
def test_intervals_overlap_that_meet_or_are_unknown(first, other, is_overlapping):
    assert _is_overlapping(effect(*first), effect(*other)) is is_overlapping
    assert _is_overlapping(effect(*other), effect(*first)) is is_overlapping
    assert _is_overlapping(effect(*first), None)


def test_an_association_needs_two_levels_of_both_and_is_that_of_settings():
    two = np.array([0, 0, 1, 1])
    ones = np.ones(4)
    assert _compute_cramers_v(two, two, ones, False) == _compute_cramers_v(two, two, ones, True) == 1.0
    assert _compute_cramers_v(two, np.zeros(4, np.intp), ones, False) == 0.0
    assert _compute_cramers_v(np.zeros(1, np.intp), np.array([1]), np.ones(1), False) == 0.0
    crossed = np.array([0, 1, 0, 1])
    assert _compute_cramers_v(two, crossed, ones, False) == _compute_cramers_v(two, crossed, 3 * ones, True) == 0.0
    table = [(0, 0, 30), (0, 1, 10), (1, 0, 10), (1, 1, 30)]
    a, b = (np.repeat([row[i] for row in table], [row[2] for row in table]) for i in (0, 1))
    assert _compute_cramers_v(a, b, np.ones(80), False) == pytest.approx(0.5)  # χ² = 80/4
    phi2, sides = 0.25 - 1 / 79, 2 - 1 / 79
    assert _compute_cramers_v(a, b, np.ones(80), True) == pytest.approx(math.sqrt(phi2 / (sides - 1)))
    assert _compute_cramers_v(a[::4], b[::4], np.ones(20), True) == 0.0, "not significant in a quarter of it"


def test_a_rank_correlation_is_none_if_it_is_not_significant():
    rising = np.arange(11.0)
    assert _compute_spearman(rising, -(rising**3)) == pytest.approx(1.0)
    assert _compute_spearman(rising[:10], rising[:10]) == 0.0, "10 values: the square root is below 3.3"
    tied = np.repeat([1.0, 2.0, 3.0], 4)
    assert _compute_spearman(tied, np.exp(tied)) == pytest.approx(1.0)


def test_the_limits_of_an_additive_effect_are_as_wide_as_noise_and_sampling():
    moved = np.linspace(-0.1, 0.3, 401)[None, :]
    wide, narrow = np.linspace(-0.4, 0.4, 401)[None, :], np.zeros((1, 401))

    def limits(dummies: np.ndarray, error: float = 0.0, draws: np.ndarray = moved) -> Any:
        return AdditiveEffects(np.array([0.5]), draws, dummies, np.array([error]), 0.1).limits(0, 0.9)

    # Tails of 5 %: from -0.08 to 0.28, of the noise alone up to 0.36.
    assert limits(narrow) == pytest.approx((0.5 - 0.28, 0.5 + 0.08))
    assert limits(wide) == pytest.approx((0.5 - 0.28, 0.5 + 0.36))
    more = norm.ppf(0.95) * 0.1
    assert limits(narrow, 0.1) == pytest.approx((0.5 - math.hypot(0.28, more), 0.5 + math.hypot(0.08, more)))
    assert limits(narrow, 0.0, moved + 0.2) == pytest.approx((0.5 - 0.48, 0.5))
    assert limits(narrow, 0.0, moved - 0.4) == pytest.approx((0.5, 0.5 + 0.48))
    assert limits(narrow, 0.1, np.empty((1, 0))) is None


def test_shares_are_drawn_where_the_noise_is_known():
    turns = {"a": np.array([[1.0], [0.0]]), "b": np.array([[0.0], [1.0]])}
    along, before, rng = np.array([2.0, 1.0]), np.array([1.0]), np.random.default_rng(1)

    def draw(df: int, variance: float) -> dict[str, Any]:
        scale: Any = SimpleNamespace(noise=SimpleNamespace(df=df), variance=variance, total=10.0, residual_ss=4.0)
        return draw_shares_under_noise(turns, before, along, scale, rng)

    assert draw(0, 1.0) == {"a": None, "b": None}
    exact = draw(10**9, 0.0)
    # Of 10 before took 1: of the other 9, 4 and 1 are theirs, and 4 nobody's.
    assert np.allclose(exact["a"], 4 / 9, atol=1e-3) and np.allclose(exact["b"], 1 / 9, atol=1e-3)


def law(name: str, **parameters: tuple[float | None, float | None, float | None]) -> Any:
    estimates = {key: Estimate(*ends, 0.95, 9) for key, ends in parameters.items()}
    return SimpleNamespace(law=SimpleNamespace(name=name), parameters=estimates)


@pytest.mark.parametrize(
    ("best", "is_bent"),
    [
        (law("usl", contention=(0.1, 0.01, 0.2), coherency=(0.0, 0.0, 0.1)), True),
        (law("usl", contention=(0.1, 0.0, 0.2), coherency=(0.1, 0.01, 0.2)), True),
        (law("usl", contention=(0.1, 0.0, 0.2), coherency=(0.0, None, 0.1)), False),
        (law("linear"), False),
        (law("min", knee=(8, 6, 9)), True),
        (law("min", knee=(8.1, 6, 9)), False),
        (law("min", knee=(7, 6, None)), False),
        (law("queue", ceiling=(5, 4, 6)), True),
        (law("queue", ceiling=(5, 4, None)), False),
    ],
)
def test_a_curve_is_bent_if_its_best_law_has_a_limit_for_sure(best: Any, is_bent: bool):
    other = law("linear") if is_bent else law("min", knee=(1, 1, 1))
    regime: Any = SimpleNamespace(possible=(best, other), high=8)
    assert _is_bent(regime) is is_bent
    nothing: Any = SimpleNamespace(possible=(), high=8)
    assert not _is_bent(nothing)
