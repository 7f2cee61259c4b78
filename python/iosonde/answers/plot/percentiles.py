"""The tail of the latency by setting: ``iosonde plot DATA --kind percentiles``.

Of recorded operations the percentiles of each trial are computed, of a tool's output those that it states are taken.
A point is the mean of one percentile over the trials of a setting: n counts trials, never operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.answers.latencies import latencies
from iosonde.core.errors import DataError, InputError
from iosonde.core.factor_levels import PERCENTILE
from iosonde.core.table import Column, Table
from iosonde.core.types import Better, Factor, Metric
from iosonde.data.asked import ALL, Asked
from iosonde.data.responses import Response
from iosonde.data.source import Source

from .chosen import named_in, one_experiment, responses_by
from .layout import PlotRoles
from .settings import Fits, plot_of
from .settings_plot import SettingsPlot

_STATED = re.compile(r"(?P<what>\w*latency\w*)_p(?P<percent>\d+(?:\.\d+)?)")
_LEAST, _SAID = 50.0, 99.0  # per cent: below, times differ little; what sentences are about


@dataclass
class _Found:
    """The percentiles of one kind of latency: a row of ``rows``, a per cent and a time for each."""

    rows: Table
    at: list[int] = field(default_factory=list)
    percents: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def percentiles_plot(source: Source, asked: Asked, roles: PlotRoles, fits: Fits | None = None) -> SettingsPlot:
    """Percentiles along x, the factors that are known by colour and in panels; ``asked.response`` names operations.
    Raises InputError, DataError."""
    if roles.x:
        raise InputError(
            "conflicting-options", "percentiles lie along x", "name a factor with {spell.color} or {spell.panel}"
        )
    source, newest = one_experiment(source, roles)
    every = responses_by(source, replace(asked, response=(), metric=(ALL,)), roles)
    wanted = {*asked.response, *asked.metric} - {ALL}
    found = [one for one in (*_recorded(source, every, asked.level), *_stated(every))
             if not wanted or {one.operation, one.metric.name} & wanted]  # fmt: skip
    if not found:
        raise DataError(
            "no-percentiles",
            "{name} holds no percentiles of {metrics}",
            "record operations, or import what states percentiles (fio)",
            name=source.name,
            metrics=" or ".join(sorted(wanted)) or "latencies",
        )
    roles = replace(named_in(found, roles), x=PERCENTILE)
    made = plot_of(source, found, asked, roles, fits or Fits(), lambda one: one.setting[PERCENTILE] == _SAID)
    return replace(made, notes=(*([newest] if newest else []), *made.notes))


def _recorded(source: Source, every: Sequence[Response], level: float) -> Iterable[Response]:
    """Of the operations of each trial, where they were recorded."""
    if source.store is None:
        return
    first = every[0]
    rows = source.trials().rows
    of_run = {str(run): at for at, run in reversed(list(enumerate(rows.columns["run"].values)))}
    made: dict[tuple[str, str], _Found] = {}
    for run, trial in latencies(source, level).items():
        for one in trial if run in of_run else ():
            for share, ns in one.duration_ns.items():
                if ns is not None:
                    found = made.setdefault((one.operation, one.kind), _Found(rows))
                    _add(found, of_run[run], 100 * share, ns / 1e9)
    for (operation, kind), found in made.items():
        yield _response(operation, f"latency of {kind}", found, first)


def _stated(every: Sequence[Response]) -> Iterable[Response]:
    """As a tool states them."""
    made: dict[tuple[str, str], tuple[Response, _Found]] = {}
    for one in every:
        seen = _STATED.fullmatch(one.metric.name)
        if seen is None:
            continue
        first, found = made.setdefault((one.operation, seen["what"]), (one, _Found(one.rows)))
        if len(one.rows) == len(first.rows):
            for at, value in enumerate(one.values.tolist()):
                _add(found, at, float(seen["percent"]), value)
    for (operation, what), (first, found) in made.items():
        if found.at:
            yield _response(operation, what.replace("_", " "), found, first)


def _add(found: _Found, at: int, percent: float, seconds: float) -> None:
    if _LEAST <= percent < 100:
        found.at.append(at)
        found.percents.append(round(percent, 6))
        found.seconds.append(seconds)


def _response(operation: str, what: str, found: _Found, like: Response) -> Response:
    rows = found.rows.take(np.array(found.at, dtype=np.intp))
    title = f"{operation} {what}"
    columns = {**rows.columns, PERCENTILE: Column(PERCENTILE, np.array(found.percents), PERCENTILE),
               title: Column(title, np.array(found.seconds), title, "s")}  # fmt: skip
    return replace(like, title=title, metric=Metric(what, "s", Better.LOWER), rows=replace(rows, columns=columns),
                   factors=(*like.factors, Factor(PERCENTILE)), operation=operation, at=None)  # fmt: skip
