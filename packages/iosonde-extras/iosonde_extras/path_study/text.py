"""The study of paths as text: lines of the conditions, the table of patterns, confusion of states by time alone."""

from collections.abc import Iterator, Sequence

from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_rate, format_significant, format_size
from iosonde.core.words import format_decimals
from iosonde.layout.text import CANNOT_TELL, format_estimate_parts, table, wrapped

from .models import Confusion, PathModels, PatternRow
from .study_tables import StudyTables

# Seconds per byte (1 TB/s) below which bytes cost nothing.
_NO_COST = 1e-12
_OFTEN = 0.3


def lines(studies: Sequence[StudyTables], level: float) -> Iterator[str]:
    """The lines of the text."""
    for place, study in enumerate(studies):
        if place:
            yield ""
        if study.study.name:
            yield from wrapped(f"{study.study.name}:")
        yield from _format_study(study, level)


def _format_study(study_tables: StudyTables, level: float) -> Iterator[str]:
    yield from wrapped(f"t(size) = fixed + size ÷ rate in each condition; {100 * level:g} % intervals")
    yield ""
    for models in study_tables.study.models.values():
        yield from _format_models(models, level)
        yield ""
    yield from _pattern_lines(study_tables, level)
    for confusion in study_tables.confusion:
        yield from _format_confusion(confusion)
        yield ""
    yield from _format_sentences(study_tables)


def _pattern_lines(study_tables: StudyTables, level: float) -> Iterator[str]:
    """Yield, by direction, where its operations were, and the time of each pattern against its best case."""
    for models in study_tables.study.models.values():
        rows = [row for row in study_tables.rows if row.direction == models.direction]
        yield from wrapped(f"{models.direction}s: % of the operations at each condition")
        yield from _format_patterns(rows, models)
        yield ""
        yield from wrapped(
            f"{models.direction}s: total time, and if every optimisation had worked as intended "
            f"({100 * level:g} % intervals)"
        )
        yield from _format_best(rows)
        yield ""


def in_short(studies: Sequence[StudyTables]) -> Iterator[str]:
    """Yield the largest loss of each study, and where the tables are: for a diagnosis of single operations."""
    for study in studies:
        name = f"{study.study.name}: " if study.study.name else ""
        yield from wrapped(f"{name}{_most_lost(study) or 'no pattern took longer than its best case.'}")
    yield from wrapped("The time of each condition and pattern, with intervals: iosonde time-model of this store.")


def _mixed_lines() -> Iterator[str]:
    yield from wrapped(
        "mixed: between two conditions and near neither (partly cached, or a wait); slower: than all of "
        "them. Time cannot distinguish conditions whose times are close.",
        "  ",
    )


def _format_best(rows: list[PatternRow]) -> Iterator[str]:
    body = []
    for row in rows:
        if row.best_s.value is None:
            body.append([row.name, *[""] * 3, CANNOT_TELL, ""])
            continue
        body.append([row.name, format_rate(row.seconds, "s"), *_format_time(row.best_s), *_format_lost(row.lost)])
    yield from table(["pattern", "took", "best case", "interval", "lost", "interval"], body, "Lrrrrr").splitlines()


def _format_lost(lost: Estimate) -> tuple[str, str]:
    value, low, high = (None if bound is None else 100 * bound for bound in (lost.value, lost.low, lost.high))
    text = f"{format_decimals(value or 0.0, 1)} %"
    return text, CANNOT_TELL if low is None or high is None else f"{format_decimals(low, 1)}–{format_decimals(high, 1)}"


def _format_models(models: PathModels, level: float) -> Iterator[str]:
    rows = []
    for line in models.lines:
        only = f" < {format_size(line.largest + 1)}" if line.largest else ""
        rows.append(
            [
                line.name + only,
                line.n,
                *_format_time(line.fixed(level)),
                *_format_rate(line.per_byte(level)),
                f"×/÷ {format_significant(2.718281828**line.spread, 2)}",
            ]
        )
    header = [models.direction, "cells", "fixed", "interval", "rate", "interval", "operations"]
    yield from table(header, rows, "lrrrrrr").splitlines()


