"""Shares of variance against closed forms, published tables and known functions; their intervals cover."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.model.fit.features import build_examples
from iosonde.model.sensitivity import factorial
from iosonde.model.sensitivity.design import build_design
from iosonde.model.sensitivity.published import rank_line
from iosonde.model.sensitivity.rank import rank_factors
from iosonde.model.sensitivity.variances import VarianceShare
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.story import estimate_cell_effects
from iosonde.stats.regression.scattered import FACTORIAL, FRACTION, SCATTERED
from messages import assert_problem, codes, raises, with_code
from outside import published_table
from settings_table import data_of, grid

# The coefficients of a published regression (write speed of a parallel file system) and the levels it was made of.
WRITE = {
    "network": 271.936,
    "base": 4.149,
    "servers": 30.729,
    "striping": 10.38,
    "replication": -59.182,
    "clients": -34.359,
}
LEVELS = {
    "network": [0, 1],
    "base": [0, 1],
    "servers": [1, 2, 3, 4, 5],
    "striping": [0, 2, 3, 4, 5],
    "replication": [0, 2, 3, 4, 5],
    "clients": [1, 2, 3, 4, 5],
}
WRITE_S1 = {
    "network": 0.553055,
    "base": 0.000128742518,
    "servers": 0.056497,
    "striping": 0.009541,
    "replication": 0.310146,
    "clients": 0.070633,
}


def by_name(ranking) -> dict:
    return {factor.name: factor for factor in ranking.factors}


def plain_s1(x: np.ndarray, y: np.ndarray, columns: list[int]) -> float:
    """V(E(Y|X))/V(Y) by a loop."""
    groups: dict[tuple, list[float]] = {}
    for row, value in zip(x[:, columns].tolist(), y.tolist(), strict=True):
        groups.setdefault(tuple(row), []).append(value)
    mean = y.mean()
    return sum(len(g) * (np.mean(g) - mean) ** 2 for g in groups.values()) / len(y) / y.var()


def test_the_published_line_ranks_as_its_closed_form_from_coefficients_and_from_data():
    x = np.array(list(itertools.product(*LEVELS.values())), float)
    assert len(x) == 2500
    y = x @ np.array(list(WRITE.values()))
    of_line = by_name(rank_line("write", WRITE, None, LEVELS, 0.95))
    of_data = by_name(
        rank_factors(
            build_examples(build_table({**dict(zip(LEVELS, x.T, strict=True)), "y": y}), "y", list(LEVELS)), 0.95
        )
    )
    for name, s1 in WRITE_S1.items():
        assert of_line[name].over_all.s1.value == pytest.approx(s1, abs=1e-6)
        assert of_data[name].over_all.s1.value == pytest.approx(s1, abs=1e-6)
        assert of_data[name].over_all.st.value == pytest.approx(s1, abs=1e-6)
        assert of_data[name].over_all.importance == pytest.approx(s1, abs=1e-6)
        assert of_data[name].slope.raw.value == pytest.approx(WRITE[name], abs=1e-6)


@pytest.mark.parametrize(
    ("line", "shares"),
    [
        (
            (237.502, -4.406, 15.89, 3.508, -21.058, -21.094),
            (0.836874, 0.000288014743, 0.029968, 0.002162, 0.077895, 0.052812),
        ),
        (
            (162.003, -17.888, 14.204, -0.961, -22.799, -16.546),
            (0.718362, 0.008758, 0.044178, 0.000299292609, 0.168454, 0.059948),
        ),
        (
            (230.091, -2.19, 34.241, 13.538, -60.986, -39.06),
            (0.438485, 3.97231607e-05, 0.077685, 0.017973, 0.364727, 0.10109),
        ),
    ],
)
def test_the_published_lines_of_reads_and_random_access_rank_as_their_closed_form(line, shares):
    made = by_name(rank_line("speed", dict(zip(LEVELS, line, strict=True)), None, LEVELS, 0.95))
    for name, s1 in zip(LEVELS, shares, strict=True):
        assert made[name].over_all.s1.value == pytest.approx(s1, abs=1e-6)


@pytest.mark.parametrize(
    ("line", "raw", "standardised"),
    [
        (
            (237.502, -4.406, 15.89, 3.508, -21.058, -21.094),
            "network clients replication servers base striping",
            "network replication clients servers striping base",
        ),
        (
            (162.003, -17.888, 14.204, -0.961, -22.799, -16.546),
            "network replication base clients servers striping",
            "network replication clients servers base striping",
        ),
    ],
)
def test_raw_and_standardised_coefficients_rank_differently(line, raw, standardised):
    factors = rank_line("read", dict(zip(LEVELS, line, strict=True)), None, LEVELS, 0.95).factors
    by_raw = sorted(factors, key=lambda f: -abs(f.slope.raw.value))
    by_standardised = sorted(factors, key=lambda f: -abs(f.slope.standardised.value))
    assert [f.name for f in by_raw] == raw.split()
    assert [f.name for f in by_standardised] == standardised.split()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_s1_and_st_are_the_shares_of_group_means(seed, repeats):
    rng = np.random.default_rng(seed)
    x = grid(2, 3, 3, repeats=repeats)
    y = rng.normal(size=len(x)) + x[:, 0] * x[:, 1]
    made = by_name(rank_factors(data_of(x, y), 0.95))
    explained = plain_s1(x, y, [0, 1, 2])
    for i in range(3):
        share = made[f"f{i}"].over_all
        assert share.s1.value == pytest.approx(plain_s1(x, y, [i]), abs=1e-9)
        others = plain_s1(x, y, [j for j in range(3) if j != i])
        assert share.st.value == pytest.approx(explained - others, abs=1e-9)
        assert share.s1.low <= share.s1.value <= share.s1.high
        assert share.st.low <= share.st.value <= share.st.high
        assert share.s1_corrected <= share.s1.value + 1e-9


def test_the_corrected_share_of_one_factor_is_omega_squared():
    x = grid(4, repeats=6)
    y = np.random.default_rng(3).normal(size=len(x)) + x[:, 0]
    ss_between, ss = plain_s1(x, y, [0]) * y.var() * len(y), y.var() * len(y)
    ms = (ss - ss_between) / (len(y) - 4)
    corrected = rank_factors(data_of(x, y), 0.95).factors[0].over_all.s1_corrected
    assert corrected == pytest.approx((ss_between - 3 * ms) / (ss + ms))


def test_noise_is_told_apart_from_the_factors():
    rng = np.random.default_rng(8)
    x = grid(2, 4, 3, repeats=20)
    signal = 2.0 * x[:, 0] + x[:, 1]
    y = signal + rng.normal(scale=signal.std(), size=len(x))
    made = rank_factors(data_of(x, y), 0.95)
    assert made.noise.low < 0.5 < made.noise.high
    dummy = by_name(made.with_dummies())["f2"]
    assert made.silent == ("f2",) and dummy.p > 0.05
    assert dummy.over_all.s1.value <= dummy.zero_line
    assert dummy.over_all.st.value < 0.05 and dummy.over_all.st_corrected < 0.02
    assert list(made.order) in ([("f1",), ("f0",)], [("f1", "f0")], [("f0", "f1")])
    assert "f2" in made.sentence.split(". ")[-1].lower()


def test_factors_of_equal_weight_cannot_be_told_apart():
    x = grid(3, 3, 3, repeats=4)
    y = np.random.default_rng(5).normal(size=len(x)) * 2 + x[:, 0] + x[:, 1]
    made = rank_factors(data_of(x, y), 0.95)
    assert sorted(made.order[0]) == ["f0", "f1"]


def test_interactions_are_warned_of():
    x = grid(2, 2, 3, repeats=5)
    y = 5 * ((x[:, 0] + x[:, 1]) % 2) + np.random.default_rng(0).normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95)
    factors = by_name(made)
    assert factors["f0"].interacts and factors["f1"].interacts and not factors["f2"].interacts
    assert factors["f0"].over_all.s1.value < 0.05 < 0.7 < factors["f0"].over_all.st.low
    (named,) = (text.values["interactions"] for text in made.warnings if "interactions" in text.values)
    assert named.startswith("f0 × f1 (") and "f2" not in named


def test_what_noise_adds_to_a_total_share_is_said():
    x = grid(2, 3, 4, repeats=3)
    made = rank_factors(data_of(x, 2.0 * x[:, 0] + np.random.default_rng(0).normal(size=len(x)) * 3), 0.95)
    said = with_code(made.warnings, "noise-corrected")
    shares = by_name(made)["f2"].over_all
    assert shares.st.value > shares.st_corrected + 0.05 and f"f2 {shares.st_corrected:.2f}" in said


def test_a_dominating_factor_does_not_hide_the_tunables():
    x = grid(2, 4, 3, repeats=3)
    y = 1000.0 * x[:, 0] + 3 * x[:, 1] * (1 + x[:, 0]) + np.random.default_rng(1).normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95, fixed=["f0"])
    factors = by_name(made)
    assert factors["f1"].over_all.s1.value < 0.01
    left = 1 - plain_s1(x, y, [0])
    within = (plain_s1(x, y, [0, 1]) - plain_s1(x, y, [0])) / left
    assert factors["f1"].within.s1.value == pytest.approx(within) and within > 0.8
    assert factors["f1"].within.s1.low > 0.7
    assert factors["f0"].within is None and factors["f0"].fixed
    assert made.fixed_share.value == pytest.approx(1 - left)
    assert made.order_within == (("f1",),)


@pytest.mark.parametrize(("repeats", "sigma"), [(2, 0.5), (3, 2.0), (5, 5.0), (1, 2.0)])
def test_intervals_cover(repeats, sigma, monkeypatch):
    """95 % intervals of S1, and of ST where there are repeats, over 150 campaigns: 128 is 3.5 standard errors below."""
    monkeypatch.setattr(factorial, "BOOTSTRAPS", 1)
    cells = grid(2, 4, 3)
    truth = 10 + 3 * cells[:, 0] + cells[:, 1] + 0.8 * cells[:, 0] * cells[:, 1]
    total = truth.var() + sigma**2
    x, everything = np.repeat(cells, repeats, axis=0), frozenset(range(3))
    wanted = [frozenset(), everything, *(frozenset([i]) for i in range(3)), *(everything - {i} for i in range(3))]
    rng = np.random.default_rng(12)
    hits = np.zeros(6)
    shares = [VarianceShare(frozenset([i])) for i in range(3)]
    shares += [VarianceShare(everything if repeats > 1 else None, everything - {i}) for i in range(3)]
    true = [plain_s1(cells, truth, [i]) * truth.var() / total for i in range(3)]
    true += [(1 - plain_s1(cells, truth, [j for j in range(3) if j != i])) * truth.var() / total for i in range(3)]
    for _ in range(150):
        design = build_design(data_of(x, np.repeat(truth, repeats) + sigma * rng.normal(size=len(x))))
        made = factorial.resample_variances(design, wanted, rng)
        for place, share in enumerate(shares):
            e = made.estimate(share, 0.95, design.n)
            hits[place] += e.low - 1e-9 <= true[place] <= e.high + 1e-9
    assert hits.min() >= 128


def test_designs_are_recognised():
    half = np.array([row for row in itertools.product((0, 1), repeat=4) if sum(row) % 2 == 0])
    assert build_design(data_of(half, np.arange(8.0))).kind == FRACTION
    full = grid(3, 3, 3)
    assert build_design(data_of(full, np.arange(27.0))).kind == FACTORIAL
    assert build_design(data_of(full[1:], np.arange(26.0))).kind == FACTORIAL
    rng = np.random.default_rng(0)
    assert build_design(data_of(rng.random((50, 2)), rng.random(50))).kind == SCATTERED


def test_an_aliased_fraction_has_no_total_share():
    half = np.array([row for row in itertools.product((0, 1), repeat=5) if sum(row) % 2 == 0])
    x = np.repeat(half, 3, axis=0)
    made = rank_factors(data_of(x, 3.0 * x[:, 0] + np.random.default_rng(0).normal(size=len(x))), 0.95)
    assert made.order == (("f0",),)
    assert all(factor.over_all.st.value is None for factor in made.factors)
    assert any("alias" in warning for warning in made.warnings)


def test_factors_that_always_change_together_are_named():
    a = np.repeat(np.arange(4), 6)
    x = np.column_stack([a, a, np.tile([0, 1, 2], 8)])
    made = rank_factors(data_of(x, a + np.random.default_rng(0).normal(size=len(a))), 0.95)
    assert (made.links[0].first, made.links[0].second) == ("f0", "f1")
    warning = with_code(made.warnings, "inseparable-factors")
    assert_problem(warning, "inseparable-factors", groups="f0 and f1")
    effects = by_name(made)
    assert effects["f0"].shapley.value == pytest.approx(effects["f1"].shapley.value, abs=1e-6)


def test_shapley_effects_of_correlated_factors_add_up_to_what_they_explain():
    """Additive, three levels, one corner of the grid left out by a constraint."""
    x = np.repeat(np.array([c for c in itertools.product(range(3), repeat=2) if sum(c) < 3]), 12, axis=0)
    y = 2.0 * x[:, 0] + x[:, 1] + np.random.default_rng(2).normal(size=len(x))
    made = rank_factors(data_of(x, y), 0.95)
    assert made.links
    values = [factor.shapley for factor in made.factors]
    assert sum(v.value for v in values) + made.noise.value == pytest.approx(1, abs=0.02)
    assert all(v.low <= v.value <= v.high for v in values)
    assert made.factors[0].over_all.st.value is None


def test_a_peak_in_the_middle_is_flagged():
    x = grid(5, 2, repeats=4)
    noise = np.random.default_rng(1).normal(size=len(x))
    turns = {f.name: f.effects.turns for f in rank_factors(data_of(x, -3.0 * (x[:, 0] - 2) ** 2 + noise), 0.95).factors}
    assert_problem(turns["f0"], "highest", level="2")
    assert turns["f1"] == ""
    only_low = np.where(x[:, 1] == 0, -3.0 * (x[:, 0] - 2) ** 2, 6.0 * x[:, 0]) + noise
    assert by_name(rank_factors(data_of(x, only_low), 0.95))["f0"].effects.turns.endswith("f1 is 0")


def test_the_largest_step_and_the_tried_levels_are_kept():
    x = grid(4, repeats=3)
    y = np.array([0.0, 1.0, 11.0, 12.0])[x[:, 0]] + np.random.default_rng(0).normal(size=12) * 0.1
    effects = rank_factors(data_of(x, y), 0.95).factors[0].effects
    assert [level.low for level in effects.levels] == [0, 1, 2, 3]
    assert [level.name for level in effects.largest_step] == ["1", "2"]
    assert effects.to_json()["steps"][1]["change"] == pytest.approx(10, abs=0.5)


def test_the_same_data_give_the_same_answer():
    x = grid(2, 3, repeats=3)
    y = np.random.default_rng(4).normal(size=len(x))
    assert rank_factors(data_of(x, y), 0.95).to_json() == rank_factors(data_of(x, y), 0.95).to_json()


def test_without_noise_to_judge_by_nothing_is_certain():
    made = rank_factors(data_of(grid(2, 2), np.array([1.0, 2.0, 4.0, 9.0])), 0.95)
    assert made.factors[0].over_all.s1.low is None
    assert "no-replication" in codes(made.warnings)


def test_equal_repeats_are_remarked_on():
    x = grid(2, 3, repeats=4)
    made = rank_factors(data_of(x, 1.0 * x[:, 0] + x[:, 1] ** 2), 0.95)
    assert "identical-repeats" in codes(made.warnings)


@pytest.mark.parametrize(
    ("columns", "fixed", "code", "values"),
    [
        ({"a": [1, 2], "b": [1, 2], "y": [1.0, 2.0]}, (), "too-few-settings", {"factors": 2, "rows": 2}),
        ({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2], "y": [1.0, 2, 3, 5]}, ("c",), "unknown-factor", {"name": "c"}),
        ({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2], "y": [1.0, 2, 3, 5]}, ("a", "b"), "no-free-factor", {}),
    ],
)
def test_what_cannot_be_ranked_is_refused(columns, fixed, code, values):
    data = build_examples(build_table(columns), "y", [name for name in columns if name != "y"])
    with raises(code, InputError, **values):
        rank_factors(data, 0.95, fixed)


@pytest.mark.parametrize(
    ("line", "levels", "code"),
    [
        ({"a": 1.0}, {"b": [0, 1]}, "unknown-feature"),
        ({"a": 1.0}, {"a": [2, 2]}, "single-level-factor"),
        ({"a": 1.0}, {}, "no-levels"),
        ({"a": 0.0}, {"a": [0, 1]}, "zero-coefficients"),
    ],
)
def test_a_line_that_ranks_nothing_is_refused(line, levels, code):
    with raises(code, InputError):
        rank_line("y", line, None, levels, 0.95)


@pytest.mark.parametrize(
    ("fixed", "code"),
    [(["c"], "feature-without-levels"), (["a", "b"], "no-free-factor"), (["a", "z"], "feature-without-levels")],
)
def test_fixed_features_of_a_line_have_levels_and_leave_one(fixed, code):
    levels = {"a": [0, 1], "b": [0, 1]}
    with raises(code, InputError):
        rank_line("y", {"a": 1.0, "b": 2.0, "c": 3.0}, None, levels, 0.95, fixed)
    assert rank_line("y", {"a": 1.0, "b": 2.0, "c": 3.0}, None, levels, 0.95, ["a"]).order_within == (("b",),)


def test_standard_errors_of_a_line_give_its_shares_intervals():
    made = rank_line(
        "y", {"a": 3.0, "b": 2.9, "c": 0.5}, {"a": 0.2, "b": 0.2, "c": 0.1}, dict.fromkeys("abc", [0, 1]), 0.95
    )
    assert made.order == (("a", "b"), ("c",))
    assert made.factors[0].over_all.s1.low < 0.5 < made.factors[0].over_all.s1.high


def test_the_shares_of_a_published_table():
    rows = np.genfromtxt(published_table(), delimiter=",", skip_header=1)
    x = np.column_stack([rows[:, 0], rows[:, 4], np.where(rows[:, 2] == 0, -1, rows[:, 3])])
    made = rank_factors(data_of(x, rows[:, 5]), 0.95)
    found = by_name(made)
    for name, s1, st_ in (("f0", 0.246, 0.579), ("f1", 0.374, 0.664), ("f2", 0.004, 0.183)):
        assert found[name].over_all.s1.value == pytest.approx(s1, abs=5e-4)
        assert found[name].over_all.st.value == pytest.approx(st_, abs=5e-4)
    assert made.order == (("f1",), ("f0",), ("f2",)) and found["f0"].effects.turns


def test_a_function_with_known_shares_is_found_from_scattered_settings():
    """Ishigami & Homma 1990: S1 0.314, 0.442, 0; ST 0.558, 0.442, 0.244."""
    from SALib.test_functions import Ishigami

    x = np.random.default_rng(0).uniform(-np.pi, np.pi, (1500, 3))
    made = rank_factors(data_of(x, Ishigami.evaluate(x)), 0.95)
    for factor, s1, total in zip(
        sorted(made.factors, key=lambda f: f.name), (0.314, 0.442, 0.0), (0.558, 0.442, 0.244), strict=True
    ):
        shares = factor.over_all
        assert shares.s1.low <= s1 <= shares.s1.high and shares.s1_corrected == pytest.approx(s1, abs=0.04)
        assert shares.st.low <= total <= shares.st.high and shares.st.value == pytest.approx(total, abs=0.12)
    assert made.order[0] == ("f1",) and by_name(made)["f2"].interacts
    assert "surrogate" in made.st_estimator and by_name(made)["f1"].effects.turns


def test_the_g_function_ranks_as_its_coefficients():
    """Sobol's g-function: V_i = 1/(3(1+a_i)²); ST follows from the product."""
    from SALib.test_functions import Sobol_G

    a = np.array([0.0, 1.0, 4.5, 99.0])
    x = np.random.default_rng(1).random((1500, 4))
    made = by_name(rank_factors(data_of(x, Sobol_G.evaluate(x, a)), 0.95))
    s1, total = Sobol_G.sensitivity_index(a), Sobol_G.total_sensitivity_index(a)
    for i in range(4):
        shares = made[f"f{i}"].over_all
        assert shares.s1.low - 0.01 <= s1[i] <= shares.s1.high + 0.01
        assert shares.st.low <= total[i] <= shares.st.high


