"""Lines with one cell among the rows of a table: headings of the rows below them, or notes at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.core.table import Table
from iosonde.data.source import open_data
from messages import codes


def read(folder: Path, *lines: str) -> Table:
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    return open_data(str(folder / "t.csv")).table


HEADER, FIRST, SECOND = "clients,run,MB/s", ["1,1,9.5", "4,1,19.5"], ["1,1,10.5", "4,1,20.5"]


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ([HEADER, "ext4,,", *FIRST, "xfs,,", *SECOND], "group"),
        ([HEADER, "ext4", *FIRST, "", "xfs", *SECOND], "group"),
        (["ext4:,,", HEADER, *FIRST, "xfs:,,", HEADER, *SECOND], "group"),
        ([HEADER, "fs: ext4,,", *FIRST, "fs: xfs,,", *SECOND], "fs"),
        ([HEADER, "fs = ext4", *FIRST, "fs = xfs", *SECOND, "* the server was busy"], "fs"),
    ],
)
def test_headings_are_levels_of_the_rows_below_them(tmp_path, lines, name):
    table = read(tmp_path, *lines)
    assert codes(table.warnings) == ["headings-in-rows"]
    assert table.names == [name, "clients", "run", "MB/s"]
    assert table.columns[name].values.tolist() == ["ext4", "ext4", "xfs", "xfs"]
    assert table.numbers("MB/s").tolist() == [9.5, 19.5, 10.5, 20.5]
    written = (tmp_path / "t.csv").read_text().splitlines()
    assert [written[line - 1] for line in table.lines.tolist()] == [*FIRST, *SECOND]


@pytest.mark.parametrize(
    "lines",
    [
        [HEADER, *FIRST, "xfs,,", *SECOND],  # of what are the first rows?
        ["test,MB/s,us", "a,,", "b,9.5,1", "c,,", "d,9.5,2"],  # failed trials
        ["fs,MB/s", "ext4,9.5", "xfs,", "ext4,9.25", "zfs,", "ext4,9.75"],
        [HEADER, "ext4,,", "xfs,,", *FIRST],
    ],
)
def test_rows_without_values_are_no_headings(tmp_path, lines):
    table = read(tmp_path, *lines)
    assert len(table) == len(lines) - 1 and "headings-in-rows" not in codes(table.warnings)


def test_a_note_below_a_table_is_left_out(tmp_path):
    table = read(tmp_path, HEADER, *FIRST, "* busy,,", "Hinweis: vorläufig")
    assert len(table) == 2 and codes(table.warnings) == ["note-below"]
