"""Source → Response: one metric of one operation over the trials, with the factors that are known of it.

Made here and nowhere else, so that every analysis understands the same names: a column of a table; of a store an
operation (``write``), a metric (``bandwidth_last_done``), both (``write bandwidth_last_done``) or ``value``; and what
is computed from them (``log(write)``, ``value/nodes``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.headlines import SPEEDS
from iosonde.core.message import Message, spell
from iosonde.core.metrics import metric_of
from iosonde.core.problems import closest
from iosonde.core.stored import incomplete_among
from iosonde.core.table import Column, Table
from iosonde.core.types import Better, Factor, Metric
from iosonde.core.words import counted

from . import derived, factors, roles, stored
from .asked import CLOCKS, Asked, MetricChoice
from .choice import rows_named, texts
from .source import Source
from .subsamples import one_row_a_trial

VALUE = "value"


@dataclass(frozen=True)
class Response:
    """One metric of one operation over the trials: what every analysis takes.

    ``rows`` has one row a trial, in the order of time where that is known, and a column called ``title`` with the
    value in ``metric.unit``. ``factors`` vary; each is a column of ``rows``. ``confounded`` maps a factor that is left
    out, one of ``twins``, to the one that it always changes with. ``at`` numbers the rows in ``Source.whole``.
    ``within_run``: the rows are iterations of single executions, and no trials. ``transform`` is a function, as
    ``log``, of the column ``measured``, whose unit is ``measured_unit``. ``are_parts``: rows are single ranks, and
    nothing says of which trial; ``trial_note``, a warning too: what was done with rows that are parts of one trial.
    """

    title: str
    metric: Metric
    rows: Table
    factors: tuple[Factor, ...]
    operation: str = ""
    confounded: tuple[tuple[str, str], ...] = ()
    twins: tuple[Factor, ...] = ()
    within_run: bool = False
    transform: str = ""
    measured: str = ""
    measured_unit: str = ""
    at: npt.NDArray[np.intp] | None = None
    warnings: tuple[str, ...] = ()
    are_parts: bool = False
    trial_note: str = ""

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The value of each trial, NaN where it lacks."""
        return self.rows.numbers(self.title)

    @property
    def names(self) -> list[str]:
        """The columns of its factors."""
        return [factor.name for factor in self.factors]

    @property
    def unit(self) -> str:
        """The unit of the values."""
        return self.metric.unit

    @property
    def lower_is_better(self) -> bool:
        """As of its metric."""
        return self.metric.better is Better.LOWER

    @property
    def together(self) -> dict[str, tuple[str, ...]]:
        """Factor → the columns that always change with it. Ranks follow from nodes, in other words."""
        found: dict[str, tuple[str, ...]] = {}
        for name, twin in self.confounded:
            if "ranks" not in (name, twin):
                found[twin] = (*found.get(twin, ()), name)
        return {factor: twins for factor, twins in found.items() if factor in self.names}

    def on(self, names: Sequence[str]) -> Response:
        """The same with other factors: columns that vary or not, as the caller says. Raises DataError."""
        columns = [self.rows.column(name) for name in names]
        chosen = {column.name for column in columns}
        left = tuple(pair for pair in self.confounded if pair[1] in chosen and pair[0] not in chosen)
        return replace(self, factors=tuple(_factor(column) for column in columns), confounded=left, twins=())

    def with_scattered(self) -> Response:
        """With the factors that change with another one from setting to setting, and neither rise nor fall with it: the
        numbers of a Latin hypercube. For grouping such two are one; a line, or bins, tell them apart."""
        apart = [pair for pair in self.confounded if factors.told_apart(self.rows, *pair)]
        if not apart:
            return self
        names = [name for name, _ in apart]
        more = tuple(factor for factor in self.twins if factor.name in names)
        left = tuple(pair for pair in self.confounded if pair not in apart)
        return replace(self, factors=(*self.factors, *more), confounded=left, twins=())


def responses(source: Source, asked: Asked) -> list[Response]:
    """Every response that is asked for. Without ``asked.response`` each metric of the clock, or each column that looks
    measured; without ``asked.on`` the factors that are known. Raises InputError, DataError.
    """
    if source.store is None:
        found = _of_table(source, asked)
    else:
        found = [_with_incomplete(source, one) for one in _of_store(source, asked)]
    return [one.on(source.apart(asked.on)) for one in found] if asked.on else found


def _with_incomplete(source: Source, response: Response) -> Response:
    """With a warning where incomplete trials are among these, as was asked."""
    shown = {str(run) for run in response.rows.column("run").values}
    said = incomplete_among([run for run in source.runs if run.id in shown])
    return replace(response, warnings=(*response.warnings, said)) if said else response


