"""The small parsers that importers share: what each makes of a word, a line, a command, a path."""

from __future__ import annotations

import gc
import gzip
import hashlib
import io
import math
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from importer_reading import describe_run
from iosonde.core.errors import DataError, InputError, UnknownFormatError
from iosonde.core.message import Message
from iosonde.importers import Note, Text, read, registry, understand
from iosonde.importers import text as text_module
from iosonde.importers.fixed_width import FixedLines, parse_decimals, parse_integers
from iosonde.importers.io500_score import BANDWIDTH, RATE, check_score
from iosonde.importers.iozone_blocks import parse_unit, read_sheet_lines
from iosonde.importers.iozone_table import COLUMNS, IozoneTable, list_requested
from iosonde.importers.iperf_lines import parse_interval
from iosonde.importers.operation_log import add_summary_rows, read_number_rows
from iosonde.importers.parsed import Claim, Parsed, Row
from iosonde.importers.parts import split_by_tool
from iosonde.importers.quoting import is_quoted
from iosonde.importers.reading import (
    Lines,
    build_broken_run,
    date_to_iso,
    get_json_object,
    iter_json_documents,
    list_objects,
    number_from_json,
    parse_factor_value,
    parse_integer,
    parse_number,
    parse_option_size,
    parse_size,
    read_json_runs,
    split_command,
)
from iosonde.importers.runs import build_runs
from iosonde.importers.trace import record_operations
from messages import raises

GIB = 1024.0**3


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            parse_number,
            {"1.5": 1.5, "0": 0, "1e3": 1000, "9e29": 9e29, "-0.1": None, "1e30": None}
            | {"inf": None, "nan": None, "1_0": None, "-": None, "": None, "NA": None},
        ),
        (
            parse_integer,
            {"0": 0, "12": 12, " 7 ": 7, "-1": None, "1_0": None, "1.0": None, "": None}
            | {str(2**63 - 1): 2**63 - 1, str(2**63): None, "0" * 28 + "1": 1, "0" * 29 + "1": None},
        ),
        (
            parse_size,
            {"65536 bytes": 65536, "8 MiB": 2**23, "256k": 2**18, "1.5 KB": 1536, "1 byte": 1, "2TiB": 2**41}
            | {"3p": 3 * 2**50, "7e": 7 * 2**60, "8e": None, "8 MiBs": None, "k": None, "-1": None, "0.3": 0},
        ),
        (
            parse_option_size,
            {"5": 5, "2k": 2048, "2M": 2**21, "3g": 3 * 2**30, "1t": 2**40, "1.5k": None, "1kb": None, "": None},
        ),
        (
            date_to_iso,
            {
                "Sat Nov 21 09:26:00 2026": "2026-11-21T09:26:00",
                "Sat  Jan  1 09:26:00  2026": "2026-01-01T09:26:00",
                "11/21/2026 09:26:33": "2026-11-21T09:26:33",
                "2026-11-21 09:26:33": "2026-11-21T09:26:33",
                "2026-11-21T09:26:33": "2026-11-21T09:26:33",
                "Sat, 21 Nov 2026 09:26:33 GMT": "2026-11-21T09:26:33",
                "21.11.2026": "",
                "": "",
            },
        ),
        (
            parse_factor_value,
            {"8": 8, " 8 ": 8, "2.5": 2.5, "1e3": 1000.0, "-4": -4, "2024-05-03": "2024-05-03", "zeus": "zeus"}
            | {"1_0": "1_0", "nan": "nan", "inf": "inf", str(2**63): str(2**63), str(-(2**63)): -(2**63)}
            | {str(-(2**64)): str(-(2**64))},
        ),
    ],
)
def test_a_word_is_its_value_or_nothing(function, words):
    assert {word: function(word) for word in words} == words


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3.0), (0, 0.0), ("2.5", 2.5), (True, None), (None, None), (-1, None), (1e30, None), ("x", None), ([1], None)],
)
def test_a_number_of_json_may_be_a_text(value, number):
    assert number_from_json(value) == number


def test_a_command_is_split_at_blanks_outside_of_quotes():
    words = split_command("x -t 4 --threads=5 '-o' \"a b\" -v")
    assert words == ["x", "-t", "4", "--threads=5", "-o", "a b", "-v"]
    assert split_command("x 'open") == ["x", "'open"]


def test_json_documents_begin_at_the_left_edge_or_behind_another():
    text = 'log {"no": 1}\n{"a": 1} {"b": 2}\n[{"c": 3}]\n[1] no\n{"broken": \n{"d": [4]}'
    documents = list(iter_json_documents(text))
    assert [document.value for document in documents] == [{"a": 1}, {"b": 2}, [{"c": 3}], None, {"d": [4]}]
    assert [text[document.begin : document.end] for document in documents] == [
        '{"a": 1}',
        '{"b": 2}',
        '[{"c": 3}]',
        "",
        '{"d": [4]}',
    ]
    assert documents[3].error_at == len(text)


def test_lines_are_counted_forwards_and_backwards():
    lines = Lines(Text(b"a\nbb\nccc\nbb\n", "x"))
    assert [lines.at(position) for position in (0, 5, 2, 11, 1)] == [1, 3, 2, 4, 1]
    assert lines.locate_needle("bb", 3) == (4, 9)
    assert lines.locate_needle("bb", 3, 8) == (2, 3)
    assert [lines.find_line("bb", 0, 12), lines.find_line("zz", 5, 12)] == [2, 3]


@pytest.mark.parametrize(
    ("line", "interval"),
    [
        (
            "[  3] 0.00-2.50 sec  1.00 KBytes  8.00 Kbits/sec  rest",
            (3, 0.0, 2.5, 1024.0, 1000.0, "  rest", None, None, None, ""),
        ),
        (
            "[SUM][TX-C] 1.0- 3.0 sec 2 MBytes 1 MBytes/sec 0.500 ms 3/ 40",
            (None, 1.0, 3.0, 2 * 2.0**20, 2.0**20, " 0.500 ms 3/ 40", 0.0005, 3, 40, "TX-C"),
        ),
        ("[  3] 0.00-2.50 sec  1..0 KBytes  8.00 Kbits/sec", None),
        ("[  3] local 10.0.0.1", None),
    ],
)
def test_a_line_of_iperf_is_an_interval(line, interval):
    assert parse_interval(line) == interval


