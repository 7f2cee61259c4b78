"""Blocks of factors in order, and shares within fixed factors of scattered settings: against statsmodels and truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.model.fit.features import Feature
from iosonde.model.sensitivity.blocks import estimate_blocks_in_order
from iosonde.model.sensitivity.design import build_design
from iosonde.model.sensitivity.permutation import choose_shuffle_count, estimate_dummy_effects
from iosonde.model.sensitivity.rank import REST, rank_factors
from iosonde.model.sensitivity.within import compute_shares_within_fixed
from iosonde.stats.regression.scattered import FACTORIAL, GRID, SCATTERED
from messages import raises
from settings_table import data_of, grid


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def entered(x: np.ndarray, y: np.ndarray, blocks: dict, told: set | None = None):
    design = build_design(data_of(x, y))
    return design, estimate_blocks_in_order(design, blocks, told or set(), 0.95, generator())


def test_blocks_are_those_of_statsmodels_sequential_sums_of_squares():
    """Unbalanced, without repeats: the residual of the largest model is the noise, as in anova_lm of type I."""
    import pandas
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    x = grid(3, 4, 3)[:-4]
    y = 2.0 * x[:, 0] + x[:, 1] + generator(1).normal(size=len(x))
    design, made = entered(x, y, {"first": [0], "second": [1, 2]})
    assert design.kind == FACTORIAL and made.interactions is None
    frame = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    models = [ols(f"y ~ {terms}", frame).fit() for terms in ("1", "C(a)", "C(a) + C(b) + C(c)")]
    table = anova_lm(*models)
    for place, block in enumerate(made.blocks, 1):
        assert block.added.f == pytest.approx(table["F"].iloc[place])
        gained = models[place].rsquared - models[place - 1].rsquared
        assert block.added.plain == pytest.approx(gained)
    assert made.blocks[0].added.p == pytest.approx(anova_lm(models[2]).loc["C(a)", "PR(>F)"])
    assert made.blocks[1].rest_share.value == pytest.approx(
        (models[1].ssr - models[2].ssr - 5 * models[2].mse_resid) / (models[1].ssr + models[2].mse_resid)
    )
    assert made.unexplained + sum(block.added.share.value for block in made.blocks) == pytest.approx(1)


def test_the_blocks_of_sampled_settings_are_tested_by_the_change_of_f():
    import pandas
    from statsmodels.formula.api import ols

    rng = generator(2)
    x = rng.permutation(grid(3, 4, 5, 4, 3))[:60]
    y = 2.0 * x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=60)
    design, made = entered(x, y, {"first": [0, 2], "second": [1, 3, 4]})
    assert design.kind == SCATTERED and design.n_cells == 60
    frame = pandas.DataFrame({f"f{i}": x[:, i] for i in range(5)}).assign(y=y)
    small = ols("y ~ C(f0) + C(f2)", frame).fit()
    large = ols("y ~ C(f0) + C(f2) + C(f1) + C(f3) + C(f4)", frame).fit()
    f, p, df = large.compare_f_test(small)
    second = made.blocks[1].added
    assert (second.f, second.p, second.df) == (pytest.approx(f), pytest.approx(p), df)
    assert second.plain == pytest.approx(large.rsquared - small.rsquared)
    assert second.share.value == pytest.approx(large.rsquared_adj - small.rsquared_adj)


def test_with_repeats_blocks_interactions_and_noise_add_up():
    x = grid(2, 4, 3, repeats=4)
    y = 100.0 * x[:, 0] + 5 * x[:, 1] + 3 * x[:, 0] * x[:, 2] + generator(3).normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95, blocks={"hardware": ["f0"], "settings": ["f1", "f2"]})
    hardware, settings = made.blocks.blocks
    whole = sum(block.added.share.value for block in (hardware, settings)) + made.blocks.interactions.share.value
    assert whole + made.noise.value == pytest.approx(1) and made.blocks.unexplained == pytest.approx(made.noise.value)
    assert made.blocks.interactions.p < 1e-6
    assert settings.added.share.value < 0.05 < 0.7 < settings.rest_share.low
    assert settings.order == (("f1",), ("f2",))
    assert "settings 0.01" in made.sentence and made.sentence.index("f1") < made.sentence.index("f2")


def test_factors_in_no_block_are_the_last_block():
    x = grid(2, 3, 2, repeats=3)
    y = x.sum(1) + generator(0).normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95, blocks={"a": ["f1"]})
    assert [(block.name, sorted(block.factors)) for block in made.blocks.blocks] == [
        ("a", ["f1"]),
        (REST, ["f0", "f2"]),
    ]
    assert made.to_json()["blocks"][0]["factors"][0]["name"] == "f1"


@pytest.mark.parametrize(
    ("blocks", "code", "name"),
    [({"a": ["f0"], "b": ["f0"]}, "duplicate-factor", "f0"), ({"a": ["f7"]}, "unknown-factor", "f7")],
)
def test_blocks_that_cannot_be_are_refused(blocks, code, name):
    x = grid(2, 3, repeats=2)
    with raises(code, InputError, name=name):
        rank_factors(data_of(x, generator(0).normal(size=len(x))), 0.95, blocks=blocks)


def test_more_levels_than_settings_allow_are_refused():
    rng = generator(0)
    x = np.column_stack([rng.integers(0, 3, 9), rng.integers(0, 4, 9), rng.integers(0, 4, 9)])
    with raises("too-few-settings", DataError):
        entered(x, rng.normal(size=9), {"a": [0, 1, 2]})


def test_without_noise_to_judge_by_a_block_has_no_interval():
    _, made = entered(grid(2, 2), np.array([1.0, 2.0, 4.0, 9.0]), {"a": [0], "b": [1]})
    assert made.blocks[0].added.share.low is None and made.blocks[0].added.p is None


@pytest.mark.parametrize("n", [100, 200])
def test_intervals_of_the_blocks_of_sampled_settings_cover(n):
    """95 %, 120 campaigns: 104 is 4.2 standard errors below."""
    rng, hits = generator(5), np.zeros(4)
    variances = np.array([1e4, 100, 25, 0]) / 12
    total, rest = variances.sum() + 1, variances[1:].sum() + 1
    for _ in range(120):
        x = rng.random((n, 4))
        _, made = entered(x, x @ [100, 10, 5, 0] + rng.normal(size=n), {"a": [0], "b": [1, 3], "c": [2]})
        found = [
            (made.blocks[0].added.share, variances[0] / total),
            (made.blocks[1].added.share, variances[1] / total),
            (made.blocks[1].rest_share, variances[1] / rest),
            (made.blocks[1].factors["f3"].share, 0.0),
        ]
        hits += [estimate.low <= true <= estimate.high for estimate, true in found]
    assert hits.min() >= 104


@pytest.mark.parametrize("repeats", [1, 3])
def test_intervals_of_the_blocks_of_a_factorial_cover(repeats):
    cells, rng, hits = grid(2, 3, 4), generator(6), np.zeros(3)
    truth, x = 5.0 * cells[:, 0] + 0.6 * cells[:, 1], np.repeat(cells, repeats, axis=0)
    first, second = 25 / 4, 0.36 * 2 / 3
    total = first + second + 0.49
    for _ in range(150):
        _, made = entered(x, np.repeat(truth, repeats) + 0.7 * rng.normal(size=len(x)), {"a": [0], "b": [1], "c": [2]})
        a, b, _ = made.blocks
        found = [
            (a.added.share, first / total),
            (b.added.share, second / total),
            (b.rest_share, second / (total - first)),
        ]
        hits += [estimate.low <= true <= estimate.high for estimate, true in found]
    assert hits.min() >= 131


def test_a_dominating_factor_hides_no_scattered_one():
    rng = generator(1)
    x = np.column_stack([rng.integers(0, 2, 200), rng.random(200), rng.random(200)])
    y = 1000.0 * x[:, 0] + 10 * x[:, 1] + rng.normal(size=200)
    made = rank_factors(data_of(x, y), 0.95, fixed=["f0"])
    factors = {factor.name: factor for factor in made.with_dummies().factors}
    assert factors["f1"].p < 0.01 and made.order_within == (("f1",),) and made.silent == ("f2",)
    shares = factors["f1"].within
    assert shares.s1.low < 100 / 12 / (100 / 12 + 1) < shares.s1.high
    assert shares.s1_corrected == pytest.approx(shares.s1.value, abs=0.03)


def test_groups_of_one_setting_explain_nothing_within_fixed_numbers():
    """Settings of two fixed numbers are never equal: groups by them would hold one each, and explain everything."""
    rng = generator(2)
    x = rng.random((200, 4))
    y = 100 * x[:, 0] + 10 * x[:, 1] + 3 * x[:, 2] + rng.normal(size=200)
    made = rank_factors(data_of(x, y), 0.95, fixed=["f0", "f1"])
    factors = {factor.name: factor for factor in made.factors}
    assert factors["f3"].within.s1.value < 0.15 and factors["f3"].within.s1.low == 0
    assert factors["f2"].within.s1.value == pytest.approx(0.75 / 1.75, abs=0.12)
    assert made.fixed_share.low < 1 - 1.75 / (10_100 / 12 + 1.75) < made.fixed_share.high


def test_fixed_factors_that_leave_nothing_are_refused():
    rng = generator(0)
    x = np.column_stack([np.arange(40) % 20, rng.integers(0, 19, 40), rng.random(40)])
    data = data_of(x, rng.normal(size=40))
    hosts = [Feature(f.name, "", tuple(f"host{i}" for i in range(len(f.levels))), False) for f in data.features[:2]]
    design = build_design(replace(data, features=(*hosts, data.features[2])))
    with raises("too-few-settings", DataError):
        compute_shares_within_fixed(design, None, frozenset([0, 1]), 0.95, rng)


def test_an_unbalanced_grid_does_not_hide_an_effect_behind_another():
    """What a level's mean owes to the other factor is taken out before a dummy is compared with it."""
    rng = generator(0)
    cells = grid(2, 4, 4)
    x = np.repeat(cells[rng.random(len(cells)) < 0.5], 3, axis=0)
    y = 1000.0 * x[:, 0] + 3 * x[:, 1] + rng.normal(size=len(x))
    design = build_design(data_of(x, y))
    found = estimate_dummy_effects(design, 0.95, rng)
    assert design.kind == GRID and found[1].p < 0.01 < 0.05 < found[2].p


