"""Tables as people have them: compressed, in another encoding, with decimal commas, titles and units, in a spreadsheet,
on standard input; and a tool's file."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import lzma
import sys

import numpy as np
import openpyxl
import pytest
import zstandard

from iosonde.core.errors import DataError, InputError, SystemFaultError
from iosonde.data.source import is_table, open_data
from iosonde.data.stored_source import StoredSource
from iosonde.foreign import unpacking
from iosonde.importers.text import DARSHAN_MAGIC
from iosonde.ingest import temporary_stores
from iosonde.tables import content
from iosonde.tables.raw_rows import RawRows, build_table_from_rows, convert_decimal_commas, count_titles
from messages import codes, raises

PLAIN = b"fs,MBps\na,1.5\nb,2\n"
PACKED = {
    "t.csv.gz": gzip.compress(PLAIN),
    "t.csv.bz2": bz2.compress(PLAIN[:9]) + bz2.compress(PLAIN[9:]),
    "t.csv.xz": lzma.compress(PLAIN),
    "t.csv.zst": zstandard.compress(PLAIN[:9]) + zstandard.compress(PLAIN[9:]),
    "T.CSV.GZ": gzip.compress(PLAIN),
}
TIME = (
    "1.23user 0.40system 0:02.10elapsed 77%CPU (0avgtext+0avgdata 5000maxresident)k\n"
    "0inputs+8outputs (0major+300minor)pagefaults 0swaps\n"
)


def write(folder, name: str, data: str | bytes) -> str:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return str(folder / name)


def columns(table) -> dict[str, list]:
    return {name: column.values.tolist() for name, column in table.columns.items()}


@pytest.mark.parametrize("name", PACKED)
def test_a_compressed_table_is_read_as_it_is(tmp_path, name):
    assert columns(open_data(write(tmp_path, name, PACKED[name])).table) == {"fs": ["a", "b"], "MBps": [1.5, 2]}


@pytest.mark.parametrize("name", [name for name in PACKED if name != "t.csv.xz"])
def test_one_that_is_cut_or_damaged_is_refused(tmp_path, name):
    with raises("unreadable-file", DataError, path=(path := write(tmp_path, name, PACKED[name][:-5]))):
        open_data(path)
    with raises("unreadable-file", DataError, path=(path := write(tmp_path, name, PACKED[name][:4] + b"\xff" * 9))):
        open_data(path)


def test_one_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(content, "MAX_BYTES", 20)
    with raises("file-too-large", InputError):
        open_data(write(tmp_path, "t.csv.zst", zstandard.compress(b"a,b\n" + b"1,2\n" * 5)))
    assert len(open_data(write(tmp_path, "u.csv.zst", zstandard.compress(b"a,b\n" + b"1,2\n" * 4))).table) == 4


def test_small_pieces_of_zstd_are_decoded_alone(monkeypatch):
    text = b"1,2\n" * 10_000
    pieces = list(unpacking.decompress_blocks(io.BytesIO(zstandard.compress(text)), unpacking.ZSTD_MAGIC + b"12"))
    assert b"".join(pieces) == text
    with pytest.raises(EOFError):
        list(unpacking.decompress_blocks(io.BytesIO(zstandard.compress(text)[:-1]), unpacking.ZSTD_MAGIC))


def test_standard_input_is_read_once_and_is_the_same_at_each_call(monkeypatch):
    content._read_once.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(PLAIN))))
    assert [columns(open_data("-").table)["MBps"] for _ in range(2)] == [[1.5, 2]] * 2
    content._read_once.cache_clear()


def test_only_an_open_file_of_this_process_is_a_pipe(tmp_path):
    names = ("-", "/dev/stdin", "/dev/fd/63", "/proc/self/fd/3", "/dev/shm/t.csv", "/dev/fd/x", str(tmp_path / "-"))
    assert [content.is_pipe(name) for name in names] == [True] * 4 + [False] * 3
    with raises("unknown-format", InputError):
        open_data(write(tmp_path, "table", PLAIN))


def test_a_file_in_windows_western_encoding_is_read_and_says_so(tmp_path):
    source = open_data(write(tmp_path, "t.csv", "Größe;µs\nä;1\n".encode("cp1252")))
    assert columns(source.table) == {"Größe": ["ä"], "µs": [1]}
    (warning,) = source.table.warnings
    assert (warning.code, warning.values["line"]) == ("assumed-encoding", 1)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["99,8", "101", "-1,5e3"], [99.8, 101, -1500]),
        (["1.234,5", "2.000,0"], [1234.5, 2000]),
        (["0,125", "1,250"], [0.125, 1.25]),
        (["1234,567"], [1234.567]),
        (["99,8", None], [99.8, np.nan]),
        (["99,8 MB/s", "1.101,25 MB/s"], ["99.8 MB/s", "1101.25 MB/s"]),
        (["1,234", "2,500"], ["1,234", "2,500"]),  # thousands, or decimals
        (["99,8", "99.8"], ["99,8", "99.8"]),
        (["99,8", "a"], ["99,8", "a"]),
        (["1,2,3"], ["1,2,3"]),
        (["12,34,5", "1,5"], ["12,34,5", "1,5"]),
    ],
)
def test_decimal_commas_are_converted_where_they_can_be_nothing_else(cells, wanted):
    rows = [["x", "y"], *([cell or "NA", "1"] for cell in cells)]
    table = convert_decimal_commas(build_table_from_rows(RawRows("t", rows, list(range(1, len(rows) + 1)))))
    np.testing.assert_equal(table.columns["x"].values.tolist(), wanted)
    assert [one.code for one in table.warnings] == ([] if wanted == cells else ["decimal-commas"])


def test_a_cell_that_is_surely_decimal_decides_for_the_table():
    rows = [["x", "y"], ["1,234", "5"], ["2,000", "0,5"]]
    table = convert_decimal_commas(build_table_from_rows(RawRows("t", rows, [1, 2, 3])))
    assert columns(table) == {"x": [1.234, 2], "y": [5, 0.5]}
    assert table.warnings[0].values["columns"] == "x, y"


@pytest.mark.parametrize(
    ("text", "wanted", "codes", "lines"),
    [
        ("Results\n\nfs,n,y\na,1,2\n", {"fs": ["a"], "n": [1], "y": [2]}, ["title-skipped"], [4]),
        ("Results;;\nof Monday;;\nfs;n;y\na;1;2\n", {"fs": ["a"], "n": [1], "y": [2]}, ["title-skipped"], [4]),
        ("fs,y\n,MB/s\na,2\n", {"fs": ["a"], "y": [2]}, ["units-below-header"], [3]),
        ("fs,y,t\n-,[MiB/s],(ms)\na,2,3\n", {"fs": ["a"], "y": [2], "t": [3]}, ["units-below-header"], [3]),
        ("fs,y\na,2\nfs,y\nb,3\n", {"fs": ["a", "b"], "y": [2, 3]}, ["repeated-header"], [2, 4]),
        ("fs,y\nb,MB/s\na,2\n", {"fs": ["b", "a"], "y": ["MB/s", "2"]}, [], [2, 3]),
        ("fs\na\nb\n", {"fs": ["a", "b"]}, [], [2, 3]),
        ("x;y\n1,5;2,5\n2,5;3,5\n", {"x": [1.5, 2.5], "y": [2.5, 3.5]}, ["decimal-commas"], [2, 3]),
        ('x,y\n"1,5",2\n', {"x": [1.5], "y": [2]}, ["decimal-commas"], [2]),
        ("note, of two words;y\na;2\nb;3\n", {"note, of two words": ["a", "b"], "y": [2, 3]}, [], [2, 3]),
    ],
)
def test_titles_units_and_repeated_headers(tmp_path, text, wanted, codes, lines):
    table = open_data(write(tmp_path, "t.csv", text)).table
    assert (columns(table), [one.code for one in table.warnings], table.lines.tolist()) == (wanted, codes, lines)


def test_units_below_the_header_are_those_of_the_columns(tmp_path):
    table = open_data(write(tmp_path, "t.csv", "y,t (s),u\nMBps,ms,\n1,2,3\n")).table
    assert [(one.label, one.unit) for one in table.columns.values()] == [("y", "MB/s"), ("t", "s"), ("u", "")]


@pytest.mark.parametrize(
    ("rows", "n"),
    [
        ([["t"], ["a", "b"], ["1", "2"]], 1),
        ([["t"], ["1", "b"], ["1", "2"]], 0),  # what is below is no header
        ([["a", "b"], ["1", "2"]], 0),
        ([["a", ""], ["1", "2"]], 0),
        ([["a"], ["1"], ["2"]], 0),
        ([["t"], ["u", ""], ["a", "b"]], 2),
        ([["t"]], 0),
        ([], 0),
    ],
)
def test_titles_are_lines_of_one_cell_above_a_header(rows, n):
    assert count_titles(rows) == n


def test_a_spreadsheet_is_read_by_its_first_sheet_with_a_table(tmp_path):
    sheets = {"empty": [], "runs": [["fs", "y"], ["a", 1.5], ["b", 2]], "more": [["x"]]}
    path = write(tmp_path, "t.xlsx", workbook(sheets))
    table = open_data(path).table
    assert columns(table) == {"fs": ["a", "b"], "y": [1.5, 2]}
    (warning,) = table.warnings
    assert warning.code == "other-sheets" and warning.values["sheet"] == "runs" and not warning.values["other"]
    with raises("unreadable-file", DataError):
        open_data(write(tmp_path, "u.xlsx", b"PK\3\4 no workbook"))
    with raises("empty-file", DataError):
        open_data(write(tmp_path, "v.xlsx", workbook({"one": []})))


def test_the_sheet_with_the_table_is_read_and_another_one_by_its_name(tmp_path):
    notes, runs = [["author", "me"], ["year", 2026]], [["fs", "y"], *([["a", 1.5], ["b", 2.5]] * 4)]
    path = write(tmp_path, "t.xlsx", workbook({"notes": notes, "March": runs, "April 2": [*runs, ["c", 3.5]]}))
    table = open_data(path).table
    assert table.names == ["fs", "y"] and len(table) == 8
    assert table.warnings[0].values["sheet"] == "March" and "t.xlsx#April 2" in table.warnings[0]
    table = open_data(f"{path}#April 2").table
    assert len(table) == 9 and table.warnings == () and is_table(f"{path}#notes")
    with raises("unknown-sheet", DataError) as refused:
        open_data(f"{path}#May")
    assert "April 2" in refused.value.hint
    path = write(tmp_path, "u.xlsx", workbook({"notes": [["only words"]], "more": [["words"], ["again"]]}))
    with raises("no-rows", DataError):
        open_data(path)


def test_rows_without_a_cell_are_blank_lines(tmp_path):
    table = open_data(write(tmp_path, "t.csv", "fs,y\na,1\n,\nb,2\n,\nTotal,3\n,\nMean:,1.5\n")).table
    assert columns(table) == {"fs": ["a", "b"], "y": [1, 2]} and [w.code for w in table.warnings] == ["summary-rows"]


def test_a_workbook_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path, "t.xlsx", workbook({"runs": [["fs", "y"], *([["a", 1.5]] * 2000)]}))
    monkeypatch.setattr(content, "MAX_BYTES", 50_000)
    assert (tmp_path / "t.xlsx").stat().st_size < 50_000
    with raises("file-too-large", InputError):
        open_data(path)


def test_a_tools_file_is_a_store_of_its_own(tmp_path):
    path = write(tmp_path, "run.log", TIME)
    source, again = open_data(path), open_data(path)
    assert isinstance(source, StoredSource) and source.name == path
    assert [run.source for run in source.runs] == ["time"] and again.store.path == source.store.path
    assert not (tmp_path / "run.log.d").exists() and len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(importlib.util.find_spec("darshan") is not None, reason="pydarshan would read the log")
def test_a_tools_file_without_a_result_is_refused_with_the_cure(tmp_path):
    """A log of Darshan needs a package to be read; it is no table."""
    log = b"3.41" + bytes(4) + DARSHAN_MAGIC.to_bytes(8, "little") + bytes(300)
    with raises("no-result", InputError):
        open_data(write(tmp_path, "job.darshan", log))


def test_a_tools_text_without_a_result_is_refused_with_what_was_tried(tmp_path):
    banner = b"x\nsome words: MPI Coordinated Test of Parallel I/O, in a sentence\n"
    with raises("no-result", InputError, format="ior", line=2):
        open_data(write(tmp_path, "ior.txt", banner))


def test_a_text_of_no_tool_is_a_table_if_its_name_says_so(tmp_path):
    assert columns(open_data(write(tmp_path, "t.txt", PLAIN)).table)["MBps"] == [1.5, 2]
    with raises("unknown-format", InputError):
        open_data(write(tmp_path, "t.json", b"{}"))
    with raises("no-such-file", InputError):
        open_data(str(tmp_path / "nothing.json"))


def workbook(sheets: dict[str, list[list]]) -> bytes:
    """The bytes of an .xlsx with these sheets."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file.getvalue()