def test_a_log_of_several_tools_is_split_at_their_first_lines():
    text = Text(b"head\nA begins\n1\nB begins\n2\nA begins\n3", "x")
    begins = {"a": ("A begins",), "b": ("B begins", "B starts"), "c": ()}
    parts = split_by_tool(text, "a", begins)
    assert {tool: part.content for tool, part in parts.items()} == {
        "a": "head\nA begins\n1\n\n\nA begins\n3",
        "b": "\n\n\nB begins\n2\n\n",
    }
    assert split_by_tool(text, "c", begins) == {"c": text}
    assert split_by_tool(text, "a", {"a": ("A begins",), "c": ("nowhere",)}) == {"a": text}
    assert split_by_tool(text, "a", {"a": ("A begins",), "b": ("A begins",)}) == {"a": text}


@pytest.mark.parametrize(
    ("name", "content", "line", "form", "quoted"),
    [
        ("a.txt", "x\n", 1, "", False),
        ("README", "x\n", 1, "", True),
        ("readme.txt", "x\n", 1, "", True),
        ("a.md", "x\n", 1, "", True),
        ("a.py.gz", "x\n", 1, "", True),
        ("a.txt.gz", "x\n", 1, "", False),
        ("a.html", "x\n", 1, "", True),
        ("a.html", "x\n", 1, "vdbench", False),
        ("a.txt", "#!/bin/sh\n", 1, "", True),
        ("a.txt", "x\n```\nresult\n", 3, "", True),
        ("a.txt", "result\n```\n", 1, "", False),
        ("a.txt", "result\n```\n", 2, "", False),
        ("a.txt", "result\n```\n", 0, "", True),
    ],
)
def test_output_in_a_document_is_quoted(name, content, line, form, quoted):
    assert is_quoted(name, Text(content.encode(), name), line, form) is quoted


def test_a_text_finds_words_and_lines():
    text = Text(b"one\ntwo 2\n two\ntwo 3\n\n", "x")
    assert [text.line_of(position) for position in (0, 3, 4, 20)] == [1, 1, 2, 4]
    assert (text.find("zzz", "two"), text.find("zzz"), text.find("two", "one")) == ((2, "two"), None, (2, "two"))
    assert (text.first_line, text.last_line, text.cut_line) == ("one", 4, 0)
    ends = {ending: Text(b"a\n" + ending.encode(), "x").cut_line for ending in ("4", "x", "4\n", "1.", "3,", "e")}
    assert ends == {"4": 2, "x": 0, "4\n": 0, "1.": 2, "3,": 2, "e": 2}


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "empty-file"), (b" \n\n", "empty-file"), (b"a\0b", "binary-file"), (b"nothing known", "unknown-format")],
)
def test_a_file_of_no_tool_is_refused_with_the_reason(content, code):
    with raises(code, UnknownFormatError, path="x"):
        understand(Text(content, "x"))


def test_an_importer_by_name_reads_what_it_does_not_claim_and_an_unknown_one_is_refused():
    reading = understand(Text(b"hello\n", "x"), "dd")
    assert (reading.format, reading.claim, reading.others) == ("dd", Claim(0, 0, "asked for"), {})
    with raises("unknown-importer", InputError, name="xyz"):
        understand(Text(b"hello\n", "x"), "xyz")
    with raises("missing-option", InputError):
        understand(Text(b"hello\n", "x"), "columns")


class _Tool:
    def __init__(self, claim: Claim | None, *begins: str, fails: bool = False) -> None:
        self._claim, self._fails = claim, fails
        self.BEGINS, self.HEADLINE = begins, ("rate",)

    def claims(self, text: Text) -> Claim | None:
        return self._claim

    def parse(self, text: Text) -> list[Parsed]:
        if self._fails:
            raise ValueError("odd")
        return [Parsed(version=str(len(text.content.split())))]


def understand_with(monkeypatch, content: bytes = b"word\n", **tools: _Tool):
    monkeypatch.setattr(registry, "importers", lambda: tools)
    return understand(Text(content, "x"))


def test_the_surest_claim_reads_then_the_first_and_an_equal_one_is_named(monkeypatch):
    reading = understand_with(
        monkeypatch,
        a=_Tool(Claim(60, 1, "A")),
        b=_Tool(Claim(90, 5, "B")),
        c=_Tool(Claim(90, 3, "C")),
        d=_Tool(None),
    )
    assert (reading.format, sorted(reading.others)) == ("c", ["a", "b"])
    assert [(note.line, note.sentence.code, note.sentence.values) for note in reading.notes] == [
        (5, "also-another-format", {"name": "c", "line": 3, "evidence": "B", "other": "b"})
    ]
    assert (reading.runs[0].tool, reading.runs[0].headline, reading.tool_version) == ("c", ("rate",), "1")


def test_tools_that_begin_in_one_file_each_read_their_part(monkeypatch):
    reading = understand_with(
        monkeypatch,
        b"A 1 2\nB 3\n",
        a=_Tool(Claim(90, 1, "A"), "A"),
        b=_Tool(Claim(90, 2, "B"), "B"),
    )
    assert [(run.tool, run.version) for run in reading.runs] == [("a", "3"), ("b", "2")]
    assert reading.notes == []


def test_a_fault_of_an_importer_names_it_and_the_place(monkeypatch):
    with raises("importer-failed", DataError, path="x", importer="a", error_type="ValueError", error="odd"):
        understand_with(monkeypatch, a=_Tool(Claim(90, 1, "A"), fails=True))


def scored_run(bandwidth: float, rate: float, total: float, *, without: str = "", **changed: float) -> Parsed:
    """A list whose phases are all 4 GiB/s and 16 kIOPS, but for what is changed."""
    values = dict.fromkeys(BANDWIDTH, 4 * GIB) | dict.fromkeys(RATE, 16e3) | changed
    run = Parsed()
    for name, value in values.items():
        kind = "bandwidth_last_done" if name in BANDWIDTH else "rate_last_done"
        if name != without:
            run.rows.append(Row(name, kind, value, "", 1))
    for metric, value in (("bandwidth", bandwidth * GIB), ("rate", rate * 1e3), ("total", total)):
        run.rows.append(Row("score", metric, value, "", 9))
    check_score(run)
    return run


