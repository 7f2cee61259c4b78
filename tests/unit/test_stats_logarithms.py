"""Where the spread grows with the mean, an effect that only logarithms show is significant, and no other."""

from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.arrays import Array
from iosonde.stats.regression.effect_types import correct_effects
from iosonde.stats.regression.effects import estimate_effects
from iosonde.stats.regression.spread_growth import grows_with_mean


def draw(seed: int, size_effect: float, multiplies: bool = True) -> tuple[dict[str, list[object]], list[Array]]:
    """Three trials of each of sixteen settings whose means span nearly two decades; ``size_effect``: a ratio."""
    rng = np.random.default_rng(seed)
    settings = [(engine, size) for engine in range(8) for size in range(2)]
    means = [50.0 * 1.9**engine * size_effect**size for engine, size in settings]
    spread = [0.08 * (mean if multiplies else 400.0) for mean in means]
    values = [np.maximum(mean + sd * rng.standard_normal(3), 1.0) for mean, sd in zip(means, spread, strict=True)]
    return {"engine": [f"e{a}" for a, _ in settings], "size": [b for _, b in settings]}, values


def list_significant(settings: dict[str, list[object]], values: list[Array]) -> list[str]:
    effects = correct_effects([estimate_effects(settings, values, None, 0.95)])[0]
    return [effect.name for effect in effects.significant if effect.name == "size"]


def test_an_effect_that_only_logarithms_show_is_significant() -> None:
    assert sum(bool(list_significant(*draw(seed, 1.05))) for seed in range(10)) >= 3


def test_no_effect_and_an_even_spread_are_not_significant() -> None:
    assert sum(bool(list_significant(*draw(seed, 1.0))) for seed in range(10)) <= 1
    even = [estimate_effects(*draw(seed, 1.05, multiplies=False), None, 0.95) for seed in range(10)]
    assert all(effect.log_share is None for effects in even for effect in effects.effects if effect.name == "size")


def test_a_small_effect_beside_a_large_one_is_said_by_its_ratio() -> None:
    settings, values = draw(3, 1.2)
    (effect,) = [effect for effect in estimate_effects(settings, values, None, 0.95).effects if effect.name == "size"]
    assert effect.ratio is not None and effect.ratio.low is not None and effect.ratio.high is not None
    assert 1 < effect.ratio.low < 1.2 < effect.ratio.high < 1.4
    tiny = replace(effect, adjusted=0.001, explained=replace(effect.explained, value=1e-5, low=0.0))
    assert tiny.text.startswith("×1.") and "%" in replace(tiny, ratio=None).text


def test_two_p_do_not_add_up_to_too_many_claims() -> None:
    """Logarithms decide where the spread grows, also if the values themselves have the smaller p."""
    settings, values = draw(1, 1.05)
    logarithms = estimate_effects(settings, [np.log(trials) for trials in values], None, 0.95, np.e)
    for effect in estimate_effects(settings, values, None, 0.95).effects:
        other = logarithms.effect_of(effect.name)
        assert other is not None and effect.p == pytest.approx(other.p)


@pytest.mark.parametrize(("power", "expected"), [(1.0, True), (0.0, False)])
def test_the_spread_grows_with_the_mean_by_its_slope(power: float, expected: bool) -> None:
    rng = np.random.default_rng(1)
    means = 100.0 * 2.0 ** np.arange(8)
    values = [mean + 3 * (mean / 100) ** power * rng.standard_normal(6) for mean in means]
    assert grows_with_mean(values) is expected
    assert not grows_with_mean([-trials for trials in values])
