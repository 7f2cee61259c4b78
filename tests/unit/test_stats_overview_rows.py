"""Rows, efficiencies, latencies and hidden columns of an overview: each from its own cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.stats.estimate.percentiles import TrialPercentiles, estimate_over_trials
from iosonde.stats.estimate.scaling import estimate_efficiencies
from iosonde.stats.estimate.stopping import estimate_stein_interval
from iosonde.stats.estimate.summarise import (
    estimate_harmonic_mean,
    estimate_mean,
    estimate_median,
    estimate_variation_coefficient,
)
from iosonde.stats.overview import overview
from iosonde.stats.overview.cells import TrialCell, compute_group_means, group_into_cells
from iosonde.stats.overview.types import Efficiency, OverviewLatency
from messages import assert_problem, codes, raises

X = [4.0, 5.0, 8.0, 7.0, 5.5, 6.5, 5.2]


def cell(values, operation="read", metric="rate_last_done", unit="operations/s", by=None, **more: Any) -> TrialCell:
    return TrialCell(by or {}, metric, unit, np.asarray(values, float), operation, **more)


def test_a_row_has_the_estimates_of_its_trials():
    made = overview.build_overview_row(cell(X, by={"x": 1}), 0.9)
    assert (made.operation, made.metric, made.unit, made.by) == ("read", "rate_last_done", "operations/s", {"x": 1})
    assert (made.n, made.values, made.sd) == (7, tuple(X), pytest.approx(np.std(X, ddof=1)))
    assert (made.mean, made.median) == (estimate_mean(X, 0.9), estimate_median(X, 0.9))
    assert (made.cv, made.harmonic_mean) == (
        estimate_variation_coefficient(X, 0.9).value,
        estimate_harmonic_mean(X, 0.9),
    )
    assert overview.build_overview_row(cell(X, unit="s"), 0.9).harmonic_mean is None
    assert overview.build_overview_row(cell([0.0, *X]), 0.9).harmonic_mean is None
    single = overview.build_overview_row(cell([4.0]), 0.9)
    assert (single.sd, single.cv, single.n, single.mean.value, single.mean.low) == (None, None, 1, 4.0, None)


def test_iterations_of_one_run_count_as_one_trial_and_have_no_values():
    made = overview.build_overview_row(cell(X, within_run=True), 0.9)
    assert (made.n, made.values, made.mean.n, made.median.n, made.harmonic_mean.n) == (1, (), 1, 1, 1)
    assert made.mean == replace(estimate_mean(X, 0.9), n=1, warnings=made.mean.warnings)
    assert_problem(made.mean.warnings[0], "within-run", n=7)


def test_trials_of_a_bring_up_are_averaged_first():
    made = overview.build_overview_row(cell([1.0, 3.0, 8.0, 6.0], bring_ups=np.array([[1], [1], [0], [0]])), 0.9)
    assert (made.n, made.values, made.mean) == (2, (2.0, 7.0), estimate_mean([2.0, 7.0], 0.9).within(low=0.0))


def test_beyond_a_pilot_the_interval_is_steins():
    for pilot, expected in ((6, estimate_stein_interval(X, 6, 0.9)), (7, estimate_mean(X, 0.9))):
        assert overview.estimate_cell_mean(cell(X), 0.9, pilot) == expected
    wide = overview.estimate_cell_mean(cell([1.0, 30.0]), 0.95)
    assert wide.low == 0.0 and overview.estimate_cell_mean(cell([-1.0, 30.0], unit="", metric="y"), 0.95).low < 0


def test_half_a_tick_widens_every_interval():
    plain, made = (overview.build_overview_row(cell(X), 0.9, None, half) for half in (0.0, 0.5))
    for name in ("mean", "median", "harmonic_mean"):
        one, other = getattr(plain, name), getattr(made, name)
        assert (other.low, other.high) == pytest.approx((one.low - 0.5, one.high + 0.5))
        assert codes(other.warnings) == ["coarse-clock"]


def test_efficiency_is_of_rates_over_the_nodes_of_each_other_setting():
    cells = [
        cell([10.0, 11.0], by={"nodes": 1, "fs": "x"}),
        cell([18.0, 20.0], by={"nodes": 2, "fs": "x"}),
        cell([30.0, 35.0], by={"nodes": 4, "fs": "x"}),
        cell([10.0, 12.0], by={"nodes": 2, "fs": "y"}),
        cell([15.0, 16.0], by={"nodes": 8, "fs": "y"}),
        cell([15.0, 16.0], by={"nodes": 8, "fs": "z"}),
        cell([1.0, 2.0], unit="s", by={"nodes": 1, "fs": "x"}),
        cell([1.0, 2.0], unit="s", by={"nodes": 2, "fs": "x"}),
        cell([7.0, 8.0], "write", by={"ranks": 1}),
        cell([9.0, 10.0], "write", by={"ranks": 3}),
        cell([9.0, 10.0], "stat", by={"nodes": "all"}),
        cell([9.0, 10.0], "stat", by={"nodes": "one"}),
    ]
    made = list(overview._build_efficiency(cells, 0.9))
    x = estimate_efficiencies({1: [10.0, 11.0], 2: [18.0, 20.0], 4: [30.0, 35.0]}, 0.9)
    y = estimate_efficiencies({2: [10.0, 12.0], 8: [15.0, 16.0]}, 0.9)
    ranks = estimate_efficiencies({1: [7.0, 8.0], 3: [9.0, 10.0]}, 0.9)
    assert made == [
        Efficiency("read", "rate_last_done", {"fs": "x"}, "nodes", 1.0, 2.0, x[2]),
        Efficiency("read", "rate_last_done", {"fs": "x"}, "nodes", 1.0, 4.0, x[4]),
        Efficiency("read", "rate_last_done", {"fs": "y"}, "nodes", 2.0, 8.0, y[8]),
        Efficiency("write", "rate_last_done", {}, "ranks", 1.0, 3.0, ranks[3]),
    ]


def run(name: str, **more: Any) -> StoredRun:
    return StoredRun({"id": name, "experiment": "e", "missing": [], "factors": {}, "facts": {}} | more)


def trial(ns: float, n: int, kind: str = "open") -> TrialPercentiles:
    return TrialPercentiles("op", kind, n, {0.5: ns, 0.99: 2 * ns, 0.999: None})


def test_latencies_are_over_the_complete_runs_of_each_setting():
    runs = [
        run("a", factors={"x": 10}),
        run("b", factors={"x": 9}),
        run("c", factors={"x": 10}),
        run("d", factors={"x": 9}, missing=["rank 1"]),
    ]
    latencies = {
        "a": [trial(1e6, 500), trial(5e6, 900, "close")],
        "b": [trial(2e6, 400)],
        "c": [trial(4e6, 300)],
        "d": [trial(9e9, 1)],
    }
    made = list(overview._build_latency(runs, latencies, ["x"], 0.9))
    together = [trial(1e6, 500), trial(4e6, 300)]

    def rows(kind: str, x: int, fewest: int, trials: list[TrialPercentiles]) -> list[OverviewLatency]:
        return [
            OverviewLatency("op", kind, {"x": x}, share, fewest, estimate_over_trials(trials, share, 0.9))
            for share in (0.5, 0.99, 0.999)
        ]

    assert made == [
        *rows("open", 9, 400, [trial(2e6, 400)]),
        *rows("open", 10, 300, together),
        *rows("close", 10, 900, [trial(5e6, 900, "close")]),
    ]


@pytest.mark.parametrize(
    ("value", "key"),
    [(3, (False, 3.0, "3")), (2.5, (False, 2.5, "2.5")), ("a", (True, 0.0, "a")), (None, (True, 0.0, "None"))],
)
def test_numbers_come_before_texts(value, key):
    assert overview._make_sort_key(value) == key


def test_columns_of_reading_nodes_are_hidden_only_in_reads():
    table = build_table({"reader": list("abab"), "version": list("xyxy"), "y": [1.0, 2, 3, 4]})
    read, write = (
        TrialCell({}, "y", "", np.array([1.0, 2.0]), name, np.array(rows))
        for name, rows in (("read_it", [0, 1]), ("write_it", [2, 3]))
    )
    assert overview._find_hidden(table, [read, write], ()) == {
        "reader": ["read_it"],
        "version": ["read_it", "write_it"],
    }
    assert overview._find_hidden(table, [write], ()) == {"version": ["write_it"]}
    assert overview._find_hidden(table, [read], ["version"]) == {"reader": ["read_it"]}


def test_what_a_store_only_observes_may_hide_no_factor():
    table = build_table({name: [1] for name in ("factor_repetition", "experiment", "source", "includes", "x", "seed")})
    assert overview._list_observed(table) == ["factor_repetition", "seed"]


def test_missing_values_of_a_table_are_counted_by_column():
    gap = float("nan")
    table = build_table({"x": list("aabb"), "y": [1.0, gap, gap, 3.0], "z": [1.0, 2, 3, 5]})
    made = overview.build_overview_from_table(table, ["y", "z"], ["x"], 0.95)
    (warning,) = made.warnings
    assert_problem(warning, "missing-values", column="y", n_missing=2, n_values=4)
    assert [(row.metric, row.by["x"], row.n) for row in made.rows] == [
        ("y", "a", 1),
        ("y", "b", 1),
        ("z", "a", 2),
        ("z", "b", 2),
    ]
    assert (made.by, made.counted, made.level) == (("x",), "trial", 0.95)


def test_cells_hold_the_rows_of_each_group_with_a_value():
    gap = float("nan")
    table = build_table({"x": list("abab"), "y": [1.0, 2.0, gap, 4.0], "order": [4, 3, 2, 1]})
    first, second = group_into_cells(table, ["y"], ["x"])
    assert (first.values.tolist(), first.rows.tolist(), dict(first.by)) == ([1.0], [0], {"x": "a"})
    assert (second.values.tolist(), second.rows.tolist(), second.times.tolist()) == ([2, 4], [1, 3], [3, 1])
    assert second.places[0] == table.place(1) and second.places[:] == [table.place(1), table.place(3)]
    assert (len(second.places), second.name, second.bring_ups) == (2, "x=b", None)
    for responses, code in ((["x"], "response-as-factor"), (["gone"], "empty-column")):
        with raises(code):
            columns = {"x": [1.0, 2.0], "gone": [gap, gap]}
            group_into_cells(build_table(columns), responses, ["x"])
    with raises("empty-table"):
        group_into_cells(build_table({"x": [], "y": []}), ["y"], ["x"])


def test_group_means_are_in_the_order_of_first_occurrence():
    values, groups = np.array([1.0, 2.0, 3.0, 8.0]), np.array([5, 2, 5, 2])
    assert compute_group_means(values, groups).tolist() == [2.0, 5.0]
    assert compute_group_means(values, np.array([3, 2, 1, 0])) is values


def test_a_story_is_part_of_the_sentence_before_the_precision():
    known = Estimate(1.0, 0.9, 1.1, 0.95, 6)
    table = build_table(
        {"fs": ["a"] * 6 + ["b"] * 6, "y": [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 5.0, 5.1, 4.9, 5.05, 4.95, 5]}
    )
    made = overview.build_overview_from_table(table, ["y"], ["fs"], known.level)
    assert made.closing and made.sentence.endswith(made.closing) and len(made.sentence) > len(made.closing)
    (story,) = made.stories
    assert story.is_significant and story.best.by == {"fs": "b"} and story.worst.by == {"fs": "a"}