@pytest.mark.parametrize(
    ("run", "notes"),
    [
        (lambda: scored_run(4, 16, 8), []),
        (lambda: scored_run(4.04, 16, math.sqrt(4.04 * 16)), ["  missing line 9: score-mismatch"]),
        (lambda: scored_run(4, 16, 8.5), ["  missing line 9: score-mismatch"]),
        (lambda: scored_run(4, 16, 64), ["  warnings line 9: score-formula"]),
        (lambda: scored_run(4, 16, 8, without="find"), ["  missing line 9: missing-phases"]),
        (lambda: scored_run(4, 16, 8, ior_easy_write=8 * GIB, ior_hard_write=2 * GIB), []),
        (lambda: scored_run(4, 16, 8, find=32e3), ["  missing line 9: score-mismatch"]),
    ],
)
def test_a_score_is_the_root_of_the_geometric_means_of_its_phases(run, notes):
    described = [line.partition(" {")[0] for line in describe_run(run()) if line.startswith(("  warn", "  miss"))]
    assert described == notes


def test_a_total_that_is_the_product_becomes_the_root():
    assert scored_run(4, 16, 64).rows[0].value == 8


def test_cells_of_fixed_width_are_whole_numbers_or_not_valid():
    lines = FixedLines("  12 3.50\n   7 10.25\n 1 2  0.00\nx\n\n 123 99.99")
    assert lines.start.tolist() == [0, 10, 21, 32, 34, 35] and lines.end.tolist() == [9, 20, 31, 33, 34, 45]
    assert bytes(lines.first_bytes()) == b"   x\n "
    assert lines.count_character(" ").tolist() == [3, 4, 4, 0, 0, 2]
    [table] = lines.iterate_heads(np.array([0, 2, 5]), 4)
    values, good = parse_integers(table, 0, 4)
    assert values[good].tolist() == [12, 123] and good.tolist() == [True, False, True]
    cells = np.array([list(b" 3.50"), list(b"10.25"), list(b" 3.5 "), list(b" 3,50"), list(b"  .50")], np.uint8)
    values, good = parse_decimals(cells, 0, 5, 2)
    assert good.tolist() == [True, True, False, False, False] and values[:2].tolist() == [350, 1025]


def columns(**changed: list[int]) -> dict[str, np.ndarray]:
    base = {
        "rank": [1, 0, 0],
        "phase": [0, 2, 0],
        "status": [0, 0, 5],
        "kind": [3, 4, 3],
        "size": [4096, 100, 7],
        "file": [0, 1, 0],
        "offset": [0, 50, 4096],
        "start_ns": [1000, 3000, 2000],
        "duration_ns": [10, 20, 30],
        "line": [5, 6, 7],
    }
    return {name: np.array(values) for name, values in (base | changed).items()}


def test_operations_of_a_trace_are_recorded_in_order_of_rank_and_time():
    run = Parsed()
    record_operations(run, ["w", "unused", "r"], columns(), unplaced=("r", "unused"), hosts={1: "b", 0: "a"})
    expected = [
        'run  ["", "", 0.0]',
        '  phase_facts {"comparable": true, "shared": true, '
        '"ranks": [{"rank": 0, "host": "a"}, {"rank": 1, "host": "b"}]}',
        '  unplaced ["r"]',
        '  operation_names ["w", "r"]',
        *(
            f'  {line} {name} {metric} {value} {unit} {{"count": 1}}'
            for line, name, seconds, size in ((5, "w", "1e-08", 4096), (6, "r", "2e-08", 100))
            for metric, value, unit in (
                ("operations", 1, "operations"),
                *((f"latency_{kind}", seconds, "s") for kind in ("mean", "min", "max", "p50", "p90", "p99", "p99.9")),
                ("bytes", size, "bytes"),
            )
        ),
        "  operations 3: rank phase kind status size file offset start_ns duration_ns",
        "  first 0 0 3 5 7 0 4096 1000 30",
        "  last 1 0 3 0 4096 0 0 0 10",
        "  sums 1 1 10 5 4203 1 4146 3000 60",
        '  warnings line 7: operations-failed {"operation": "w", "n_operations": "1"}',
    ]
    assert list(describe_run(run)) == expected


@pytest.mark.parametrize(
    ("changed", "kept", "note"),
    [
        ({"duration_ns": [10, -1, 30]}, 2, '  missing line 6: impossible-times {"n_operations": "1"}'),
        ({"duration_ns": [10**18, 10**18 - 1, 30]}, 2, '  missing line 5: impossible-times {"n_operations": "1"}'),
        ({"offset": [0, 0, -1]}, 2, '  missing line 7: impossible-times {"n_operations": "1"}'),
        ({"file": [-1, -1, 0]}, 1, '  missing line 5: impossible-times {"n_operations": "2"}'),
        ({"size": [2**32, 2**32 - 1, 7]}, 3, '  warnings line 0: value-cut {"n_operations": "1"}'),
    ],
)
def test_operations_that_cannot_be_are_left_out(changed, kept, note):
    run = Parsed()
    record_operations(run, ["w", "x", "r"], columns(**changed))
    assert len(run.operations) == kept and note in list(describe_run(run))
    assert int(run.operations["size"].max()) <= 2**32 - 1


def test_runs_have_the_settings_of_their_cell_and_the_summary_of_the_only_one():
    def row(operation: str, line: int, **more) -> Row:
        return Row(operation, "time", 2.0, "s", line, **more)

    several = Parsed(
        rows=[row("a", 3, factors={"r": 1}), row("b", 9, factors={"r": 2}), row("c", 5)],
        factors={"x": 1, "iterations": 4, "test_id": 0},
        facts={"f": 1},
        version="7",
        started_at="2026",
        seconds=3.0,
    )
    only = Parsed(rows=[row("a", 0, factors={"r": 1}), row("c", 5, rank=2, iteration=1)])
    only.warn(2, "odd")
    lost = Parsed()
    lost.lacks(4, "gone")
    reading = registry.Understood("t", Claim(90, 1, "T"), {"z": Claim(1, 1, "Z"), "y": Claim(1, 1, "Y")})
    reading.runs.extend([several, Parsed(), only, lost])
    runs = build_runs(reading, Text(b"content", str(Path("dir") / "..na me.txt")), "e", {"x": 2})
    assert [run.id[-5:] for run in runs] == ["-0000", "-0001", "-0002", "-0003", "-0004"]
    assert [run.factors for run in runs] == [
        {"tool": "t", "x": 2, "r": 1},
        {"tool": "t", "x": 2, "r": 2},
        {"tool": "t", "x": 2},
        {"tool": "t", "r": 1, "x": 2},
        {"tool": "t", "x": 2},
    ]
    assert [[(o.operation, o.rank, o.repetition) for o in run.observations] for run in runs] == [
        [("a", None, 0)],
        [("b", None, 0)],
        [("c", None, 0)],
        [("a", None, 0), ("c", 2, 1)],
        [],
    ]
    assert [run.facts["import"]["lines"] for run in runs] == [[3, 3], [9, 9], [5, 5], [5, 5], None]
    assert (runs[0].source, runs[0].started_at, runs[0].seconds) == ("t 7", "2026", 3.0)
    assert {name: runs[0].facts[name] for name in ("f", "iterations", "test_id")} == {
        "f": 1,
        "iterations": 4,
        "test_id": 0,
    }
    assert [len(run.missing) for run in runs] == [0, 0, 0, 0, 1]
    assert [len(run.facts["import"]["warnings"]) for run in runs] == [0, 0, 0, 1, 0]
    assert runs[0].facts["import"]["also_claimed_by"] == ["y", "z"]
    assert [list(run.raw or ()) for run in runs] == [["na_me.txt"], [], [], [], []]
    assert {run.facts["import"]["raw_of_run"] for run in runs} == {runs[0].id}


