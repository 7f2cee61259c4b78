"""The file of ``--junit``: the verdicts of a command as test cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from iosonde.core.gate import GateVerdict
from iosonde.core.headlines import write_metric_names
from iosonde.core.test_cases import TestSuite, build_suite
from iosonde.core.verdict import Verdict
from iosonde.core.whole_file import replace_file
from iosonde.layout.junit import format_junit

from .result import Result


class GatedAnswer(Protocol):
    """An answer with verdicts, and those of its gate."""

    @property
    def judged(self) -> GateVerdict | None:
        """Verdict of the gate, if there is one."""

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """All verdicts."""

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""

    def records(self) -> list[dict[str, Any]]:
        """Return rows."""


AnswerT = TypeVar("AnswerT", bound=GatedAnswer)


def write_junit(path: str, suite: TestSuite, write: Callable[[str], str] = write_metric_names) -> None:
    """Write the test cases; ``write`` spells the names of metrics. Raises InputError, SystemFaultError."""
    replace_file(Path(path), format_junit(suite, write))


def add_junit(result: Result[AnswerT], path: str | None, command: str, data: str) -> Result[AnswerT]:
    """Return a result that also writes its test cases, if there is a ``path``."""
    if path is None:
        return result
    suite = build_suite(command, data, result.answer.judged, result.answer.verdicts)
    return replace(result, write=lambda: write_junit(path, suite))
