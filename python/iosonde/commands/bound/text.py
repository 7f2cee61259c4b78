"""A bound as text: its terms, the bottleneck, its assumptions, and measurements as shares of it; loss waterfalls; the
run time of an application."""

from collections.abc import Iterator

from iosonde.core.level_text import format_levels, format_setting
from iosonde.core.message import spell
from iosonde.core.table import format_cell
from iosonde.core.units import choose_human_scale, format_rate, format_seconds, format_significant
from iosonde.core.words import join_names
from iosonde.explain.waterfall import TITLES, Waterfall
from iosonde.layout.text import WIDTH, format_estimate_parts, paragraphs, table, warning_lines, wrapped
from iosonde.model.bound.application import PredictedTime
from iosonde.model.bound.bound import Ceiling
from iosonde.model.bound.shares import MARKS

from .answer import Bounds
from .application import PredictedTimes

_MOST_ROWS = 60
_SINGULAR = (("fabric",), ("latency",), ("memory_copy",), ("network_clients",), ("network_servers",))
_MOST_TIMES = 60
_EXPLANATION = (
    "It is C + Dr/Sr + Dw/Sw, with S the bound of the cluster; at its low end some ranks compute while others move "
    "data. It includes neither the time of opening and syncing nor the savings of a cache."
)


def lines(bounds: Bounds, amount: str = "") -> Iterator[str]:
    """Yield the lines of the text. ``amount`` is the data volume as the user wrote it."""
    if bounds.alone is not None:
        yield from _format_bound_without_data(bounds, bounds.alone, amount)
        return
    yield from _format_shares(bounds)
    yield ""
    yield from wrapped(f"The bound assumes: {'; '.join(bounds.assumptions)}.", "  ")
    yield from _format_waterfalls(bounds)


def _format_bound_without_data(bounds: Bounds, ceiling: Ceiling, amount: str) -> Iterator[str]:
    system = ceiling.system
    disks = "" if system.disks is None else f", {_format_count(system.disks, 'disk')}"
    has_servers = system.servers > 1 or "network_servers" not in ceiling.missing  # else 1 is only a default
    servers = f", {_format_count(system.servers, 'server')}" if has_servers else ""
    yield f"{system.operation}: {_format_count(system.clients, 'client')}{servers}{disks}"
    yield ""
    divisor, unit = choose_human_scale(ceiling.s, "bytes/s")
    rows = [
        [
            t.name,
            t.formula,
            format_significant(t.bytes_per_s / divisor, 4),
            f"{100 * ceiling.s / t.bytes_per_s:.0f} %",
            "limits" if t.name in ceiling.limit else "",
        ]
        for t in ceiling.terms
    ]
    yield from table(["term", "formula", unit, "used", ""], rows, "llrrl", WIDTH).splitlines()
    yield ""
    if ceiling.balance < 1:
        yield from wrapped(f"The busiest server has {1 / ceiling.balance:.3g} times the load of the mean one.")
    yield from wrapped(_format_sentence(bounds, ceiling, amount))
    yield from warning_lines(bounds.unknown)
    yield ""
    yield from wrapped(f"Case: {bounds.case}.", "  ")
    yield from wrapped(f"Helps: {'; '.join(bounds.advice)}.", "  ")
    yield from wrapped(f"Assumes: {'; '.join(bounds.assumptions)}.", "  ")


def _format_sentence(bounds: Bounds, ceiling: Ceiling, amount: str) -> str:
    text = f"At most {format_rate(ceiling.s, 'bytes/s')}"
    if bounds.s is not None and bounds.s.low is not None and bounds.s.high is not None:
        divisor, unit = choose_human_scale(ceiling.s, "bytes/s")
        value, interval = format_estimate_parts(bounds.s, divisor)
        text = f"At most {value} ({interval}) {unit}"
    scope_note = "of the known terms, " if ceiling.missing else ""
    text += f": {scope_note}{bounds.limit} {'limits' if ceiling.limit in _SINGULAR else 'limit'}."
    if bounds.seconds is not None:
        text += f" {amount} take at least {format_seconds(bounds.seconds)}."
    if ceiling.relieved is not None:
        gain = (
            f"+ {100 * (ceiling.relieved / ceiling.s - 1):.0f} %"
            if ceiling.relieved < 11 * ceiling.s
            else (f"{ceiling.relieved / ceiling.s:.0f} times as much")
        )
        text += f" Without that limit: {format_rate(ceiling.relieved, 'bytes/s')} ({gain})."
    return text


