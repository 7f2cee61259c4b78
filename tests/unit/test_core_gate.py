"""A gate: each condition of each comparison by hand, Holm's steps, and what is an answer and what a refusal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.core.gate import Gate, GateItem, Threshold, parse_gate
from iosonde.core.metrics import build_metric
from iosonde.core.types import Estimate
from iosonde.core.verdict import VerdictState
from messages import codes, raises, with_code

SECONDS, RATE, ERRORS = build_metric("time", "s"), build_metric("bandwidth", "bytes/s"), build_metric("errors", "count")
LEVEL = 0.75
SLOWER, FASTER, MORE, LESS, DIFFERENT = (
    Threshold(word, 0.25) for word in ("slower", "faster", "more", "less", "different")
)


@dataclass(frozen=True)
class Ratio:
    """A ratio whose interval at ``LEVEL`` shared by m tests is m times as wide."""

    value: float | None
    half: float

    @property
    def gated_ratio(self) -> Estimate | None:
        return self.ratio_at(LEVEL)

    def ratio_at(self, level: float) -> Estimate | None:
        if self.value is None:
            return None
        half = self.half * (1 - LEVEL) / (1 - level)
        return Estimate(self.value, self.value - half, self.value + half, level, 4)


def item(name, value, half, metric=SECONDS, **more) -> GateItem:
    return GateItem(name, Ratio(value, half), metric, LEVEL, ("a", "b"), **more)


def ratio(low: float | None, high: float | None) -> Estimate:
    return Estimate(1.0, low, high, LEVEL, 4)


@pytest.mark.parametrize(
    ("condition", "metric", "ends"),
    [
        (SLOWER, SECONDS, [(0.5, 2.5)]),
        (FASTER, SECONDS, [(0.4, 2.0)]),
        (FASTER, RATE, [(0.5, 2.5)]),
        (SLOWER, RATE, [(0.4, 2.0)]),
        (MORE, SECONDS, [(0.5, 2.5)]),
        (MORE, RATE, [(0.5, 2.5)]),
        (LESS, ERRORS, [(0.4, 2.0)]),
        (DIFFERENT, ERRORS, [(0.5, 2.5), (0.4, 2.0)]),
    ],
)
def test_the_factor_of_a_change_is_that_of_its_direction(condition, metric, ends):
    assert condition.ends(ratio(0.5, 2.5), metric) == ends


@pytest.mark.parametrize("unknown", [None, ratio(None, 2.0), ratio(1.0, None), ratio(0.0, 2.0), ratio(-1.0, 2.0)])
def test_without_an_interval_above_zero_a_condition_is_inconclusive(unknown):
    assert SLOWER.ends(unknown, SECONDS) == [] and SLOWER.holds(unknown, SECONDS) is None


@pytest.mark.parametrize(
    ("condition", "low", "high", "holds"),
    [
        (SLOWER, 1.26, 1.5, True),
        (SLOWER, 1.25, 1.5, None),  # above the limit, not at it
        (SLOWER, 1.0, 1.26, None),
        (SLOWER, 1.0, 1.25, False),
        (SLOWER, 0.1, 0.5, False),
        (FASTER, 0.5, 0.75, True),
        (FASTER, 0.5, 0.8, None),
        (FASTER, 0.8, 9.0, False),
        (DIFFERENT, 0.5, 0.75, True),
        (DIFFERENT, 1.3, 1.4, True),
        (DIFFERENT, 0.75, 1.0, None),
        (DIFFERENT, 0.8, 1.25, False),
    ],
)
def test_a_condition_holds_if_the_whole_interval_is_beyond_its_limit(condition, low, high, holds):
    assert condition.holds(ratio(low, high), SECONDS) is holds


def test_only_rates_and_times_are_faster_or_slower():
    concerned = {
        condition.word: [metric.name for metric in (SECONDS, RATE, ERRORS) if condition.concerns(metric)]
        for condition in (SLOWER, FASTER, MORE, LESS, DIFFERENT)
    }
    every = ["time", "bandwidth", "errors"]
    assert concerned == {"slower": every[:2], "faster": every[:2], "more": every, "less": every, "different": every}


FAMILY = (
    item("A", 2.0, 0.125),  # at a quarter of the error: 1.5 to 2.5
    item("B", 1.6, 0.125),  # 1.1 at a quarter, 1.225 at a third, 1.35 at a half
    item("C", 1.25, 0.125),
    item("D", 1.0, 0.015625),
    item("E", 2.0, 0.0, doubtful=True),
    item("F", None, 0.0),
)


def test_conditions_hold_by_holms_steps_and_fail_by_their_own_interval():
    rows = Gate((SLOWER,)).judge(FAMILY).rows
    assert [(row.item.name, row.holds, row.family) for row in rows] == [
        ("A", True, 6),
        ("B", None, 6),  # the second of the four with an interval
        ("C", None, 6),
        ("D", False, 6),
        ("E", None, 6),
        ("F", None, 6),
    ]
    three = Gate((SLOWER,)).judge([FAMILY[0], FAMILY[1], FAMILY[2]]).rows
    assert [row.holds for row in three] == [True, True, None]  # B among the two that remain


def test_families_do_not_share_their_error():
    items = [
        item("x", 1.5, 0.125, family="one"),
        item("y", 1.5, 0.125, family="two"),
        item("z", 1.5, 0.0625, family="two"),
    ]
    rows = Gate((SLOWER,)).judge(items).rows
    assert [(row.holds, row.family) for row in rows] == [(True, 1), (True, 2), (True, 2)]
    together = Gate((SLOWER,)).judge([item("x", 1.5, 0.125), item("y", 1.5, 0.125), item("z", 1.0, 0.0625)]).rows
    assert [(row.holds, row.family) for row in together] == [(None, 3), (None, 3), (False, 3)]


def test_the_json_of_a_gate():
    verdict = Gate((SLOWER, DIFFERENT)).judge([FAMILY[0], FAMILY[3]], not_gated=[("G", "why")])
    assert verdict.to_json() == {
        "conditions": ["slower>25%", "different>25%"],
        "strict": False,
        "failed": [{"condition": "slower>25%", "of": "A"}, {"condition": "different>25%", "of": "A"}],
        "cannot_tell": [],
        "passed": [
            {"condition": "slower>25%", "of": "D", "at_most": 0.015625},
            {"condition": "different>25%", "of": "D", "at_most": 1 / 0.984375 - 1},
        ],
        "not_gated": [{"of": "G", "why": "why"}],
        "problem": True,
    }
    assert [(one.response, one.state, one.claim, one.subject, one.family) for one in verdict.claims] == [
        ("A", VerdictState.DIFFERENT, "slower>25%", ("a", "b"), 4),
        ("D", VerdictState.EQUAL, "slower>25%", ("a", "b"), 4),
        ("A", VerdictState.DIFFERENT, "different>25%", ("a", "b"), 4),
        ("D", VerdictState.EQUAL, "different>25%", ("a", "b"), 4),
    ]
    assert {(one.question, one.estimate.value) for one in verdict.claims} == {("gate", 2.0), ("gate", 1.0)}
    assert codes(verdict.sentences) == ["gate-failed"] * 2 + ["gate-passed"] * 2 + ["not-gated"]


@pytest.mark.parametrize(("strict", "problem"), [(False, False), (True, True)])
def test_an_inconclusive_condition_is_a_problem_of_a_strict_gate_alone(strict, problem):
    verdict = Gate((SLOWER,), strict).judge([FAMILY[2], FAMILY[3]])
    assert (verdict.failed, verdict.untold, verdict.problem) == ((), (("slower>25%", "C"),), problem)
    assert [str(one.state) for one in verdict.claims] == ["inconclusive", "equal"]
    assert codes(verdict.sentences) == ["gate-inconclusive", "gate-passed"]
    assert not Gate((SLOWER,), strict).judge([FAMILY[3]]).problem


def test_a_pass_names_the_largest_change_that_is_possible():
    items = [FAMILY[3], item("H", 1.0, 0.125), item("I", 1.5, 0.0, RATE)]
    passed = with_code(Gate((SLOWER,)).judge(items).sentences, "gate-passed")
    assert (passed.values["at_most"], passed.values["condition"]) == (0.125, SLOWER) and "(H)" in passed
    alone = with_code(Gate((SLOWER,)).judge([item("I", 1.5, 0.0, RATE)]).sentences, "gate-passed")
    assert alone.values["limit"] == "" and alone.values["at_most"] == pytest.approx(1 / 1.5 - 1)
    small = with_code(Gate((SLOWER,)).judge(items[1:2]).sentences, "gate-passed")
    assert "12 %" in small.values["limit"] and "(H)" not in small
    none = with_code(Gate((SLOWER,)).judge([item("J", 1.0, 0.0)]).sentences, "gate-passed")
    assert (none.values["at_most"], none.values["limit"]) == (0.0, "")


def test_a_factor_that_is_not_the_shown_ratio_is_named():
    """A rate that falls to 0.5 is 50 % slower in sentences, and changes by the factor 2 of a gate; a time has one."""
    gate = Gate((SLOWER,))
    rates = [*gate.judge([item("x", 0.5, 0.0, RATE)]).rows, *gate.judge([item("x", 1.0, 0.125, RATE)]).rows]
    assert all("a ÷ b" in row.describe_factor("over", 0.25) for row in rates)
    [failed] = gate.judge([item("x", 0.5, 0.0, RATE)]).sentences
    [passed] = gate.judge([item("x", 1.0, 0.125, RATE)]).sentences
    quotient = rates[0].describe_factor("over", SLOWER.share).strip(" ()")
    assert failed.values["factor"] == f" ({rates[0].effect}; {quotient})"
    assert "a ÷ b" in passed.values["limit"]
    times = [*gate.judge([item("x", 2.0, 0.0)]).rows, *gate.judge([item("x", 1.0, 0.125)]).rows]
    assert not any(row.describe_factor("over", 0.25) for row in times)


def test_a_pass_names_the_side_that_is_judged_and_the_baseline():
    for condition in (SLOWER, MORE, DIFFERENT):
        passed = with_code(Gate((condition,)).judge([FAMILY[3]]).sentences, "gate-passed")
        assert passed.values["conclusion"] == condition.passed_by("a", "b")
    several = with_code(
        Gate((SLOWER,)).judge([FAMILY[3], replace(FAMILY[3], sides=("c", "d"))]).sentences, "gate-passed"
    )
    assert several.values["conclusion"] == SLOWER.passed(False)


def test_a_pass_names_what_was_gated_if_something_was_not():
    judged = Gate((SLOWER,)).judge([FAMILY[3]], not_gated=[("G", "why")])
    conclusion = with_code(judged.sentences, "gate-passed").values["conclusion"]
    assert conclusion == SLOWER.passed_by("a", "b", FAMILY[3].name) != SLOWER.passed_by("a", "b")


@pytest.mark.parametrize("condition", [SLOWER, MORE, DIFFERENT])
def test_a_pass_beside_a_failure_is_that_of_the_others(condition):
    alone = with_code(Gate((condition,)).judge([FAMILY[3]]).sentences, "gate-passed")
    beside = with_code(Gate((condition,)).judge([FAMILY[3], FAMILY[0]]).sentences, "gate-passed")
    assert alone.values["conclusion"] != condition.passed(True)
    assert beside.values["conclusion"] == condition.passed(True)
    assert beside.startswith(beside.values["conclusion"]) and not alone.startswith(alone.values["conclusion"])


def test_comparisons_that_are_not_gated_are_listed_by_their_reason():
    reasons = [("G", "why"), ("H", "because"), ("I", "why")]
    sentences = Gate((SLOWER,)).judge([FAMILY[3]], not_gated=reasons).sentences
    assert [one.values for one in sentences[1:]] == [
        {"reason": "why", "comparisons": "G, I"},
        {"reason": "because", "comparisons": "H"},
    ]


def test_an_inconclusive_condition_is_said_as_a_failure_where_it_is_one():
    items = [FAMILY[2]]
    (loose,), (strict,) = Gate((SLOWER,)).judge(items).sentences, Gate((SLOWER,), True).judge(items).sentences
    (nothing,) = Gate((SLOWER,)).inconclusive("C").sentences
    values = {"comparison": "C", "condition": "slower>25%", "factor": ""}
    (row,) = Gate((SLOWER,)).judge(items).rows
    assert loose.values == strict.values == {**values, "factor": f" ({row.effect})"} and nothing.values == values
    assert loose != strict and strict.startswith(nothing)


def test_a_condition_that_applies_to_nothing_is_refused_unless_it_was_sealed():
    items = [item("n", 2.0, 0.0, ERRORS)]
    with raises("condition-not-applicable", DataError, condition="slower>25%", n_comparisons=1):
        Gate((SLOWER,)).judge(items)
    verdict = Gate((SLOWER,)).judge(items, sealed=True)
    assert [(name, why.code) for name, why in verdict.untold] == [("slower>25%", "no-metric")]
    assert [(name, why.code) for name, why in verdict.not_gated] == [("n", "no-better-direction")]
    (inapplicable,) = verdict.claims
    assert (str(inapplicable.state), inapplicable.claim, inapplicable.subject) == ("inconclusive", "slower>25%", ())
    assert Gate((MORE,)).judge(items, sealed=True).not_gated == ()


def test_where_nothing_was_compared_no_gate_passes():
    verdict = Gate((SLOWER, MORE)).inconclusive("b never finished")
    assert verdict.problem and verdict.failed == ()
    expected = (("slower>25%", "b never finished"), ("more>25%", "b never finished"))
    assert verdict.untold == expected
    assert codes(verdict.sentences) == ["gate-inconclusive"] * 2


@pytest.mark.parametrize(
    ("text", "word", "share"),
    [("slower>5%", "slower", 0.05), (" more > 0.5 ", "more", 0.5), ("different>2.5 %", "different", 0.025)],
)
def test_a_condition_is_read_in_percent_or_as_a_share(text, word, share):
    assert parse_gate([text], False) == Gate((Threshold(word, share),))
    assert parse_gate([text, "less>1"], True) == Gate((Threshold(word, share), Threshold("less", 1.0)), True)


def test_what_is_no_condition_is_refused():
    for text in ("slower", "slower>-5%", "slow>5%", "slower>=5%", "slower>5%x", "slower>.5"):
        with raises("invalid-gate-condition", InputError, condition=text):
            parse_gate(["more>1%", text], False)
    with raises("missing-condition", InputError):
        parse_gate([], True)
    assert parse_gate([], False) is None


@pytest.mark.parametrize(
    ("condition", "text"), [(Threshold("slower", 0.05), "slower>5%"), (Threshold("more", 1.234), "more>123.4%")]
)
def test_a_condition_is_written_as_it_is_read(condition, text):
    assert str(condition) == text and parse_gate([text], False) == Gate((condition,))


def test_a_share_beyond_all_is_refused_without_a_sign():
    with raises("ambiguous-share", InputError, number="5", percent="500"):
        parse_gate(["slower>5"], strict=False)
