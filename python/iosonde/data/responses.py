"""Source → Response: one metric of one operation over the trials, with its known factors.

This is the only place that builds responses, so that every analysis accepts the same names: a column of a table; for a
store an operation (``write``), a metric (``bandwidth_last_done``), both (``write bandwidth_last_done``) or ``value``;
and expressions of them (``log(write)``, ``value/nodes``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.headlines import SPEEDS
from iosonde.core.message import Message, spell
from iosonde.core.metrics import metric_of
from iosonde.core.problems import closest
from iosonde.core.stored import incomplete_among
from iosonde.core.table import Column, Table
from iosonde.core.types import Better, Factor, Metric

from . import derived, factors, roles, stored
from .asked import CLOCKS, MetricChoice, ResponseQuery
from .choice import match_rows, texts
from .source import Source, StoredSource
from .subsamples import average_trials

VALUE = "value"


@dataclass(frozen=True)
class Response:
    """A metric of one operation over the trials: the input of every analysis.

    ``rows`` has one row per trial, in order of time if known, and a column called ``title`` with the value in
    ``metric.unit``. ``factors`` vary; each is a column of ``rows``. ``confounded`` maps an omitted factor, one of
    ``twins``, to the factor that it always changes with. ``at`` numbers the rows in ``Source.run_rows``.
    ``within_run``: the rows are iterations of single executions, not trials. ``transform`` is a function, such as
    ``log``, of the column ``measured``, whose unit is ``measured_unit``. ``are_parts``: rows are single ranks of
    unknown trials. ``trial_note`` is the warning about rows that are parts of one trial.
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
        """Value of each trial, NaN if missing."""
        return self.rows.numbers(self.title)

    @property
    def names(self) -> list[str]:
        """Columns of its factors."""
        return [factor.name for factor in self.factors]

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return self.metric.unit

    @property
    def lower_is_better(self) -> bool:
        """Return whether lower values are better."""
        return self.metric.better is Better.LOWER

    @property
    def together(self) -> dict[str, tuple[str, ...]]:
        """Factor → columns that always change with it, without ranks, which follow from nodes."""
        columns: dict[str, tuple[str, ...]] = {}
        for name, twin in self.confounded:
            if "ranks" not in (name, twin):
                columns[twin] = (*columns.get(twin, ()), name)
        return {factor: twins for factor, twins in columns.items() if factor in self.names}

    def on(self, names: Sequence[str]) -> Response:
        """Return the response with other factors; the columns may or may not vary. Raises DataError."""
        columns = [self.rows.column(name) for name in names]
        chosen = {column.name for column in columns}
        confounded = tuple(pair for pair in self.confounded if pair[1] in chosen and pair[0] not in chosen)
        return replace(
            self, factors=tuple(_factor_from_column(column) for column in columns), confounded=confounded, twins=()
        )

    def with_scattered(self) -> Response:
        """Add confounded factors that are uncorrelated, as in a Latin hypercube. For grouping the two are one, but a
        regression or bins can separate them."""
        apart = [pair for pair in self.confounded if factors.is_separable(self.rows, *pair)]
        if not apart:
            return self
        names = [name for name, _ in apart]
        more = tuple(factor for factor in self.twins if factor.name in names)
        confounded = tuple(pair for pair in self.confounded if pair not in apart)
        return replace(self, factors=(*self.factors, *more), confounded=confounded, twins=())


def responses(source: Source, query: ResponseQuery) -> list[Response]:
    """Return every requested response. Without ``query.response`` it is each metric of the clock, or each column that
    looks measured; without ``query.on`` the known factors are used. Raises InputError, DataError."""
    if isinstance(source, StoredSource):
        candidates = [_with_incomplete(source, response) for response in _responses_from_store(source, query)]
    else:
        candidates = _responses_from_table(source, query)
    return [response.on(source.apart(query.on)) for response in candidates] if query.on else candidates


def _with_incomplete(source: StoredSource, response: Response) -> Response:
    """Add a warning if the response includes incomplete trials on request."""
    run_ids = {str(run) for run in response.rows.column("run").values}
    warning = incomplete_among([run for run in source.runs if run.id in run_ids])
    return replace(response, warnings=(*response.warnings, warning)) if warning else response


def choose_response(source: Source, query: ResponseQuery) -> Response:
    """Return the only requested response; of several metrics of one operation the headline. Raises InputError if it is
    ambiguous, with a way to choose."""
    candidates = responses(source, query)
    if len(candidates) == 1:
        return candidates[0]
    first = _choose_headline(candidates)
    if first is not None:
        return first
    titles = ", ".join(f"'{candidate.title}'" for candidate in candidates[:6])
    more = f" and {len(candidates) - 6} more" if len(candidates) > 6 else ""
    what = f"'{query.response[0]}'" if query.response else "DATA"
    raise InputError(
        "ambiguous-response",
        "{response} has {n_responses} responses: {responses}{remainder}",
        "choose one with {spell.response}",
        response=what,
        n_responses=len(candidates),
        responses=titles,
        remainder=more,
    )


