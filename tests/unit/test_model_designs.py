"""Adjusted shares, aliases and Shapley effects against statsmodels, brute force and a known truth."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from constrained_design import cells, order_of, shapley_truth, true_shares, wrong_order
from constrained_design import data_of as constrained
from iosonde.model.sensitivity import permutation
from iosonde.model.sensitivity.adjusted import compute_adjusted_shares
from iosonde.model.sensitivity.aliases import find_aliases
from iosonde.model.sensitivity.design import build_design
from iosonde.model.sensitivity.factorial import BY_MODEL
from iosonde.model.sensitivity.permutation import estimate_dummy_effects
from iosonde.model.sensitivity.rank import rank_factors
from iosonde.model.sensitivity.shapley_additive import compute_additive_effects, sample_effects_by_permutations
from iosonde.stats.regression.scattered import FRACTION, GRID, SCATTERED
from messages import assert_problem, codes
from settings_table import data_of, grid

NOTHING: frozenset[int] = frozenset()


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def half(k: int) -> np.ndarray:
    """The half of all combinations of ``k`` factors at two levels."""
    return np.array([row for row in itertools.product((0, 1), repeat=k) if sum(row) % 2 == 0])


def anova(x: np.ndarray, y: np.ndarray, typ: int):
    import pandas
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    contrast = ", Sum" if typ == 3 else ""
    frame = pandas.DataFrame({f"f{i}": column for i, column in enumerate(x.T)}).assign(y=y)
    return anova_lm(ols("y ~ " + " + ".join(f"C(f{i}{contrast})" for i in range(x.shape[1])), frame).fit(), typ=typ)


@pytest.mark.parametrize("typ", [2, 3])
def test_adjusted_shares_run_once_are_those_of_statsmodels(typ):
    x = cells()
    data = constrained(x, generator(3))
    design = build_design(data)
    assert design.kind == SCATTERED and not design.binned
    made = compute_adjusted_shares(design, NOTHING, 0.95, generator())
    table = anova(data.x, data.y, typ)
    total = ((data.y - data.y.mean()) ** 2).sum()
    for i, part in enumerate(made.parts):
        row = table.iloc[i + (typ == 3)]
        assert part.plain == pytest.approx(row["sum_sq"] / total)
        assert (part.f, part.df) == (pytest.approx(row["F"]), row["df"])
        assert part.p == pytest.approx(row["PR(>F)"], rel=1e-6)


def test_adjusted_shares_with_repeats_are_held_against_them():
    import pandas
    from statsmodels.formula.api import ols

    x = np.repeat(cells(), 2, axis=0)
    data = constrained(x, generator(4))
    design = build_design(data)
    assert design.kind == GRID and design.imbalance > 0.2
    made = compute_adjusted_shares(design, NOTHING, 0.95, generator())
    table = anova(data.x, data.y, 2)
    cell = pandas.Series(data.cells.astype(str))
    pure = ols("y ~ C(cell)", pandas.DataFrame({"cell": cell, "y": data.y})).fit().mse_resid
    for i, part in enumerate(made.parts):
        assert part.f == pytest.approx(table["sum_sq"].iloc[i] / table["df"].iloc[i] / pure)


def test_within_fixed_factors_shares_are_of_what_these_leave():
    x = np.repeat(cells(), 2, axis=0)
    data = constrained(x, generator(4))
    made = rank_factors(data, 0.95, fixed=["network"])
    table = anova(data.x, data.y, 2)
    left = ((data.y - data.y.mean()) ** 2).sum() * (1 - made.fixed_share.value)
    for factor in made.factors:
        if factor.name == "network":
            assert factor.adjusted_within is None
            continue
        ss = table["sum_sq"].iloc[
            ["network", "base", "servers", "striping", "replication", "clients"].index(factor.name)
        ]
        assert factor.adjusted_within.plain == pytest.approx(ss / left, rel=1e-6)
    place = {name: at for at, group in enumerate(made.order_within) for name in group}
    assert place["servers"] < place.get("striping", 9)


def test_a_balanced_design_needs_no_adjusting():
    x = grid(2, 3, 4, repeats=3)
    made = rank_factors(data_of(x, x[:, 0] + generator().normal(size=len(x))), 0.95)
    assert made.by == "s1" and all(factor.adjusted is None for factor in made.factors)
    assert build_design(data_of(x, generator().normal(size=len(x)))).imbalance == pytest.approx(0, abs=1e-12)


def test_trials_that_failed_leave_an_unbalanced_factorial_adjusted():
    """17 of 20 trials at the slow network and one request size were lost."""
    x = np.repeat(grid(2, 2, 2), 20, axis=0)
    lost = (x[:, 0] == 0) & (x[:, 1] == 1) & (np.arange(len(x)) % 20 > 2)
    x = x[~lost]
    y = 50.0 * x[:, 0] + 3.0 * x[:, 2] + generator(1).normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95)
    assert made.by == "adjusted" and made.order == (("f0",), ("f2",)) and made.silent == ("f1",)
    shares = {factor.name: factor.over_all.s1.value for factor in made.factors}
    assert shares["f1"] > shares["f2"]  # which would have been said to matter more


def test_without_shapley_effects_a_ranking_says_the_same():
    x = np.repeat(grid(2, 2, 2), 20, axis=0)
    x = x[~((x[:, 0] == 0) & (x[:, 1] == 1) & (np.arange(len(x)) % 20 > 2))]
    data = data_of(x, 50.0 * x[:, 0] + 3.0 * x[:, 2] + generator(1).normal(size=len(x)))
    with_all, without = (rank_factors(data, 0.95, with_shapley=wanted).with_dummies() for wanted in (True, False))
    assert all(factor.shapley for factor in with_all.factors) and not any(factor.shapley for factor in without.factors)
    assert without.factors == tuple(replace(factor, shapley=None) for factor in with_all.factors)
    assert without.order == with_all.order and without.sentence == with_all.sentence


def test_the_main_effects_of_a_fraction_of_resolution_iii_are_named_with_their_aliases():
    x = np.array([(a, b, a ^ b, c, a ^ c) for a, b, c in itertools.product((0, 1), repeat=3)])
    x = np.repeat(x, 3, axis=0)
    design = build_design(data_of(x, generator().normal(size=len(x))))
    assert design.kind == FRACTION
    found = [[alias.name for alias in one if alias.is_full] for one in find_aliases(design)]
    assert found == [["f1×f2", "f3×f4"], ["f0×f2"], ["f0×f1"], ["f0×f4"], ["f0×f3"]]
    made = rank_factors(data_of(x, 20.0 * x[:, 2] + generator().normal(size=len(x))), 0.95)
    assert made.order == (("f2",),)
    assert "f0×f1" in made.sentence
    first = made.warnings[codes(made.warnings).index("aliased-factors")]
    assert_problem(first, "aliased-factors", factor="f2", interactions="f0×f1")
    assert made.to_json()["factors"][0]["aliases"] == [{"factors": ["f0", "f1"], "strength": pytest.approx(1)}]


def test_a_half_fraction_of_five_factors_has_no_alias_among_interactions_of_two():
    design = build_design(data_of(np.repeat(half(5), 2, axis=0), generator().normal(size=32)))
    assert find_aliases(design) == [()] * 5


def test_a_latin_square_is_partly_aliased_and_a_plackett_burman_design_too():
    square = np.array([(a, b, (a + b) % 4) for a, b in itertools.product(range(4), repeat=2)])
    design = build_design(data_of(square, generator().normal(size=16)))
    assert design.kind == FRACTION and all(one and one[0].is_full for one in find_aliases(design))
    row = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0]
    burman = np.array([*(np.roll(row, i) for i in range(11)), [0] * 11])[:, :5]
    design = build_design(data_of(burman, generator().normal(size=12)))
    strengths = [alias.strength for one in find_aliases(design) for alias in one]
    assert design.kind == FRACTION and strengths == pytest.approx([1 / 3] * len(strengths))


def test_a_saturated_fraction_has_no_p():
    """12 settings of 11 factors: each was told from chance, as few shuffles are as extreme as what was seen."""
    row = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0]
    x = np.array([*(np.roll(row, i) for i in range(11)), [0] * 11])
    made = rank_factors(data_of(x, generator().normal(size=12)), 0.95)
    assert all(factor.p is None for factor in made.factors) and not made.order and made.noise_from == ""


def test_a_fraction_run_once_takes_its_noise_from_what_main_effects_leave():
    x = np.array([(a, b, c, d, a ^ b ^ c) for a, b, c, d in itertools.product((0, 1), repeat=4)])
    y = 20.0 * x[:, 4] + 2.0 * x[:, 0] + generator(1).normal(size=16)
    made = rank_factors(data_of(x, y), 0.95).with_dummies()
    assert made.intervals == BY_MODEL and made.noise is None and made.noise_from == "lack_of_fit"
    table = anova(x, y, 2)
    for factor in made.factors:
        assert factor.p == pytest.approx(table["PR(>F)"].iloc[int(factor.name[1])], rel=1e-6)
        assert factor.over_all.s1.low <= factor.over_all.s1.value <= factor.over_all.s1.high
    assert made.order[0] == ("f4",)


def test_few_scattered_settings_are_tested_by_shuffles_and_by_f(monkeypatch):
    """12 settings of a Latin hypercube: what acts is found, what does not is rarely said to."""
    monkeypatch.setattr(permutation, "_SHUFFLES", 99)
    rng, found, false = generator(3), 0, 0
    for _ in range(60):
        x = np.column_stack([rng.permutation(12) for _ in range(4)])
        design = build_design(data_of(x, 2.0 * x[:, 0] + rng.normal(size=12)))
        p = [
            null.p
            for null in estimate_dummy_effects(design, 0.95, rng, compute_adjusted_shares(design, NOTHING, 0.95, rng))
        ]
        found += p[0] < 0.0125
        false += sum(one < 0.05 for one in p[1:])
    assert found >= 55 and false <= 20  # of 180; 9 are to be expected, 20 are 3.5 standard errors more


@pytest.mark.parametrize("repeats", [1, pytest.param(3, marks=pytest.mark.long)])
def test_intervals_on_a_constrained_design_cover_and_the_order_is_right(repeats):
    """95 % intervals over 60 tables: 50 hits are 4 standard errors below; docs has 300 tables."""
    x = np.repeat(cells(), repeats, axis=0)
    truth, rng, hits, wrong = true_shares(x), generator(7), np.zeros(6), 0
    for _ in range(60):
        parts, groups = order_of(build_design(constrained(x, rng)), rng)
        hits += [part.share.low <= true <= part.share.high for part, true in zip(parts, truth, strict=True)]
        wrong += wrong_order(groups, truth)
    assert hits.min() >= 50 and wrong <= 5


def test_shapley_effects_of_an_additive_model_are_those_of_brute_force():
    x = np.repeat(cells(), 2, axis=0)
    design = build_design(constrained(x, generator(), sigma=0.0))
    made = compute_additive_effects(design, 0.95, generator())
    assert made.observed == pytest.approx(shapley_truth(x, sigma=0.0), abs=1e-9) and not made.error.any()
    assert made.observed.sum() == pytest.approx(1)


def test_sampled_permutations_come_as_near_as_their_error_says():
    x = np.repeat(cells(), 2, axis=0)
    design = build_design(constrained(x, generator(2)))
    exact = compute_additive_effects(design, 0.95, generator())
    from iosonde.model.sensitivity import shapley_additive

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapley_additive, "MOST_EXACT", 3)
        made = compute_additive_effects(design, 0.95, generator())
    assert made.error.max() < 0.01
    assert np.all(np.abs(made.observed - exact.observed) <= 4 * made.error + 1e-9)
    assert made.observed.sum() == pytest.approx(exact.observed.sum())  # each permutation adds up


def test_sampling_is_exact_for_an_additive_game():
    worth = np.array([3.0, 2.0, 1.0])
    made, error = sample_effects_by_permutations(lambda u: np.array([sum(worth[i] for i in u)]), 3, 8, generator())
    assert made[:, 0] == pytest.approx(worth) and error == pytest.approx(np.zeros(3), abs=1e-12)


def test_ten_factors_have_shapley_effects():
    rng = generator(5)
    layout = np.repeat(cells((1, 3, 5)), 2, axis=0)
    x = np.column_stack([layout, rng.integers(0, 3, (len(layout), 4))])
    y = 10.0 * x[:, 0] + 3.0 * x[:, 3] - 2.0 * x[:, 4] + rng.normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95)
    effects = {factor.name: factor.shapley for factor in made.factors}
    assert len(effects) == 10 and all(one.low <= one.value <= one.high for one in effects.values())
    explained = 1 - 1 / y.var()
    assert sum(one.value for one in effects.values()) == pytest.approx(explained, abs=0.02)
    assert made.shapley_estimator.code == "additive-model" and "additive-shapley" in codes(made.warnings)


def test_interactions_that_main_effects_leave_are_said():
    x = np.repeat(np.array([c for c in itertools.product(range(3), repeat=3) if c[0] + c[1] < 3]), 4, axis=0)
    y = 5.0 * x[:, 0] + 4.0 * x[:, 0] * x[:, 2] + generator(1).normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95)
    (share,) = (text.values["share"] for text in made.warnings if "share" in text.values)
    assert share.startswith("0.") and any("f0 × f2" in text for text in made.warnings)
