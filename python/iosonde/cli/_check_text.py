"""An Examination as text: how the table was read, the findings with their cures, what could not be seen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from iosonde.core.types import Finding, Severity
from iosonde.report.text import escape
from iosonde.stats.checks.examine import Examination

_WIDTH = 79
_NAMES_SHOWN = 6


def lines(made: Examination) -> Iterator[str]:
    """The lines of the text."""
    yield from _wrapped(_read_as(made))
    for finding in made.findings:
        yield ""
        yield from _finding(finding)
    if made.unseen:
        yield ""
        yield from _wrapped(f"not seen: {'; '.join(made.unseen)}", "  ")
    yield ""
    yield from _wrapped(_sentence(made))


def _read_as(made: Examination) -> str:
    trials = f"{made.fewest}" if made.fewest == made.most else f"{made.fewest} to {made.most}"
    many = "s" if (made.fewest, made.most) != (1, 1) else ""
    said = f"{made.n_cells} cells of {trials} trial{many}; measured: {_some(made.responses)}"
    if made.settings:
        said += f"; settings: {_some(made.settings)}"
    return said + (f"; left out: {_some(made.ignored)}" if made.ignored else "")


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown + (f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else "")


def _finding(finding: Finding) -> Iterator[str]:
    yield from _wrapped(f"{finding.code} {finding.severity}: {finding.sentence}", "     ")
    if finding.action:
        yield from _wrapped(f"     → {finding.action}", "       ")


def _sentence(made: Examination) -> str:
    counts = {severity: sum(f.severity is severity for f in made.findings) for severity in Severity}
    worse = [f"{n} {severity}{'s' if n > 1 else ''}" for severity, n in reversed(counts.items())
             if n and severity is not Severity.INFO]  # fmt: skip
    if worse:
        first = made.findings[0].code
        return f"{' and '.join(worse)}; iosonde explain {first} says more about the first."
    if not made.n_cells:
        return "Nothing to check: no complete trial."
    return f"Nothing suspicious: {made.n_checks} checks, {made.n_cells} cells."


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [""]  # fmt: skip
