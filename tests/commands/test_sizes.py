"""Sizes are 4 KiB in every text; JSON and conditions have what was typed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from iosonde.data.source import open_data
from terminal import command_of

check = command_of("check")
compare = command_of("compare")
rank = command_of("rank")
summary = command_of("summary")


@pytest.fixture(scope="module")
def typed(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("sizes") / "typed.csv"
    rows = [
        f"{t},{n},{100 + place * 20 + n + trial / 7:.3f}"
        for place, t in enumerate(("64k", "1m", "4m"))
        for n in (1, 2)
        for trial in range(4)
    ]
    path.write_text("\n".join(["t,nodes,speed (MB/s)", *rows]) + "\n")
    return str(path)


def said(command, *words: str) -> str:
    return CliRunner().invoke(command, list(words), catch_exceptions=False).output


@pytest.mark.parametrize(
    "words",
    [
        (summary,),
        (summary, "--all"),
        (compare, "--group", "t"),
        (compare, "--group", "nodes", "--by", "t"),
        (rank,),
    ],
)
def test_no_text_has_a_size_as_it_was_typed(typed, words):
    text = said(words[0], typed, *words[1:])
    assert "64 KiB" in text and "1 MiB" in text
    assert not {"64k", "1m", "65536"} & set(text.replace("=", " ").replace(",", " ").split())


def test_json_and_conditions_have_what_was_typed_and_conditions_take_it_both_ways(typed):
    rows = json.loads(said(summary, typed, "--json"))["groups"]
    assert {row["by"]["t"] for row in rows} == {"64k", "1m", "4m"}
    for condition in ("t=64k", "t=64KiB", "t=64 KiB", "t=65536"):
        assert len(open_data(typed, [condition]).table) == 8
    assert len(open_data(typed, ["t!=64KiB"]).table) == len(open_data(typed, ["t>=1MiB"]).table) == 16
    by_either = [said(compare, typed, "--group", "t", a, "4m") for a in ("1m", "1MiB", "1 MiB")]
    assert len(set(by_either)) == 1 and "t=1 MiB" in by_either[0]


def test_findings_name_sizes_as_tables_do(tmp_path):
    path = tmp_path / "holes.csv"
    rows = (("64k", 1, 1.25), ("64k", 1, 1.5), ("64k", 2, 2.25), ("64k", 2, 2.5), ("1m", 1, 3.25), ("1m", 1, 3.75))
    path.write_text("t,nodes,s\n" + "".join(f"{t},{n},{v}\n" for t, n, v in rows))
    text = " ".join(said(check, str(path), "--response", "s").split())
    assert "1 of 4 " in text and " t=1 MiB, nodes=2" in text


def test_a_unit_is_said_once(typed):
    text = said(summary, typed)
    assert "speed, MB/s\n" in text and "speed (MB/s)," not in text