def _format_shares(bounds: Bounds) -> Iterator[str]:
    shares = bounds.shares
    divisor, unit = choose_human_scale(bounds.highest.s, "bytes/s")
    names = list(dict.fromkeys(name for row in shares for name in row.by))
    several = len({row.operation or row.metric for row in shares}) > 1 or bool(shares[0].operation)
    kinds = {(row.operation, row.metric) for row in shares}
    both = len(kinds) > len({operation for operation, _ in kinds})  # an operation with several metrics
    header = ([""] if several else []) + [*names, "n", unit, "interval", "bound", "share", "interval", ""]
    rows = []
    for row in shares[:_MOST_ROWS]:
        value, interval = format_estimate_parts(row.measured, divisor)
        share, between = format_estimate_parts(row.share, 0.01)
        name = f"{row.operation} {row.metric}".strip() if both else row.operation or row.metric
        rows.append(
            [
                *([name] if several else []),
                *format_levels(names, row.by, row.units),
                row.measured.n,
                value,
                interval,
                format_significant(row.ceiling.s / divisor, 4),
                f"{share} %",
                between,
                MARKS.get(row.verdict, ""),
            ]
        )
    yield from table(header, rows, "l" * (len(header) - 7) + "rrrrrrl", WIDTH).splitlines()
    if len(shares) > _MOST_ROWS:
        yield f"and {len(shares) - _MOST_ROWS} more ({spell.json} has all)"
    yield ""
    cut = dict.fromkeys(text for row in shares if row.measured.low is not None for text in row.measured.warnings)
    yield from paragraphs((f"{origin[0].upper()}{origin[1:]}." for origin in bounds.origins), "  ")
    yield from warning_lines([*bounds.warnings, *bounds.unknown, *cut])
    yield from wrapped(bounds.sentence)


def _format_count(n: float, what: str) -> str:
    return f"{n:g} {what}{'' if n == 1 else 's'}"


def _format_waterfalls(bounds: Bounds) -> Iterator[str]:
    for fall, sentences in zip(bounds.falls, bounds.fall_sentences, strict=True):
        by = ", ".join(f"{name}={format_cell(value)}" for name, value in fall.by.items())
        trials = f"{fall.delivered.n} trial{'' if fall.delivered.n == 1 else 's'}"
        of = f"{fall.operation}{f', {by}' if by else ''}; mean of {trials}, {100 * bounds.level:g} % intervals"
        yield ""
        yield from wrapped(of)
        yield ""
        yield from _format_waterfall(fall)
        yield ""
        yield from paragraphs(sentences)


def _format_waterfall(waterfall: Waterfall) -> Iterator[str]:
    total = waterfall.delivered.value or 0.0
    divisor, unit = choose_human_scale(total, "s")
    rows = []
    for name, estimate in [*waterfall.parts.items(), ("delivered", waterfall.delivered)]:
        value, interval = format_estimate_parts(estimate, divisor)
        share = f"{100 * (estimate.value or 0.0) / total:.1f} %" if total else "~"
        rows.append([TITLES.get(name, name), value, interval, share])
    yield from table(["", unit, "interval", "share"], rows, "lrrr", WIDTH).splitlines()


def application_lines(predicted_times: PredictedTimes) -> Iterator[str]:
    """Yield a table of the settings, the parts of the prediction, and a sentence."""
    if all(not row.measured.n for row in predicted_times.rows):
        value, interval = format_estimate_parts(predicted_times.rows[0].predicted)
        yield from wrapped(
            f"It should take {value} ({interval}) s: {_format_parts(predicted_times.rows[0])}. {_EXPLANATION}"
        )
        return
    names = list(dict.fromkeys(name for row in predicted_times.rows for name in row.by))
    yield f"seconds; {100 * predicted_times.level:g} % intervals"
    yield ""
    rows = [
        [
            *format_levels(names, row.by, row.units),
            *format_estimate_parts(row.predicted),
            str(row.measured.n),
            *format_estimate_parts(row.measured),
            *format_estimate_parts(row.ratio),
        ]
        for row in predicted_times.rows[:_MOST_TIMES]
    ]
    header = [*names, "predicted", "interval", "n", "measured", "interval", "ratio", "interval"]
    yield from table(header, rows, "l" * len(names) + "rrrrrrr", WIDTH).splitlines()
    if len(predicted_times.rows) > _MOST_TIMES:
        yield f"and {len(predicted_times.rows) - _MOST_TIMES} more ({spell.json} has all)"
    yield ""
    first = predicted_times.rows[0]
    at = format_setting(first.by, first.units)
    yield from wrapped(f"Predicted{f' at {at}' if at else ''}: {_format_parts(first)}. {_EXPLANATION}")
    yield from warning_lines(predicted_times.warnings)
    yield from wrapped(predicted_times.sentence)


def _format_parts(time: PredictedTime) -> str:
    return join_names([f"{name} {format_seconds(seconds)}" for name, seconds in time.parts.items()])
