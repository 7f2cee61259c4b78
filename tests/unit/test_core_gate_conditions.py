"""Conditions of a gate that name their metrics: how they are read, what they judge, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from iosonde.core.absolute_limit import AbsoluteLimit
from iosonde.core.errors import DataError, InputError
from iosonde.core.gate import GateItem, GateVerdict, MissingPart, parse_gate
from iosonde.core.gate_conditions import Threshold, has_applicable_limit, parse_condition
from iosonde.core.metrics import build_metric
from iosonde.core.types import Estimate
from messages import raises

RATE, P99, ERRORS = build_metric("bandwidth", "bytes/s"), build_metric("latency_p99", "s"), build_metric("errors", "")


@dataclass(frozen=True)
class Exact:
    """A ratio without uncertainty."""

    value: float

    @property
    def gated_ratio(self) -> Estimate:
        return self.ratio_at(0.95)

    def ratio_at(self, level: float) -> Estimate:
        return Estimate(self.value, self.value, self.value, level, 6)

    def value_at(self, level: float | None) -> Estimate:
        return self.ratio_at(level or 0.95)


def item(operation: str, ratio: float, metric: object = RATE) -> GateItem:
    return GateItem(f"{operation} {metric.name}", Exact(ratio), metric, 0.95, ("a", "b"), operation=operation)  # type: ignore[attr-defined, arg-type]


# Both rates fall by 4.8 %, the latency grows by 8 %.
ITEMS = (item("read", 1 / 1.05), item("write", 1 / 1.05), item("read", 1.08, P99), item("read", 3.0, ERRORS))


def judge(*conditions: str, strict: bool = False, missing: tuple[MissingPart, ...] = ()) -> GateVerdict:
    gate = parse_gate(conditions, strict)
    assert gate is not None
    return gate.judge(ITEMS, missing=missing)


@pytest.mark.parametrize("text", ["read: slower>3%", " read :slower > 3 %", "read: slower>0.03"])
def test_the_words_before_the_colon_are_metrics(text: str) -> None:
    condition = parse_condition(text)
    assert condition == Threshold("slower", 0.03, "read") and parse_condition(str(condition)) == condition


def test_a_condition_is_read_again_as_it_was_written() -> None:
    for text in ("slower>5%", "read bandwidth: more>2.5%", "write, read: different>1%", "p99>5ms", "bandwidth<2GiB/s"):
        assert str(parse_condition(text)) == text
    assert parse_condition("read: p99>5ms") == AbsoluteLimit("read p99", True, "5", "ms")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (": slower>3%", "invalid-gate-condition"),
        ("read: slower", "invalid-gate-condition"),
        ("read: slower<3%", "invalid-gate-condition"),
        ("read: write: slower>3%", "invalid-gate-condition"),
        ("read: slower>3", "ambiguous-share"),
    ],
)
def test_what_is_no_condition(text: str, code: str) -> None:
    with raises(code, InputError):
        parse_condition(text)


@pytest.mark.parametrize(
    ("conditions", "failed"),
    [
        (["slower>3%"], ["read bandwidth", "write bandwidth", "read latency_p99"]),
        (["read: slower>3%"], ["read bandwidth", "read latency_p99"]),
        (["read bandwidth: slower>3%"], ["read bandwidth"]),
        (["p99: slower>3%", "write: slower>10%"], ["read latency_p99"]),
        (["p99: slower>10%", "slower>3%"], ["read bandwidth", "write bandwidth"]),
        (["errors: more>5%"], ["read errors"]),
    ],
)
def test_each_metric_has_its_own_limit(conditions: list[str], failed: list[str]) -> None:
    """One for some metrics takes the place of the general one of the same word."""
    verdict = judge(*conditions)
    assert [name for _, name in verdict.failed] == failed and not verdict.untold


def test_what_has_no_limit_is_not_gated() -> None:
    verdict = judge("write: slower>3%")
    assert [name for name, _ in verdict.not_gated] == [item.name for item in ITEMS if item.operation == "read"]


@pytest.mark.parametrize("text", ["stat: slower>3%", "errors: slower>3%"])
def test_a_name_that_nothing_has_is_refused(text: str) -> None:
    with raises("condition-not-applicable", DataError):
        judge(text)


def test_a_general_limit_that_others_replace_is_no_mistake() -> None:
    verdict = judge("slower>1%", "read: slower>50%", "write: slower>50%")
    assert not verdict.problem


def test_a_failure_comes_first() -> None:
    verdict = judge("slower>3%", "p99: slower>50%")
    assert verdict.sentences[: len(verdict.failures)] == verdict.failures and len(verdict.failures) == 2
    rows = [row for row in verdict.rows if row.holds]
    assert all(row.effect in row.describe("gate-failed", "") and row.effect for row in rows)


def test_what_the_base_alone_has_is_inconclusive() -> None:
    missing = (MissingPart("machine alpha"), MissingPart("stat", is_metric=True))
    general, special = judge("slower>50%", missing=missing), judge("write: slower>50%", missing=missing)
    assert [name for _, name in general.untold] == [part.text for part in missing] and not general.problem
    assert [name for _, name in special.untold] == [missing[0].text]
    assert judge("slower>50%", strict=True, missing=missing).problem
    limit = parse_gate(["bandwidth>5GiB/s"], True)
    assert limit is not None and not limit.judge(ITEMS[:2], missing=missing).untold


def test_a_sealed_pair_has_the_limit_of_its_metric() -> None:
    conditions = tuple(map(parse_condition, ("slower>3%", "read: slower>10%")))
    write, read = ("write", "bandwidth", "bytes/s"), ("read", "bandwidth", "bytes/s")
    chosen = [[has_applicable_limit(c, name, conditions) for c in conditions] for name in (write, read)]
    assert chosen == [[True, False], [False, True]]