def notes_of(notes) -> list[tuple[int, str, dict]]:
    return [(note.line, note.sentence.code, note.sentence.values) for note in notes]


@pytest.mark.parametrize(
    ("raw", "lines", "notes", "damage"),
    [
        (b"a\nb \xff\n", ["a", "b \ufffd", ""], [(2, "not-utf8", {})], []),
        (b"\xef\xbb\xbfa\xc3\xa4", ["aä"], [], []),
        ("a\nä".encode("utf-16-be"), ["\0a\0", "\0\ufffd"], None, None),
        ("ä\n".encode("utf-16"), ["ä", ""], [], []),
        (b"\xfe\xff\0a\0\n", ["a", ""], [], []),
        (("x" * 33).encode("utf-16-le"), ["x" * 33], [], []),
        (b"\0a\nb", ["", "b"], [], [(1, "lost-bytes", {"n_bytes": 1})]),
        (b"a\nx\0\nb\0c\0d\n", ["a", "x", "", ""], [], [(3, "lost-bytes", {"n_bytes": 2})]),
        (b"a\nb 0,5 s", ["a", "b 0.5 s"], [(2, "decimal-comma", {})], []),
        (b"a\nb 1,234 MB/s", ["a", "b 1,234 MB/s"], [(2, "decimal-comma", {"cell": "1,234"})], []),
        (b"a 0,037 1,234 MB/s", ["a 0.037 1.234 MB/s"], [(1, "decimal-comma", {})], []),
        (b"a 8543,928 1,234 x 1.5", ["a 8543.928 1,234 x 1.5"], [(1, "decimal-comma", {})], []),
        (b" [0,5 s", [" [0,5 s"], [], []),
        (b" 8,0 1 2 0.000000001 3 Q\nb 0,5 s\n", [" 8,0 1 2 0.000000001 3 Q", "b 0,5 s", ""], [], []),
        (b"a\rb\nc\r\n", ["b", "c", ""], [], []),
        (b"\x09\0\x04\0\xff 0,5 s\n", None, [], []),
        (b"3.41\0\0\0\0" + (6567223).to_bytes(8, "big"), [""], [], []),
        (b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little"), [""], [], []),
    ],
)
def test_every_change_of_a_text_is_noted_at_its_line(raw, lines, notes, damage):
    text = Text(raw, "x")
    if notes is None:  # UTF-16 without its mark is recognised only where most of it is ASCII
        assert text.damage
        return
    assert lines is None or text.lines == lines
    assert (notes_of(text.notes), notes_of(text.damage)) == (notes, damage)


def test_commas_are_looked_for_in_the_first_part_of_a_text_or_not_at_all(monkeypatch):
    assert Text(b"b 0,5 s", "x", decimal_commas=False).content == "b 0,5 s"
    monkeypatch.setattr(text_module, "_SAMPLE", 6)
    assert Text(b"a\n\n\n\n\nb 0,5 s", "x").lines[-1] == "b 0,5 s"
    early = Text(b"b 0,5 s and 0,7 s", "x")
    assert (early.content, notes_of(early.notes)) == ("b 0.5 s and 0.7 s", [(1, "decimal-comma", {})])


def test_long_lines_and_long_texts_are_cut_for_those_who_look_first(monkeypatch):
    monkeypatch.setattr(text_module, "LINE_CHARACTERS", 4)
    monkeypatch.setattr(text_module, "HEAD_CHARACTERS", 6)
    text = Text(b"abcdef\nxy\n\nlast", "name")
    assert (text.lines, text.first_line) == (["abcd", "xy", "", "last"], "abcd")
    assert text.search(re.compile("a.*"), "def")[1].group() == "abcd"
    assert (text.head().content, text.head().name) == ("abcdef", "name")
    assert Text(b"abc\ndef\nghijk", "x").head().content == "abc\n"
    short = Text(b"abc\ndef\nghij", "x")
    assert short.head() is short


def test_a_text_is_searched_line_by_line_for_the_first_match():
    text = Text(b"key 1\nno key 2\nkey 3\nend 4\nend", "x")
    key, any_key = re.compile(r"(?:key|end) (\d)"), re.compile(r".*key (\d)")

    def search(pattern, *having, **more):
        hit = text.search(pattern, *having, **more)
        return hit and (hit[0], hit[1].group(1))

    assert search(key, "\nkey") == (1, "1") and search(any_key, " 2", " 3") == (2, "2")
    assert search(key, "3", "4") == search(key, "4", "3") == (3, "3")
    assert search(key, "2") is None and search(key, "absent") is None and search(key, "end") == (4, "4")
    assert search(any_key) == (1, "1") and search(re.compile("(end)"), first_lines=3) is None
    assert search(re.compile("(end)"), first_lines=4) == (4, "end")
    assert Text(b"[FAILED] x\na\n(partial) [error]\n[invalid]", "x").flagged_lines == {
        1: "[FAILED]",
        3: "(partial)",
        4: "[invalid]",
    }


def read_small(monkeypatch, raw: bytes, block: int = 4, line: int = 10, most: int = 1000) -> Text:
    for name, value in (("_BLOCK", block), ("LINE_BYTES", line), ("FILE_BYTES", most)):
        monkeypatch.setattr(text_module, name, value)
    return read(io.BytesIO(raw), "x")


def test_a_file_is_read_in_blocks_without_the_rest_of_an_endless_line(monkeypatch):
    text = read_small(monkeypatch, b"ab\n" + b"x" * 30 + b"\nlast\n")
    assert (text.raw, notes_of(text.notes)) == (
        b"ab\n" + b"x" * 10 + b"\nlast\n",
        [(2, "line-too-long", {"limit_mib": 0})],
    )
    whole = read_small(monkeypatch, b"ab\n" + b"x" * 9 + b"\nlast", line=9)
    assert (whole.raw, whole.notes, whole.damage) == (b"ab\n" + b"x" * 9 + b"\nlast", [], [])
    assert read_small(monkeypatch, b"x\n" * 5, most=10).raw == b"x\n" * 5
    with raises("file-too-large", InputError, path="x", max_gib=0):
        read_small(monkeypatch, b"x\n" * 5 + b"y", most=10)


def test_a_compressed_file_may_be_joined_padded_or_cut_but_not_wrong(monkeypatch):
    one, two = gzip.compress(b"first line\n" * 9, mtime=0), gzip.compress(b"second\n", mtime=0)
    for raw in (one + two, one + two + bytes(9), one + bytes(5)):
        text = read_small(monkeypatch, raw, line=100)
        expected = b"first line\n" * 9 + (b"second\n" if two in raw else b"")
        assert (text.raw, text.damage, text.notes) == (expected, [], [])
    cut = read_small(monkeypatch, one[:-9], line=100)
    assert notes_of(cut.damage) == [(0, "truncated-file", {})] and (b"first line\n" * 9).startswith(cut.raw)
    wrong = bytearray(two)
    wrong[-8] ^= 1
    for raw in (bytes(wrong), two[:10] + b"\xff" * 9):
        with raises("damaged-file", DataError, path="x"):
            read_small(monkeypatch, raw)


def test_notes_of_an_execution_are_few_and_each_is_there_once():
    run, other = Parsed(), Parsed()
    for number in range(60):
        other.mark_invalid(number, Message("bad", "{n}", n=number))
        other.warn(number, Message("odd", "{n}", n=number))
    assert [len(notes) for notes in (other.missing, other.invalid, other.warnings)] == [50, 50, 50]
    run.warn(1, "a")
    run.warn(2, "a")
    run.cannot_tell("b")
    run.cannot_tell("b")
    run.lacks(3, "c")
    run.lacks(4, "c")
    assert (run.warnings, run.missing, run.facts) == ([(1, "a"), (0, "b")], [(3, "c")], {"cannot_tell": ["b"]})
    marked = Parsed(missing=[Note(7, Message("lost", "lost"))], invalid=[Note(8, Message("void", "void"))])
    adopted = Parsed()
    adopted.adopt_missing("list.txt", marked)
    assert ([note.line for note in adopted.missing], adopted.invalid) == ([0], [])
    assert adopted.missing[0].sentence.code == "lost" and "list.txt" in adopted.missing[0].sentence
    adopted.adopt_invalid("list.txt", marked)
    assert [note.sentence.code for note in adopted.missing] == ["lost", "void"]
    assert notes_of(adopted.invalid)[0][:2] == (0, "void") and "list.txt" in adopted.invalid[0].sentence


def test_evidence_is_a_word_or_the_begin_of_a_match():
    match = re.match(".*", "  " + "x" * 70)
    assert Claim.from_match(5, None) is None and Claim.from_match(5, (3, "word  ")) == (5, 3, "word  ")
    assert Claim.from_match(5, (3, match)) == (5, 3, "x" * 60)


def test_the_notes_of_a_file_are_in_its_order_and_the_version_is_the_first():
    first, second = Parsed(), Parsed(version="2")
    first.warn(5, "e")
    first.lacks(1, "a")
    second.warn(5, "e")
    second.lacks(3, "c")
    reading = registry.Understood("t", Claim(90, 1, "T"), {}, [first, second, Parsed(version="3")], [Note(4, "d")])
    assert (reading.warnings, reading.tool_version) == ([(1, "a"), (3, "c"), (4, "d"), (5, "e")], "2")
    assert registry.Understood("t", Claim(90, 1, "T"), {}).tool_version == ""


def test_a_long_file_is_searched_as_a_whole_if_its_head_convinces_nobody(monkeypatch):
    monkeypatch.setattr(text_module, "HEAD_CHARACTERS", 5)

    class Late(_Tool):
        def claims(self, text: Text) -> Claim | None:
            return self._claim if "late" in text.content else None

    content = b"words here, and\nlate"
    for score, name in ((59, "late"), (60, "early"), (61, "early")):
        reading = understand_with(monkeypatch, content, early=_Tool(Claim(score, 1, "E")), late=Late(Claim(90, 2, "L")))
        assert (reading.format, len(reading.others)) == (name, 1 if name == "late" else 0), score


def test_what_is_nearly_as_sure_needs_no_note(monkeypatch):
    tools = {"a": _Tool(Claim(90, 1, "A")), "b": _Tool(Claim(89, 1, "B"))}
    assert understand_with(monkeypatch, **tools).notes == []


def test_a_claim_that_fails_names_the_importer(monkeypatch):
    tool = _Tool(None)
    monkeypatch.setattr(tool, "claims", lambda text: 1 / 0)
    with raises("importer-failed", DataError, path="x", importer="a", error_type="ZeroDivisionError") as caught:
        understand_with(monkeypatch, a=tool)
    assert caught.value.values["location"].startswith("<lambda>, line ")


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        (' {"a": 1}', [({"a": 1}, 1)]),
        ('x {"a": 1}', []),
        ('[1, 2]\n[]\n[ {"a": 1}]', [([1, 2], 0), ([], 7), ([{"a": 1}], 10)]),
        ('{"a": 1}{"b": 2}\n\t {"c": 3}', [({"a": 1}, 0), ({"b": 2}, 8)]),
        ('{"a": {"b": }}\n {"c": 1}', [(None, 0)]),
        ('[u@host ~]# x -J\n{"a": 1}', [({"a": 1}, 17)]),
        ("[ ID] Interval", []),
        ("{\n" * 101, [(None, 2 * number) for number in range(100)]),
    ],
)
def test_documents_of_json_are_found_where_they_begin(text, documents):
    assert [(document.value, document.begin) for document in iter_json_documents(text)] == documents


