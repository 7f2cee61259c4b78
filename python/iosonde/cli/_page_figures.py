"""From a store and its Overview to what the figures show. Chooses and names; every number comes from stats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iosonde.report.content import Bars, Cell
from iosonde.report.table import Table

if TYPE_CHECKING:
    from iosonde.stats.overview.types import Overview, Row

    from ._data import Source

AXES = {"nodes": "node", "ranks": "rank", "ranks_per_node": "rank per node"}
# In the order of a page: large files first, they are what most readers came for.
TITLES = {
    "write_large": "Write, large files",
    "read_1to1_large": "Read 1-to-1, large files",
    "read_nto1_large": "Read N-to-1, large files",
    "write_shared_segmented": "Write shared, segmented",
    "write_shared_strided": "Write shared, strided",
    "create": "Create",
    "open": "Open",
    "write_small": "Write, small files",
    "read_1to1_small": "Read 1-to-1, small files",
    "read_nto1_small": "Read N-to-1, small files",
}
_PARTS = {"_writer_node": " on the writer's node", "write_buffered": " without fsync and close"}


@dataclass(frozen=True)
class Axis:
    """What the figures go by: the factor, its noun, and its value where it does not vary."""

    factor: str
    noun: str
    constant: int

    def size(self, by: Mapping[str, Any]) -> int:
        """The count that a cell stands for."""
        value = by.get(self.factor)
        return int(value) if isinstance(value, (int, float)) else self.constant


def axis_of(by: Sequence[str], runs: Sequence[Mapping[str, Any]]) -> Axis:
    """The first of nodes, ranks, ranks per node that varies; else nodes."""
    factor = next((name for name in AXES if name in by), "nodes")
    value = runs[-1]["factors"].get(factor) if runs else None
    return Axis(factor, AXES[factor], value if isinstance(value, int) else 1)


def title(operation: str) -> str:
    """An operation as a heading; one that is not of the envelope keeps its name."""
    if operation in TITLES:
        return TITLES[operation]
    whole = operation.removesuffix("_writer_node").replace("write_buffered", "write", 1)
    said = "".join(text for part, text in _PARTS.items() if part in operation)
    return TITLES[whole] + said if whole in TITLES and said else operation


def metric_title(operation: str, metric: str) -> str:
    """The heading of a metric: the operation alone where the clock is the usual one."""
    return title(operation) + ("" if metric.endswith("_last_done") else f", {metric}")


def place(operation: str) -> tuple[int, str]:
    """Where an operation comes on the page."""
    names = list(TITLES)
    return (names.index(operation) if operation in names else len(names), operation)


def bars_of(overview: Overview, source: Source, axis: Axis) -> tuple[Bars, ...]:
    """One for each operation, metric and setting besides the axis; parts of an operation are left to the clocks."""
    trials, includes = _trials(source, overview.by)
    efficiency = {
        (e.operation, e.metric, rest_of(e.by, axis), e.size): e.efficiency
        for e in overview.efficiency
        if e.factor == axis.factor
    }
    groups: dict[tuple[Any, ...], list[Row]] = {}
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
        name = metric_title(operation, metric) + said_of(rest)
        inside = includes.get((operation, metric), "")
        bars.append(Bars(operation, metric, name, rows[0].unit, cells, includes=inside))
    return tuple(sorted(bars, key=lambda one: place(one.operation)))


def clocks_of(every: Overview, axis: Axis, shown: Iterable[Bars]) -> Table | None:
    """The metrics that are no bar: the other clocks, the parts of operations."""
    known = {(bars.operation, bars.metric) for bars in shown}
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
        if (row.operation, row.metric) not in known
    )
    columns = ("operation", "metric", axis.factor, "mean", "low", "high", "unit", "trials")
    return Table("Other clocks and parts", columns, rows) if rows else None


def _trials(source: Source, by: Sequence[str]) -> tuple[dict[tuple[Any, ...], tuple[float, ...]], dict[Any, str]]:
    """(operation, metric, *setting) → the trials' values; (operation, metric) → what the clock includes."""
    if not len(source.table):
        return {}, {}
    table = source.data.whole
    values = table.numbers("value")
    trials = {key: tuple(values[rows].tolist()) for key, rows in table.groups(["operation", "metric", *by])}
    inside = {
        key[:2]: str(key[2] or "").replace(",", ", ") for key, _ in table.groups(["operation", "metric", "includes"])
    }
    return trials, inside


def is_part(operation: str) -> bool:
    """Whether an operation is a part of another one, which the page leaves to its table of clocks."""
    return any(part in operation for part in _PARTS)


def rest_of(by: Mapping[str, Any], axis: Axis) -> tuple[tuple[str, Any], ...]:
    """The settings of a cell besides the axis."""
    return tuple((name, value) for name, value in by.items() if name != axis.factor)


def said_of(rest: tuple[tuple[str, Any], ...]) -> str:
    """The same, for a heading."""
    return "".join(f", {name}={value}" for name, value in rest)
