"""A survey of a tree that hangs ends, names what does not answer, and gives what it has; it can be interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SURVEY = [sys.executable, "-m", "iosonde.cli.main", "survey"]
LIMIT_S = 1.5
# Starting two processes on a busy machine, besides the limit.
SOON_S = 20.0


def make_files(place: Path, many: int) -> None:
    place.mkdir(exist_ok=True)
    for number in range(many):
        (place / f"file{number}").write_text(f"text {number} " * (300 + 100 * number))


@pytest.fixture
def tree(faulty) -> Iterator[Path]:
    make_files(faulty.path / "a", 30)
    make_files(faulty.path / "b", 10)
    yield faulty.path
    faulty.clear()


def survey(*words: object, limit: str = f"{LIMIT_S}s", **more: object) -> subprocess.CompletedProcess[str]:
    began = time.monotonic()
    words = [*SURVEY, *map(str, words), "--idle-timeout", limit]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, **more)
    assert time.monotonic() - began < SOON_S
    assert "Traceback" not in done.stderr
    return done


def hang(faulty, **rule: object) -> None:
    faulty.set({"do": "hang", **rule})


@pytest.mark.long
@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ({"on": "lookup", "path": "/b/file3"}, "b/file3"),
        ({"on": "readdir", "path": "/b"}, "b"),
        ({"on": "opendir", "path": "/a"}, "a"),
        ({"on": "opendir", "path": "/"}, ""),
    ],
)
def test_a_walk_that_hangs_ends_with_the_place_and_what_was_counted(faulty, tree, rule, place):
    hang(faulty, **rule)
    done = survey(tree)
    assert done.returncode == 3 and done.stdout == ""
    assert f"{tree / place} " in done.stderr
    assert re.search(r"\d\d:\d\d:\d\d \(\d+ s\)", done.stderr)
    left = int(re.search(r"process (\d+)", done.stderr)[1])
    assert Path(f"/proc/{left}").exists()
    if place:
        counted = int(re.search(r"(\d+) files", done.stderr)[1])
        assert 0 < counted < 40


@pytest.mark.long
def test_one_file_that_hangs_is_no_answer_and_the_others_are_read(faulty, tree):
    hang(faulty, on="read", path="/a/file7")
    done = survey(tree, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["no_answer"] == {"hung": 1} and found["files_read"] == 39 and found["stopped"] == "all"
    text = next(one for one in found["estimates"] if (one["what"], one["of"]) == ("type", "files"))
    assert text["if_missing_none"] < text["value"] == text["if_missing_all"] == 1.0
    assert f"{tree}/a/file7 " in done.stderr and re.search(r"process \d+", done.stderr)


@pytest.mark.long
def test_where_every_read_hangs_it_ends_and_says_what_was_not_tried(faulty, tree):
    hang(faulty, on=["open", "read"], path="/*/file*")
    done = survey(tree, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["stopped"] == "stalled" and found["files_seen"] == 40 and found["files_read"] == 0
    assert found["no_answer"]["hung"] and sum(found["no_answer"].values()) == 40
    assert all(one["value"] is None for one in found["estimates"])
    assert "Incomplete" in survey(tree).stdout


@pytest.mark.long
def test_a_time_for_reading_is_held_where_a_read_hangs(faulty, tree):
    hang(faulty, on="read", path="/a/file7")
    done = survey(tree, "--for", "1s", limit="10min")
    assert done.returncode == 1 and f"{tree}/a/file7 " in done.stderr


def test_a_file_system_that_does_not_say_its_numbers_is_surveyed_all_the_same(faulty, tree):
    hang(faulty, on="statfs")
    done = survey(tree, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["files_read"] == 40


@pytest.mark.long
def test_a_list_of_files_that_hang_ends_too(faulty, tree, tmp_path):
    names = tmp_path / "names"
    names.write_text("".join(f"{tree}/a/file{number}\n" for number in range(30)))
    hang(faulty, on="lookup", path="/a/file7")
    done = survey(tree, "--files-from", names)
    assert done.returncode == 3 and f"{tree}/a/file7 " in done.stderr


@pytest.mark.long
def test_a_simulation_leaves_out_what_hangs(faulty, tree):
    hang(faulty, on="read", path="/a/file7")
    done = survey("simulate", tree, "--repetitions", 2, "--draws", 4, "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["left_out"] == 1
    assert f"{tree}/a/file7 " in done.stderr


@pytest.mark.long
def test_a_store_is_checked_by_somebody_who_may_hang(faulty, tree, tmp_path):
    hang(faulty, on="lookup", path="/b")
    done = survey(tree / "b", "--store", tmp_path / "store")
    assert done.returncode == 3 and f"{tree / 'b'}" in done.stderr
    assert not (tmp_path / "store").exists()


@pytest.mark.long
def test_a_slow_tree_is_not_taken_for_one_that_hangs(faulty, tree):
    faulty.set({"on": "read", "do": "delay", "seconds": 0.6 * LIMIT_S, "path": "/b/*"})
    done = survey(tree, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["no_answer"] == {}


@pytest.mark.long
@pytest.mark.parametrize("where", ["lookup", "read"])
def test_ctrl_c_ends_it_at_once(faulty, tree, where):
    hang(faulty, on=where, path="/a/file*")
    with subprocess.Popen([*SURVEY, tree], stderr=subprocess.PIPE, start_new_session=True) as process:
        assert faulty.wait_until_hung()
        began = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(10) == 130
        assert time.monotonic() - began < 3
        assert b"Traceback" not in process.stderr.read()


def test_a_limit_of_no_time_is_refused(tmp_path):
    done = survey(tmp_path, limit="0s")
    assert done.returncode == 2 and "--idle-timeout" in done.stderr