def test_json_of_another_kind_is_left_out_at_its_line():
    text = Text(b'{"a": 1}\n[{"b": 2}]\n{"c": \n', "x")
    seen = []
    runs = read_json_runs(text, lambda run, document, lines: seen.append((document.value, lines.at(document.begin))))
    assert seen == [({"a": 1}, 1)]
    assert [notes_of(run.missing) for run in runs] == [[], [(2, "damaged-lines", {})], [(3, "damaged-lines", {})]]
    document = list(iter_json_documents(text.content))[2]
    assert notes_of(build_broken_run(text, document).missing) == [(4, "damaged-lines", {})]
    mixed = {"a": [{"x": 1}, 2, {"y": 3}], "b": {"z": 4}}
    assert [list_objects(mixed, key) for key in "abc"] == [[{"x": 1}, {"y": 3}], [], []]
    assert [get_json_object(mixed, key) for key in "abc"] == [{}, {"z": 4}, {}]


@pytest.mark.parametrize(("value", "number"), [(9e29, 9e29), ("1e30", None), (False, None), (2.5, 2.5), (0.0, 0.0)])
def test_a_number_of_json_has_the_limits_of_any(value, number):
    assert number_from_json(value) == number


def test_quotes_are_removed():
    assert split_command('a\\ b "c d"') == ["a b", "c d"] and split_command('x "open \\') == ["x", '"open', "\\"]


