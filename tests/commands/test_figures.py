"""Figures as data: what stands in them, text that stays text, files in each format, the same bytes twice."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest

from iosonde.commands.advise.figure import draw_loss_by_depth
from iosonde.commands.bound.figure_roofline import roofline_figure, share_panels
from iosonde.commands.fit.figure_unseen import ModelErrors, errors_figure
from iosonde.commands.plot.content import Bars, Cell
from iosonde.commands.plot.figure import timeline_figure
from iosonde.commands.plot.figure_bars import bars_figure, compute_axis_ends
from iosonde.commands.plot.figure_factors import FactorPanel, PanelSeries, factor_figure
from iosonde.commands.plot.figure_heatmap import heatmap_figure
from iosonde.commands.plot.figure_latency import latency_figure
from iosonde.commands.plot.figure_over_time import over_time_figure
from iosonde.commands.plot.figure_settings import settings_figure
from iosonde.commands.plot.over_time import OverTimePlot, PhaseOverTime
from iosonde.commands.rank.content import FactorShare, Influence, JudgedModel, LearningPoint, ResponseRanking, Tree
from iosonde.commands.report.section import build_page_specs
from iosonde.commands.scale.figure import Curve, ScalingPlot, scaling_figure
from iosonde.core.option_kinds import FIGURE_FORMATS, parse_figure_format
from iosonde.core.types import Estimate
from iosonde.layout.figure import MIME_TYPE, Figure, combine_figures
from iosonde.layout.figure_files import number_clip_paths, render_image
from iosonde.layout.vocabulary import BLUE, SECONDS, SIZES, adapt_to_page, list_decades, number_duplicates
from iosonde.stats.overview.over_time import OverTime
from messages import raises
from page_sample import HOSTILE, MiB, bound_page, model_page, partial_page, sample_page
from plot_sample import sample_plot

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
HOSTILES = (HOSTILE, "a\"b'c", "</script>", 'datum["x"]', "line\u2028end", "<b>&amp;</b>", "'+alert(1)+'", "{signal}")


def around(value: float) -> Estimate:
    return Estimate(value, 0.9 * value, 1.1 * value, 0.95, 6)


def influence(name: str) -> Influence:
    shares = (
        FactorShare(name, "1, 2", around(0.5)),
        FactorShare("b", "", around(0.1)),
    )
    curve = (LearningPoint(8, 3.0, 4.0), LearningPoint(16, 2.0, 4.0))
    judged = JudgedModel(name, name, (1.0, 2.0, 3.0), (1.1, 2.2, 2.9), around(0.1), around(1.0), 0.05, curve)
    nodes = ({"factor": name, "is": name, "yes": 1, "no": 2, "n": 4}, {"value": 1.0, "n": 2}, {"value": 2.0, "n": 2})
    return Influence(name, "s", ResponseRanking("", "", (), shares), judged, Tree(nodes, (), around(0.1)), None)


def over_time(name: str) -> OverTimePlot:
    """A phase of three bins, with a name wherever there is one."""
    ranks = {0: (1e8, 1e8, 1e8), 1: (0.0, 1e8, 2e8)}
    made = OverTime(
        name,
        "bytes/s",
        0.1,
        0.31,
        (0.0, 0.1, 0.2),
        (1e8, 2e8, 3e8),
        ranks,
        name,
        (1e-4, None, 2e-4),
        (None, None, 1e-3),
        (1e-3, 5e-3, 2e-3),
        100,
        1000,
        3,
    )
    return OverTimePlot(name, name, (PhaseOverTime(name, name, True, made),), (name,), (name,))


def renamed(name: str) -> list[Figure]:
    """Every kind of figure with a text wherever it has one."""
    page, bound = sample_page(), bound_page().bound.items[0]
    series = PanelSeries(name, [(0.0, 1.0), (1.0, 2.0)], [(0.0, around(1.0)), (1.0, around(2.0))], [], [name])
    line = dataclasses.replace(
        bound.rooflines[0], title=name, x_name=name, ceilings={name: (1e8,) * 4, f"{name}2": (2e8,) * 4}
    )
    spans = tuple(dataclasses.replace(span, host=name) for span in page.timelines.items[0].spans)
    return [
        bars_figure(dataclasses.replace(page.bars.items[0], title=name), name),
        latency_figure(dataclasses.replace(page.latencies.items[0], title=name), name),
        timeline_figure(dataclasses.replace(page.timelines.items[0], title=name, spans=spans)),
        over_time_figure(over_time(name)),
        factor_figure(FactorPanel(name, [(0.0, name), (1.0, name)], False, name, 1.0, [series, series], named=True)),
        roofline_figure([line]),
        roofline_figure([line, dataclasses.replace(line, title=f"{name}2")]),
        scaling_figure(
            ScalingPlot(name, name, name, [(1, 2.0), (2, 3.0)], [Curve(name, [1, 2], [2, 3], 2, 3)], [], [1.5], 1)
        ),
        draw_loss_by_depth([0.2, 0.1], [around(0.3), None], 1, name),
        *(settings_figure(sample_plot(name, bars)) for bars in (False, True)),
        heatmap_figure(sample_plot(name)),
        errors_figure(ModelErrors(name, [name, "b"], [(1.0, 0.9, 1.1), (2.0, None, None)], 0.5, 3.0)),
    ]


def vega_of(spec):
    import vl_convert

    return vl_convert.vegalite_to_vega(spec)


def expressions(value):
    """Every text of a compiled specification that is evaluated."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("signal", "expr", "update", "test", "init", "events") and isinstance(item, str):
                yield item
            yield from () if key in ("values", "domain") and isinstance(item, list) else expressions(item)
    elif isinstance(value, list):
        for item in value:
            yield from expressions(item)