def _format_time(estimate: Estimate) -> tuple[str, str]:
    assert estimate.value is not None
    divisor, unit = choose_human_scale(estimate.value, "s")
    value, between = format_estimate_parts(estimate, divisor)
    return f"{value} {unit}", between


def _format_rate(per_byte: Estimate) -> tuple[str, str]:
    """Return (rate, interval); bytes that cost nothing have none."""
    if per_byte.value is None or per_byte.value < _NO_COST:
        return "no cost", ""
    if per_byte.low is None or per_byte.high is None:
        return format_rate(1 / per_byte.value, "bytes/s"), CANNOT_TELL
    divisor, unit = choose_human_scale(1 / per_byte.value, "bytes/s")
    low, high = 1 / per_byte.high / divisor, 1 / max(per_byte.low, _NO_COST) / divisor
    return (
        f"{format_significant(1 / per_byte.value / divisor)} {unit}",
        f"{format_significant(low)}–{format_significant(high)}",
    )


def _format_patterns(rows: list[PatternRow], models: PathModels) -> Iterator[str]:
    """Sum the variants of a condition in one column."""
    states = list(dict.fromkeys(name.partition(" (")[0] for name in models.names))
    body = []
    for row in rows:
        summed = dict.fromkeys(states, 0.0)
        for name, share in row.shares.items():
            summed[name.partition(" (")[0]] += share
        body.append([row.name, *(_format_share(summed[state]) for state in states)])
    yield from table(["pattern", *states], body, "L" + "r" * len(states)).splitlines()


def _format_share(share: float) -> str:
    return "" if share == 0 else "<1" if share < 0.005 else f"{100 * share:.0f}"


def _format_confusion(confusion: Confusion) -> Iterator[str]:
    yield from wrapped(
        f"{confusion.direction}s of known condition, classified by time alone: % (each cell by lines fitted without it)"
    )
    conditions = list(next(iter(confusion.shares.values()), {}))
    rows = [
        [f"is {kind}", confusion.cells[kind], *(f"{100 * row[condition]:.0f}" for condition in conditions)]
        for kind, row in confusion.shares.items()
    ]
    yield from table(["", "cells", *conditions], rows, "lr" + "r" * len(conditions)).splitlines()


def _format_sentences(study_tables: StudyTables) -> Iterator[str]:
    for part in study_tables.parts:
        fixed, between = _format_time(part.fixed_s) if (part.fixed_s.value or 0) > 0 else ("no fixed time", "")
        rate, rates = _format_rate(part.per_byte)
        text = f"{part.name}: {fixed}" + (f" ({between})" if between else "")
        yield from wrapped(f"{text}, {rate}{f' ({rates})' if rates else ' for a byte'}.")
    for confusion in study_tables.confusion:
        for kind, row in confusion.shares.items():
            other = max((name for name in row if name != kind), key=row.__getitem__, default="")
            if other and row[other] > _OFTEN:
                yield from wrapped(
                    f"{100 * row[other]:.0f} % of {confusion.direction}s that are {kind} look {other}: "
                    "their times are close."
                )
    if lost := _most_lost(study_tables):
        yield from wrapped(lost)
    for note in study_tables.study.notes:
        yield from wrapped(f"~ {note}", "  ")
    yield from _mixed_lines()


def _most_lost(study_tables: StudyTables) -> str:
    worst = max(study_tables.rows, key=_lost_s, default=None)
    if worst is None or _lost_s(worst) <= 0:
        return ""
    best = format_estimate_parts(worst.best_s, 1.0)
    return (
        f"Most time was lost by {worst.name}: it took {format_significant(worst.seconds)} s; {best[0]} s "
        f"({best[1]}) if every "
        "optimisation had worked as intended."
    )


def _lost_s(row: PatternRow) -> float:
    return 0.0 if row.best_s.value is None else row.seconds - row.best_s.value
