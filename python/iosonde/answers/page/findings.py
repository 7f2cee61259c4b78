"""What looks wrong: of the checks, the runs, the store and the regressions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity
from iosonde.core.words import counted
from iosonde.stats.overview.types import Overview

from .content.models import ResponseRegression
from .content.tables import Section
from .sentences import as_sentence

_NUMBER = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?")


def findings_of(
    overview: Overview,
    runs: Sequence[StoredRun],
    problems: Sequence[Finding],
    of_models: Sequence[Finding] = (),
) -> tuple[Finding, ...]:
    """Of the checks, the runs themselves, the store and the regressions; each sentence once, the worst first."""
    of_runs = [finding for run in runs for finding in run.findings]
    every = {(one.code, one.sentence): one for one in (*overview.findings, *of_runs, *problems, *of_models)}
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    return tuple(sorted([*every.values(), *said(overview.warnings)], key=lambda one: order.index(one.severity)))


def said(warnings: Sequence[str]) -> list[Finding]:
    """Warnings without a code of their own, as findings."""
    return [Finding("", Severity.WARNING, as_sentence(warning)) for warning in warnings]


def wrong(findings: Sequence[Finding], measured: bool) -> str:
    """How many findings of which severity."""
    if not findings:
        return "None of the checks found anything." if measured else ""
    counts = Counter(str(finding.severity) for finding in findings)
    nouns = {"error": "error", "warning": "warning", "info": "note"}
    said = [counted(counts[severity], noun) for severity, noun in nouns.items() if counts[severity]]
    return f"{' and '.join([', '.join(said[:-1]), said[-1]] if len(said) > 1 else said)}."


def at_the_top(models: Section[ResponseRegression]) -> list[Finding]:
    """What speaks against the models, for the page's first screen: what is said of several once, its numbers aside,
    with those it is about."""
    several = len(models.items) > 1
    found: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for model in models.items:
        for finding in model.findings:
            words = _NUMBER.sub("", finding.sentence)
            found.setdefault((finding.code, words), []).append((model.title, finding))
    said = []
    for pairs in found.values():
        title, first = pairs[0]
        others = [other for other, _ in pairs[1:]]
        alike = len({one.sentence for _, one in pairs}) == 1
        who = f"{title} and {counted(len(others), 'other')}" if others and alike else title
        sentence = f"{who if several else 'regression'}: {first.sentence}"
        sentence += "" if alike else f"; with other numbers of {counted(len(others), 'other')}"
        evidence = {**first.evidence, **({"said of": ", ".join([title, *others])} if others else {})}
        said.append(Finding(first.code, first.severity, sentence, evidence, first.action))
    return said