def evaluated(name: str) -> list[list[str]]:
    """What would be evaluated of each kind of figure, of files and of the page."""
    models = model_page().models
    page = dataclasses.replace(model_page(), influences=dataclasses.replace(models, items=(influence(name),)))
    specs = [*(one.to_dict() for one in renamed(name)), *build_page_specs(page).values()]
    return [list(expressions(vega_of({**spec, "width": 300}))) for spec in specs]


@pytest.fixture(scope="module")
def of_a_plain_name():
    return evaluated("name")


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILES)
def test_text_from_data_changes_no_expression(name, of_a_plain_name):
    assert all(of_a_plain_name)
    assert evaluated(name) == of_a_plain_name


def test_text_of_a_title_is_shown_as_it_is():
    text = renamed(HOSTILE)[0].image("svg").decode()
    assert "$$x^2$$\\x1b[31m" in text and "<img" not in text and "\x1b" not in text


@pytest.mark.parametrize("kind", FIGURE_FORMATS)
def test_each_format_and_the_same_picture_twice(kind):
    page = sample_page()
    figure = combine_figures(
        [bars_figure(page.bars.items[0], page.axis), latency_figure(page.latencies.items[0], "node")], 2
    )
    one = figure.image(kind)
    timeline_figure(page.timelines.items[0]).image("svg")
    assert one.startswith(MAGIC[kind])
    assert one == figure.image(kind) or (kind == "pdf" and len(one) == len(figure.image(kind)))


def test_every_kind_is_drawn_also_of_what_is_missing():
    page, partial = sample_page(), partial_page()
    figures = [bars_figure(bars, "node") for bars in partial.bars.items if not bars.empty]
    figures += [latency_figure(one, "node") for one in (*page.latencies.items, *partial.latencies.items)]
    figures += [timeline_figure(one) for one in (*page.timelines.items, *partial.timelines.items)]
    assert len(combine_figures(figures, 3).image("svg")) > 20_000


def size_of(figure: Figure) -> tuple[float, float]:
    """Of its SVG, points."""
    found = re.search(r'<svg[^>]* width="([^"]+)" height="([^"]+)"', figure.image("svg").decode())
    return float(found[1]), float(found[2])


def test_latencies_of_which_no_percentile_is_known_or_whose_interval_has_no_end_are_as_large_as_others():
    item = sample_page().latencies.items[0]
    width, _ = size_of(latency_figure(item, "node"))
    for estimate in (Estimate(None, None, None, 0.95, 2), Estimate(1e-4, 1e-11, 4e4, 0.95, 2)):
        series = tuple(dataclasses.replace(one, percentiles={"p50": estimate}) for one in item.series)
        assert size_of(latency_figure(dataclasses.replace(item, series=series), "node"))[0] < 1.5 * width


def test_a_bar_of_a_single_trial_has_an_edge():
    plot = sample_plot("name", bars=True)
    for color, edge in ((plot.color, {"field": "series"}), (None, BLUE)):
        panel = settings_figure(dataclasses.replace(plot, color=color)).spec["concat"][0]
        hollow = [one for one in panel["layer"] if one.get("mark", {}).get("type") == "bar"][-1]
        found = hollow["encoding"]["stroke"] if color else hollow["mark"]["stroke"]
        assert hollow["mark"]["fillOpacity"] == 0 and (found == edge or found["field"] == edge["field"])


