"""How a figure by settings is laid out: where factors go, which axes are shared, what is said of its points."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from iosonde.commands.plot.ask import PlotQuery, _collect_units, _explain_missing_figure, _select_items, build_bars
from iosonde.commands.plot.chosen import select_headlines
from iosonde.commands.plot.content import Bars, Cell, FactorPanel, Latency, LatencySeries, PanelSeries
from iosonde.commands.plot.factors import _format_level, _join_panels, _place_levels, _scale_panels
from iosonde.commands.plot.files import choose_files
from iosonde.commands.plot.layout import PlotLayout, PlotRoles, lay_out_factors
from iosonde.commands.plot.percentiles import _add_percentile, _build_response, _PercentileSample
from iosonde.commands.plot.settings import (
    _assign_scales,
    _build_operation_panels,
    _count_columns,
    _describe_missing,
    _describe_unplaced_factors,
    _format_condition,
    _format_heading,
    _format_title,
    _Measured,
)
from iosonde.commands.plot.settings_plot import SettingPoint, _has_overlap, describe_best_and_worst
from iosonde.core.errors import InputError
from iosonde.core.factor_levels import NAMES, NUMBERS, FactorLevels
from iosonde.core.table import build_table
from iosonde.core.types import Better, Estimate, Factor, Metric
from iosonde.data.responses import Response
from iosonde.page.tables import Section
from messages import raises

MIB = 2.0**20


def levels(name: str, n: int, kind: str = NUMBERS) -> FactorLevels:
    cells = tuple(range(1, n + 1))
    return FactorLevels(name, name, "", kind, cells, tuple(map(str, cells)), tuple(map(float, cells)))


def grid(factors: dict[str, FactorLevels]) -> list[dict[str, Any]]:
    settings: list[dict[str, Any]] = [{}]
    for name, factor in factors.items():
        settings = [{**setting, name: cell} for setting in settings for cell in factor.cells]
    return settings


def lay_out(*factors: FactorLevels, roles: PlotRoles | None = None, settings: Any = None, **room: int) -> PlotLayout:
    by_name = {factor.factor: factor for factor in factors}
    return lay_out_factors(by_name, settings or grid(by_name), roles or PlotRoles(), **room)


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ([], PlotLayout("", "", ())),
        ([levels("a", 3)], PlotLayout("a", "", ())),
        ([levels("a", 2), levels("b", 3)], PlotLayout("b", "a", ())),
        ([levels("a", 3, NAMES), levels("b", 3)], PlotLayout("b", "a", ())),
        ([levels("a", 3), levels("b", 3)], PlotLayout("a", "b", ())),
        ([levels("a", 8), levels("b", 6, NAMES)], PlotLayout("a", "b", ())),
        ([levels("a", 8), levels("b", 7, NAMES)], PlotLayout("a", "", ("b",))),
        ([levels("a", 25), levels("b", 24)], PlotLayout("a", "b", ())),
        ([levels("a", 26), levels("b", 25)], PlotLayout("a", "", ("b",))),
        ([levels("a", 8), levels("b", 7, NAMES), levels("c", 2)], PlotLayout("a", "c", ("b",))),
        ([levels("a", 4), levels("b", 3), levels("c", 2), levels("d", 2)], PlotLayout("a", "b", ("d", "c"))),
    ],
)
def test_the_factor_with_most_levels_goes_along_x_and_the_next_by_colour(
    factors: list[FactorLevels], expected: PlotLayout
) -> None:
    assert lay_out(*factors) == expected


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (PlotRoles(x="c"), PlotLayout("c", "a", ("b",))),
        (PlotRoles(color="c"), PlotLayout("a", "c", ("b",))),
        (PlotRoles(panel=("a",)), PlotLayout("b", "c", ("a",))),
        (PlotRoles(x="c", color="b"), PlotLayout("c", "b", ("a",))),
        (PlotRoles(panel=("b", "a")), PlotLayout("c", "", ("b", "a"))),
    ],
)
def test_a_named_role_is_kept(roles: PlotRoles, expected: PlotLayout) -> None:
    factors = levels("a", 4), levels("b", 3), levels("c", 2)
    assert lay_out(*factors, roles=roles) == expected
    assert set(roles.factors) == {name for name in (roles.x, roles.color, *roles.panel) if name}


def test_roles_that_exclude_each_other() -> None:
    for roles in (PlotRoles("a", "a"), PlotRoles("a", "", ("a",)), PlotRoles("", "", ("a", "a"))):
        with raises("conflicting-roles", InputError):
            lay_out(levels("a", 2), levels("b", 2), roles=roles)
    with raises("too-many-levels", InputError, color="b", n_levels=25):
        lay_out(levels("a", 2), levels("b", 25), roles=PlotRoles(color="b"))
    assert lay_out(levels("a", 2), levels("b", 24), roles=PlotRoles(color="b")).color == "b"
    assert lay_out(levels("a", 4), levels("b", 3, NAMES), hues=2) == PlotLayout("a", "", ("b",))
    assert lay_out(levels("a", 4), levels("b", 3), hues=2, shades=3) == PlotLayout("a", "b", ())


def test_a_factor_whose_panels_would_be_nearly_empty_varies_from_point_to_point() -> None:
    factors = levels("a", 5), levels("b", 2), levels("c", 2)
    every = grid({factor.factor: factor for factor in factors})

    def rest(n: int) -> tuple[str, ...]:
        """Of 10 points that each of two panels has room for, this many settings are in both."""
        odd = [setting for setting in every if setting["c"] == 1][: n // 2]
        even = [setting for setting in every if setting["c"] == 2][: n - n // 2]
        return lay_out(*factors, settings=[*odd, *even]).rest

    assert (rest(20), rest(12), rest(11)) == ((), (), ("c",))  # a panel is to be full by 0.6
    few = [{"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": 1, "b": 2}, {"a": 2, "b": 1}]
    names = levels("a", 2), levels("b", 2)
    assert lay_out(*names, settings=few, shades=1) == PlotLayout("a", "", ("b",))
    assert lay_out(*names, settings=few[:2], shades=1) == PlotLayout("a", "", (), ("b",))


def estimate(value: float | None, half: float | None = None) -> Estimate:
    ends = (None, None) if value is None or half is None else (value - half, value + half)
    return Estimate(value, *ends, 0.95, 3)


def point(value: float | None, half: float | None = None, text: str = "n=1", **setting: Any) -> SettingPoint:
    return SettingPoint(0, 0, setting, text, estimate(value, half), ())


def measured(
    name: str, *points: SettingPoint, metric: str = "rate", unit: str = "B", operation: str = "x"
) -> _Measured:
    response: Any = SimpleNamespace(title=name, unit=unit, operation=operation)
    cell: Any = None
    return _Measured(response, name, metric, tuple((cell, each) for each in points))


def test_metrics_share_an_axis_unless_they_lie_far_apart() -> None:
    def scales(*tops: float | None, **more: str) -> list[str]:
        entries = [measured(f"m{at}", point(top), point(0.5), **more) for at, top in enumerate(tops)]
        return list(_assign_scales(entries).values())

    assert scales(4.0, 1.0) == ["rate|B|", "rate|B|"]
    assert scales(4.1, 1.0) == ["rate|B|m0", "rate|B|m1"]
    assert scales(-4.1, 1.0) == ["rate|B|m0", "rate|B|m1"]
    assert scales(None, 2.0) == ["rate|B|", "rate|B|"]
    zeros = [measured("a", point(0.0)), measured("b", point(9.0)), measured("c"), measured("d", point(99.0), unit="s")]
    assert _assign_scales(zeros) == {"a": "rate|B|", "b": "rate|B|", "c": "rate|B|", "d": "rate|s|"}


def test_rows_of_panels_are_whole() -> None:
    assert [_count_columns(n) for n in range(1, 17)] == [0, 2, 3, 4, 5, 3, 4, 4, 3, 5, 4, 4, 4, 4, 5, 4]


def test_a_condition_names_a_level_that_the_first_panels_lack() -> None:
    by_name = {"a": levels("a", 3), "b": levels("b", 3)}
    places = PlotLayout("x", "", ("a", "b"))
    keys = [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert [_format_condition(keys, room, by_name, places) for room in (1, 2, 3)] == ["b=2", "b=3", "a=2"]
    assert _format_condition([(0, 1), (1, 0), (0, 0)], 2, by_name, places) == "a=1"


def test_headings_have_what_distinguishes_panels() -> None:
    two = [measured("write", metric="rate"), measured("read", metric="time")]
    assert [_format_heading(each, two) for each in two] == ["write", "read"]
    alike = [measured("write", metric="rate"), measured("write", metric="time")]
    assert [_format_heading(each, alike) for each in alike] == ["rate", "time"]
    both = [*alike, measured("read", metric="rate")]
    expected = ["write: rate", "write: time", "read: rate"]
    assert [_format_heading(each, both) for each in both] == expected
    twice = [measured("write"), measured("write")]
    assert _format_heading(twice[0], twice) == "write"


def test_a_title_names_metrics_operations_and_factors() -> None:
    by_name = {"a": levels("a", 2), "b": levels("b", 2), "c": levels("c", 2)}
    places = PlotLayout("a", "b", ("c",), ("d",))
    expected = "Rate of write and read by a, b and c"
    assert _format_title([measured("write"), measured("read")], by_name, places) == expected
    several = [measured(name, metric=name, operation="") for name in "wxyz"]
    expected = "4 metrics by a"
    assert _format_title(several, by_name, PlotLayout("a", "", ())) == expected
    assert _format_title(several[:3], {}, PlotLayout("", "", ())) == "W, x and y"
    names = [measured(name) for name in "wxyz"]
    assert _format_title(names, {}, PlotLayout("", "", ())) == "Rate"


def test_operations_of_one_setting_are_bars_of_one_panel_for_each_metric() -> None:
    entries = [measured("write", point(1.0)), measured("read", point(2.0)), measured("open", point(3.0), metric="time")]
    first, second = _build_operation_panels(entries)
    assert (first.title, first.metric, first.unit, first.scale) == ("rate", "rate", "B", "rate|B")
    assert [(each.x, each.setting_text, each.mean.value) for each in first.points] == [
        (0, "write", 1.0),
        (1, "read", 2.0),
    ]
    assert (second.title, [each.x for each in second.points]) == ("time", [2])
    (only,) = _build_operation_panels(entries[:2])
    assert only.title == ""


@pytest.mark.parametrize(
    ("names", "n", "expected"),
    [
        (("a", "b"), 6, []),
        (("a", "b"), 5, [(1, 6)]),
        (("a", "b"), 4, [(2, 6)]),
        (("a", "b"), 3, []),
        (("percentile", "b"), 5, []),
    ],
)
def test_holes_of_a_grid_that_is_nearly_complete_are_named(
    names: tuple[str, str], n: int, expected: list[tuple[int, int]]
) -> None:
    by_name = {names[0]: levels(names[0], 3), names[1]: levels(names[1], 2)}
    settings = grid(by_name)[:n]
    notes = cast(Any, _describe_missing(by_name, PlotLayout(names[0], names[1], ()), settings + settings[:1]))
    assert [(note.values["n_missing"], note.values["n_settings"]) for note in notes] == expected
    assert _describe_missing(by_name, PlotLayout(names[0], "", (), (names[1],)), settings) == []
    assert _describe_missing({}, PlotLayout("", "", ()), []) == []


def test_factors_without_a_place_are_named() -> None:
    assert _describe_unplaced_factors(PlotLayout("a", "", ())) == []
    (one_factor,) = cast(Any, _describe_unplaced_factors(PlotLayout("a", "", (), ("b",))))
    assert {name: str(value) for name, value in one_factor.values.items()} == {
        "columns": "b",
        "verb": "varies",
        "pronoun": "it",
    }
    (two,) = cast(Any, _describe_unplaced_factors(PlotLayout("a", "", (), ("b", "c"))))
    assert (two.values["columns"], two.values["verb"]) == ("b and c", "vary")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((1, 1), (3, 1), True),
        ((1, 1), (3.1, 1), False),
        ((3, 1), (1, 1), True),
        ((3.1, 1), (1, 1), False),
        ((1, None), (1, 1), False),
        ((1, 1), (1, None), False),
    ],
)
def test_intervals_that_touch_overlap(first: tuple[float, Any], second: tuple[float, Any], expected: bool) -> None:
    assert _has_overlap(estimate(*first), estimate(*second)) is expected


def test_the_best_is_the_largest_unless_lower_is_better() -> None:
    rate: Any = SimpleNamespace(unit="", lower_is_better=False, metric=SimpleNamespace(name="rate"))
    time: Any = SimpleNamespace(unit="", lower_is_better=True, metric=SimpleNamespace(name="time"))
    points = [point(2.0, 0.1, "n=2"), point(1.0, 0.1, "n=1"), point(None, None, "n=3"), point(3.0, 0.1, "n=4")]

    def order(response: Any, *of: SettingPoint) -> list[int]:
        text = describe_best_and_worst("write", "rate", response, of or points)
        return sorted((1, 2, 3, 4), key=lambda n: text.find(f"n={n}") if f"n={n}" in text else 999)[:2]

    assert (order(rate), order(time)) == ([4, 1], [1, 4])
    apart, near = (describe_best_and_worst("w", "w", rate, [point(1.0, half), point(2.0, half)]) for half in (0.4, 0.5))
    assert near.startswith(apart.partition("0.4")[0][:8]) and ("overlap" in near, "overlap" in apart) == (True, False)
    assert describe_best_and_worst("w", "w", rate, points[2:3]) == describe_best_and_worst("w", "w", rate, []) == ""
    single = describe_best_and_worst("w", "rate", rate, [point(2.0, 0.5, "n=2", n=2)])
    assert single.startswith("w: rate 2") and single.endswith(" at n=2")
    assert " at " not in describe_best_and_worst("w", "w", rate, [point(2.0, 0.5, "n=2")])


def bars(operation: str, *values: float | None, metric: str = "rate") -> Bars:
    return Bars(operation, metric, operation, "B", tuple(Cell(1, estimate(value)) for value in values))


def test_figures_with_something_to_draw_are_selected_by_operation_or_metric() -> None:
    items = [bars("write", 1.0), bars("read", None), bars("read", None, 2.0, metric="time"), bars("none")]
    assert _select_items(items, ()) == [items[0], items[2]]
    assert _select_items(items, ("write",)) == _select_items(items, ("rate",)) == [items[0]]
    assert _select_items(items, ("time", "write")) == [items[0], items[2]]
    timeline: Any = SimpleNamespace(phase="open")
    assert _select_items([timeline], ("open",)) == [timeline] and _select_items([timeline], ("write",)) == []

    def reason(section: Section[Any], names: tuple[str, ...]) -> str:
        message: Any = _explain_missing_figure("bars", section, names)
        assert (message.code, message.values["kind"]) == ("no-figure", "bars")
        return str(message.values["reason"])

    full = Section(tuple(items), ("lost",))
    assert reason(full, ("x",)).endswith("none")
    assert reason(full, ()) == "lost"
    assert reason(Section(missing=("a", "b")), ("x",)) == "a b" and reason(Section(), ()) not in ("", "a b")


def test_totals_by_node_count_have_their_unit_and_an_interval_if_repeated() -> None:
    results = {
        4: {"repetitions": [{"total": {"own": 3}}, {"total": {"own": 5}}]},
        1: {"total": {"own": 2, "iozone": 7}, "units": {"own": "kB/s", "other": "s"}},
        2: {"total": {"iozone": 8}, "units": "none"},
    }
    own, iozone = build_bars(results, 0.9)
    assert (own.operation, own.metric, own.title, own.unit, iozone.unit) == ("own", "total", "own", "bytes/s", "")
    assert [(cell.nodes, cell.estimate.value, cell.trials) for cell in own.cells] == [
        (1, 2048.0, ()),
        (4, 4096.0, (3072.0, 5120.0)),
    ]
    assert [(cell.nodes, cell.estimate.value) for cell in iozone.cells] == [(1, 7.0), (2, 8.0)]
    assert own.cells[1].estimate.low is not None and own.cells[0].estimate.low is None
    assert own.cells[1].estimate.level == 0.9
    assert _collect_units(results)["other"] == "s" and set(_collect_units({}).values()) == {"kB/s"}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (PlotQuery(on=()), "empty-option-value"),
        (PlotQuery(on=("a",), kind="bars"), "conflicting-options"),
        (PlotQuery(on=("a",), bars=True), "conflicting-options"),
        (PlotQuery(on=("a",), roles=PlotRoles(x="a")), "conflicting-options"),
        (PlotQuery(on=("a",), roles=PlotRoles(color="a")), "conflicting-options"),
        (PlotQuery(on=("a",), roles=PlotRoles(panel=("a",))), "conflicting-options"),
        (PlotQuery(together=True), "missing-option"),
        (PlotQuery(bars=True, kind="time"), "conflicting-options"),
        (PlotQuery(bars=True, response=("y",)), "conflicting-options"),
        (PlotQuery(bars=True, roles=PlotRoles(x="a")), "conflicting-options"),
        (PlotQuery(bars=True, roles=PlotRoles(color="a")), "conflicting-options"),
        (PlotQuery(bars=True, roles=PlotRoles(panel=("a",))), "conflicting-options"),
        (PlotQuery(bars=True, clock="overlap"), "conflicting-options"),
        (PlotQuery(kind="time", response=("y",)), "conflicting-options"),
        (PlotQuery(kind="latency", roles=PlotRoles(x="a")), "conflicting-options"),
        (PlotQuery(kind="page", roles=PlotRoles(color="a")), "conflicting-options"),
        (PlotQuery(kind="bars", roles=PlotRoles(panel=("a",))), "conflicting-options"),
    ],
)
def test_options_of_a_plot_that_exclude_each_other(query: PlotQuery, code: str) -> None:
    with raises(code, InputError):
        query.check()


def test_options_of_a_plot_that_go_together() -> None:
    roles = PlotRoles("a", "b", ("c",))
    for query in (
        PlotQuery(),
        PlotQuery(on=("a",), together=True, response=("y",), metric=("write",)),
        PlotQuery(bars=True, metric=("write",)),
        PlotQuery(kind="time", metric=("write",)),
        *(PlotQuery(kind=kind, roles=roles, response=("y",)) for kind in ("", "settings", "heatmap", "percentiles")),
    ):
        query.check()
        assert query.by_settings is (query.kind != "time")


def test_levels_have_places_and_at_most_8_ticks() -> None:
    named: Any = SimpleNamespace(levels=("b", "a", "c"))
    assert _place_levels(named, np.array(["a", "b", "a"]), "") == ({"b": 0.0, "a": 1.0}, [(0.0, "b"), (1.0, "a")])
    number: Any = SimpleNamespace(levels=None)
    places, ticks = _place_levels(number, np.array([2.0, 1.0, 2.0]), "bytes")
    assert (places, ticks) == ({1.0: 1.0, 2.0: 2.0}, [(1.0, "1 B"), (2.0, "2 B")])
    for n, at in ((8, range(8)), (9, range(0, 9, 2)), (16, range(0, 16, 2)), (17, range(0, 17, 3))):
        assert [tick for tick, _ in _place_levels(number, np.arange(float(n)), "")[1]] == list(at)
    texts = [_format_level(level, "") for level in (3.0, -2.0, 2.5, 1e7, 9_999_999.0, 0.123456)]
    assert texts == ["3", "-2", "2.5", "1e+07", "9999999", "0.1235"]
    assert _format_level(2048, "bytes") == "2 KiB"


def panel(*values: float, unit: str = "bytes/s", name: str = "y") -> FactorPanel:
    means = [(1.0, estimate(value)) for value in values]
    return FactorPanel("n", [], False, unit, 1.0, [PanelSeries(name, [], means, [], [])])


def test_panels_of_a_row_share_their_unit() -> None:
    scaled = _scale_panels([panel(2.0 * MIB, -3000.0 * MIB), panel(1.0)])
    assert [(each.unit, each.divisor) for each in scaled] == [("GiB/s", 2.0**30)] * 2
    ((joined),) = _join_panels([[panel(1.0, name="a")], [panel(2.0, name="b")]])
    assert [series.name for series in joined.series] == ["a", "b"]
    with raises("unit-mismatch", InputError, units="bytes/s, no unit"):
        _join_panels([[panel(1.0, unit="")], [panel(2.0)]])


def test_the_headline_of_each_operation_is_chosen() -> None:
    def response(operation: str, name: str) -> Any:
        return SimpleNamespace(operation=operation, metric=SimpleNamespace(name=name))

    write = [
        response("write", name) for name in ("rate_last_done", "seconds", "bandwidth_last_done", "bandwidth_overlap")
    ]
    create = [response("create", name) for name in ("seconds", "rate_last_done")]
    buffered = [response("write_buffered", "bandwidth_last_done")]
    assert select_headlines([*write, *create, *buffered]) == [*write[2:], create[1]]
    times = [response("open", "seconds"), response("close", "seconds")]
    assert select_headlines(times) == times and select_headlines(buffered) == buffered


def test_figures_go_to_a_file_or_a_directory(tmp_path: Path) -> None:
    single = choose_files(tmp_path / "a.png", None, "bars")
    assert (single.format, single.is_directory, single.place_of("x")) == ("png", False, tmp_path / "a.png")
    assert choose_files(tmp_path / "a.png", "png", None) == single
    many = choose_files(tmp_path / "new", "svg", "page")
    assert (many.is_directory, many.place_of("x"), (tmp_path / "new").is_dir()) == (
        True,
        tmp_path / "new" / "x.svg",
        True,
    )
    (tmp_path / "dotted.d").mkdir()
    assert choose_files(tmp_path / "dotted.d", None, None).is_directory
    for path, form, kind, code in (
        ("a.png", "svg", None, "format-mismatch"),
        ("a.png", None, "page", "directory-required"),
        ("missing/new", None, None, "cannot-create-directory"),
    ):
        with raises(code, InputError):
            choose_files(tmp_path / path, form, kind)


def test_tables_of_figures_have_every_number() -> None:
    cell = Cell(2, Estimate(1.0, 0.5, 1.5, 0.9, 3), (1.0, 1.234567891), Estimate(0.5, 0.4, 0.6, 0.9, 3))
    chart = Bars("write", "rate", "Write", "B/s", (cell, Cell(1, estimate(None))))
    table = chart.table()
    assert table.rows[0] == (2, 1.0, 0.5, 1.5, 0.9, 3, 0.5, 0.4, 0.6, "1 1.23457")
    assert table.rows[1] == (1, None, None, None, 0.95, 3, None, None, None, "")
    assert (table.caption, len(table.columns), chart.empty) == ("Write", 10, False)
    series = LatencySeries(1, (0.1, 0.2, 0.4), (0.0, 1.0), 5, {"p50": Estimate(0.3, 0.2, 0.4, 0.9, 3)})
    latency = Latency("write", "Write", (series,))
    assert latency.table().rows == ((1, "p50", 0.3, 0.2, 0.4, 0.9, 3, 5),)
    assert (latency.buckets().rows, latency.empty) == (((1, 0.2, 0.4, 1.0),), False)
    assert Latency("write", "Write", ()).empty


def test_percentiles_from_the_median_on_are_drawn() -> None:
    sample = _PercentileSample(build_table({"n": [1, 2, 3]}))
    for at, percent in ((0, 49.9), (1, 50.0), (2, 99.9999999), (2, 99.99999), (0, 99.999), (1, 100.0)):
        _add_percentile(sample, at, percent, percent / 10)
    assert (sample.at, sample.percents) == ([1, 2, 0], [50.0, 99.99999, 99.999])
    assert sample.seconds == pytest.approx([5.0, 9.999999, 9.9999])
    like = Response("t", sample.rows, Metric("x", "B"), (Factor("n"),))
    response = _build_response("read", "latency", sample, like)
    assert (response.title.split(), response.operation, response.metric) == (
        ["read", "latency"],
        "read",
        Metric("latency", "s", Better.LOWER),
    )
    assert [factor.name for factor in response.factors] == ["n", "percentile"]
    assert response.rows.numbers("n").tolist() == [2.0, 3.0, 1.0]
    assert response.rows.numbers("percentile").tolist() == sample.percents
    assert response.rows.numbers(response.title).tolist() == sample.seconds
