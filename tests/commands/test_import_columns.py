"""A CSV by a map of its columns, into a store."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.store import Store
from messages import assert_problem

EXAMPLE = Path(__file__).parents[2] / "examples" / "columns"


def test_the_same_file_by_another_map_is_refused_and_by_the_same_left_alone(tmp_path):
    file, columns, store = EXAMPLE / "mytool.csv", tmp_path / "map.yaml", tmp_path / "store"
    columns.write_bytes((EXAMPLE / "mytool.yaml").read_bytes())
    words = ["import", str(file), "--store", str(store), "--columns", str(columns)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert CliRunner().invoke(cli, words).exit_code == 0
    columns.write_text(columns.read_text().replace("MB/s, clock", "MiB/s, clock"))
    refused = CliRunner().invoke(cli, words).exception
    assert_problem(refused, "nothing-imported")
    assert str(store) in refused.message
    runs = list(Store.open(store).runs())
    assert len(runs) == 6


def test_a_map_and_a_tool_are_not_both_believed(tmp_path):
    words = [str(EXAMPLE / "mytool.csv"), "--columns", str(EXAMPLE / "mytool.yaml"), "--format", "ior"]
    for command in (["parse", *words], ["import", *words, "--store", str(tmp_path / "store")]):
        assert_problem(CliRunner().invoke(cli, command).exception, "conflicting-options")
    without = CliRunner().invoke(cli, ["parse", words[0], "--format", "columns"]).exception
    assert_problem(without, "missing-option")
    assert not (tmp_path / "store").exists()
