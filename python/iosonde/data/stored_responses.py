"""Responses of a stored campaign: operations, metrics, both, ``value``, and expressions of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iosonde.core.computed_columns import describe_computed_columns
from iosonde.core.errors import DataError, InputError
from iosonde.core.metrics import build_metric
from iosonde.core.problems import find_closest_word
from iosonde.core.stored import describe_included_incomplete
from iosonde.core.table import Column
from iosonde.core.transforms import TRANSFORMS

from . import derived, stored
from .choice import column_to_texts, match_rows
from .query import MetricChoice, ResponseQuery
from .response import VALUE, Response, response_from_column, transform_response
from .source import StoredSource


def responses_from_campaign(source: StoredSource, query: ResponseQuery) -> Iterator[Response]:
    """Yield each metric of the clock, or the responses that the query names; with a warning for incomplete trials that
    were requested. Raises InputError, DataError."""
    for response in _iter_responses(source, query):
        ids = {str(run) for run in response.rows.column("run").values}
        warning = describe_included_incomplete([run for run in source.runs if run.id in ids])
        computed = {} if query.on else source.varying_factors.computed
        notes = (*filter(None, [warning]), *describe_computed_columns(computed))
        yield replace(response, warnings=(*response.warnings, *notes))


def _iter_responses(source: StoredSource, query: ResponseQuery) -> Iterator[Response]:
    source.require_trials(source.table)
    for text in query.response:
        yield from _responses_from_name(source, text, query)
    if not query.response:
        trials = source.trials(query.choice)
        source.require_trials(trials.rows)
        yield from _iter_metrics(source, query, trials)


def _iter_metrics(source: StoredSource, query: ResponseQuery, trials: stored.Trials) -> Iterator[Response]:
    """Yield a response for each operation and metric of these trials. Of imports that executed every setting once, a
    tool's own iterations are the only repetitions."""
    by = source.apart(query.on) or source.varying_factors.names
    runs = trials.rows.columns["run"].values
    is_single = all(run.imported for run in source.runs) and all(
        len(set(runs[at])) == 1 for _, at in trials.rows.groups([*stored.KIND, *by])
    )
    iterations = dict(trials.iterations.groups(stored.KIND)) if is_single else {}
    for key, at in trials.rows.groups(stored.KIND):
        within = is_single and len(iterations[key]) > len(at)
        rows = trials.iterations.take(iterations[key]) if within else trials.rows.take(at)
        title, unit = " ".join(map(str, key)), str(rows.column("unit").values[0])
        table = replace(rows, columns={**rows.columns, title: Column(title, rows.numbers(VALUE), title, unit)})
        yield replace(
            response_from_column(table, title, source.varying_factors),
            metric=build_metric(str(key[1]), unit),
            operation=str(key[0]),
            at=None if within else trials.at[at],
            within_run=within,
            warnings=trials.warnings,
        )


def _responses_from_name(source: StoredSource, text: str, query: ResponseQuery) -> Iterator[Response]:
    """Yield the responses of a name: ``value``, a title, an operation, a metric, or an expression."""
    table = source.table
    operations, metrics = set(column_to_texts(table, "operation")), set(column_to_texts(table, "metric"))
    is_column = table.has_column(text)
    if text == VALUE:
        yield _build_value_response(source, query)
    elif text in operations | metrics or (not is_column and match_rows(text, source.run_rows).any()):
        yield from _responses_from_metric(source, text, query, text in operations - metrics)
    elif is_column:
        source.require_single_kind(())
        yield response_from_column(source.trials().rows, text, source.varying_factors)
    else:
        yield from _compute_responses(source, text, query, operations, metrics)


def _responses_from_metric(
    source: StoredSource, text: str, query: ResponseQuery, operation: bool
) -> Iterator[Response]:
    """Yield the responses of a name as a metric; for an ``operation`` those of the chosen metrics, if it has them."""
    for choice in (*([query.choice] if query.metric and operation else []), MetricChoice(query.clock, (text,))):
        responses = _iter_metrics(source, query, source.trials(choice))
        matches = [response for response in responses if not operation or response.operation == text]
        yield from matches
        if matches:
            return


def _compute_responses(
    source: StoredSource, text: str, query: ResponseQuery, operations: set[str], metrics: set[str]
) -> Iterator[Response]:
    """Evaluate an expression over one response and the columns of its trials. Raises InputError if it names none, or
    two."""
    words = set(re.findall(r"[A-Za-z_]\w*", text)) - {*operations, *metrics}
    kinds = [word for word in words if word not in TRANSFORMS and match_rows(word, source.run_rows).any()]
    titles = [f"{operation} {name}" for operation in operations for name in (*metrics, *kinds)]
    responses = [*titles, *operations, *metrics, *kinds]
    expression = _parse_response(source, text, [*responses, *source.table.names], sorted(operations))
    response_names = [name for name in expression.names if name in {VALUE, *responses}]
    if len(response_names) > 1:
        raise InputError(
            "too-many-responses",
            "'{expression}' names {responses}",
            "use one response and columns of its trials",
            expression=text,
            responses=" and ".join(response_names),
        )
    if not response_names:
        raise InputError(
            "expression-without-response",
            "'{expression}' has no response",
            "known: {operations}",
            expression=text,
            operations=", ".join(sorted(operations)[:20]),
        )
    (of,) = response_names
    candidates = list(_iter_responses(source, replace(query, response=() if of == VALUE else (of,))))
    computed, undefined = list[Response](), list[DataError]()
    for response in candidates:
        columns = {name: response.values if name == of else response.rows.numbers(name) for name in expression.names}
        title = text if len(candidates) == 1 else re.sub(rf"\b{re.escape(of)}\b", response.title, text)
        try:
            computed.append(transform_response(response, expression, columns, title, of))
        except DataError as error:  # one metric has zeros: the others are of use
            undefined.append(
                DataError(error.code, "{title}: {problem}", error.hint, title=title, problem=error.message)
            )
    if undefined and not computed:
        raise undefined[0]
    for response in computed:
        yield replace(response, warnings=(*response.warnings, *(error.message for error in undefined)))


def _parse_response(
    source: StoredSource, text: str, names: Sequence[str], operations: Sequence[str]
) -> derived.Derived:
    """Parse a response as an expression. Raises InputError if it is none, with the nearest name."""
    template = "{source} has no response '{response}'"
    try:
        expression = derived.parse_expression(text, names)
    except InputError as error:
        titles = [" ".join(map(str, key)) for key, _ in source.table.groups(stored.KIND)]
        if near := find_closest_word(text, titles):
            raise InputError(
                "unknown-response",
                template,
                "did you mean {nearest}?",
                source=source.name,
                response=text,
                nearest=near,
            ) from error
        raise
    if expression is None:
        raise InputError(
            "unknown-response",
            template,
            "known: {suggestions}",
            source=source.name,
            response=text,
            suggestions=", ".join((operations or source.table.names)[:20]),
        )
    return expression


def _build_value_response(source: StoredSource, query: ResponseQuery) -> Response:
    """Return the column ``value`` of trials of one operation and metric: of all, else of those of the clock, unless
    ``on`` distinguishes them. Raises InputError if there are several."""
    extra_columns = [name for name in stored.KIND if name not in query.on]
    rows = source.trials().rows
    warnings: tuple[str, ...] = ()
    if len(rows.groups(extra_columns)) > 1 and len((trials := source.trials(query.choice)).rows):
        rows, warnings = trials.rows, trials.warnings
    stored.check_single_kind(rows, extra_columns)
    return replace(response_from_column(rows, VALUE, source.varying_factors), warnings=warnings)