def one_response(source: Source, asked: Asked) -> Response:
    """The only response that is asked for; of one operation that has several metrics its headline. Raises InputError
    where it is several, with how to choose."""
    found = responses(source, asked)
    if len(found) == 1:
        return found[0]
    first = _headline(found)
    if first is not None:
        return first
    shown = ", ".join(f"'{one.title}'" for one in found[:6])
    more = f" and {len(found) - 6} more" if len(found) > 6 else ""
    what = f"'{asked.response[0]}'" if asked.response else "DATA"
    raise InputError(
        "ambiguous-response",
        "{response} has {n_responses} responses: {responses}{remainder}",
        "choose one with {spell.response}",
        response=what,
        n_responses=len(found),
        responses=shown,
        remainder=more,
    )


def one_of_each(source: Source, asked: Asked) -> list[Response]:
    """A response for each operation of a store: of several metrics its headline, if it has one; of a table the only
    response. Raises InputError, DataError."""
    if source.store is None:
        return [one_response(source, asked)]
    by_operation: dict[str, list[Response]] = {}
    for one in responses(source, asked):
        by_operation.setdefault(one.operation or one.title, []).append(one)
    chosen = [(several, _headline(several) if len(several) > 1 else None) for several in by_operation.values()]
    return [one for several, first in chosen for one in ([first] if first else several)]


def _headline(found: Sequence[Response]) -> Response | None:
    """Of the metrics of one operation its bandwidth, else its rate; None where there is neither, or more than one."""
    if len({one.operation for one in found}) != 1 or not found[0].operation:
        return None
    for kind in SPEEDS:
        chosen = [one for one in found if one.metric.name in {f"{kind}_{clock}" for clock in CLOCKS}]
        if len(chosen) == 1:
            others = ", ".join(one.metric.name for one in found if one is not chosen[0])
            said = Message(
                "headline-metric",
                "of {operation} {metric} is taken, its headline; it has {others}, too",
                operation=chosen[0].operation,
                metric=chosen[0].metric.name,
                others=others,
            )
            return replace(chosen[0], warnings=(*chosen[0].warnings, said))
    return None


# A store


def _of_store(source: Source, asked: Asked) -> Iterator[Response]:
    if not len(source.table):
        raise no_trial(source)
    if not asked.response:
        made = source.trials(asked.choice)
        if not len(made.rows):
            raise no_trial(source)
        yield from _metrics(source, asked, asked.choice, made)
        return
    for text in asked.response:
        yield from _named(source, text, asked)


def no_trial(source: Source) -> DataError:
    """What to raise where a store has no run that counts, with what would take those that it has."""
    left_out = sum(not run.counts for run in source.runs)
    no_trials = left_out or not source.runs
    return DataError(
        "no-complete-trials" if no_trials else "no-results",
        "{source} holds no complete trial" if no_trials else "{source} holds no result",
        "iosonde show says what it holds; {spell.incomplete} takes its {incomplete}"
        if left_out
        else "iosonde show says what it holds",
        source=source.name,
        incomplete=counted(left_out, "incomplete run"),
    )


def _metrics(source: Source, asked: Asked, choice: MetricChoice, made: stored.Trials) -> Iterator[Response]:
    """A response for each operation and metric of these trials."""
    by = source.apart(asked.on) or source.known.names
    single = all(run.imported for run in source.runs) and _one_run_each(made.rows, by)
    for (operation, metric), places in made.rows.groups(["operation", "metric"]):
        places = np.sort(places)
        rows, within = made.rows.take(places), False
        at: npt.NDArray[np.intp] | None = made.at[places]
        if single:
            several = _iterations(source, choice, str(operation), str(metric))
            if len(several) > len(rows):
                rows, at, within = several, None, True
        yield _stored(str(operation), str(metric), rows, source, at, within, made.warnings)


def _stored(
    operation: str, metric: str, rows: Table, source: Source, at: npt.NDArray[np.intp] | None, within: bool,
    warnings: tuple[str, ...],
) -> Response:  # fmt: skip
    title = f"{operation} {metric}"
    unit = str(rows.column("unit").values[0])
    table = replace(rows, columns={**rows.columns, title: Column(title, rows.numbers(VALUE), title, unit)})
    known = source.known
    return Response(
        title, metric_of(metric, unit), table, known.factors, operation, confounded=tuple(known.confounded.items()),
        twins=known.twins, within_run=within, at=at, warnings=warnings,
    )  # fmt: skip


