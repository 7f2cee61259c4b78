"""A store's history: its series, its changes, what changed with them, and what counts as new."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import history_sample
from iosonde.cli.group import cli
from iosonde.commands.watch.answer import build_search, watch
from iosonde.core.stored import StoredRun
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import codes, raises

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow  # stores of 90 nights are written

USUAL = build_search(0.03, 5, 14, 0.05, 365)


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> Store:
    return history_sample.write(str(tmp_path_factory.mktemp("watch") / "nightly"))


def shown(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["watch", *words])
    return done.exit_code, done.stdout


def test_a_regression_with_its_commits_and_exit_code_1(history):
    made = watch(open_data(history), ResponseQuery(), USUAL)
    assert made.problem and {one.series.operation for one in made.regressions} == {"write"}
    assert {one.series.by["nodes"] for one in made.regressions} == {1, 2} and all(one.new for one in made.regressions)
    first_slow = history_sample.DAYS - history_sample.BEFORE_END
    for one in made.regressions:
        assert one.levels.ratio.low < 0.92 < one.levels.ratio.high and one.word == "slower"
        days = [history_sample.commit_of(day) for day in range(first_slow - 8, first_slow + 8)]
        assert days.index(one.surely_before.subject_commit) < days.index(history_sample.commit_of(first_slow))
        assert days.index(one.surely_after.subject_commit) >= days.index(history_sample.commit_of(first_slow))
    assert shown(str(history.path))[0] == 1


def test_what_changed_with_the_environment_is_named(history):
    made = watch(open_data(history), ResponseQuery(), USUAL)
    faster = [one for one in made.changes if one.series.operation == "create"]
    assert len(faster) == 2 and not any(one.new for one in faster)
    for one in faster:
        assert one.verdict == "better"
        (fact,) = one.facts
        assert (fact.name, fact.before, fact.after) == ("host.kernel", "6.1.0-18", "6.1.0-21")


def test_json_is_as_its_schema_says(history):
    schema = json.loads((ROOT / "docs/schemas/watch.schema.json").read_text())
    found = json.loads(shown(str(history.path), "--json")[1])
    check = Draft202012Validator(schema)
    check.validate(found)
    assert len(found["changes"]) == 4 and found["problem"]
    del found["changes"][0]["p"]
    assert not check.is_valid(found)


def test_since_says_what_is_new(history):
    last = history_sample.commit_of(history_sample.DAYS - 1)
    for since, problem in (("2026-09-01", True), (last[:7], False), ("nightly-20260928", False)):
        assert watch(open_data(history), ResponseQuery(), USUAL, since).problem is problem
    assert shown(str(history.path), "--since", last[:7])[0] == 0
    with raises("unknown-run-or-date", reference="tomorrow"):
        watch(open_data(history), ResponseQuery(), USUAL, "tomorrow")


def test_too_few_points_are_said_with_the_number_needed(history):
    source = open_data(history, ["experiment=nightly-20260701"])
    made = watch(source, ResponseQuery(), USUAL)
    assert not made.problem and not made.changes
    assert f" {made.needed} points" in made.sentence and f" {made.needed - 2} more" in made.sentence
    assert {one.state for one in made.verdicts} <= {VerdictState.INCONCLUSIVE}


def test_a_table_without_dates_has_no_history(tmp_path):
    (tmp_path / "a.csv").write_text("y\n1.5\n2.5\n")
    with raises("no-order-in-time"):
        watch(open_data(tmp_path / "a.csv"), ResponseQuery(), USUAL)
    with raises("too-few-points", min_segment_points=20):
        build_search(0.03, 20, 14, 0.05, 365)


def small(tmp_path, values, settings=None, **changes) -> Store:
    return history_sample.write_values(tmp_path / "s", values, settings, **changes)


def noisy(n: int, mean: float = 100.0) -> np.ndarray:
    return mean + np.random.default_rng(3).standard_normal(n)


def test_different_settings_are_never_one_series(tmp_path):
    """Files of 1 MiB, then of 4 KiB: a step of what was asked is no change of the system."""
    values = np.concatenate([noisy(25), noisy(25, 50.0)])
    sizes = small(tmp_path, values, lambda day: {"steps": [{"command": "x", "size": 4096 if day >= 25 else 2**20}]})
    made = watch(open_data(sizes), ResponseQuery(), USUAL)
    assert len(made.series) == 2 and not made.changes
    assert {one.values.size for one in made.series} == {25} and all(one.settings for one in made.series)


def test_incomplete_runs_are_left_out_and_said(tmp_path):
    values = noisy(50)
    values[40:] = 1.0
    store = small(tmp_path, values, missing=lambda day: ["rank 1 died"] if day >= 40 else [])
    made = watch(open_data(store), ResponseQuery(), USUAL)
    assert made.incomplete == 10 and made.series[0].values.size == 40 and not made.changes
    assert "10 incomplete" in shown(str(store.path))[1]


def test_more_of_a_rate_is_no_regression_and_names_are_escaped(tmp_path):
    values = noisy(60)
    values[50:] *= 1.2
    hostile = "\x1b[31mv2"
    store = small(tmp_path, values, facts=lambda day: {"subject_commit": hostile if day >= 50 else "v1"})
    made = watch(open_data(store), ResponseQuery(), USUAL)
    (one,) = made.changes
    assert one.verdict == "better" and not made.problem
    code, text = shown(str(store.path))
    assert code == 0 and "\x1b" not in text and "commit v1 → \\x1b[31mv2" in text


def test_an_option_of_the_file_system_is_no_other_series_but_what_changed(tmp_path):
    values = noisy(60)
    values[40:] *= 0.8

    def facts(day):
        return {"conditions": {"options": {"cache": "on" if day < 40 else "off"}, "before": {"health": None}}}

    made = watch(open_data(small(tmp_path, values, facts=facts)), ResponseQuery(), USUAL)
    assert len(made.series) == 1 and not made.series[0].by
    assert [(one.name, one.before, one.after) for one in made.changes[0].facts] == [("option cache", "on", "off")]


def test_nothing_is_said_to_have_changed_where_nothing_is_kept(tmp_path):
    values = noisy(60)
    values[50:] *= 0.8
    made = watch(open_data(small(tmp_path, values, facts=lambda day: {})), ResponseQuery(), USUAL)
    assert made.problem and codes([made.changes[0].cause]) == ["unknown-cause"]
    assert StoredRun({"id": "a", "facts": {}}).subject_commit == ""
