"""Trials → which setting to choose, as a page shows it. Chooses and names; explain computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.metrics import metric_of
from iosonde.core.table import Table
from iosonde.core.types import Better, Metric, Role
from iosonde.core.words import counted
from iosonde.data.asked import Asked
from iosonde.data.roles import guess
from iosonde.data.source import Source
from iosonde.explain.advise import Advice, Wish, advise
from iosonde.explain.advise_words import sentence_of
from iosonde.explain.rules import Rule

from .axis import metric_title
from .content.advice import AdviceDefault, AdviceRule, Compared, ResponseAdvice
from .content.bars import Bars
from .content.tables import Section
from .sentences import missing_part
from .terms import of_metric

MOST_RESPONSES = 4
_MOST_DEFAULTS = 12


@dataclass(frozen=True)
class Choosing:
    """What may be chosen, what is given (None: every other setting that varies), and the setting in use."""

    choose: Sequence[str]
    given: Sequence[str] | None = None
    current: Mapping[str, str] | None = None


def advice_of_store(source: Source, shown: Sequence[Bars], choosing: Choosing, asked: Asked) -> Section[ResponseAdvice]:
    """One part for each operation and metric that the page shows."""
    trials = source.trials(asked.choice).rows
    rows = dict(trials.groups(["operation", "metric"])) if len(trials) else {}
    varying = [factor.name for factor in source.known.factors if factor.role is Role.SET]
    named = dict.fromkeys((bars.operation, bars.metric, bars.unit) for bars in shown)
    tables = []
    for operation, metric, unit in named:
        title = metric_title(operation, metric)
        table = of_metric(trials, rows[operation, metric], title, unit)
        tables.append((title, metric_of(metric, unit), table))
    return _section(tables, choosing, varying, asked.level)


def advice_of_table(
    table: Table, responses: Sequence[str], by: Sequence[str] | None, asked: Choosing, level: float
) -> Section[ResponseAdvice]:
    """One part for each response of a table."""
    seen = guess(table, responses, by)
    columns = [table.column(name) for name in seen.responses]
    tables = [(column.name, metric_of(column.label, column.unit), table) for column in columns]
    return _section(tables, asked, seen.settings, level)


def _section(
    tables: Sequence[tuple[str, Metric, Table]], asked: Choosing, varying: Sequence[str], level: float
) -> Section[ResponseAdvice]:
    """What was asked for raises IosondeError where no response has advice; else what has none is said."""
    items, missing = list[ResponseAdvice](), list[str]()
    first: IosondeError | None = None
    for title, metric, table in tables[:MOST_RESPONSES]:
        chosen = [table.column(name).name for name in asked.choose]
        given = [name for name in varying if name not in chosen] if asked.given is None else asked.given
        try:
            items.append(_advice(title, metric, table, asked, given, level))
        except IosondeError as error:
            first = first or error
            missing.append(missing_part(title, error))
    if first is not None and not items:
        raise first
    if len(tables) > MOST_RESPONSES:
        others = ", ".join(title for title, *_ in tables[MOST_RESPONSES:])
        template = "Not advised on here: {responses}; iosonde advise does."
        missing.append(Message("too-many-responses", template, responses=others))
    return Section(tuple(items), tuple(missing))


def _advice(
    title: str, metric: Metric, table: Table, asked: Choosing, given: Sequence[str], level: float
) -> ResponseAdvice:
    lower = metric.better is Better.LOWER
    made = advise(table, title, asked.choose, given, level, Wish(metric.unit, lower, current=asked.current))
    gain = made.gain
    return ResponseAdvice(
        title=title,
        unit=metric.unit,
        head=_head(made, lower),
        sentence=sentence_of(made),
        choose=tuple(made.instances.choose),
        over=made.instances.shown(gain.over) if gain else "",
        over_set=made.instances.levels_of(gain.over) if gain else None,
        ratio=gain.ratio if gain and made.kind != "nothing" else None,
        compared=_compared(made),
        defaults=_defaults(made),
        rules=tuple(map(_rule, made.rules)),
        warnings=tuple(made.warnings),
    )


def _head(advice: Advice, lower: bool) -> str:
    made = advice.instances
    given = ", ".join(feature.name for feature in made.features)
    of = f"{counted(len(made), 'instance')} ({given})" if given else "one instance"
    settings = f"{counted(len(made.settings), 'setting')} ({'/'.join(made.choose)})"
    return f"{settings} in {of}; {'lower' if lower else 'higher'} is better."


def _rule(made: Rule) -> AdviceRule:
    asked = tuple(one.in_base() for one in made.conditions)
    return AdviceRule(made.when, made.then, asked, made.levels, made.instances, made.share, made.lowest)


def _compared(made: Advice) -> tuple[Compared, ...]:
    """The advice beside what it is to beat, and beside what nobody can beat."""
    gain, shown, levels_of = made.gain, made.instances.shown, made.instances.levels_of
    if gain is None:
        return ()
    named = {"rules": "rules", "default": shown(made.best_default)}
    what = named.get(made.kind, "rules, not advised")
    over = f"{shown(gain.over)} ({'in use' if gain.over == made.current else 'best default'})"
    found = [Compared(over, levels_of(gain.over), gain.reference, gain.reference_lowest)]
    if what != shown(gain.over):
        levels = levels_of(made.best_default) if made.kind == "default" else None
        found.insert(0, Compared(what, levels, gain.advised, gain.lowest))
    if gain.possible is not None:
        found.append(Compared("the best of each instance", None, gain.possible, None))
    return tuple(found)


def _defaults(made: Advice) -> tuple[AdviceDefault, ...]:
    """The best ones first, and the one in use wherever it stands."""
    ordered = sorted(made.defaults, key=lambda d: -d.rel_arith)
    kept = [d for place, d in enumerate(ordered) if place < _MOST_DEFAULTS or d.setting == made.current]
    shown, levels_of = made.instances.shown, made.instances.levels_of
    notes = {made.best_default: "best default"} | ({made.current: "in use"} if made.current else {})
    return tuple(
        AdviceDefault(shown(d.setting), levels_of(d.setting), notes.get(d.setting, ""), d.best, d.tied, d.worst,
                      d.rel_arith, d.rel_harm, d.lowest, d.abs)
        for d in kept
    )  # fmt: skip
