"""An Examination as text: how the table was read, the findings with their cures, what could not be checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.types import Finding, Severity
from iosonde.layout.text import wrapped

if TYPE_CHECKING:
    from iosonde.stats.checks.examine import Examination

    from .answer import Check

_MAX_NAMES = 6


def lines(answer: Check) -> Iterator[str]:
    """The lines of the text."""
    examination = answer.examination
    yield from wrapped(_read_as(examination))
    for finding in examination.findings:
        yield ""
        yield from _format_finding(finding)
    if examination.unseen:
        yield ""
        yield from wrapped(f"not checked: {'; '.join(examination.unseen)}", "  ")
    if answer.warnings:
        yield ""
    for warning in answer.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield ""
    yield from wrapped(_format_sentence(examination))


def _read_as(examination: Examination) -> str:
    trials = (
        f"{examination.fewest}"
        if examination.fewest == examination.most
        else f"{examination.fewest} to {examination.most}"
    )
    many = "s" if (examination.fewest, examination.most) != (1, 1) else ""
    summary = f"{examination.n_cells} cells of {trials} trial{many}; measured: {_join_names(examination.responses)}"
    if examination.settings:
        summary += f"; settings: {_join_names(examination.settings)}"
    return summary + (f"; left out: {_join_names(examination.ignored)}" if examination.ignored else "")


def _join_names(names: tuple[str, ...]) -> str:
    text = ", ".join(names[:_MAX_NAMES])
    return text + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")


def _format_finding(finding: Finding) -> Iterator[str]:
    yield from wrapped(f"{finding.code} {finding.severity}: {finding.sentence}", "     ")
    if finding.action:
        yield from wrapped(f"     → {finding.action}", "       ")


def _format_sentence(examination: Examination) -> str:
    counts = examination.n_by_severity
    worse = [
        f"{n} {severity}{'s' if n > 1 else ''}"
        for severity, n in reversed(counts.items())
        if n and severity is not Severity.INFO
    ]
    if worse:
        first = examination.findings[0].code
        return f"{' and '.join(worse)}; iosonde explain {first} explains the first."
    if not examination.n_cells:
        return "Nothing to check: no complete trial."
    return f"Nothing suspicious: {examination.n_checks} checks, {examination.n_cells} cells."
