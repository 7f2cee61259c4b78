"""The data of diagnostic plots by a second computation, and slopes with other terms held."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats as scipy_stats

from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.stats.regression import held, slopes
from iosonde.stats.regression.formula import TermFactor
from iosonde.stats.regression.model_plots import build_plot_data
from iosonde.stats.regression.regress import Regression, regress

X = [1.0, 2.0, 4.0, 8.0, 2.0, 4.0]
Y = [3.0, 5.0, 6.0, 9.5, 4.5, 6.5]
SIDE = ["a", "b", "a", "b", "b", "a"]
TABLE = build_table({"x": X, "side": SIDE, "y": Y})


def plot_data(on: list[str], most: int = 99) -> dict:
    return build_plot_data(regress(TABLE, "y", on, 0.9).model, "y", most)


def test_every_number_of_the_plots_of_a_line():
    made = plot_data(["log2(x)"])
    line = sm.OLS(Y, sm.add_constant(np.log2(X))).fit()
    assert (made["response"], made["level"], made["x_name"]) == ("y", 0.9, "x")
    assert (made["r2"], made["f_p"]) == (pytest.approx(line.rsquared), pytest.approx(line.f_pvalue))
    assert made["predicted"] == pytest.approx(line.fittedvalues)
    assert made["residuals"] == pytest.approx(line.resid)
    assert made["ordered_residuals"] == pytest.approx(np.sort(line.resid))
    assert made["quantiles"] == pytest.approx(scipy_stats.norm.ppf((np.arange(6) + 0.5) / 6))
    assert (made["x"].tolist(), made["y"].tolist(), made["order"].tolist()) == (X, Y, [1, 2, 3, 4, 5, 6])
    at = np.linspace(1, 8, 100)
    assert made["line_x"] == pytest.approx(at)
    frame = line.get_prediction(sm.add_constant(np.log2(at))).summary_frame(alpha=0.1)
    for name, theirs in (
        ("line", "mean"),
        ("mean_low", "mean_ci_lower"),
        ("mean_high", "mean_ci_upper"),
        ("low", "obs_ci_lower"),
        ("high", "obs_ci_upper"),
    ):
        assert made[name] == pytest.approx(frame[theirs].to_numpy()), name


@pytest.mark.parametrize("on", [["x", "side"], ["side"]])
def test_without_a_single_numeric_predictor_values_are_over_their_prediction(on):
    made = plot_data(on)
    predicted = made["predicted"]
    assert made["x_name"] == "predicted" and made["x"] == pytest.approx(predicted)
    ends = [predicted.min(), predicted.max()]
    assert made["line_x"].tolist() == made["line"].tolist() == pytest.approx(ends)
    names = ("mean_low", "mean_high", "low", "high")
    assert [made[name] for name in names] == [None] * 4


def test_many_points_are_thinned_evenly_with_both_ends():
    whole, made = plot_data(["x"]), plot_data(["x"], 3)
    assert made["order"].tolist() == [1, 3, 6]
    for name in ("x", "y", "predicted", "residuals", "quantiles", "ordered_residuals"):
        assert made[name].tolist() == whole[name][[0, 2, 5]].tolist()


def test_a_slope_with_other_terms_held_is_that_of_the_whole_model():
    made = slopes.estimate_adjusted_slopes(TABLE, "y", ["x", "side"], 0.9)
    design = sm.add_constant(np.column_stack([X, [float(side == "b") for side in SIDE]]))
    fit = sm.OLS(Y, design).fit()
    low, high = fit.conf_int(0.1)[1]
    slope = Estimate(pytest.approx(fit.params[1]), pytest.approx(low), pytest.approx(high), 0.9, 6)
    assert made == {"x": slopes.AdjustedSlope(slope, ("side",))}
    assert slopes.estimate_adjusted_slopes(TABLE, "y", ["x"], 0.9) == {}
    assert slopes.estimate_adjusted_slopes(TABLE, "y", ["x", "log2(x)", "side", "x:side"], 0.9) == {}
    assert slopes.estimate_adjusted_slopes(TABLE, "y", ["x", "unknown"], 0.9) == {}


@pytest.mark.parametrize(
    ("factor", "in_bytes", "step"),
    [
        (TermFactor("size"), True, (2.0**20, "per MiB of block size")),
        (TermFactor("size"), False, (1.0, "per unit of size")),
        (TermFactor("size", "log2"), True, (1.0, "per doubling")),
        (TermFactor("size", "log10"), False, (1.0, "per factor of ten")),
        (TermFactor("size", "sqrt"), False, (1.0, "per unit of sqrt(size)")),
    ],
)
def test_the_step_of_a_slope_suits_its_unit_and_transform(factor, in_bytes, step):
    assert slopes.choose_slope_step(factor, "block size", 4 * 2.0**20, in_bytes) == step


def adjusted(columns: dict, besides: list[str], on: tuple[str, ...] = ("x",)) -> tuple[held.AdjustedTerm, ...]:
    table = build_table(columns)
    return held.adjust_terms_for_columns(regress(table, "y", list(on), 0.95).model, table, besides)


NOISE = np.random.default_rng(3).normal(0, 1, 24)
SLOW = np.tile([1.0, 2.0, 3.0, 4.0], 6)
GROUP = np.repeat(["p", "q", "r"], 8)


def f_test(design: np.ndarray, y: np.ndarray, own: list[int]) -> float:
    """P of the F test of some columns after all others."""
    return float(sm.OLS(y, design).fit().f_test(np.eye(design.shape[1])[own]).pvalue)


def test_a_term_is_tested_without_and_with_further_columns_held():
    x = SLOW + 2.0 * np.repeat([0, 1, 2], 8)
    y = 0.5 * x - 9 * np.repeat([0, 1, 2], 8) + NOISE
    (term,) = adjusted({"x": x.tolist(), "group": GROUP.tolist(), "y": y.tolist()}, ["group"])
    alone = sm.add_constant(x)
    both = np.column_stack([alone, GROUP == "q", GROUP == "r"]).astype(float)
    assert (term.name, term.columns, term.aliased, term.turns) == ("x", ("x",), False, True)
    assert term.p == pytest.approx(f_test(alone, y, [1]))
    assert term.p_adjusted == pytest.approx(f_test(both, y, [1]))
    slope, slope_held = sm.OLS(y, alone).fit().params[1], sm.OLS(y, both).fit().params[1]
    assert slope < 0 < slope_held and term.share == pytest.approx(slope_held / slope)
    assert term.p_same == pytest.approx(f_test(both, y - slope * x, [1]))


def test_each_term_is_adjusted_by_its_own_columns():
    side = np.tile(["a", "b", "c", "a", "b", "c"], 4)
    y = SLOW + 3.0 * (side == "b") + NOISE
    columns = {"x": SLOW.tolist(), "side": side.tolist(), "group": GROUP.tolist(), "y": y.tolist()}
    first, second = adjusted(columns, ["group"], ("x", "side"))
    design = np.column_stack([np.ones(24), SLOW, side == "b", side == "c"]).astype(float)
    whole = np.column_stack([design, GROUP == "q", GROUP == "r"]).astype(float)
    assert [(term.name, term.columns) for term in (first, second)] == [("x", ("x",)), ("side", ("side[b]", "side[c]"))]
    for term, own in ((first, [1]), (second, [2, 3])):
        assert term.p == pytest.approx(f_test(design, y, own))
        assert term.p_adjusted == pytest.approx(f_test(whole, y, own))
        assert not term.turns and term.share > 0


def test_a_column_that_says_the_same_as_a_term_aliases_it():
    y = SLOW + NOISE
    columns = {"x": SLOW.tolist(), "y": y.tolist(), "twice": (2 * SLOW).tolist(), "row": [f"r{i}" for i in range(24)]}
    (term,) = adjusted(columns, ["twice"])
    assert (term.p_adjusted, term.aliased, term.share, term.p_same) == (None, True, 1.0, None)
    assert term.p == pytest.approx(f_test(sm.add_constant(SLOW), y, [1]))
    assert adjusted(columns, ["row"]) == adjusted(columns, []) == ()


@pytest.mark.parametrize(
    ("cells", "shape"),
    [
        ([1.0, 2.0] * 13, (26, 1)),
        (list(map(float, range(12))) * 3, (36, 11)),
        (list(map(float, range(13))) * 2, (26, 1)),
        ([None, *map(float, range(13))] * 2, None),
        ([f"t{i}" for i in range(12)] * 2, (24, 11)),
        ([f"t{i}" for i in range(13)] * 2, None),
        ([f"t{i}" for i in range(13)] * 4, (52, 12)),
        (["a"] * 9, None),
    ],
)
def test_a_column_is_held_as_levels_or_as_a_number(cells, shape):
    made = held._encode_column(build_table({"c": cells}).column("c"))
    assert (None if made is None else made.shape) == shape
    if made is not None and len(set(cells)) == 13 and isinstance(cells[0], float):
        assert made[:, 0].tolist() == cells


def line(y: list[float], x: list[float]) -> Regression:
    return regress(build_table({"x": x, "y": y}), "y", ["x"], 0.95)


def test_a_slope_is_described_with_its_interval_and_its_straightness():
    made = line([10.0, 12, 20, 22.5, 31, 29], [1, 1, 2, 2, 3, 3])
    slope = made.fit.coefficients()[1]
    low, value, high = (format_significant(x / 2) for x in (slope.low, slope.estimate, slope.high))
    p = made.assumptions.lack_of_fit.p
    expected = [f"{value} ({low} to {high}) MiB/s per node", f"no curvature detected (p={p:.2g})"]
    assert slopes.describe_slope(made, "per node", 2.0, "MiB/s") == expected
    assert slopes.describe_slope(made, "per node", 2.0, "")[0] == f"{value} ({low} to {high}) per node"
    flat = slopes.describe_slope(line([10.0, 12, 12, 10, 10, 13], [1, 1, 2, 2, 3, 3]), "per node", 1.0, "s")
    assert flat[1].startswith("may be flat; no curvature")


def test_straightness_takes_three_levels_and_repeats():
    bent = line([10.0, 11, 30, 31, 10.5, 11], [1, 1, 2, 2, 3, 3])
    p = bent.assumptions.lack_of_fit.p
    two = line([1.0, 2, 3, 4.5], [1, 1, 2, 2])
    none = line([1.0, 2, 4, 4.5], [1, 2, 3, 4])
    exact = line([1.0, 1, 9, 9, 2, 2], [1, 1, 2, 2, 3, 3])
    expected = [
        f"not straight (p={p:.2g})",
        "linearity not testable with two levels",
        "linearity not testable without repeats",
        "not straight",
    ]
    assert [slopes._describe_straightness(each) for each in (bent, two, none, exact)] == expected


def test_levels_differ_by_the_f_test():
    apart, alike = line([1.0, 2, 8, 9], [1, 1, 2, 2]), line([1.0, 2, 1.5, 2.5], [1, 1, 2, 2])
    expected = [[f"the levels differ (p={apart.fit.f_p:.2g})"], [f"no significant difference (p={alike.fit.f_p:.2g})"]]
    assert [slopes.describe_levels(apart), slopes.describe_levels(alike)] == expected
    assert slopes.describe_levels(line([1.0, 1, 2, 2], [1, 1, 2, 2])) == []


def test_an_adjusted_slope_names_what_is_held_and_warns_if_it_differs():
    alone, held_slope = Estimate(6.0, 5.0, 7.0, 0.95, 9), Estimate(4.0, 2.0, 4.5, 0.95, 9)

    def describe(others: tuple[str, ...], unit: str = "s", alone: Estimate = alone) -> list[str]:
        return slopes.describe_adjusted_slope(alone, slopes.AdjustedSlope(held_slope, others), 2.0, unit)

    assert describe(("a", "b"))[0] == "2.00 (1.00 to 2.25) s with a, b held" and len(describe(("a",))) == 2
    assert describe(("a", "b", "c"), "")[0] == "2.00 (1.00 to 2.25) with 3 other factors held"
    assert len(describe(("a",), alone=Estimate(6.0, 4.5, 7.0, 0.95, 9))) == 1
