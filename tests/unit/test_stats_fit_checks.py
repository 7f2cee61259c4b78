"""Findings about a regression: each speaks on one side of its edge only, with all the numbers that it rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from iosonde.core.types import Severity
from iosonde.stats.checks import FAMILY_ALPHA, run_fit_checks
from iosonde.stats.regression.assumptions import Assumptions, LackOfFit
from iosonde.stats.regression.types import BringUpFactors, FitSubject

CLEAN = Assumptions(
    lack_of_fit=None,
    repeats=True,
    design_like=False,
    shapiro_w=0.99,
    shapiro_p=0.5,
    qq_correlation=0.999,
    breusch_pagan_p=0.5,
    brown_forsythe_p=0.5,
    autocorrelation=0.1,
    autocorrelation_p=0.5,
    trend_tau=0.1,
    trend_p=0.5,
    largest_cook=0.1,
    cook_limit=0.7,
    largest_studentized=1.5,
    studentized_p=1.0,
    influential_rows=[],
    vif={"a": 1.0, "b": 1.0},
    condition_number=5.0,
)
FIT = {"n": 20, "robust": False, "r2": 0.8, "adjusted_r2": 0.7, "f": 9.0, "f_p": 0.001, "x": None, "names": ("1", "a")}


def speak(fit=None, subject=None, **assumptions):
    """The findings about a clean fit with these changes: (code, severity, evidence)."""
    checked = replace(CLEAN, **assumptions)
    about = {"assumptions": checked, "level": 0.95} | (subject or {})
    findings = run_fit_checks(FitSubject(SimpleNamespace(**(FIT | (fit or {}))), **about))
    return [(finding.code, finding.severity, finding.evidence) for finding in findings]


def warning(code, **evidence):
    return [(code, Severity.WARNING, evidence)]


def test_a_clean_fit_and_one_of_sums_alone_have_no_finding():
    assert speak() == []
    assert speak(subject={"assumptions": None}) == []


@pytest.mark.parametrize(("p", "speaks"), [(0.009, True), (FAMILY_ALPHA, False), (None, True)])
def test_lack_of_fit_is_reported_below_its_level_and_where_repeats_are_identical(p, speaks):
    tested = LackOfFit(*[None if field == "p" else 2 for field in LackOfFit.__dataclass_fields__])
    tested = replace(tested, p=p)
    assert speak(lack_of_fit=tested) == (warning("S301", **vars(tested)) if speaks else [])


def test_curvature_is_reported_only_without_repeats_and_shares_its_level_among_the_predictors():
    curved = {"a": 0.004, "b": 0.006}  # 2 predictors: 0.005 each
    assert speak(curvature_p=curved) == []
    assert speak(repeats=False, curvature_p=curved) == warning("S301", curvature_p={"a": 0.004})
    assert speak(repeats=False, curvature_p={"a": 0.005, "b": 0.006}) == []
    assert speak(repeats=False, curvature_p={"b": 0.006}) == warning("S301", curvature_p={"b": 0.006})


@pytest.mark.parametrize(
    ("p", "correlation", "n", "speaks"),
    [
        (0.009, 0.999, 20, True),
        (FAMILY_ALPHA, 0.5, 20, False),  # the test has been run: the plot does not count
        (None, 0.98, 5001, True),  # too many values for the test
        (None, 0.99, 5001, False),
        (None, 0.98, 5000, False),  # too few
    ],
)
def test_residuals_are_not_normal_by_the_test_or_if_there_are_too_many_by_the_plot(p, correlation, n, speaks):
    found = speak({"n": n}, shapiro_p=p, qq_correlation=correlation)
    assert found == (warning("S302", shapiro_w=0.99, shapiro_p=p, qq_correlation=correlation) if speaks else [])


@pytest.mark.parametrize(
    ("breusch_pagan", "brown_forsythe", "robust", "speaks"),
    [
        (0.004, 0.5, False, True),
        (0.5, 0.004, False, True),
        (0.006, 0.5, False, False),  # two tests
        (0.006, None, False, True),  # one test
        (FAMILY_ALPHA, None, False, False),
        (0.004, 0.004, True, False),
    ],
)
def test_unequal_variance_is_the_smaller_p_of_the_tests_that_were_possible(
    breusch_pagan, brown_forsythe, robust, speaks
):
    tests = {"breusch_pagan_p": breusch_pagan, "brown_forsythe_p": brown_forsythe}
    assert speak({"robust": robust}, **tests) == (warning("S303", **tests) if speaks else [])


@pytest.mark.parametrize(
    ("neighbours", "trend", "correlation", "how"),
    [
        (0.004, 0.5, 0.3, "alike"),
        (0.004, None, 0.3, "alike"),
        (0.004, 0.5, -0.3, "alternate"),
        (0.5, 0.004, 0.3, "drift"),
        (0.004, 0.001, -0.3, "drift"),
        (0.005, 0.005, 0.3, None),
        (0.006, None, 0.3, None),
    ],
)
def test_dependence_on_the_order_is_the_smaller_p_of_two_tests_and_says_how(neighbours, trend, correlation, how):
    numbers = {
        "autocorrelation": correlation,
        "autocorrelation_p": neighbours,
        "trend_tau": -0.4,
        "trend_p": trend,
    }
    assert speak(**numbers) == (warning("S304", **numbers) if how else [])


def test_each_way_to_depend_on_the_order_has_its_own_sentence():
    ways = ({"autocorrelation": 0.3}, {"autocorrelation": -0.3}, {"trend_p": 0.001}, {"trend_p": 0.001})
    subjects = [
        FitSubject(SimpleNamespace(**FIT), replace(CLEAN, autocorrelation_p=0.002, **way), 0.95) for way in ways
    ]
    sentences = [re.sub("[-+.0-9]", "", run_fit_checks(subject)[0].sentence) for subject in subjects]
    assert len(set(sentences)) == 3 and sentences[2] == sentences[3]


def test_rows_that_rule_the_line_are_named_by_their_places_or_counted_from_one():
    numbers = {"largest_cook": 0.9, "cook_limit": 0.7, "largest_studentized": 4.0, "studentized_p": 0.03}
    assert speak(influential_rows=[0, 4], **numbers) == warning("S305", rows=["row 1", "row 5"], **numbers)
    assert speak(influential_rows=[0, 4], subject={"influential": ["f:2", "f:6"]}, **numbers) == warning(
        "S305", rows=["f:2", "f:6"], **numbers
    )
    assert speak(subject={"influential": ["f:2"]}, **numbers) == []
    deciding = {"f:7": ["a"], "f:8": ["a", "b"]}
    assert speak(subject={"deciding": deciding}) == warning("S305", rows=["f:7", "f:8"], terms=["a", "b"], leverage=1.0)


def test_collinearity_takes_two_predictors_and_neither_interactions_nor_levels():
    large = {"a": 10.1, "b": 30.0, "c": 10.0, "a:b": 99.0, "d[x]": 99.0}
    assert speak(vif=large, condition_number=77.0) == warning("S306", vif={"a": 10.1, "b": 30.0}, condition_number=77.0)
    assert speak(vif={"a": 10.1, "b": 10.0, "a:b": 99.0, "d[x]": 99.0}) == []


@pytest.mark.parametrize(
    ("r2", "p", "speaks"),
    [(0.8, 0.051, True), (0.8, 0.05, False), (0.49, 0.001, True), (0.5, None, False), (0.49, None, True)],
)
def test_a_fit_that_explains_little_is_reported(r2, p, speaks):
    expected = warning("S307", r2=r2, adj_r2=0.7, f=9.0, f_p=p) if speaks else []
    assert speak({"r2": r2, "f_p": p}) == expected


def test_only_points_outside_the_data_are_extrapolated():
    points = [SimpleNamespace(at={"a": float(at)}, extrapolated=at > 2) for at in (1, 2, 3, 4)]
    assert speak(subject={"points": points}) == warning("S308", at=[{"a": 3.0}, {"a": 4.0}])
    assert speak(subject={"points": points[:2]}) == []


def test_a_grid_without_repeats_may_hold_means():
    assert speak(design_like=True) == warning("S309", n=20, r2=0.8)


def test_predictors_with_two_values_other_than_0_and_1_cannot_be_seen_to_bend():
    names = ("1", "dummy", "two", "three", "two:dummy", "shifted")
    two = np.array([4.0, 8.0, 4.0, 8.0])
    x = np.column_stack([np.ones(4), [0, 1, 0, 1], two, [1, 2, 3, 1], two, [0, 2, 0, 2]])
    assert speak({"x": x, "names": names}) == [("S310", Severity.INFO, {"predictors": ["two", "shifted"]})]
    assert speak({"x": x[:, :2], "names": names[:2]}) == []


def test_factors_set_once_for_several_trials_are_counted():
    shared = BringUpFactors(("a", "b"), 4, 20)
    assert speak(subject={"bring_up_factors": shared}) == warning(
        "S311", factors=["a", "b"], n_bring_ups=4, n_trials=20
    )
