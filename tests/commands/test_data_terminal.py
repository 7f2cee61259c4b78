"""DATA: what people's CSV files hold is read, or refused with file, line and column."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.cli.group import cli
from iosonde.core.errors import DataError, InputError
from iosonde.data import options
from iosonde.data.source import open_data
from iosonde.tables import csv_text as _csv
from messages import raises


@pytest.fixture
def csv(tmp_path):
    def write(text: str | bytes, name: str = "runs.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_bom_comments_spaces_quotes_and_missing_cells_are_coped_with(csv):
    path = csv('\ufeff# made by hand\n"size [KiB]" , "time (s)" , fs\n\n4 , 1.5 , nfs\n# half way\n8,NA,"a,b"\n16,,\n')
    table = open_data(path).table
    assert table.names == ["size [KiB]", "time (s)", "fs"]
    assert table.numbers("size").tolist() == [4, 8, 16]
    assert np.isnan(table.numbers("time")).tolist() == [False, True, True]
    assert list(table.column("fs").values) == ["nfs", "a,b", None]
    assert table.place(1).endswith("line 6")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters(csv, delimiter):
    assert open_data(csv(delimiter.join("ab") + "\n" + delimiter.join("12") + "\n")).table.numbers("b").tolist() == [2]


def test_utf16_and_windows_line_ends(csv):
    assert open_data(csv("a,b\r\n1,2\r\n".encode("utf-16"))).table.numbers("b").tolist() == [2]


def test_an_index_column_without_a_name_and_trailing_delimiters(csv):
    assert open_data(csv(",y\n0,5\n1,6,\n")).table.names == ["column1", "y"]


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("", "empty-file", {}),
        ("# nothing\n", "empty-file", {}),
        ("a,b\n", "no-rows", {}),
        ("1,2\n3,4\n", "missing-header", {"line": 1}),
        ("Repls,Real,Repls\n1,2,3\n", "duplicate-column", {"line": 1, "column": "Repls"}),
        ("a,b\n1,2\n3\n", "wrong-cell-count", {"line": 3, "n_cells": 1, "n_columns": 2}),
        ("a,b\n1,5,2\n", "wrong-cell-count", {"line": 2, "n_cells": 3, "n_columns": 2}),
        ("a,b\n\0,2\n", "not-a-table", {}),
        (b"a,b\n1,\x81\x8d\n", "not-utf8", {"line": 2}),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused(csv, text, code, values):
    path = csv(text)
    with raises(code, DataError, path=path, **values) as refused:
        open_data(path)
    assert refused.value.hint


@pytest.mark.parametrize(("cell", "hint"), [("1,5", "1.5"), ("inf", "empty"), ("1_000", "correct"), ("12s", "correct")])
def test_a_cell_that_is_no_number_is_named(csv, cell, hint):
    table = open_data(csv(f"x;y\n1;2.5\n2;{cell}\n")).table
    with raises("not-a-number", DataError) as refused:
        table.numbers("y")
    assert f"line 3, column 'y': '{cell}'" in refused.value.message and hint in refused.value.hint


def test_where_filters_by_label_and_value(csv):
    path = csv("fs,size [KiB],y\nnfs,4,1\nafs,4,2\nnfs,8,3\n")
    assert open_data(path, ["fs=nfs", "size<8"]).table.numbers("y").tolist() == [1]
    with pytest.raises(InputError) as refused:
        open_data(path, ["fss=nfs"])
    assert "fs" in refused.value.hint
    with raises("no-matching-rows", DataError, source=path, conditions="fs=ext4"):
        open_data(path, ["fs=ext4"])


def test_parquet_keeps_types_and_refuses_what_is_none(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "runs.parquet"
    columns = {"y": [1.5, None], "n": [1, 2], "fs": ["a", None], "on": [True, False], "z": [1.0, float("nan")]}
    pq.write_table(pa.table(columns), path)
    table = open_data(str(path)).table
    assert table.numbers("n").tolist() == [1, 2] and np.isnan(table.numbers("y")[1])
    assert list(table.column("fs").values) == ["a", None]
    assert list(table.column("on").values) == ["true", "false"]
    with pytest.raises(DataError):
        table.numbers("z")
    path.write_bytes(path.read_bytes()[:-9])
    with raises("truncated-file", DataError, path=path):
        open_data(str(path))


@pytest.mark.parametrize("name", ["none.csv", "table.xlsx"])
def test_data_that_is_none(tmp_path, name):
    if name.endswith("xlsx"):
        (tmp_path / name).write_text("")
    with pytest.raises(InputError):
        open_data(str(tmp_path / name))


def test_two_columns_of_one_name_in_parquet_are_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "dup.parquet"
    pq.write_table(pa.table([[1], [2], [3]], names=["y", "x", "y"]), path)
    with raises("duplicate-column", DataError, path=path, column="y"):
        open_data(str(path))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "runs.csv")
    with raises("not-a-regular-file", InputError, path=tmp_path / "runs.csv"):
        open_data(str(tmp_path / "runs.csv"))


_CELLS = [
    *("1", " 2.5 ", "+3", "1e3", "", "NA", "-", "nfs", " a b", "1_000", "nan", "inf", "1e999", "-0.0", "0x1p3"),
    *("1e-320", "é", "\u0663"),
]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.sampled_from(_CELLS), min_size=2, max_size=4), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["c{} (s)", '"c{} (s)"', '"c{},; (s)"', '"c{} (s)']),
)
def test_a_large_plain_text_is_read_as_a_small_one_is(csv, rows, delimiter, end, last, name):
    """Also what is refused: ragged rows, with the same error."""
    lines = [delimiter.join(name.format(i) for i in range(3)), *(delimiter.join(row) for row in rows)]
    path = Path(csv((end.join(lines) + end * last).encode()))

    def read(least: int) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_csv, "_LEAST_PLAIN", least)
            try:
                table = _csv.parse_csv(Path(path).read_bytes(), path)
            except DataError as error:
                return error.message, error.hint
        return table.lines.tolist(), [
            (c.name, c.label, c.unit, c.numeric, c.values.astype(str).tolist()) for c in table.columns.values()
        ]

    assert read(0) == read(10**9)


def test_a_large_plain_text_is_read_by_columns_and_says_so(csv, monkeypatch):
    monkeypatch.setattr(_csv, "_split_rows", None)
    monkeypatch.setattr(options, "_LARGE_BYTES", 10**6)
    path = csv('"a",fs\n' + "1.5,nfs\n" * 200_000)  # as those write it who quote the names alone
    shown = CliRunner().invoke(cli, ["check", path, "--response", "a"])
    reading, check = shown.stderr.splitlines()[:2]
    assert f" {path}, 2 MiB " in reading and re.search(r"^check .*\b200000 .*\b2 ", check)
    table = open_data(path).table
    assert len(table) == 200_000 and table.column("a").numeric and table.place(1).endswith("line 3")
