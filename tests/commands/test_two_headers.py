"""Pivot tables and tables side by side are read where the second line of their header makes it sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.core.errors import DataError
from iosonde.data.source import open_data
from iosonde.tables.raw_rows import has_plain_ends
from messages import codes, raises


def read(folder: Path, text: str) -> tuple[list[str], list[list[object]]]:
    """Names of columns, and rows."""
    path = folder / "t.csv"
    path.write_text(text)
    table = open_data(str(path)).table
    columns = [column.values.tolist() for column in table.columns.values()]
    assert codes(table.warnings) == ["two-headers"]
    return table.names, [list(row) for row in zip(*columns, strict=True)]


def test_the_labels_of_a_pivot_table_are_levels(tmp_path):
    names, rows = read(tmp_path, "clients,ext4,,xfs,\n,run1,run2,run1,run2\n1,9.5,9.75,10.5,10.25\n4,19,20,21,22\n")
    assert names == ["clients", "group", "run1", "run2"]
    assert rows == [[1, "ext4", 9.5, 9.75], [4, "ext4", 19, 20], [1, "xfs", 10.5, 10.25], [4, "xfs", 21, 22]]


@pytest.mark.parametrize("label", ["ext4,,xfs,", "ext4,ext4,xfs,xfs"])
def test_the_corner_names_the_labels(tmp_path, label):
    names, rows = read(tmp_path, f"fs,{label}\nclients,MB/s,IOPS,MB/s,IOPS\n1,9.5,95,10.5,105\n4,19.5,195,21.5,215\n")
    assert names == ["clients", "fs", "MB/s", "IOPS"]
    assert rows[0] == [1, "ext4", 9.5, 95] and rows[-1] == [4, "xfs", 21.5, 215]


def test_tables_side_by_side_may_end_at_different_lines_and_have_a_column_between(tmp_path):
    text = "Results of May,,,,\next4,,,xfs,\nclients,MB/s,,clients,MB/s\n1,9.5,,1,10.5\n4,19.5,,,\n"
    names, rows = read(tmp_path, text)
    assert names == ["group", "clients", "MB/s"]
    assert rows == [["ext4", 1, 9.5], ["ext4", 4, 19.5], ["xfs", 1, 10.5]]
    assert open_data(str(tmp_path / "t.csv")).table.lines.tolist() == [4, 5, 4]


def test_groups_of_different_columns_give_their_labels_to_the_names(tmp_path):
    names, rows = read(tmp_path, ",write,,read,\nfs,MB/s,IOPS,MB/s,P99\next4,9.5,95,10.5,100\nxfs,8.5,85,9.5,90\n")
    assert names == ["fs", "write MB/s", "write IOPS", "read MB/s", "read P99"]
    assert rows == [["ext4", 9.5, 95, 10.5, 100], ["xfs", 8.5, 85, 9.5, 90]]


@pytest.mark.parametrize(
    "text",
    [
        "Cluster A,,March,\nfs,clients,MB/s,IOPS\next4,1,9.5,95\n",  # a title
        ",MB/s,,IOPS\nfs,mean,sd,mean of 5\next4,1,9.5,95\n",
        "fs,write,read\n,MB/s,MB/s\next4,9.5,8.5\n",  # units
        "fs,mount,MB/s\nsame,same,9.5\nsame,same,8.5\n",
    ],
)
def test_other_lines_above_a_header_are_titles(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    assert "two-headers" not in codes(open_data(str(tmp_path / "t.csv")).table.warnings)


def test_a_long_table_with_two_headers_is_none_that_needs_no_care():
    rows = [["ext4", "", "xfs", ""], ["clients", "MB/s"] * 2, ["1", "9.5"] * 2, ["4", "9.5"] * 2]
    assert not has_plain_ends(rows) and has_plain_ends([["a", "b", "c", "d"], *rows[2:]])


@pytest.mark.parametrize("header", ["fs,MB/s,MB/s", "fs,MB/s,fs,MB/s"])
def test_columns_of_one_name_without_labels_are_refused(tmp_path, header):
    (tmp_path / "t.csv").write_text(f"{header}\n" + ",".join(["1.5"] * len(header.split(","))) + "\n")
    with raises("duplicate-column", DataError):
        open_data(str(tmp_path / "t.csv"))
