"""The x axis of a page's figures, and the titles of operations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import SPEEDS, format_metric
from iosonde.core.level_text import format_assignments
from iosonde.core.stored import StoredRun
from iosonde.stats.overview.types import OverviewRow

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
_USUAL = ("_last_done", "_sum_of_ranks", "seconds", *(f"{kind}_mean" for kind in SPEEDS))
_PARTS = {"_writer_node": " on the writer's node", "write_buffered": " without fsync and close"}


@dataclass(frozen=True)
class Axis:
    """Factor of the x axis, its noun, and its value if it is constant."""

    factor: str
    noun: str
    constant: int

    def size(self, by: Mapping[str, Any]) -> int:
        """Return the count of a cell."""
        value = by.get(self.factor)
        return int(value) if isinstance(value, (int, float)) else self.constant


def choose_axis(by: Sequence[str], runs: Sequence[StoredRun]) -> Axis:
    """Return the first varying factor of nodes, ranks, ranks per node; else nodes."""
    factor = next((name for name in AXES if name in by), "nodes")
    value = runs[-1].factors.get(factor) if runs else None
    return Axis(factor, AXES[factor], value if isinstance(value, int) else 1)


def title(operation: str) -> str:
    """Return an operation as a heading; operations outside the envelope keep their names."""
    if operation in TITLES:
        return TITLES[operation]
    base = operation.removesuffix("_writer_node").replace("write_buffered", "write", 1)
    suffix = "".join(text for part, text in _PARTS.items() if part in operation)
    return TITLES[base] + suffix if base in TITLES and suffix else operation


def format_metric_title(operation: str, metric: str) -> str:
    """Return the heading of a metric: the operation alone if its clock is the usual one or its unit is unambiguous."""
    return title(operation) + ("" if metric.endswith(_USUAL) else f", {format_metric(metric, operation)}")


def map_metric_titles(rows: Sequence[OverviewRow]) -> dict[tuple[str, str], str]:
    """Map (operation, metric) to its heading: the operation alone if it has one metric of its usual clock, or that of
    all others; as in the table of ``summary``."""
    keys = dict.fromkeys((row.operation, row.metric) for row in rows)
    if find_common_metric(rows):
        return {key: title(key[0]) for key in keys}
    metrics = group_by_key(keys)
    return {key: _format_title_among(*key, metrics[key[0]]) for key in keys}


def find_common_metric(rows: Sequence[OverviewRow]) -> str:
    """Return the metric that all of several operations have, if it is their only one; else ''."""
    metrics = {row.metric for row in rows}
    return metrics.pop() if len(metrics) == 1 and len({row.operation for row in rows}) > 1 else ""


def _format_title_among(operation: str, metric: str, metrics: Sequence[str]) -> str:
    if not operation:
        return metric
    if len(metrics) < 2:
        return format_metric_title(operation, metric)
    comma = "," if operation in TITLES else ""
    return f"{title(operation)}{comma} {format_metric(metric, operation, metrics)}"


def get_operation_sort_key(operation: str) -> tuple[int, str]:
    """Return the sort key of an operation on the page."""
    names = list(TITLES)
    return (names.index(operation) if operation in names else len(names), operation)


def is_part_of_another(operation: str) -> bool:
    """Return whether an operation is a part of another one, shown in the table of clocks only."""
    return any(part in operation for part in _PARTS)


def list_other_settings(by: Mapping[str, Any], axis: Axis) -> tuple[tuple[str, Any], ...]:
    """Return the settings of a cell other than the axis."""
    return tuple((name, value) for name, value in by.items() if name != axis.factor)


def format_settings(rest: tuple[tuple[str, Any], ...], units: Mapping[str, str]) -> str:
    """Format these settings for a heading."""
    return "".join(f", {text}" for text in format_assignments(dict(rest), units))
