"""What a figure by settings is of: the responses that were asked for, over the factors that are known or named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.errors import DataError, IosondeError
from iosonde.data.asked import ALL, Asked
from iosonde.data.choice import texts
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.responses import Response, responses
from iosonde.data.source import Source, by_itself

from .headline import headlines
from .layout import PlotRoles


def one_experiment(source: Source, roles: PlotRoles) -> tuple[Source, str]:
    """As ``by_itself``, unless the experiment has a role."""
    return (source, "") if EXPERIMENT in roles.named else by_itself(source, alike=True)


def responses_by(source: Source, asked: Asked, roles: PlotRoles) -> list[Response]:
    """The responses that are asked for, else the headline of each operation; over the factors that are known and those
    that have a role. ``asked.metric`` may name operations, too. Raises InputError, DataError."""
    named = _with_operations(source, asked)
    found = _found(source, replace(named, on=()), roles)
    if not named.metric:
        names = set(named.response)
        exact = [one for one in found if {one.title, one.metric.name} & names or one.operation in ("", *source.foreign)]
        rest = [one for one in found if not any(one is other for other in exact)]
        found = [*exact, *headlines(rest)]
    by = [_by(one, roles) for one in found if one.title not in roles.named]
    known = [made for made in by if len(made.rows)]
    if not known:
        raise DataError(
            "nothing-to-draw", "{name} holds no value to draw", "iosonde show says what it holds", name=source.name
        )
    return known


def named_in(found: Sequence[Response], roles: PlotRoles) -> PlotRoles:
    """The roles with whole names of columns: ``time`` is ``time (s)``. Raises DataError."""
    rows = found[0].rows

    def whole(name: str) -> str:
        return rows.column(name).name

    return PlotRoles(roles.x and whole(roles.x), roles.color and whole(roles.color), tuple(map(whole, roles.panel)))


def _with_operations(source: Source, asked: Asked) -> Asked:
    """Names of operations among the metrics are responses; of a table, which has no metrics, all of them."""
    if source.store is None:
        return replace(asked, response=(*asked.response, *(one for one in asked.metric if one != ALL)), metric=())
    operations = set(texts(source.table, "operation"))
    some = tuple(one for one in asked.metric if one in operations or " " in one)
    rest = tuple(one for one in asked.metric if one not in some)
    return replace(asked, response=(*asked.response, *some), metric=rest)


def _found(source: Source, asked: Asked, roles: PlotRoles) -> list[Response]:
    try:
        return responses(source, asked)
    except IosondeError:
        if source.store is not None or not roles.named:
            raise
        return responses(source, replace(asked, on=roles.named))  # a table of which nothing else can be guessed


def _by(one: Response, roles: PlotRoles) -> Response:
    """Over the known factors and those with a role, which take the place of factors that they always change with; of
    the rows that have a value."""
    rows = one.rows.take(~np.isnan(one.values))
    at = None if one.at is None else one.at[~np.isnan(one.values)]
    named = [rows.column(name).name for name in roles.named]
    replaced = {twin for name, twin in one.confounded if name in named}
    known = [name for name in one.names if name not in named and name not in replaced]
    return replace(one, rows=rows, at=at).on([*known, *named])
