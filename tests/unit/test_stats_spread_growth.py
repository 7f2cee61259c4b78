"""Does the spread of trials grow with their mean?"""

import numpy as np

from iosonde.stats.regression.spread_growth import grows_with_mean


def draw_settings(seed: int, power: float, n: int = 4) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [mean + rng.normal(0, 4 * (mean / 100) ** power, n) for mean in (100, 120, 400, 450, 1600, 1700)]


def test_spread_that_multiplies_grows_and_spread_that_adds_does_not():
    assert np.mean([grows_with_mean(draw_settings(seed, 1.0)) for seed in range(200)]) > 0.95
    assert np.mean([grows_with_mean(draw_settings(seed, 0.0)) for seed in range(200)]) < 0.03


def test_single_trials_and_values_of_zero_have_no_growth():
    assert not grows_with_mean([np.array([1.0]), np.array([10.0]), np.array([100.0])])
    assert not grows_with_mean([values - 100 for values in draw_settings(1, 1.0)])
