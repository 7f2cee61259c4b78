"""Figures of a store's page: every metric by the number of nodes, and the durations of recorded operations, a series
per node count; the metrics without a figure as a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.answers.operations import Operations
from iosonde.commands.plot.content import Bars, Cell, Latency, LatencySeries
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.page.tables import DataTable, Section, iterate_ends
from iosonde.stats.estimate import shape
from iosonde.stats.estimate.shape import Shape
from iosonde.stats.overview.types import Overview

from .axis import (
    Axis,
    format_settings,
    get_operation_sort_key,
    is_part_of_another,
    list_other_settings,
    map_metric_titles,
    title,
)

# (operation, kind, *setting): the setting's values are in the order of Overview.by.
Key = tuple[Any, ...]


def build_bars(overview: Overview, source: Source, axis: Axis) -> tuple[Bars, ...]:
    """Return bars for each operation, metric and setting besides the axis; parts of an operation are in the table of
    clocks."""
    titles = map_metric_titles([row for row in overview.rows if not is_part_of_another(row.operation)])
    trials, includes = _collect_trials(source, overview.by)
    efficiency = {
        (e.operation, e.metric, list_other_settings(e.by, axis), e.size): e.efficiency
        for e in overview.efficiency
        if e.factor == axis.factor
    }
    groups = group_by_key(
        ((row.operation, row.metric, list_other_settings(row.by, axis)), row) for row in overview.rows
    )
    bars = []
    for (operation, metric, rest), rows in groups.items():
        if is_part_of_another(operation):
            continue
        cells = tuple(
            Cell(
                axis.size(row.by),
                row.mean,
                trials.get((operation, metric, *row.by.values()), ()),
                efficiency.get((operation, metric, rest, float(axis.size(row.by)))),
            )
            for row in sorted(rows, key=lambda row: axis.size(row.by))
        )
        name = titles[operation, metric] + format_settings(rest, overview.units)
        bars.append(Bars(operation, metric, name, rows[0].unit, cells, includes=includes.get((operation, metric), "")))
    return tuple(sorted(bars, key=lambda chart: get_operation_sort_key(chart.operation)))


def build_clock_table(every: Overview, axis: Axis, displayed_bars: Iterable[Bars]) -> DataTable | None:
    """Return a table of metrics without bars: other clocks, and parts of operations."""
    drawn_keys = {(bars.operation, bars.metric) for bars in displayed_bars}
    rows = tuple(
        (
            title(row.operation),
            row.metric,
            axis.size(row.by),
            row.mean.value,
            row.mean.low,
            row.mean.high,
            row.unit,
            row.n,
        )
        for row in sorted(
            every.rows, key=lambda row: (get_operation_sort_key(row.operation), row.metric, axis.size(row.by))
        )
        if (row.operation, row.metric) not in drawn_keys
    )
    columns = ("operation", "metric", axis.factor, "mean", "low", "high", "unit", "trials")
    return DataTable("Other clocks and parts", columns, rows) if rows else None


def _collect_trials(
    source: Source, by: Sequence[str]
) -> tuple[dict[tuple[Any, ...], tuple[float, ...]], dict[Any, str]]:
    """Return (operation, metric, *setting) → the trials' values; (operation, metric) → what the clock includes."""
    if not len(source.table):
        return {}, {}
    table = source.run_rows
    values = table.numbers("value")
    inside = {
        key[:2]: str(key[2] or "").replace(",", ", ") for key, _ in table.groups(["operation", "metric", "includes"])
    }
    return {key: tuple(values[rows].tolist()) for key, rows in table.groups(["operation", "metric", *by])}, inside


def build_bars_section(bars: Sequence[Bars], runs: Sequence[StoredRun]) -> Section[Bars]:
    """Return the bars, or why there are none, and the limits of a single node count."""
    if not runs:
        template = "The store holds no runs yet: iosonde run --target DIR --store STORE measures."
        return Section(missing=(Message("no-runs", template),))
    if not bars:
        if any(run.counts for run in runs):
            return Section(missing=(Message("no-rate", "The trials hold no rate that could be drawn."),))
        lost = runs[-1].missing
        why = f" The last one lacks: {'; '.join(lost)}." if lost else ""
        template = "None of the {n_trials} trials is complete.{reason}"
        return Section(missing=(Message("only-incomplete", template, n_trials=len(runs), reason=why),))
    if len({(cell.nodes, bar.title) for bar in bars for cell in bar.cells}) == len({bar.operation for bar in bars}):
        is_import = any(run.facts.get("import") is not None for run in runs)
        template = "Only one setting was measured: scaling is unknown."
        template += "" if is_import else " Try {spell.nodes:1,2,4}."
        return Section(tuple(bars), (Message("nothing-varies", template),))
    return Section(tuple(bars))


