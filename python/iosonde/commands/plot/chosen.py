"""Responses of a figure by settings, over the known or named factors; by default one of each operation."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iosonde.commands.report.axis import is_part_of_another
from iosonde.core.errors import DataError, IosondeError
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import SPEEDS
from iosonde.data.choice import column_to_texts
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.query import ALL, CLOCKS, ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source

from .layout import PlotRoles

_HEADLINES = [tuple(f"{kind}_{clock}" for clock in CLOCKS) for kind in SPEEDS]


def select_experiment(source: Source, roles: PlotRoles) -> tuple[Source, str]:
    """Select an experiment as ``Source.separate_last``, unless the experiment has a role."""
    return (source, "") if EXPERIMENT in roles.factors else source.separate_last(alike=True)


def select_responses(source: Source, query: ResponseQuery, roles: PlotRoles) -> list[Response]:
    """Return the responses of the query, else the headline of each operation, over known factors and those with a role.
    ``query.metric`` may name operations, too. Raises InputError, DataError."""
    resolved = _move_operations_to_responses(source, query)
    candidates = _collect_responses(source, replace(resolved, on=()), roles)
    if not resolved.metric:
        names = set(resolved.response)
        exact = [
            response
            for response in candidates
            if {response.title, response.metric.name} & names or response.operation in ("", *source.foreign)
        ]
        rest = [response for response in candidates if not any(response is other for other in exact)]
        candidates = [*exact, *select_headlines(rest)]
    by = [_group_by_factors(response, roles) for response in candidates if response.title not in roles.factors]
    nonempty = [grouped for grouped in by if len(grouped.rows)]
    if not nonempty:
        raise DataError(
            "nothing-to-draw", "{name} holds no value to draw", "iosonde show lists its content", name=source.name
        )
    return nonempty


def resolve_role_names(candidates: Sequence[Response], roles: PlotRoles) -> PlotRoles:
    """Complete the names of columns in roles: ``time`` is ``time (s)``. Raises DataError."""
    rows = candidates[0].rows

    def column_name(name: str) -> str:
        return rows.column(name).name

    return PlotRoles(
        roles.x and column_name(roles.x), roles.color and column_name(roles.color), tuple(map(column_name, roles.panel))
    )


def _move_operations_to_responses(source: Source, query: ResponseQuery) -> ResponseQuery:
    """Move operation names among the metrics to the responses; for a table, which has no metrics, move all."""
    if not source.knows_factors:
        names = [name for name in query.metric if name != ALL]
        return replace(query, response=(*query.response, *names), metric=())
    operations = set(column_to_texts(source.table, "operation"))
    names = [name for name in query.metric if name in operations or " " in name]
    metrics = tuple(name for name in query.metric if name not in names)
    return replace(query, response=(*query.response, *names), metric=metrics)


def _collect_responses(source: Source, query: ResponseQuery, roles: PlotRoles) -> list[Response]:
    try:
        return build_responses(source, query)
    except IosondeError:
        if source.knows_factors or not roles.factors:
            raise
        return build_responses(source, replace(query, on=roles.factors))  # a table without other guessable columns


def _group_by_factors(response: Response, roles: PlotRoles) -> Response:
    """Group the rows with a value by known factors and those with a role, which replace their confounded twins."""
    rows = response.rows.take(~np.isnan(response.values))
    at = None if response.at is None else response.at[~np.isnan(response.values)]
    role_names = [rows.column(name).name for name in roles.factors]
    replaced = {twin for name, twin in response.confounded if name in role_names}
    free_names = [name for name in response.names if name not in role_names and name not in replaced]
    return replace(response, rows=rows, at=at).on([*free_names, *role_names])


def select_headlines(candidates: Sequence[Response]) -> list[Response]:
    """Return the bandwidth of each operation, else its rate; everything if no operation has one. Parts of operations,
    as a write before its fsync, have to be named."""
    operations = group_by_key((response.operation, response) for response in candidates)
    chosen = [
        response
        for operation, group in operations.items()
        if not is_part_of_another(operation)
        for response in _select_headline(group)
    ]
    return chosen or list(candidates)


def _select_headline(responses: Sequence[Response]) -> list[Response]:
    for names in _HEADLINES:
        matches = [response for response in responses if response.metric.name in names]
        if matches:
            return matches
    return []