def test_a_surrogate_that_explains_too_little_is_not_used():
    rng = np.random.default_rng(0)
    x = rng.random((60, 3))
    made = rank_factors(data_of(x, x[:, 0] + rng.normal(size=60)), 0.95)
    assert all(factor.over_all.st.value is None for factor in made.factors)
    assert {"poor-surrogate", "few-settings"} <= set(codes(made.warnings))


def test_a_surrogate_that_is_worse_than_the_mean_leaves_no_interval_turned_around():
    """All but one of the trials are 0, and repeats differ by as much as settings."""
    columns = {"size": [0.0, 1.0, 0.0, 1.0], "health": ["ok", "down", "ok", "ok"], "y": [0.0, 0.0, 1.0, 0.0]}
    for one in rank_factors(build_examples(build_table(columns), "y", ["size", "health"]), 0.95).factors:
        st = one.over_all.st
        assert st.low <= st.value <= st.high


def test_a_dummy_is_seldom_seen_to_matter(monkeypatch):
    """p of a factor without effect: at most 5 % below 0.05; of 200, 22 is 3.9 standard errors above."""
    from iosonde.model.sensitivity import permutation

    monkeypatch.setattr(permutation, "_SHUFFLES", 99)
    rng, wrong = np.random.default_rng(3), 0
    x = grid(2, 3, repeats=3)
    for _ in range(200):
        design = build_design(data_of(x, 5.0 * x[:, 0] + rng.normal(size=len(x))))
        wrong += permutation.estimate_dummy_effects(design, 0.95, rng)[1].p <= 0.05
    assert wrong <= 22


