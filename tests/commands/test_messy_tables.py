"""Tables as people have them are read in one command: what each column is, its unit, and its values."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import openpyxl
import pytest
import zstandard
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.errors import DataError
from iosonde.data.source import open_data
from iosonde.tables import content as data_content
from messages import raises

SIZES = ("4k", "1M")
VALUES = [1099.8, 1101.2, 1100.4, 910.1, 911.0, 909.7, 1200.5, 1201.5, 1202.5, 805.5, 806.5, 807.25]
SETTINGS = [("nfs" if row % 6 < 3 else "ceph", SIZES[row // 6]) for row in range(12)]


def lines_of(header: str, cells: list[str], delimiter: str = ",") -> str:
    rows = [delimiter.join((fs, size, cell)) for (fs, size), cell in zip(SETTINGS, cells, strict=True)]
    return "\n".join([header, *rows]) + "\n"


def with_commas(thousands: str = "") -> list[str]:
    return [f"{value:,.2f}".translate({ord(","): thousands, ord("."): ","}) for value in VALUES]


PLAIN = lines_of("fs,size,bandwidth [MB/s]", [str(value) for value in VALUES])
GERMAN = lines_of("fs;size;Bandbreite [MB/s]", with_commas(), ";")
CELLS = [f"{value:g} MB/s" if row % 2 else f"{value / 1000:.7g} GB/s" for row, value in enumerate(VALUES)]
MEGA = 1e6

MESSY = {
    "units in cells": ("t.csv", lines_of("fs,size,bandwidth", CELLS).encode(), "bandwidth", "bytes/s", MEGA),
    "decimal commas": ("t.csv", GERMAN.encode(), "Bandbreite [MB/s]", "MB/s", 1),
    "thousands": (
        "t.csv",
        lines_of("fs;size;Bandbreite [MB/s]", with_commas("."), ";").encode(),
        "Bandbreite [MB/s]",
        "MB/s",
        1,
    ),
    "title line": ("t.csv", ("Ergebnisse vom Montag;;\n" + GERMAN).encode(), "Bandbreite [MB/s]", "MB/s", 1),
    "second header": (
        "t.csv",
        PLAIN.replace("bandwidth [MB/s]\n", "bandwidth\n,,MB/s\n").encode(),
        "bandwidth",
        "MB/s",
        1,
    ),
    "repeated header": (
        "t.csv",
        (PLAIN + PLAIN.partition("\n")[0] + "\n").encode(),
        "bandwidth [MB/s]",
        "MB/s",
        1,
    ),
    "cp1252": (
        "t.csv",
        GERMAN.replace("Bandbreite", "Übertragung").encode("cp1252"),
        "Übertragung [MB/s]",
        "MB/s",
        1,
    ),
    "utf-16": ("t.csv", GERMAN.encode("utf-16"), "Bandbreite [MB/s]", "MB/s", 1),
    "gzip": ("t.csv.gz", gzip.compress(PLAIN.encode()), "bandwidth [MB/s]", "MB/s", 1),
    "zstd": ("t.csv.zst", zstandard.compress(PLAIN.encode()), "bandwidth [MB/s]", "MB/s", 1),
    "standard input": ("-", PLAIN.encode(), "bandwidth [MB/s]", "MB/s", 1),
}


ROWS = [line.split(",") for line in PLAIN.replace("bandwidth [MB/s]", "MB/s").splitlines()]
RULE = "+".join(["", *["-" * 12] * 3, ""])


def draw(head: str, row: str, rule: str = "", end: str = "") -> bytes:
    """The table with lines around it: ``head`` is above the rows, ``rule`` between two."""
    header, *lines = [row.format(*cells) for cells in ROWS]
    between = f"\n{rule}\n" if rule else "\n"
    return "\n".join([rule, header, head, between.join(lines), end]).encode()


MESSY |= {
    f"drawn: {style}": (name, content, "MB/s", "MB/s", 1)
    for style, (name, content) in {
        "Markdown": ("t.md", b"# Results\n\nas of Monday, and later\n\n" + draw("|---|:-:|--:|", "| {} | {} | {} |")),
        "psql": ("t.txt", draw("-----+----+------", " {:9} | {:4} | {:9}", end="(12 rows)")),
        "grid": ("t.rst", draw(RULE.replace("-", "="), "|{:12}|{:>12}| {:10} |", RULE, RULE)),
        "reStructuredText": ("t.rst", draw("==== ==== =====", "{:4} {:4} {}")),
        "aligned": ("t.txt", b"Results of March\n\n" + draw("", "{:8}  {:>8}   {:>12}")),
        "blanks": ("t.dat", draw("", "{} {} {}").replace(b"fs", b"# more\n# fs", 1)),
    }.items()
}
MESSY["title with delimiters"] = ("t.csv", f"Cluster A, B, C, D\n{PLAIN}".encode(), "bandwidth [MB/s]", "MB/s", 1)
MESSY["mean below"] = ("t.csv", f"{PLAIN},,\nAverage,,408\n".encode(), "bandwidth [MB/s]", "MB/s", 1)
MESSY["unit in words"] = ("t.csv", GERMAN.replace(" [MB/s]", " in MB/s").encode(), "Bandbreite in MB/s", "MB/s", 1)


def workbook() -> bytes:
    """An .xlsx with a title, and its table on the second sheet."""
    book, content = openpyxl.Workbook(), io.BytesIO()
    sheet = book.create_sheet("runs")
    sheet.append(["Ergebnisse vom Montag"])
    sheet.append(["fs", "size", "bandwidth [MB/s]"])
    for (fs, size), value in zip(SETTINGS, VALUES, strict=True):
        sheet.append([fs, size, value])
    book.save(content)
    return content.getvalue()


MESSY["workbook"] = ("t.xlsx", workbook(), "bandwidth [MB/s]", "MB/s", 1)


@pytest.fixture(autouse=True)
def unread_input():
    """Standard input is read once by a process; here each test is one."""
    data_content._read_once.cache_clear()
    yield
    data_content._read_once.cache_clear()


@pytest.mark.parametrize("messy", MESSY)
def test_it_is_read_in_one_command(messy, tmp_path: Path):
    name, content, response, unit, factor = MESSY[messy]
    path = name if name == "-" else str(tmp_path / name)
    if name != "-":
        Path(path).write_bytes(content)
    given = content if name == "-" else None
    result = CliRunner().invoke(cli, ["show", path, "--json"], input=given)
    assert result.exit_code == 0, result.output
    columns = {column["name"]: column for column in json.loads(result.stdout)["profile"]["columns"]}
    assert {name: column["role"] for name, column in columns.items()} == {
        response: "response",
        "fs": "setting",
        "size": "setting",
    }
    assert (columns[response]["unit"], columns["size"]["unit"], columns["size"]["scale"]) == (unit, "bytes", "log")
    assert (columns[response]["n"], columns[response]["missing"]) == (12, 0)
    if name != "-":
        assert open_data(path).table.numbers(response).tolist() == pytest.approx([factor * value for value in VALUES])
    summary = CliRunner().invoke(cli, ["summary", path, "--json"], input=given)
    cells = {tuple(group["by"].values()): group["mean"] for group in json.loads(summary.stdout)["groups"]}
    assert len(cells) == 4 and cells["nfs", "4k"] == pytest.approx(factor * sum(VALUES[:3]) / 3)


def test_a_row_that_is_too_short_between_blanks_is_refused_with_its_line(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("fs clients rate\na 1 2.5\na 4\nb 1 2.7\n")
    with raises("wrong-cell-count", DataError) as refused:
        open_data(str(path))
    assert "line 3" in str(refused.value.message) and "NA" in refused.value.hint


@pytest.mark.parametrize(
    ("header", "rows"),
    [("my fs, size, rate", "nfs v4, 4k, 1.5"), ("fs;rate MB/s", "a b;1,5"), ("A title here\nfs,rate", "a b,1.5")],
)
def test_blanks_inside_cells_separate_nothing(tmp_path, header, rows):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([header, *[rows] * 4]) + "\n")
    table = open_data(str(path)).table
    assert len(table) == 4 and "separated-by-blanks" not in [warning.code for warning in table.warnings]


@pytest.mark.parametrize(
    ("cells", "line", "code"),
    [
        (["99.8 MB/s", "109.1"], 3, "unit-mismatch"),
        (["99.8 MB/s", "12 ms"], 3, "unit-mismatch"),
        (["98", "about 100", "97"], 3, "not-a-number"),
        (["98", "about 100"], 3, "not-a-number"),
    ],
)
def test_what_cannot_be_read_is_refused_with_row_column_and_cure(tmp_path, cells, line, code):
    path = tmp_path / "t.csv"
    path.write_text(
        "fs;clients;bandwidth\n" + "".join(f"{'ab'[i % 2]};{i % 3};{cells[i % len(cells)]}\n" for i in range(6))
    )
    with raises(code, DataError) as refused:
        CliRunner().invoke(cli, ["summary", str(path)], catch_exceptions=False)
    assert f"line {line}" in str(refused.value.message) and "bandwidth" in str(refused.value.message)
    assert refused.value.hint