def _named(source: Source, text: str, asked: Asked) -> Iterator[Response]:
    """The responses that a name stands for: ``value``, a title, an operation, a metric, or a computed one."""
    table = source.table
    operations, metrics = set(texts(table, "operation")), set(texts(table, "metric"))
    if text == VALUE:
        yield _values(source, asked)
        return
    column = text in table.columns or any(column.label == text for column in table.columns.values())
    if text in operations | metrics or (not column and rows_named(text, source.whole).any()):
        yield from _of_name(source, text, asked, text in operations - metrics)
        return
    if column:
        rows = source.trials().rows
        stored.refuse_many_kinds(rows, ["operation", "metric"])
        yield _of_known(_column(rows, text, ()), source)
        return
    made = _parsed(source, text, _names(source, operations, metrics))
    if made is None:
        near = sorted(operations) or list(table.names)
        raise InputError(
            "unknown-response",
            "{source} has no response '{response}'",
            "there are: {suggestions}",
            source=source.name,
            response=text,
            suggestions=", ".join(near[:20]),
        )
    yield from _computed(source, made, asked, operations, metrics)


def _parsed(source: Source, text: str, names: Sequence[str]) -> derived.Derived | None:
    """As an expression. Raises InputError for what is none, with what it is nearly the name of."""
    try:
        return derived.parse(text, names)
    except InputError as error:
        titles = [" ".join(map(str, key)) for key, _ in source.table.groups(["operation", "metric"])]
        if near := closest(text, titles):
            raise InputError(
                "unknown-response",
                "{source} has no response '{response}'",
                "did you mean {nearest}?",
                source=source.name,
                response=text,
                nearest=near,
            ) from error
        raise


def _of_name(source: Source, text: str, asked: Asked, operation: bool) -> Iterator[Response]:
    """What a name stands for as a metric; of an ``operation`` those metrics that are asked for beside it, if it has."""
    beside = [asked.choice] if asked.metric and operation else []
    for choice in (*beside, MetricChoice(asked.clock, (text,))):
        made = _metrics(source, asked, choice, source.trials(choice))
        found = [one for one in made if not operation or one.operation == text]
        yield from found
        if found:
            return


def _names(source: Source, operations: set[str], metrics: set[str]) -> list[str]:
    titles = [f"{operation} {metric}" for operation in operations for metric in metrics]
    return [*titles, *operations, *metrics, *source.table.names]


def _computed(
    source: Source, made: derived.Derived, asked: Asked, operations: set[str], metrics: set[str]
) -> Iterator[Response]:
    """An expression over one response and the columns of its trials. Raises InputError where it names two."""
    titles = {f"{operation} {metric}" for operation in operations for metric in metrics}
    named = [name for name in made.names if name in {VALUE, *operations, *metrics, *titles}]
    if len(named) > 1:
        raise InputError(
            "too-many-responses",
            "'{expression}' names {responses}",
            "one response and columns of its trials",
            expression=made.text,
            responses=" and ".join(named),
        )
    if not named:
        raise InputError(
            "no-response",
            "'{expression}' names no response",
            "there are: {operations}",
            expression=made.text,
            operations=", ".join(sorted(operations)[:20]),
        )
    inner = replace(asked, response=() if named[0] == VALUE else (named[0],))
    for one in _of_store(source, inner):
        columns = {name: one.values if name == named[0] else one.rows.numbers(name) for name in made.names}
        title = made.text if len(operations) == 1 or named[0] != VALUE else f"{made.text} of {one.title}"
        yield _transformed(one, made, columns, title, named[0])


def _values(source: Source, asked: Asked) -> Response:
    """The column ``value`` of trials of one operation and metric: of all, else of those of the clock, unless ``on``
    tells them apart. Raises InputError where there are several."""
    beside = [name for name in ("operation", "metric") if name not in asked.on]
    rows = source.trials().rows
    warnings: tuple[str, ...] = ()
    if len(rows.groups(beside)) > 1:
        of_clock = source.trials(asked.choice)
        rows, warnings = (of_clock.rows, of_clock.warnings) if len(of_clock.rows) else (rows, ())
        stored.refuse_many_kinds(rows, beside)
    return _of_known(_column(rows, VALUE, ()), source, warnings)


def _of_known(one: Response, source: Source, warnings: tuple[str, ...] = ()) -> Response:
    """With the factors that are known of a store."""
    known = source.known
    mine = tuple(factor for factor in known.factors if factor.name != one.title)
    return replace(one, factors=mine, confounded=tuple(known.confounded.items()), twins=known.twins,
                   warnings=warnings)  # fmt: skip


def _iterations(source: Source, choice: MetricChoice, operation: str, metric: str) -> Table:
    """A tool's own iterations of one operation and metric."""
    rows = source.iterations(choice)
    chosen = (texts(rows, "operation") == operation) & (texts(rows, "metric") == metric)
    return rows.take(chosen)


def _one_run_each(rows: Table, by: Sequence[str]) -> bool:
    """Whether every setting was executed once: a tool's own iterations are then all the repetition there is."""
    if "run" not in rows.columns:
        return False
    keys = rows.groups(["operation", "metric", *by])
    return all(len(set(rows.columns["run"].values[at])) == 1 for _, at in keys)


# A table


