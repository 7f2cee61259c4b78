"""What goes wrong below a survey: files that fail, vanish, grow, loop, hide; all are counted, nothing is followed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iosonde.commands.survey.answer import Survey, SurveyQuery, survey
from iosonde.commands.survey.text import lines
from iosonde.survey import tree as tree_of_survey
from iosonde.survey.tree import SurveyedTree
from iosonde.survey.walk import WalkOptions, walk_tree
from messages import raises
from survey_in_process import InProcess

pytestmark = pytest.mark.slow


def walked(path: Path, **asked: object) -> dict[str, int]:
    return walk_tree(WalkOptions(str(path), 0, 10, **asked)).counts


def said(made: Survey) -> str:
    return " ".join(" ".join(lines(made)).split())


def texts(root: Path, many: int, size: int = 5000) -> list[Path]:
    made = [root / f"file{number}" for number in range(many)]
    for one in made:
        one.write_text("text " * (size // 5))
    return made


@contextmanager
def bound(source: Path, place: Path) -> Iterator[None]:
    """``source`` mounted once more; skipped where that may not be done."""
    done = subprocess.run(["mount", "--bind", source, place], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"may not mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


# Between the walk and the look at what was drawn.


@pytest.fixture
def between(monkeypatch):
    """Do something once the walk has ended, before the first file is opened."""

    def arrange(act) -> None:
        real = SurveyedTree.look_at_all

        def after(*words):
            act()
            return real(*words)

        monkeypatch.setattr(SurveyedTree, "look_at_all", after)

    return arrange


def test_what_happens_between_the_walk_and_the_look_is_no_answer(tmp_path, between):
    gone, grown, replaced, moved, kept = texts(tmp_path, 5)
    (tmp_path / "directory").mkdir()
    inside = texts(tmp_path / "directory", 1)[0]

    def act() -> None:
        gone.unlink()
        grown.write_text("text " * 2000)
        (tmp_path / "new").write_text("text " * 1000)
        (tmp_path / "new").rename(replaced)
        moved.rename(tmp_path / "elsewhere")
        inside.parent.rename(tmp_path / "other")

    between(act)
    made = survey(SurveyQuery(str(tmp_path)))
    assert made.no_answer == {"vanished": 3, "changed": 2} and made.files_read == 1
    missing = {sample.by: sample.missing.estimate.value for sample in made.samples}
    assert missing == pytest.approx({"files": 5 / 6, "capacity": 5 / 6})
    text = next(made.of("type", "files")).to_json()
    assert text["value"] is None  # of most nothing is known
    assert (text["if_missing_none"], text["if_missing_all"]) == pytest.approx((1 / 6, 1))
    assert re.search(r": 2 \w+, 3 vanished", said(made)) and kept.exists()


def test_a_tree_that_is_renamed_is_still_the_one_and_one_that_is_removed_is_no_answer(tmp_path, between):
    tree = tmp_path / "tree"
    tree.mkdir()
    texts(tree, 3)
    acts = [lambda: tree.rename(tmp_path / "away")]
    between(lambda: acts.pop()())
    assert survey(SurveyQuery(str(tree))).files_read == 3
    acts.append(lambda: shutil.rmtree(tmp_path / "away"))
    made = survey(SurveyQuery(str(tmp_path / "away")))
    assert made.no_answer == {"vanished": 3} and made.files_read == 0
    assert all(one.inference.estimate.value is None for one in made.estimates)
    assert "3 vanished" in said(made)


# A file system that fails.


def test_errors_of_a_disk_are_counted_where_they_happen(faulty):
    root = faulty.path
    texts(root, 8)
    for name in ("fine", "broken"):
        (root / name).mkdir()
        texts(root / name, 2)
    faulty.set(
        {"on": "read", "do": "error", "errno": "EIO", "path": "/file0"},
        {"on": "open", "do": "error", "errno": "EACCES", "path": "/file1"},
        {"on": "open", "do": "error", "errno": "EIO", "path": "/file2"},
        {"on": "lookup", "do": "error", "errno": "EIO", "path": "/file3"},
        {"on": "getattr", "do": "error", "errno": "EIO", "path": "/file3"},
        {"on": "readdir", "do": "error", "errno": "EIO", "path": "/broken"},
    )
    made = survey(SurveyQuery(str(root)))
    numbers = made.walked.numbers
    assert numbers["files"] == 9, "seven of eight, and two"
    assert (numbers["unknown_entries"], numbers["unreadable_directories"]) == (1, 1)
    assert made.no_answer == {"failed": 2, "denied": 1}
    assert re.search(r"\b1 directory\b.*: 1 entry\b", said(made), re.DOTALL)


def test_files_whose_reads_return_nothing_are_no_zeros(faulty):
    files = texts(faulty.path, 8)
    faulty.set({"on": "read", "do": "short", "at": 0, "path": "/file*"})
    made = survey(SurveyQuery(str(faulty.path)))
    assert made.no_answer == {"short": len(files)} and made.files_read == 0 and made.bytes_read == 0
    assert all(one.inference.estimate.value is None for one in made.estimates)
    assert re.search(r"\b8 ended\b", said(made))


def test_a_size_that_is_a_lie_is_no_answer(faulty):
    texts(faulty.path, 3)
    faulty.set({"on": ["getattr", "lookup"], "do": "lie", "path": "/file0", "values": {"size": 2**62}})
    assert survey(SurveyQuery(str(faulty.path))).no_answer == {"short": 1}


def test_a_file_on_tape_is_never_opened(faulty):
    root = faulty.path
    texts(root, 3)
    faulty.set(
        {"on": ["getattr", "lookup"], "do": "lie", "path": "/file0", "values": {"blocks": 0}},
        {"on": ["open", "read"], "do": "error", "errno": "EIO", "path": "/file0"},
    )
    made = survey(SurveyQuery(str(root)))
    assert made.no_answer == {"released": 1}, "failed: it was opened"
    assert made.walked.numbers["released"] == 1 and made.walked.numbers["released_bytes"] == 5000
    assert re.search(r"\b1 file\b.*\bopened\b", said(made))


def test_names_that_a_server_lists_and_does_not_know(faulty):
    texts(faulty.path, 2)
    faulty.set({"on": "readdir", "do": "lie", "values": {"names": ["ghost"]}, "path": "/"})
    found = walked(faulty.path)
    assert (found["files"], found["vanished"]) == (2, 1)


# Ways that lead round, or out.


def test_links_and_mounts_that_lead_round_are_not_followed(tmp_path):
    tree = tmp_path / "tree"
    (tree / "a" / "again").mkdir(parents=True)
    (tree / "second").mkdir()
    texts(tree / "a", 3)
    (tree / "a" / "up").symlink_to("..")
    (tree / "self").symlink_to("self")
    assert walked(tree)["files"] == 3
    with bound(tree, tree / "a" / "again"), bound(tree / "a", tree / "second"):
        for other in (False, True):
            found = walked(tree, other_file_systems=other)
            assert (found["files"], found["mounts"], found["links"]) == (3, 2, 2), other


def test_a_file_of_many_names_and_a_sparse_one_count_for_what_they_are(tmp_path):
    one = texts(tmp_path, 1, 20_000)[0]
    for number in range(1500):
        os.link(one, tmp_path / f"name{number}")
    hole = tmp_path / "hole"
    hole.write_text("text " * 1000)
    os.truncate(hole, 1 << 40)
    made = survey(SurveyQuery(str(tmp_path)))
    numbers = made.walked.numbers
    assert (numbers["files"], numbers["hard_links"], numbers["linked_elsewhere"]) == (2, 1500, 0)
    assert numbers["bytes"] == 20_000 + (1 << 40) and numbers["allocated_bytes"] < 1 << 20
    assert made.bytes_read < 4 << 20 and made.no_answer == {}
    zeros = next(made.of("zeros", "capacity")).inference.estimate
    assert zeros.value > 0.99


# As deep and as odd as trees get.


@contextmanager
def deep(root: Path, levels: int, name: str) -> Iterator[None]:
    """A tree of so many levels with a text in the last directory, too deep for a path; taken away by handles again."""
    handles = [os.open(root, os.O_PATH)]
    for _ in range(levels):
        os.mkdir(name, dir_fd=handles[-1])
        handles.append(os.open(name, os.O_PATH | os.O_DIRECTORY, dir_fd=handles[-1]))
        os.close(handles.pop(0))
    file = os.open("file", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=handles[-1])
    os.write(file, b"text " * 1000)
    for one in (*handles, file):
        os.close(one)
    try:
        yield
    finally:
        subprocess.run(["rm", "-r", root / name], check=True)


@pytest.mark.long
def test_a_file_ten_thousand_directories_down_is_found_and_read(tmp_path):
    with deep(tmp_path, 10_000, "down"):
        made = survey(SurveyQuery(str(tmp_path)))
        assert (made.walked.numbers["deepest"], made.walked.files) == (10_000, 1)
        assert made.files_read == 1 and made.no_answer == {}, "its path has 50,000 characters"
        assert len(os.listdir("/proc/self/fd")) < 100


HOSTILE = (
    b"new\nline",
    b"\x1b]0;title\x07",
    b"\x1b[2J",
    b"\xff\xfe\x00"[:2],
    b"a\tb",
    b"-rf",
    b" ",
    b"\xe2\x80\xae",
    b"'\"",
)


def test_hostile_names_are_counted_read_and_never_shown(tmp_path):
    root = tmp_path / os.fsdecode(b"\x1b[31m\n\xff")
    root.mkdir()
    for name in HOSTILE:
        place = root / os.fsdecode(name)
        place.mkdir()
        (place / os.fsdecode(name)).write_text("text " * 1000)
    made = survey(SurveyQuery(str(root)))
    assert made.files_read == made.walked.files == len(HOSTILE) and made.no_answer == {}
    words = [sys.executable, "-m", "iosonde.cli.main", "survey", os.fsencode(root)]
    shown = subprocess.run(words, capture_output=True, check=True).stdout
    assert b"\x1b" not in shown and b"title" not in shown and shown.decode().isprintable() is False
    assert all(line.isprintable() for line in shown.decode().split("\n"))
    told = json.loads(subprocess.run([*words, "--json"], capture_output=True, check=True).stdout)
    assert told["files_read"] == len(HOSTILE)


def as_nobody(act):
    os.setegid(65534)
    os.seteuid(65534)
    try:
        return act()
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_as_somebody_else_what_is_closed_is_missing_and_what_may_be_read_is(tmp_path, monkeypatch):
    monkeypatch.setattr(tree_of_survey, "Child", InProcess)
    for above in (tmp_path, *tmp_path.parents):
        if not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)
    tree = tmp_path / "tree"
    closed, listed, passed = (tree / name for name in ("closed", "listed", "passed"))
    for place, mode in ((closed, 0o700), (listed, 0o744), (passed, 0o711)):
        place.mkdir(parents=True)
        texts(place, 2)
        place.chmod(mode)
    texts(tree, 2)[0].chmod(0o600)
    tree.chmod(0o755)
    made = as_nobody(lambda: survey(SurveyQuery(str(tree))))
    numbers = made.walked.numbers
    assert numbers["unreadable_directories"] == 2, "closed, and the one that may only be passed"
    assert numbers["unknown_entries"] == 2, "names that may be listed, and nothing else"
    assert (numbers["files"], made.no_answer, made.files_read) == (2, {"denied": 1}, 1)
    with raises("unreadable-directory", reason="Permission denied"):
        as_nobody(lambda: survey(SurveyQuery(str(closed))))
    assert re.search(r"\b2 directories\b.*: 2 entries\b", said(made), re.DOTALL)


# As many as directories hold; a million in test_survey_large.py.


@pytest.mark.long
def test_files_come_and_go_while_a_directory_is_listed(tmp_path):
    texts(tmp_path, 400, 10)
    program = (
        "import itertools, os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "for n in itertools.count():\n"
        "    new, old = f'new{n % 300}', f'new{(n + 7) % 300}'\n"
        "    open(new, 'w').close()\n"
        "    os.path.exists(old) and os.unlink(old)\n"
        "    n == 300 and print('on', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as busy:
        try:
            assert busy.stdout.readline()
            for _ in range(10):
                made = survey(SurveyQuery(str(tmp_path), codecs=()))
                assert made.walked.files >= 400
        finally:
            busy.kill()


# Manners.


@pytest.mark.long
def test_a_survey_that_gives_way_does_so_in_all_it_starts(tmp_path):
    texts(tmp_path, 3)
    program = (
        "import ctypes, os, sys, threading\n"
        "from iosonde.commands.survey.answer import SurveyQuery, survey\n"
        "survey(SurveyQuery(sys.argv[1], nice=True))\n"
        "def say(): print(os.getpriority(os.PRIO_PROCESS, 0), flush=True)\n"
        "threading.Thread(target=say).start()\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "19\n"


def test_progress_says_how_many_files_there_can_be(tmp_path, monkeypatch):
    texts(tmp_path, 3)
    enter, told = SurveyedTree.__enter__, []

    def counted(tree):
        enter(tree).inodes = 12_345
        return tree

    monkeypatch.setattr(SurveyedTree, "__enter__", counted)
    found = survey(SurveyQuery(str(tmp_path), rate=4), lambda what, done: told.append((what, done)))
    assert found.walked.files == 3
    (label,) = (what for what in dict(told) if "12,345" in what)
    assert label and set(dict(told).values()) <= {0, 1, 2, 3}


def test_a_rate_that_is_none(tmp_path):
    for asked in ({"rate": -1}, {"rate": 5, "files_from": "-"}):
        with raises("conflicting-options"):
            survey(SurveyQuery(str(tmp_path), **asked))
