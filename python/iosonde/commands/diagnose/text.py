"""A diagnosis as text: the classes of each operation, their common properties, their costs, the certainty."""

from collections.abc import Iterator

from iosonde.core.estimate_text import format_estimate
from iosonde.core.types import Estimate
from iosonde.core.units import format_rate
from iosonde.core.verdict import VerdictState
from iosonde.core.words import format_count, format_decimals, format_share, join_names, pluralize
from iosonde.layout.text import table, warning_lines, wrapped

from .answer import DiagnosedOperations, OperationCauses
from .operation_class import OperationClass
from .text_counters import format_diagnosis

_LOW_P = 0.05
_OVERLAP = 0.1  # of the lower peak, from which operations are misclassified noticeably
_COARSE = 0.02  # of a fast operation, from which the step of the clock matters


def lines(operation_causes: OperationCauses) -> Iterator[str]:
    """The lines of the text."""
    if operation_causes.study:
        yield from operation_causes.study.short_lines()
        yield ""
    several = [diagnosed for diagnosed in operation_causes.groups if len(diagnosed.classes) > 1]
    single = [diagnosed for diagnosed in operation_causes.groups if len(diagnosed.classes) == 1]
    for place, group in enumerate(several):
        if place:
            yield ""
        yield from _format_group(group, operation_causes.level)
    for place, diagnosis in enumerate(operation_causes.counters):
        if place or several:
            yield ""
        yield from format_diagnosis(diagnosis)
    if (several or operation_causes.counters) and single:
        yield ""
    for group in single:
        typical = format_rate(group.classes[0].typical_s, "s")
        trend = f" S413: {group.drift.sentence}." if group.drift else ""
        reading_note = f" It reads like {group.reading.words}." if group.reading else ""
        yield from wrapped(f"{format_title(group)}: one class around {typical}.{reading_note}{trend}", "  ")
    notes = [*operation_causes.notes, *dict.fromkeys(note for group in operation_causes.groups for note in group.notes)]
    if several:
        notes.append(operation_causes.limits[0])
    if notes:
        yield ""
    yield from warning_lines(notes)


def _format_group(group: DiagnosedOperations, level: float) -> Iterator[str]:
    yield from wrapped(f"{format_title(group)}: {len(group.classes)} classes; {100 * level:g} % intervals")
    yield ""
    rows = [
        [
            operation_class.called,
            format_rate(operation_class.typical_s, "s"),
            format_rate(operation_class.high_s, "s"),
            _format_share(operation_class.shares.share),
            _format_share(operation_class.shares.time_share),
        ]
        for operation_class in group.classes
    ]
    if group.reading:
        yield from wrapped(f"reads like {group.reading.words}", "  ")
        yield ""
    yield from table(["class", "typical", "up to", "operations, %", "time, %"], rows, "lrrrr").splitlines()
    yield ""
    for operation_class in group.classes:
        if operation_class.shares.cost_s.value:
            yield from _format_class(operation_class)
    if group.drift:
        yield from wrapped(f"S413: {group.drift.sentence}.", "  ")
    yield from wrapped(_format_cost(group))
    yield from wrapped(_describe_certainty(group))


def build_class_rows(group: DiagnosedOperations) -> list[list[str]]:
    """Return a row per class: name, duration, shares of operations and of time, cost, reason.
    The cost is in seconds of the run. The reason is what its operations have in common, or what it reads like.
    """
    return [
        [
            operation_class.called,
            format_rate(operation_class.typical_s, "s"),
            _format_share(operation_class.shares.share),
            _format_share(operation_class.shares.time_share),
            format_estimate(operation_class.shares.cost_s, "s") if operation_class.shares.cost_s.value else "",
            _describe_reason(operation_class),
        ]
        for operation_class in group.classes
    ]


def _describe_reason(operation_class: OperationClass) -> str:
    if not operation_class.shares.cost_s.value:
        return ""
    reasons = [
        *(f"{reason.suspect.code}: {reason.suspect.sentence}" for reason in operation_class.reasons[:1]),
        *([f"reads like {operation_class.reading.words}"] if operation_class.reading else []),
    ]
    return "; ".join(reasons) or "inconclusive"


