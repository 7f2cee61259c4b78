"""Sizes are 4 KiB, however they were typed, wherever they are read; what was typed stays what it was."""

from __future__ import annotations

import pytest

from iosonde.core.column_units import format_column_title
from iosonde.core.factor_levels import collect_factor_levels
from iosonde.core.level_text import format_level, format_setting
from iosonde.core.table import build_column
from iosonde.core.units import parse_typed_sizes


@pytest.mark.parametrize(
    ("levels", "sizes"),
    [
        (["64k", "1m", "4K"], [65536, 2**20, 4096]),
        (["512", "4k", "1 MiB"], [512, 4096, 2**20]),
        (["4kB", "1MB"], [4000, 10**6]),
        (["1", "2"], None),  # numbers
        (["4k", "4096"], None),  # one size by two names
        (["4k", "off"], None),
        (["k", "4k"], None),
        (["4k", None], None),
        ([], None),
    ],
)
def test_what_was_typed_as_sizes(levels, sizes):
    assert parse_typed_sizes(levels) == sizes


def test_the_unit_of_levels_is_that_of_the_name_or_of_what_was_typed():
    assert build_column("t", ["1m", None, "64k"]).level_unit == "bytes"
    assert build_column("t", ["1m", "64k", "auto"]).level_unit == ""
    assert build_column("t", ["1m", "64k"], "t", "s").level_unit == "s"
    assert build_column("size", [4096, 1], "size", "B").level_unit == "bytes"
    assert build_column("nodes", [1, 2]).level_unit == ""


def test_a_level_as_it_is_read():
    assert [format_level(one, "bytes") for one in (4096, "4k", "4096", 2**20, None, "auto")] == [
        "4 KiB",
        "4 KiB",
        "4 KiB",
        "1 MiB",
        "(missing)",
        "auto",
    ]
    assert format_level("4k") == "4k"
    assert format_setting({"size (bytes)": 4096, "n": 2}, {"size (bytes)": "bytes"}) == "size=4 KiB, n=2"


def test_figures_and_tables_have_the_same_texts_in_the_same_order():
    column = build_column("t", ["1m", "512", "64k"])
    assert column.codes()[1] == ["512", "64k", "1m"]
    made = collect_factor_levels([column])
    assert made.texts == ("512 B", "64 KiB", "1 MiB") and made.cells == ("512", "64k", "1m")


def test_a_column_with_the_unit_that_it_is_shown_in():
    assert (
        format_column_title("speed (MB/s)", "MB/s") == "speed, MB/s"
        and format_column_title("real (s)", "ms") == "real, ms"
    )
    assert (
        format_column_title("MiB_s", "MiB/s") == "MiB_s"
        and format_column_title("speed (MB/s)", "") == "speed"
        and format_column_title("n", "") == "n"
    )


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_levels_that_differ_in_their_last_digit_are_on_a_linear_axis():
    """Their logarithms are the same."""
    column = build_column("n", [1e15, 1e15 + 1, 1e15 + 3])
    assert not collect_factor_levels([column]).logarithmic
