"""Each number of an analysis of variance and of a regression by statsmodels, and the parts of their terms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats as scipy_stats
from statsmodels.formula.api import ols as formula_ols
from statsmodels.stats.anova import anova_lm

from iosonde.core.errors import InputError
from iosonde.core.table import build_table
from iosonde.stats.regression import anova, contrasts, formula, ols
from iosonde.stats.regression.anova import compute_anova
from iosonde.stats.regression.formula import Term, TermFactor
from iosonde.stats.regression.regress import fit_table, regress
from iosonde.stats.regression.sums import regress_sums
from iosonde.stats.regression.weighted import Block
from messages import assert_problem, codes, raises

RNG = np.random.default_rng(12)
A = list("xxxxyyyyzzzzxyz")
B = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 2]
Y = [round(10 + 3 * (a == "y") + 2 * b * (a != "z") + e, 3) for a, b, e in zip(A, B, RNG.normal(0, 1, 15), strict=True)]
DATA = pd.DataFrame({"a": A, "b": B, "y": Y})


def table(**more: Any):
    return build_table({"a": A, "b": B, "y": Y} | more)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_every_number_of_an_unbalanced_table_is_that_of_statsmodels(kind):
    coded = "C(a, Sum) * C(b, Sum)" if kind == 3 else "C(a) * C(b)"
    fit = formula_ols(f"y ~ {coded}", DATA).fit()
    theirs = anova_lm(fit, typ=kind).drop("Intercept", errors="ignore")
    made = compute_anova(table(), "y", ["a*b"], 0.9, kind=kind)
    document = made.to_json()
    total = float(((np.array(Y) - np.mean(Y)) ** 2).sum())
    for term, (_, row) in zip(document["terms"], theirs.iterrows(), strict=False):
        assert term == {
            "name": term["name"],
            "ss": pytest.approx(row["sum_sq"]),
            "df": row["df"],
            "share": pytest.approx(row["sum_sq"] / total),
            "share_low": term["share_low"],
            "share_high": term["share_high"],
            "f": pytest.approx(row["F"]),
            "f_critical": pytest.approx(scipy_stats.f.ppf(0.9, row["df"], 9)),
            "p": pytest.approx(row["PR(>F)"]),
            "block": False,
            "df_error": 9,
            "stratum": 0,
        }
    assert [term["name"] for term in document["terms"]] == ["a", "b", "a:b"]
    ssr = float(fit.ssr)
    assert document["residual"] == pytest.approx({"ss": ssr, "df": 9, "share": ssr / total, "ms": ssr / 9})
    assert document["total"] == {"ss": pytest.approx(total), "df": 14}
    rest = {"response": "y", "level": 0.9, "n": 15, "balanced": False, "ss_type": kind, "strata": [], "weights": []}
    assert document.items() >= rest.items()
    assert document["s_e"] == pytest.approx(math.sqrt(ssr / 9)) and document["contrasts"] == []
    assert codes(made.warnings) == ["unbalanced-cells"]
    assert_problem(made.warnings[0], "unbalanced-cells", type="I" * kind)


def test_missing_values_and_combinations_are_counted():
    y = [*Y[:-1], float("nan")]
    made = compute_anova(
        table(y=y, a=["x"] + ["y" if a == "x" and b == 2 else a for a, b in zip(A, B, strict=True)][1:]),
        "y",
        ["a", "b"],
        0.95,
    )
    assert_problem(made.warnings[0], "missing-values", n_missing=1, n_rows=15)
    assert_problem(made.warnings[2], "empty-cells", n_missing=1, n_cells=6)
    assert (made.n, made.balanced, made.df_residual) == (14, False, 10)


@pytest.mark.parametrize(
    ("on", "block", "terms"),
    [
        (["a", "b"], None, [("a",), ("b",)]),
        (["a:b", "b"], None, [("b",), ("a", "b")]),
        (["b*a"], None, [("b",), ("a",), ("b", "a")]),
        (["a*b", "a"], "y", [("y",), ("a",), ("b",), ("a", "b")]),
        (["a*b*y"], None, [("a",), ("b",), ("y",), ("a", "b"), ("a", "y"), ("b", "y"), ("a", "b", "y")]),
    ],
)
def test_terms_are_expanded_with_main_effects_first(on, block, terms):
    assert anova._parse_terms(on, block, table()) == terms


def term(*names: str) -> Term:
    return Term(tuple(TermFactor(name, "", ("u", "v")) for name in names))


@pytest.mark.parametrize(
    ("kind", "before"),
    [
        (1, [[], ["a"], ["a", "b"], ["a", "b", "c"]]),
        (2, [["b", "c"], ["a", "c"], ["a", "b", "a:b"], ["a", "b", "c"]]),
        (3, [["b", "c", "a:b"], ["a", "c", "a:b"], ["a", "b", "a:b"], ["a", "b", "c"]]),
    ],
)
def test_a_term_is_added_to_those_that_its_type_of_sums_says(kind, before):
    terms = [term("a"), term("b"), term("c"), term("a", "b")]
    bases = [[each.name for each in anova._select_base_terms(terms, place, kind)] for place in range(4)]
    assert bases == before


def test_a_block_is_a_term_that_is_not_tested_and_may_be_weighted():
    made = compute_anova(table(), "y", ["a"], 0.95, block="b")
    assert [(source.name, source.block) for source in made.sources] == [("b", True), ("a", False)]
    weighted = compute_anova(table(), "y", ["a"], 0.95, block=Block("b", True))
    assert [weight.group for weight in weighted.weights] == ["1", "2"]
    assert (weighted.assumptions, made.weights) == (None, ()) and made.assumptions is not None
    mean = sum(weight.n * weight.weight for weight in weighted.weights) / 15
    assert mean == pytest.approx(1) and [weight.n for weight in weighted.weights] == [8, 7]


@pytest.mark.parametrize("kind", [0, 4])
def test_other_types_of_sums_are_refused(kind):
    with raises("unknown-option-value", kind=kind):
        compute_anova(table(), "y", ["a"], 0.95, kind=kind)


def test_a_table_takes_factors_with_several_levels_and_no_response_among_them():
    for on, code in (([], "missing-option"), (["y"], "response-as-factor"), (["one"], "single-level-factor")):
        with raises(code):
            compute_anova(table(one=[1] * 15), "y", on, 0.95)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_between_0_and_1(level):
    with pytest.raises(InputError):
        compute_anova(table(), "y", ["a"], level)


def test_a_contrast_has_the_numbers_of_least_squares_means():
    made = compute_anova(table(), "y", ["a", "b"], 0.9, contrasts=["a: z - 0.5*x - 0.5*y", "b: 2 - 1"]).contrasts
    fit = formula_ols("y ~ C(a) + C(b)", DATA).fit()
    for contrast, weights in zip(made, ([0, -0.5, 1, 0], [0, 0, 0, 1]), strict=True):
        theirs = fit.t_test(np.array(weights, float))
        low, high = theirs.conf_int(0.1)[0]
        assert contrast.to_json() == {
            "contrast": contrast.text,
            "estimate": pytest.approx(float(theirs.effect[0])),
            "estimate_low": pytest.approx(low),
            "estimate_high": pytest.approx(high),
            "std_error": pytest.approx(float(theirs.sd.ravel()[0])),
            "t": pytest.approx(float(np.ravel(theirs.tvalue)[0])),
            "p": pytest.approx(float(theirs.pvalue)),
        }
        assert (contrast.estimate.level, contrast.estimate.n) == (0.9, 15)


FACTORS = {"v": TermFactor("v", "", ("a", "b", "c d", 4)), "w": TermFactor("w", "", ("a", "b"))}


@pytest.mark.parametrize(
    ("text", "name", "weights"),
    [
        ("v: a - b", "v", {"a": 1, "b": -1}),
        ("w:-a+b".replace("+", " + "), "w", {"a": -1, "b": 1}),
        ("v: 2*a - 0.5 * b - 1.5*4", "v", {"a": 2, "b": -0.5, 4: -1.5}),
        ("v: c d - 4", "v", {"c d": 1, 4: -1}),
        ("v: a + a - 2*b", "v", {"a": 2, "b": -2}),
    ],
)
def test_the_weights_of_a_contrast_are_read(text, name, weights):
    assert contrasts._parse_weights(text, FACTORS) == (name, weights)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a - b", "contrast-without-factor"),
        ("x: a - b", "contrast-without-factor"),
        ("v: a - e", "unknown-level"),
        ("v: a - 0.9*b", "unbalanced-contrast"),
        ("v:", "unbalanced-contrast"),
    ],
)
def test_a_contrast_that_is_none_is_refused_by_its_fault(text, code):
    with raises(code, contrast=text):
        contrasts._parse_weights(text, FACTORS)


def test_the_row_of_a_level_is_the_mean_over_all_levels_of_the_other_factors():
    factors = {"a": TermFactor("a", "", ("p", "q", "r")), "b": TermFactor("b", "", ("u", "v"))}
    terms = [Term((factors["a"],)), Term((factors["b"],)), Term((factors["a"], factors["b"]))]
    assert contrasts._build_mean_row("a", "q", terms, factors).tolist() == [1, 1, 0, 0.5, 0.5, 0]
    row = contrasts._build_mean_row("b", "v", terms, factors)
    assert row == pytest.approx([1, 1 / 3, 1 / 3, 1, 1 / 3, 1 / 3])
    alone = {"a": factors["a"]}
    assert contrasts._build_mean_row("a", "p", terms[:1], alone).tolist() == [1, 0, 0]


X = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
Z = np.array([2.0, 1, 4, 3, 6, 5, 9, 7])
W = np.array([3.1, 4.0, 7.2, 7.9, 11.3, 11.1, 16.0, 14.8])


@pytest.mark.parametrize("robust", [False, True])
def test_every_number_of_a_regression_is_that_of_statsmodels(robust):
    data = build_table({"x": X.tolist(), "z": Z.tolist(), "y": W.tolist()})
    points = [{"x": "3", "z": "4"}, {"x": "9", "z": "4"}]
    made = regress(data, "y", ["x", "z"], 0.9, at=points, m=2, robust=robust)
    design = sm.add_constant(np.column_stack([X, Z]))
    fit = sm.OLS(W, design).fit(cov_type="HC3" if robust else "nonrobust", use_t=True)
    document = made.to_json()
    assert (document["n"], document["df"], document["level"], document["robust"]) == (8, 5, 0.9, robust)
    plain = sm.OLS(W, design).fit()
    numbers = {
        "r2": plain.rsquared,
        "adj_r2": plain.rsquared_adj,
        "unexplained": 1 - plain.rsquared,
        "s_e": math.sqrt(plain.mse_resid),
        "mean_y": W.mean(),
        "ssr": plain.ess,
        "sse": plain.ssr,
        "mse": plain.mse_resid,
        "f": float(fit.fvalue),
        "f_p": float(fit.f_pvalue),
        "f_critical": scipy_stats.f.ppf(0.9, 2, 5),
    }
    assert {name: document[name] for name in numbers} == pytest.approx(numbers)
    for place, (name, coefficient) in enumerate(zip(("intercept", "x", "z"), document["terms"], strict=True)):
        low, high = fit.conf_int(0.1)[place]
        assert coefficient == {
            "name": name,
            "estimate": pytest.approx(fit.params[place]),
            "std_error": pytest.approx(fit.bse[place]),
            "low": pytest.approx(low),
            "high": pytest.approx(high),
            "t": pytest.approx(fit.tvalues[place]),
            "p": pytest.approx(fit.pvalues[place]),
        }
    row = np.array([1.0, 3, 4])
    error = math.sqrt(row @ fit.cov_params() @ row)
    new = math.sqrt(error**2 + plain.mse_resid / 2)
    t, value = scipy_stats.t.ppf(0.95, 5), float(row @ fit.params)
    expected = {
        "at": {"x": 3.0, "z": 4.0},
        "fit": value,
        "mean_low": value - t * error,
        "mean_high": value + t * error,
        "low": value - t * new,
        "high": value + t * new,
        "std_error_mean": error,
        "std_error_new": new,
        "m": 2,
        "extrapolated": False,
    }
    point = document["at"][0]
    assert point.pop("at") == expected.pop("at") and point == pytest.approx(expected)
    assert document["at"][1]["extrapolated"] is True
    leverage = float(row @ np.linalg.inv(design.T @ design) @ row)
    assert made.points[0].prediction.leverage == pytest.approx(leverage)
    (ratio,) = document["ratios"]
    far = np.array([1.0, 9, 4])
    assert (ratio["at"], ratio["to"]) == ({"x": 9.0, "z": 4.0}, {"x": 3.0, "z": 4.0})
    assert ratio["ratio"] == pytest.approx(far @ fit.params / value)
    assert ratio["width_ratio"] == pytest.approx(math.sqrt(far @ fit.cov_params() @ far) / error)
    levels = [{"at": level, "explains": bool(plain.fvalue > scipy_stats.f.ppf(level, 2, 5))} for level in ols.LEVELS]
    assert document["f_by_level"] == levels
    logs = regress(data, "log(y)", ["x"], 0.9, at=[{"x": "1"}, {"x": "2"}])
    assert logs.ratios == [] and logs.terms == ("x",)


def test_terms_have_a_column_for_each_level_but_the_first_and_for_their_products():
    factor = TermFactor("a", "", ("x", "y", "z"))
    values: dict[str, Any] = {"a": np.array(["y", "x", "z"], dtype=object), "n": np.array([1.0, 2.0, 8.0])}
    assert [(name, column.tolist()) for name, column in factor.columns(values)] == [
        ("a[y]", [1, 0, 0]),
        ("a[z]", [0, 0, 1]),
    ]
    number = TermFactor("n", "log2")
    assert [(name, column.tolist()) for name, column in number.columns(values)] == [("log2(n)", [0, 1, 3])]
    product = Term((factor, number, TermFactor("n")))
    assert product.name == "a:log2(n):n"
    assert [(name, column.tolist()) for name, column in product.columns(values)] == [
        ("a[y]:log2(n):n", [0, 0, 0]),
        ("a[z]:log2(n):n", [0, 0, 24]),
    ]


def test_terms_are_parsed_with_their_levels_and_names_like_terms_are_columns():
    data = build_table({"a": list("xyx"), "n": [1, 2, 4], "n:a": [5, 6, 8], "log(q)": [1, 2, 3], "gone": [None] * 3})
    made = formula.parse_terms(["a", "n:a", "C(n)", "log2(n):a", "log(q)", "gone"], data)
    assert [each.factors for each in made] == [
        (TermFactor("a", "", ("x", "y")),),
        (TermFactor("n:a"),),
        (TermFactor("n", "", (1, 2, 4)),),
        (TermFactor("n", "log2"), TermFactor("a", "", ("x", "y"))),
        (TermFactor("log(q)"),),
        (TermFactor("gone"),),
    ]
    assert formula.list_term_columns(["a*n", "n:a", "log2(n)", "C(a)"], data) == ["a", "n", "n:a"]
    for texts, code in (([], "missing-option"), (["a", "a"], "duplicate-predictor"), (["f(n)"], "unknown-transform")):
        with raises(code):
            formula.parse_terms(texts, data)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", "2", "x"], True),
        (["1", "x"], False),
        (["-1.5", "+2e3", "1,5", "a", "b"], True),
        ([None, "1", None], True),
        ([None], False),
        (["1 s", "2 s", "3"], False),
    ],
)
def test_text_that_is_mostly_numbers_has_a_typo(cells, numbers):
    assert formula._is_mostly_numbers(np.array(cells, dtype=object)) is numbers


def test_a_model_is_fitted_to_the_rows_that_have_all_values():
    gap = float("nan")
    columns = {
        "x": [1, 2, gap, 4, 5, 6],
        "a": ["p", None, "q", "q", "p", "q"],
        "y": [1.0, 2, 3, 4, 5.5, gap],
        "n": [3] * 6,
    }
    model, (warning,) = fit_table(build_table(columns), "y", ["x"], 0.95)
    assert (model.rows.tolist(), model.fit.y.tolist()) == ([0, 1, 3, 4], [1, 2, 4, 5.5])
    assert_problem(warning, "missing-values", n_missing=2, n_rows=6)
    with raises("too-few-rows", n_parameters=3):
        fit_table(build_table(columns), "y", ["x", "a"], 0.95)
    with raises("constant-response", response="n", n_rows=5):
        fit_table(build_table(columns), "n", ["x"], 0.95)
    with raises("response-as-factor", response="log(y)"):
        fit_table(build_table(columns), "log(y)", ["x:y"], 0.95)


SUMS: dict[str, Any] = {"n": 8, "sum_x": 36, "sum_x2": 204, "b0": 1.0, "b1": 2.0, "ssr": 168.0, "sse": 6.0}


def test_sums_give_the_regression_of_their_data():
    made = regress_sums(
        SUMS | {"x": "size", "response": "t", "X_MIN": 1, "x_max": 8}, 0.9, at=[{"size": "4"}, {"size": "9"}], m=3
    )
    assert (made.response, made.terms, made.fit.df, made.fit.mean_y) == ("t", ("size",), 6, 10.0)
    assert [point.extrapolated for point in made.points] == [False, True]
    error = math.sqrt(1.0 * (1 / 8 + 0.25 / 42))
    prediction = made.points[0].prediction
    assert (prediction.fit, prediction.std_error_mean) == pytest.approx((9.0, error))
    assert prediction.std_error_new == pytest.approx(math.sqrt(1 / 3 + error**2))
    slope = made.fit.coefficients()[1]
    assert (slope.std_error, slope.t) == pytest.approx((1 / math.sqrt(42), 2 * math.sqrt(42)))
    assert made.warnings == () and made.fit.r2 == pytest.approx(168 / 174)
    plain = regress_sums(SUMS, 0.9, at=[{"x": "1"}])
    assert plain.points[0].extrapolated is None and codes(plain.warnings) == ["unknown-range"]
    assert codes(regress_sums(SUMS | {"ssr": 160.0}, 0.9).warnings) == ["inconsistent-sums"]
    assert regress_sums(SUMS | {"ssr": 169.0}, 0.9).warnings == ()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"n": 8.5}, "inconsistent-sums"),
        ({"n": 2}, "inconsistent-sums"),
        ({"sum_x2": 162.0}, "inconsistent-sums"),
        ({"ssr": -1.0}, "inconsistent-sums"),
        ({"sse": -1.0}, "inconsistent-sums"),
        ({"ssr": 0.0, "sse": 0.0}, "inconsistent-sums"),
        ({"b1": None}, "missing-number"),
        ({"b1": True}, "not-a-number"),
        ({"b1": math.inf}, "not-a-number"),
        ({"x_min": "1", "x_max": 2}, "not-a-number"),
    ],
)
def test_sums_that_cannot_be_are_refused_with_their_source(change, code):
    with raises(code, source="paper"):
        regress_sums(SUMS | change, 0.9, at=[{"x": "1"}], source="paper")


@pytest.mark.parametrize(("at", "code"), [({"y": "1"}, "wrong-predictor"), ({"x": "a"}, "not-a-number")])
def test_a_point_of_sums_is_of_their_predictor(at, code):
    with raises(code, predictor="x"):
        regress_sums(SUMS, 0.9, at=[at])


def test_predictions_and_adjusted_r2_by_their_definitions():
    assert ols.compute_adjusted_r2(0.8, 21, 4) == pytest.approx(1 - 20 / 16 * 0.2)
    assert ols.compute_prediction_r2([1, 2, 3], [1, 2, 4]) == 0.5
