"""Any CSV by a map of its columns: what becomes of each cell, what is refused, what damage does."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from importer_reading import describe_run
from iosonde.core.errors import DataError
from iosonde.core.problems import SpecError
from iosonde.importers import Text
from iosonde.importers.columns import understand_columns
from iosonde.importers.columns_map import parse_unit, read_map
from messages import has_message, raises

EXAMPLE = Path(__file__).parents[2] / "examples" / "columns"
BANDWIDTH = "{is: metric, name: bandwidth, unit: MB/s, clock: last_done}"


def by_map(tmp_path, columns: str, head: str = "operation: write\n"):
    path = tmp_path / "map.yaml"
    path.write_text(f"tool: t\n{head}columns:\n" + "".join(f"  {line}\n" for line in columns.splitlines()))
    return read_map(path)


def of(tmp_path, text: str, columns: str, head: str = "operation: write\n"):
    return understand_columns(Text(text.encode(), "x.csv"), by_map(tmp_path, columns, head))


def values(found) -> list[list[float]]:
    return [[row.value for row in run.rows] for run in found.runs]


def missing(found) -> str:
    return " ".join(note.sentence for run in found.runs for note in run.missing)


def lacks(found, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in found.runs for note in run.missing), code, **values)


def test_the_example_has_a_trial_for_each_repetition_and_units_of_the_base():
    found = understand_columns(Text((EXAMPLE / "mytool.csv").read_bytes(), "x"), read_map(EXAMPLE / "mytool.yaml"))
    assert [len(run.rows) for run in found.runs] == [4, 4, 4, 4, 4, 2]
    first, *_, last = found.runs
    assert (first.tool, first.version, first.started_at) == ("mytool", "2.1", "2026-11-20T09:00:01")
    assert first.factors == {"nodes": 4, "repetition": 1, "file_system": "nfs", "block_size": 65536, "threads": 4}
    expected = [
        ("write", "bandwidth_last_done", 112.4e6, "bytes/s", "open,close", 3),
        ("write", "latency_p99", 1350 / 1e6, "s", "", 3),
    ]
    assert [
        (row.operation, row.metric, row.value, row.unit, row.includes, row.line) for row in first.rows[:2]
    ] == expected
    assert [bool(run.missing) for run in found.runs] == [False] * 5 + [True]
    assert "column 'status' says 'timeout'" in last.missing[0].sentence


def test_rows_of_equal_settings_are_trials_of_their_own_until_a_part_comes_again(tmp_path):
    text = "n,op,bw\n1,write,10\n1,read,20\n1,write,11\n1,read,21\n2,read,5\n"
    found = of(tmp_path, text, f"n: factor\nop: operation\nbw: {BANDWIDTH}", "")
    assert values(found) == [[10e6, 20e6], [11e6, 21e6], [5e6]]


def test_the_same_part_of_a_trial_twice_is_an_error_and_no_average(tmp_path):
    with raises("duplicate-trial", DataError, path="x.csv", line=3, first_line=2):
        of(tmp_path, "rep,bw\n1,10\n1,12\n", f"rep: repetition\nbw: {BANDWIDTH}")
    with raises("duplicate-trial", DataError):
        of(tmp_path, "job,bw\n7,10\n7,12\n", f"job: trial\nbw: {BANDWIDTH}")


def test_ranks_are_of_one_trial_and_their_rates_their_own(tmp_path):
    columns = f"rank: rank\nbw: {BANDWIDTH}"
    found = of(tmp_path, "rank,bw\n0,10\n1,11\nall,20\n0,12\n1,13\nall,24\n", columns)
    assert [[(row.rank, row.metric) for row in run.rows] for run in found.runs] == 2 * [
        [(0, "bandwidth_own"), (1, "bandwidth_own"), (None, "bandwidth_last_done")]
    ]
    assert missing(found) == ""
    gap = of(tmp_path, "rank,bw\n0,10\n1,11\n3,9\n", columns)
    assert lacks(gap, "missing-rows", n_ranks=3, last_rank=3)


def test_iterations_of_the_tool_are_one_trial(tmp_path):
    found = of(tmp_path, "i,bw\n0,10\n1,11\n", f"i: iteration\nbw: {BANDWIDTH}")
    assert [[row.iteration for row in run.rows] for run in found.runs] == [[0, 1]]


def test_two_columns_are_never_a_number_with_a_comma(tmp_path):
    found = of(tmp_path, "threads,bw\n8,51\n16,512\n", f"threads: factor\nbw: {BANDWIDTH}")
    assert values(found) == [[51e6], [512e6]]
    german = of(
        tmp_path, "n;bw\n8;51,5\n", f"n: factor\nbw: {BANDWIDTH}", 'operation: w\nseparator: ";"\ndecimal: ","\n'
    )
    assert values(german) == [[51.5e6]]


def test_a_level_is_a_number_a_text_or_asked_for(tmp_path):
    columns = f"k: factor\nbw: {BANDWIDTH}"
    levels = [run.factors["k"] for run in of(tmp_path, "k,bw\n4.10,1\n4.2-rc,1\n", columns).runs]
    assert levels == ["4.10", "4.2-rc"]
    with raises("ambiguous-level", DataError):
        of(tmp_path, "k,bw\n4.1,1\n4.10,1\n", columns)
    two = of(tmp_path, "k,bw\n4.1,1\n4.10,1\n", f"k: {{is: factor, text: true}}\nbw: {BANDWIDTH}")
    assert [run.factors["k"] for run in two.runs] == ["4.1", "4.10"]
    sizes = of(tmp_path, "k,bw\n64k,1\n1MiB,1\n", f"k: {{is: factor, unit: size}}\nbw: {BANDWIDTH}")
    assert [run.factors["k"] for run in sizes.runs] == [65536, 1 << 20]


def test_damaged_rows_are_left_out_and_marked(tmp_path):
    columns = f"n: factor\nbw: {BANDWIDTH}\nop: operation"
    text = 'n,bw,op\n1,10,write\n2,write\n3,"12,write\n4,x,write\n5,nan,write\n6,-3,write\n7,11,wri'
    found = of(tmp_path, text, columns, "")
    assert values(found) == [[10e6], [], [], [], []]
    assert [bool(run.missing) for run in found.runs] == [False, True, True, True, True]
    assert lacks(found, "damaged-lines", n_cells=2, n_columns=3) and lacks(found, "unclosed-quote")
    assert lacks(found, "invalid-number", cell="x") and lacks(found, "invalid-number", cell="-3")
    assert lacks(found, "cut-last-line")


def test_what_the_file_lacks_is_said_with_its_line_and_the_nearest_name(tmp_path):
    with raises("unknown-column", DataError, path="x.csv", line=1, column="bw", nearest="bww"):
        of(tmp_path, "n,bww\n1,2\n", f"n: factor\nbw: {BANDWIDTH}")
    with raises("duplicate-column", DataError, path="x.csv", line=1, column="bw"):
        of(tmp_path, "bw,bw\n1,2\n", f"bw: {BANDWIDTH}")
    with raises("invalid-number", DataError, path="x.csv", line=2, column="k", cell="big"):
        of(tmp_path, "k,bw\nbig,2\n", f"k: {{is: factor, unit: KiB}}\nbw: {BANDWIDTH}")


WRONG = {
    "bw: {is: metric, unit: MB/s, clokc: last_done}": ("unknown-key", "columns.bw.clokc", "clock"),
    "bw: metrc": ("unknown-value", "columns.bw", ""),
    "bw: factor": ("missing-metric", "columns", ""),
    "bw: {is: metric, unit: MB/s}": ("missing-key", "columns.bw", "clock: last_done"),
    "bw: {is: metric, unit: Mb/s, clock: last_done}": ("unknown-unit", "columns.bw.unit", ""),
    "bw: {is: metric, clock: last_done}": ("missing-key", "columns.bw", "unit: MB/s"),
    "w: {is: metric, unit: W}": ("missing-key", "columns.w", "better:"),
    "t: {is: metric, unit: s, better: higher}": ("wrong-direction", "columns.t.better", ""),
    "t: {is: metric, unit: s, clock: last_done}": ("unused-key", "columns.t.clock", ""),
    f"a: rank\nb: rank\nbw: {BANDWIDTH}": ("duplicate-role", "columns", ""),
    f"metric: factor\nbw: {BANDWIDTH}": ("reserved-name", "columns.metric", ""),
    f"a b: factor\nbw: {BANDWIDTH}": ("invalid-name", "columns.a b", "name:"),
    f"a: {{is: status}}\nbw: {BANDWIDTH}": ("missing-key", "columns.a", "complete"),
    f"a: {{is: rank, unit: s}}\nbw: {BANDWIDTH}": ("unused-key", "columns.a.unit", ""),
    f"bw: {BANDWIDTH}\nb: {BANDWIDTH}": ("duplicate-metric", "columns.b", ""),
}


@pytest.mark.parametrize("columns", WRONG)
def test_a_wrong_map_is_refused_with_its_line_and_what_to_do(tmp_path, columns):
    code, key, hint = WRONG[columns]
    with raises(code, SpecError, key=key) as caught:
        by_map(tmp_path, columns)
    assert hint in caught.value.hint and re.search(r"map.yaml:\d+: ", caught.value.message)


def test_a_metric_without_operation_and_a_file_that_is_no_map_are_refused(tmp_path):
    with raises("missing-key", SpecError, name="operation"):
        by_map(tmp_path, f"bw: {BANDWIDTH}", "")
    with raises("unreadable-file"):
        read_map(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("unit", "base", "value"),
    [
        ("MB/s", "bytes/s", 1e6),
        ("GiB/s", "bytes/s", 2.0**30),
        ("Gbit/s", "bytes/s", 1e9 / 8),
        ("kIOPS", "operations/s", 1e3),
        ("files/s", "operations/s", 1.0),
        ("us", "s", 1 / 1e6),
        ("KiB", "bytes", 1024.0),
        ("MB", "bytes", 1e6),
        ("%", "", 0.01),
        ("samples/s", "samples/s", 1.0),
    ],
)
def test_units_of_people_become_base_units(unit, base, value):
    assert (parse_unit(unit).base, parse_unit(unit).to_base(1)) == (base, value)


def test_a_cut_or_a_hole_changes_no_number_that_is_not_marked():
    columns, raw, rng = read_map(EXAMPLE / "mytool.yaml"), (EXAMPLE / "mytool.csv").read_bytes(), random.Random(4)
    known = {
        (row.operation, row.metric, row.value, row.line) for run in understood(raw, columns).runs for row in run.rows
    }
    for _ in range(400):
        at = rng.randrange(len(raw))
        for damaged in (raw[:at], raw[:at] + bytes(30) + raw[at + 30 :]):
            try:
                runs = understood(damaged, columns).runs
            except DataError:
                continue  # the header is gone
            for run in runs:
                strange = {(row.operation, row.metric, row.value, row.line) for row in run.rows} - known
                assert run.missing or not strange, (at, strange)


def test_any_bytes_by_a_map_are_read_or_refused():
    columns, raw, rng = read_map(EXAMPLE / "mytool.yaml"), (EXAMPLE / "mytool.csv").read_bytes(), random.Random(5)
    head = raw.index(b"\n", 20) + 1
    for _ in range(300):
        damaged = bytearray(raw)
        for _ in range(8):
            damaged[rng.randrange(head, len(damaged))] = rng.randrange(256)
        try:
            runs = understood(bytes(damaged), columns).runs
        except DataError as error:
            assert error.hint
            continue
        assert all(0 <= row.value < 1e18 and row.operation for run in runs for row in run.rows)


def understood(raw: bytes, columns):
    return understand_columns(Text(raw, "x.csv"), columns)


TABLE = """# by hand
op;n;kind;bw;lat;who;when;ok;note

