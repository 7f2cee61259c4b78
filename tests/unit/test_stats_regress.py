"""Least squares against a second implementation, the published case, and what must be refused or warned of."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.diagnostic import het_breuschpagan
from statsmodels.stats.outliers_influence import OLSInfluence, variance_inflation_factor

from csv_table import table_from
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.core.types import Estimate
from iosonde.stats import checks
from iosonde.stats.regression import assumptions, ols
from iosonde.stats.regression.regress import regress
from iosonde.stats.regression.sums import regress_sums
from messages import assert_problem, raises

CP = Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv"
SUMS = {"n": 44, "sum_x": 157, "sum_x2": 747, "b0": 168.12, "b1": 20.25, "SSR": 76590.4, "SSE": 61437.46}


def cp() -> Table:
    return table_from(CP)


def codes(made) -> list[str]:
    return [finding.code for finding in made.findings]


def grid(rng: np.random.Generator, n: int = 60, noise: float = 1.0, **more) -> Table:
    a, b = rng.integers(0, 5, n).astype(float), rng.normal(size=n)
    fs = rng.choice(["nfs", "afs", "ufs"], n)
    y = 3 + 2 * a - b + np.where(fs == "nfs", 4, 0) + noise * rng.standard_normal(n)
    return build_table({"a": a.tolist(), "b": b.tolist(), "fs": fs.tolist(), "y": y.tolist(), **more})


def test_the_published_observations():
    fit = regress(cp(), "real_s", ["replicas"], 0.9).fit
    b0, b1 = fit.coefficients()
    got = (
        fit.n,
        b0.estimate,
        b1.estimate,
        fit.ssr,
        fit.sse,
        fit.r2,
        fit.adjusted_r2,
        fit.s_e,
        b0.std_error,
        b1.std_error,
        fit.f,
        fit.f_p,
    )
    assert got == pytest.approx(
        (
            24,
            197.420833,
            6.05625,
            586.850625,
            14458.362708,
            0.039006,
            -0.004676,
            25.635879,
            13.844957,
            6.40897,
            0.892958,
            0.35494,
        ),
        abs=1e-4,
    )


def test_published_sums_give_the_whole_report_with_the_right_degrees_of_freedom():
    made = regress_sums(SUMS, 0.9, at=[{"x": "9"}])
    fit = made.fit
    b0, b1 = fit.coefficients()
    got = (
        fit.df,
        fit.r2,
        fit.adjusted_r2,
        fit.mse,
        fit.s_e,
        fit.f,
        fit.f_critical,
        b0.std_error,
        b1.std_error,
        b0.low,
        b0.high,
        b1.low,
        b1.high,
        fit.mean_y,
    )
    assert got == pytest.approx(
        (
            42,
            0.554891,
            0.544293,
            1462.796667,
            38.246525,
            52.358883,
            2.828964,
            11.530358,
            2.798394,
            148.726487,
            187.513513,
            15.543235,
            24.956765,
            240.375682,
        ),
        abs=1e-3,
    )
    assert fit.f_p == pytest.approx(6.69611e-09, rel=1e-3)
    (point,) = made.points
    p = point.prediction
    assert (p.fit, p.std_error_new, p.low, p.high) == pytest.approx(
        (350.37, 41.558311, 280.470901, 420.269099), abs=1e-3
    )
    assert point.extrapolated is None and any("x_min" in warning for warning in made.warnings)
    assert regress_sums(SUMS | {"x_min": 1, "x_max": 8}, 0.9, at=[{"x": "9"}]).points[0].extrapolated is True


@pytest.mark.parametrize("change", [{"n": None}, {"sum_x2": 1}, {"SSE": -1}, {"b0": "x"}, {"n": 2}, {"n": True}])
def test_sums_that_cannot_be_are_refused(change):
    with pytest.raises(InputError):
        regress_sums({key: value for key, value in (SUMS | change).items() if value is not None}, 0.9)


def test_sums_that_contradict_each_other_are_said_to():
    assert any("inconsistent" in warning for warning in regress_sums(SUMS | {"SSR": 9e4}, 0.9).warnings)


def test_lack_of_fit_is_parted_from_pure_error():
    found = regress(cp(), "real_s", ["replicas"], 0.9).assumptions.lack_of_fit
    assert (found.ss_lack_of_fit, found.ss_pure_error, found.f, found.p) == pytest.approx(
        (914.380208, 13543.9825, 1.41775, 0.24706), abs=1e-4
    )


def test_residual_diagnostics_of_the_published_observations():
    made = regress(cp(), "real_s", ["replicas"], 0.9)
    residuals = made.fit.residuals
    quantiles, _ = assumptions.compute_qq_points(residuals)
    got = (
        residuals.sum(),
        residuals.min(),
        residuals.max(),
        made.assumptions.qq_correlation,
        made.assumptions.shapiro_w,
    )
    assert got == pytest.approx((0.0, -40.933333, 65.666667, 0.97132, 0.945797), abs=1e-3)
    # The publication's approximation of the first and last quantile, -2.039881 and 2.039881, is 0.003 away.
    assert quantiles[[0, -1]].tolist() == pytest.approx([-2.036834, 2.036834], abs=1e-5)


def test_means_of_repeats_give_the_slope_and_a_false_r2_and_are_warned_of():
    table = cp()
    means = [float(np.mean(table.numbers("real_s")[rows])) for _, rows in table.groups(["replicas"])]
    made = regress(build_table({"replicas": [1, 2, 3], "real_s": means}), "real_s", ["replicas"], 0.9)
    assert (made.fit.beta[1], made.fit.r2) == pytest.approx((6.05625, 0.390913), abs=1e-5)
    assert "S309" in codes(made)
    assert "S309" not in codes(regress(table, "real_s", ["replicas"], 0.9))


def test_r2_by_its_definitions():
    assert ols.compute_adjusted_r2(0.8, 50, 9) == pytest.approx(0.755)
    assert ols.compute_prediction_r2([10, 20, 30, 40], [12, 18, 33, 44]) == pytest.approx(0.934)
    assert ols.compute_prediction_r2([10, 20, 30, 40], [40, 30, 20, 10]) == pytest.approx(-3.0)


def dummies(table: Table) -> np.ndarray:
    fs = table.column("fs")
    levels = fs.codes()[1]
    return np.column_stack([np.array([cell == level for cell in fs.values], float) for level in levels[1:]])


@pytest.mark.parametrize("robust", [False, True])
def test_agrees_with_statsmodels(robust):
    table = grid(np.random.default_rng(1))
    made = regress(table, "y", ["a", "b", "fs", "a:b"], 0.9, robust=robust, at=[{"a": "2", "b": "0.5", "fs": "nfs"}])
    a, b, y = (table.numbers(name) for name in "aby")
    x = sm.add_constant(np.column_stack([a, b, dummies(table), a * b]))
    other = sm.OLS(y, x).fit(cov_type="HC3", use_t=True) if robust else sm.OLS(y, x).fit()
    assert made.fit.beta == pytest.approx(other.params)
    assert [c.std_error for c in made.fit.coefficients()] == pytest.approx(other.bse)
    assert [c.p for c in made.fit.coefficients()] == pytest.approx(other.pvalues)
    assert [(c.low, c.high) for c in made.fit.coefficients()] == [pytest.approx(row) for row in other.conf_int(0.1)]
    assert (made.fit.r2, made.fit.adjusted_r2) == pytest.approx((other.rsquared, other.rsquared_adj))
    assert (made.fit.f, made.fit.f_p) == pytest.approx((float(other.fvalue), float(other.f_pvalue)))
    if not robust:
        point = np.array([[1, 2, 0.5, *[float(n == "fs[nfs]") for n in made.fit.names[3:5]], 1.0]])
        frame = other.get_prediction(point).summary_frame(0.1)
        p = made.points[0].prediction
        assert (p.fit, p.mean_low, p.mean_high, p.low, p.high) == pytest.approx(
            tuple(frame[name][0] for name in ("mean", "mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper"))
        )


def test_diagnostics_agree_with_statsmodels():
    table = grid(np.random.default_rng(2))
    made = regress(table, "y", ["a", "b"], 0.95)
    x = sm.add_constant(np.column_stack([table.numbers("a"), table.numbers("b")]))
    other = sm.OLS(table.numbers("y"), x).fit()
    influence = OLSInfluence(other)
    cook, studentized = assumptions._compute_influence(made.fit)
    assert cook == pytest.approx(influence.cooks_distance[0])
    assert studentized == pytest.approx(influence.resid_studentized_external)
    assert made.assumptions.breusch_pagan_p == pytest.approx(het_breuschpagan(other.resid, x)[1])
    assert made.assumptions.vif["a"] == pytest.approx(variance_inflation_factor(x, 1))
    assert made.fit.leverage == pytest.approx(influence.hat_matrix_diag)


def test_hard_numbers_keep_their_digits():
    # Longley's data (1967), the classic of near collinearity; certified values of NIST StRD.
    data = sm.datasets.longley.load_pandas().data
    columns = {name: data[name].tolist() for name in data.columns}
    made = regress(build_table(columns), "TOTEMP", ["GNPDEFL", "GNP", "UNEMP", "ARMED", "POP", "YEAR"], 0.95)
    assert made.fit.beta[0] == pytest.approx(-3482258.63459582, rel=1e-7)
    assert made.fit.beta[6] == pytest.approx(1829.15146461355, rel=1e-8)
    assert made.fit.coefficients()[1].std_error == pytest.approx(84.9149257747669, rel=1e-7)


def test_transforms_levels_and_interactions_are_named_as_written():
    rng = np.random.default_rng(3)
    table = grid(rng)
    made = regress(table, "y", ["sqrt(a)", "b", "fs", "fs:b"], 0.95)
    fs = table.column("fs").codes()[1]
    assert made.fit.names == (
        "intercept",
        "sqrt(a)",
        "b",
        f"fs[{fs[1]}]",
        f"fs[{fs[2]}]",
        f"fs[{fs[1]}]:b",
        f"fs[{fs[2]}]:b",
    )
    by_levels = regress(table, "y", ["C(a)"], 0.95)
    assert by_levels.fit.k == 4


def test_the_response_may_be_transformed():
    x = np.arange(1.0, 21)
    table = build_table({"x": x.tolist(), "y": (3 * x**2 * np.exp(0.01 * np.sin(x))).tolist()})
    assert regress(table, "log(y)", ["log(x)"], 0.95).fit.beta[1] == pytest.approx(2, abs=0.01)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 100), st.floats(-1000, 1000), st.integers(0, 2**31))
def test_scaling_shifting_and_permuting(factor, constant, seed):
    rng = np.random.default_rng(seed)
    table = grid(rng, 30)
    order = rng.permutation(30)
    y = (table.numbers("y") * factor + constant)[order]
    moved = build_table(
        {"a": table.numbers("a")[order].tolist(), "b": table.numbers("b")[order].tolist(), "y": y.tolist()}
    )
    one, other = regress(table, "y", ["a", "b"], 0.95).fit, regress(moved, "y", ["a", "b"], 0.95).fit
    assert other.beta[1:] == pytest.approx(one.beta[1:] * factor, rel=1e-6)
    assert (other.r2, other.f) == pytest.approx((one.r2, one.f), rel=1e-6)


@pytest.mark.parametrize(
    ("columns", "on", "said"),
    [
        ({"x": [1, 2, 3, 4], "y": [5, 5, 5, 5]}, ["x"], "the same in all 4 rows"),
        ({"x": [1, 1, 1, 1], "y": [1, 2, 3, 4]}, ["x"], "'x' is the same in every row"),
        ({"x": ["a", "a", "a"], "y": [1, 2, 3]}, ["x"], "single level"),
        (
            {"x": [1, 2, 3, 4, 5], "z": [2, 4, 6, 8, 10], "w": [1, 0, 2, 5, 1], "y": [1, 3, 2, 5, 4]},
            ["x", "w", "z"],
            "the predictors x, z are linearly dependent",
        ),
        ({"x": [1, 2], "y": [1, 2]}, ["x"], "2 rows are too few for 2 parameters"),
        ({"x": [1, 2, 3], "y": [None, None, None]}, ["x"], "no row with all"),
        ({"x": [0, 1, 2], "y": [1, 2, 3]}, ["log(x)"], "log(x) is undefined for 0"),
        ({"x": ["1", "2", "3o", "4"], "y": [1, 2, 3, 4]}, ["x"], "row 3, column 'x': '3o' is not a number"),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, ["exp(x)"], "unknown transform 'exp'"),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, ["x", "x"], "duplicate predictor"),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, ["y"], "both the response and a predictor"),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, [], "no predictor"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_sentence(columns, on, said):
    with pytest.raises((DataError, InputError)) as refused:
        regress(build_table(columns), "y", on, 0.95)
    assert said in refused.value.message and refused.value.hint


def test_rows_with_missing_values_are_counted():
    made = regress(build_table({"x": [1, 2, None, 4, 5], "y": [1, 2, 3, None, 5.5]}), "y", ["x"], 0.95)
    (warning,) = made.warnings
    assert made.fit.n == 3
    assert_problem(warning, "missing-values", n_missing=2, n_rows=5)


@pytest.mark.parametrize(
    ("at", "extrapolated"),
    [({"a": "2", "b": "0"}, False), ({"a": "9", "b": "0"}, True), ({"a": "4", "b": "-1.9"}, None)],
)
def test_extrapolation_is_flagged(at, extrapolated):
    rng = np.random.default_rng(5)
    a = np.repeat(np.arange(5.0), 10)
    table = build_table(
        {"a": a.tolist(), "b": (a - 2 + 0.1 * rng.standard_normal(50)).tolist(), "y": rng.normal(size=50).tolist()}
    )
    made = regress(table, "y", ["a", "b"], 0.95, at=[at])
    # The third point is inside both ranges and outside their cloud.
    assert made.points[0].extrapolated == (True if extrapolated is None else extrapolated)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({"a": "1"}, "lacks b"),
        ({"a": "x", "b": "1"}, "a=x is not a number"),
        ({"a": "1", "b": "1", "c": "1"}, "c, which is not a predictor"),
    ],
)
def test_points_must_name_the_predictors(at, said):
    with pytest.raises(InputError) as refused:
        regress(grid(np.random.default_rng(1)), "y", ["a", "b"], 0.95, at=[at])
    assert said in refused.value.message


def spoiled(kind: str) -> Table:
    rng = np.random.default_rng(4)
    x = np.tile(np.arange(1.0, 11), 8)
    noise = rng.standard_normal(80)
    y = {
        "bend": (x - 5) ** 2 + noise,
        "fan": 5 * x + x**1.5 * noise,
        "skew": 5 * x + np.exp(1.5 * noise),
        "order": 5 * x + np.cumsum(noise),
        "point": 5 * x + noise + np.where(np.arange(80) == 7, 30, 0),
        "weak": 0.3 * x + 3 * noise,
        "clean": 5 * x + noise,
    }[kind]
    return build_table({"x": x.tolist(), "z": (2 * x + 0.01 * noise).tolist(), "y": y.tolist()})


@pytest.mark.parametrize(
    ("kind", "code"),
    [("bend", "S301"), ("skew", "S302"), ("fan", "S303"), ("order", "S304"), ("point", "S305"), ("weak", "S307")],
)
def test_each_broken_assumption_is_found(kind, code):
    assert code in codes(regress(spoiled(kind), "y", ["x"], 0.95))
    assert codes(regress(spoiled("clean"), "y", ["x"], 0.95)) == []


def test_predictors_that_go_together_are_found():
    assert "S306" in codes(regress(spoiled("clean"), "y", ["x", "z"], 0.95))


def test_a_line_through_two_values_is_said():
    table = build_table({"x": [2.0, 2, 2, 8, 8, 8], "y": [1.0, 1.2, 0.9, 5, 5.1, 4.8]})
    assert "S310" in codes(regress(table, "y", ["x"], 0.95))


def test_robust_errors_silence_unequal_variance():
    assert "S303" not in codes(regress(spoiled("fan"), "y", ["x"], 0.95, robust=True))


@pytest.mark.slow
@pytest.mark.long
def test_findings_about_clean_data_are_rare():
    rng = np.random.default_rng(21)
    alarms = dict.fromkeys(checks.list_check_modules(), 0)
    for _ in range(300):
        x = np.tile(np.arange(1.0, 7), 6)
        made = regress(
            build_table({"x": x.tolist(), "y": (5 * x + rng.standard_normal(36)).tolist()}), "y", ["x"], 0.95
        )
        for code in codes(made):
            alarms[code] += 1
    assert max(alarms.values()) <= 300 * 0.03


def test_the_ratio_of_two_fitted_points_has_the_interval_in_which_their_difference_holds_0():
    """By another road: ρ is in Fieller's interval where t of (a − ρb)'β is below the critical one."""
    rng = np.random.default_rng(3)
    x = np.repeat([1.0, 2.0, 3.0], 6)
    model = ols.fit_ols(x[:, None], 100 + 40 * x + rng.normal(0, 20, x.size), ["x"], 0.9)
    a, b = np.array([1.0, 3.0]), np.array([1.0, 1.0])
    found = ols.estimate_response_ratio(model, a, b)
    critical = scipy.stats.t.ppf(0.95, model.df)
    for end in (found.low, found.high):
        row = a - end * b
        assert abs(row @ model.beta) / np.sqrt(row @ model.covariance @ row) == pytest.approx(critical)
    assert found.low < found.value < found.high and found.value == pytest.approx(a @ model.beta / (b @ model.beta))
    assert ols.estimate_response_ratio(model, b, b) == Estimate(1.0, 1.0, 1.0, 0.9, x.size)


def test_a_ratio_to_what_may_be_0_has_no_interval():
    x = np.arange(8.0)
    model = ols.fit_ols(x[:, None], x - 0.1 + 0.9 * (-1) ** np.arange(8), ["x"], 0.95)
    found = ols.estimate_response_ratio(model, np.array([1.0, 7.0]), np.array([1.0, 0.0]))
    assert found.low is None and found.high is None
    assert_problem(found.warnings[0], "denominator-near-zero")


def test_the_ratio_covers_what_it_says():
    rng, x, hits = np.random.default_rng(11), np.repeat([1.0, 2.0, 4.0], 4), 0
    for _ in range(400):
        model = ols.fit_ols(x[:, None], 50 + 10 * x + rng.normal(0, 15, x.size), ["x"], 0.9)
        found = ols.estimate_response_ratio(model, np.array([1.0, 4.0]), np.array([1.0, 1.0]))
        hits += found.low is not None and found.low <= 90 / 60 <= found.high
    assert 0.86 <= hits / 400 <= 0.94


def test_f_is_judged_at_several_levels():
    x = np.array([1.0, 1, 2, 2, 3, 3])
    model = ols.fit_ols(x[:, None], np.array([1.0, 1.9, 2.1, 3.1, 2.6, 3.9]), ["x"], 0.95)
    told = model.by_level()
    assert told == {level: model.f_p < 1 - level for level in (0.9, 0.95, 0.99)} and len(set(told.values())) == 2


def test_counts_that_are_the_same_in_every_repetition_leave_nothing_to_hold_a_line_against():
    """F = inf, p = 0; and of a group that is another's twin 1e-15 with an error of 0."""
    table = build_table({"fs": list("aabbcc"), "y": [1e15, 1e15, 1.0183e15, 1.0183e15, 1e15, 1e15]})
    made = regress(table, "y", ["fs"], 0.95)
    assert made.fit.f is None and made.fit.f_p is None and made.warnings and not made.fit.by_level()
    intercept, b, c = made.fit.coefficients()
    assert (b.t, b.p) == (None, None) and b.estimate == pytest.approx(1.83e13) and c.estimate == 0
    assert np.isfinite([intercept.low, intercept.high]).all()
    json.dumps(made.to_json(), allow_nan=False)


