"""``iosonde compare DOCUMENT DATA``: the four kinds of documents of the examples, and what stops a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.agreement.judge import PublishedOutcome
from iosonde.cli.group import cli
from iosonde.core.errors import InputError

CONTRADICTED, INCONCLUSIVE, NOT_MEASURED = (
    PublishedOutcome.CONTRADICTED,
    PublishedOutcome.INCONCLUSIVE,
    PublishedOutcome.NOT_MEASURED,
)
INSIDE_INTERVAL, KEPT, SAME_SHARE, SAME_RANKING, DOCUMENT_WRONG = (
    PublishedOutcome.INSIDE_INTERVAL,
    PublishedOutcome.KEPT,
    PublishedOutcome.SAME_SHARE,
    PublishedOutcome.SAME_RANKING,
    PublishedOutcome.DOCUMENT_WRONG,
)
EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENTS = EXAMPLES / "documents"
RESULTS = Path(__file__).parents[2] / "docs" / "results"

SCALING = """\
published: A scaling study
document: scaling
hardware: HARDWARE
figures:
  - where: table 1
    words: "10 20 30 40"
    operation: write
    metric: bandwidth
    clock: last_done
    unit: MB/s
    table:
      columns:
        - {settings: {nodes: 1}}
        - {settings: {nodes: 2}}
        - {settings: {nodes: 4}}
        - {settings: {nodes: 8}}
      rows: [{values: [10, 20, 30, 40]}]