class Shapes:
    """A visitor: the distribution of durations of every key, over all complete trials."""

    def __init__(self, by: Sequence[str]) -> None:
        self.by_key: dict[Key, Shape] = {}
        self._by = by

    def wants(self, run: StoredRun) -> bool:
        """Return whether the run is complete."""
        return run.counts

    def take(self, run: StoredRun, operations: Operations) -> None:
        """Use every operation of a phase if all were kept, else the engine's histograms."""
        setting = tuple(run.level(name) for name in self._by)
        for operation, kind, distribution in _split_run(run, operations):
            key = (operation, kind, *setting)
            self.by_key[key] = self.by_key[key] + distribution if key in self.by_key else distribution


def _split_run(run: StoredRun, operations: Operations) -> Iterator[tuple[str, str, Shape]]:
    """Yield (operation, kind, shape)."""
    good = operations[operations["status"] == 0]
    for phase in run.phases:
        if phase.recorded_all:
            here = good[good["phase"] == phase.index]
            for code in np.unique(here["kind"]).tolist():
                yield (
                    phase.operation,
                    _native.KINDS[code],
                    shape.shape_from_durations(here["duration_ns"][here["kind"] == code]),
                )
            continue
        for kind, pairs in phase.histograms.items():
            yield phase.operation, kind, shape.shape_from_buckets(_native.bucket_edges_ns(), pairs)


def build_latencies(
    overview: Overview, shapes: Mapping[Key, Shape], axis: Axis
) -> tuple[Section[Latency], DataTable | None]:
    """Return, per operation, the distribution of the kind that takes most of its time; the other kinds as a table."""
    if not shapes:
        template = "No operation was recorded, so no distribution can be shown."
        return Section(missing=(Message("no-recorded-operations", template),)), None
    percentiles: dict[Key, dict[str, Estimate]] = {}
    for entry in overview.latency:
        by_percentile = percentiles.setdefault((entry.operation, entry.kind, *entry.by.values()), {})
        by_percentile[_format_percentile(entry.percentile)] = entry.duration
    drawn = _find_largest(shapes)
    figures = group_by_key(
        ((*key[:2], list_other_settings(_get_setting(key, overview.by), axis)), key)
        for key in sorted(shapes, key=lambda key: get_operation_sort_key(key[0]))
        if key[:2] in drawn
    )
    items = [_build_figure(group, keys, shapes, percentiles, overview, axis) for group, keys in figures.items()]
    return Section(tuple(items)), _tabulate_other_percentiles(overview, axis, drawn)


def _build_figure(
    group: tuple[Any, ...],
    keys: Sequence[Key],
    shapes: Mapping[Key, Shape],
    percentiles: Mapping[Key, dict[str, Estimate]],
    overview: Overview,
    axis: Axis,
) -> Latency:
    operation, kind, rest = group
    series = [
        LatencySeries(
            axis.size(_get_setting(key, overview.by)),
            tuple(edges),
            tuple(shares),
            shapes[key].operations,
            percentiles.get(key, {}),
        )
        for key in keys
        for edges, shares in [shapes[key].trim_empty_buckets()]
    ]
    # Keep the first reason for each percentile: others differ only in the number of operations.
    unsure: dict[str, str] = {}
    for name, warning in ((n, w) for entry in series for n, e in entry.percentiles.items() for w in e.warnings[:1]):
        unsure.setdefault(name, warning)
    return Latency(
        operation,
        f"{title(operation)}: {kind}{format_settings(rest, overview.units)}",
        tuple(sorted(series, key=lambda entry: entry.nodes)),
        f"~ unknown: {'; '.join(dict.fromkeys(unsure.values()))}" if unsure else "",
    )


def _find_largest(shapes: Mapping[Key, Shape]) -> set[tuple[str, str]]:
    """Return the kind of each operation whose calls took most time in total."""
    spent: dict[tuple[str, str], float] = {}
    for key, distribution in shapes.items():
        spent[key[0], key[1]] = spent.get((key[0], key[1]), 0.0) + distribution.total_ns
    operations = {operation for operation, _ in spent}
    return {max((pair for pair in spent if pair[0] == operation), key=spent.__getitem__) for operation in operations}


def _tabulate_other_percentiles(overview: Overview, axis: Axis, drawn: set[tuple[str, str]]) -> DataTable | None:
    rows = tuple(
        (
            title(entry.operation),
            entry.kind,
            axis.size(entry.by),
            _format_percentile(entry.percentile),
            *iterate_ends(entry.duration),
            entry.duration.n,
        )
        for entry in overview.latency
        if (entry.operation, entry.kind) not in drawn
    )
    columns = ("phase", "operation", axis.factor, "percentile", "value (s)", "low (s)", "high (s)", "trials")
    return DataTable("The other operations inside these phases", columns, rows) if rows else None


def _format_percentile(percentile: float) -> str:
    return f"p{100 * percentile:g}"


def _get_setting(key: Key, by: Sequence[str]) -> dict[str, Any]:
    return dict(zip(by, key[2:], strict=True))
