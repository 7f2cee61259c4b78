"""The time model as text: the parts under each condition, the diagnosis, its limits."""

from collections.abc import Iterator, Sequence

from iosonde.core.units import choose_human_scale, format_rate, format_significant, format_size
from iosonde.layout.text import format_estimate_parts, table, wrapped
from iosonde.model.time_model import LIMITS, PARTS, ConditionLine, Diagnosis, TimeCondition

from .answer import ConditionShares, TimeModel

_CLOSE = 0.25


def lines(time_model: TimeModel) -> Iterator[str]:
    """The lines of the text."""
    fitted, groups = time_model.lines, time_model.groups
    if fitted:
        yield from _format_lines(fitted, time_model.level)
    if groups:
        yield from _format_groups(groups, time_model.level)
    for size in time_model.sizes:
        if fitted or groups or size is not time_model.sizes[0]:
            yield ""
        yield from _format_parts(time_model.conditions, size, not fitted)
    if time_model.diagnoses:
        yield ""
        yield from _format_diagnosis(time_model.diagnoses)
    if time_model.sizes or not groups:
        yield ""
    if not fitted:
        yield from wrapped("; ".join(f"{name}: {text}" for name, text in PARTS.items()) + ".")
    yield from wrapped(f"Not in it: {'; '.join(LIMITS)}.", "  ")


def format_mixtures(time_model: TimeModel) -> Iterator[str]:
    """Yield for each observed time the mixture of two conditions that would explain it."""
    yield ""
    for diagnosis, mixture in zip(time_model.diagnoses, time_model.mixtures, strict=True):
        time = diagnosis.observed_s
        if mixture is None:
            yield from wrapped(f"{format_rate(time, 's')} lies outside all conditions: no mixture of two explains it.")
        else:
            share = 100 * mixture.share
            yield from wrapped(
                f"{format_rate(time, 's')} could be {100 - share:.0f} % {mixture.faster} and {share:.0f} % "
                f"{mixture.slower}."
            )


def _format_groups(groups: Sequence[ConditionShares], level: float) -> Iterator[str]:
    yield from wrapped(f"Share of the operations nearest to each condition, %; {100 * level:g} % intervals")
    yield ""
    for group in groups:
        rows = []
        for name, estimate in group.shares.items():
            value, interval = format_estimate_parts(estimate, 0.01)
            rows.append([name, value, interval])
        yield from wrapped(f"{group.name}: {group.n_operations} operations")
        yield from table(["", "%", "interval"], rows, "lrr").splitlines()
        lost, between = format_estimate_parts(group.lost, 0.01)
        yield from wrapped(f"Lost against the best case: {lost} % ({between}) of their time.")
        if group.beyond.value:
            beyond, between = format_estimate_parts(group.beyond, 0.01)
            yield from wrapped(
                f"{beyond} % ({between}) of them took more than twice the slowest condition, which none "
                "explains (another user, a queue, a lost packet)."
            )
        yield ""


def _format_parts(conditions: Sequence[TimeCondition], size: int, with_parts: bool) -> Iterator[str]:
    divisor, unit = choose_human_scale(max(condition.seconds(size) for condition in conditions), "s")
    names = list(PARTS) if with_parts else []
    rows = []
    for condition in conditions:
        paid = {part.name: part.seconds(size) / divisor for part in condition.parts}
        cells = [_format_short(paid[name]) if name in paid else "" for name in names]
        rows.append([condition.name, *cells, _format_short(condition.seconds(size) / divisor)])
    yield from table([format_size(size), *names, f"t, {unit}"], rows, "l" + "r" * (len(names) + 1)).splitlines()


def _format_short(value: float) -> str:
    return format_significant(value, 4) if value else "0"


def _format_diagnosis(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    rows = [
        [
            format_rate(diagnosis.observed_s, "s"),
            diagnosis.condition,
            format_rate(diagnosis.model_s, "s"),
            format_rate(diagnosis.lost_s, "s"),
            "beyond all" if diagnosis.beyond else "not sure" if diagnosis.margin < _CLOSE else "",
        ]
        for diagnosis in diagnoses
    ]
    yield from table(["observed", "nearest condition", "model", "lost", ""], rows, "rlrrl").splitlines()
    best = format_rate(diagnoses[0].best_s, "s")
    yield ""
    yield from wrapped(
        f"Best case {best}: what the operation takes if every optimisation works; the rest is lost time."
    )


def _format_lines(fitted: Sequence[ConditionLine], level: float) -> Iterator[str]:
    yield from wrapped(f"time = c + f(size), a line for each condition; {100 * level:g} % intervals (HC3)")
    yield ""
    rows = []
    for line in fitted:
        divisor, unit = choose_human_scale(line.fixed.high, "s")
        fixed = _format_range(line.fixed.low / divisor, line.fixed.high / divisor)
        rows.append([line.name, line.n, f"{fixed} {unit}", _format_rate(line), f"{line.r2:.3f}"])
    yield from table(["condition", "n", "c", "1/f", "R²"], rows, "lrrrr").splitlines()


def _format_rate(line: ConditionLine) -> str:
    """Format the slope as a rate, from its interval; without an upper end if the slope may be 0."""
    low, high = line.per_byte.low, line.per_byte.high
    if high <= 0:
        return "inconclusive"
    slow = format_rate(1 / high, "bytes/s")
    if low <= 0:
        return f"above {slow}"
    divisor, unit = choose_human_scale(1 / low, "bytes/s")
    return f"{_format_range(1 / high / divisor, 1 / low / divisor)} {unit}"


def _format_range(low: float, high: float) -> str:
    """Format both ends with enough digits to differ (three to six)."""
    for digits in range(3, 7):
        ends = format_significant(low, digits), format_significant(high, digits)
        if ends[0] != ends[1]:
            break
    return " to ".join(ends)