"""


def run(*words: object, exit_code: int = 0) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert done.exit_code == exit_code, done.output
    return done.stdout


def compare(*words: object, exit_code: int = 0) -> dict:
    return json.loads(run("compare", *words, "--json", exit_code=exit_code))


def list_outcomes(document: dict) -> list[str]:
    return [figure["outcome"] for figure in document["figures"]]


@pytest.fixture
def store(tmp_path):
    """Three trials on NFS, two on CephFS."""
    columns = EXAMPLES / "columns"
    run("import", columns / "mytool.csv", "--columns", columns / "mytool.yaml", "--store", tmp_path / "store")
    return tmp_path / "store"


def test_a_data_sheet_is_compared_by_the_interval(store):
    answer = compare(DOCUMENTS / "data_sheet.yaml", store)
    assert list_outcomes(answer) == [CONTRADICTED, INSIDE_INTERVAL]
    assert [figure["printed"] for figure in answer["figures"]] == [[120], [240]]
    assert [figure["measured"]["n"] for figure in answer["figures"]] == [3, 3]
    assert answer["counts"] == {INSIDE_INTERVAL: 1, CONTRADICTED: 1}


def test_the_document_may_come_second_and_its_own_imported_runs_are_not_measured(store):
    sheet = DOCUMENTS / "data_sheet.yaml"
    expected = compare(sheet, store)["figures"]
    run("import", sheet, "--store", store)
    assert compare(store, sheet)["figures"] == expected


def test_a_tender_is_kept_or_not(store):
    outcomes = list_outcomes(compare(DOCUMENTS / "tender.yaml", store))
    assert outcomes == [KEPT, CONTRADICTED, KEPT]


def test_an_acceptance_test_has_an_interval_of_its_own(store):
    write, read = compare(DOCUMENTS / "acceptance_test.yaml", store)["figures"]
    assert (write["outcome"], read["outcome"]) == (INSIDE_INTERVAL, CONTRADICTED)
    # 110.2 ± 2.365 · 2.9 / √8, and the mean of four trials.
    assert write["published"]["high"] / 1e6 == pytest.approx(112.6244, abs=1e-3)
    assert read["printed"] == [281.1, 279.4, 283.0, 280.2] and read["published"]["n"] == 4


def test_a_paper_about_other_hardware_is_compared_by_order_and_share():
    answer = compare(DOCUMENTS / "paper.yaml", RESULTS / "clients-servers.parquet")
    assert list_outcomes(answer) == [SAME_SHARE, *[SAME_RANKING] * 4]
    (ranking,) = answer["rankings"]
    assert ranking["settings"] == 5 and ranking["p"] == pytest.approx(1 / 120)


@pytest.mark.parametrize(
    ("hardware", "values", "outcome"),
    [
        ("other", (1, 2, 3, 4), SAME_RANKING),
        ("other", (4, 3, 2, 1), CONTRADICTED),
        ("other", (2, 1, 4, 3), INCONCLUSIVE),
        ("same", (1, 2, 3, 4), CONTRADICTED),
    ],
)
def test_planted_orders(tmp_path, hardware, values, outcome):
    document, table = tmp_path / "scaling.yaml", tmp_path / "t.csv"
    document.write_text(SCALING.replace("HARDWARE", hardware), encoding="utf-8")
    rows = [
        f"{nodes},{value + part},{trial}"
        for nodes, value in zip((1, 2, 4, 8), values, strict=True)
        for trial, part in enumerate((-0.1, 0, 0.1))
    ]
    table.write_text("\n".join(["nodes,write (MB/s),trial", *rows]) + "\n", encoding="utf-8")
    answer = compare(document, table)
    assert set(list_outcomes(answer)) == {outcome}


def test_a_contradiction_fails_a_script_and_an_open_verdict_if_strict(store, tmp_path):
    sheet, tender = DOCUMENTS / "data_sheet.yaml", tmp_path / "tender.yaml"
    gate = ("--fail-if", "contradicted")
    assert compare(sheet, store, *gate, exit_code=1)["fail_if"]["problem"] is True
    kept = (DOCUMENTS / "tender.yaml").read_text(encoding="utf-8").replace("250", "200")
    tender.write_text(kept, encoding="utf-8")
    assert compare(tender, store, *gate)["fail_if"]["problem"] is False
    tender.write_text(kept.replace("nodes: 4", "nodes: 8"), encoding="utf-8")
    assert set(list_outcomes(compare(tender, store, *gate))) == {NOT_MEASURED}
    compare(tender, store, *gate, "--strict", exit_code=1)


def test_settings_that_differ_otherwise_are_not_averaged(store, tmp_path):
    sheet = (DOCUMENTS / "data_sheet.yaml").read_text(encoding="utf-8").replace("file_system: nfs, ", "")
    path = tmp_path / "sheet.yaml"
    path.write_text(sheet, encoding="utf-8")
    (figure, _) = compare(path, store)["figures"]
    assert figure["outcome"] == NOT_MEASURED and "file_system" in figure["note"]


def test_an_unknown_setting_is_named(store, tmp_path):
    path = tmp_path / "sheet.yaml"
    sheet = (DOCUMENTS / "data_sheet.yaml").read_text(encoding="utf-8")
    path.write_text(sheet.replace("threads: 4", "stripes: 4"), encoding="utf-8")
    assert all("stripes" in figure["note"] for figure in compare(path, store)["figures"])


@pytest.mark.parametrize("option", [("--fail-if", "slower>5%"), ("--markdown",), ("--group", "nodes"), ("--strict",)])
def test_options_of_other_comparisons_are_refused(store, option):
    done = CliRunner().invoke(cli, ["compare", str(DOCUMENTS / "data_sheet.yaml"), str(store), *option])
    assert isinstance(done.exception, InputError) and done.exception.hint


def test_a_document_alone_is_judged_by_itself():
    answer = compare(EXAMPLES / "published" / "ficus-lecture.yaml")
    assert answer["counts"][DOCUMENT_WRONG] == 6 and len(answer["wrong_statements"]) == 1


def test_python_has_the_same_verdicts(store):
    frame = iosonde.compare(str(DOCUMENTS / "tender.yaml"), b=str(store)).answer.records()
    assert [row["outcome"] for row in frame] == [KEPT, CONTRADICTED, KEPT]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("clock: last_done", "clock: unknown", "unknown-clock"), ("file_system: nfs", "file_system: NFS", "absent-level")],
)
def test_what_cannot_be_compared_says_why(store, tmp_path, old, new, code):
    path = tmp_path / "sheet.yaml"
    sheet = (DOCUMENTS / "data_sheet.yaml").read_text(encoding="utf-8")
    path.write_text(sheet.replace(old, new), encoding="utf-8")
    cells = iosonde.compare(str(path), b=str(store)).answer.cells
    assert {cell.verdict.outcome for cell in cells} == {NOT_MEASURED}
    assert {cell.note.code for cell in cells} == {code}
