"""Figures of a published document: how parts of a table are merged, what is refused, what becomes a run."""

from __future__ import annotations

import pytest

from iosonde.core.problems import SpecError
from iosonde.importers import Text, Understood, published, understand
from iosonde.importers.published_figures import list_numbers, read_publication
from iosonde.importers.quoting import is_quoted

HEAD = "published: A data sheet\ndocument: sheet\nfigures:\n"
ONE = """\
  - where: page 1
    words: "writes 2 GB/s (90% interval 1.8 to 2.2, 8 runs)"
    operation: write
    metric: bandwidth
    clock: last_done
    unit: GB/s
    settings: {record_size: 64KiB}
    value: 2
    n: 8
    level: 0.9
    low: 1.8
    high: 2.2
"""
TABLE = """\
  - where: table 1
    words: "NFS 10 20 30, PVFS 40 50"
    operation: cp
    metric: time
    unit: s
    table:
      columns: [{settings: {copies: 1}}, {settings: {copies: 2}}, {settings: {copies: 3}}]
      rows:
        - {settings: {fs: nfs}, values: [10, 20, 30]}
        - {settings: {fs: pvfs}, words: "PVFS 40", values: [40, null, {value: 50, slip: {why: a digit is missing}}]}
"""
TRIALS = """\
  - where: slide 2
    words: "Real 179.5 193.2"
    operation: cp
    metric: real
    unit: s
    settings: {replica: 1}
    table: {rows: [{values: [179.5, 193.2]}]}
"""


def read(items: str) -> Understood:
    return understand(Text((HEAD + items).encode(), "sheet.yaml"))


def list_codes(items: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read(items)
    return [problem.code for problem in caught.value.problems]


def test_a_number_is_in_base_units_with_its_spread_place_and_document():
    reading = read(ONE)
    (run,) = reading.runs
    assert (reading.format, run.version, run.factors) == (
        "published",
        "sheet",
        {"document": "sheet", "record_size": 65536},
    )
    (row,) = run.rows
    assert (row.operation, row.metric, row.value, row.unit, row.line) == (
        "write",
        "bandwidth_last_done",
        2e9,
        "bytes/s",
        4,
    )
    spread = run.facts["published"]["write bandwidth_last_done"]
    assert (spread["n"], spread["level"], spread["low"], spread["high"]) == (8, 0.9, 1.8e9, 2.2e9)
    assert (spread["where"] in ONE, run.missing, reading.warnings) == (True, [], [])


def test_each_cell_of_a_table_has_the_settings_of_its_column_and_row():
    reading = read(TABLE)
    cells = {(run.factors["fs"], run.factors["copies"]): run.rows[0].value for run in reading.runs}
    assert cells == {("nfs", 1): 10, ("nfs", 2): 20, ("nfs", 3): 30, ("pvfs", 1): 40}
    assert [note.line for note in reading.warnings] == [13]  # the misprint


def test_a_slip_with_the_right_value_is_corrected():
    reading = read(ONE.replace("    n: 8\n", "    slip: {should_be: 1.9, why: the sum of its parts}\n"))
    assert [row.value for run in reading.runs for row in run.rows] == [1.9e9]
    assert len(reading.warnings) == 1


def test_values_of_a_row_without_columns_are_trials():
    runs = read(TRIALS).runs
    assert [(run.factors["repetition"], run.rows[0].value) for run in runs] == [(0, 179.5), (1, 193.2)]


def test_statistics_of_a_model_are_no_results_of_a_trial():
    slope = ONE.replace("    clock: last_done\n", "    statistic: slope\n").replace("64KiB", "1MiB")
    runs = read(ONE + slope).runs
    assert [len(run.rows) for run in runs] == [1] and len(runs[0].warnings) == 1
    numbers = read_publication(HEAD + ONE + slope, "x").figures
    assert [number.statistic for number in numbers] == ["", "slope"]


def test_every_mistake_has_its_line_and_its_cure():
    broken = ONE.replace("value: 2\n", "value: 3\n").replace("high: 2.2", "high: 2.3").replace("0.9", "0.95")
    assert list_codes(broken) == ["number-not-in-words"] * 3
    with pytest.raises(SpecError) as caught:
        read(broken)
    assert [(problem.place, problem.key) for problem in caught.value.problems] == [
        (4, "figures[0]"),
        (13, "figures[0].level"),
        (15, "figures[0].high"),
    ]
    assert all(problem.hint for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("    unit: GB/s\n", "    unit: Gb/s\n", "unknown-unit"),
        ("    clock: last_done\n", "", "missing-key"),
        ("    where: page 1\n", "", "missing-key"),
        ("record_size: 64KiB", "run: 3", "reserved-name"),
        ("    metric: bandwidth\n", "    metrik: bandwidth\n", "unknown-key"),
    ],
)
def test_a_number_needs_its_unit_clock_and_place(old, new, code):
    items = ONE.replace("  - where: page 1\n", "  - n: 8\n    where: page 1\n").replace(
        "    n: 8\n    level", "    level"
    )
    assert code in list_codes(items.replace(old, new))


def test_a_row_has_a_value_for_each_column_and_no_cell_is_there_twice():
    short, twice = TABLE.replace("[10, 20, 30]", "[10, 20]"), TABLE.replace("fs: pvfs", "fs: nfs")
    assert list_codes(short) == ["wrong-length"]
    assert list_codes(twice) == ["duplicate-figure"] * 3


def test_another_text_of_the_number_must_stand_in_the_words():
    ocr = ONE.replace("writes 2 GB/s", "writes 2 . 0 GB/s").replace("value: 2\n", "value: 2\n    printed: 2 . 0\n")
    assert read(ocr).runs[0].rows[0].value == 2e9
    assert list_codes(ocr.replace("printed: 2 . 0", "printed: 2 . 1")) == ["number-not-in-words"]


def test_numbers_of_a_text():
    text = "about 10,000 of .735 (73.5%), 64 KB-16 MB, -0.16 and (-39.676), 2e-04, a range of 188.0-210.2, k=2."
    assert list_numbers(text) == {10000, 0.735, 73.5, 64, 16, -0.16, -39.676, 2e-4, 188, 210.2, 2}


def test_numbers_with_a_comma_in_the_words_are_no_decimal_numbers():
    reading = read(ONE.replace("8 runs", "8 runs of 2,5 GB/s or 1,024 files"))
    assert reading.warnings == []


def test_its_importer_reads_no_number_of_a_file_with_mistakes():
    (run,) = published.parse(Text((HEAD + ONE.replace("value: 2", "value: 3")).encode(), "sheet.yaml"))
    assert (run.rows, [note.line for note in run.missing]) == ([], [4])


def test_such_a_file_is_data_in_spite_of_its_suffix():
    text = Text((HEAD + ONE).encode(), "sheet.yaml")
    assert not is_quoted("sheet.yaml", text, 1, "published") and is_quoted("sheet.yaml", text, 1, "ior")
