"""Findings of a page: from the checks, the runs, the store and the regressions."""

import re
from collections import Counter
from collections.abc import Sequence

from iosonde.commands.regress.content import ResponseRegression
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity
from iosonde.core.words import format_count
from iosonde.page.tables import Section
from iosonde.page.words import warning_to_sentence
from iosonde.stats.overview.types import Overview

_DATA = "data: "
# Codes of warnings on how the data was read.
_ASSUMPTIONS = frozenset(
    (
        "assumed-factors",
        "averaged-parts",
        "cells-with-units",
        "computed-columns",
        "decimal-commas",
        "repeated-header",
        "title-skipped",
        "units-below-header",
    )
)
_NUMBER = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?")


def collect_findings(
    overview: Overview,
    runs: Sequence[StoredRun],
    problems: Sequence[Finding],
    model_findings: Sequence[Finding] = (),
) -> tuple[Finding, ...]:
    """Collect the findings of the checks, the runs, the store and the regressions; each sentence once, most severe
    first."""
    run_findings = [finding for run in runs for finding in run.findings]
    every = {
        (entry.code, entry.sentence): entry for entry in (*overview.findings, *run_findings, *problems, *model_findings)
    }
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    return tuple(
        sorted(
            [*every.values(), *findings_from_warnings(overview.warnings)], key=lambda entry: order.index(entry.severity)
        )
    )


def findings_from_warnings(warnings: Sequence[str]) -> list[Finding]:
    """Convert warnings without a finding's code to findings, except how the data was read."""
    return [
        Finding("", Severity.WARNING, warning_to_sentence(warning))
        for warning in warnings
        if not _is_assumption(warning)
    ]


def describe_assumptions(warnings: Sequence[str]) -> list[str]:
    """Return one sentence on how the data was read; none if nothing was assumed."""
    texts = [text.removeprefix(_DATA) for text in warnings if _is_assumption(text)]
    return [f"Data: {'; '.join(texts)}."] if texts else []


def _is_assumption(warning: str) -> bool:
    return isinstance(warning, Message) and warning.code in _ASSUMPTIONS


def format_finding_counts(findings: Sequence[Finding], measured: bool) -> str:
    """Count the findings by severity."""
    if not findings:
        return "No check found a problem." if measured else ""
    counts = Counter(str(finding.severity) for finding in findings)
    nouns = {"error": "error", "warning": "warning", "info": "note"}
    phrases = [format_count(counts[severity], noun) for severity, noun in nouns.items() if counts[severity]]
    return f"{' and '.join([', '.join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)}."


def select_top_findings(models: Section[ResponseRegression]) -> list[Finding]:
    """Return the models' findings for the first screen. Findings of several models that differ only in numbers appear
    once, with the models' names."""
    several = len(models.items) > 1
    groups = group_by_key(
        ((finding.code, _NUMBER.sub("", finding.sentence)), (model.title, finding))
        for model in models.items
        for finding in model.findings
    )
    top_findings = []
    for pairs in groups.values():
        title, first = pairs[0]
        others = [other for other, _ in pairs[1:]]
        alike = len({member.sentence for _, member in pairs}) == 1
        who = f"{title} and {format_count(len(others), 'other')}" if others and alike else title
        sentence = f"{who if several else 'regression'}: {first.sentence}"
        sentence += "" if alike else f"; with other numbers of {format_count(len(others), 'other')}"
        evidence = {**first.evidence, **({"said of": ", ".join([title, *others])} if others else {})}
        top_findings.append(Finding(first.code, first.severity, sentence, evidence, first.action))
    return top_findings
