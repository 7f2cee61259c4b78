"""A and B are selected by conditions on several factors: of a store, a table, and in a question of an experiment."""

from __future__ import annotations

import pytest

import iosonde
from iosonde.agreement.judge import PublishedOutcome
from iosonde.campaign.asked_of import read_questions
from iosonde.commands.report.questions import answer_questions
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import raises

SIDES = ["fs=nfs", "fs=gluster,replica=3"]
SPEEDS = {("nfs", 1): 10.0, ("gluster", 1): 10.0, ("gluster", 2): 8.0, ("gluster", 3): 5.0}
COLUMNS = """\
tool: t
operation: write
columns:
  fs: factor
  replica: factor
  servers: factor
  rep: repetition
  speed: {is: metric, name: bandwidth, unit: MB/s, clock: last_done}
headline: [bandwidth]
"""


@pytest.fixture(params=["table", "store"])
def data(request, tmp_path):
    """Three copies write half as fast as NFS; there are as many servers as copies."""
    lines = [
        f"{fs},{replica},{replica},{trial},{speed + trial / 10}"
        for (fs, replica), speed in SPEEDS.items()
        for trial in range(3)
    ]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["fs,replica,servers,rep,speed", *lines]) + "\n", encoding="utf-8")
    if request.param == "table":
        return str(table)
    (tmp_path / "t.yaml").write_text(COLUMNS, encoding="utf-8")
    store = str(tmp_path / "store")
    iosonde.import_files([str(table)], store=store, columns=str(tmp_path / "t.yaml"))
    return store


def test_each_side_has_its_own_conditions(data):
    answer = iosonde.compare(data, levels=SIDES, response="speed" if data.endswith("csv") else None).answer
    (item,) = answer.to_dict()["comparisons"]
    assert item["ratio"]["value"] == pytest.approx(5.1 / 10.1, rel=1e-3)
    assert (item["a"]["name"], item["b"]["name"], item["a"]["n"], item["b"]["n"]) == (*SIDES, 3, 3)
    differing = [warning.values["factor"] for warning in answer.warnings if warning.code == "factor-differs"]
    assert differing == ["servers"]  # what the sides are named after is no surprise
    assert "measured-apart" not in {warning.code for warning in answer.warnings}


def test_two_sides_are_needed(data):
    with raises("not-two-sides"):
        iosonde.compare(data, levels=[*SIDES, "fs=gluster,replica=2"])


def test_a_side_without_trials_is_named(data):
    with pytest.raises(iosonde.IosondeError) as error:
        iosonde.compare(data, levels=["fs=nfs", "fs=gluster,replica=7"])
    assert "7" in str(error.value)


def test_a_question_selects_its_sides(data, tmp_path):
    text = (
        "questions:\n  - question: Is it faster than NFS?\n    compare: {levels: [fs=nfs, 'fs=gluster,replica=3']}\n"
        "    metric: METRIC\n    claims: [{claim: a, expected: above}]\n"
    ).replace("METRIC", "speed" if data.endswith("csv") else "write")
    (tmp_path / "q.yaml").write_text(text, encoding="utf-8")
    (answered,) = answer_questions(
        read_questions(tmp_path / "q.yaml"), lambda where: open_data(data, where), ResponseQuery()
    )
    (claim,) = answered.claims
    assert claim.verdict.outcome is PublishedOutcome.CONTRADICTED
    assert claim.measured.value == pytest.approx(5.1 / 10.1, rel=1e-3)