def _of_table(source: Source, asked: Asked) -> list[Response]:
    table = source.table
    if not len(table):
        raise InputError("no-rows", "{source} holds no rows", "give a table with measurements", source=source.name)
    measured = [_measured(table, text) for text in asked.response]
    columns = [name for _, names in measured for name in names]
    seen = None if asked.response and asked.on else roles.guess(table, columns, list(asked.on) or None)
    factors: tuple[Factor, ...] = ()
    if seen is not None:
        factors = tuple(_factor(table.column(name)) for name in seen.settings if _varies(table, name))
    trials = one_row_a_trial(table, columns or (seen.responses if seen else ()),
                             [table.column(name).name for name in asked.on])  # fmt: skip
    table = trials.rows
    if not asked.response:
        assert seen is not None
        found = [_column(table, name, factors) for name in seen.responses]
    else:
        found = [_asked_column(table, text, made, factors)
                 for text, (made, _) in zip(asked.response, measured, strict=True)]  # fmt: skip
    said = (trials.said,) if trials.said else ()
    found = [replace(one, warnings=said, are_parts=trials.are_parts, trial_note=trials.said) for one in found]
    if seen is None or asked.on or not factors:
        return found
    return [replace(one, warnings=(_assumed(one, seen.others), *said)) for one in found]


def _asked_column(table: Table, text: str, made: derived.Derived | None, factors: tuple[Factor, ...]) -> Response:
    """A column, or one that is computed."""
    if made is None:
        return _column(table, text, factors)
    columns = {name: table.numbers(name) for name in made.names}
    base = replace(_column(table, made.names[0], ()), factors=factors)
    return _transformed(base, made, columns, made.text, made.names[0])


def _assumed(one: Response, others: Sequence[str]) -> Message:
    """What was taken for a factor of somebody's table, whose user names none."""
    return assumed_factors(", ".join(one.names), ", ".join(others), "on")


def assumed_factors(factors: str, excluded: str, option: str) -> Message:
    """Return the warning that these were taken for factors, and those ``excluded`` as measured. ``option`` would name
    them; '' where there is none."""
    reason = f"{getattr(spell, option)} names none" if option else "none is named"
    template = "taken for factors, as {reason}: {factors}"
    template += "; {excluded} looks measured and is left out" if excluded else ""
    return Message("assumed-factors", template, reason=reason, factors=factors, excluded=excluded)


def _measured(table: Table, text: str) -> tuple[derived.Derived | None, tuple[str, ...]]:
    """(the expression, or None for a plain column; the columns in it that were measured)."""
    if text in table.columns or any(column.label == text for column in table.columns.values()):
        return None, (table.column(text).name,)
    names = list(dict.fromkeys([*table.columns, *(column.label for column in table.columns.values())]))
    made = derived.parse(text, names)
    if made is None:
        table.column(text)  # raises, with the nearest names
        raise InputError("unknown-column", "there is no column '{column}'", column=text)
    resolved = tuple(table.column(name).name for name in made.names)
    return made, resolved[:1]


def _column(table: Table, name: str, factors: Sequence[Factor]) -> Response:
    column = table.column(name)
    rows = table
    unit = column.unit
    if not unit and column.name == VALUE and "unit" in table.columns and len(table):
        unit = str(table.columns["unit"].values[0])
        rows = replace(table, columns={**table.columns, VALUE: replace(column, unit=unit)})
    return Response(name, metric_of(column.label or column.name, unit), rows,
                    tuple(one for one in factors if one.name != column.name))  # fmt: skip


def _is_share(one: Response, made: derived.Derived, of: str) -> bool:
    """Whether another column of the same unit is in it: what is left has none, as a share of the maximum."""
    others = [one.rows.columns[name].unit for name in made.names if name != of and name in one.rows.columns]
    return bool(one.unit) and one.unit in others


def _transformed(
    one: Response, made: derived.Derived, columns: dict[str, npt.NDArray[np.float64]], title: str, of: str
) -> Response:
    """The response with computed values, under a title of its own."""
    values = made.values(columns)
    unit = one.unit if made.scales(of) and not _is_share(one, made, of) else ""
    better = one.metric.better
    if made.falls(of):
        better = Better.HIGHER if better is Better.LOWER else Better.LOWER
    rows = replace(one.rows, columns={**one.rows.columns, title: Column(title, values, title, unit)})
    return replace(
        one, title=title, metric=replace(one.metric, unit=unit, better=better), rows=rows, transform=made.transform,
        measured=one.rows.column(one.title).name, measured_unit=one.unit,
    )  # fmt: skip


def _varies(table: Table, name: str) -> bool:
    return len(table.column(name).codes()[1]) > 1


def _factor(column: Column) -> Factor:
    return Factor(column.name, column.unit, tuple(level for level in column.codes()[1] if level is not None))
