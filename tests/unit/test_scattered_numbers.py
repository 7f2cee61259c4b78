"""Numbers that were sampled from a range, and that go together: their effects are lines, and the same in every
command."""

import numpy as np
import pytest

from iosonde.stats.regression.blocks import find_products
from iosonde.stats.regression.effect_types import ResponseEffects, correct_effects
from iosonde.stats.regression.effects import estimate_effects
from iosonde.stats.regression.scattered import find_scattered_numbers


def estimate(spread: float, n: int = 120, repeats: int = 1) -> ResponseEffects:
    """Effects of ``clients``, which matters, and of ``processes``, which follows it with this ``spread``."""
    rng = np.random.default_rng(4)
    clients = rng.integers(1, 65, n)
    processes = np.maximum(0, np.round(0.9 * clients + spread * rng.standard_normal(n)))
    values = [50 + 3 * x + 10 * rng.standard_normal(repeats) for x in clients]
    settings = {"clients": clients.tolist(), "processes": processes.tolist()}
    return correct_effects([estimate_effects(settings, values, None, 0.95)])[0]


@pytest.mark.parametrize("spread", [3.0, 6.0])
@pytest.mark.parametrize("repeats", [1, 3])
def test_numbers_that_go_together_are_a_block_whose_effect_is_seen(spread: float, repeats: int) -> None:
    effects = estimate(spread, repeats=repeats)
    (block,) = effects.significant
    assert block.factors == ("clients", "processes") and block.share > 0.9
    assert [member.name for member in block.own if member.is_significant] == ["clients"]


def test_a_looser_pair_is_two_factors_with_what_each_explains_beyond_the_other() -> None:
    effects = estimate(20.0)
    (effect,) = effects.significant
    assert effect.factors == ("clients",)
    assert 0.4 < effect.share < 0.7 and effects.shared > 0.3


def test_independent_numbers_are_not_confounded_by_their_many_levels() -> None:
    rng = np.random.default_rng(7)
    clients, depth = rng.integers(1, 65, 150), rng.integers(0, 65, 150)
    values = [np.array([50 + 3 * a + b + 10 * rng.standard_normal()]) for a, b in zip(clients, depth, strict=True)]
    effects = correct_effects([estimate_effects({"a": clients.tolist(), "b": depth.tolist()}, values, None, 0.95)])[0]
    assert [effect.factors for effect in effects.significant] == [("a",), ("b",)]


def test_few_levels_and_names_stay_levels() -> None:
    names = [f"n{place}" for place in range(30)]
    few = [place % 3 for place in range(30)]
    assert set(find_scattered_numbers({"name": names, "few": few, "x": [*range(30)]}, 30)) == {"x"}
    assert find_scattered_numbers({"a": [1, 2] * 15, "b": [*range(15)] * 2}, 90) == {}


def test_a_product_of_two_factors_is_one_block_with_them() -> None:
    rng = np.random.default_rng(9)
    nodes, per_node = rng.choice([1, 2, 4, 8, 16, 32], 30), rng.choice([1, 2, 3, 4, 6, 8, 12, 16], 30)
    values = [np.array([200 * x**0.3 * np.exp(0.05 * rng.standard_normal())]) for x in nodes]
    settings = {"nodes": nodes, "per_node": per_node, "ranks": nodes * per_node, "depth": rng.permutation(30)}
    levels = {name: column.tolist() for name, column in settings.items()}
    effects = correct_effects([estimate_effects(levels, values, None, 0.95)])[0]
    assert [effect.factors for effect in effects.effects] == [("nodes", "per_node", "ranks"), ("depth",)]
    assert effects.effects[0].is_significant
    levels["ranks"] = [*(nodes * per_node)[:-1].tolist(), 7]
    apart = estimate_effects(levels, values, None, 0.95)
    assert ("depth",) in [effect.factors for effect in apart.effects]
    assert find_products(levels) == []


def test_a_grid_with_gaps_has_means_of_its_levels() -> None:
    """Of 6 file sizes and 10 record sizes the 45 whose records fit, once each, as IOzone measures them."""
    sizes = [(2.0**file, 2.0**record) for file in range(6, 12) for record in range(2, 12) if record <= file]
    columns = {"file": [file for file, _ in sizes], "record": [record for _, record in sizes]}
    assert len(sizes) == 45 and find_scattered_numbers(columns, len(sizes)) == {}
    rng = np.random.default_rng(1)
    drawn = {"a": rng.permutation(60).tolist(), "b": rng.permutation(60).tolist()}
    assert set(find_scattered_numbers(drawn, 60)) == {"a", "b"}
