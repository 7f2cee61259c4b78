"""Verdicts as test cases, in which forges and test runners show results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .gate import GateRow, GateVerdict
from .units import format_ratio
from .verdict import Verdict, VerdictState

HOLDS, INCONCLUSIVE = "limit", "inconclusive"  # types of failures


@dataclass(frozen=True)
class TestCase:
    """``failure``: the type of its failure, '' without one; ``is_skipped``: it is neither passed nor failed; ``text``:
    why, or '' for a case that just passed."""

    name: str
    text: str = ""
    failure: str = ""
    is_skipped: bool = False


@dataclass(frozen=True)
class TestSuite:
    """The cases of a command about ``data``."""

    command: str
    data: str
    cases: tuple[TestCase, ...]

    @property
    def n_failures(self) -> int:
        """Count the cases that failed."""
        return sum(bool(case.failure) for case in self.cases)

    @property
    def n_skipped(self) -> int:
        """Count the cases that are neither passed nor failed."""
        return sum(case.is_skipped for case in self.cases)


def build_suite(command: str, data: str, gate: GateVerdict | None, verdicts: Sequence[Verdict]) -> TestSuite:
    """Return a case for each condition of a gate: one that holds is a failure, an inconclusive one is skipped, or a
    failure where it makes the exit code 1. Without a gate return one for each verdict, none of which fails."""
    cases = map(_build_verdict_case, verdicts) if gate is None else _iterate_conditions(gate)
    return TestSuite(command, data, tuple(cases))


def _iterate_conditions(gate: GateVerdict) -> Iterator[TestCase]:
    is_failure = gate.gate.strict or gate.nothing
    for row in gate.rows:
        yield _build_case(f"{row.item.name}: {row.condition}", row.holds, _describe_row(row), is_failure)
    for condition, why in gate.none:
        yield _build_case(condition, None, why, is_failure)


def _describe_row(row: GateRow) -> str:
    if row.holds is None:
        return row.describe("gate-inconclusive", INCONCLUSIVE)
    return row.describe("gate-failed", "failed") if row.holds else row.describe("gate-passed", "passed")


def _build_case(name: str, holds: bool | None, text: str, is_failure: bool) -> TestCase:
    if holds is None:
        return TestCase(name, text, INCONCLUSIVE if is_failure else "", not is_failure)
    return TestCase(name, text, HOLDS if holds else "")


def _build_verdict_case(verdict: Verdict) -> TestCase:
    name = ", ".join(filter(None, [verdict.response, verdict.claim, " against ".join(reversed(verdict.subject))]))
    ratio = verdict.estimate
    number = "" if ratio is None or ratio.value is None else format_ratio(ratio.value)
    if ratio is not None and number and ratio.low is not None and ratio.high is not None:
        number += f", {format_ratio(ratio.low)} to {format_ratio(ratio.high)}"
    text = "; ".join(filter(None, [str(verdict.state), number, verdict.why]))
    return TestCase(name, text, is_skipped=verdict.state is VerdictState.INCONCLUSIVE)
