"""Sizes are 4 KiB, however they were typed, wherever they are read; what was typed stays what it was."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from iosonde.cli.commands import check, compare, rank, summary
from iosonde.core.column_units import titled
from iosonde.core.factor_levels import levels_of
from iosonde.core.level_text import level_shown, setting_text
from iosonde.core.table import column_of
from iosonde.core.units import typed_sizes
from iosonde.data.source import open_data


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
    assert [level_shown(one, "bytes") for one in (4096, "4k", "4096", 2**20, None, "auto")] == [
        "4 KiB", "4 KiB", "4 KiB", "1 MiB", "(missing)", "auto"
    ]  # fmt: skip
    assert level_shown("4k") == "4k"
    assert setting_text({"size (bytes)": 4096, "n": 2}, {"size (bytes)": "bytes"}) == "size=4 KiB, n=2"


def test_figures_and_tables_have_the_same_texts_in_the_same_order():
    column = column_of("t", ["1m", "512", "64k"])
    assert column.codes()[1] == ["512", "64k", "1m"]
    made = levels_of([column])
    assert made.texts == ("512 B", "64 KiB", "1 MiB") and made.cells == ("512", "64k", "1m")


@pytest.fixture(scope="module")
def typed(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("sizes") / "typed.csv"
    rows = [f"{t},{n},{100 + place * 20 + n + trial / 7:.3f}" for place, t in enumerate(("64k", "1m", "4m"))
            for n in (1, 2) for trial in range(4)]  # fmt: skip
    path.write_text("\n".join(["t,nodes,speed (MB/s)", *rows]) + "\n")
    return str(path)


def said(command, *words: str) -> str:
    return CliRunner().invoke(command, list(words), catch_exceptions=False).output


@pytest.mark.parametrize(
    "words",
    [
        (summary.command,),
        (summary.command, "--all"),
        (compare.command, "--group", "t"),
        (compare.command, "--group", "nodes", "--by", "t"),
        (rank.command,),
    ],
)
def test_no_text_has_a_size_as_it_was_typed(typed, words):
    text = said(words[0], typed, *words[1:])
    assert "64 KiB" in text and "1 MiB" in text
    assert not {"64k", "1m", "65536"} & set(text.replace("=", " ").replace(",", " ").split())


def test_json_and_conditions_have_what_was_typed_and_conditions_take_it_both_ways(typed):
    rows = json.loads(said(summary.command, typed, "--json"))["groups"]
    assert {row["by"]["t"] for row in rows} == {"64k", "1m", "4m"}
    for condition in ("t=64k", "t=64KiB", "t=64 KiB", "t=65536"):
        assert len(open_data(typed, [condition]).table) == 8
    assert len(open_data(typed, ["t!=64KiB"]).table) == len(open_data(typed, ["t>=1MiB"]).table) == 16
    by_either = [said(compare.command, typed, "--group", "t", a, "4m") for a in ("1m", "1MiB", "1 MiB")]
    assert len(set(by_either)) == 1 and "t=1 MiB: it is given first" in by_either[0]


def test_findings_name_sizes_as_tables_do(tmp_path):
    path = tmp_path / "holes.csv"
    rows = (("64k", 1, 1.25), ("64k", 1, 1.5), ("64k", 2, 2.25), ("64k", 2, 2.5), ("1m", 1, 3.25), ("1m", 1, 3.75))
    path.write_text("t,nodes,s\n" + "".join(f"{t},{n},{v}\n" for t, n, v in rows))
    assert "1 of 4 cells of s are missing: t=1 MiB, nodes=2" in " ".join(
        said(check.command, str(path), "--response", "s").split()
    )


def test_a_unit_is_said_once(typed):
    assert titled("speed (MB/s)", "MB/s") == "speed, MB/s" and titled("real (s)", "ms") == "real, ms"
    assert titled("MiB_s", "MiB/s") == "MiB_s" and titled("speed (MB/s)", "") == "speed" and titled("n", "") == "n"
    text = said(summary.command, typed)
    assert "speed, MB/s\n" in text and "speed (MB/s), MB/s" not in text and "speed: best" in text
