"""Sizes are 4 KiB, however they were typed, wherever they are read; what was typed stays what it was."""

from __future__ import annotations

import pytest

from iosonde.core.column_units import titled
from iosonde.core.factor_levels import levels_of
from iosonde.core.level_text import format_level, setting_text
from iosonde.core.table import column_of
from iosonde.core.units import typed_sizes


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
    assert typed_sizes(levels) == sizes


def test_the_unit_of_levels_is_that_of_the_name_or_of_what_was_typed():
    assert column_of("t", ["1m", None, "64k"]).level_unit == "bytes"
    assert column_of("t", ["1m", "64k", "auto"]).level_unit == ""
    assert column_of("t", ["1m", "64k"], "t", "s").level_unit == "s"
    assert column_of("size", [4096, 1], "size", "B").level_unit == "bytes"
    assert column_of("nodes", [1, 2]).level_unit == ""


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
    assert setting_text({"size (bytes)": 4096, "n": 2}, {"size (bytes)": "bytes"}) == "size=4 KiB, n=2"


def test_figures_and_tables_have_the_same_texts_in_the_same_order():
    column = column_of("t", ["1m", "512", "64k"])
    assert column.codes()[1] == ["512", "64k", "1m"]
    made = levels_of([column])
    assert made.texts == ("512 B", "64 KiB", "1 MiB") and made.cells == ("512", "64k", "1m")


def test_a_column_with_the_unit_that_it_is_shown_in():
    assert titled("speed (MB/s)", "MB/s") == "speed, MB/s" and titled("real (s)", "ms") == "real, ms"
    assert titled("MiB_s", "MiB/s") == "MiB_s" and titled("speed (MB/s)", "") == "speed" and titled("n", "") == "n"


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_levels_that_differ_in_their_last_digit_are_on_a_linear_axis():
    """Their logarithms are the same."""
    column = column_of("n", [1e15, 1e15 + 1, 1e15 + 3])
    assert not levels_of([column]).logarithmic