def test_there_are_enough_shuffles_for_many_factors_and_a_high_level():
    x = grid(2, 2, 2, 2, repeats=2)
    design = build_design(data_of(x, generator(0).normal(size=len(x))))
    for level in (0.95, 0.999):
        assert 1 / (choose_shuffle_count(design, level) + 1) <= (1 - level) / 4
    strong = rank_factors(data_of(x, 50.0 * x[:, 0] + generator(0).normal(size=len(x))), 0.999)
    assert strong.order == (("f0",),)


def test_equal_factors_are_seldom_told_apart_by_few_repeats(monkeypatch):
    """Eight degrees of freedom: by Student's t about 5 % of 150, by the normal law 15 %; 20 is 4.6 errors above."""
    from iosonde.model.sensitivity import permutation

    monkeypatch.setattr(permutation, "_SHUFFLES", 199)
    rng, wrong, x = generator(0), 0, grid(3, 3, 3)
    for _ in range(150):
        order = rank_factors(data_of(x, 3.0 * x[:, 0] + 3.0 * x[:, 1] + rng.normal(size=27)), 0.95).order
        wrong += ("f0",) in order and ("f1",) in order
    assert wrong <= 20


def test_chance_makes_few_interactions(monkeypatch):
    """No effect at all, nothing repeated: told by the main effect or by interactions, each at most 5 %."""
    from iosonde.model.sensitivity import permutation

    monkeypatch.setattr(permutation, "_SHUFFLES", 99)
    rng, wrong, x = generator(0), 0, grid(3, 3, 3)
    for _ in range(150):
        wrong += any(factor.interacts for factor in rank_factors(data_of(x, rng.normal(size=27)), 0.95).factors)
    assert wrong <= 17