def test_a_full_directory_for_temporary_files_is_named(tmp_path, monkeypatch):
    def fail(*arguments):
        raise SystemFaultError("io-error", "full")

    monkeypatch.setattr(temporary_stores, "_stores", {})
    monkeypatch.setattr(temporary_stores.Store, "append_many", fail)
    with raises("io-error", SystemFaultError) as caught:
        open_data(write(tmp_path, "time.txt", TIME))
    assert "TMPDIR" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "code", "n_rows"),
    [
        ("fs,MBps\na,1\nb,2\nAverage,1.5\nTotal:,3\n", "summary-rows", 2),
        ("fs,MBps\nmean,1\nb,2\n", None, 2),  # a level of that name among the others
        ("fs,run,MBps\na,1,1\na,2,2\na,mean,1.5\na,Std. Dev.,1\nb,1,2\nb,2,3\nb,mean,2\nb,max,3\n", "summary-rows", 4),
        ("fs,n,MBps\na,1,1\na,2,2\nMean,,1.5\nb,1,2\nb,2,3\n", "summary-rows", 4),
        ("stat,n,MBps\nmean,1,1\np99,1,2\nmean,2,3\np99,2,4\n", None, 4),  # two statistics of each setting
        ("n,MBps\n1,1\n8,2\nmax,3\n", None, 3),
        ("Results, of May\nfs,n,MBps\na,1,1\nb,2,2\n", "title-skipped", 2),
        ("fs,size,MBps\n,B,MB/s\na,4096,1\nb,512,2\n", "units-below-header", 2),
    ],
)
def test_what_spreadsheets_add_to_rows_is_left_out_with_a_warning(tmp_path, text, code, n_rows):
    table = open_data(write(tmp_path, "t.csv", text)).table
    assert len(table) == n_rows and table.column("MBps").numeric
    assert codes(table.warnings) == ([code] if code else [])