def test_text_of_several_levels_is_ranked_by_its_levels():
    table = build_table({"fs": list("abc") * 6, "n": [1, 2] * 9, "y": [1.0, 5, 2] * 3 + [1.1, 5.2, 2.1] * 3})
    made = by_name(rank_factors(build_examples(table, "y", ["fs", "n"]), 0.95))
    assert made["fs"].over_all.s1.value > 0.95 and made["fs"].slope is None
    assert [level.name for level in made["fs"].effects.levels] == ["a", "b", "c"]


def test_few_repeats_widen_an_interval_and_do_not_empty_it():
    """The noise may be many times its estimate; a share of 0.9 is still no 0."""
    x = grid(3, 2, repeats=3)[:12]
    y = 2.0 * x[:, 0] + np.random.default_rng(6).normal(size=12) * 0.3
    s1 = by_name(rank_factors(data_of(x, y), 0.95))["f0"].over_all.s1
    assert s1.value > 0.8 and 0.3 < s1.low < s1.value <= s1.high <= 1


@pytest.mark.filterwarnings("error")
def test_two_settings_leave_no_noise_to_hold_a_fixed_share_against():
    table = build_table({"a": [0.0] + [1.0] * 3, "b": [2, 1, 1, 1], "c": [1, 2, 2, 2], "y": [0.0, 0.0, 0.0, 1.0]})
    made = rank_factors(build_examples(table, "y", ["a", "b", "c"]), 0.95, fixed=["a"])
    json.dumps(made.to_json(), allow_nan=False)
    assert made.fixed_share.value is not None and made.fixed_share.low is None
    assert codes(made.fixed_share.warnings) == ["no-replication"]