def test_a_line_that_misses_repeats_which_are_all_the_same_is_not_straight():
    made = regress(build_table({"x": [1.0, 1, 2, 2, 3, 3], "y": [1.1, 1.1, 5.3, 5.3, 2.7, 2.7]}), "y", ["x"], 0.95)
    assert made.assumptions.lack_of_fit.p is None
    assert "S301" in [one.code for one in made.findings]


@pytest.mark.parametrize("y", [[7.0, 7.0 + 1e-15, 7.0, 7.0], [0.1 * 3, 0.3, 0.3, 0.3]])
def test_a_response_that_differs_by_rounding_alone_explains_nothing(y):
    with raises("constant-response", DataError, variation="differs by no more than rounding", n_rows=4):
        regress(build_table({"x": [1.0, 1, 2, 2], "y": y}), "y", ["x"], 0.95)


# Anscombe, The American Statistician 27, 1973

ANSCOMBE_X = [10.0, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
ANSCOMBE_2 = [9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74]
ANSCOMBE_4 = [6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89]


def test_a_parabola_without_repeats_is_named_as_a_bend():
    made = regress(build_table({"x": ANSCOMBE_X, "y": ANSCOMBE_2}), "y", ["x"], 0.95)
    (found,) = [one for one in made.findings if one.code == "S301"]
    design = np.column_stack([np.ones(11), ANSCOMBE_X, np.square(ANSCOMBE_X)])
    assert found.evidence["curvature_p"]["x"] == pytest.approx(sm.OLS(ANSCOMBE_2, design).fit().pvalues[2], rel=1e-3)


def test_bends_are_rarely_seen_in_noise():
    rng, seen = np.random.default_rng(3), 0
    for _ in range(200):
        x = rng.uniform(0, 1, 15)
        made = regress(build_table({"x": x.tolist(), "y": (x + rng.standard_normal(15)).tolist()}), "y", ["x"], 0.95)
        seen += "S301" in codes(made)
    assert seen <= 8


def test_a_slope_that_rests_on_one_row_is_named_with_the_row():
    table = build_table({"x": [8.0] * 7 + [19.0] + [8.0] * 3, "y": ANSCOMBE_4})
    made = regress(table, "y", ["x"], 0.95)
    (found,) = [one for one in made.findings if one.code == "S305"]
    assert (
        found.evidence["terms"] == ["x"]
        and made.find_deciding_row("x") == table.place(7)
        and not made.find_deciding_row("z")
    )


def test_only_the_coefficients_of_the_row_rest_on_it():
    levels = ["a", "b"] * 5 + ["c"]
    table = build_table({"fs": levels, "y": np.random.default_rng(1).normal(10, 1, 11).tolist()})
    made = regress(table, "y", ["fs"], 0.95)
    assert made.find_deciding_row("fs[c]") and not made.find_deciding_row("fs[b]")


def crossed() -> Table:
    rng = np.random.default_rng(5)
    rows = [(fs, net, x) for fs in "ab" for net in "uvw" for x in (1.0, 2.0, 3.0, 4.0)]
    fs, net, x = (list(column) for column in zip(*rows, strict=True))
    means = [(fs == "b") * (2 + "uvw".index(net)) + x for fs, net, x in rows]
    return build_table({"fs": fs, "net": net, "x": x, "y": (np.array(means) + rng.normal(size=24)).tolist()})


@pytest.mark.parametrize("on", [["fs*net"], ["fs", "net", "fs:net"], ["fs", "fs*net"], ["fs:net"]])
def test_a_product_has_its_main_effects_and_an_interaction_of_levels_too(on):
    table = crossed()
    made = regress(table, "y", on, 0.95)
    cells = [np.mean(table.numbers("y")[at]) for _, at in table.groups(["fs", "net"])]
    fitted = made.model.fit.x @ [coefficient.estimate for coefficient in made.fit.coefficients()]
    assert sorted(set(np.round(fitted, 9))) == pytest.approx(sorted(cells))
    assert [getattr(warning, "code", "") for warning in made.warnings] == ["main-effects-added"] * (on == ["fs:net"])


def test_a_product_of_numbers_is_what_it_says():
    rng = np.random.default_rng(6)
    table = build_table({name: rng.uniform(1, 2, 20).tolist() for name in ("x", "z", "y")})
    made = regress(table, "y", ["x:z"], 0.95)
    assert made.terms == ("x:z",) and made.warnings == ()
