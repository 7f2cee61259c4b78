"""Where the spread grows with the mean, an effect that only logarithms show is named, and no other."""

import numpy as np
import pytest

from iosonde.core.arrays import Array
from iosonde.stats.regression.effect_types import correct_effects
from iosonde.stats.regression.effects import estimate_effects
from iosonde.stats.regression.spread_growth import grows_with_mean, list_factors_on_logarithms


def draw(seed: int, size_effect: float, multiplies: bool = True) -> tuple[dict[str, list[object]], list[Array]]:
    """Three trials of each of sixteen settings whose means span nearly two decades; ``size_effect``: a ratio."""
    rng = np.random.default_rng(seed)
    settings = [(engine, size) for engine in range(8) for size in range(2)]
    means = [50.0 * 1.9**engine * size_effect**size for engine, size in settings]
    spread = [0.08 * (mean if multiplies else 400.0) for mean in means]
    values = [np.maximum(mean + sd * rng.standard_normal(3), 1.0) for mean, sd in zip(means, spread, strict=True)]
    return {"engine": [f"e{a}" for a, _ in settings], "size": [b for _, b in settings]}, values


def advise(settings: dict[str, list[object]], values: list[Array]) -> list[str]:
    effects = correct_effects([estimate_effects(settings, values, None, 0.95)])[0]
    return list(list_factors_on_logarithms(effects))


def test_an_effect_that_only_logarithms_show_is_named() -> None:
    advice = [text for seed in range(10) for text in advise(*draw(seed, 1.05))]
    assert len(advice) >= 3 and all("size" in text for text in advice)


def test_no_effect_and_an_even_spread_make_no_advice() -> None:
    assert sum(bool(advise(*draw(seed, 1.0))) for seed in range(10)) <= 1
    assert not any(advise(*draw(seed, 1.05, multiplies=False)) for seed in range(10))


@pytest.mark.parametrize(("power", "expected"), [(1.0, True), (0.0, False)])
def test_the_spread_grows_with_the_mean_by_its_slope(power: float, expected: bool) -> None:
    rng = np.random.default_rng(1)
    means = 100.0 * 2.0 ** np.arange(8)
    values = [mean + 3 * (mean / 100) ** power * rng.standard_normal(6) for mean in means]
    assert grows_with_mean(values) is expected
    assert not grows_with_mean([-trials for trials in values])