def format_title(group: DiagnosedOperations) -> str:
    """Return what is diagnosed, with the numbers of operations and trials."""
    setting = f", {group.group.setting_words}" if group.group.setting_words else ""
    failed = f", {group.failed:,} failed" if group.failed else ""
    return (
        f"{group.group.name}, {format_count(group.n, 'operation')} in "
        f"{format_count(group.trials, 'trial')}{failed}{setting}"
    )


def _format_share(share: Estimate) -> str:
    """Format ``6.2 (6.1 to 6.4)``, with enough decimals to distinguish a small share from none."""
    value = 100 * (share.value or 0.0)
    digits = 1 if value >= 1 else 2 if value >= 0.1 else 4
    if share.low is None or share.high is None:
        return f"{format_decimals(value, digits)} (~)"
    return (
        f"{format_decimals(value, digits)} ({format_decimals(100 * share.low, digits)} to "
        f"{format_decimals(100 * share.high, digits)})"
    )


def _format_class(operation_class: OperationClass) -> Iterator[str]:
    place = f"; {operation_class.where.words}" if operation_class.where.words else ""
    yield from wrapped(
        f"{operation_class.called}: costs {format_estimate(operation_class.shares.cost_s, 's')} of the run{place}"
    )
    if operation_class.reading:
        yield from wrapped(f"reads like {operation_class.reading.words}", "  ", "  ")
    if operation_class.state is VerdictState.NOT_SEPARABLE:
        yield from wrapped(
            f"not separable here: {join_names(operation_class.explanations)} explain it about equally well", "  ", "  "
        )
    for reason in operation_class.reasons:
        suspect = reason.suspect
        trials = f" In {reason.n_matching} of {format_count(reason.of, 'trial')}." if reason.of > 1 else ""
        yield from wrapped(
            f"{suspect.code} {suspect.agreement.confidence}: {suspect.sentence}.{trials}", "       ", "  "
        )
        yield from wrapped(f"→ to confirm: {suspect.confirm}", "       ", "     ")
    if not operation_class.reasons:
        yield from wrapped("inconclusive: these operations have no detected property in common", "  ", "  ")
    yield ""


def _format_cost(group: DiagnosedOperations) -> str:
    cost = group.cost
    fast = group.classes[group.density.fast].called
    elapsed, rate = format_rate(cost.elapsed_s.value or 0.0, "s"), format_rate(cost.rate.value or 0.0, cost.unit)
    return (
        f"If all had been {fast}: {format_estimate(cost.cost_s, 's')} of {elapsed} less at most, "
        f"{format_estimate(cost.rate_if_fast, cost.unit)} instead of {rate}. The slowest 1 % took "
        f"{format_share(group.tail.value)} of the time."
    )


def _describe_certainty(group: DiagnosedOperations) -> str:
    density = group.density
    hills, mixture, test = density.hills, density.mixture, density.test
    many = len(hills.tops)
    paragraph = (
        f"How sure: {many} {'hill' if many == 1 else pluralize('hill')} at {100 * hills.stability:.0f} % of the "
        f"bandwidths, from {hills.stable_from:.2g} to {hills.stable_to:.2g}; a mixture of "
        f"{format_count(len(mixture.weights), 'normal')} has {mixture.hills}"
    )
    if test is not None:
        paragraph += (
            f"; more than one: p={test.p:.2g}" if test.p < _LOW_P else f"; a single one is not rejected: p={test.p:.2g}"
        )
    if group.step_s > _COARSE * group.classes[density.fast].typical_s:
        paragraph += f"; durations are in steps of {format_rate(group.step_s, 's')}, which hides smaller differences"
    if hills.overlap > _OVERLAP:
        paragraph += "; classes overlap: the intervals of their shares do not include the error of their border"
    trials = "; one trial: the intervals are of blocks of its time" if group.trials == 1 else ""
    return f"{paragraph}{trials}."