def test_a_log_of_numbers_is_read_as_a_table_or_row_by_row():
    def rows(content: str, first: int = 1, columns: int = 2):
        run = Parsed()
        table, lines = read_number_rows(Text(content.encode(), "x", decimal_commas=False), first, columns, run)
        return table.tolist(), lines.tolist(), notes_of(run.warnings), notes_of(run.missing)

    assert rows("1, 2\n3.5, 4e1\n") == ([[1, 2], [3.5, 40]], [1, 2], [], [])
    assert rows("head\n1,2\n", 2) == ([[1, 2]], [2], [], [])
    assert rows("1,2,3\n4\n", 1, 2)[:2] == ([], [])
    unreadable = [(1, "unreadable-lines", {"columns": 2})], [(0, "unreadable-lines", {"n_lines": 2})]
    assert rows("1 2\n3,4\n\n5,inf\n") == ([[3, 4]], [2], *unreadable)
    assert rows("1,2 3,4\n5\n6,7\n")[:2] == ([[6, 7]], [3])
    assert rows("") == ([], [], [], [])


@pytest.mark.parametrize(("count", "places"), [(1, [1, 1, 1, 1]), (10, [5, 9, 10, 10]), (1000, [500, 900, 990, 999])])
def test_percentiles_of_a_log_are_of_the_nearest_rank_with_their_lines(count, places):
    seconds = np.arange(count, 0, -1) / 4  # the slowest first
    run = Parsed()
    add_summary_rows(run, "read", seconds, np.arange(count) + 2)
    lines = [count + 2 - place for place in places]
    expected = [
        ("operations", count, "operations", 2),
        ("latency_mean", (count + 1) / 8, "s", 2),
        ("latency_min", 0.25, "s", count + 1),
        ("latency_max", count / 4, "s", 2),
        *(
            (f"latency_p{level}", place / 4, "s", line)
            for level, place, line in zip(("50", "90", "99", "99.9"), places, lines, strict=True)
        ),
    ]
    assert [(row.metric, row.value, row.unit, row.line) for row in run.rows] == expected
    assert {(row.operation, row.count) for row in run.rows} == {("read", count)}
    empty = Parsed()
    add_summary_rows(empty, "read", seconds[:0], seconds[:0])
    assert (empty.rows, notes_of(empty.missing)) == ([], [(0, "no-results", {"operation": "read"})])


@pytest.mark.parametrize(
    ("form", "name", "content", "expected"),
    [
        ("mdtest", "m-File creation-00004.csv", "2,0.5,6\n", ("file_creation", 4, "create", 3, "rank 4")),
        ("mdtest", "m-Directory read-00004.csv.gz", "2,0.5,6\n", ("directory_read", None, None, None, "rank 4")),
        ("mdtest", "m-Directory removal-1.csv", "2,0.5,2\n", ("directory_removal", 1, "rmdir", 0, "rank 1")),
        ("ior", "Read-2-00003.csv", "2,0.5,2\n", ("read", 3, "read", 1, "iteration 2 of rank 3")),
        ("ior", "write.csv", "2,0.5,64\n2,0,0\n", ("write", 0, "write", 32, None)),
        ("ior", "write-read-1-2.csv", "2,0.5,64\n", ("access", None, None, None, "iteration 1 of rank 2")),
        ("md-workbench", "x-0.00-3-cleanup.csv", "2,0.5\n", ("cleanup_delete", 0, "unlink", 0, "iteration 3")),
    ],
)
def test_a_file_of_operations_has_their_kind_rank_and_size_by_its_name(form, name, content, expected):
    from iosonde.engine._native import KINDS

    head = "time,runtime\n" if form == "md-workbench" else "time,runtime,tp\n"
    reading = understand(Text((head + content).encode(), f"dir/{name}"))
    [run] = reading.runs
    operation, rank, kind, size, part = expected
    assert (reading.format, run.rows[0].operation, run.factors.get("part")) == (form, operation, part)
    if kind is None:
        assert run.operations is None
        return
    first = run.operations[0]
    assert (int(first["rank"]), KINDS[first["kind"]], int(first["size"])) == (rank, kind, size)
    assert int(first["duration_ns"]) in (0, 500_000_000) and run.unplaced == (operation,)


def test_times_that_cannot_be_are_left_out_of_a_file_of_operations():
    content = "time,runtime,tp\n1.5,2.0,inf\n1e9,2.0,3.0\n1.0,1e9,3.0\n999999999.0,2.0,3.0\n-1.0,2.0,3.0\n"
    [run] = understand(Text(content.encode(), "x.csv")).runs
    assert [(row.value, row.line) for row in run.rows if row.metric == "operations"] == [(2, 2)]
    assert notes_of(run.missing) == [(3, "impossible-times", {})]
    assert notes_of(run.warnings) == [(1, "unknown-operation", {})]