def choose_per_operation(source: Source, query: ResponseQuery) -> list[Response]:
    """Return one response for each operation of a store: of several metrics its headline, if it has one. For a table it
    is the only response. Raises InputError, DataError."""
    if source.has_response_columns:
        return [choose_response(source, query)]
    by_operation: dict[str, list[Response]] = {}
    for response in responses(source, query):
        by_operation.setdefault(response.operation or response.title, []).append(response)
    chosen = [(several, _choose_headline(several) if len(several) > 1 else None) for several in by_operation.values()]
    return [response for several, first in chosen for response in ([first] if first else several)]


def _choose_headline(candidates: Sequence[Response]) -> Response | None:
    """Return the bandwidth of one operation, else its rate; None if there is neither, or more than one."""
    if len({candidate.operation for candidate in candidates}) != 1 or not candidates[0].operation:
        return None
    for kind in SPEEDS:
        chosen = [
            candidate for candidate in candidates if candidate.metric.name in {f"{kind}_{clock}" for clock in CLOCKS}
        ]
        if len(chosen) == 1:
            others = ", ".join(candidate.metric.name for candidate in candidates if candidate is not chosen[0])
            warning = Message(
                "headline-metric",
                "using {metric}, the headline of {operation}; also available: {others}",
                operation=chosen[0].operation,
                metric=chosen[0].metric.name,
                others=others,
            )
            return replace(chosen[0], warnings=(*chosen[0].warnings, warning))
    return None


# A store


def _responses_from_store(source: StoredSource, query: ResponseQuery) -> Iterator[Response]:
    source.require_trials(source.table)
    if not query.response:
        trials = source.trials(query.choice)
        source.require_trials(trials.rows)
        yield from _iter_metrics(source, query, query.choice, trials)
        return
    for text in query.response:
        yield from _responses_from_name(source, text, query)


def _iter_metrics(
    source: StoredSource, query: ResponseQuery, choice: MetricChoice, trials: stored.Trials
) -> Iterator[Response]:
    """Yield a response for each operation and metric of these trials."""
    by = source.apart(query.on) or source.varying_factors.names
    single = all(run.imported for run in source.runs) and _has_single_runs(trials.rows, by)
    for (operation, metric), places in trials.rows.groups(["operation", "metric"]):
        places = np.sort(places)
        rows, within = trials.rows.take(places), False
        at: npt.NDArray[np.intp] | None = trials.at[places]
        if single:
            several = _select_iterations(source, choice, str(operation), str(metric))
            if len(several) > len(rows):
                rows, at, within = several, None, True
        yield _build_stored(str(operation), str(metric), rows, source, at, within, trials.warnings)


def _build_stored(
    operation: str,
    metric: str,
    rows: Table,
    source: Source,
    at: npt.NDArray[np.intp] | None,
    within: bool,
    warnings: tuple[str, ...],
) -> Response:
    title = f"{operation} {metric}"
    unit = str(rows.column("unit").values[0])
    table = replace(rows, columns={**rows.columns, title: Column(title, rows.numbers(VALUE), title, unit)})
    varying = source.varying_factors
    return Response(
        title,
        metric_of(metric, unit),
        table,
        varying.factors,
        operation,
        confounded=tuple(varying.confounded.items()),
        twins=varying.twins,
        within_run=within,
        at=at,
        warnings=warnings,
    )


def _responses_from_name(source: StoredSource, text: str, query: ResponseQuery) -> Iterator[Response]:
    """Yield the responses of a name: ``value``, a title, an operation, a metric, or an expression."""
    table = source.table
    operations, metrics = set(texts(table, "operation")), set(texts(table, "metric"))
    if text == VALUE:
        yield _build_value_response(source, query)
        return
    column = text in table.columns or any(column.label == text for column in table.columns.values())
    if text in operations | metrics or (not column and match_rows(text, source.run_rows).any()):
        yield from _responses_from_metric(source, text, query, text in operations - metrics)
        return
    if column:
        rows = source.trials().rows
        stored.refuse_many_kinds(rows, ["operation", "metric"])
        yield _apply_factors(_response_from_column(rows, text, ()), source)
        return
    expression = _parse_response(source, text, _list_names(source, operations, metrics))
    if expression is None:
        near = sorted(operations) or list(table.names)
        raise InputError(
            "unknown-response",
            "{source} has no response '{response}'",
            "known: {suggestions}",
            source=source.name,
            response=text,
            suggestions=", ".join(near[:20]),
        )
    yield from _compute_responses(source, expression, query, operations, metrics)


