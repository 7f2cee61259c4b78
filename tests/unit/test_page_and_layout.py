"""Pieces of pages and figures as data: positions, channels, rows, texts and file contents, by whole values."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re

import numpy as np
import pytest

from iosonde.core.types import Estimate
from iosonde.layout import vocabulary
from iosonde.layout.figure import Figure, build_heading, combine_figures
from iosonde.layout.figure_files import create_file_names, number_clip_paths
from iosonde.layout.text import break_lines, get_columns, table, truncate_texts, wide, width, wrapped
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    SERIES,
    adapt_to_page,
    add_zoom,
    build_legend,
    build_line_rows,
    build_name_channel,
    build_number_channel,
    choose_colours,
    draw_intervals,
    get_interval_ends,
    layer,
    list_decades,
    list_ticks_inside,
    number_duplicates,
    share_rows,
    short,
    truncate_label,
    view,
)
from iosonde.page.carried import build_page_policy, format_json_for_script, share_parts, to_jsonable
from iosonde.page.environment import make_environment
from iosonde.page.strip import STRIP_WIDTH, StripAxis
from iosonde.page.tables import DataTable, Section, iterate_ends


@pytest.mark.parametrize(
    ("least", "most", "values"),
    [
        (0.0, 10.0, {0.0: 6, 5.0: 170, 10.0: 334, 12.0: 334, -1.0: 6}),
        (5.0, 10.0, {0.0: 6, 5.0: 170, 10.0: 334}),
        (-10.0, 10.0, {-10.0: 6, 0.0: 170, 10.0: 334}),
        (-10.0, -5.0, {-10.0: 6, 0.0: 334}),
        (0.0, 0.0, {0.0: 6}),
    ],
)
def test_a_value_lies_between_the_margins_of_a_strip(least, most, values):
    axis = StripAxis(least, most)
    assert not axis.logarithmic and {value: axis.place(value) for value in values} == values


def test_a_strip_is_logarithmic_beyond_a_ratio_of_twenty():
    assert not StripAxis(1.0, 20.0).logarithmic and not StripAxis(0.0, 1e9).logarithmic
    axis = StripAxis(1.0, 21.0)
    assert axis.logarithmic and (axis.start, axis.end) == pytest.approx((1 / 1.5, 31.5))
    share = math.log(10 * 1.5) / math.log(21 * 1.5**2)
    assert axis.place(10.0) == pytest.approx(6 + share * (STRIP_WIDTH - 12), abs=0.06)


@pytest.mark.parametrize(
    ("least", "most", "unit", "texts"),
    [
        (0.0, 900.0, "s", ["0", "500 s"]),
        (0.0, 0.0045, "s", ["0", "2 ms"]),
        (0.0, 3.5 * 2**20, "bytes/s", ["0", "2 MiB/s"]),
        (-900.0, 100.0, "", ["0", "-500"]),
        (0.0, 0.0, "s", ["0"]),
        (1e3, 1e9, "", ["1000", "1e+09"]),
        (2.0**10, 2.0**31, "bytes/s", ["1 KiB/s", "1 GiB/s"]),
    ],
)
def test_the_ticks_of_a_strip_are_round(least, most, unit, texts):
    ticks = StripAxis(least, most).ticks(unit)
    assert [text for _, text in ticks][:1] == texts[:1] and len(ticks) == len(texts)
    assert re.sub(r"[^0-9.-]", "", ticks[-1][1])[:1] == re.sub(r"[^0-9.-]", "", texts[-1])[:1]


def test_a_table_is_rfc_4180_without_formulas():
    rows = (("=1+1", 1.5), ("-3.5e4", None), ('say "hi", you', -2), ("@x", True), ("+5", 0.1), ("\tt", 1e-9))
    assert DataTable("t", ("-a", "b"), rows).to_csv() == (
        '\'-a,b\r\n\'=1+1,1.5\r\n-3.5e4,\r\n"say ""hi"", you",-2\r\n\'@x,True\r\n+5,0.1\r\n\'\tt,1e-09\r\n'
    )


def test_a_section_is_shown_with_items_or_with_what_is_missing():
    assert [Section().shown, Section((1,)).shown, Section((), ("x",)).shown] == [False, True, True]
    assert list(iterate_ends(Estimate(2.0, 1.0, 4.0, 0.95, 3))) == [2.0, 1.0, 4.0]
    assert list(iterate_ends(None)) == [None] * 3


def test_values_in_a_script_are_json_that_cannot_close_it():
    value = {1: (math.nan, np.float64(0.5), np.arange(2)), "a": "</script>&", "b": None, "c": {3}, "d": True}
    assert to_jsonable(value) == {"1": [None, 0.5, [0, 1]], "a": "</script>&", "b": None, "c": "{3}", "d": True}
    text = format_json_for_script(value)
    assert not set("<>&") & set(text) and json.loads(text) == to_jsonable(value)


def test_a_policy_names_the_digest_of_each_script():
    digests = [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in (b"a", b"b")]
    policy = dict(part.strip().split(" ", 1) for part in build_page_policy("a", "b").split(";"))
    assert policy["script-src"] == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"


@pytest.mark.parametrize(("n", "is_shared"), [(37, False), (38, True)])
def test_a_text_is_shared_from_forty_characters_of_json_on(n, is_shared):
    specs = {"a": {"values": [{"x": "t" * n}]}, "b": {"values": [{"x": "t" * n}]}}
    parts, shared = share_parts(specs)
    assert parts == (["t" * n] if is_shared else []) and (shared == specs) == (not is_shared)


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("{{ p | chance }}", {"p": 0.00009}, "&lt; 0.0001"),
        ("{{ p | chance }}", {"p": 0.01234}, "0.012"),
        ("{{ x | sentence }}", {"x": "some cells"}, "Some cells"),
        ("{{ x | sentence }}", {"x": "rate: low"}, "rate: low"),
        ("{{ x | sentence }}", {"x": "p99 is"}, "p99 is"),
        ("{{ x | figure_value }}", {"x": {"a": 1.23456789, "b": None, "c": [1, 2]}}, "a 1.23457, b, c 1; 2"),
        ("{{ x }}", {"x": "a\x1b<b>"}, "a\\x1b&lt;b&gt;"),
        ("[{{ x }}]", {"x": None}, "[]"),
        ("{{ x | unbroken }}", {"x": "1.2 (0.72\u20131.77) MiB/s of 5 ms"}, None),
    ],
)
def test_a_template_prints_values_as_text(template, values, text):
    html = make_environment(("rate",)).from_string(template).render(**values)
    if text is None:
        assert re.findall(r">([^<]+)<", html) == ["1.2 (0.72\u20131.77) MiB/s", " of ", "5 ms"]
    else:
        assert html == text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.23456789, 1.23457),
        (2.0, 2),
        (1e15, 1e15),
        (9.99999e14, 999999000000000),
        (None, None),
        (math.inf, None),
        (math.nan, None),
    ],
)
def test_a_number_is_drawn_with_six_digits(value, expected):
    assert short(value) == expected and type(short(value)) is type(expected)


@pytest.mark.parametrize(
    ("least", "most", "decades"),
    [
        (1.0, 1000.0, [1, 10, 100, 1000]),
        (1.0, 300.0, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]),
        (0.02, 0.5, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]),
    ],
)
def test_the_values_of_a_logarithmic_axis(least, most, decades):
    assert list_decades(least, most) == decades
    assert list_ticks_inside(least, most) == [tick for tick in decades if least <= tick <= most]


def test_layers_share_the_scale_of_the_first():
    x, y = build_number_channel("s", zero=True), build_name_channel("n", ["a"], "y")
    first = layer([{"x": 1, "y": "a", "z": 5, "tip": "t\x1b\nu"}], "bar", {"x": x, "y": y}, size=3)
    second = layer([{"x": 2}], "rule", {"x": dict(x)})
    other = layer([{"x": 2}], "rule", {"x": build_number_channel("other")})
    assert first["data"]["values"] == [{"x": 1, "y": "a", "tip": "t\\x1b\nu"}]
    assert first["mark"] == {"type": "bar", "size": 3} and "tooltip" not in second["encoding"]
    drawn = view(first, {"layer": [second]}, other, height=7, a=1)
    assert (drawn["width"], drawn["height"], drawn["a"]) == (300, 7, 1)
    assert drawn["layer"][0] == first and drawn["layer"][2] == other
    assert drawn["layer"][1]["layer"][0]["encoding"]["x"] == {"field": "x", "type": "quantitative"}


def test_channels_of_numbers_and_names():
    logarithmic = build_number_channel("t", "y", (0.123456789, 2.0), log=True, axis={"grid": True})
    assert (logarithmic["field"], logarithmic["type"]) == ("y", "quantitative")
    assert (logarithmic["scale"]["type"], logarithmic["scale"]["domain"]) == ("log", [0.123457, 2])
    assert logarithmic["axis"] == {"title": "t", "tickCount": 5, "labelExpr": vocabulary.PLAIN, "grid": True}
    plain = build_number_channel("", zero=True)
    assert plain["scale"]["zero"] is True and plain["axis"] == {"title": None, "tickCount": 5}
    assert build_number_channel("t", domain=(1, 2.5))["scale"]["domain"] == [1, 2.5]
    assert build_name_channel("t", ("b", "a"), axis={"ticks": True}) == {
        "field": "x",
        "type": "nominal",
        "scale": {"domain": ["b", "a"]},
        "sort": None,
        "axis": {"title": "t", "labelAngle": 0, "ticks": True},
    }


@pytest.mark.parametrize(
    ("names", "columns"),
    [(["a", "b"], 2), (["x" * 13] * 5, 3), (["x" * 9] * 9, 4), (["x" * 60], 1), (["x" * 60] * 2, 1)],
)
def test_a_legend_has_as_many_columns_as_fit(names, columns):
    legend = build_legend(names, ["#1"], symbolType="stroke")
    assert legend["legend"] == {"columns": columns, "symbolType": "stroke"}
    assert legend["scale"] == {"domain": names, "range": ["#1"]}
    assert build_legend([], [])["legend"] is None


def test_colours_begin_again_and_names_are_numbered():
    assert choose_colours(8, 4) == [*SERIES[4:], *SERIES]
    assert number_duplicates(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]
    assert [len(truncate_label("x" * n)) for n in (59, 60, 61)] == [59, 60, 60] and truncate_label("x" * 61)[
        -1
    ] == "\u2026"


def test_an_interval_is_a_bar_with_caps_of_rows_that_have_one():
    assert get_interval_ends(Estimate(1.0, 0.5, 4.0, 0.95, 3), 2.0) == (0.25, 2.0)
    assert (
        get_interval_ends(Estimate(1.0, 0.5, None, 0.95, 3))
        is get_interval_ends(Estimate(1.0, math.nan, 1.0, 0.95, 3))
        is None
    )
    rows = [{"x": 1, "low": 1, "high": 2, "tip": "t"}, {"x": 2, "low": None, "high": None}]
    [drawn] = draw_intervals(rows, {"field": "x"}, {"type": "quantitative"})
    assert drawn["data"]["values"] == [{"x": 1, "low": 1, "high": 2}]
    assert [part["mark"]["type"] for part in drawn["layer"]] == ["rule", "tick", "tick"]
    assert drawn["layer"][0]["encoding"] == {
        "x": {"field": "x"},
        "y": {"type": "quantitative", "field": "low"},
        "y2": {"field": "high"},
    }
    assert [part["encoding"]["y"]["field"] for part in drawn["layer"][1:]] == ["low", "high"]
    [across] = draw_intervals(rows, {"field": "y"}, {}, across=True, cap=0)
    assert set(across["layer"][0]["encoding"]) == {"x", "x2", "y"} and len(across["layer"]) == 1
    assert draw_intervals(rows[1:], {}, {}) == []


def test_the_rows_of_a_line_have_known_values():
    rows = build_line_rows([1.0, 2.0, 3.0], [10.0, None, math.inf], 4.0, series="a")
    assert rows == [{"x": 1, "y": 2.5, "series": "a"}]
    shared = share_rows(layer([{"x": 1}], "a", {"x": {"field": "x"}}), layer([{"y": 2}], "b", {"y": {"field": "y"}}))
    assert shared["data"]["values"] == [{"x": 1, "y": 2}] and all("data" not in part for part in shared["layer"])


def test_a_page_has_its_colours_and_its_width_and_figures_together_no_zoom():
    spec = {"mark": {"color": INK, "text": INK}, "layer": [{"color": (BLUE, "x")}], "values": [BLUE]}
    adapted = adapt_to_page(spec)
    assert adapted == {
        "mark": {"color": "var(--ink)", "text": INK},
        "layer": [{"color": ["var(--bar)", "x"]}],
        "values": [BLUE],
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
    }
    assert set(adapt_to_page(spec, fixed=True)) == set(spec)
    zoomed = add_zoom({"layer": [{"a": 1}, {"b": 2}]})
    assert zoomed["layer"][0]["params"][0]["bind"] == "scales" and zoomed["layer"][1] == {"b": 2}
    figures = [Figure({"layer": [], "params": 1}, "one\ntwo", "First."), Figure({"layer": []}, "", "Second.")]
    both = combine_figures(figures, 2)
    assert both.spec["concat"] == [{"title": {"text": ["one", "two"]}, "layer": []}, {"layer": []}]
    assert (both.spec["columns"], both.title, both.description) == (2, "", "First. Second.")
    assert combine_figures(figures[:1], 2) is figures[0] and combine_figures(figures, 1, "All.").description == "All."
    assert build_heading(["a\x1b", "b"]) == {"text": ["a\\x1b", "b"]}


def test_files_have_names_of_their_own():
    titles = ["read / write", "read | write", "read_write-2", "..", "a" * 99, "read / write"]
    assert create_file_names(titles) == [
        "read_write",
        "read_write-2",
        "read_write-2-2",
        "metric",
        "a" * 80,
        "read_write-3",
    ]


def test_clip_paths_are_numbered_as_they_come():
    svg = '<g clip-path="url(#clip7)"><a id="clip3" b="gradient_7"/>clip9</g><x y="clip1"/>'
    assert number_clip_paths(svg) == '<g clip-path="url(#clip0)"><a id="clip1" b="gradient_0"/>clip9</g><x y="clip2"/>'


def test_lines_are_broken_at_blanks_and_long_words_anywhere():
    with wide(10):
        expected = ["one two", "three"]
        assert get_columns() == 10 and break_lines("one two three") == expected
        assert break_lines("x" * 25) == ["x" * 10, "x" * 10, "x" * 5] and break_lines("") == [""]
        expected = ["- one two", "  three", "  four"]
        assert wrapped("one two three four", "  ", "- ") == expected
        assert wrapped("", "  ", "- ") == ["- "]
    assert get_columns() == 79


@pytest.mark.parametrize(
    ("texts", "columns", "shortened"),
    [
        (["abc", "abcde"], 5, ["abc", "abcde"]),
        (["abcdefgh", "x"], 5, ["abcd\u2026", "x"]),
        (["abcdefgh", "abcdefxh"], 5, ["ab\u2026gh", "ab\u2026xh"]),
        (["abcdefgx", "abcdefgy"], 5, ["ab\u2026gx", "ab\u2026gy"]),
        (["abcdefgh"] * 2, 5, ["abcd\u2026"] * 2),
    ],
)
def test_texts_are_shortened_so_that_they_stay_apart(texts, columns, shortened):
    assert truncate_texts(texts, columns) == shortened


def test_the_width_of_a_text_counts_wide_and_combining_characters():
    assert [width(text) for text in ("abc", "\u8aad\u8aad", "e\u0301", "")] == [3, 4, 1, 0]


def test_a_table_keeps_left_columns_that_must_not_be_cut():
    rows = [["x" * 30, "y" * 30, 5]]
    lines = table(["a", "b", "n"], rows, "lLr", limit=44).splitlines()
    assert "y" * 30 in lines[1] and width(lines[1]) <= 44 and "\u2026" in lines[1].split()[0]
    assert table(["a"], [], "l") == "a"