def test_ranks_of_mdtest_may_be_absent_cut_or_without_a_rate():
    def table(*rows: str):
        head = "rank,items,rate-File stat,time-File stat,rate-File read,time-File read\n"
        [run] = understand(Text((head + "\n".join(rows) + "\n").encode(), "x")).runs
        rows = [(row.operation, row.metric, row.value, row.rank, row.iteration) for row in run.rows]
        return run.factors, rows, notes_of(run.warnings), notes_of(run.missing)

    assert table() == ({}, [], [], [(1, "no-results", {})])
    whole = [("file_stat", "rate_last_done", 5.0, None, 0), ("file_stat", "time", 2.0, None, 0)]
    assert table("all,7,5,2,-nan,nan") == ({"items_per_rank": 7}, whole, [], [])
    own = [("file_stat", "rate_own", 5.0, 1, 0), ("file_read", "time", 3.0, 1, 0)]
    assert table("1,,5,,0,3", "x,1") == (
        {"ranks": 1},
        own,
        [(3, "unreadable-lines", {})],
        [(3, "missing-rows", {})],
    )


def test_a_run_of_a_trace_has_its_operations_and_phases():
    trace = Parsed(rows=[Row("r", "time", 2.0, "s", 3)], operation_names=("w", "r"), unplaced=("r",))
    trace.operations, trace.phase_facts, trace.tool = np.zeros(2), {"comparable": False}, "strace"
    trace.headline = ("time",)
    empty = Parsed(rows=[Row("r", "time", 2.0, "s", 4, rank=3)], operations=np.zeros(0), operation_names=("r",))
    reading = registry.Understood("list", Claim(90, 1, "T"), {}, [trace, empty], [Note(0, "all"), Note(2, "second")])
    reading.runs[0].warn(5, "fifth")
    text = Text(b"content", "?" * 130 + ".txt")
    first, second = build_runs(reading, text, "e")
    assert [(phase["index"], phase["name"], phase["operation"], phase["placed"]) for phase in first.phases] == [
        (0, "w", "w", True),
        (1, "r", "r", False),
    ]
    assert all(phase["recorded_all"] and phase["comparable"] is False for phase in first.phases)
    assert first.operations is trace.operations and second.operations is None and not second.phases
    assert (first.source, second.source, first.factors, second.factors) == (
        "strace",
        "list",
        {"tool": "strace"},
        {"tool": "list"},
    )
    digest = hashlib.sha256(b"content").hexdigest()
    assert [run.id for run in (first, second)] == [f"list-{digest[:16]}-000{number}" for number in (0, 1)]
    assert (first.experiment, first.raw, second.raw) == ("e", {"_.txt": b"content"}, {})
    assert first.facts["import"] == {
        "format": "strace",
        "evidence": "T",
        "also_claimed_by": [],
        "lines": [3, 3],
        "warnings": ["all", "line 2: second", "line 5: fifth"],
        "file": text.name,
        "sha256": digest,
        "raw_of_run": first.id,
    }
    assert second.facts["import"]["format"] == "list" and second.facts["import"]["warnings"] == [
        "all",
        "line 2: second",
    ]
    assert (first.headlines, second.headlines) == ({"r": ["time"]}, {})
    long = build_runs(reading, Text(b"content", "x" * 130), "e")[0]
    assert list(long.raw) == ["x" * 120]


@pytest.mark.parametrize("content", ["1,2,3,4\n5,6\n7,8,9\n", "1,2\n3,4,5,6\n7,8,9\n"])
def test_rows_of_other_lengths_are_no_table_even_if_the_sum_fits(content):
    run = Parsed()
    table, lines = read_number_rows(Text(content.encode(), "x", decimal_commas=False), 1, 3, run)
    assert (table.tolist(), lines.tolist()) == ([[7, 8, 9]], [3])


@pytest.mark.parametrize(
    "text",
    [
        "fsyncs/s: 3\n",
        "Extra file open flags: none\n",
        "user sys\nreal\n",
        "x was launched with 3 total task(s)\n",
        "index\top\tx\n",
        '{"measure_duration_millis": 4}\n',
        '[{"filesPerSec": 4}]\n',
        "0.01 0.02 pwrite 0 0 ( /f 1 2 3 )\nx\ny\n",
    ],
)
def test_a_word_of_a_tool_alone_is_not_its_output(text):
    with raises("unknown-format", UnknownFormatError, path="x"):
        understand(Text(text.encode(), "x"))


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_of_garbage_rests_only_while_a_file_is_parsed(monkeypatch, is_enabled):
    states = []
    tool = _Tool(Claim(90, 1, "A"))
    monkeypatch.setattr(tool, "parse", lambda text: states.append(gc.isenabled()) or [])
    was = gc.isenabled()
    try:
        (gc.enable if is_enabled else gc.disable)()
        understand_with(monkeypatch, a=tool)
        assert (states, gc.isenabled()) == ([False], is_enabled)
    finally:
        (gc.enable if was else gc.disable)()


def test_rows_of_mdtest_outside_a_summary_are_no_results():
    row = "   File creation   9.0   1.0   5.0   0.0\n"
    head = "mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)\n"
    end = "-- finished at 11/21/2026 09:26:19 --\n"
    [run] = understand(Text((head + row + "SUMMARY rate: (of 3 iterations)\n" + row + end + row).encode(), "x")).runs
    assert {row.line for row in run.rows} == {4} and not run.missing and run.factors["iterations"] == 3


def test_only_lines_behind_the_first_one_of_a_log_are_rows():
    run = Parsed()
    table, lines = read_number_rows(Text(b"1.5,2.5\n3.5,4.5\n5.5,6.5", "x"), 3, 2, run)
    assert (table.tolist(), lines.tolist(), run.missing) == ([[5.5, 6.5]], [3], [])


def sheet(*records: tuple[int, bytes]) -> bytes:
    """Records of an Excel 2 sheet: type, length, data."""
    return b"".join(struct.pack("<HH", kind, len(body)) + body for kind, body in records)


def label(row: int, column: int, text: str) -> tuple[int, bytes]:
    return 4, struct.pack("<HH3xB", row, column, len(text)) + text.encode("latin-1")


def number(row: int, column: int, value: float) -> tuple[int, bytes]:
    return 3, struct.pack("<HH3xd", row, column, value)


def integer(row: int, column: int, value: int) -> tuple[int, bytes]:
    return 2, struct.pack("<HH3xH", row, column, value)