def test_a_long_title_is_wrapped_and_not_cut():
    long = "Bandwidth, rate and completion latency p99 of read by block_size, io_depth and file_system"
    for draw in (settings_figure, heatmap_figure):
        plot = sample_plot("name")
        title = draw(dataclasses.replace(plot, title=long, panels=plot.panels[:1], across=1)).spec["title"]["text"]
        assert " ".join(title) == long and len(title) > 1


def test_a_heat_map_of_single_trials_says_so_and_names_every_level():
    plot = sample_plot("name")
    single = [
        dataclasses.replace(
            panel,
            points=tuple(
                dataclasses.replace(one, mean=Estimate(one.mean.value, None, None, 0.95, 1)) for one in panel.points
            ),
        )
        for panel in plot.panels
    ]
    texts = tuple(f"{2**k} KiB" for k in range(3))
    made = heatmap_figure(
        dataclasses.replace(plot, panels=tuple(single), x=dataclasses.replace(plot.x, texts=texts), omissions=())
    )
    (subtitle,) = made.spec["title"]["subtitle"]
    assert "±" not in subtitle and "%" not in subtitle
    svg = made.image("svg").decode()
    assert all(svg.count(f">{text}<") == len(single) for text in texts) and "±" not in svg
    usual = " ".join(heatmap_figure(plot).spec["title"]["subtitle"])
    assert "±" in usual and "95 %" in usual


