"""Allocation of variation against a second implementation, balanced and not, with blocks and contrasts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.formula.api import ols as formula_ols
from statsmodels.stats.anova import anova_lm

from csv_table import table_from
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.stats.regression.anova import compute_anova
from messages import codes, raises

CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")


def frame(n: int, seed: int = 1, balanced: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = np.tile([0, 1, 2], n // 3) if balanced else rng.integers(0, 3, n)
    b = np.repeat([0, 1], n // 2) if balanced else rng.integers(0, 2, n)
    y = 10 + 2 * a + 3 * b + 1.5 * (a == 2) * b + rng.standard_normal(n)
    return pd.DataFrame({"a": np.array(["x", "y", "z"])[a], "b": b.astype(float), "y": y})


def table(data: pd.DataFrame) -> Table:
    return build_table({name: data[name].tolist() for name in data.columns})


def test_one_factor_of_the_published_observations():
    made = compute_anova(table_from(CP), "real_s", ["replicas"], 0.9)
    (source,) = made.sources
    got = (source.ss, made.ss_residual, source.f, source.p)
    assert got == pytest.approx((1501.230833, 13543.9825, 1.163832, 0.33163), abs=1e-4)
    assert (source.df, made.df_residual) == (2, 21)


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("kind", [1, 2])
def test_two_factors_with_interaction_agree_with_statsmodels(balanced, kind):
    data = frame(48, balanced=balanced)
    made = compute_anova(table(data), "y", ["a*b"], 0.95, kind=kind)
    other = anova_lm(formula_ols("y ~ C(a) * C(b)", data).fit(), typ=kind)
    assert [s.name for s in made.sources] == ["a", "b", "a:b"]
    assert [s.ss for s in made.sources] == pytest.approx(other["sum_sq"].tolist()[:3])
    assert [s.f for s in made.sources] == pytest.approx(other["F"].tolist()[:3])
    assert [s.p for s in made.sources] == pytest.approx(other["PR(>F)"].tolist()[:3])
    assert made.ss_residual == pytest.approx(other["sum_sq"].iloc[-1])
    assert made.balanced == balanced and (not made.warnings) == balanced


def test_shares_of_a_balanced_design_add_up():
    made = compute_anova(table(frame(48, balanced=True)), "y", ["a*b"], 0.95)
    assert sum(s.share for s in made.sources) + made.ss_residual / made.ss_total == pytest.approx(1)


def test_without_replication_the_highest_interaction_is_the_error():
    data = frame(6, balanced=True)
    made = compute_anova(table(data), "y", ["a", "b"], 0.95)
    assert made.df_residual == 2
    with raises("no-degrees-of-freedom", DataError):
        compute_anova(table(data), "y", ["a*b"], 0.95)


def test_a_block_takes_its_effect_out():
    rng = np.random.default_rng(3)
    block = np.repeat(np.arange(8.0), 2)
    y = 20 * rng.standard_normal(8).repeat(2) + np.tile([0.0, 1.0], 8) + 0.2 * rng.standard_normal(16)
    data = build_table({"day": block.tolist(), "version": ["a", "b"] * 8, "y": y.tolist()})
    assert compute_anova(data, "y", ["version"], 0.95).sources[0].p > 0.2
    made = compute_anova(data, "y", ["version"], 0.95, block="day")
    assert [(s.name, s.block) for s in made.sources] == [("day", True), ("version", False)]
    assert made.sources[1].p < 1e-4


def covariate_frame(seed: int = 6) -> pd.DataFrame:
    """Return 150 rows of unequal cells: xfs is faster and measured at fuller disks, which cost 1.5 a point."""
    rng = np.random.default_rng(seed)
    fs, clients = rng.choice(["ext4", "xfs", "btrfs"], 150, p=[0.5, 0.3, 0.2]), rng.choice([1, 2, 4, 8], 150)
    fill = np.round(rng.normal(40, 12, 150) + 18 * (fs == "xfs"), 1)
    mb_s = 280 + 30 * (fs == "xfs") + 20 * np.log2(clients) - 1.5 * fill + rng.normal(0, 12, 150)
    return pd.DataFrame({"fs": fs, "clients": clients.astype(float), "fill": fill, "mb_s": mb_s})


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("offset", [0.0, 1.7e9])
def test_a_number_that_hardly_repeats_is_a_straight_line(kind, offset):
    data = covariate_frame()
    coded = "C(fs, Sum) + C(clients, Sum) + fill"
    other = anova_lm(formula_ols(f"mb_s ~ {coded}", data).fit(), typ=kind).drop("Intercept", errors="ignore")
    made = compute_anova(
        table(data.assign(fill=data.fill + offset)), "mb_s", ["fs", "clients", "fill"], 0.95, kind=kind
    )
    assert [source.df for source in made.sources] == [2, 3, 1]
    assert [source.ss for source in made.sources] == pytest.approx(other["sum_sq"].tolist()[:3])
    assert [source.p for source in made.sources] == pytest.approx(other["PR(>F)"].tolist()[:3])
    assert all(source.explained.low < source.share < source.explained.high for source in made.sources)
    assert codes(made.warnings)[:2] == ["linear-terms", "unbalanced-cells"]


def test_a_contrast_is_at_the_mean_of_straight_lines():
    data = covariate_frame()
    fit = formula_ols("mb_s ~ C(fs) + C(clients) + fill", data).fit()
    (contrast,) = compute_anova(
        table(data), "mb_s", ["fs", "clients", "fill"], 0.95, contrasts=["fs: xfs - btrfs"]
    ).contrasts
    assert contrast.estimate.value == pytest.approx(fit.params["C(fs)[T.xfs]"])


def test_a_block_is_levels_even_if_they_hardly_repeat():
    data = covariate_frame().assign(day=np.arange(150) // 2 * 1.0)
    data.loc[:40, "day"] = 200.0 + np.arange(41)
    made = compute_anova(table(data), "mb_s", ["fs", "clients"], 0.95, block="day")
    assert made.sources[0].df > 1 and "linear-terms" not in codes(made.warnings)


def test_shares_of_a_balanced_fraction_add_up():
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4, indexing="ij")).reshape(4, -1)
    rows = dict(zip("ABCDE", [*signs.tolist(), signs.prod(axis=0).tolist()], strict=True))
    y = 50 + 8 * signs[0] + 7 * signs[1] * signs[2] + np.random.default_rng(9).normal(0, 0.6, 16)
    made = compute_anova(build_table({**rows, "y": y.tolist()}), "y", list("ABCDE"), 0.95)
    assert sum(source.ss for source in made.sources) + made.ss_residual == pytest.approx(made.ss_total)
    assert codes(made.warnings) == ["empty-cells"]
    some = build_table({name: values[:-1] for name, values in {**rows, "y": y.tolist()}.items()})
    assert codes(compute_anova(some, "y", list("ABCDE"), 0.95).warnings) == ["unbalanced-cells", "empty-cells"]


def test_missing_combinations_are_said_and_still_analysed():
    data = frame(60, seed=4)
    data = data[~((data.a == "z") & (data.b == 1))]
    made = compute_anova(table(data), "y", ["a", "b"], 0.95)
    assert any("1 of 6 combinations" in warning for warning in made.warnings)
    other = anova_lm(formula_ols("y ~ C(a) + C(b)", data).fit(), typ=2)
    assert [s.ss for s in made.sources] == pytest.approx(other["sum_sq"].tolist()[:2])
    assert compute_anova(table(data), "y", ["a*b"], 0.95).sources[2].df == 1


def test_contrasts_of_one_factor_are_differences_of_means():
    made = compute_anova(
        table_from(CP), "real_s", ["replicas"], 0.9, contrasts=["replicas: 3 - 1", "replicas: 2 - 0.5*1 - 0.5*3"]
    )
    one, other = made.contrasts
    assert one.estimate.value == pytest.approx(211.225 - 199.1125)
    assert one.std_error == pytest.approx(made.s_e * np.sqrt(2 / 8))
    assert other.estimate.value == pytest.approx(218.2625 - (199.1125 + 211.225) / 2)


def test_contrasts_of_unbalanced_data_compare_equal_mixes():
    data = frame(60, seed=9)
    made = compute_anova(table(data), "y", ["a", "b"], 0.95, contrasts=["a: z - x"])
    fit = formula_ols("y ~ C(a) + C(b)", data).fit()
    assert made.contrasts[0].estimate.value == pytest.approx(fit.params["C(a)[T.z]"])
    assert made.contrasts[0].std_error == pytest.approx(fit.bse["C(a)[T.z]"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("b: 1", "do not add up to 0"),
        ("c: 1 - 0", "has no factor"),
        ("b: 1 - 7", "no level '7'"),
        ("nothing", "has no factor"),
    ],
)
def test_contrasts_that_are_none_are_refused(text, said):
    with pytest.raises(InputError) as refused:
        compute_anova(table(frame(24)), "y", ["a", "b"], 0.95, contrasts=[text])
    assert said in refused.value.message


@settings(max_examples=20, deadline=None)
@given(st.floats(0.01, 100), st.floats(-100, 100), st.integers(0, 1000))
def test_scaling_shifting_and_permuting_change_no_share(factor, constant, seed):
    data = frame(36, seed)
    moved = data.sample(frac=1, random_state=seed).assign(y=lambda d: d.y * factor + constant)
    one, other = (compute_anova(table(d), "y", ["a", "b"], 0.95) for d in (data, moved))
    by_name = {s.name: s for s in other.sources}
    for source in one.sources:
        assert by_name[source.name].share == pytest.approx(source.share, rel=1e-6)
        assert by_name[source.name].p == pytest.approx(source.p, rel=1e-6)


@pytest.mark.parametrize(
    ("columns", "on", "said"),
    [
        ({"a": ["x", "x"], "y": [1, 2]}, ["a"], "single level"),
        ({"a": ["x", "y", "x", "y"], "y": [1, 1, 1, 1]}, ["a"], "the same in all 4 rows"),
        ({"a": ["x", "y"], "y": [1, 2]}, ["a"], "all degrees of freedom"),
        ({"a": ["x", "y"] * 4, "b": ["u", "v"] * 4, "y": [1, 2, 3, 4, 5, 6, 7, 9]}, ["a", "b"], "cannot be separated"),
        ({"a": ["x", "y"], "y": [1, 2]}, ["y"], "both the response and a factor"),
    ],
)
def test_what_cannot_be_analysed_is_refused(columns, on, said):
    with pytest.raises((DataError, InputError)) as refused:
        compute_anova(build_table(columns), "y", on, 0.95)
    assert said in refused.value.message


def test_counts_that_are_the_same_in_every_repetition_have_no_f():
    """It was 9e30 against the last bits of the arithmetic, with p = 8e-62."""
    y = [824.1, 824.1, 1647.0, 1647.0, 842.7, 842.7, 1666.0, 1666.0]
    table = build_table({"fs": list("aaaabbbb"), "nodes": list("11221122"), "y": y})
    made = compute_anova(table, "y", ["fs*nodes"], 0.95, contrasts=["fs: a - b"])
    assert made.ss_residual == 0 and made.warnings
    assert all((one.f, one.p) == (None, None) for one in made.sources)
    assert made.contrasts[0].p is None and made.contrasts[0].estimate.low is None
    json.dumps(made.to_json(), allow_nan=False)


def test_shares_of_large_counts_that_differ_by_little_are_shares():
    """The squares of 1e15 have no digits left for them."""
    y = [1e15 + one for one in (1, 9, 40, 2, 80, 5, 30, 60)]
    made = compute_anova(
        build_table({"fs": list("aaaabbbb"), "nodes": list("11221122"), "y": y}), "y", ["fs", "nodes"], 0.95
    )
    near = compute_anova(
        build_table({"fs": list("aaaabbbb"), "nodes": list("11221122"), "y": [one - 1e15 for one in y]}),
        "y",
        ["fs", "nodes"],
        0.95,
    )
    assert made.ss_total == pytest.approx(near.ss_total) and made.ss_residual == pytest.approx(near.ss_residual)
    assert [one.p for one in made.sources] == pytest.approx([one.p for one in near.sources])


def s304_of(y, repeats: int, order=None) -> list:
    levels = [(f"a{i}", f"b{j}") for i in range(12) for j in range(2) for _ in range(repeats)]
    rows = range(len(levels)) if order is None else order
    table = build_table(
        {
            "a": [levels[row][0] for row in rows],
            "b": [levels[row][1] for row in rows],
            "y": [float(y[row]) for row in rows],
        }
    )
    return [found for found in compute_anova(table, "y", ["a*b"], 0.95).findings if found.code == "S304"]


@pytest.mark.parametrize("repeats", [2, 3, 6])
def test_residuals_of_sorted_repeats_are_no_false_alarm(repeats):
    """Those of one cell sum to 0: 88, 38 and 20 % of tables without any dependence were called dependent."""
    rng = np.random.default_rng(repeats)
    alarms = sum(bool(s304_of(rng.normal(100, 5, 24 * repeats), repeats)) for _ in range(40))
    assert alarms <= 2


@pytest.mark.parametrize(("phi", "words"), [(0.7, "alike"), (-0.7, "alternate")])
def test_residuals_that_depend_on_the_order_are_told_by_their_sign(phi, words):
    rng, errors = np.random.default_rng(1), [0.0]
    for noise in rng.normal(size=143):
        errors.append(phi * errors[-1] + noise)
    order = rng.permutation(144)
    y = np.empty(144)
    y[order] = errors  # row by row in the order of the table
    (found,) = s304_of(y, 6, order)
    assert words in found.sentence
