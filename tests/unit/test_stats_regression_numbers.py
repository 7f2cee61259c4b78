"""Every assumption of a regression by SciPy and statsmodels, and its small parts by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats as scipy_stats
from statsmodels.stats.diagnostic import het_breuschpagan
from statsmodels.stats.outliers_influence import OLSInfluence, variance_inflation_factor

from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.stats.assumptions.drift import detect_drift_in_turn
from iosonde.stats.regression import blocks, rounding, slopes
from iosonde.stats.regression.contrasts import CellMeans
from iosonde.stats.regression.formula import Term, TermFactor, parse_response
from iosonde.stats.regression.regress import regress
from iosonde.stats.regression.weighted import GroupWeight, weight_by_noise
from iosonde.stats.regression.without import select_rows
from messages import raises

X = np.repeat([1.0, 2.0, 4.0, 7.0], 4)
Z = np.tile([3.0, 1.0, 2.0, 5.0], 4)
NOISE = np.random.default_rng(5).normal(0, 1, 16).round(3)


def test_every_assumption_is_that_of_a_second_implementation():
    y = 2 + 3 * X - Z + NOISE
    table = build_table({"x": X.tolist(), "z": Z.tolist(), "y": y.tolist()})
    found = regress(table, "y", ["x", "z"], 0.95).assumptions
    design = sm.add_constant(np.column_stack([X, Z]))
    fit = sm.OLS(y, design).fit()
    influence = OLSInfluence(fit)
    shapiro = scipy_stats.shapiro(fit.resid)
    assert (found.repeats, found.design_like, found.lack_of_fit) == (False, True, None)
    assert (found.shapiro_w, found.shapiro_p) == (
        pytest.approx(shapiro.statistic, rel=1e-4),
        pytest.approx(shapiro.pvalue, rel=1e-3),
    )
    assert found.breusch_pagan_p == pytest.approx(het_breuschpagan(fit.resid, design)[1])
    assert found.largest_cook == pytest.approx(influence.cooks_distance[0].max())
    assert found.cook_limit == pytest.approx(scipy_stats.f.ppf(0.5, 3, 13))
    worst = np.abs(influence.resid_studentized_external).max()
    assert found.largest_studentized == pytest.approx(worst)
    assert found.studentized_p == pytest.approx(min(1.0, 16 * 2 * scipy_stats.t.sf(worst, 12)))
    assert found.vif == {
        name: pytest.approx(variance_inflation_factor(design, place)) for place, name in enumerate(("x", "z"), 1)
    }
    tau = scipy_stats.kendalltau(range(16), fit.resid)
    assert (found.trend_tau, found.trend_p) == (pytest.approx(tau.statistic), pytest.approx(tau.pvalue, rel=1e-6))
    quantiles = scipy_stats.norm.ppf((np.arange(16) + 0.5) / 16)
    assert found.qq_correlation == pytest.approx(np.corrcoef(quantiles, np.sort(fit.resid))[0, 1])


def test_lack_of_fit_and_unequal_variance_are_tested_on_repeats():
    y = X**2 + NOISE
    found = regress(build_table({"x": X.tolist(), "y": y.tolist()}), "y", ["x"], 0.95).assumptions
    groups = [y[x == X] for x in np.unique(X)]
    pure = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    line = sm.OLS(y, sm.add_constant(X)).fit()
    lack = line.ssr - pure
    f = (lack / 2) / (pure / 12)
    assert tuple(vars(found.lack_of_fit).values()) == pytest.approx((lack, pure, 2, 12, f, scipy_stats.f.sf(f, 2, 12)))
    levene = scipy_stats.levene(*[line.resid[x == X] for x in np.unique(X)], center="median")
    assert found.brown_forsythe_p == pytest.approx(levene.pvalue)
    assert (found.repeats, found.design_like, found.curvature_p) == (True, False, {})


@pytest.mark.parametrize(
    ("columns", "groups"),
    [
        ({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, (("a",), ("b",))),
        ({"a": [0, 0, 1, 1], "b": [5, 5, 9, 9]}, (("a", "b"),)),
        ({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 1, 2]}, (("a", "b", "c"),)),
        ({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [3, 3, 1, 1]}, (("a", "c"), ("b",))),
        ({"a": [0, 0, 1, 1], "b": [7, 7, 7, 7]}, (("a",), ("b",))),
    ],
)
def test_factors_are_in_a_block_if_a_combination_of_them_is_0(columns, groups):
    by_name = {name: np.array(values, float)[:, None] for name, values in columns.items()}
    assert blocks.group_confounded_factors(by_name, np.ones(4)) == groups


def test_nearly_confounded_factors_are_a_block_from_a_correlation_of_085_on():
    a = np.array([0.0] * 20 + [1.0] * 20)
    for moved, together in ((1, True), (2, False)):  # of 20 on either side: φ is 0.9 and 0.8
        b = a.copy()
        b[:moved], b[-moved:] = 1.0, 0.0
        groups = blocks.group_confounded_factors({"a": a[:, None], "b": b[:, None]}, np.ones(40))
        assert (len(groups) == 1) is together


def test_residuals_of_the_last_bits_are_none():
    y = np.full(4, 1e9)
    assert rounding.compute_rounding_sd(y) == pytest.approx(2e-6)
    assert rounding.zero_if_rounding(4 * 3.9e-12, y) == 0.0 and rounding.zero_if_rounding(4 * 4.1e-12, y) > 0
    assert rounding.compute_rounding_sd(np.array([1e-6, -2e-6])) == pytest.approx(4e-21)
    texts = [rounding.describe_equal_rows(x) for x in (y, np.array([1e9, 1e9 + 1e-6]), np.array([1.0, 2.0]))]
    assert texts[0] and texts[1] and texts[0] != texts[1] and texts[2] == ""


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [((1, 2), (3, 4), True), ((3, 4), (1, 2), True), ((1, 3), (3, 4), False), ((1, 9), (3, 4), False)],
)
def test_intervals_are_disjoint_if_one_ends_before_the_other(a, b, apart):
    one, other = (Estimate(0.0, *ends, 0.95, 9) for ends in (a, b))
    assert slopes.has_disjoint_intervals(one, other) is apart


def test_rows_are_selected_by_their_names_and_never_all():
    table = build_table({"y": [1.0, 2.0, 3.0]})
    first, second, third = (table.row_name(row) for row in range(3))
    assert select_rows(table, [third, first], []).tolist() == [0, 2]
    assert select_rows(table, ["influential", second], [2]).tolist() == [1, 2]
    for names, code in (
        ((second, "x"), "unknown-row"),
        (("influential",), "unknown-row"),
        ((first, second, third), "no-rows-remaining"),
    ):
        with raises(code):
            select_rows(table, names, [])


def test_a_drift_inside_levels_is_looked_for_only_in_turn_and_with_four_trials_each():
    rising = np.arange(12.0) + 100
    levels, cells, times = np.repeat([1, 0], 6), np.zeros(12, int), np.arange(12)
    drift = detect_drift_in_turn(levels, rising, cells, times, 0.95)
    assert drift.change > 0 and drift.p < 0.001 and drift.explains_effect
    assert detect_drift_in_turn(levels[::-1], rising[::-1], cells, times[::-1], 0.95) == drift
    stepped = rising + np.repeat([0, 50.0], 6) + np.tile([0.1, 0.0, 0.2], 4)
    assert not detect_drift_in_turn(levels, stepped, cells, times, 0.95).explains_effect
    assert detect_drift_in_turn(np.tile([0, 1], 6), rising, cells, times, 0.95) is None
    assert detect_drift_in_turn(np.repeat([0, 1], [9, 3]), rising, cells, times, 0.95) is None
    assert detect_drift_in_turn(np.zeros(12, int), rising, cells, times, 0.95) is None


@pytest.mark.parametrize("response", ["C(y)", "C(x)"])
def test_a_categorical_response_is_refused_by_its_name(response):
    table = build_table({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]})
    with raises("non-numeric-response", response=response):
        parse_response(response, table)
    assert parse_response("y", table).column == "y"


def build_cells(counts: list[int], pure: list[float]) -> tuple[CellMeans, np.ndarray, list[Term]]:
    """A cell for each of two levels: its model leaves nothing but the squares inside the cells."""
    values = {"c": np.array(["p", "q"], dtype=object)}
    data = CellMeans(values, np.array(counts, float), np.array([10.0, 20.0]), float(sum(pure)), sum(counts))
    return data, np.array(pure), [Term((TermFactor("c", "", ("p", "q")),))]


def test_rows_of_a_level_weigh_by_the_inverse_of_its_variance():
    """Variances 8 / 5 and 2 / 10 of 6 and 11 rows: the mean weight of a row is 1."""
    data, pure, terms = build_cells([6, 11], [8.0, 2.0])
    weighted, groups = weight_by_noise(data, pure, terms, "c")
    mean = (6 / 1.6 + 11 / 0.2) / 17
    weights = [1 / 1.6 / mean, 1 / 0.2 / mean]
    assert groups == (
        GroupWeight("p", 6, pytest.approx(1.6**0.5), pytest.approx(5), pytest.approx(weights[0])),
        GroupWeight("q", 11, pytest.approx(0.2**0.5), pytest.approx(10), pytest.approx(weights[1])),
    )
    assert weighted.counts == pytest.approx([6 * weights[0], 11 * weights[1]])
    assert weighted.pure == pytest.approx(8 * weights[0] + 2 * weights[1])
    assert (weighted.n, weighted.means.tolist()) == (17, [10.0, 20.0])


def test_noise_of_a_level_includes_what_the_model_leaves():
    """Two cells in each level and a model of the levels alone: squares inside cells, and of cells around their mean."""
    levels = np.array(["p", "p", "q", "q"], dtype=object)
    data = CellMeans({"c": levels}, np.array([3.0, 3, 4, 4]), np.array([1.0, 3, 5, 9]), 10.0, 14)
    pure = np.array([1.0, 2, 3, 4])
    _, groups = weight_by_noise(data, pure, [Term((TermFactor("c", "", ("p", "q")),))], "c")
    assert [(group.n, group.df, group.s**2) for group in groups] == [
        (6, pytest.approx(5), pytest.approx((1 + 2 + 3 + 3) / 5)),
        (8, pytest.approx(7), pytest.approx((3 + 4 + 4 * 4 + 4 * 4) / 7)),
    ]


@pytest.mark.parametrize(
    ("counts", "pure", "level", "n_rows"),
    [([5, 11], [8.0, 2.0], "p", 5), ([6, 5], [8.0, 2.0], "q", 5), ([6, 11], [8.0, 1e-12], "q", 11)],
)
def test_a_level_without_noise_or_five_degrees_of_freedom_has_no_weight(counts, pure, level, n_rows):
    data, inside, terms = build_cells(counts, pure)
    with raises("noise-not-estimable", level=level, n_rows=n_rows, block="c"):
        weight_by_noise(data, inside, terms, "c")
