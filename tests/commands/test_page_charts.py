"""Distributions on a store's page: which kind of operation is drawn, and the table of what is not."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.commands.plot.content import Bars, Cell
from iosonde.commands.report.axis import Axis
from iosonde.commands.report.charts import build_bars_section, build_clock_table, build_latencies
from iosonde.core.types import Estimate
from iosonde.stats.estimate.shape import shape_from_durations
from iosonde.stats.overview.types import Overview, OverviewLatency, OverviewRow
from messages import codes

AXIS = Axis("nodes", "nodes", 1)


def estimate(value: float, *warnings: str) -> Estimate:
    return Estimate(value, 0.9 * value, 1.1 * value, 0.95, 4, warnings)


def row(operation: str, metric: str, nodes: int) -> OverviewRow:
    mean = estimate(100.0 * nodes)
    return OverviewRow(operation, metric, "bytes/s", {"nodes": nodes}, 4, mean, mean, None, None, None)


def latency(operation: str, kind: str, nodes: int, percentile: float, *warnings: str) -> OverviewLatency:
    return OverviewLatency(operation, kind, {"nodes": nodes}, percentile, 10, estimate(percentile, *warnings))


def overview(rows=(), latencies=()) -> Overview:
    return Overview(tuple(rows), tuple(latencies), (), (), "", 0.95, ("nodes",))


# Ten writes of 1 µs take less time than one fsync of 1 ms, so fsync is drawn.
SHAPES = {
    ("write_large", kind, nodes): shape_from_durations(np.full(n, float(ns)))
    for kind, n, ns in (("write", 10, 1000), ("fsync", 1, 1e6))
    for nodes in (2, 1)
} | {("create", "create", 1): shape_from_durations(np.full(3, 1e5))}


def test_the_kind_that_takes_most_time_is_drawn_and_the_table_has_only_the_others():
    entries = [latency("write_large", kind, n, p) for kind in ("write", "fsync") for n in (1, 2) for p in (0.5, 0.999)]
    section, table = build_latencies(overview(latencies=entries), SHAPES, AXIS)
    assert section.missing == ()
    drawn = {item.operation: item for item in section.items}
    assert list(drawn) == ["write_large", "create"] and drawn["write_large"].title.endswith(": fsync")
    assert [(one.nodes, one.operations) for one in drawn["write_large"].series] == [(1, 1), (2, 1)]
    assert {name: one.value for name, one in drawn["write_large"].series[0].percentiles.items()} == {
        "p50": 0.5,
        "p99.9": 0.999,
    }
    assert drawn["create"].series[0].percentiles == {} and drawn["create"].note == ""
    assert table is not None
    assert [line[1:5] for line in table.rows] == [
        ("write", 1, "p50", 0.5),
        ("write", 1, "p99.9", 0.999),
        ("write", 2, "p50", 0.5),
        ("write", 2, "p99.9", 0.999),
    ]
    assert table.rows[0][5:] == pytest.approx((0.45, 0.55, 4)) and table.columns[2] == "nodes"


def test_without_other_kinds_there_is_no_table_and_without_operations_no_figure():
    entries = [latency("create", "create", 1, 0.5, "few", "more"), latency("create", "create", 1, 0.9, "few")]
    shapes = {("create", "create", 1): SHAPES["create", "create", 1]}
    section, table = build_latencies(overview(latencies=entries), shapes, AXIS)
    assert table is None and section.items[0].note.count("few") == 1 and "more" not in section.items[0].note
    section, table = build_latencies(overview(), {}, AXIS)
    assert (section.items, codes(section.missing), table) == ((), ["no-recorded-operations"], None)


def test_the_table_of_clocks_has_what_no_bars_show():
    rows = [row("write_large", metric, n) for metric in ("bandwidth_last_done", "bandwidth_overlap") for n in (2, 1)]
    bars = [Bars("write_large", "bandwidth_last_done", "w", "bytes/s", (Cell(1, estimate(1.0)),))]
    table = build_clock_table(overview(rows), AXIS, bars)
    assert table is not None
    assert [line[1:4] for line in table.rows] == [("bandwidth_overlap", 1, 100.0), ("bandwidth_overlap", 2, 200.0)]
    assert table.rows[0][4:6] == pytest.approx((90.0, 110.0)) and table.rows[0][6:] == ("bytes/s", 4)
    assert build_clock_table(overview(rows[:2]), AXIS, bars) is None  # both are drawn


def test_a_page_without_bars_says_why():
    assert codes(build_bars_section([], []).missing) == ["no-runs"]
