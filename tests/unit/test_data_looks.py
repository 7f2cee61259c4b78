"""What a column looks like, one by one, and what is read of a text: tables of small columns."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.column_units import split_unit
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Column, Table, build_column, build_table
from iosonde.data import derived, experiments, looks, outcomes, tables
from iosonde.data.roles import guess_roles
from iosonde.data.subsamples import average_trials
from iosonde.store import plain_csv
from iosonde.tables import csv_text
from messages import raises


def column(values, name="x", unit="") -> Column:
    return build_column(name, list(values), name, unit)


@pytest.mark.parametrize(
    ("values", "name", "unit", "is_measured"),
    [
        ([1.5, 2.5, 3.5], "x", "", True),
        ([1.5, 1.5, 2.5, 2.5], "x", "", False),  # half of them differ
        ([1.5, 1.5, 2.5], "x", "", True),
        ([1, 2, 3], "x", "", False),
        ([1, 2, 3], "latency", "", True),
        ([1, 2, 3], "bandwidth_limit", "", False),
        ([1, 2, 3], "x", "MB/s", True),
        ([1, 2, 3], "x", "ms", True),
        ([1.5, 2.5, 3.5], "x", "bytes", False),
        ([1.5, None, None, None], "x", "", True),
        ([None, None], "latency", "s", False),
        (["a", "b"], "latency", "s", False),
    ],
)
def test_what_surely_was_measured(values, name, unit, is_measured):
    assert looks.is_surely_measured(column(values, name, unit)) is is_measured


@pytest.mark.parametrize(
    ("values", "is_value"),
    [
        (["450,9", "99.8 MB/s", "x"], True),
        (["450,9", "x"], True),
        (["450,9", "x", "y"], False),
        ([None, None], False),
        (["450,9", None], True),
        (["10:30", "2026-01-01"], False),
        ([1, 2], False),
        (["-5 ms", "+3 ms"], True),
    ],
)
def test_texts_that_are_values(values, is_value):
    assert looks.has_values_as_text(column(values)) is is_value


@pytest.mark.parametrize(
    ("name", "values", "unit", "is_rank"),
    [
        ("rank", [0, 1, 2, 1], "", True),
        ("mpi_rank", [1, 2], "", True),
        ("rank", [2, 3], "", False),
        ("rank", [0, 2], "", False),
        ("rank", [0, 0], "", False),
        ("thread", [0, 1], "", True),
        ("thread", [1, 2], "", False),
        ("ranks", [0, 1], "", False),
        ("rank", [0, 1], "s", False),
        ("rank", ["0", "b"], "", False),
        ("rank count", [0, 1], "", False),
    ],
)
def test_numbers_of_ranks(name, values, unit, is_rank):
    assert bool(looks.is_rank_number(column(values, name, unit))) is is_rank


def test_shares_and_whole_numbers():
    assert looks.is_mostly_distinct(column([1, 1, 2, None])) and not looks.is_mostly_distinct(column([1, 1, 2, 2]))
    assert not looks.is_mostly_distinct(column([None, None]))
    assert (looks.has_integers(column([1, 2.0, None])), looks.has_integers(column([1, 2.5]))) == (True, False)


GRID = {
    "fs": ["a", "a", "b", "b", "c", "c"],
    "size": [1, 1, 2, 2, 3, 3],
    "repetition": [1, 2, 1, 2, 1, 2],
    "seen": [7013, 7027, 17011, 17041, 27017, 27059],
    "same": [3, 3, 3, 3, 3, 3],
}


def found(data: dict, numbering=("repetition",)) -> list[str]:
    table = build_table(data)
    columns = [one for name, one in table.columns.items() if name not in numbering]
    return outcomes.find_outcomes(table, columns, numbering)


@pytest.mark.parametrize(
    ("change", "numbering", "names"),
    [
        ({}, ("repetition",), ["seen"]),
        ({"seen": [7013, 7027, 7027, 17011, 17011, 7013]}, ("repetition",), ["seen"]),  # three levels, two repetitions
        ({"seen": [7013, 7027, 7027, 7013, 7013, 7027]}, ("repetition",), []),  # two levels
        ({"seen": [7013, 7027, 17011, 17011, 27017, 27017]}, ("repetition",), []),  # varies inside one cell alone
        ({"repetition": [1, 2, 3, 4, 5, 6]}, ("repetition",), ["seen"]),  # by what hardly repeats
        ({"repetition": [1, 2, 3, 4, 5, 6], "seen": [7, 8, 17, 18, 27, 28]}, ("repetition",), []),  # looks chosen
        ({}, (), ["seen"]),
    ],
)
def test_numbers_that_vary_among_repetitions_are_outcomes(change, numbering, names):
    data = {name: values for name, values in (GRID | change).items() if name in numbering or name != "repetition"}
    assert found(data, numbering) == names


def test_the_design_is_the_numbers_with_the_fewest_levels():
    """With ``many`` before ``size`` each cell would be one row."""
    data = {"many": [11, 12, 21, 22, 31, 32], **GRID}
    del data["fs"]
    assert found(data) == ["many", "seen"]


@pytest.mark.parametrize(
    ("inside", "is_outcome"),
    [
        ([[10, 10.5], [20, 20.5]], True),  # varies by a twentieth
        ([[10, 40], [12, 50]], False),  # by more than it differs between cells
        ([[1, 1.5], [100, 150]], True),  # by much, but depends on the cell
        ([[10, 10], [20, 20]], False),  # repeats
        ([[np.nan, 10.0], [np.nan, 20.0]], False),  # no two of a cell
    ],
)
def test_an_outcome_hardly_varies_inside_a_setting(inside, is_outcome):
    values = np.array(inside, dtype=float)
    cells = [np.array([2 * place, 2 * place + 1]) for place in range(len(inside))]
    assert outcomes._is_outcome(Column("x", values.ravel()), cells) is is_outcome


@pytest.mark.parametrize(
    ("numbers", "is_chosen"),
    [
        ([1024, 4096, 77], True),
        ([1000, 1500, 1234567], True),
        ([8, 1234567, 7654321], False),
        ([1234, 5678], False),
        ([], False),
    ],
)
def test_numbers_that_people_choose(numbers, is_chosen):
    assert outcomes._has_chosen_numbers(column([*numbers, None, 0.0])) is is_chosen


def test_the_roles_of_a_whole_table():
    table = build_table(
        {
            "run": [1, 2, 3, 4],
            "when": ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"],
            "fs": ["a", "b", "a", "b"],
            "block size": [1, 2, 1, 2],
            "note": ["one of many long remarks", "and another one of the same", None, None],
            "empty": [None, None, None, None],
            "speed": [1.5, 2.5, 3.5, 4.5],
            "latency": [9, 8, 7, 5],
        }
    )
    roles = guess_roles(table)
    assert (roles.responses, roles.settings) == (("speed", "latency"), ("fs", "block size"))
    assert (roles.numbering, roles.remarks, roles.others) == (("run", "when"), ("note", "empty"), ())
    asked = guess_roles(table, ["speed"])
    assert (asked.responses, asked.settings, asked.others) == (("speed",), ("fs", "block size"), ("latency",))
    assert asked.ignored == ("run", "when", "note", "empty", "latency")
    assert guess_roles(table, ["speed"], ["fs", "run"]).settings == ("fs", "run")


@pytest.mark.parametrize(
    ("data", "response"),
    [
        ({"a": [1, 1, 2, 2], "y": [1.5, 1.5, 2.5, 2.5]}, "y"),  # the only one with decimals
        ({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"]}, "a"),  # the only number
        ({"a": [1, 1, 1, 1, 2, 2, 2, 2], "y": [1, 1, 3, 3, 5, 5, 9, 9]}, "y"),  # twice as many levels
        ({"a": [1, 1, 2, 2], "bw": [1, 1, 2, 2]}, "bw"),
        ({"a": [1, 3, 2, 2], "b": [1, 1, 2, 2]}, "a"),  # hardly any duplicates
    ],
)
def test_the_response_of_a_table_that_does_not_name_one(data, response):
    assert guess_roles(build_table(data)).responses == (response,)


def test_a_table_without_a_response_is_refused_with_its_columns():
    with raises("undetermined-response", InputError, table="the table", columns="a, y"):
        guess_roles(build_table({"a": [1, 1, 2, 2, 3, 3], "y": [1, 1, 2, 2, 5, 5]}))


@pytest.mark.parametrize(
    ("name", "values", "is_number"),
    [
        ("trial_id", [5, 9, 5], True),
        ("run in group", [5, 9], True),
        ("block size", [5, 9], False),
        ("run time", [5, 9], False),
        ("number of nodes", [5, 9], False),
        ("x", [5, 6, 7], True),
        ("x", [5, 6, 8], False),
        ("x", [6, 8], False),
        ("run", [5.5, 6.5], False),
        ("run", [5], False),
        ("x", ["2026-01-01", "x"], False),
        ("number", [5, 9, 5], True),
        ("run of nodes", [5, 9], False),
        ("number 2", [5, 9], False),
        ("trial bytes", [5, 9], False),
        ("run (s)", [5, 9], False),
        ("rank", [0, 1, 1, 0], True),
        ("bring_up", [7, 7, 9], True),
        ("x", [6, None, 7], True),
        ("x", [6, 7, 9], False),
        ("x", [7, 6], False),
        ("x", ["2026-01-01", "2026-01-01"], True),
        ("x", ["2026-01-01", None], False),
        ("x", ["2026-01-01"] * 20 + ["x"], True),
        ("x", ["2026-01-01"] * 19 + ["x"], False),
    ],
)
def test_columns_that_number_the_rows(name, values, is_number):
    speed = build_column("speed", [float(place) + 0.5 for place in range(len(values))])
    table = Table({name: build_column(name, values, *split_unit(name)), "speed": speed})
    assert (name in guess_roles(table, ["speed"]).numbering) is is_number


def test_ranks_are_averaged_first():
    data = {"trial": [1, 1, 2, 2], "rank": [0, 1, 0, 1], "fs": ["a"] * 4, "speed": [1.5, 3.5, 10.5, None]}
    trials = average_trials(build_table(data), ["speed"], ["fs"])
    assert trials.rows.numbers("speed").tolist() == [2.5, 10.5] and not trials.are_parts
    assert (trials.note.code, trials.note.values) == ("averaged-parts", {"parts": "ranks"})


def test_ranks_of_unknown_trials_are_taken_by_turns_or_refused():
    data = {"rank": [0, 1, 1, 0], "fs": ["a"] * 4, "speed": [1.5, 3.5, 10.5, 20.5]}
    turns = average_trials(build_table(data), ["speed"])
    assert turns.rows.numbers("speed").tolist() == [2.5, 15.5]
    mixed = average_trials(build_table(data | {"rank": [0, 0, 1, 1]}), ["speed"])
    assert (mixed.are_parts, mixed.note.code, mixed.note.values) == (True, "missing-trial-column", {"column": "rank"})
    assert len(mixed.rows) == 4


def test_rows_that_are_trials_stay():
    for data in ({"fs": ["a", "b"], "speed": [1.5, 2.5]}, {"trial": [1, 2], "speed": [1.5, 2.5]}):
        trials = average_trials(build_table(data), ["speed"])
        assert (len(trials.rows), trials.note) == (2, "")


COLUMNS = ["Y", "n", "write_MiB/s"]


@pytest.mark.parametrize(
    ("text", "values", "names", "transform"),
    [
        ("log2(Y)", [2, 3], ("Y",), "log2"),
        ("log2(Y) + 1", [3, 4], ("Y",), ""),
        ("Y / n", [2, 8 / 3], ("Y", "n"), ""),
        ("write_MiB/s - Y", [6, 12], ("write_MiB/s", "Y"), ""),
        ("-Y ** 2 * 1e1", [-160, -640], ("Y",), ""),
    ],
)
def test_a_formula_over_columns(text, values, names, transform):
    made = derived.parse_expression(text, COLUMNS)
    columns = {"Y": np.array([4.0, 8.0]), "n": np.array([2.0, 3.0]), "write_MiB/s": np.array([10.0, 20.0])}
    assert made is not None and made.values(columns) == pytest.approx(values)
    assert (made.names, made.transform) == (names, transform)


@pytest.mark.parametrize(
    ("text", "is_scaled", "is_falling"),
    [
        ("Y * 2", True, False),
        ("2 * Y / n", True, False),
        ("n / Y", False, True),
        ("Y + 1", False, False),
        ("n - Y", False, True),
        ("-Y", False, True),
        ("inverse(Y)", False, True),
        ("1 - inverse(Y)", False, False),
        ("log(Y)", False, False),
        ("Y ** -1", False, True),
        ("Y ** 2", False, False),
        ("n / (1 / Y)", False, False),
    ],
)
def test_what_a_formula_does_to_a_column(text, is_scaled, is_falling):
    made = derived.parse_expression(text, COLUMNS)
    assert made is not None and derived.is_scaled(made.expression.tree, "Y") is is_scaled
    assert derived.is_decreasing(made.expression.tree, "Y") is is_falling


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("Y + z", "unknown-column", {"column": "z"}),
        ("cube(Y)", "unknown-transform", {"transform": "cube"}),
        ("Y if n else Y", "invalid-expression", {"expression": "Y if n else Y"}),
        ("log(Y, n)", "invalid-expression", {}),
        ("Y" * 501, "expression-too-long", {"n_characters": 501}),
    ],
)
def test_what_is_no_formula_is_refused(text, code, values):
    with raises(code, InputError, **values):
        derived.parse_expression(text, COLUMNS)


def test_a_formula_is_refused_at_the_first_row_where_it_is_undefined():
    made = derived.parse_expression("Y / n", COLUMNS)
    assert derived.parse_expression("1 + 2", COLUMNS) is None
    with raises("undefined-transform", DataError, values="Y=2, n=0"):
        made.values({"Y": np.array([np.nan, 2.0, 3.0]), "n": np.array([0.0, 0.0, 0.0])})


@pytest.mark.parametrize(
    ("text", "names", "columns", "lines"),
    [
        ("a,b\n1,x\n2,y\n", ["a", "b"], [[1, 2], ["x", "y"]], [2, 3]),
        ("# c\n\na;b\n1,5;-\n# d\n2;NA\n", ["a", "b"], [["1,5", "2"], [None, None]], [4, 6]),
        ("a\tb,c\td\n1\t2\t3\n", ["a", "b,c", "d"], [[1], [2], [3]], [2]),
        ("a,,b\n1, 2 ,\n", ["a", "column2", "b"], [[1], [2], [None]], [2]),
        ("a,b\n1,2,\n3,4, \n", ["a", "b"], [[1, 3], [2, 4]], [2, 3]),
        ("a,b\nnan,1_0\n2,3\n", ["a", "b"], [["nan", "2"], ["1_0", "3"]], [2, 3]),
        ('a,b\n"1\n2","x, y"\n', ["a", "b"], [["1\n2"], ["x, y"]], [3]),
        ("\ufeffa|b\n1|2\n", ["a", "b"], [[1], [2]], [2]),
    ],
)
def test_a_csv_is_read_as_people_write_it(tmp_path, text, names, columns, lines):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    table = csv_text.parse_csv(path.read_bytes(), str(path))
    assert (table.names, [one.values.tolist() for one in table.columns.values()]) == (names, columns)
    assert table.lines.tolist() == lines and table.source == str(path)


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("", "empty-file", {}),
        ("# a\n\n", "empty-file", {}),
        ("a,b\n", "no-rows", {}),
        ("\n1,2\n3,4\n", "missing-header", {"line": 2}),
        ("a,b,a\n1,2,3\n", "duplicate-column", {"column": "a", "first_position": 1, "second_position": 3}),
        ("a,b\n1\n", "wrong-cell-count", {"line": 2, "n_cells": 1, "n_columns": 2}),
        ("a,b\n1,2\n1,2,3\n", "wrong-cell-count", {"line": 3, "n_cells": 3, "n_columns": 2}),
        ("a,b\n1,\0\n", "not-a-table", {}),
        (b"a,b\n1,\x81\n", "not-utf8", {"line": 2}),
    ],
)
def test_what_is_no_csv_is_refused_with_its_line(tmp_path, text, code, values):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with raises(code, DataError, path=path, **values):
        csv_text.parse_csv(path.read_bytes(), str(path))


def test_the_cure_of_a_wrong_row_is_that_of_its_kind(tmp_path):
    hints = []
    for text in ("a,b\n1\n", "a,b\n1,2,3\n", "a;b\n1;2;3\n"):
        (tmp_path / "t.csv").write_text(text)
        with raises("wrong-cell-count", DataError) as caught:
            csv_text.parse_csv((tmp_path / "t.csv").read_bytes(), str(tmp_path / "t.csv"))
        hints.append(caught.value.hint)
    assert "decimal" in hints[1] and "decimal" not in hints[0] + hints[2] and len(set(hints)) == 3


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        ("1,a,\n 2 ,b,-\n", [[1.0, 2.0], ["a", "b"], [None, None]]),
        ("+1,NA,x\n3, c ,NA\n", [[1.0, 3.0], [None, "c"], ["x", None]]),
        ("inf,1e3,1\n2,4,NA\n", [["inf", "2"], [1000.0, 4.0], [1.0, None]]),
        ("1_0,１,0\n2,4,5\n", [["1_0", "2"], [1.0, 4.0], [0.0, 5.0]]),
    ],
)
def test_a_large_csv_is_read_as_a_small_one(tmp_path, monkeypatch, body, columns):
    path = tmp_path / "t.csv"
    path.write_text(f'"x (s)","y",z\n{body}', encoding="utf-8")
    monkeypatch.setattr(csv_text, "_LEAST_PLAIN", 1)
    plain = csv_text._parse_plain(path, path.read_text(encoding="utf-8"))
    monkeypatch.setattr(csv_text, "_LEAST_PLAIN", 1 << 20)
    slow = csv_text.parse_csv(path.read_bytes(), str(path))
    assert plain is not None
    for table in (plain, slow):
        cells = [[None if cell != cell else cell for cell in one.values.tolist()] for one in table.columns.values()]
        assert (cells, table.names, table.lines.tolist()) == (columns, ["x (s)", "y", "z"], [2, 3])
        assert [(one.label, one.unit) for one in table.columns.values()] == [("x", "s"), ("y", ""), ("z", "")]


@pytest.mark.parametrize(
    "text", ['a,b\n"1",2\n', "a,b\n# 1\n1,2\n", "a,b\r1,2\n", "a b\n1\n", "a,b\n1,2,3\n", '"a,b\n1,2\n', "a,b\n"]
)
def test_other_large_texts_are_left_to_the_careful_reader(tmp_path, monkeypatch, text):
    monkeypatch.setattr(csv_text, "_LEAST_PLAIN", 1)
    assert csv_text._parse_plain(tmp_path / "t.csv", text) is None


def test_lines_are_plain_where_each_is_a_row():
    assert [plain_csv.is_plain(text) for text in ("a\r\nb\n", "a\rb", 'a"', "a#", "a\u2028b", "")] == [True] + [
        False
    ] * 4 + [True]


ROWS = Table(
    {name: build_column(name, values) for name, values in {"n": [1, 2, None, 4], "fs": ["a", "b", "a", None]}.items()},
    "t.csv",
)


@pytest.mark.parametrize(
    ("conditions", "rows"),
    [
        ([], [1, 2, None, 4]),
        ([("n", ">=", "2")], [2, 4]),
        ([("fs", "=", "a"), ("n", "!=", "1")], [None]),
        ([("fs", "=", "")], [4]),
    ],
)
def test_rows_that_fulfil_all_conditions(conditions, rows):
    values = tables.filter_rows(ROWS, conditions).columns["n"].values.tolist()
    assert [None if value != value else value for value in values] == rows


def test_conditions_that_no_row_fulfils_are_refused():
    with raises("no-matching-rows", DataError, conditions="n>4 and fs=a", source="t.csv"):
        tables.filter_rows(ROWS, [("n", ">", "4"), ("fs", "=", "a")])


@pytest.mark.parametrize(
    ("cells", "is_mixed"),
    [(["nodes"], True), (["experiment"], False), (["log2(label)"], False), (["label"], False), ([], True)],
)
def test_a_cell_is_of_one_experiment(cells, is_mixed):
    data = {"experiment": ["a", "b"], "nodes": [1, 1], "label": ["x", "y"], "operation": ["w", "w"]}
    assert experiments.has_mixed_cells(build_table(data), cells) is is_mixed
    assert not experiments.has_mixed_cells(build_table(data | {"experiment": ["a", "a"]}), cells)
    assert not experiments.has_mixed_cells(build_table({"nodes": [1, 1]}), cells)
    assert not experiments.has_mixed_cells(build_table(data | {"operation": ["w", "r"]}), ["nodes"])


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        (["1.5", "2.5", "x", "2.5"], "row 3"),
        (["1.5", "x", "2.5", "y"], "row 2"),  # half of them
        (["1", "1", "nan", "inf"], "row 3"),
        (["1.5", "x", "y"], None),  # most are words
        (["1", "1", "1", "x"], None),  # few differ: levels
        (["a", "b", "c"], None),
    ],
)
def test_a_few_odd_cells_among_numbers_stop_the_guess(cells, row):
    table = build_table({"y": [float(place) + 0.25 for place in range(len(cells))], "x": cells})
    if row is None:
        assert guess_roles(table, ["y"]).settings == ("x",) or "x" in guess_roles(table, ["y"]).remarks
        return
    with raises("not-a-number", DataError, row=row, column="x"):
        guess_roles(table, ["y"])


SENTENCE = "five words are a sentence"


@pytest.mark.parametrize(
    ("values", "is_remark"),
    [
        ([SENTENCE, SENTENCE], True),
        (["two words", "nine words of a remark that says very much"], True),  # five each on average
        ([SENTENCE, "four words are none"], False),
        ([SENTENCE, None, None], True),
        (["a", "b", None], True),  # hardly any duplicates
        (["a", "a", None], False),
        (["a", "b", "c"], False),  # in every row
        ([None, None, None], True),
        ([1.5, None, None], False),
    ],
)
def test_remarks_are_sentences_or_texts_of_some_rows(values, is_remark):
    data = {"x": values, "speed": [float(place) + 0.5 for place in range(len(values))]}
    assert ("x" in guess_roles(build_table(data), ["speed"]).remarks) is is_remark


@pytest.mark.parametrize(("name", "is_remark"), [("comment", True), ("Kommentar", True), ("tuned", False)])
def test_comments_on_some_rows_are_remarks_though_they_repeat(name, is_remark):
    data = {"fs": ["a", "b"] * 3, name: ["after a reboot", "after a reboot", *[None] * 4]}
    data["speed"] = [1.5, 2.25, 3.125, 4.5, 5.25, 6.125]
    assert (name in guess_roles(build_table(data), ["speed"]).remarks) is is_remark


@pytest.mark.parametrize(
    ("data", "responses"),
    [
        ({"latency": [1, 1, 2, 2], "y": [1.5, 2.5, 3.5, 4.5]}, ("y",)),  # surely measured comes first
        ({"latency": [1, 1, 2, 2], "a": [9, 7, 2, 5]}, ("latency",)),  # then a name
        ({"x (ms)": [1, 1, 2, 2], "a": [9, 7, 2, 5]}, ("a",)),  # then hardly any duplicates
        ({"x (ms)": [1, 1, 2, 2], "a": [1, 2, 1, 2]}, ("x (ms)",)),  # then a unit
        ({"x": [1.5, 2.5, 3.5, 4.5], "y": [2.5, 1.5, 9.5, 8.5], "a": [1, 1, 2, 2]}, ("x", "y")),
        ({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "gone": [None] * 4}, ("a",)),
        ({"x": [1.5, 1.5, 2.5, 2.5], "a": [1, 2, 1, 2], "y": [3, 3, 4, 4]}, ("x",)),
        ({"a": [1, 1, 2, 2] * 2, "b": [4, 4, 4, 4, 5, 5, 5, 5], "y": [1, 1, 3, 3, 5, 5, 9, 9]}, ("y",)),
    ],
)
def test_what_was_measured_is_guessed_by_its_surest_sign(data, responses):
    columns = {name: build_column(name, values, *split_unit(name)) for name, values in data.items()}
    assert guess_roles(Table(columns)).responses == responses


@pytest.mark.parametrize(
    ("text", "columns", "names"),
    [
        ("1 + 2", [], None),
        ("1 + 2", ["", "Y"], None),
        ("Y + 1", ["", "Y"], ("Y",)),
        ("write_MiB/s * 2", ["write_MiB", "s", "write_MiB/s"], ("write_MiB/s",)),
        ("write_MiB / s", ["write_MiB", "s", "write_MiB/s"], ("write_MiB", "s")),
        ("log(log)", ["log"], ("log",)),
        ("b + a + b", ["a", "b"], ("b", "a")),
        ("a.b + a", ["a", "a.b"], ("a.b", "a")),
    ],
)
def test_the_columns_of_a_formula_in_their_order(text, columns, names):
    made = derived.parse_expression(text, columns)
    assert (made and made.names) == names


@pytest.mark.parametrize("head", ["", '"'])
def test_none_is_a_level_among_words_and_missing_among_numbers(head):
    text = f"{head}scheduler{head},x,y\nnone,1,none\nbfq,2,7\nNA,3,8\n"
    table = csv_text.parse_csv(text.encode(), "t.csv")
    assert table.column("scheduler").values.tolist() == ["none", "bfq", None]
    assert table.column("y").missing.tolist() == [True, False, False]
