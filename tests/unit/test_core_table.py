"""Columns and rows of a table: levels, groups, what a row is called, and what is said of a wrong cell or name."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.errors import DataError
from iosonde.core.factor_levels import FactorLevels, collect_factor_levels
from iosonde.core.level_text import format_level_word, format_levels, is_same_level, levels_to_base
from iosonde.core.table import (
    Column,
    Table,
    build_column,
    build_table,
    format_cell,
    is_number,
    number_combinations,
    tidy_number,
)
from messages import raises


def levels(*columns: list, name: str = "x", label: str = "", unit: str = "") -> FactorLevels:
    return collect_factor_levels([build_column(name, values, label, unit) for values in columns])


@pytest.mark.parametrize(
    ("values", "codes", "expected"),
    [
        ([3.0, 1, None, 3], [1, 0, 2, 1], [1, 3, None]),
        ([2.5, 2**53], [0, 1], [2.5, 2.0**53]),
        (["1m", "512", "64k"], [2, 0, 1], ["512", "64k", "1m"]),
        (["b", None, "a", "b"], [0, 1, 2, 0], ["b", None, "a"]),
        ([True, False, True], [0, 1, 0], ["true", "false"]),
        ([None, None], [0, 0], [None]),
        ([], [], []),
    ],
)
def test_the_levels_of_a_column(values, codes, expected):
    found, cells = build_column("x", values).codes()
    assert (found.tolist(), cells) == (codes, expected)


def test_levels_are_in_the_given_order_then_as_first_seen():
    values = np.array(["c", "b", "d", "a"], dtype=object)
    codes, cells = Column("x", values, order=("a", "b")).codes()
    assert (codes.tolist(), cells) == ([2, 1, 3, 0], ["a", "b", "c", "d"])


@pytest.mark.parametrize(
    ("values", "numeric", "missing"),
    [
        ([1, None], True, [False, True]),
        ([None, None], False, [True, True]),
        ([1, True], False, [False, False]),
        (["a", None], False, [False, True]),
    ],
)
def test_a_column_is_numbers_or_text(values, numeric, missing):
    column = build_column("x", values)
    assert (column.numeric, column.missing.tolist(), column.label) == (numeric, missing, "x")


TABLE = Table(
    {
        "time (s)": build_column("time (s)", [1.0, 2.0, 3.0], "time", "s"),
        "size (B)": build_column("size (B)", [1, 2, 2], "size", "B"),
        "size (KiB)": build_column("size (KiB)", [1, 2, 2], "size", "KiB"),
        "fs": build_column("fs", ["nfs", "xfs", "nfs"]),
    },
    "t.csv",
    alike={"commit": "abc", "note": ""},
)


def test_a_column_is_found_by_name_or_by_a_label_of_its_own():
    assert TABLE.column("time").name == TABLE.column("time (s)").name == "time (s)"
    assert [TABLE.has_column(name) for name in ("time", "size", "fs", "commit", "tim")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    with raises("ambiguous-column", DataError, column="size", candidates="size (B), size (KiB)", location="t.csv: "):
        TABLE.column("size")
    with raises(
        "unknown-column",
        DataError,
        column="Tine",
        nearest="time or time (s) or size",
        columns="time (s), size (B), size (KiB), fs",
    ):
        TABLE.column("Tine")
    with raises("unknown-column", DataError, column="zzz", nearest="") as caught:
        TABLE.column("zzz")
    assert "size (KiB)" in caught.value.hint


@pytest.mark.parametrize("name", ["fs*size (B)", "fs : time"])
def test_an_interaction_is_no_column_and_names_the_commands_for_it(name):
    with raises("interaction-as-column", DataError, column=name, location="t.csv: ") as caught:
        TABLE.column(name)
    assert {"anova", "regress"} <= set(caught.value.hint.replace(";", "").split())
    with raises("unknown-column", DataError, column="fs*zzz"):
        TABLE.column("fs*zzz")


def test_a_column_that_is_the_same_in_all_rows_is_refused_with_its_value():
    with raises("constant-column", DataError, column="commit", value="abc") as caught:
        TABLE.column("commit")
    assert "'abc'" in caught.value.message
    with raises("constant-column", DataError, column="note", value="") as caught:
        TABLE.column("note")
    assert "''" not in caught.value.message


def test_units_of_levels_are_by_name_and_by_label():
    assert TABLE.level_units() == {
        "time": "s",
        "size": "KiB",
        "time (s)": "s",
        "size (B)": "bytes",
        "size (KiB)": "KiB",
    }
    assert TABLE.level_units(["time", "fs", "gone"]) == {"time": "s"}


def test_groups_are_the_combinations_that_occur_in_the_order_of_the_levels():
    groups = [(key, rows.tolist()) for key, rows in TABLE.groups(["fs", "size (B)"])]
    assert groups == [(("nfs", 1), [0]), (("nfs", 2), [2]), (("xfs", 2), [1])]
    assert [(key, rows.tolist()) for key, rows in TABLE.groups([])] == [((), [0, 1, 2])]
    assert TABLE.take(np.array([], dtype=np.intp)).groups(["fs"]) == []


def test_combinations_are_numbered_in_order_however_many_there_are():
    big = 2**40
    coded = [(np.array([big - 1, 0, big - 1]), big), (np.array([5, 5, 4]), big)]
    numbers = number_combinations(coded, 3)
    assert np.argsort(numbers).tolist() == [1, 2, 0] and len(set(numbers.tolist())) == 3
    assert number_combinations([(np.array([1, 0]), 2), (np.array([2, 1]), 3)], 2).tolist() == [5, 1]


@pytest.mark.parametrize(
    ("table", "word", "name", "place"),
    [
        (build_table({"x": [1, 2]}), "row", "2", "row 2"),
        (Table(build_table({"x": [1, 2]}).columns, "t.csv", np.array([2, 7])), "line", "7", "t.csv, line 7"),
        (
            build_table({"run": ["a", "b"], "operation": ["write", "read"], "metric": ["rate", "p99"]}, "store"),
            "run",
            "b",
            "store, run b, read p99",
        ),
        (build_table({"run": ["a", "b"], "operation": ["write", "read"]}), "row", "2", "row 2"),
    ],
)
def test_a_row_is_called_by_its_origin(table, word, name, place):
    assert (table.row_word, table.row_name(1), table.place(1)) == (word, name, place)


@pytest.mark.parametrize(
    ("values", "code", "row", "cure"),
    [
        (["1", "4,5"], "not-a-number", "row 2", "decimal-comma"),
        (["-1,5", None], "not-a-number", "row 1", "decimal-comma"),
        (["1", "nan", "x"], "not-a-number", "row 2", "not-finite"),
        (["1", "a,5"], "not-a-number", "row 2", "not-a-number"),
        (["1", "5,b"], "not-a-number", "row 2", "not-a-number"),
        ([1.0, float("-inf")], "not-finite", "row 2", "not-finite"),
    ],
)
def test_a_cell_that_is_no_number_is_refused_with_a_cure(values, code, row, cure):
    with raises(code, DataError, row=row, column="x") as caught:
        build_table({"x": values}).numbers("x")
    assert caught.value.values["cure"].code == cure


def test_a_cell_of_a_store_is_cured_by_leaving_its_run_out():
    table = build_table({"run": ["r1"], "operation": ["w"], "metric": ["m"], "x": ["bad"]})
    with raises("not-a-number", DataError, cell="bad", row="run r1, w m") as caught:
        table.numbers("x")
    assert (caught.value.values["cure"].code, caught.value.values["cure"].values) == ("leave-run-out", {"run": "r1"})


@pytest.mark.parametrize(
    ("number", "fits"), [(1e140, True), (1.1e140, False), (-1e141, False), (1e-140, True), (1e-141, False), (0, True)]
)
def test_numbers_are_those_that_can_be_squared(number, fits):
    table = build_table({"x": [1.0, number, None]})
    if fits:
        np.testing.assert_array_equal(table.numbers("x"), [1.0, number, np.nan])
        return
    with raises("numeric-overflow", DataError, row="row 2", number=number):
        table.numbers("x")


def test_a_column_without_any_value_has_no_numbers():
    assert np.isnan(build_table({"x": [None, None]}).numbers("x")).all()


def test_cells_as_text_and_as_numbers():
    cells = [format_cell(cell) for cell in (None, float("nan"), "", "a", 0)]
    assert cells == ["(missing)", "(missing)", "(empty)", "a", "0"]
    assert [is_number(text) for text in (None, "1e3", " 2 ", "nan", "inf", "1_0", "x", "")] == [True] * 3 + [False] * 5
    assert [repr(tidy_number(value)) for value in (3.0, 3.5, 2.0**53, -4.0)] == ["3", "3.5", "9007199254740992.0", "-4"]


@pytest.mark.parametrize(
    ("values", "unit", "kind", "cells", "texts", "numbers"),
    [
        ([4, 1, 2.5], "s", "numbers", (1, 2.5, 4), ("1", "2.5", "4"), (1.0, 2.5, 4.0)),
        (["64k", "512"], "", "sizes", ("512", "64k"), ("512 B", "64 KiB"), (512.0, 65536.0)),
        ([4096, 1], "B", "sizes", (1, 4096), ("1 B", "4 KiB"), (1.0, 4096.0)),
        (["b", "a", None], "", "names", ("b", "a", None), ("b", "a", "(missing)"), ()),
        ([2, None, 1], "", "names", (1, 2, None), ("1", "2", "(missing)"), ()),
        (["4k", None, "1k"], "", "names", ("1k", "4k", None), ("1 KiB", "4 KiB", "(missing)"), ()),
    ],
)
def test_the_levels_of_a_figure(values, unit, kind, cells, texts, numbers):
    made = levels(values, unit=unit)
    assert (made.kind, made.cells, made.texts, made.numbers) == (kind, cells, texts, numbers)
    assert len(made) == len(cells) and made.place == {cell: at for at, cell in enumerate(cells)}


def test_levels_of_several_columns_are_joined_and_a_name_makes_names_of_all():
    assert levels([1, 3], [2, 3]).cells == (1, 2, 3)
    assert levels([1, 3], ["x"]).kind == "names"


def test_percentiles_are_placed_by_their_nines():
    made = levels([99.9, 50, 99], name="percentile")
    assert (made.kind, made.cells, made.texts) == ("nines", (50, 99, 99.9), ("p50", "p99", "p99.9"))
    assert made.numbers == pytest.approx((2.0, 100.0, 1000.0))
    assert (made.describe_level(2), made.logarithmic) == ("p99.9", True)


@pytest.mark.parametrize(
    ("values", "unit", "is_logarithmic"),
    [
        ([1, 10], "", True),
        ([1, 9.9], "", False),
        ([0, 10], "", False),
        ([-1, 10, 100], "", False),
        ([5], "", False),
        ([1, 2, 4, 8], "", True),
        ([1, 2, 3, 4], "", False),
        ([1, 2, 3], "B", True),
    ],
)
def test_an_axis_is_logarithmic_where_ratios_are_evener(values, unit, is_logarithmic):
    assert levels(values, unit=unit).logarithmic is is_logarithmic


@pytest.mark.parametrize(
    ("label", "unit", "title", "level"),
    [
        ("", "s", "x (s)", "x=1 s"),
        ("wait", "s", "wait (s)", "wait=1 s"),
        ("s", "s", "s", "s=1"),
        ("", "B", "x", "x=1 B"),
    ],
)
def test_the_title_of_an_axis_and_a_level(label, unit, title, level):
    made = levels([1, 2], label=label, unit=unit)
    assert (made.title, made.describe_level(0)) == (title, level)


@pytest.mark.parametrize(
    ("level", "text", "is_same"),
    [
        (4, "4", True),
        (4, " 4.0 ", True),
        ("4MiB", "4194304", True),
        ("64k", "64 KiB", True),
        (True, "true", True),
        (None, "", True),
        ("nfs", "nfs4", False),
        (4, "5", False),
        ("4k", "4000", False),
    ],
)
def test_a_level_and_what_a_system_reports_of_it(level, text, is_same):
    assert is_same_level(level, text) is is_same


def test_levels_in_bytes_and_as_words():
    assert levels_to_base({"t": "4k", "n": "4k", "s": "96"}, {"t": "bytes", "s": "bytes"}) == {
        "t": 4096,
        "n": "4k",
        "s": 96,
    }
    assert (format_level_word(4096, "bytes"), format_level_word("a b"), format_level_word("auto", "bytes")) == (
        "4KiB",
        "a b",
        "auto",
    )
    assert format_levels(["n", "t", "x"], {"t": 4096, "n": 2}, {"t": "bytes"}) == ["2", "4 KiB", "(missing)"]