MERGED = "fs,n,run,MBps\na,1,1,1\n,,2,2\n{0}a,8,1,3\n,,2,4\n{0}b,1,1,5\n,,2,6\n{0}b,8,1,7\n,,2,8\n"


@pytest.mark.parametrize("between", ["", ",,mean,1.5\n,,stdev,0.7\n", "average,,,1.5\n"])
def test_all_keys_of_a_block_may_stand_in_its_first_row_only(tmp_path, between):
    table = open_data(write(tmp_path, "t.csv", MERGED.format(between))).table
    assert columns(table) == {
        "fs": [*"aaaabbbb"],
        "n": [1, 1, 8, 8, 1, 1, 8, 8],
        "run": [1, 2] * 4,
        "MBps": [1, 2, 3, 4, 5, 6, 7, 8],
    }
    assert codes(table.warnings) == ["merged-cells", *(["summary-rows"] if between else [])]


@pytest.mark.parametrize(
    "text",
    [
        "fs,n,MBps\na,1,1\n,,2\na,1,3\n,,4\n",  # a block twice: which rows belong together is unknown
        "fs,n,MBps\n,,2\na,1,1\nb,1,3\n,,4\n",
    ],
)
def test_blank_keys_that_may_not_belong_to_those_above_stay_blank(tmp_path, text):
    assert "merged-cells" not in codes(open_data(write(tmp_path, "t.csv", text)).table.warnings)


