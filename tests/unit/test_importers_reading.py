"""The small parsers that importers share: what each makes of a word, a line, a command, a path."""

from __future__ import annotations

import math
import struct
from pathlib import Path, PurePath

import numpy as np
import pytest

from importer_reading import describe_run
from iosonde.core.errors import DataError, InputError, UnknownFormatError
from iosonde.importers import Text, registry, understand
from iosonde.importers.fixed_width import FixedLines, parse_decimals, parse_integers
from iosonde.importers.io500_score import BANDWIDTH, RATE, check_score
from iosonde.importers.iozone_blocks import parse_unit, read_sheet_lines
from iosonde.importers.iozone_table import COLUMNS, IozoneTable, list_requested
from iosonde.importers.iperf_lines import parse_interval
from iosonde.importers.parsed import Claim, Parsed, Row
from iosonde.importers.parts import split_by_tool
from iosonde.importers.paths import (
    factors_from_manifest,
    factors_from_pattern,
    join_factors,
    parse_factor_value,
)
from iosonde.importers.quoting import is_quoted
from iosonde.importers.reading import (
    Lines,
    date_to_iso,
    get_option_value,
    iter_json_documents,
    number_from_json,
    parse_integer,
    parse_number,
    parse_option_size,
    parse_size,
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
            | {"1_0": "1_0", "nan": "nan", "inf": "inf", str(2**63): str(2**63), str(-(2**63)): -(2**63)},
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


def test_the_value_of_an_option_follows_it_or_an_equals_sign():
    words = split_command("x -t 4 --threads=5 '-o' \"a b\" -v")
    assert words == ["x", "-t", "4", "--threads=5", "-o", "a b", "-v"]
    options = [("-t",), ("--threads",), ("-n", "--threads"), ("-o",), ("-v",), ("-q",), ("-n", "-t")]
    assert [get_option_value(words, *names) for names in options] == ["4", "5", "5", "a b", None, None, "4"]
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


@pytest.mark.parametrize(
    ("pattern", "path", "factors"),
    [
        ("site={}/date={}/...", "site=a/date=2024-05-03/x/y.txt", {"site": "a", "date": "2024-05-03"}),
        ("site={}/date={}/…", "up/site=a/date=3", {"site": "a", "date": 3}),
        ("{site}/{nodes}/*", "a/8/x.txt", {"site": "a", "nodes": 8}),
        ("{site}/{nodes}/*", "z/a/8/x.txt", {"site": "a", "nodes": 8}),
        ("{site}/{nodes}/*", "a/8/9/x/", {"site": 8, "nodes": 9}),
        ("{site}/**/n{nodes}.txt", "a/b/c/n4.txt", {"site": "a", "nodes": 4}),
        ("{site}/**/n{nodes}.txt", "a/n4.log", {}),
        ("r-{n}.t*", "r-5.txt", {"n": 5}),
        ("r-{n}.t*", "r-5xtxt", {}),
    ],
)
def test_a_pattern_finds_factors_in_the_end_of_a_path(pattern, path, factors):
    assert factors_from_pattern(pattern)(PurePath(path)) == factors


@pytest.mark.parametrize(
    ("pattern", "code", "values"),
    [
        ("a/*/b", "pattern-without-factor", {"pattern": "a/*/b"}),
        ("a/{}/b", "unnamed-placeholder", {"pattern": "a/{}/b"}),
        ("{n}/n={}", "duplicate-name", {"name": "n", "pattern": "{n}/n={}"}),
    ],
)
def test_a_pattern_that_names_nothing_is_refused(pattern, code, values):
    with raises(code, InputError, **values):
        factors_from_pattern(pattern)


def test_a_manifest_has_a_line_for_each_file_or_pattern_and_later_ones_win(tmp_path):
    manifest = tmp_path / "m.csv"
    manifest.write_text("file,site,nodes\na/*.txt,zeus,4\nx.txt,,8\n,hera,1\na/y.txt,ares,\n")
    lookup = factors_from_manifest(manifest)
    found = {path: lookup(PurePath(path)) for path in ("a/y.txt", "a/x.txt", "b/x.txt", "b/z.txt")}
    assert found == {
        "a/y.txt": {"site": "ares", "nodes": 4},
        "a/x.txt": {"site": "zeus", "nodes": 8},
        "b/x.txt": {"nodes": 8},
        "b/z.txt": {},
    }
    both = join_factors(lookup, factors_from_pattern("{nodes}/{site}.txt"))
    assert both(PurePath("a/x.txt")) == {"site": "x", "nodes": "a"}
    manifest.write_text("path,site\nx,y\n")
    with raises("missing-column", InputError, path=manifest):
        factors_from_manifest(manifest)
    with raises("unreadable-file", InputError):
        factors_from_manifest(tmp_path / "none.csv")


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


@pytest.mark.parametrize(
    ("raw", "label", "lines"),
    [
        (b"[1,0]<stdout>: a\n[1,1][host]<stderr>: b\n", "[1,0]<stdout>:", ["a", "b", ""]),
        (b"2026-11-20T10:00:00.5Z a\n2026-11-20T10:00:01Z b\n", "2026-11-20T10:00:00.5Z", ["a", "b", ""]),
        (b"> a\n> b\n", ">", ["a", "b", ""]),
        (b"> a\n", None, ["> a", ""]),
        (b"0: a\n1: b\n2: c\n", "0:", ["a", "b", "c", ""]),
        (b"0: a\n1: b\n", None, ["0: a", "1: b", ""]),
        (b"[0] a\n[1] b\n[0] c\nd\n[1] e\n", "[0]", ["a", "b", "c", "d", "e", ""]),
        (b"[0] a\n[1] b\n[0] c\nd\ne\n", None, ["[0] a", "[1] b", "[0] c", "d", "e", ""]),
    ],
)
def test_labels_of_most_lines_are_left_out_and_noted(raw, label, lines):
    text = Text(raw, "x")
    assert text.lines == lines
    assert [(note.line, note.sentence.code, note.sentence.values) for note in text.notes] == (
        [(1, "labels-left-out", {"label": label})] if label else []
    )


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
    assert scored_run(4, 16, 64).rows[-1].value == 8


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
