"""An Examination as text: how the table was read, the findings with their cures, what could not be checked. A noise
Passport as text."""

from collections.abc import Iterator

from iosonde.core.types import Estimate, Finding, Severity
from iosonde.core.units import format_percent
from iosonde.layout.text import escape, table, warning_lines, wrapped
from iosonde.stats.checks.examine import Examination
from iosonde.stats.estimate.noise import POWER, SIZES, MetricNoise, Passport

from .answer import Check, Noise

_MAX_NAMES = 6
_SPLITS = {"random": "random halves", "alternating": "every other trial", "halves": "first against second half"}


def lines(answer: Check) -> Iterator[str]:
    """The lines of the text."""
    examination = answer.examination
    yield from wrapped(_describe_roles(examination))
    for finding in examination.findings:
        yield ""
        yield from _format_finding(finding)
    if examination.unseen:
        yield ""
        yield from wrapped(f"not checked: {'; '.join(examination.unseen)}", "  ")
    if answer.warnings:
        yield ""
    yield from warning_lines(answer.warnings)
    yield ""
    yield from wrapped(_format_sentence(examination))


def _describe_roles(examination: Examination) -> str:
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
    return ", ".join(names[:_MAX_NAMES]) + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")


def _format_finding(finding: Finding) -> Iterator[str]:
    yield from wrapped(f"{finding.code} {finding.severity}: {finding.sentence}", "     ")
    if finding.action:
        yield from wrapped(f"     → {finding.action}", "       ")


def _format_sentence(examination: Examination) -> str:
    worse = [
        f"{n} {severity}{'s' if n > 1 else ''}"
        for severity, n in reversed(examination.n_by_severity.items())
        if n and severity is not Severity.INFO
    ]
    if worse:
        return f"{' and '.join(worse)}; iosonde explain {examination.findings[0].code} explains the first."
    if not examination.n_cells:
        return "Nothing to check: no complete trial."
    return f"Nothing suspicious: {examination.n_checks} checks, {examination.n_cells} cells."


def noise_lines(answer: Noise) -> Iterator[str]:
    """The lines of the text."""
    passport = answer.passport
    yield "spread of trials in a cell; beyond what ranks explain; of ranks in a trial"
    yield from table(
        ["spread", "cells", "trials", "of trials", "beyond", "of ranks"],
        [_format_spread(item) for item in passport.metrics],
        "lrrrrr",
    ).splitlines()
    yield ""
    yield f"smallest detectable difference with power {POWER:g} at level {passport.level:g}, by trials a side"
    yield from table(
        ["difference", *map(str, SIZES)],
        [_format_smallest_difference(item) for item in passport.metrics],
        "l" + "r" * len(SIZES),
    ).splitlines()
    yield ""
    yield "A against A: false-alarm rate of compare without a difference"
    rows = [[words, *_format_false_alarm_rate(getattr(passport, name))] for name, words in _SPLITS.items()]
    yield from table(["split", "share", "interval", "cells"], rows, "lrrr").splitlines()
    yield ""
    yield from wrapped(_format_noise_sentence(passport))


def _format_name(item: MetricNoise) -> str:
    return escape(item.operation or item.metric)


def _format_spread(item: MetricNoise) -> list[str]:
    parts = item.components
    nested = ["~", "~"] if parts is None else [format_percent(e.value or 0) for e in (parts.between, parts.within)]
    trial_spread = "~" if item.sd_log is None else format_percent(item.sd_log)
    return [_format_name(item), str(item.n_cells), str(item.n_trials), trial_spread, *nested]


def _format_smallest_difference(item: MetricNoise) -> list[str]:
    values = [item.smallest[n].value if n in item.smallest else None for n in SIZES]
    return [_format_name(item), *("~" if value is None else format_percent(value) for value in values)]


def _format_false_alarm_rate(estimate: Estimate) -> list[str]:
    if estimate.value is None:
        return ["~", "~", str(estimate.n)]
    interval = (
        "~"
        if estimate.low is None or estimate.high is None
        else (f"{100 * estimate.low:.1f}–{100 * estimate.high:.1f} %")
    )
    return [f"{100 * estimate.value:.1f} %", interval, str(estimate.n)]


def _format_noise_sentence(passport: Passport) -> str:
    promised = 1 - passport.level
    if passport.halves.value is None or passport.halves.low is None:
        return f"The false-alarm rate of compare is unknown: {passport.halves.warnings[0]}."
    if passport.halves.low > promised:
        return (
            f"Before against after raises a false alarm in {100 * passport.halves.value:.0f} % of the cells "
            f"instead of {100 * promised:.2g} %: the system changes over time. Interleave A and B."
        )
    return (
        f"No sign that the false-alarm rate of compare exceeds its nominal {100 * promised:.2g} % "
        f"({passport.halves.n} cells)."
    )
