"""Tail of the latency by setting: ``iosonde plot DATA --kind percentiles``. Percentiles of each trial come from its
recorded operations; of an operation without any from a tool's output, which may state several latencies. A point is
the mean of one percentile over the trials of a setting: n counts trials, never operations."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.answers.operations import compute_run_percentiles
from iosonde.core.errors import DataError, InputError
from iosonde.core.factor_levels import PERCENTILE
from iosonde.core.grouping import group_by_key
from iosonde.core.table import Column, Table
from iosonde.core.types import Better, Factor, Metric
from iosonde.data.query import ALL, ResponseQuery
from iosonde.data.responses import Response
from iosonde.data.source import Source

from .chosen import resolve_role_names, select_experiment, select_responses
from .layout import PlotRoles
from .settings import Fits, plot_responses
from .settings_plot import SettingsPlot

_STATED = re.compile(r"(?P<what>\w*latency\w*)_p(?P<percent>\d+(?:\.\d+)?)")
_PREFERRED = ("latency", "completion_latency")  # of what a tool states
_CURVE = (0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999)
_LEAST, _REPORTED_PERCENT = 50.0, 99.0  # per cent: the lowest drawn; that of the sentences


@dataclass
class _PercentileSample:
    """Percentiles of one kind of latency: one element of ``rows``, per cent and time each."""

    rows: Table
    at: list[int] = field(default_factory=list)
    percents: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def build_percentiles_plot(
    source: Source, query: ResponseQuery, roles: PlotRoles, fits: Fits | None = None
) -> SettingsPlot:
    """Plot percentiles along x, known factors by colour and in panels; ``query.response`` names operations. Raises
    InputError, DataError."""
    if roles.x:
        raise InputError(
            "conflicting-options", "percentiles lie along x", "name a factor with {spell.color} or {spell.panel}"
        )
    source, newest = select_experiment(source, roles)
    every = select_responses(source, replace(query, response=(), metric=(ALL,)), roles)
    selection = {*query.response, *query.metric} - {ALL}
    recorded = list(_collect_recorded(source, every, query.level))
    with_operations = {response.operation for response in recorded}
    stated = [
        response
        for response in _collect_stated(every, selection)
        if response.metric.name in selection or response.operation not in with_operations
    ]
    selected = [
        response
        for response in (*recorded, *stated)
        if not selection or {response.operation, response.metric.name} & selection
    ]
    if not selected:
        raise DataError(
            "no-percentiles",
            "{name} holds no percentiles of {metrics}",
            "record operations, or import output with percentiles (fio)",
            name=source.name,
            metrics=" or ".join(sorted(selection)) or "latencies",
        )
    roles = replace(resolve_role_names(selected, roles), x=PERCENTILE)
    plot = plot_responses(
        source, selected, query, roles, fits or Fits(), lambda point: point.setting[PERCENTILE] == _REPORTED_PERCENT
    )
    return replace(plot, notes=(*([newest] if newest else []), *plot.notes))


def _collect_recorded(source: Source, every: Sequence[Response], level: float) -> Iterator[Response]:
    if not source.runs:
        return
    rows = source.trials().rows
    row_by_run = {str(run): at for at, run in reversed(list(enumerate(rows.columns["run"].values)))}
    samples: dict[tuple[str, str], _PercentileSample] = {}
    for run, trial in compute_run_percentiles(source, level, _CURVE).items():
        for entry in trial if run in row_by_run else ():
            for share, ns in entry.duration_ns.items():
                if ns is not None:
                    sample = samples.setdefault((entry.operation, entry.kind), _PercentileSample(rows))
                    _add_percentile(sample, row_by_run[run], 100 * share, ns / 1e9)
    for (operation, kind), sample in samples.items():
        what = "latency" if kind == operation else f"latency of {kind}"
        yield _build_response(operation, what, sample, every[0])


def _collect_stated(every: Sequence[Response], selection: Collection[str]) -> Iterator[Response]:
    """Yield one latency of each operation: the preferred one, or those of the ``selection``."""
    stated = [(response, match) for response in every if (match := _STATED.fullmatch(response.metric.name))]
    latencies = group_by_key(
        (response.operation, (match["what"], (response, float(match["percent"])))) for response, match in stated
    )
    for operation, pairs in latencies.items():
        by_latency = group_by_key(pairs)
        names = [name for name in by_latency if name.replace("_", " ") in selection]
        for name in names or [min(by_latency, key=[*_PREFERRED, *by_latency].index)]:
            first = by_latency[name][0][0]
            sample = _PercentileSample(first.rows)
            for response, percent in by_latency[name]:
                for at, value in enumerate(response.values.tolist() if len(response.rows) == len(first.rows) else ()):
                    _add_percentile(sample, at, percent, value)
            if sample.at:
                yield _build_response(operation, name.replace("_", " "), sample, first)


def _add_percentile(sample: _PercentileSample, at: int, percent: float, seconds: float) -> None:
    percent = round(percent, 6)
    if _LEAST <= percent < 100:
        sample.at.append(at)
        sample.percents.append(percent)
        sample.seconds.append(seconds)


def _build_response(operation: str, what: str, sample: _PercentileSample, like: Response) -> Response:
    rows = sample.rows.take(np.array(sample.at, dtype=np.intp))
    title = f"{operation} {what}"
    columns = {
        **rows.columns,
        PERCENTILE: Column(PERCENTILE, np.array(sample.percents), PERCENTILE),
        title: Column(title, np.array(sample.seconds), title, "s"),
    }
    return replace(
        like,
        title=title,
        metric=Metric(what, "s", Better.LOWER),
        rows=replace(rows, columns=columns),
        factors=(*like.factors, Factor(PERCENTILE)),
        operation=operation,
        at=None,
    )
