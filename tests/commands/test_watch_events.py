"""What follows from a change: a command of the user's for each one that opened or closed, and Git's search for its
commit."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from messages import raises

SLOW_FROM, NIGHTS = 30, 40


def write_nights(path: Path, nights: int = NIGHTS, commits: tuple[str, ...] = (), back: int = 10**6) -> str:
    """A table of nights, slower by a tenth from one of them on, and fast again from night ``back`` on."""
    rng, rows = np.random.default_rng(3), []
    for night in range(nights):
        level = 400 * (0.9 if SLOW_FROM <= night < back else 1) * (1 + 0.01 * rng.standard_normal())
        commit = commits[night] if commits else f"c{night}"
        rows.append(f"{np.datetime64('2026-08-01') + night},{commit},{level:.2f}")
    path.write_text("\n".join(["date,commit,bandwidth (MiB/s)", *rows, ""]))
    return str(path)


def run(*words: str) -> int:
    return CliRunner().invoke(cli, ["watch", *words]).exit_code


def read_events(path: Path) -> list[tuple[str, str, str]]:
    documents = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [(document["event"], document["change"]["state"], document["change"]["id"]) for document in documents]


def test_each_opened_and_closed_regression_is_announced_once(tmp_path):
    name, log = str(tmp_path / "a.csv"), tmp_path / "log"
    command = f"cat >>{log}; echo told >&2"
    write_nights(tmp_path / "a.csv", SLOW_FROM)
    assert run(name, "--on-change", command) == 0 and not log.exists()
    for nights in (NIGHTS, NIGHTS + 1, NIGHTS + 6):
        write_nights(tmp_path / "a.csv", nights)
        assert run(name, "--on-change", command) == 1
    ((event, state, change),) = read_events(log)
    assert (event, state) == ("opened", "open")
    newest = iosonde.watch(name).answer.changes[0]
    assert change in newest.earlier_ids
    assert run(name, "--accept", newest.id, "--because", "so", "--on-change", command) == 0
    assert run(name, "--on-change", command) == 0
    assert [event[:2] for event in read_events(log)] == [("opened", "open"), ("closed", "accepted")]


@pytest.mark.parametrize(("back", "nights"), [(50, 80), (40, 70)])
def test_a_level_that_is_back_closes_its_regression(tmp_path, back, nights):
    name, log = write_nights(tmp_path / "a.csv", back), tmp_path / "log"
    assert run(name, "--on-change", f"cat >>{log}") == 1
    write_nights(tmp_path / "a.csv", nights, back=back)
    assert run(name, "--on-change", f"cat >>{log}") == 0
    assert [event[:2] for event in read_events(log)] == [("opened", "open"), ("closed", "fixed")]


def test_a_change_that_is_not_found_any_more_is_withdrawn(tmp_path):
    name, log = write_nights(tmp_path / "a.csv"), tmp_path / "log"
    assert run(name, "--on-change", f"cat >>{log}") == 1
    assert run(name, "--least", "50%", "--on-change", f"cat >>{log}") == 0
    assert [event[:2] for event in read_events(log)] == [("opened", "open"), ("closed", "withdrawn")]


def test_a_series_that_a_look_leaves_out_is_not_closed(tmp_path):
    name, log = write_nights(tmp_path / "a.csv"), tmp_path / "log"
    text = Path(name).read_text()
    assert run(name, "--on-change", f"cat >>{log}") == 1
    Path(name).write_text(text.replace("bandwidth", "latency").replace("MiB/s", "ms"))
    run(name, "--on-change", f"cat >>{log}")
    assert [event for event, _, _ in read_events(log)] == ["opened"]


def test_what_was_closed_before_anybody_was_told_is_no_news(tmp_path):
    name = write_nights(tmp_path / "a.csv", NIGHTS + 30, back=NIGHTS)
    assert run(name, "--on-change", f"cat >>{tmp_path / 'log'}") == 0 and not (tmp_path / "log").exists()


@pytest.mark.parametrize(("command", "reason"), [("exit 7", "exit code 7"), ("kill -9 $$", "signal 9")])
def test_a_command_that_fails_ends_with_3_and_is_run_again(tmp_path, command, reason):
    name, log = write_nights(tmp_path / "a.csv"), tmp_path / "log"
    with raises("announcement-failed", reason=reason):
        iosonde.watch(name, on_change=command)
    assert run(name, "--on-change", f"cat >>{log}") == 1 and len(read_events(log)) == 1


def test_a_command_is_ended_after_its_time(tmp_path, monkeypatch):
    from iosonde.commands.watch import announcing

    monkeypatch.setattr(announcing, "_LIMIT_S", 0.2)
    with raises("announcement-failed", reason="not done in 0.2 s"):
        iosonde.watch(write_nights(tmp_path / "a.csv"), on_change="sleep 100")


EVENT = '{"schema": 1, "announced": [{"event": "b", "ids": [], "change": {}}]}'


@pytest.mark.parametrize("content", ["[]", "{", EVENT, EVENT.replace('"b"', '"opened"').replace("{}", "1"), "{}"])
def test_a_damaged_memory_of_what_was_announced_is_refused(tmp_path, content):
    name = write_nights(tmp_path / "a.csv")
    assert run(name, "--on-change", "true") == 1
    Path(f"{name}.announced.json").write_text(content)
    with raises("damaged-file"):
        iosonde.watch(name, on_change="true")


def test_a_table_in_memory_has_no_place_for_what_was_announced(tmp_path):
    pandas = pytest.importorskip("pandas")
    with raises("no-place-for-decisions"):
        iosonde.watch(pandas.read_csv(write_nights(tmp_path / "a.csv")), on_change="true")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_the_script_has_git_find_the_commit_and_skip_what_cannot_be_tried(tmp_path):
    repository, programs = tmp_path / "zeus", tmp_path / "bin"
    repository.mkdir()
    programs.mkdir()
    git(repository, "init", "--quiet")
    commits = []
    for night in range(NIGHTS):
        state = "slow" if night >= SLOW_FROM else "broken" if night == SLOW_FROM - 2 else "fast"
        (repository / "state").write_text(f"{state} {night}")
        git(repository, "add", "state")
        git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", str(night))
        commits.append(git(repository, "rev-parse", "HEAD"))
    write_program(programs / "make", "exit 0")
    write_program(programs / "iosonde", "case $(cat state) in slow*) exit 1;; broken*) exit 2;; esac")
    sides = [commits[SLOW_FROM - 6]] * (SLOW_FROM) + [commits[-1]] * (NIGHTS - SLOW_FROM)
    name = write_nights(tmp_path / "a.csv", commits=tuple(sides))
    outcome = CliRunner().invoke(cli, ["watch", name, "--bisect"])
    assert outcome.exit_code == 1 and "slower>5" in outcome.stdout
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    found = subprocess.run(
        ["sh", "-ec", outcome.stdout], cwd=repository, env=environment, capture_output=True, text=True, check=True
    )
    assert f"{commits[SLOW_FROM]} is the first bad commit" in found.stdout


def test_a_change_without_two_commits_is_not_bisected(tmp_path):
    with raises("same-commit"):
        iosonde.watch(write_nights(tmp_path / "a.csv", commits=("c1",) * NIGHTS), bisect=True)
    with raises("unknown-commit"):
        iosonde.watch(write_nights(tmp_path / "a.csv", commits=("",) * NIGHTS), bisect=True)
    with raises("no-regression"):
        iosonde.watch(write_nights(tmp_path / "a.csv", SLOW_FROM), bisect=True)
    with raises("unknown-change"):
        iosonde.watch(write_nights(tmp_path / "a.csv"), change="x", bisect=True)
