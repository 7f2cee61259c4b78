"""The figure by settings: which factor goes where, what is drawn, what is said and what is left out."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import stats_sample

from iosonde.answers.operations import compute_run_percentiles
from iosonde.commands.plot.figure_heatmap import heatmap_figure
from iosonde.commands.plot.figure_settings import choose_level_colours, settings_figure
from iosonde.commands.plot.layout import PlotRoles
from iosonde.commands.plot.percentiles import build_percentiles_plot
from iosonde.commands.plot.settings import Fits, build_settings_plot
from iosonde.commands.report.axis import title as operation_title
from iosonde.core.errors import IosondeError
from iosonde.core.grouping import group_by_key
from iosonde.core.types import Experiment, Factor, Observation
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.layout.vocabulary import SHADES
from iosonde.stats.estimate.summarise import estimate_mean
from iosonde.store import Store
from messages import assert_problem, codes, raises, with_code

SIZES = ("1m", "64k", "256k")


def table(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return open_data(str(path))


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """3 sizes × 2 clients × 2 file systems × 3 trials; write grows with clients, xfs is better by 10."""
    rng = np.random.default_rng(1)
    rows = [
        (size, clients, fs, f"{100 * clients + 10 * (fs == 'xfs') + rng.normal():.3f}", f"{5 + rng.normal():.3f}")
        for size, clients, fs, _ in itertools.product(SIZES, (1, 2), ("ext4", "xfs"), range(3))
    ]
    path = tmp_path_factory.mktemp("settings") / "grid.csv"
    return table(path, "size,clients,fs,write (MiB/s),latency (ms)", rows)


def plotted(source, *names, fits=None, **roles):
    return build_settings_plot(source, ResponseQuery(names), PlotRoles(**roles), fits)


def marks(figure, kind):
    """The rows of all layers with this mark, of each panel."""

    def layers(spec, data=None):
        values = spec.get("data", {}).get("values", data)
        for one in spec.get("layer", []):
            yield from layers(one, values)
        if "mark" in spec:
            yield spec["mark"]["type"], values

    return [[row for mark, rows in layers(panel) if mark == kind for row in rows] for panel in figure.spec["concat"]]


def test_the_factor_of_most_levels_is_along_x_and_sizes_are_in_their_order(grid):
    made = plotted(grid, "write")
    assert (made.x.factor, made.x.texts, made.x.numbers) == (
        "size",
        ("64 KiB", "256 KiB", "1 MiB"),
        (2**16, 2**18, 2**20),
    )
    assert made.x.logarithmic and made.color.factor == "clients"
    assert [one.setting for one in made.panels] == ["fs=ext4", "fs=xfs"] and made.across == 2
    assert [len(one.points) for one in made.panels] == [6, 6]
    assert made.title.startswith("Write") and made.title.endswith("size, clients and fs")


def test_every_point_is_the_mean_of_its_own_trials(grid):
    made = plotted(grid, "write")
    columns = grid.table
    for panel in made.panels:
        for point in panel.points:
            rows = np.ones(len(columns), bool)
            for name, level in point.setting.items():
                rows &= columns.column(name).values == level
            values = columns.numbers("write")[rows]
            assert point.mean == estimate_mean(values, 0.95).within(low=0.0) and point.trials == tuple(values)
    best, worst, matters = made.sentences[0].partition("worst")
    assert best.startswith("write: ") and " 210" in best and "size=" not in best and "clients=2, fs=xfs" in best
    assert worst and "clients" in matters and "clients=2" not in matters


def test_of_noise_no_setting_is_said_to_be_the_best(grid):
    made = plotted(grid, "latency")
    effects = [one for one in made.verdicts if one.question == "effect"]
    assert {one.state for one in effects} == {VerdictState.INCONCLUSIVE} and len(effects) >= 3
    assert len(made.sentences) == 1 and not [one for one in made.verdicts if one.question == "best" and one.direction]


def test_roles_are_taken_as_they_are_given(grid):
    made = plotted(grid, "write", x="fs", color="size", panel=("clients",))
    assert (made.x.factor, made.color.factor, made.x.numbers) == ("fs", "size", ())
    assert [one.setting for one in made.panels] == ["clients=1", "clients=2"]
    bars = marks(settings_figure(made), "bar")
    assert [len(rows) for rows in bars] == [6, 6] and {row["x"] for row in bars[0]} == {"ext4", "xfs"}
    with raises("conflicting-roles"):
        plotted(grid, "write", x="fs", color="fs")
    with raises("unknown-column", column="sice"):
        plotted(grid, "write", x="sice")


def test_panels_of_a_metric_have_one_axis_and_those_of_another_their_own(grid):
    figure = settings_figure(plotted(grid, "write", "latency"))
    domains = [panel["layer"][0]["encoding"]["y"]["scale"]["domain"] for panel in figure.spec["concat"]]
    assert domains[0] == domains[1] != domains[2] == domains[3]
    assert len(figure.spec["concat"]) == 4 and figure.spec["columns"] == 2


def test_a_line_a_whisker_a_point_and_three_dots_for_each_setting(grid):
    figure = settings_figure(plotted(grid, "write"))
    assert [len(rows) for rows in marks(figure, "line")] == [6, 6]
    assert [len(rows) for rows in marks(figure, "rule")] == [6, 6]
    assert [len(rows) for rows in marks(figure, "point")] == [24, 24]  # 6 means, 18 trials
    assert {"3", "95"} <= set(figure.spec["title"]["subtitle"][0].split())
    json.dumps(figure.to_dict())


def test_what_is_computed_is_named_as_it_was_asked_for_and_never_put_with_its_column(grid):
    made = build_settings_plot(grid, ResponseQuery(("write", "write/clients"), ("clients", "fs", "size")))
    assert "write/clients" in made.title and {one.metric for one in made.panels} == {"write", "write/clients"}
    assert [text.partition(":")[0] for text in made.sentences if "best" in text] == ["write", "write/clients"]


def test_one_trial_of_each_setting_has_no_interval_and_says_so(tmp_path):
    source = table(tmp_path / "one.csv", "a,b,y (s)", [(a, b, a + b) for a in (1, 2, 4) for b in (1, 2)])
    made = plotted(source)
    assert codes(made.notes).count("single-trials") == 1
    figure = settings_figure(made)
    assert marks(figure, "rule") == [[]] and len(figure.spec["title"]["subtitle"]) == 1
    assert "95" not in figure.spec["title"]["subtitle"][0]


def test_a_fraction_is_not_averaged(tmp_path):
    rows = [(a, b, c, a * b, b * c, 100 + a + b / 2) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    made = plotted(table(tmp_path / "f.csv", "a,b,c,d,e,y (MB/s)", rows), x="a", color="b")
    assert not made.joined and sum(len(panel.points) for panel in made.panels) == 8
    assert codes(made.omissions) == ["varies-besides"]
    assert not any(marks(settings_figure(made), "line"))
    with raises("missing-factors"):
        heatmap_figure(made)


def test_too_many_panels_are_cut_and_said(tmp_path):
    rows = [
        (a, b, c, d, a * b + c + d) for a, b, c, d in itertools.product(range(1, 6), range(1, 5), range(4), range(3))
    ]
    made = plotted(table(tmp_path / "p.csv", "a,b,c,d,y (s)", rows), fits=Fits(panels=4))
    assert len(made.panels) == 4
    assert_problem(made.omissions[0], "truncated", room=4, n_settings=12, factors="d and c", condition="d=1")
    assert any("4 of 12" in line for line in settings_figure(made).spec["title"]["subtitle"])


@pytest.mark.long
@pytest.mark.slow
def test_two_thousand_settings_are_one_figure_of_points(tmp_path):
    rng = np.random.default_rng(2)
    rows = [(f"{x:.4f}", f"{100 + x + rng.normal():.2f}") for x in rng.uniform(1, 50, 2000)]
    figure = settings_figure(plotted(table(tmp_path / "m.csv", "x,y (MB/s)", rows), "y", x="x"))
    assert len(marks(figure, "point")[0]) >= 1900 and not marks(figure, "line")[0]


def test_many_levels_by_colour_are_shades_in_their_order(tmp_path):
    rows = [(a, b, a * b + c) for a in range(20) for b in range(10) for c in (0, 1)]
    made = plotted(table(tmp_path / "s.csv", "a,b,y (s)", rows))
    assert choose_level_colours(made.color)[0] == SHADES[0] and len(set(choose_level_colours(made.color))) == 10
    with raises("too-many-levels"):
        plotted(table(tmp_path / "t.csv", "a,b,y (s)", [(a % 40, a % 3, a) for a in range(240)]), "y", color="a")


def test_a_heat_map_has_a_field_for_each_setting_with_its_interval(grid):
    figure = heatmap_figure(plotted(grid, "write"))
    assert [len(rows) for rows in marks(figure, "rect")] == [6, 6]
    assert all(row["half"].startswith("± ") for panel in marks(figure, "text") for row in panel if "half" in row)


# Stores


def test_a_store_shows_the_headline_of_each_operation(tmp_path):
    stats_sample.store(tmp_path / "store")
    made = build_settings_plot(open_data(str(tmp_path / "store")), ResponseQuery())
    assert [(one.title, one.metric) for one in made.panels] == [
        ("Create", "rate"),
        (operation_title("read_1to1_large"), "bandwidth"),
    ]
    assert made.x.factor == "nodes" and [point.mean.n for point in made.panels[0].points] == [6, 6]


def test_a_single_setting_is_a_bar_for_each_operation(tmp_path):
    stats_sample.store(tmp_path / "store")
    made = build_settings_plot(open_data(str(tmp_path / "store"), ["nodes=1"]), ResponseQuery())
    assert [(one.title, len(one.points)) for one in made.panels] == [("rate", 1), ("bandwidth", 1)]
    assert [len(rows) for rows in marks(settings_figure(made), "bar")] == [1, 1]
    assert made.sentences[0].startswith("Create: ")


def test_incomplete_trials_are_left_out_and_counted(tmp_path):
    store = stats_sample.store(tmp_path / "store", repetitions=2)
    store.append(stats_sample.run(1, 7, np.random.default_rng(1), missing=["rank 1 died"]))
    made = build_settings_plot(open_data(str(tmp_path / "store")), ResponseQuery())
    assert_problem(with_code(made.notes, "incomplete-trials"), "incomplete-trials", n_incomplete=1, trials="5 trials")
    assert [point.mean.n for point in made.panels[0].points] == [2, 2]


def test_of_experiments_with_other_factors_the_newest_is_drawn(tmp_path):
    store = stats_sample.store(tmp_path / "store", repetitions=2)
    rng = np.random.default_rng(1)
    store.save_experiment(Experiment("y", "y", [Factor("depth", "", (1, 2))], {}, [], 1, "2026-11-22T10:00:00.000Z"))
    for repetition, depth in itertools.product(range(2), (1, 2)):
        store.append(
            stats_sample.run(
                1,
                repetition,
                rng,
                id=f"y-{depth}-{repetition}",
                experiment="y",
                started_at=f"2026-11-22T10:0{repetition}:0{depth}.000Z",
                factors={"depth": depth, "repetition": repetition},
                observations=[Observation("read", "rate_last_done", 10.0 * depth + repetition, "operations/s")],
                operations=None,
                phases=[],
            )
        )
    made = build_settings_plot(open_data(str(tmp_path / "store")), ResponseQuery())
    assert made.x.factor == "depth" and ", y, " in made.notes[0]


def test_percentiles_of_recorded_operations_are_means_over_trials(tmp_path):
    stats_sample.store(tmp_path / "store", repetitions=3)
    source = open_data(str(tmp_path / "store"))
    made = build_percentiles_plot(source, ResponseQuery(("create",)), PlotRoles())
    assert made.x.texts[:4] == ("p50", "p75", "p90", "p95") and made.color.factor == "nodes"
    (panel,) = made.panels
    recorded = [
        one for trial in compute_run_percentiles(source, 0.95).values() for one in trial if one.operation == "create"
    ]
    medians = sorted(one.duration_ns[0.5] / 1e9 for one in recorded)
    assert sorted(trial for point in panel.points if point.x == 0 for trial in point.trials) == pytest.approx(medians)
    assert {point.mean.n for point in panel.points} == {3} and "at p99" in made.sentences[0]
    assert len(marks(settings_figure(made), "rule")[0]) == len(panel.points)
    for asked, roles in ((("nothing",), PlotRoles()), (("create",), PlotRoles(x="nodes"))):
        with pytest.raises(IosondeError):
            build_percentiles_plot(source, ResponseQuery(asked), roles)


def test_an_operation_has_one_panel_from_its_operations_else_from_one_stated_latency(tmp_path):
    stats_sample.store(tmp_path / "store", repetitions=2)
    stated = [
        Observation(operation, f"{latency}_p{p}", p / 1e6, "s")
        for operation in ("create", "read")
        for latency in ("completion_latency", "latency", "submission_latency")
        for p in (50, 99)
    ]
    for repetition in range(2):
        run = stats_sample.run(
            1,
            repetition,
            np.random.default_rng(1),
            id=f"x-{repetition}",
            operations=None,
            phases=[],
            observations=stated,
        )
        Store.open(tmp_path / "store").append(run)
    source = open_data(str(tmp_path / "store"))
    made = build_percentiles_plot(source, ResponseQuery(), PlotRoles())
    metrics = group_by_key(
        (panel.title.partition(":")[0], panel.metric) for plot in made.every for panel in plot.panels
    )
    assert metrics["read"] == ["latency"]
    assert not any("submission" in name or "completion" in name for names in metrics.values() for name in names)
    (named,) = build_percentiles_plot(source, ResponseQuery(("completion latency",)), PlotRoles()).panels[:1]
    assert named.metric == "completion latency"


def test_percentiles_that_a_tool_states_are_taken(tmp_path):
    store = Store.create(tmp_path / "store")
    for repetition, depth in itertools.product(range(2), (1, 4)):
        stated = [Observation("read", f"completion_latency_p{p}", depth * p / 1e6, "s") for p in (10, 50, 99, 99.9)]
        store.append(
            stats_sample.run(
                1,
                repetition,
                np.random.default_rng(1),
                id=f"y-{depth}-{repetition}",
                operations=None,
                phases=[],
                factors={"depth": depth, "repetition": repetition},
                observations=stated,
                source="import fio",
                started_at=f"2026-11-22T10:0{repetition}:0{depth}.000Z",
            )
        )
    store.save_experiment(Experiment("x", "x", [Factor("depth", "", (1, 4))], {}, [], 1, "2026-11-22T10:00:00.000Z"))
    made = build_percentiles_plot(open_data(str(tmp_path / "store")), ResponseQuery(), PlotRoles())
    assert made.x.texts == ("p50", "p99", "p99.9") and made.x.numbers == pytest.approx((2, 100, 1000))
    assert [point.mean.value for point in made.panels[0].points if point.color == 1] == pytest.approx(
        [4 * p / 1e6 for p in (50, 99, 99.9)]
    )


def test_tools_with_other_factors_have_plots_of_their_own_without_empty_panels(tmp_path):
    store = Store.create(tmp_path / "store")
    for repetition, (tool, name, level) in itertools.product(
        range(2), [("ior", "t", 1), ("ior", "t", 2), ("mdtest", "items", 100), ("mdtest", "items", 200)]
    ):
        metric, unit = ("bandwidth", "bytes/s") if tool == "ior" else ("rate", "operations/s")
        run = stats_sample.run(
            1,
            repetition,
            np.random.default_rng(1),
            id=f"y-{tool}-{level}-{repetition}",
            operations=None,
            phases=[],
            factors={name: level, "tool": tool, "repetition": repetition},
            observations=[Observation("write" if tool == "ior" else "creation", metric, 10.0 * level, unit)],
            source=f"import {tool}",
        )
        store.append(run)
    names = [Factor("t", "", (1, 2)), Factor("items", "", (100, 200)), Factor("tool", "", ("ior", "mdtest"))]
    store.save_experiment(Experiment("x", "x", names, {}, [], 1, "2026-11-22T10:00:00.000Z"))
    made = build_settings_plot(open_data(str(tmp_path / "store")), ResponseQuery())
    assert [plot.x.factor for plot in made.every] == ["t", "items"]
    points = [point for plot in made.every for panel in plot.panels for point in panel.points]
    assert len(points) == 4 and all(None not in point.setting.values() for point in points)
    assert len(made.to_dict()["below"]) == 1 and len(made.records()) == 4


def test_the_form_as_data(grid):
    made = plotted(grid, "write").to_dict()
    assert made["x"] == "size" and made["schema"] == 1
    (point, *_) = made["panels"][0]["points"]
    assert set(point) == {"setting", "mean", "trials"} and point["mean"]["n"] == 3
    assert len(plotted(grid, "write").records()) == 12


@pytest.mark.parametrize("role", [{"x": "fs"}, {"color": "fs"}, {"panel": ("fs",)}])
def test_a_factor_of_one_level_is_drawn_where_it_is_named(tmp_path, role):
    """A campaign that is cut short has not tried all levels of what its questions name."""
    rows = [(nodes, size, "nfs", 100 * nodes + size) for nodes in (1, 2) for size in (3, 4)]
    made = plotted(table(tmp_path / "t.csv", "nodes,size,fs,write (MB/s)", rows), "write", **role)
    assert sum(len(panel.points) for panel in made.panels) == 4