def _parse_response(source: StoredSource, text: str, names: Sequence[str]) -> derived.Derived | None:
    """Parse a response as an expression. Raises InputError if invalid, with the nearest name."""
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


def _responses_from_metric(
    source: StoredSource, text: str, query: ResponseQuery, operation: bool
) -> Iterator[Response]:
    """Yield the responses of a name as a metric; for an ``operation`` those of the chosen metrics, if it has them."""
    choices = [query.choice] if query.metric and operation else []
    for choice in (*choices, MetricChoice(query.clock, (text,))):
        candidates = _iter_metrics(source, query, choice, source.trials(choice))
        matches = [candidate for candidate in candidates if not operation or candidate.operation == text]
        yield from matches
        if matches:
            return


def _list_names(source: StoredSource, operations: set[str], metrics: set[str]) -> list[str]:
    titles = [f"{operation} {metric}" for operation in operations for metric in metrics]
    return [*titles, *operations, *metrics, *source.table.names]


def _compute_responses(
    source: StoredSource, expression: derived.Derived, query: ResponseQuery, operations: set[str], metrics: set[str]
) -> Iterator[Response]:
    """Evaluate an expression over one response and the columns of its trials. Raises InputError if it names two
    responses."""
    titles = {f"{operation} {metric}" for operation in operations for metric in metrics}
    response_names = [name for name in expression.names if name in {VALUE, *operations, *metrics, *titles}]
    if len(response_names) > 1:
        raise InputError(
            "too-many-responses",
            "'{expression}' names {responses}",
            "use one response and columns of its trials",
            expression=expression.text,
            responses=" and ".join(response_names),
        )
    if not response_names:
        raise InputError(
            "expression-without-response",
            "'{expression}' has no response",
            "known: {operations}",
            expression=expression.text,
            operations=", ".join(sorted(operations)[:20]),
        )
    inner = replace(query, response=() if response_names[0] == VALUE else (response_names[0],))
    for response in _responses_from_store(source, inner):
        columns = {
            name: response.values if name == response_names[0] else response.rows.numbers(name)
            for name in expression.names
        }
        title = (
            expression.text
            if len(operations) == 1 or response_names[0] != VALUE
            else f"{expression.text} of {response.title}"
        )
        yield _transform_response(response, expression, columns, title, response_names[0])


def _build_value_response(source: StoredSource, query: ResponseQuery) -> Response:
    """Return the column ``value`` of trials of one operation and metric: of all, else of those of the clock, unless
    ``on`` distinguishes them. Raises InputError if there are several."""
    extra_columns = [name for name in ("operation", "metric") if name not in query.on]
    rows = source.trials().rows
    warnings: tuple[str, ...] = ()
    if len(rows.groups(extra_columns)) > 1:
        clock_trials = source.trials(query.choice)
        rows, warnings = (clock_trials.rows, clock_trials.warnings) if len(clock_trials.rows) else (rows, ())
        stored.refuse_many_kinds(rows, extra_columns)
    return _apply_factors(_response_from_column(rows, VALUE, ()), source, warnings)


def _apply_factors(response: Response, source: Source, warnings: tuple[str, ...] = ()) -> Response:
    """Add the known factors of a store."""
    varying = source.varying_factors
    mine = tuple(factor for factor in varying.factors if factor.name != response.title)
    return replace(
        response, factors=mine, confounded=tuple(varying.confounded.items()), twins=varying.twins, warnings=warnings
    )


def _select_iterations(source: StoredSource, choice: MetricChoice, operation: str, metric: str) -> Table:
    """Return a tool's own iterations of one operation and metric."""
    rows = source.iterations(choice)
    chosen = (texts(rows, "operation") == operation) & (texts(rows, "metric") == metric)
    return rows.take(chosen)


def _has_single_runs(rows: Table, by: Sequence[str]) -> bool:
    """Return whether every setting was executed once, so that a tool's own iterations are the only repetitions."""
    if "run" not in rows.columns:
        return False
    keys = rows.groups(["operation", "metric", *by])
    return all(len(set(rows.columns["run"].values[at])) == 1 for _, at in keys)


# A table