_CELLS = {
    "levels": st.integers(0, 3),
    "text": st.sampled_from("uvw"),
    "reals": st.floats(-1, 1, allow_subnormal=False).map(lambda x: round(x, 3)),
    "large": st.sampled_from([1e15, 1e15 + 1, 1e15 + 2]),
    "holes": st.sampled_from([1, 2, None]),
}


@pytest.mark.filterwarnings("error")
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_the_table_there_is_an_answer_in_finite_numbers_or_a_refusal(data):
    names = "abcd"[: data.draw(st.integers(1, 4))]
    kinds = {name: _CELLS[data.draw(st.sampled_from(sorted(_CELLS)))] for name in names}
    cells = data.draw(st.lists(st.fixed_dictionaries(kinds), min_size=1, max_size=12))
    rows = [row for row in cells for _ in range(data.draw(st.sampled_from([1, 2, 3])))]
    y = data.draw(st.lists(st.sampled_from([0.0, 1.0, 1.5, -2.0, 7.25]), min_size=len(rows), max_size=len(rows)))
    how = data.draw(st.sampled_from(["plain", "fixed", "blocks"]))
    table = build_table({**{name: [row[name] for row in rows] for name in names}, "y": y})
    try:
        made = rank_factors(
            build_examples(table, "y", list(names)),
            0.95,
            fixed=["a"] if how == "fixed" else [],
            blocks={"first": ["a"]} if how == "blocks" else None,
        )
    except (DataError, InputError):
        return
    json.dumps(made.to_json(), allow_nan=False)


def test_s1_of_a_balanced_design_is_the_share_that_a_summary_names():
    rng = np.random.default_rng(1)
    cells = [
        TrialCell({"t": t, "n": n}, "y", "", 10 + place + 0.5 * n + rng.normal(size=4))
        for place, t in enumerate(("4k", "64k", "1m"))
        for n in (1, 2)
    ]
    columns = {name: [cell.by[name] for cell in cells for _ in cell.values] for name in ("t", "n")}
    table = build_table({**columns, "y": np.concatenate([cell.values for cell in cells]).tolist()})
    ranked = {one.name: one for one in rank_factors(build_examples(table, "y", ["t", "n"]), 0.95).factors}
    for one in estimate_cell_effects(cells, 0.95).effects:
        factor = ranked[one.name]
        assert factor.share == one.explained
        assert factor.over_all.s1.value == pytest.approx(one.explained.value)