write;4;a;1,5;10;0;2026-11-20T09:00:00;yes;x
write;4;a;2,5;20;1;2026-11-20T09:00:00;no;x
op;n;kind;bw;lat;who;when;ok;note
read;8;-;-;30;0;soon;yes;x
"""
TABLE_COLUMNS = f"""op: operation
n: {{is: factor, name: nodes}}
kind: {{is: factor, levels: {{a: alpha}}}}
bw: {BANDWIDTH}
lat: {{is: metric, name: latency_p99, unit: us}}
who: rank
when: started
ok: {{is: status, complete: [yes]}}"""


def test_a_table_is_read_as_a_whole(tmp_path):
    head = "separator: ';'\ndecimal: ','\nversion: '7'\nfactors: {site: x}\nfacts: {by: me}\n"
    reading = of(tmp_path, TABLE, TABLE_COLUMNS, head)
    expected = [
        [
            'run t ["7", "2026-11-20T09:00:00", 0.0]',
            '  factors {"site": "x", "nodes": 4, "kind": "alpha"}',
            '  facts {"by": "me"}',
            '  4 write bandwidth_own 1500000 bytes/s {"rank": 0}',
            '  4 write latency_p99 1e-05 s {"rank": 0}',
            '  5 write bandwidth_own 2500000 bytes/s {"rank": 1}',
            '  5 write latency_p99 2e-05 s {"rank": 1}',
            '  warnings line 2: unmapped-columns {"columns": "note"}',
            '  missing line 5: invalid-number {"column": "ok", "cell": "no"}',
        ],
        [
            'run t ["7", "", 0.0]',
            '  factors {"site": "x", "nodes": 8, "kind": null}',
            '  facts {"by": "me"}',
            '  7 read latency_p99 3e-05 s {"rank": 0}',
            '  warnings line 7: invalid-number {"cell": "soon", "column": "when"}',
        ],
    ]
    assert [list(describe_run(run)) for run in reading.runs] == expected


@pytest.mark.parametrize(
    ("text", "columns", "head", "code", "values"),
    [
        ("k,bw\n64q,1\n", "k: {is: factor, unit: size}", "", "invalid-size", {"line": 2, "column": "k", "cell": "64q"}),
        ("k,bw\n1.0,1\n1,2\n", "k: factor", "", "ambiguous-level", {"level": "1.0", "other_level": "1"}),
        ("k,bw\n1,1\n1,2\n", "k: trial", "", "duplicate-trial", {"line": 3, "first_line": 2}),
        ("k,bw\n1,1\n1,2\n", "k: repetition", "", "duplicate-trial", {"line": 3, "first_line": 2}),
        ("k,bw\nx,1\n", "k: repetition", "", "invalid-number", {"line": 2, "column": "k", "cell": "x"}),
        ("k,bw\n1,1\nmany,2\n", "k: {is: factor, unit: KiB}", "", "invalid-number", {"line": 3, "cell": "many"}),
    ],
)
def test_a_cell_that_means_nothing_is_refused(tmp_path, text, columns, head, code, values):
    with raises(code, DataError, path="x.csv", **values):
        of(tmp_path, text, f"{columns}\nbw: {BANDWIDTH}", head or "operation: write\n")


@pytest.mark.parametrize(
    ("cells", "column", "levels"),
    [
        (["1", "2.5", "-"], "factor", [1, 2.5, None]),
        (["1", "two"], "factor", ["1", "two"]),
        (["1", "1"], "factor", [1, 1]),
        (["1", "2"], "{is: factor, text: true}", ["1", "2"]),
        (["4.1", "4.10"], "{is: factor, text: false}", [4.1, 4.1]),
        (["4", "0.5"], "{is: factor, unit: KiB}", [4096, 512]),
        (["1500", "1"], "{is: factor, unit: us}", [0.0015, 1e-06]),
        (["a", "b"], "{is: factor, levels: {a: 1, b: true}}", [1, True]),
    ],
)
def test_cells_of_a_factor_become_levels(tmp_path, cells, column, levels):
    text = "k,bw\n" + "".join(f"{cell},1\n" for cell in cells)
    assert [run.factors["k"] for run in of(tmp_path, text, f"k: {column}\nbw: {BANDWIDTH}").runs] == levels


def test_columns_outside_the_map_and_an_empty_table_are_noted(tmp_path):
    [run] = of(tmp_path, "n,bw,x,y\n1,2,3,4\n", f"n: factor\nbw: {BANDWIDTH}").runs
    expected = '  warnings line 1: unmapped-columns {"columns": "x, y"}'
    assert list(describe_run(run))[-1] == expected
    [lost] = of(tmp_path, "# c\nn,bw\n", f"n: factor\nbw: {BANDWIDTH}").runs
    expected = ["  missing line 2: no-results {}"]
    assert list(describe_run(lost))[1:] == expected


@pytest.mark.parametrize(
    ("columns", "head", "code", "key"),
    [
        (f"a: factor\nb: {{is: factor, name: a}}\nc: {BANDWIDTH}", "operation: w\n", "duplicate-factor", "columns.b"),
        (f"a: factor\nbw: {BANDWIDTH}", "operation: write\nfactors: {a: 1}\n", "duplicate-factor", "columns.a"),
        (f"bw: {BANDWIDTH}", "operation: write\nfactors: {tool: 1}\n", "reserved-name", "factors.tool"),
        ("n: {is: metric, name: 'a b', unit: s}", "operation: write\n", "invalid-name", "columns.n"),
        ("op: operation\nb: {is: metric, unit: MB/s}", "", "missing-key", "columns.b"),
        ("x: {is: metric, unit: s, better: higher}", "operation: write\n", "wrong-direction", "columns.x.better"),
        ("f: {is: fact, unit: s}\nb: {is: metric, unit: s}", "operation: write\n", "unused-key", "columns.f.unit"),
    ],
)  # fmt: skip
def test_a_wrong_map_is_refused_at_its_key(tmp_path, columns, head, code, key):
    with raises(code, SpecError, key=key):
        by_map(tmp_path, columns, head)


def test_a_right_map_is_its_columns(tmp_path):
    columns = (
        "op: operation\nr: rank\nb: {is: metric, unit: MB/s}\nc: {is: metric, unit: s}\n"
        "loss: {is: metric, unit: '1', better: lower}"
    )
    read = by_map(tmp_path, columns, "separator: tab\nempty: [none]\n")
    assert (read.tool, read.separator, read.decimal, read.operation) == ("t", "\t", ".", "")
    assert read.empty == {"", "-", "NA", "N/A", "n/a", "null", "None", "none"}
    assert read.headline == ("b", "c", "loss")
    assert [(column.header, column.role, column.metric, column.unit.base) for column in read.columns] == [
        ("op", "operation", "op", ""),
        ("r", "rank", "r", ""),
        ("b", "metric", "b", "bytes/s"),
        ("c", "metric", "c", "s"),
        ("loss", "metric", "loss", ""),
    ]


def test_cells_of_facts_are_one_value_or_a_list_of_those_that_differ(tmp_path):
    text = "job,who,note,bw\n7,0,a,1\n7,1,b,2\n7,2,a,3\n7,3,c,4\n8,0,a,5\n"
    columns = f"job: trial\nwho: rank\nnote: {{is: fact, name: by}}\nbw: {BANDWIDTH}"
    runs = of(tmp_path, text, columns).runs
    assert [run.facts for run in runs] == [{"by": ["a", "b", "c"]}, {"by": "a"}]
    assert values(of(tmp_path, text, columns)) == [[1e6, 2e6, 3e6, 4e6], [5e6]]


@pytest.mark.parametrize(
    ("column", "cell", "started_at", "noted"),
    [
        ("{is: started, unit: s}", "1600000000", "2020-09-13T12:26:40Z", False),
        ("{is: started, unit: s}", "0.5", "1970-01-01T00:00:00.500000Z", False),
        ("{is: started, unit: ms}", "1600000000000", "", True),
        ("{is: started, unit: s}", "100000000001", "", True),
        ("{is: started, unit: s}", "noon", "", True),
        ("started", "2026-11-20 09:00:00", "2026-11-20T09:00:00", False),
        ("started", "Sat Nov 21 09:26:00 2026", "2026-11-21T09:26:00", False),
        ("started", "-", "", False),
        ("{is: started, format: '%d.%m.%Y'}", "21.11.2026", "2026-11-21T00:00:00", False),
        ("{is: started, format: '%d.%m.%Y'}", "2026.11.21", "", True),
    ],
)
def test_a_time_stamp_is_read_by_its_unit_or_its_format(tmp_path, column, cell, started_at, noted):
    [run] = of(tmp_path, f"t,bw\n{cell},1\n", f"t: {column}\nbw: {BANDWIDTH}").runs
    assert (run.started_at, bool(run.warnings)) == (started_at, noted)


@pytest.mark.parametrize(
    ("role", "cell", "index", "bad"),
    [
        ("rank", "5", 5, False),
        ("rank", "ALL", None, False),
        ("rank", "*", None, False),
        ("rank", "sum", None, False),
        ("rank", "-", None, False),
        ("rank", "", None, False),
        ("rank", "five", None, True),
        ("iteration", "2", 2, False),
        ("iteration", "-1", None, True),
    ],
)
def test_a_rank_or_an_iteration_is_a_whole_number_or_all(tmp_path, role, cell, index, bad):
    found = of(tmp_path, f"i,bw\n{cell},1\n", f"i: {role}\nbw: {BANDWIDTH}")
    assert [getattr(row, role) for row in found.runs[0].rows] == [index]
    assert lacks(found, "invalid-number", cell=cell, role=role) == bad


@pytest.mark.parametrize(
    ("ranks", "missing_rows"),
    [("0 1 2", None), ("1 2", None), ("2 3", (2, 3)), ("0 2", (2, 2)), ("1", None), ("2", (1, 2))],
)
def test_ranks_begin_at_0_or_1_and_none_is_left_out(tmp_path, ranks, missing_rows):
    text = "rank,bw\n" + "".join(f"{rank},1\n" for rank in ranks.split())
    [run] = of(tmp_path, text, f"rank: rank\nbw: {BANDWIDTH}").runs
    expected = [] if missing_rows is None else [missing_rows]
    assert [tuple(note.sentence.values.values()) for note in run.missing] == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [("# c,bw\nn,bw\n1,2\n", 2), ("  // c,bw\n\nn,bw\n1,2\n", 3), ("x\n n , bw\n1,2\n", 2), ('"x,bw\nn,bw\n1,2\n', 2)],
)
def test_the_header_is_the_first_line_with_all_columns_that_is_no_comment(tmp_path, text, line):
    found = of(tmp_path, text, f"bw: {BANDWIDTH}")
    assert (found.claim.line, values(found)) == (line, [[2e6]])


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("zz\nn,bq,c\n1,2\n", 2, "bw"), ("zz\n\nn,bq\nn,bx\n", 3, "bw"), ("\nx\ny\n", 1, "n"), ("bw,x\n", 1, "n")],
)
def test_a_missing_column_is_reported_at_the_line_with_most_of_the_others(tmp_path, text, line, column):
    with raises("unknown-column", DataError, path="x.csv", line=line, column=column):
        of(tmp_path, text, f"n: factor\nbw: {BANDWIDTH}")


@pytest.mark.parametrize(
    ("text", "n_values", "code"),
    [
        ("bw,s\n1,a\n2,b", 1, "cut-last-line"),
        ("bw,s\n1,a\n2,a", 2, None),
        ("bw,s\n1,a\n2,b\n", 2, None),
        ('bw,s\n1,a\n2,"b"', 2, None),
        ("bw,s,x\n1,a,y\n2,b,z", 2, None),
        ("bw,s,x\n1,a,1\n2,b,2", 1, "cut-last-line"),
    ],
)
def test_a_text_at_the_very_end_may_be_cut_unless_another_row_has_it(tmp_path, text, n_values, code):
    found = of(tmp_path, text, f"bw: {BANDWIDTH}\ns: factor")
    assert len([value for run in values(found) for value in run]) == n_values
    assert [note.sentence.code for run in found.runs for note in run.missing] == ([code] if code else [])


def test_settings_of_a_trial_named_by_a_column_are_those_of_each_row(tmp_path):
    text = "job,n,op,bw\n7,1,w,1\n7,2,w,2\n8,1,w,3\n"
    runs = of(tmp_path, text, f"job: trial\nn: factor\nop: operation\nbw: {BANDWIDTH}", "").runs
    assert [[(row.value, row.factors) for row in run.rows] for run in runs] == [
        [(1e6, {"n": 1}), (2e6, {"n": 2})],
        [(3e6, {"n": 1})],
    ]
    assert [run.factors for run in runs] == [{}, {}]


def test_a_row_without_a_number_marks_its_trial_once(tmp_path):
    found = of(tmp_path, "n,bw\n1,-\n2,x\n3,4\n", f"n: factor\nbw: {BANDWIDTH}")
    assert [[(note.line, note.sentence.code) for note in run.missing] for run in found.runs] == [
        [(2, "no-results")],
        [(3, "invalid-number")],
        [],
    ]


PROBLEMS = """a: {is: factor, name: 'x y'}
b: rank
c: {is: rank, unit: MB/s}
d: {is: metric}
e: {is: metric, unit: W, name: power}
f: {is: metric, unit: furlong}
g: {is: status}
h: {is: factor, name: nodes}
i: {is: factor, name: nodes}
j: {is: metric, unit: s, clock: last_done, name: t}
k: {is: metric, unit: s, name: t, better: higher}
l: {is: metric, unit: s, name: t, operation: read}
m: {is: metric, unit: s, name: t}"""


def test_all_problems_of_a_map_are_listed_with_their_values(tmp_path):
    with raises("several-mistakes", SpecError) as caught:
        by_map(tmp_path, PROBLEMS)
    found = {(problem.code, problem.key): problem.values for problem in caught.value.problems}
    expected = {
        ("duplicate-role", "columns"): {"n_columns": 2, "role": "rank"},
        ("invalid-name", "columns.a"): {"name": "x y"},
        ("unused-key", "columns.c.unit"): {"role": "rank"},
        ("missing-key", "columns.d"): {"name": "unit"},
        ("missing-key", "columns.e"): {"name": "better"},
        ("unknown-unit", "columns.f.unit"): {"unit": "furlong"},
        ("missing-key", "columns.g"): {"name": "complete"},
        ("duplicate-factor", "columns.i"): {"factor": "nodes"},
        ("unused-key", "columns.j.clock"): {},
        ("wrong-direction", "columns.k.better"): {"metric": "t", "unit": "s", "direction": "lower"},
        ("duplicate-metric", "columns.m"): {"column": "k"},
    }
    assert {
        place: {name: values[name] for name in expected.get(place, {})} for place, values in found.items()
    } == expected
    lines = {problem.key: problem.place for problem in caught.value.problems}
    assert (lines["columns"], lines["columns.d"], lines["columns.m"]) == (3, 7, 16)


@pytest.mark.parametrize(
    ("column", "head", "code", "name"),
    [
        ("{is: metric, unit: MB/s}", "operation: w\n", "missing-key", "clock"),
        ("{is: metric, unit: MB/s, clock: unknown}", "", "missing-key", "operation"),
    ],
)
def test_a_metric_without_its_clock_or_operation_is_refused_by_name(tmp_path, column, head, code, name):
    with raises(code, SpecError, key="columns.bw", name=name):
        by_map(tmp_path, f"bw: {column}", head)


def test_a_column_has_all_that_its_map_says(tmp_path):
    columns = (
        "k: {is: factor, name: kernel, text: true, levels: {a: 1}}\n"
        "s: {is: factor, unit: size}\n"
        "when: {is: started, format: '%d'}\n"
        "ok: {is: status, complete: [true, 1, fine]}\n"
        "bw: {is: metric, name: bandwidth, unit: MB/s, clock: first_done, includes: 'open,close', operation: read}\n"
        "r: {is: metric, name: rate, unit: kIOPS, clock: unknown}"
    )
    head = "operation: write\nversion: '2'\nheadline: [rate]\nfactors: {site: x}\nfacts: {by: me}\ndecimal: ','\n"
    read = by_map(tmp_path, columns, head + "separator: ';'\n")
    kernel, size, when, status, bandwidth, rate = read.columns
    assert (kernel.name, kernel.kind, kernel.text, kernel.levels, kernel.typed_size) == (
        "kernel",
        "kernel",
        True,
        {"a": 1},
        False,
    )
    assert (size.name, size.unit.base, size.typed_size, size.text, when.form) == ("s", "bytes", True, None, "%d")
    assert status.complete == {"true", "1", "fine"}
    assert (bandwidth.metric, bandwidth.kind, bandwidth.includes, bandwidth.operation, bandwidth.unit) == (
        "bandwidth_first_done",
        "bandwidth",
        "open,close",
        "read",
        ("bytes/s", 1e6, 1.0),
    )
    assert (rate.metric, rate.includes, rate.operation, rate.unit) == ("rate", "", "write", ("operations/s", 1e3, 1.0))
    assert (read.version, read.headline, read.factors, read.facts) == ("2", ("rate",), {"site": "x"}, {"by": "me"})
    assert (read.separator, read.decimal) == (";", ",")