BEGIN, END = (9, b"\x02\0\x10\0"), (10, b"")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (sheet(BEGIN, END), []),
        (
            sheet(
                BEGIN,
                label(0, 0, " Writer report\0x"),
                number(1, 1, 4.0),
                integer(1, 2, 16),
                number(3, 2, 2.5),
                integer(3, 0, 64),
                number(3, 1, 1e6),
                END,
            ),
            ['"Writer report"', '"4" "16"', "", '"64" 1000000 2.5'],
        ),
        (sheet(label(0, 1, "b"), label(0, 0, "a"), number(0, 2, 7.0)), ['"a b"']),
        # Cut or short records are left out; behind others reading goes on at the next record of IOzone.
        (sheet(number(0, 0, 1.0))[:-1], []),
        (sheet((3, b"\0" * 14), (2, b"\0" * 8), (4, b"\0" * 7), number(0, 0, 1.0)), ['"1" ']),
        (sheet(number(0, 0, 1.0)) + b"\xff\xff\xff\xff\xff" + sheet(number(0, 1, 2.0)), ['"1" 2']),
        (sheet(number(0, 0, 1.0)) + b"\xff\xff\xff\xff\xff", ['"1" ']),
        (sheet((3, struct.pack("<HH3xd", 0, 0, 5.0) + b"more")), ['"5" ']),
        (sheet((2, struct.pack("<HH3xH", 0, 0, 6) + b"more")), ['"6" ']),
        (sheet((4, struct.pack("<HH3xB", 0, 0, 2) + b"abc")), ['"ab"']),
    ],
)
def test_a_sheet_is_read_as_lines(data, lines):
    assert read_sheet_lines(data) == lines


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("kBytes/sec", ("bandwidth", "bytes/s", 1024.0)),
        (" KB/sec.", ("bandwidth", "bytes/s", 1024.0)),
        ("Mbytes/sec", ("bandwidth", "bytes/s", 1024.0**2)),
        ("operations per second", ("rate", "operations/s", 1.0)),
        ("ops/sec", ("rate", "operations/s", 1.0)),
        ("microseconds per operation", ("latency_mean", "s", 1e-6)),
        ("usec/op", ("latency_mean", "s", 1e-6)),
        ("furlongs", None),
    ],
)
def test_a_unit_of_iozone_is_what_it_measures(words, unit):
    found = parse_unit(words)
    assert (found and found[:3]) == unit
    assert (found and found.metric("own")) == (unit and (unit[0] if unit[2] < 1 else f"{unit[0]}_own"))


HEADER = "   kB  reclen   write rewrite    read  reread"


@pytest.mark.parametrize(
    ("line", "requested", "names"),
    [
        ("   64       4      11      12      13      14", (), ["write", "rewrite", "read", "reread"]),
        ("   64       4      11      12", ("read", "reread"), ["read", "reread"]),
        ("   64       4      11      12", ("fread", "refread"), ["write", "rewrite"]),
        ("   64       4                      13      14", (), ["read", "reread"]),
        ("   64       4              12              14", (), ["rewrite", "reread"]),
        ("   64       4         11      12", (), ["write", "rewrite"]),
        ("   64       4          11      12", (), "misaligned-row"),
        ("   64       4      11 12", (), "misaligned-row"),
        ("   64       4      11      12      13      14      15", (), "misaligned-row"),
        (" 64 4 11 12", (), "squeezed-row"),
        ("   64       0      11      12      13      14", (), "damaged-lines"),
        ("   64      64      11      12      13      14", (), ["write", "rewrite", "read", "reread"]),
        ("   64      65      11      12      13      14", (), "damaged-lines"),
        ("    1       1      11      12      13      14", (), ["write", "rewrite", "read", "reread"]),
    ],
)
def test_a_row_of_iozone_is_assigned_to_its_operations(line, requested, names):
    table = IozoneTable.from_header(HEADER)
    assert table is not None and table.names == ("write", "rewrite", "read", "reread")
    row = table.row(line, requested)
    assert (row.code if isinstance(row, str) else row.names) == names
    if not isinstance(row, str):
        words = line.split()
        assert row == (int(words[0]) * 1024, int(words[1]) * 1024, names, words[2:])


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("kB reclen", None),
        ("kB size write", None),
        ("reclen a", ("write",)),
        ("kB reclen " + "x " * 13 + "PWRITE", (*COLUMNS, "pwrite")),
    ],
)
def test_a_header_of_iozone_names_operations_by_their_place(line, names):
    table = IozoneTable.from_header(line)
    assert (table and table.names) == names


def test_a_line_under_a_header_of_iozone_is_a_row_by_its_words():
    table = IozoneTable.from_header(HEADER)
    assert table is not None
    lines = {"64 4 11 x y z": True, "64 4 11 12.5": True, "64 4": False, "64 4 11 x": False, "1 2 3 4 5 6 7": True}
    assert {line: table.fits(line) for line in lines} == lines


@pytest.mark.parametrize(
    ("command", "operations"),
    [
        ("iozone -i 0", ("write", "rewrite")),
        ("iozone -i 2 -i 0 -i 2", ("write", "rewrite", "random_read", "random_write")),
        ("iozone -i3 -i 4", ("backward_read", "record_rewrite")),
        ("iozone -i5 -i6 -i7", ("stride_read", "fwrite", "refwrite", "fread", "refread")),
        ("iozone -i 1 -+n", ()),
        ("iozone -i 0 -i 8", ()),
        ("iozone -a", ()),
        ("iozone -ix", ()),
    ],
)
def test_tests_of_iozone_are_operations(command, operations):
    assert list_requested(command.split()) == operations


def test_fixed_lines_know_their_bytes():
    lines = FixedLines("ab.\n\n.c.d\nz")
    assert (lines.start.tolist(), lines.end.tolist()) == ([0, 4, 5, 10], [3, 4, 9, 11])
    assert bytes(lines.first_bytes().tolist()) == b"a\n.z"
    assert lines.count_character(".").tolist() == [1, 0, 2, 0]
    [heads] = lines.iterate_heads(np.array([0, 2]), 3)
    assert [bytes(row) for row in heads.tolist()] == [b"ab.", b".c."]
    empty = FixedLines("")
    assert (empty.start.tolist(), empty.end.tolist(), empty.first_bytes().tolist()) == ([0], [0], [0])
    parts = list(FixedLines("x\n" * 8193).iterate_heads(np.arange(8193), 1))
    assert [len(part) for part in parts] == [8192, 1]
