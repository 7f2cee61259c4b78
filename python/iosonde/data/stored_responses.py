"""Responses of a stored campaign: operations, metrics, both, ``value``, and expressions of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.metrics import build_metric
from iosonde.core.problems import find_closest_word
from iosonde.core.table import Column, Table

from . import derived, stored
from .choice import column_to_texts, match_rows
from .query import MetricChoice, ResponseQuery
from .response import VALUE, Response, response_from_column, transform_response
from .source import Source, StoredSource


def responses_from_campaign(source: StoredSource, query: ResponseQuery) -> Iterator[Response]:
    """Yield each metric of the clock, or the responses that the query names. Raises InputError, DataError."""
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
        build_metric(metric, unit),
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
    operations, metrics = set(column_to_texts(table, "operation")), set(column_to_texts(table, "metric"))
    if text == VALUE:
        yield _build_value_response(source, query)
        return
    column = table.has_column(text)
    if text in operations | metrics or (not column and match_rows(text, source.run_rows).any()):
        yield from _responses_from_metric(source, text, query, text in operations - metrics)
        return
    if column:
        rows = source.trials().rows
        stored.check_single_kind(rows, ["operation", "metric"])
        yield _apply_factors(response_from_column(rows, text, ()), source)
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
        return derived.parse_expression(text, names)
    except InputError as error:
        titles = [" ".join(map(str, key)) for key, _ in source.table.groups(["operation", "metric"])]
        if near := find_closest_word(text, titles):
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
    for choice in (*([query.choice] if query.metric and operation else []), MetricChoice(query.clock, (text,))):
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
    for response in responses_from_campaign(source, inner):
        columns = {
            name: response.values if name == response_names[0] else response.rows.numbers(name)
            for name in expression.names
        }
        title = (
            expression.text
            if len(operations) == 1 or response_names[0] != VALUE
            else f"{expression.text} of {response.title}"
        )
        yield transform_response(response, expression, columns, title, response_names[0])


def _build_value_response(source: StoredSource, query: ResponseQuery) -> Response:
    """Return the column ``value`` of trials of one operation and metric: of all, else of those of the clock, unless
    ``on`` distinguishes them. Raises InputError if there are several."""
    extra_columns = [name for name in ("operation", "metric") if name not in query.on]
    rows = source.trials().rows
    warnings: tuple[str, ...] = ()
    if len(rows.groups(extra_columns)) > 1:
        clock_trials = source.trials(query.choice)
        rows, warnings = (clock_trials.rows, clock_trials.warnings) if len(clock_trials.rows) else (rows, ())
        stored.check_single_kind(rows, extra_columns)
    return _apply_factors(response_from_column(rows, VALUE, ()), source, warnings)


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
    return rows.take((column_to_texts(rows, "operation") == operation) & (column_to_texts(rows, "metric") == metric))


def _has_single_runs(rows: Table, by: Sequence[str]) -> bool:
    """Return whether every setting was executed once, so that a tool's own iterations are the only repetitions."""
    if "run" not in rows.columns:
        return False
    keys = rows.groups(["operation", "metric", *by])
    return all(len(set(rows.columns["run"].values[at])) == 1 for _, at in keys)
