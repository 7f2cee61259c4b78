"""A number that was not set and differs between the levels of a factor is a doubt about its effect."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f_oneway

from iosonde.core.table import build_table
from iosonde.stats.assumptions.covariates import CODE, check_covariates, compute_covariate_p, list_covariate_warnings
from messages import codes


def draw(shift: float) -> dict[str, list[object]]:
    noise = np.random.default_rng(3).normal(size=24).tolist()
    groups = ["a", "b", "c"] * 8
    return {"g": [*groups], "x": [z + shift * (group == "b") for z, group in zip(noise, groups, strict=True)]}


def test_the_p_value_is_that_of_a_one_way_analysis_of_variance():
    columns = draw(1.0)
    sides = [[x for x, g in zip(columns["x"], columns["g"], strict=True) if g == name] for name in "abc"]
    assert compute_covariate_p(build_table(columns), "g", "x") == pytest.approx(f_oneway(*sides).pvalue)


@pytest.mark.parametrize(("shift", "n"), [(3.0, 1), (0.0, 0)])
def test_only_a_number_that_differs_is_a_doubt_about_that_factor(shift, n):
    checks = list(check_covariates(build_table(draw(shift)), ["g"], ["x"]))
    assert [(check.assumption, check.subject) for check in checks] == [("varies-besides", ("g",))] * n
    assert codes(list_covariate_warnings(checks)) == [CODE] * n


def test_a_factor_with_a_level_for_each_row_or_one_level_is_not_tested():
    columns = {"n": [1, 2, 3, 4], "one": ["a"] * 4, "x": [1.0, 2.0, 3.0, 4.0]}
    assert [compute_covariate_p(build_table(columns), name, "x") for name in ("n", "one")] == [1.0, 1.0]
