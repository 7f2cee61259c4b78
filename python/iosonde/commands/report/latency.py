"""Latency figures from the recorded operations of a store: one per operation, a series per node count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.answers.operations import Operations
from iosonde.commands.plot.latency_content import Latency, LatencySeries
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.engine import _native
from iosonde.page.tables import DataTable, Section
from iosonde.stats.estimate import shape
from iosonde.stats.estimate.shape import Shape
from iosonde.stats.overview.types import Overview

from .axis import Axis, format_rest, place, rest_of, title

# (operation, kind, *setting): the setting's values are in the order of Overview.by.
Key = tuple[Any, ...]


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


def latencies_of(
    overview: Overview, shapes: Mapping[Key, Shape], axis: Axis
) -> tuple[Section[Latency], DataTable | None]:
    """Return, per operation, the distribution of the kind that takes most of its time; the other kinds as a table."""
    if not shapes:
        template = "No operation was recorded, so no distribution can be shown."
        return Section(missing=(Message("no-recorded-operations", template),)), None
    percentiles: dict[Key, dict[str, Estimate]] = {}
    for entry in overview.latency:
        by_percentile = percentiles.setdefault((entry.operation, entry.kind, *entry.by.values()), {})
        by_percentile[_name(entry.percentile)] = entry.duration
    drawn = _find_largest(shapes)
    figures: dict[tuple[Any, ...], list[Key]] = {}
    for key in sorted(shapes, key=lambda key: place(key[0])):
        if key[:2] in drawn:
            figures.setdefault((*key[:2], rest_of(_setting(key, overview.by), axis)), []).append(key)
    items = [_build_figure(group, keys, shapes, percentiles, overview, axis) for group, keys in figures.items()]
    return Section(tuple(items)), _others(overview, axis, drawn)


def _build_figure(
    group: tuple[Any, ...],
    keys: Sequence[Key],
    shapes: Mapping[Key, Shape],
    percentiles: Mapping[Key, dict[str, Estimate]],
    overview: Overview,
    axis: Axis,
) -> Latency:
    operation, kind, rest = group
    series = []
    for key in keys:
        edges, shares = shapes[key].trimmed()
        size = axis.size(_setting(key, overview.by))
        series.append(
            LatencySeries(size, tuple(edges), tuple(shares), shapes[key].operations, percentiles.get(key, {}))
        )
    # Keep the first reason for each percentile: others differ only in the number of operations.
    unsure: dict[str, str] = {}
    for name, warning in ((n, w) for entry in series for n, e in entry.percentiles.items() for w in e.warnings[:1]):
        unsure.setdefault(name, warning)
    return Latency(
        operation,
        f"{title(operation)}: {kind}{format_rest(rest, overview.units)}",
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


def _others(overview: Overview, axis: Axis, drawn: set[tuple[str, str]]) -> DataTable | None:
    rows = tuple(
        (
            title(entry.operation),
            entry.kind,
            axis.size(entry.by),
            _name(entry.percentile),
            *_unpack_estimate(entry.duration),
        )
        for entry in overview.latency
        if (entry.operation, entry.kind) not in drawn
    )
    columns = ("phase", "operation", axis.factor, "percentile", "value (s)", "low (s)", "high (s)", "trials")
    return DataTable("The other operations inside these phases", columns, rows) if rows else None


def _unpack_estimate(estimate: Estimate) -> tuple[float | None, float | None, float | None, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n


def _name(percentile: float) -> str:
    return f"p{100 * percentile:g}"


def _setting(key: Key, by: Sequence[str]) -> dict[str, Any]:
    return dict(zip(by, key[2:], strict=True))
