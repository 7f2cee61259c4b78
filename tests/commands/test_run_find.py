"""``run --find best``: the result on a terminal, as JSON, in Python and on the page."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.commands.run.race import RaceAnswer
from iosonde.commands.run.text_race import build_grid
from iosonde.store import Store

SLEEP = {"set": {"n": ["0.01", "0.2", "0.5"]}, "find": "best", "within": "40%"}


@pytest.fixture(scope="module")
def measurement(tmp_path_factory):
    """A race of three commands of clearly different length."""
    return iosonde.run("sleep ${n}", store=tmp_path_factory.mktemp("race") / "store", **SLEEP)


@pytest.mark.slow
def test_a_race_from_python(measurement):
    answer = measurement.race.answer
    assert isinstance(answer, RaceAnswer)
    assert answer.state.standing.is_settled
    content = measurement.to_dict()
    assert content["best"] == {"n": 0.01}
    assert content["better"] == "lower"
    assert content["state"] == "best"
    assert content["remaining"] == [{"n": 0.01}]
    assert content["confidence"] >= 0.95
    assert content["within"] <= 0.4
    assert [row["levels"]["n"] for row in content["settings"]] == [0.01, 0.2, 0.5]
    assert [row["state"] for row in content["settings"]] == ["best", "left", "left"]
    assert (
        content["trials"]
        == sum(row["trials"] for row in content["settings"])
        == len(Store.open(measurement.store).runs())
    )
    assert [row["ratio"] for row in measurement.race.answer.records()] == [row["ratio"] for row in content["settings"]]
    headers, rows, _ = build_grid(answer)
    assert len(headers) == len(rows[0])
    assert content["sentence"].replace(" ", "") in "".join(measurement.text()).replace(" ", "")


@pytest.mark.slow
def test_the_page_leads_with_the_race_and_shows_who_left(measurement):
    page = json.loads(CliRunner().invoke(cli, ["report", measurement.store, "--json"]).stdout)
    assert page["answers"]["headline"] == measurement.to_dict()["sentence"]
    assert page["questions"][0]["answer"]["best"] == {"n": 0.01}
    spec = measurement.race.plot().to_dict()
    rows = spec["layer"][0]["data"]["values"]
    assert [row["y"] for row in rows] == ["n=0.01", "n=0.2", "n=0.5"]
    assert rows[0]["x2"] == measurement.to_dict()["blocks"]
    table = measurement.race.answer.table()
    assert len(table.rows) == 3
    assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.slow
def test_a_budget_ends_it_with_what_remains_and_the_same_command_resumes(tmp_path):
    store = str(tmp_path / "store")
    words = ["run", "sleep ${n}", "--set", "n=0.01,0.2,0.5", "--find", "best", "--within", "40%", "--store", store]
    ended = CliRunner().invoke(cli, [*words, "--budget", "1.5s", "--json"])
    content = json.loads(ended.stdout)
    assert content["state"] == "remaining"
    assert len(content["remaining"]) == 3
    assert content["within"] is None
    resumed = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert (resumed["experiment"], resumed["best"]) == (content["experiment"], {"n": 0.01})


def test_plan_says_the_rule():
    plan = json.loads(
        CliRunner().invoke(cli, ["plan", "sleep ${n}", "--set", "n=1,2", "--find", "best", "--json"]).stdout
    )
    assert len(plan["trials"]) == 12
