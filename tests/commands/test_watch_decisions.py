"""Decisions about changes: accepted ones and baselines, kept next to DATA, matched as nights go on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import history_sample
import iosonde
from iosonde.cli.group import cli
from iosonde.commands.watch.answer import Watch
from iosonde.commands.watch.deciding import find_change
from iosonde.store import Store
from iosonde.store.decisions import (
    ACCEPTED,
    BASELINE,
    build_decision,
    locate_decisions,
    read_decisions,
    write_decision,
)
from iosonde.store.merge import merge
from messages import raises

NIGHTS, STEP = 70, 40


def write_nights(path: Path, nights: int = NIGHTS, second: float = 0.9) -> str:
    """A table of nights, 10 % slower from one of them on, and then ``second`` times the first level."""
    values = 400 * (1 + 0.02 * np.random.default_rng(8).standard_normal(NIGHTS))
    values[STEP:] *= 0.9
    values[STEP + 15 :] *= second / 0.9
    dates = np.datetime64("2026-07-01") + np.arange(NIGHTS)
    rows = [f"{date},{value:.2f}" for date, value in zip(dates[:nights], values, strict=False)]
    path.write_text("\n".join(["date,bandwidth (MiB/s)", *rows, ""]))
    return str(path)


def ask(name: str, **options) -> Watch:
    return iosonde.watch(name, **options).answer


def test_an_accepted_change_does_not_fail_and_says_who_and_why(tmp_path):
    name = write_nights(tmp_path / "a.csv")
    before = ask(name)
    (change,) = before.changes
    assert before.problem and change.state == "open" and before.to_dict()["changes"][0]["decision"] is None
    after = ask(name, accept=[change.id], because="checksums", by="anna")
    for answer in (after, ask(name)):
        (accepted,) = answer.changes
        assert not answer.problem and accepted.state == "accepted" and accepted.open
        assert (accepted.decision.by, accepted.decision.because) == ("anna", "checksums")
        assert answer.to_dict()["changes"][0]["decision"]["at"].startswith("20")
        assert answer.verdicts[0].claim == ""
    done = CliRunner().invoke(cli, ["watch", name])
    assert done.exit_code == 0 and "anna" in done.stdout and "checksums" in done.stdout
    assert len(list(locate_decisions(name).iterdir())) == 1


def test_a_decision_survives_more_nights_and_so_does_an_id(tmp_path):
    """The place of a change moves as nights come; each id that a look gave it within its bounds is still known."""
    ids = set()
    for nights in range(50, NIGHTS):
        answer = ask(write_nights(tmp_path / "a.csv", nights))
        ids |= {change.id for change in answer.changes}
    final = ask(write_nights(tmp_path / "a.csv"))
    assert ids and {find_change(final.changes, name).id for name in ids} == {final.changes[0].id}
    early = write_nights(tmp_path / "b.csv", 52)
    (change,) = ask(early).changes
    ask(early, accept=[change.id], because="intended")
    for nights in range(53, NIGHTS, 4):
        assert not ask(write_nights(tmp_path / "b.csv", nights)).problem


def test_a_further_regression_after_an_accepted_one_fails(tmp_path):
    name = write_nights(tmp_path / "a.csv", 54)
    ask(name, accept=[ask(name).changes[0].id], because="intended")
    answer = ask(write_nights(tmp_path / "a.csv", second=0.75))
    assert answer.problem and [change.state for change in answer.changes] == ["open", "accepted"]


def test_a_fixed_one_needs_no_decision(tmp_path):
    answer = ask(write_nights(tmp_path / "a.csv", second=1.0), since="2026-09-05")
    states = {change.state for change in answer.changes}
    assert "fixed" in states and states <= {"", "fixed"} and not answer.problem


@pytest.mark.parametrize(("start", "is_problem"), [("2026-08-15", False), ("2026-07-20", True)])
def test_a_baseline_closes_what_is_before_it(tmp_path, start, is_problem):
    name = write_nights(tmp_path / "a.csv")
    answer = ask(name, baseline=start, because="servers", by="tom")
    assert answer.problem is is_problem and ask(name).problem is is_problem
    assert [change.state for change in answer.changes] == ["open" if is_problem else "baseline"]
    assert answer.decisions[0].to_json().keys() == {"kind", "at", "by", "because", "start"}


def test_mistakes_are_told_and_nothing_is_written(tmp_path):
    pandas = pytest.importorskip("pandas")
    name = write_nights(tmp_path / "a.csv")
    change = ask(name).changes[0].id
    with raises("missing-reason"):
        ask(name, accept=[change], because="  ")
    with raises("unknown-change", id="nonesuch"):
        ask(name, accept=[change, "nonesuch"], because="x")
    with raises("unknown-run-or-date"):
        ask(name, baseline="tomorrow", because="x")
    with raises("baseline-without-run"):
        ask(name, baseline="2036-01-01", because="x")
    with raises("no-place-for-decisions"):
        iosonde.watch(pandas.read_csv(name), baseline="2026-08-01", because="x")
    assert not locate_decisions(name).exists()


def test_a_damaged_or_newer_decision_is_refused_with_its_file(tmp_path):
    name = write_nights(tmp_path / "a.csv")
    ask(name, accept=[ask(name).changes[0].id], because="intended")
    (path,) = locate_decisions(name).iterdir()
    text = path.read_text()
    for wrong in (text[: len(text) // 2], "", "[]", text.replace("intended", "tolerated")):
        path.write_text(wrong)
        with raises("damaged-file", path=path):
            ask(name)
    content = json.loads(text)
    del content["self_sha256"]
    path.write_text(json.dumps({**content, "because": "hand"}))
    assert ask(name).changes[0].decision.because == "hand", "a person may write one"
    for wrong in ({"schema": 2}, {"schema": None}):
        path.write_text(json.dumps({**content, **wrong}))
        with raises("schema-too-new", path=path):
            ask(name)
    for wrong in ({"places": []}, {"kind": "odd"}, {"by": 3}, {"levels": []}, {"places": "abc"}):
        path.write_text(json.dumps({**content, **wrong}))
        with raises("damaged-file", path=path):
            ask(name)
    assert CliRunner().invoke(cli, ["watch", name]).exit_code != 0


def test_decisions_of_many_at_once_are_all_kept(tmp_path):
    decisions = [build_decision(BASELINE, f"reason {n}", "a", start="2026") for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        paths = set(pool.map(lambda decision: write_decision(tmp_path / "d", decision), decisions))
    assert len(paths) == 12 and set(read_decisions(tmp_path / "d")) == set(decisions)
    assert {path.suffix for path in (tmp_path / "d").iterdir()} == {".json"}


@pytest.mark.slow
def test_a_store_holds_its_decisions_and_merging_keeps_them(tmp_path):
    values = 1e8 * (1 + 0.01 * np.random.default_rng(5).standard_normal(60))
    values[40:] *= 0.9
    store = history_sample.write_values(tmp_path / "s", values)
    change = ask(str(store.path)).changes[0].id
    assert not ask(str(store.path), accept=[change], because="intended").problem
    assert locate_decisions(store.path) == store.path / "decisions" and not store.problems()
    copy = Store.create(tmp_path / "copy")
    for _ in range(2):
        merge(copy, [store])
    assert not ask(str(copy.path)).problem and len(list((copy.path / "decisions").iterdir())) == 1
    (path,) = (store.path / "decisions").iterdir()
    path.write_text("{")
    assert [finding.code for finding in store.problems()] == ["D105"]


def test_a_decision_knows_factors_that_vary_only_later(tmp_path):
    decision = build_decision(
        ACCEPTED, "x", "a", id="0", operation="", metric="bandwidth", direction="worse", places=("n",)
    )
    path = write_decision(tmp_path, decision)
    assert read_decisions(tmp_path) == (decision,) and decision.id in path.name


@pytest.mark.parametrize(("call", "kept"), [("link", 0), ("remove_file", 1)])
def test_a_process_that_is_killed_leaves_a_whole_decision_or_none(tmp_path, call, kept):
    code = (
        "import os, signal, sys; from pathlib import Path; from iosonde.store import decisions, files\n"
        f"owner = files.Disk if hasattr(files.Disk, '{call}') else os\n"
        f"setattr(owner, '{call}', lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))\n"
        "decision = decisions.build_decision('baseline', 'why', 'anna', start='2026-08-01')\n"
        "decisions.write_decision(Path(sys.argv[1]), decision)"
    )
    directory = tmp_path / "s.decisions"
    done = subprocess.run([sys.executable, "-c", code, str(directory)], timeout=60)
    assert done.returncode == -signal.SIGKILL and len(list(directory.iterdir())) == 1 + kept
    assert len(read_decisions(directory)) == kept
    write_decision(directory, build_decision(BASELINE, "again", "anna", start="2026-08-01"))
    assert len(read_decisions(directory)) == len(list(directory.iterdir())) == kept + 1
