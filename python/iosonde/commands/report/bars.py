"""Every metric by the number of nodes, and the metrics without a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from iosonde.commands.plot.bars_content import Bars, Cell
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.page.tables import DataTable, Section
from iosonde.stats.overview.types import Overview, OverviewRow

from .axis import Axis, format_rest, is_part, place, rest_of, title, titles_of


def bars_of(overview: Overview, source: Source, axis: Axis) -> tuple[Bars, ...]:
    """Return bars for each operation, metric and setting besides the axis; parts of an operation are in the table of
    clocks."""
    titles = titles_of([row for row in overview.rows if not is_part(row.operation)])
    trials, includes = _trials(source, overview.by)
    efficiency = {
        (e.operation, e.metric, rest_of(e.by, axis), e.size): e.efficiency
        for e in overview.efficiency
        if e.factor == axis.factor
    }
    groups: dict[tuple[Any, ...], list[OverviewRow]] = {}
    for row in overview.rows:
        groups.setdefault((row.operation, row.metric, rest_of(row.by, axis)), []).append(row)
    bars = []
    for (operation, metric, rest), rows in groups.items():
        if is_part(operation):
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
        name = titles[operation, metric] + format_rest(rest, overview.units)
        inside = includes.get((operation, metric), "")
        bars.append(Bars(operation, metric, name, rows[0].unit, cells, includes=inside))
    return tuple(sorted(bars, key=lambda chart: place(chart.operation)))


def clocks_of(every: Overview, axis: Axis, displayed_bars: Iterable[Bars]) -> DataTable | None:
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
        for row in sorted(every.rows, key=lambda row: (place(row.operation), row.metric, axis.size(row.by)))
        if (row.operation, row.metric) not in drawn_keys
    )
    columns = ("operation", "metric", axis.factor, "mean", "low", "high", "unit", "trials")
    return DataTable("Other clocks and parts", columns, rows) if rows else None


def _trials(source: Source, by: Sequence[str]) -> tuple[dict[tuple[Any, ...], tuple[float, ...]], dict[Any, str]]:
    """Return (operation, metric, *setting) → the trials' values; (operation, metric) → what the clock includes."""
    if not len(source.table):
        return {}, {}
    table = source.run_rows
    values = table.numbers("value")
    trials = {key: tuple(values[rows].tolist()) for key, rows in table.groups(["operation", "metric", *by])}
    inside = {
        key[:2]: str(key[2] or "").replace(",", ", ") for key, _ in table.groups(["operation", "metric", "includes"])
    }
    return trials, inside


def bars_section(bars: Sequence[Bars], runs: Sequence[StoredRun]) -> Section[Bars]:
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
        template = "Only one setting was measured: scaling is unknown. Try {spell.nodes:1,2,4}."
        return Section(tuple(bars), (Message("nothing-varies", template),))
    return Section(tuple(bars))
