"""The flat forms of a summary, and the verdicts of its stories, key by key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from iosonde.core.schema import BRING_UPS
from iosonde.core.table import build_table
from iosonde.core.types import Estimate, Finding, Severity
from iosonde.core.verdict import UncheckedClaim, VerdictState
from iosonde.stats.assumptions import holds, list_doubts
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.checks.s311_shared_bring_ups import build_finding, find_shared_factors
from iosonde.stats.estimate import precision
from iosonde.stats.overview.types import (
    Efficiency,
    Overview,
    OverviewLatency,
    OverviewRow,
    ResponseStory,
    judge_stories,
)
from iosonde.stats.regression import strata
from iosonde.stats.regression.effect_types import FactorEffect, ResponseEffects
from iosonde.stats.regression.types import BringUpFactors
from messages import raises

A, B = Estimate(4.0, 3.0, 5.0, 0.9, 7, ("w1", "w2")), Estimate(2.0, 1.0, 3.0, 0.9, 7, ("w2", "w3"))
OUTER, INNER = BRING_UPS[:2]


def row(by: dict[str, Any] | None = None, mean: Estimate = A, **more: Any) -> OverviewRow:
    known: dict[str, Any] = {"operation": "read", "metric": "rate_last_done", "unit": "operations/s", "n": 6}
    known |= {"by": by or {}, "mean": mean, "median": B, "sd": 0.5, "cv": 0.1, "harmonic_mean": None}
    return OverviewRow(**known | more)


def test_a_row_has_one_key_for_each_number():
    expected = {
        "operation": "read",
        "metric": "rate_last_done",
        "unit": "operations/s",
        "by": {"x": 1},
        "n": 6,
        **A.flat("mean"),
        "sd": 0.5,
        "cv": 0.1,
        **B.flat("median"),
        **Estimate(None, None, None, 0.9, 6).flat("harmonic_mean"),
        "warnings": ["w1", "w2", "w3"],
    }
    assert row({"x": 1}).to_json() == expected
    plain = row(operation="", unit="", harmonic_mean=B).to_json()
    assert (plain["operation"], plain["unit"]) == (None, None) and plain.items() >= B.flat("harmonic_mean").items()


def test_a_row_of_many_factors_is_named_by_those_with_a_level():
    few = {"a": 1, "b": None, "c": 2, "d": 65536}
    assert row(few, operation="").name({"d": "bytes"}).count("=") == 4 and row(few).name({}).count("=") == 3
    assert row(few | {"e": 5}).name({"d": "bytes"}) == "read, a=1, c=2, d=64 KiB, e=5"
    assert row(few | {"e": 5}, operation="").name({}).startswith("a=1") and row().name({}) == "read"


def test_a_latency_and_an_efficiency_have_one_key_for_each_number():
    latency = OverviewLatency("op", "open", {"x": 1}, 0.99, 500, A).to_json()
    assert latency == {
        "operation": "op",
        "kind": "open",
        "by": {"x": 1},
        "percentile": 0.99,
        "unit": "s",
        "n": 7,
        "n_operations": 500,
        **A.flat("duration"),
        "warnings": ["w1", "w2"],
    }
    efficiency = Efficiency("op", "rate", {"x": 1}, "nodes", 1.0, 4.0, B).to_json()
    assert efficiency == {
        "operation": "op",
        "metric": "rate",
        "by": {"x": 1},
        "factor": "nodes",
        "base": 1.0,
        "size": 4.0,
        "n": 7,
        **B.flat("efficiency"),
        "warnings": ["w2", "w3"],
    }


def effect(name: str, p: float | None, adjusted: float | None) -> FactorEffect:
    return FactorEffect((name,), Estimate(0.5, 0.4, 0.6, 0.95, 9), p, adjusted=adjusted)


SURE, OPEN = ResponseEffects(("a",), (effect("a", 0.01, 0.02),)), ResponseEffects(("a",), (effect("a", 0.3, 0.6),))


@pytest.mark.parametrize(
    ("effects", "state"),
    [
        (SURE, VerdictState.DIFFERENT),
        (OPEN, VerdictState.INCONCLUSIVE),
        (ResponseEffects(("a",), (), untested="why"), VerdictState.NOT_TESTED),
    ],
)
def test_the_best_setting_is_as_sure_as_the_effects(effects, state):
    best, worst = row({"a": 65536}), row({"a": 1}, B)
    story = ResponseStory("read", "rate_last_done", effects, best, worst, steady=("a",))
    *_, (claim, _) = story.claims({"a": "bytes"})
    assert claim == UncheckedClaim("best", "read rate_last_done", (), state, claim="a=64 KiB", estimate=A)
    assert story.is_significant is (state is VerdictState.DIFFERENT)
    assert (story.response, ResponseStory("", "y", effects, best, worst).response) == ("read rate_last_done", "y")


def test_no_level_is_claimed_that_other_levels_turn_round():
    """The best of all settings by noise, where another level is better on average, is no claim."""
    effects = ResponseEffects(("a", "b"), (effect("a", 0.01, 0.02), effect("b", 0.01, 0.02)))
    story = ResponseStory("read", "y", effects, row({"a": 1, "b": 2}), row({"a": 2, "b": 1}))
    claims = [replace(story, steady=steady).claims({})[-1][0] for steady in ((), ("b",), ("a", "b"))]
    assert [(one.state, one.claim) for one in claims] == [
        (VerdictState.INCONCLUSIVE, "a=1, b=2"),
        (VerdictState.DIFFERENT, "b=2"),
        (VerdictState.DIFFERENT, "a=1, b=2"),
    ]


def test_levels_that_depend_on_each_other_are_claimed_together():
    """Where a level helps or harms by the level of another, it is best at one level of the other alone."""
    joint = FactorEffect(("a", "b"), Estimate(0.9, 0.8, 1.0, 0.95, 9), 1e-9, adjusted=1e-8, is_joint=True)
    story = ResponseStory("read", "y", ResponseEffects(("a", "b"), (joint,)), row({"a": 1, "b": 2}), row({"a": 1}))
    claims = [replace(story, steady=steady).claims({})[-1][0] for steady in ((), ("b",), ("a", "b"))]
    assert {(claim.state, claim.claim, claim.estimate) for claim in claims} == {(VerdictState.DIFFERENT, "a=1, b=2", A)}


@pytest.mark.parametrize(
    ("impossible", "missing", "doubts"),
    [
        ((), "", ()),
        ((row({"x": 1}),), "", ("impossible",)),
        ((row({"x": 2}),), "", ()),
        ((), "x=2", ("missing-values",)),
        ((row({"x": 1}),), "x=2", ("impossible", "missing-values")),
    ],
)
def test_impossible_and_missing_values_are_doubts_about_the_best(impossible, missing, doubts):
    story = ResponseStory("read", "y", SURE, row({"x": 1}), row({"x": 2}), impossible, missing)
    (_, effect_checks), (_, best_checks) = story.claims({})
    assert list_doubts(best_checks) == doubts
    assert list_doubts(effect_checks) == (("missing-values",) if missing else ())


def test_an_overview_collects_its_parts():
    checks = holds(*REQUIRED["effect"], *REQUIRED["best"])
    story, other = (
        ResponseStory("read", name, effects, row(), row(), checks=checks)
        for name, effects in (("y", SURE), ("z", OPEN))
    )
    latency, efficiency = OverviewLatency("op", "open", {}, 0.5, 9, A), Efficiency("op", "rate", {}, "n", 1.0, 2.0, B)
    finding = Finding("S101", Severity.INFO, "s", {}, "a")
    made = Overview(
        (row(),), (latency,), (efficiency,), (finding,), "all", 0.9, ("x",), ("w",), {}, "bring-up", (story, other)
    )
    assert made.to_json() == {
        "level": 0.9,
        "n_counts": "bring-ups",
        "by": ["x"],
        "groups": [row().to_json()],
        "latency": [latency.to_json()],
        "efficiency": [efficiency.to_json()],
        "findings": [finding.to_json()],
        "warnings": ["w"],
        "sentence": "all",
    }
    assert made.verdicts == judge_stories([story, other], {})
    assert made.effects == {("read", "y"): SURE, ("read", "z"): OPEN}
    assert made.other_p_values(("read", "y")) == (0.3,) and made.other_p_values(("", "")) == (0.01, 0.3)


@pytest.mark.parametrize(
    ("low", "value", "high", "width"),
    [
        (1.0, 2.0, 5.0, 1.0),
        (-5.0, -2.0, -1.0, 1.0),
        (None, 2.0, 5.0, None),
        (1.0, 2.0, None, None),
        (-1.0, 0, 1.0, None),
    ],
)
def test_half_of_an_interval_is_relative_to_its_value(low, value, high, width):
    assert precision.compute_relative_half_width(Estimate(value, low, high, 0.95, 3)) == width


def test_factors_set_once_for_several_trials_are_found_with_their_bring_ups():
    columns = {OUTER: [1, 1, 2, 2, 3, 3], "fs": list("aabbaa"), "mode": list("xyxyxy"), "same": [1] * 6}
    table = build_table(columns)
    assert find_shared_factors(table, ["fs", "mode", "same", "gone"]) == BringUpFactors(("fs",), 3, 6)
    assert find_shared_factors(table, ["mode"]) is None
    assert find_shared_factors(build_table(columns | {OUTER: [1, 2, 3, 4, 5, 6]}), ["fs"]) is None
    finding = build_finding(BringUpFactors(("fs", "mode"), 3, 6))
    assert (finding.code, finding.severity) == ("S311", Severity.WARNING)
    assert finding.evidence == {"factors": ["fs", "mode"], "n_bring_ups": 3, "n_trials": 6}


@pytest.mark.parametrize(
    ("units", "nested"),
    [
        ([[1, 1, 2, 2]], [[0, 0, 1, 1]]),
        ([[1, 1, 2, 2], [5, 5, 6, 6]], [[0, 0, 1, 1]]),  # the same units again
        ([[1, 1, 1, 2, 2, 2], [5, 5, 6, 5, 5, 6]], [[0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 3]]),
        ([[1, 1, 2, 2], [5, 6, 5, 6]], [[0, 0, 1, 1]]),  # each row a unit of its own
        ([[1, 2, 3, 4]], []),
        ([[7, 7, 7, 7]], [[0, 0, 0, 0]]),
        ([], []),
    ],
)
def test_units_that_share_trials_are_nested(units, nested):
    assert [of.tolist() for of in strata.nest_units([np.array(of) for of in units])] == nested


def test_rows_without_a_number_share_nothing_and_experiments_share_none():
    def nested(**columns: list) -> list[list[int]]:
        return [of.tolist() for of in strata.list_nested_units(build_table(columns))]

    assert nested(**{OUTER: [1, 1, None, None]}) == [[0, 0, 1, 2]]
    assert nested(**{OUTER: [1, 1, 1, 1], "experiment": list("xxyy")}) == [[0, 0, 1, 1]]
    assert nested(**{OUTER: [1, 1, 2, 2], INNER: [1, 2, 1, 1]}) == [[0, 0, 1, 1], [0, 1, 2, 2]]
    assert nested(y=[1, 2]) == []


def test_columns_of_bring_ups_are_renamed_and_others_dropped():
    table = build_table({OUTER: [1, 1], INNER: [1, 2], "lab": [3, 4], "y": [5, 6]})
    made = strata.rename_bring_ups(table, ["lab"])
    assert set(made.columns) == {OUTER, "lab", "y"} and made.columns[OUTER].values.tolist() == [3, 4]
    assert strata.rename_bring_ups(table, []) is table
    both = strata.rename_bring_ups(table, ["y", "lab"])
    assert [both.columns[name].values.tolist() for name in (OUTER, INNER)] == [[5, 6], [3, 4]]
    limit = len(BRING_UPS)
    with raises("too-many-columns", n_columns=limit + 1, limit=limit):
        strata.rename_bring_ups(table, ["y"] * (limit + 1))


def test_the_stratum_of_columns_is_the_first_in_whose_units_they_are_constant():
    units = [np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 2, 3])]

    def depth(*column: float) -> int:
        return strata.find_stratum_depth(np.array(column, float)[:, None], units)

    assert (depth(5, 5, 5, 7, 7, 7), depth(1, 1, 2, 3, 3, 4), depth(1, 2, 2, 3, 3, 4)) == (0, 1, 2)
    assert depth(1, 1 + 1e-10, 1, 2, 2, 2) == 0 and depth(1, 1 + 1e-8, 1, 2, 2, 2) == 2


def test_levels_that_were_brought_up_once_are_listed():
    units = [np.array([0, 0, 1, 1, 2, 2])]
    table = build_table({"fs": list("aabbaa"), "mode": list("xyxyxy"), "same": [1] * 6, "n": [1, 1, 2, 2, 3, 3]})
    made = strata.find_levels_brought_up_once(table, ["fs", "mode", "same", "n"], units)
    assert made == {"fs": ["b"], "n": ["1", "2", "3"]}
