"""A CSV by a map of its columns, into a store."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.store import Store

EXAMPLE = Path(__file__).parents[2] / "examples" / "columns"


def test_the_same_file_by_another_map_is_refused_and_by_the_same_left_alone(tmp_path):
    file, columns, store = EXAMPLE / "mytool.csv", tmp_path / "map.yaml", tmp_path / "store"
    columns.write_bytes((EXAMPLE / "mytool.yaml").read_bytes())
    words = ["import", str(file), "--store", str(store), "--columns", str(columns)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert CliRunner().invoke(cli, words).exit_code == 0
    columns.write_text(columns.read_text().replace("MB/s, clock", "MiB/s, clock"))
    assert "read by another map" in str(CliRunner().invoke(cli, words).exception)
    runs = list(Store.open(store).runs())
    assert len(runs) == 6


def test_a_map_and_a_tool_are_not_both_believed(tmp_path):
    words = [str(EXAMPLE / "mytool.csv"), "--columns", str(EXAMPLE / "mytool.yaml"), "--format", "ior"]
    for command in (["parse", *words], ["import", *words, "--store", str(tmp_path / "store")]):
        assert "by a map of its columns or as a tool's output" in str(CliRunner().invoke(cli, command).exception)
    without = CliRunner().invoke(cli, ["parse", words[0], "--format", "columns"]).exception
    assert "needs a map of the columns" in str(without)
    assert not (tmp_path / "store").exists()
