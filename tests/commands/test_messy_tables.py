"""Tables as people have them are read in one command: what each column is, its unit, and its values."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import openpyxl
import pytest
import zstandard
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.core.errors import DataError, InputError
from iosonde.data.source import open_data
from iosonde.tables import content as data_content
from messages import has_message, raises

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
    "apostrophes": (
        "t.csv",
        lines_of("fs;size;Durchsatz (MB/s)", [f"{value:,.2f}".replace(",", "'") for value in VALUES], ";").encode(),
        "Durchsatz (MB/s)",
        "MB/s",
        1,
    ),
    "octets": (
        "t.csv",
        lines_of("fs;size;Débit (Mo/s)", with_commas("\u202f"), ";").encode(),
        "Débit (Mo/s)",
        "MB/s",
        1,
    ),
    "rounded": (
        "t.csv",
        lines_of("fs,size,MB/s", [f"{'~' if row == 2 else ''}{value}" for row, value in enumerate(VALUES)]).encode(),
        "MB/s",
        "MB/s",
        1,
    ),
    "hours": (
        "t.csv",
        lines_of("fs,size,time", [f"00:{value // 60:02.0f}:{value % 60:05.2f}" for value in VALUES]).encode(),
        "time",
        "s",
        1,
    ),
    "files one after another": (
        "t.csv",
        PLAIN.replace("\n", ",\n").replace("ceph,1M", "fs,size,bandwidth [MB/s],\nceph,1M", 1).encode(),
        "bandwidth [MB/s]",
        "MB/s",
        1,
    ),
    "standard input": ("-", PLAIN.encode(), "bandwidth [MB/s]", "MB/s", 1),
}


ROWS = [line.split(",") for line in PLAIN.replace("bandwidth [MB/s]", "MB/s").splitlines()]
WIKI_ROW = '|-\n| {} || align="right" | {}\n| {}'
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
WIKI = "\n".join(
    ["{| class=wikitable", "|+ Results", "! fs !! size", "! MB/s", *[WIKI_ROW.format(*row) for row in ROWS[1:]], "|}"]
)
MESSY["drawn: MediaWiki"] = ("t.txt", WIKI.encode(), "MB/s", "MB/s", 1)
JIRA = "\n".join(["||fs||size||MB/s||", *("|{}|{}|{}|".format(*row) for row in ROWS[1:])])
MESSY["drawn: Jira"] = ("t.txt", JIRA.encode(), "MB/s", "MB/s", 1)
MAIL = "\n".join(["On Monday Bob wrote:", "", *("> {}  {}  {}".format(*row) for row in ROWS), "", "Thanks."])
MESSY["quoted in a mail"] = ("t.txt", MAIL.encode(), "MB/s", "MB/s", 1)
KEYED = "\n".join("fs={} size={} bw={}MB/s".format(*row) for row in ROWS[1:])
MESSY["keys in each row"] = ("t.txt", KEYED.encode(), "bw", "bytes/s", MEGA)
MESSY["title with delimiters"] = ("t.csv", f"Cluster A, B, C, D\n{PLAIN}".encode(), "bandwidth [MB/s]", "MB/s", 1)
MESSY["mean below"] = ("t.csv", f"{PLAIN},,\nAverage,,408\n".encode(), "bandwidth [MB/s]", "MB/s", 1)
MESSY["unit in words"] = ("t.csv", GERMAN.replace(" [MB/s]", " in MB/s").encode(), "Bandbreite in MB/s", "MB/s", 1)


RECORDS = [{"fs": fs, "size": size, "MB/s": value} for (fs, size), value in zip(SETTINGS, VALUES, strict=True)]
FRAME = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
FRAMED = {name: dict(enumerate(cells)) for name, cells in FRAME.items()}


def zipped(name: str, text: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("results/", "")
        archive.writestr(f"results/{name}", text)
    return content.getvalue()


def pivot(form: str) -> bytes:
    """The sizes in columns, each trial of a file system a row."""
    rows = [
        (fs, VALUES[at], VALUES[at + 6]) for fs, first in (("nfs", 0), ("ceph", 3)) for at in range(first, first + 3)
    ]
    header = ",".join(["fs", *(form.format(size) for size in SIZES)])
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]).encode()


SPREADS = [f"{value} ± 2.9" if row % 2 else f"{value} +/- 3" for row, value in enumerate(VALUES)]
THOUSANDS = [f'"{value:,.2f}"' for value in VALUES]
SIZE_FIRST = [",".join((line.split(",")[at]) for at in (1, 0, 2)) for line in PLAIN.splitlines()]
SIZE_FIRST = [SIZE_FIRST[0]] + [
    ",".join((cells[0] if at % 6 == 0 else "", cells[1] if at % 3 == 0 else "", cells[2]))
    for at, cells in enumerate(line.split(",") for line in SIZE_FIRST[1:])
]
MESSY |= {
    "records": ("t.json", json.dumps(RECORDS).encode(), "MB/s", "MB/s", 1),
    "columns": ("t.json", json.dumps(FRAME).encode(), "MB/s", "MB/s", 1),
    "pandas": ("t.json", json.dumps(FRAMED).encode(), "MB/s", "MB/s", 1),
    "records in lines": ("t.jsonl", "\n".join(map(json.dumps, RECORDS)).encode(), "MB/s", "MB/s", 1),
    "piped records": ("-", json.dumps(RECORDS).encode(), "MB/s", "MB/s", 1),
    "zip": ("t.zip", zipped("t.csv", PLAIN), "bandwidth [MB/s]", "MB/s", 1),
    "spreads": ("t.csv", lines_of("fs,size,MB/s", SPREADS).encode(), "MB/s", "MB/s", 1),
    "grouped": ("t.csv", lines_of("fs,size,MB/s", THOUSANDS).encode(), "MB/s", "MB/s", 1),
    "prefixes": ("t.csv", lines_of("fs,size,iops", [f"{value}k" for value in VALUES]).encode(), "iops", "iops", 1000),
    "times": ("t.csv", lines_of("fs,size,p99", [f"{value} ms" for value in VALUES]).encode(), "p99", "s", 1e-3),
    "merged downwards": ("t.csv", "\n".join(SIZE_FIRST).encode(), "bandwidth [MB/s]", "MB/s", 1),
}


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
    cells = {frozenset(group["by"].values()): group["mean"] for group in json.loads(summary.stdout)["groups"]}
    assert len(cells) == 4 and cells[frozenset(("nfs", "4k"))] == pytest.approx(factor * sum(VALUES[:3]) / 3)


def profile(tmp_path: Path, text: str, *options: str, name: str = "t.csv") -> dict:
    (tmp_path / name).write_text(text)
    result = CliRunner().invoke(cli, ["show", str(tmp_path / name), "--json", *options])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["profile"]


def roles_of(profile: dict) -> dict[str, str]:
    return {column["name"]: column["role"] for column in profile["columns"]}


@pytest.mark.parametrize(
    ("form", "factor", "unit"), [("x={}", "x", "bytes"), ("{}", "level", "bytes"), ("size={}", "size", "bytes")]
)
def test_levels_in_columns_are_rows_unless_a_role_keeps_the_columns(tmp_path, form, factor, unit):
    text = pivot(form).decode()
    columns = {column["name"]: column for column in profile(tmp_path, text)["columns"]}
    assert {name: column["role"] for name, column in columns.items()} == {
        "value": "response",
        "fs": "setting",
        factor: "setting",
    }
    assert (columns[factor]["unit"], columns["value"]["n"]) == (unit, 12)
    kept = roles_of(profile(tmp_path, text, "--roles", f"{form.format('4k')}=response"))
    assert kept == {form.format("4k"): "response", "fs": "setting", form.format("1M"): "outcome"}


def test_counted_levels_are_named_by_their_word(tmp_path):
    text = "fs,1 client,4 clients\n" + "".join(f"{'ab'[i % 2]},{100 + i}.5,{200 + i}.25\n" for i in range(8))
    assert roles_of(profile(tmp_path, text)) == {"value": "response", "fs": "setting", "clients": "setting"}
    percentiles = text.replace("1 client,", "50 percentile,").replace("4 clients", "99 percentile")
    assert set(roles_of(profile(tmp_path, percentiles))) == {"fs", "50 percentile", "99 percentile"}


def test_rows_without_a_header_lose_no_trial(tmp_path):
    text = PLAIN.partition("\n")[2]
    assert roles_of(profile(tmp_path, text)) == {"column3": "response", "column1": "setting", "column2": "setting"}
    table = open_data(str(tmp_path / "t.csv")).table
    assert len(table) == 12 and "no-header" in [warning.code for warning in table.warnings]
    assert table.lines is not None and table.lines[0] == 1


def test_failed_trials_are_counted_and_have_no_value(tmp_path):
    cells = ["timeout" if row == 2 else "failed" if row == 7 else str(value) for row, value in enumerate(VALUES)]
    columns = profile(tmp_path, lines_of("fs,size,MB/s", cells))["columns"]
    assert [(column["n"], column["missing"]) for column in columns if column["name"] == "MB/s"] == [(10, 2)]
    (warning, *_) = open_data(str(tmp_path / "t.csv")).table.warnings
    assert warning.code == "failed-trials" and str(warning).startswith("2 of 12 trials have no MB/s (timeout, failed)")


@pytest.mark.parametrize("form", ["{day:02d}.03.2026 10:0{row}", "3/{day}/2026 1:0{row} PM", "2026/03/{day:02d}"])
def test_dates_are_an_order_in_time(tmp_path, form):
    rows = [f"{form.format(day=1 + row, row=row % 6)};{'ab'[row % 2]};{100 + row}.5\n" for row in range(12)]
    assert roles_of(profile(tmp_path, "when;fs;MB/s\n" + "".join(rows)))["when"] == "order"


def test_hosts_in_every_setting_are_facts_and_a_utilization_is_measured(tmp_path):
    rows = [f"n{row % 3},{'ab'[row // 9]},{100 + row}.5,{(37 * row) % 89}.3\n" for row in range(18)]
    table = "host,fs,bandwidth,cpu_percent\n"
    expected = {"bandwidth": "response", "host": "fact", "fs": "setting", "cpu_percent": "outcome"}
    assert roles_of(profile(tmp_path, table + "".join(rows))) == expected
    nested = [f"n{row // 9}{row % 3}" + line[2:] for row, line in enumerate(rows)]
    assert roles_of(profile(tmp_path, table + "".join(nested)))["host"] == "setting"


def test_blanks_of_flags_are_not_filled(tmp_path):
    text = "cache,fs,bw\n" + "".join(f"{'on' if row % 3 == 0 else ''},a,{row}.5\n" for row in range(9))
    profile(tmp_path, text)
    assert open_data(str(tmp_path / "t.csv")).table.columns["cache"].missing.sum() == 6


def test_a_zip_of_several_tables_and_a_json_without_one_are_refused(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.csv", PLAIN)
        archive.writestr("b.csv", PLAIN)
    (tmp_path / "t.zip").write_bytes(content.getvalue())
    with raises("not-one-table", InputError, names="a.csv, b.csv"):
        open_data(str(tmp_path / "t.zip"))
    (tmp_path / "t.json").write_text('{"a": [1, 2], "b": [1]}')
    with raises("unknown-format", InputError):
        open_data(str(tmp_path / "t.json"))
    (tmp_path / "t.json").write_text('[{"a": 1')
    with raises("unreadable-file", DataError):
        open_data(str(tmp_path / "t.json"))


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


@pytest.mark.parametrize(("mark", "warned"), [("0", True), ("9999", True), ("1300.5", False), ("0.5", False)])
def test_marks_of_failed_trials_are_named_and_kept(tmp_path, mark, warned):
    cells = [mark if row in (3, 7) else str(value) for row, value in enumerate(VALUES)]
    (tmp_path / "t.csv").write_text(lines_of("fs,size,MB/s", cells))
    table = open_data(str(tmp_path / "t.csv")).table
    assert ("possible-mark" in {warning.code for warning in table.warnings}) == warned
    assert table.numbers("MB/s").tolist().count(float(mark)) == 2


def test_ordered_times_of_a_day_are_no_durations(tmp_path):
    rows = [f"nfs,{size},10:0{minute}:00.5,{100 + minute}" for minute, size in enumerate((1, 2, 1, 2))]
    (tmp_path / "t.csv").write_text("\n".join(["fs,size,time,MB/s", *rows]) + "\n")
    assert not open_data(str(tmp_path / "t.csv")).table.columns["time"].numeric


def test_numbers_of_operations_with_three_digits_after_each_comma_are_grouped(tmp_path):
    (tmp_path / "t.csv").write_text('fs,"iops"\nnfs,"9,972"\nnfs,"10,367"\nceph,"9,468"\n')
    assert open_data(str(tmp_path / "t.csv")).table.numbers("iops").tolist() == [9972, 10367, 9468]


def test_german_statistics_below_a_block_are_no_trials(tmp_path):
    rows = [f"{fs};{row};{mean + row}" for fs, mean in (("nfs", 100), ("ceph", 200)) for row in (1, 2, 3)]
    rows[3:3] = [";Mittelwert;102", ";StdAbw;1"]
    (tmp_path / "t.csv").write_text("\n".join(["fs;Lauf;MB/s", *rows, ";Mittelwert;202", ";StdAbw;1"]) + "\n")
    assert len(open_data(str(tmp_path / "t.csv")).table) == 6


@pytest.mark.parametrize("words", [("median", "std dev", "95% CI", "p95"), ("Mittelwert", "max", "Spannweite")])
def test_rows_of_any_statistic_beside_a_mean_are_no_levels(tmp_path, words):
    rows = [f"{fs},{trial},{100.5 + at}" for fs in ("nfs", "ceph") for at, trial in enumerate((1, 2, 3, *words))]
    (tmp_path / "t.csv").write_text("\n".join(["fs,Messung,MB/s", *rows]) + "\n")
    assert len(open_data(str(tmp_path / "t.csv")).table) == 6
    assert roles_of(profile(tmp_path, (tmp_path / "t.csv").read_text()))["Messung"] == "repetition"


@pytest.mark.parametrize(
    ("name", "trials", "words", "n"),
    [
        ("run", (1, 2, 3), ("max", "min"), 6),
        ("Lauf", (1, 2), ("Ø", "σ", "Varianz", "Std.Abw.", "rel. error", "p99"), 4),
        ("trial", (1, 2, 3), ("geomean",), 6),
        ("#", (1, 2, 3), ("MAX", "MIN"), 6),
        ("Lauf", (1, 2, 3), ("Mittelw.", "Std.-Abw."), 6),
        ("run", (1, 2), ("warmup",), 4),
        ("clients", (1, 2, 4), ("max",), 8),  # a level
        ("clients", (1, 2, 3), ("two",), 8),
        ("run", (), ("max", "min"), 4),  # no trials
    ],
)
def test_rows_of_statistics_by_other_words_are_no_trials(tmp_path, name, trials, words, n):
    rows = [f"{fs},{trial},{100.5 + at}" for fs in ("nfs", "ceph") for at, trial in enumerate((*trials, *words))]
    (tmp_path / "t.csv").write_text("\n".join([f"fs,{name},MB/s", *rows]) + "\n")
    table = open_data(str(tmp_path / "t.csv")).table
    assert len(table) == n
    assert ("summary-rows" in {warning.code for warning in table.warnings}) == (n < 2 * len((*trials, *words)))


@pytest.mark.parametrize(
    ("name", "bad", "good", "n"),
    [
        ("status", "FAIL", "ok", 10),
        ("success", "false", "true", 10),
        ("status", "degraded", "ok", 12),  # a setting
        ("volume", "failed", "ok", 12),
        ("status", "ok", "failed", 12),  # most of them
        ("status", "1", "0", 10),
        ("status", "500", "200", 12),
        ("rc", "1", "0", 10),
        ("exit_code", "137", "0", 10),
        ("exit status", "2", "0", 10),
        ("code", "2", "0", 12),  # may be anything
        ("timeout", "30", "0", 12),  # a setting
        ("ok", "no", "yes", 10),
        ("ok", "0", "1", 10),
        ("valid", "0", "1", 10),
        ("error", "EIO", "", 10),
        ("error", "Input/output error", "none", 10),
        ("error", "true", "false", 10),
        ("error", "2.5", "1.5", 12),  # a spread
        ("error [MB/s]", "2", "0", 12),
        ("std error", "2", "0", 12),
        ("failed", "1", "0", 10),
        ("Ergebnis", "Fehler", "ok", 10),
        ("Bemerkung", "abgebrochen", "", 10),
        ("note", "network was slow", "", 12),
        ("Ergebnis", "ungültig", "gültig", 10),
    ],
)
def test_rows_that_a_status_calls_failed_are_left_out_and_counted(tmp_path, name, bad, good, n):
    cells = [f"{'0' if row in (3, 7) else value},{bad if row in (3, 7) else good}" for row, value in enumerate(VALUES)]
    (tmp_path / "t.csv").write_text(lines_of(f"fs,size,MB/s,{name}", cells))
    table = open_data(str(tmp_path / "t.csv")).table
    assert len(table) == n
    assert [warning.values["n"] for warning in table.warnings if warning.code == "failed-rows"] == [2] * (n < 12)
    if n < 12:
        assert roles_of(profile(tmp_path, (tmp_path / "t.csv").read_text()))[name] == "fact"


def test_levels_in_columns_with_a_unit_in_brackets_are_rows(tmp_path):
    text = "fs,1 client (MB/s),4 clients (MB/s)\n" + "".join(
        f"{'ab'[i % 2]},{100 + i}.5,{200 + i}.25\n" for i in range(8)
    )
    columns = {column["name"]: column for column in profile(tmp_path, text)["columns"]}
    assert set(columns) == {"value", "fs", "clients"}
    assert columns["value"]["unit"] == "MB/s"


@pytest.mark.parametrize(
    "cells",
    [
        ["2m24.407s", "2m32.087s", "2m18.9s", "2m26.031s"],
        ["0h24m04.1s", "0h25m20.9s", "0h23m09.0s", "0h24m20.3s"],
        ["99.7 MB/sec", "94.7 MB/sec", "103.7 MB/sec", "98.6 MB/sec"],
    ],
)
def test_durations_and_rates_as_shells_and_tools_print_them_are_measured(tmp_path, cells):
    rows = "".join(f"nfs,{1 + row // 2},{cell}\n" for row, cell in enumerate(cells))
    assert roles_of(profile(tmp_path, f"fs,clients,result\n{rows}"))["result"] == "response"


@pytest.mark.parametrize(
    "cell", ["{} bytes copied, 10.7 s, 100 MB/s", "{}x", "{}:{}/s", "ca. {} MB/s", "bw={},iops={}", "${}"]
)
def test_a_setting_is_not_taken_for_what_was_measured_because_that_is_text(tmp_path, cell):
    rows = "".join(f'nfs,{1 + row // 3},"{cell.format(100 + row, row)}"\n' for row in range(9))
    (tmp_path / "t.csv").write_text(f"fs,clients,result\n{rows}")
    with raises("unreadable-values", InputError, column="result"):
        iosonde.summary(str(tmp_path / "t.csv"))


@pytest.mark.parametrize(
    ("name", "cells", "role"),
    [
        ("cpu_util", [21, 22, 23], "outcome"),
        ("CPU %", ["21%", "24%", "36 %"], "outcome"),
        ("mem_used", [1.5, 1.7, 1.6], "outcome"),
        ("CPU-Auslastung (%)", [21, 24, 36], "outcome"),
        ("load", [0.61 + row * 7 % 12 / 10 for row in range(12)], "covariate"),
        ("temp_c", [41, 42, 43], "covariate"),
        ("background_load", [0.61 + row * 7 % 12 / 10 for row in range(12)], "covariate"),
        ("load", [0, 50, 100], "setting"),
        ("cpus", [1, 2, 4], "setting"),
        ("cpu_limit", [1, 2, 4], "setting"),
        ("mem_gb", [16, 32, 64], "setting"),
        ("disk_used", ["10%", "50%", "90%"], "setting"),
        ("fill", [f"{10 * row}%" for row in range(10)], "setting"),
        ("of max", [f"{97 - 7 * row}%" for row in range(12)], "outcome"),
        ("errors", [0, 0, 0, 0, 3], "outcome"),
        ("diff", ["+8.6%", "-0.5%"], "outcome"),
        ("client", [0, 1, 2], "part"),
        ("client", [1, 2, 4], "setting"),
        ("time", [f"10:{row:02}" for row in range(12)], "order"),
        ("mix", ["10:30", "20:10"], "setting"),
        ("run", ["(1)", "(2)", "(3)"], "repetition"),
        ("run", ["run 1", "run 2", "run 3"], "repetition"),
        ("run", ["a 1", "b 2", "c 3"], "setting"),
    ],
)
def test_loads_that_nobody_set_are_no_settings(tmp_path, name, cells, role):
    values = [f"{value},{cells[row % len(cells)]}" for row, value in enumerate(VALUES)]
    columns = roles_of(profile(tmp_path, lines_of(f"fs,size,MB/s,{name}", values)))
    assert columns == {"MB/s": "response", "fs": "setting", "size": "setting", name: role}


def test_a_load_may_be_what_was_measured(tmp_path):
    table = lines_of("fs,size,cpu_util", list(map(str, VALUES)))
    assert roles_of(profile(tmp_path, table))["cpu_util"] == "response"


def test_errors_of_a_spreadsheet_are_missing_and_spoil_no_decimal_comma(tmp_path):
    cells = [{2: "#NV", 7: "#DIV/0!", 8: "–"}.get(row, cell) for row, cell in enumerate(with_commas())]
    rows = lines_of("fs;size;MB/s", cells, ";").splitlines()
    text = "\n".join(
        [f"{rows[0]};ratio", *(f"{row};{'#WERT!' if at == 3 else '1,5'}" for at, row in enumerate(rows[1:]))]
    )
    columns = {column["name"]: column for column in profile(tmp_path, text)["columns"]}
    assert (columns["MB/s"]["n"], columns["MB/s"]["missing"], columns["MB/s"]["role"]) == (9, 3, "response")
    warnings = open_data(str(tmp_path / "t.csv")).table.warnings
    assert has_message(warnings, "missing-cells", n=4, columns="MB/s, ratio")


@pytest.mark.parametrize("name", ["bw", "write_throughput", "Bandbreite", "iops"])
def test_decimal_prefixes_of_rates_are_numbers(tmp_path, name):
    cells = [f"{value / 1000:.6g}G" if value > 1000 else f"{value}M" for value in VALUES]
    profile(tmp_path, lines_of(f"fs,size,{name}", cells))
    table = open_data(str(tmp_path / "t.csv")).table
    assert table.numbers(name).tolist() == pytest.approx([value * MEGA for value in VALUES])


def test_the_bandwidth_of_a_link_is_a_setting(tmp_path):
    values = [f"{value},{('10G', '25G')[row % 2]}" for row, value in enumerate(VALUES)]
    lines = lines_of("fs,size,MB/s,net_bw", values)
    assert roles_of(profile(tmp_path, lines))["net_bw"] == "setting"
    assert set(open_data(str(tmp_path / "t.csv")).table.columns["net_bw"].values) == {"10G", "25G"}


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("MB/s", [(1 + row // 3, f">{100 + row // 3}") for row in range(9)]),
        ("x", [(2**n, f"ca. {n}") for n in range(9)]),
    ],
)
def test_clients_are_not_what_was_measured_where_texts_hold_numbers(tmp_path, name, rows):
    lines = "".join(f"nfs,{clients},{text}\n" for clients, text in rows)
    (tmp_path / "t.csv").write_text(f"fs,clients,{name}\n{lines}")
    with raises("unreadable-values", InputError, column=name):
        iosonde.summary(str(tmp_path / "t.csv"))


def test_compare_says_which_cell_keeps_the_levels_from_being_found(tmp_path):
    (tmp_path / "t.csv").write_text(lines_of("fs,size,MB/s", [f"{value}{'x' * (value == 911)}" for value in VALUES]))
    with raises("not-a-number", DataError, column="MB/s", cell="911.0x"):
        iosonde.compare(str(tmp_path / "t.csv"), levels=["nfs", "ceph"])


def test_german_statistics_in_columns_qualify_each_mean(tmp_path):
    rows = [f"{fs};{clients};{mean};2,5;5" for fs, mean in (("a", "99,5"), ("b", "88,5")) for clients in (1, 4)]
    (tmp_path / "t.csv").write_text("\n".join(["fs;clients;Mittelwert;Standardabweichung;Anzahl", *rows]) + "\n")
    frame = iosonde.summary(str(tmp_path / "t.csv")).to_frame()
    assert set(frame["n"]) == {5} and "Standardabweichung" not in frame.columns


def test_a_total_below_is_no_level(tmp_path):
    (tmp_path / "t.csv").write_text("fs;clients;MB/s\na;1;9,5\na;4;8,5\nGesamt;;9,0\n")
    assert len(open_data(str(tmp_path / "t.csv")).table) == 2


def test_rows_that_begin_with_greater_than_are_not_quoted(tmp_path):
    (tmp_path / "t.csv").write_text("".join(["size,MB/s\n", *(f">{row}k,{row}.5\n" for row in range(1, 5))]))
    assert open_data(str(tmp_path / "t.csv")).table.columns["size"].values.tolist() == [">1k", ">2k", ">3k", ">4k"]
