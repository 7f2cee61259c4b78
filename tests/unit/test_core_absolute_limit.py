"""Absolute limits of a gate: how they are written, in which units, and when they hold."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from iosonde.core.absolute_limit import AbsoluteLimit, parse_limit
from iosonde.core.errors import DataError, InputError
from iosonde.core.gate import Gate, GateItem, GateVerdict, parse_gate
from iosonde.core.metrics import build_metric
from iosonde.core.types import Estimate
from messages import raises

LEVEL = 0.75


@dataclass(frozen=True)
class Mean:
    """A mean of B whose interval at ``LEVEL`` shared by m tests is m times as wide; nothing is known of a ratio."""

    value: float
    half: float

    @property
    def gated_ratio(self) -> Estimate:
        return Estimate(1.0, 0.9, 1.1, LEVEL, 4)

    def ratio_at(self, level: float) -> Estimate:
        return self.gated_ratio

    def value_at(self, level: float | None) -> Estimate:
        half = self.half * (1 - LEVEL) / (1 - (level or LEVEL))
        return Estimate(self.value, self.value - half, self.value + half, level or LEVEL, 4)


def item(operation: str, metric: str, unit: str, value: float, half: float, **more: bool) -> GateItem:
    name = f"{operation} {metric}"
    return GateItem(name, Mean(value, half), build_metric(metric, unit), LEVEL, ("a", "b"), operation=operation, **more)


def judge(condition: str, *items: GateItem) -> GateVerdict:
    gate = parse_gate([condition], False)
    assert gate is not None
    return gate.judge(items)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("p99>5ms", AbsoluteLimit("p99", True, "5", "ms")),
        ("bandwidth < 2 GiB/s", AbsoluteLimit("bandwidth", False, "2", "GiB/s")),
        ("read completion latency p99>1.5e3us", AbsoluteLimit("read completion latency p99", True, "1.5e3", "us")),
        ("iops<100k", AbsoluteLimit("iops", False, "100", "k")),
        ("score<5", AbsoluteLimit("score", False, "5")),
        ("p99>5%", None),
        ("p99>=5ms", None),
        ("p99", None),
        (">5ms", None),
    ],
)
def test_a_limit_is_a_metric_a_relation_and_a_value(text: str, limit: AbsoluteLimit | None) -> None:
    assert parse_limit(text) == limit
    assert limit is None or parse_limit(str(limit)) == limit


@pytest.mark.parametrize("text", ["slower>5ms", "p99>5%", "p99>=5ms", "nonsense"])
def test_what_is_neither_a_share_nor_a_limit_is_refused(text: str) -> None:
    with raises("invalid-gate-condition", InputError):
        parse_gate([text], False)


@pytest.mark.parametrize(
    ("limit", "unit", "bound"),
    [
        ("x>5ms", "s", 0.005),
        ("x>5ms", "us", 5000),
        ("x<2GiB/s", "bytes/s", 2 << 30),
        ("x<2GiB/s", "MiB/s", 2048),
        ("x<1GB/s", "MB/s", 1000),
        ("x<100k", "operations/s", 1e5),
        ("x<100kIOPS", "kIOPS", 100),
        ("x<100", "operations/s", 100),
        ("x<64KiB", "bytes", 65536),
        ("x<5", "", 5),
        ("x<5", "MiB/s", 5),
        ("x<5W", "W", 5),
        ("x<5", "bytes/s", None),  # nobody writes bytes/s
        ("x<5", "s", None),
        ("x<5GiB/s", "s", None),
        ("x<5ms", "operations/s", None),
        ("x<5V", "W", None),
    ],
)
def test_a_limit_is_converted_to_the_unit_of_the_values(limit: str, unit: str, bound: float | None) -> None:
    parsed = parse_limit(limit)
    assert parsed is not None and parsed.convert_bound(unit) == (None if bound is None else pytest.approx(bound))


@pytest.mark.parametrize(
    ("condition", "value", "half", "holds"),
    [
        ("p99>5ms", 0.007, 0.001, True),
        ("p99>5ms", 0.0055, 0.001, None),
        ("p99>5ms", 0.0035, 0.001, False),
        ("p99<5ms", 0.0035, 0.001, True),
        ("p99<5ms", 0.0055, 0.001, None),
        ("p99<5ms", 0.007, 0.001, False),
    ],
)
def test_a_limit_holds_if_the_whole_interval_is_beyond_it(
    condition: str, value: float, half: float, holds: bool | None
) -> None:
    verdict = judge(condition, item("read", "completion_latency_p99", "s", value, half))
    assert [row.holds for row in verdict.rows] == [holds] and verdict.problem == (holds is True)


def test_a_limit_judges_its_metric_alone_and_shares_its_error() -> None:
    slow, other = item("read", "latency_p99", "s", 0.007, 0.0015), item("read", "rate_last_done", "operations/s", 9, 1)
    assert judge("p99>5ms", slow, other).failed == (("p99>5ms", slow.name),)
    assert [name for name, _ in judge("p99>5ms", slow, other).not_gated] == [other.name]
    two = judge("p99>5ms", slow, item("write", "latency_p99", "s", 0.001, 0.0001))
    assert [row.holds for row in two.rows] == [None, False]  # twice as wide, it holds 5 ms
    assert judge("read p99>5ms", slow, item("write", "latency_p99", "s", 0.9, 0.1)).failed == (
        ("read p99>5ms", slow.name),
    )


def test_a_difference_that_is_not_separable_fails_no_relative_condition_but_a_limit() -> None:
    of_two = item("read", "latency_p99", "s", 0.007, 0.001, is_separable=False)
    assert judge("p99>5ms", of_two).problem
    assert judge("different>1%", of_two).untold == (("different>1%", of_two.name),)
    assert judge("p99>5ms", item("read", "latency_p99", "s", 0.007, 0.001, doubtful=True)).untold


def test_a_limit_of_another_kind_or_of_no_metric_is_refused_unless_it_was_sealed() -> None:
    items = [item("read", "latency_p99", "s", 0.007, 0.001)]
    with raises("unit-mismatch", DataError):
        judge("p99>5GiB/s", *items)
    with raises("condition-not-applicable", DataError):
        judge("p50>5ms", *items)
    for condition in ("p99>5GiB/s", "p50>5ms"):
        gate = parse_gate([condition], True)
        assert isinstance(gate, Gate) and gate.judge(items, sealed=True).untold[0][0] == condition