def _responses_from_table(source: Source, query: ResponseQuery) -> list[Response]:
    table = source.table
    if not len(table):
        raise InputError("no-rows", "{source} has no rows", "use a table with measurements", source=source.name)
    measured = [_find_measured(table, text) for text in query.response]
    columns = [name for _, names in measured for name in names]
    column_roles = None if query.response and query.on else roles.guess(table, columns, list(query.on) or None)
    factors: tuple[Factor, ...] = ()
    if column_roles is not None:
        factors = tuple(
            _factor_from_column(table.column(name)) for name in column_roles.settings if _is_varying(table, name)
        )
    trials = average_trials(
        table,
        columns or (column_roles.responses if column_roles else ()),
        [table.column(name).name for name in query.on],
    )
    table = trials.rows
    if not query.response:
        assert column_roles is not None
        candidates = [_response_from_column(table, name, factors) for name in column_roles.responses]
    else:
        candidates = [
            _build_response(table, text, expression, factors)
            for text, (expression, _) in zip(query.response, measured, strict=True)
        ]
    warnings = (trials.note,) if trials.note else ()
    candidates = [
        replace(candidate, warnings=warnings, are_parts=trials.are_parts, trial_note=trials.note)
        for candidate in candidates
    ]
    if column_roles is None or query.on or not factors:
        return candidates
    return [
        replace(candidate, warnings=(_describe_assumption(candidate, column_roles.others), *warnings))
        for candidate in candidates
    ]


def _build_response(
    table: Table, text: str, expression: derived.Derived | None, factors: tuple[Factor, ...]
) -> Response:
    """Build a response from a column or an expression."""
    if expression is None:
        return _response_from_column(table, text, factors)
    columns = {name: table.numbers(name) for name in expression.names}
    base = replace(_response_from_column(table, expression.names[0], ()), factors=factors)
    return _transform_response(base, expression, columns, expression.text, expression.names[0])


def _describe_assumption(response: Response, others: Sequence[str]) -> Message:
    """Describe the columns of a table that were assumed to be factors, because the user names none."""
    return assumed_factors(", ".join(response.names), ", ".join(others), "on")


def assumed_factors(factors: str, excluded: str, option: str) -> Message:
    """Return the warning about assumed ``factors``, and columns ``excluded`` as measured. ``option`` would name the
    factors; '' if there is none."""
    reason = f"{getattr(spell, option)} names none" if option else "none is named"
    template = "assumed factors, as {reason}: {factors}"
    template += "; {excluded} looks measured and is left out" if excluded else ""
    return Message("assumed-factors", template, reason=reason, factors=factors, excluded=excluded)


def _find_measured(table: Table, text: str) -> tuple[derived.Derived | None, tuple[str, ...]]:
    """Return (the expression, or None for a plain column; its measured columns)."""
    if text in table.columns or any(column.label == text for column in table.columns.values()):
        return None, (table.column(text).name,)
    names = list(dict.fromkeys([*table.columns, *(column.label for column in table.columns.values())]))
    expression = derived.parse(text, names)
    if expression is None:
        table.column(text)  # raises, with the nearest names
        raise InputError("unknown-column", "unknown column '{column}'", column=text)
    resolved = tuple(table.column(name).name for name in expression.names)
    return expression, resolved[:1]


def _response_from_column(table: Table, name: str, factors: Sequence[Factor]) -> Response:
    column = table.column(name)
    rows = table
    unit = column.unit
    if not unit and column.name == VALUE and "unit" in table.columns and len(table):
        unit = str(table.columns["unit"].values[0])
        rows = replace(table, columns={**table.columns, VALUE: replace(column, unit=unit)})
    return Response(
        name,
        metric_of(column.label or column.name, unit),
        rows,
        tuple(factor for factor in factors if factor.name != column.name),
    )


def _is_share(response: Response, expression: derived.Derived, of: str) -> bool:
    """Return whether another column of the same unit is in it, so that the result has no unit, such as a share of the
    maximum."""
    others = [
        response.rows.columns[name].unit for name in expression.names if name != of and name in response.rows.columns
    ]
    return bool(response.unit) and response.unit in others


def _transform_response(
    response: Response, expression: derived.Derived, columns: dict[str, npt.NDArray[np.float64]], title: str, of: str
) -> Response:
    """Return the response with computed values, under its own title."""
    values = expression.values(columns)
    unit = response.unit if expression.scales(of) and not _is_share(response, expression, of) else ""
    better = response.metric.better
    if expression.falls(of):
        better = Better.HIGHER if better is Better.LOWER else Better.LOWER
    rows = replace(response.rows, columns={**response.rows.columns, title: Column(title, values, title, unit)})
    return replace(
        response,
        title=title,
        metric=replace(response.metric, unit=unit, better=better),
        rows=rows,
        transform=expression.transform,
        measured=response.rows.column(response.title).name,
        measured_unit=response.unit,
    )


def _is_varying(table: Table, name: str) -> bool:
    return len(table.column(name).codes()[1]) > 1


def _factor_from_column(column: Column) -> Factor:
    return Factor(column.name, column.unit, tuple(level for level in column.codes()[1] if level is not None))
