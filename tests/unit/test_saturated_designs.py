"""Half fractions of resolution V have no degrees of freedom beyond pairs: Lenth's noise finds the few that act."""

from __future__ import annotations

from itertools import product

import numpy as np

from iosonde.stats.regression.effect_types import ResponseEffects, correct_effects
from iosonde.stats.regression.effects import estimate_effects
from iosonde.stats.regression.lenth import estimate_saturated_noise

CELLS = [(*cell, int(np.prod(cell))) for cell in product((-1, 1), repeat=4)]


def measure(effect, seed: int) -> ResponseEffects:
    rng = np.random.default_rng(seed)
    settings = {name: [f"{name}{cell[place]}" for cell in CELLS] for place, name in enumerate("abcde")}
    values = [np.array([100 + effect(*cell) + rng.normal(0, 1)]) for cell in CELLS]
    return correct_effects([estimate_effects(settings, values, None, 0.95)])[0]


def test_the_noise_is_that_of_the_contrasts_that_are_nothing():
    """Of the sizes 1, …, 1 and two of 100, the typical one is 1.5, and so is the noise."""
    columns = [np.array([[cell[place]] for cell in CELLS], float) for place in range(5)]
    signs = np.column_stack([column[:, 0] for column in columns])
    pairs = np.column_stack([signs[:, i] * signs[:, j] for i in range(5) for j in range(i)])
    values = np.column_stack([signs, pairs]) @ np.array([100.0, 100.0, *[1.0] * 13]) / 4
    noise = estimate_saturated_noise(columns, values)
    assert noise.df == 5 and np.isclose(noise.mean_square, 1.5**2)
    assert estimate_saturated_noise(columns[:3], values) is None


def test_an_interaction_of_a_half_fraction_is_named():
    for seed in range(10):
        effects = measure(lambda a, b, c, d, e: 8 * a + 7 * b * c, seed)
        assert ("b", "c") in [(pair.first, pair.second) for pair in effects.interactions]
        assert "a" in {name for each in effects.significant for name in each.factors}


def test_interactions_are_claimed_no_more_often_than_chance_allows():
    tables = [measure(lambda a, b, c, d, e: 8 * a, seed) for seed in range(200)]
    assert sum(bool(effects.interactions) for effects in tables) <= 18  # at 5 %: the 99.5th percentile
