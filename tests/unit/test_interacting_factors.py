"""Which factors take part in a joint effect: those of the truth, and a dead one no more often than chance allows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from iosonde.core.verdict import HARDLY_MATTERS, IN_INTERACTION
from iosonde.stats.regression.effect_types import (
    ResponseEffects,
    correct_effects,
    list_effect_claims,
    list_larger_interaction,
)
from iosonde.stats.regression.effects import estimate_effects
from iosonde.stats.regression.interacting import select_active_units

SIGN = (-1, 1)


def measure(
    effect: Callable[..., float], names: str = "abcz", repeats: int = 4, seed: int = 2, bring_ups: bool = False
) -> ResponseEffects:
    """Return the corrected effects of two-level factors, a full factorial with noise of 1 about 100."""
    rng = np.random.default_rng(seed)
    cells = list(product(SIGN, repeat=len(names)))
    values = [100 + effect(*cell) + rng.normal(0, 1, repeats) for cell in cells]
    settings = {name: [cell[place] for cell in cells] for place, name in enumerate(names)}
    shared = np.tile(np.arange(repeats), len(cells))[:, None] if bring_ups else None
    return correct_effects([estimate_effects(settings, values, shared, 0.95)])[0]


@pytest.mark.parametrize("bring_ups", [False, True])
@pytest.mark.parametrize(
    ("effect", "active"),
    [
        (lambda a, b, c, z: 5 * a * b * c, {"a", "b", "c"}),
        (lambda a, b, c, z: 5 * a * z, {"a", "z"}),
        (lambda a, b, c, z: 5 * a * b * c * z, {"a", "b", "c", "z"}),
    ],
)
def test_a_joint_effect_is_that_of_the_factors_without_which_something_is_lost(effect, active, bring_ups):
    effects = measure(effect, bring_ups=bring_ups)
    assert effects.joint_factors == active
    assert len(effects.significant) == 1 and effects.significant[0].share > 0.9


def test_a_dead_factor_beside_a_joint_effect_hardly_matters():
    effects = measure(lambda a, b, c, z: 5 * a * b * c)
    assert [effect.factors for effect in effects.minor] == [("z",)]


def test_factors_that_interact_beside_main_effects_are_named_without_the_dead():
    effects = measure(lambda a, b, c, z: 3 * z + 5 * a * b * c)
    assert effects.joint_factors == set() and effects.interacting == ("a", "b", "c")
    assert [effect.factors for effect in effects.significant] == [("z",)]


def test_a_factor_that_acts_in_interaction_alone_is_claimed_to_do_so():
    effects = measure(lambda a, b, c, z: 20 * a + 10 * a * b)
    claims = {claim.subject: claim.claim for claim, _ in list_effect_claims("y", effects)}
    assert claims["b",] == IN_INTERACTION and {claims["c",], claims["z",]} == {HARDLY_MATTERS}


def test_a_dead_factor_is_named_no_more_often_than_chance_allows():
    tables = [measure(lambda a, b, z: 2 * a * b, "abz", seed=seed) for seed in range(200)]
    named = [{*effects.joint_factors, *effects.interacting} for effects in tables]
    assert all({"a", "b"} <= factors for factors in named)
    assert sum("z" in joint for joint in named) <= 18  # of 200 at 5 %: the 99.5th percentile


@pytest.mark.parametrize(
    ("effect", "interacting", "significant"),
    [
        (lambda a, b, c, d, e: 6 * a * b + 4 * c * d + 3 * e, "abcd", {"e"}),
        (lambda a, b, c, d, e: 5 * a + 4 * b * c, "bc", {"a"}),
        (lambda a, b, c, d, e: 5 * a, "", {"a"}),
    ],
)
def test_without_repetitions_pairs_are_held_against_interactions_of_more_factors(effect, interacting, significant):
    effects = measure(effect, "abcde", repeats=1)
    assert effects.interacting == tuple(interacting)
    assert {name for each in effects.significant for name in each.factors} == significant
    assert not {name for each in effects.minor for name in each.factors} & {*interacting, *significant}


def test_without_repetitions_an_interaction_of_three_is_held_against_those_of_more():
    effects = measure(lambda a, b, c, d, e: 6 * a * b * c + 4 * d, "abcde", repeats=1)
    assert list_larger_interaction(effects) == ["a", "b", "c"] and effects.interaction > 0.5
    assert [effect.name for effect in effects.significant] == ["d"]
    assert [effect.name for effect in effects.minor] == ["e"]


def test_without_repetitions_pairs_are_claimed_no_more_often_than_chance_allows():
    tables = [measure(lambda a, b, c, d, e: 2 * a, "abcde", repeats=1, seed=seed) for seed in range(200)]
    assert sum(bool(effects.interacting) for effects in tables) <= 7  # of 200 at 1 %: the 99.7th percentile
    named = [{name for each in effects.significant for name in each.factors} for effects in tables]
    assert all("a" in factors for factors in named)
    assert sum(bool(factors - {"a"}) for factors in named) <= 18  # at 5 % over the family


def test_idle_factors_are_left_out_one_after_the_other():
    p_values = {("a",): 0.001, ("b",): 0.04, ("c",): 0.6, ("z",): 0.3}
    assert select_active_units(list(p_values), lambda unit, others: p_values[unit], 0.05) == (("a",), ("b",))
    assert select_active_units([("a",), ("b",)], lambda unit, others: None, 0.05) == (("a",), ("b",))