def test_labels_of_many_levels_stand_and_are_left_out_evenly():
    plot = sample_plot("name")
    texts = tuple(f"level {k}" for k in range(40))
    point = plot.panels[0].points[0]
    panel = dataclasses.replace(plot.panels[0], points=tuple(dataclasses.replace(point, x=k) for k in range(40)))
    wide = dataclasses.replace(plot, x=dataclasses.replace(plot.x, texts=texts, cells=texts), panels=(panel,), across=1)
    svg = heatmap_figure(wide).image("svg").decode()
    shown = [text for text in texts if f">{text}<" in svg]
    assert shown == list(texts[:: 40 // len(shown)]) and len(shown) >= 20


def test_interval_and_trials_are_in_the_bars():
    bars = sample_page().bars.items[0]
    drawn, hollow, whiskers, trials, _ = bars_figure(bars, "node").spec["layer"]
    first = bars.cells[0].estimate
    assert drawn["data"]["values"][0]["y"] * MiB == pytest.approx(first.value, rel=1e-5)
    low, high = (whiskers["data"]["values"][0][end] * MiB for end in ("low", "high"))
    assert (low, high) == pytest.approx((first.low, first.high), rel=1e-5)
    assert not hollow["data"]["values"] and len(whiskers["layer"]) == 3
    assert len(trials["data"]["values"]) == sum(len(cell.trials) for cell in bars.cells)
    assert "MiB/s" in drawn["data"]["values"][0]["tip"] and "6 trials" in drawn["data"]["values"][0]["tip"]


@pytest.mark.parametrize(
    ("means", "ends"),
    [
        ((-5e6, 4.6), (-5.5e6, 5.06)),
        ((-3.0, -2.0), (-3.3, 0.0)),
        ((3.0, 2.0), (0.0, 3.3)),
        ((0.0, 0.0), (0.0, 1.0)),
    ],
)
def test_every_value_is_within_the_axis_whatever_its_sign(means, ends):
    """A label outside of it made the image as high as the value is far away, until the process was ended."""
    cells = tuple(Cell(nodes, Estimate(v, v - abs(v) / 10, v + abs(v) / 10, 0.95, 3)) for nodes, v in enumerate(means))
    bars = Bars("op", "m", "op, m", "", cells)
    assert compute_axis_ends(bars) == pytest.approx(ends)
    assert len(bars_figure(bars, "node").image("png")) < 2**20


def test_an_image_of_absurd_size_is_refused_before_it_ends_the_process():
    with raises("figure-too-large"):
        render_image({"mark": "point", "width": 100, "height": 10**8, "data": {"values": []}}, "png")


def test_a_bar_without_an_interval_is_hollow():
    drawn, hollow, *_ = bars_figure(partial_page().bars.items[0], "node").spec["layer"]
    assert not drawn["data"]["values"] and len(hollow["data"]["values"]) == 1
    assert hollow["mark"]["fillOpacity"] == 0


def test_what_lies_above_the_bound_is_hollow_in_its_own_colour():
    below, above = roofline_figure(bound_page().bound.items[0].rooflines).spec["layer"][-2:]
    assert [len(dots["data"]["values"]) for dots in (below, above)] == [1, 1]
    assert (below["mark"]["filled"], above["mark"]["filled"]) == (True, False)
    assert below["data"]["values"][0]["series"] == above["data"]["values"][0]["series"] == "measured"


def test_bounds_of_several_operations_name_them():
    (line,) = bound_page().bound.items[0].rooflines
    read = dataclasses.replace(
        line, title="read", s=tuple(2 * value for value in line.s), points=(), ceilings={"disks": (9e8,) * len(line.xs)}
    )
    write = dataclasses.replace(line, title="write", points=())
    dashed, solid, names, *_ = roofline_figure([write, read]).spec["layer"]
    assert len({row["name"] for row in solid["data"]["values"]}) == 2
    texts = [row["name"] for row in names["data"]["values"]]
    assert any("bound" in text and "write" in text for text in texts)
    assert any("bound" in text and "read" in text for text in texts)


def test_rooflines_with_the_same_limits_are_one_panel_that_names_each_limit_once():
    (line,) = bound_page().bound.items[0].rooflines
    lines = [dataclasses.replace(line, title=title) for title in ("write", "read")]
    assert share_panels(lines) == [lines]
    dashed, solid, names, *_, dots = roofline_figure(lines).spec["layer"]
    drawn = [{row["name"] for row in part["data"]["values"]} for part in (dashed, solid)]
    assert [len(rows) for rows in drawn] == [2, 1]
    texts = " ".join(row["name"] for row in names["data"]["values"])
    assert texts.count("network") == texts.count("disks") == texts.count("bound") == 1
    assert {"write", "read"} <= {row["series"] for row in dots["data"]["values"]}


def test_rooflines_with_many_limits_have_a_panel_each():
    (line,) = bound_page().bound.items[0].rooflines
    lines = [
        dataclasses.replace(line, title=str(n), ceilings={"disks": (n * 1e8,) * 4}, s=(n * 1e8,) * 4)
        for n in range(1, 6)
    ]
    assert share_panels(lines) == [[line] for line in lines]
    assert share_panels([line, dataclasses.replace(line, x_name="servers")]) == [
        [line],
        [dataclasses.replace(line, x_name="servers")],
    ]


def test_an_interval_is_whole_and_open_where_it_reaches_zero():
    (line,) = bound_page().bound.items[0].rooflines
    marks = [dataclasses.replace(line.points[0], measured=Estimate(80e6, low, 250e6, 0.95, 3)) for low in (0.0, 2e7)]
    spec = roofline_figure([dataclasses.replace(line, points=tuple(marks))]).spec
    least, most = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    dots = spec["layer"][-1]["data"]["values"]
    (intervals,) = [part for part in spec["layer"] if "layer" in part]
    low, other = intervals["data"]["values"]
    assert low["low"] < least < other["low"] and max(low["high"], other["high"]) < most and len(dots) == 2


def test_a_specification_is_plain_json_with_fixed_fields():
    for figure in renamed("n"):
        text = json.dumps(figure.to_dict(), allow_nan=False)
        assert json.loads(text)["description"]
        views = [view for one in figure.spec.get("concat", [figure.spec]) for view in one.get("vconcat", [one])]
        layers = [layer for one in views for layer in one["layer"]]
        rows = [row for layer in layers for row in layer["data"]["values"]]
        assert {key for row in rows for key in row} <= {
            "x",
            "x2",
            "y",
            "y2",
            "low",
            "high",
            "end",
            "said",
            "tip",
            "series",
            "name",
            "line",
            "aside",
            "value",
            "half",
        }


def test_a_notebook_is_given_the_specification_and_a_picture():
    shown = bars_figure(sample_page().bars.items[0], "node")._repr_mimebundle_()
    assert shown[MIME_TYPE]["$schema"].endswith("/v6.json") and shown[MIME_TYPE]["config"]
    assert "<svg" in shown["image/svg+xml"]


def test_the_page_paints_with_its_variables_and_leaves_data_alone():
    bars = dataclasses.replace(sample_page().bars.items[0], title=BLUE)
    spec = adapt_to_page({**bars_figure(bars, "node").titled(), "data": {"values": [{"x": BLUE}]}})
    assert spec["layer"][0]["mark"]["fill"] == "var(--bar)" and spec["width"] == "container"
    assert spec["title"]["text"] == [BLUE] and spec["data"]["values"] == [{"x": BLUE}]


@pytest.mark.parametrize("name", ["a.gif", "a", "svg", ".pdf", "a.svg.bak"])
def test_a_name_that_ends_otherwise_is_no_figure(name):
    with raises("unknown-file-format"):
        parse_figure_format(name)


def test_endings_are_known_in_any_case():
    assert [parse_figure_format(name) for name in ("a.PNG", "b/c.svg", "d.e.pdf")] == ["png", "svg", "pdf"]


def test_clips_are_numbered_and_text_is_not():
    svg = '<g clip-path="url(#clip7)"><text>clip7</text></g><clipPath id="clip7"/><clipPath id="clip9"/>'
    assert (
        number_clip_paths(svg)
        == '<g clip-path="url(#clip0)"><text>clip7</text></g><clipPath id="clip0"/><clipPath id="clip1"/>'
    )


def test_names_that_look_the_same_are_told_apart():
    assert number_duplicates(["a", "b", "a", "\x1b", "\\x1b"]) == ["a", "b", "a (2)", "\\x1b", "\\x1b (2)"]


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [
        (2e-6, 3e-2, [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
        (9e-5, 3e-4, [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3]),
    ],
)
def test_round_durations_on_a_log_axis(least, most, ticks):
    assert list_decades(least, most) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("how", "values", "texts"),
    [
        (SECONDS, [1e-6, 5e-5, 2e-3, 1.0, 20.0], ["1 µs", "50 µs", "2 ms", "1 s", "20 s"]),
        (SIZES, [512, 4096, 2**20, 3 * 2**30], ["512 B", "4 KiB", "1 MiB", "3 GiB"]),
    ],
)
def test_ticks_are_in_units_that_people_read(how, values, texts):
    import vl_convert

    axis = {"values": values, "labelExpr": how, "labelOverlap": False}
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": axis,
        "scale": {"type": "log", "domain": [values[0], values[-1]]},
    }
    spec = {"data": {"values": [{"x": values[0]}]}, "mark": "point", "width": 900, "encoding": {"x": x}}
    svg = vl_convert.vegalite_to_svg(spec)
    assert all(f">{text}</text>" in svg for text in texts)


def test_a_long_series_of_points_is_drawn_quickly_enough_to_be_useful():
    many = np.arange(5000.0)
    series = PanelSeries("y", list(zip(many, many, strict=True)), [(0.0, around(1.0))], [], [])
    assert len(factor_figure(FactorPanel("x", [(0.0, "0")], False, "", 1.0, [series])).image("svg")) > 100_000


def overlaid_plot(far: bool):
    plot = sample_plot("n", True)
    panel = plot.panels[0]
    times = 1000.0 if far else 1.5
    second = dataclasses.replace(
        panel.points[0], mean=Estimate(panel.points[0].mean.value * times, None, None, 0.95, 1), trials=()
    )
    return dataclasses.replace(plot, panels=(dataclasses.replace(panel, points=(*panel.points, second)),))


def list_marks(spec):
    return [part["mark"]["type"] for panel in spec["concat"] for part in panel["layer"] if "mark" in part]


@pytest.mark.parametrize("far", [False, True])
def test_bars_that_would_hide_each_other_are_points(far):
    spec = settings_figure(overlaid_plot(far)).spec
    assert "bar" not in list_marks(spec) and "point" in list_marks(spec)
    scales = [
        channel["scale"]["type"]
        for part in spec["concat"][0]["layer"]
        if "encoding" in part
        for channel in part["encoding"].values()
        if channel.get("type") == "quantitative" and "scale" in channel
    ]
    assert ("log" in scales) is far
    assert "bar" in list_marks(settings_figure(sample_plot("n", True)).spec)


def test_levels_that_a_panel_lacks_have_no_row_in_it():
    plot = sample_plot("n", True)
    first, *others = plot.panels
    only = dataclasses.replace(first, points=tuple(p for p in first.points if p.x == 1 and p.color != 0))
    spec = settings_figure(dataclasses.replace(plot, panels=(only, *others))).spec

    def domains(panel):
        channels = [part["encoding"] for part in panel["layer"] if "encoding" in part]
        found = {}
        for name in ("y", "yOffset"):
            found[name] = next(
                c[name]["scale"]["domain"] for c in channels if "domain" in c.get(name, {}).get("scale", {})
            )
        return found

    assert len(domains(spec["concat"][0])["y"]) == 1 and domains(spec["concat"][0])["yOffset"] == [1, 2]
    assert len(domains(spec["concat"][1])["y"]) == 3 and domains(spec["concat"][1])["yOffset"] == [0, 1, 2]
    assert spec["concat"][0]["height"] < spec["concat"][1]["height"]