def test_a_mean_above_merged_trials_leaves_them_their_settings(tmp_path):
    text = "fs,run,MBps\na,mean,1.5\n,1,1\n,2,2\nb,mean,2.5\n,1,2\n,2,3\n"
    table = open_data(write(tmp_path, "t.csv", text)).table
    assert columns(table) == {"fs": ["a", "a", "b", "b"], "run": [1, 2, 1, 2], "MBps": [1, 2, 2, 3]}
    assert codes(table.warnings) == ["merged-cells", "summary-rows"]


@pytest.mark.parametrize(
    ("name", "cells", "values"),
    [
        ("elapsed", ["0:00.023", "1:02.5"], [0.023, 62.5]),
        ("time", ["0:00,023", "1:02,5"], [0.023, 62.5]),
        ("runtime", ["0:12", "1:00:05"], [12, 3605]),
        ("start", ["10:30", "10:31"], None),  # a time of day
        ("started", ["10:30:05.123", "10:31:00.2"], None),
    ],
)
def test_durations_as_clocks_show_them_are_seconds(tmp_path, name, cells, values):
    rows = "".join(f"{size};{cell}\n" for size, cell in zip(("4k", "8k"), cells, strict=True))
    column = open_data(write(tmp_path, "t.csv", f"size;{name}\n{rows}")).table.column(name)
    assert (column.values.tolist(), column.unit) == ((values, "s") if values else (cells, ""))


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1190", "1,225", "1210"], [1190, 1225, 1210]),
        (["1.19", "1,225", "1.21"], [1.19, 1.225, 1.21]),
        (["1190", "1,225", "1.21"], None),  # either may be meant
        (["1190", "1,225"], None),  # one number shows no magnitude
        (["50", "1,225", "60"], None),
    ],
)
def test_a_comma_is_read_where_the_other_numbers_decide_it(tmp_path, cells, values):
    rows = "".join(f"a;{cell}\n" for cell in cells)
    source = open_data(write(tmp_path, "t.csv", f"fs;IOPS\n{rows}"))
    if values:
        assert source.table.numbers("IOPS").tolist() == values and "likely-comma" in codes(source.table.warnings)
        return
    with raises("not-a-number", DataError, column="IOPS", cell="1,225") as caught:
        source.table.numbers("IOPS")
    assert "1225" in caught.value.hint and "1.225" in caught.value.hint
