"""A survey of a tree that is known: what it counts, estimates, leaves out and says; nothing of a name in its JSON."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import survey_tree
from iosonde.commands.survey.answer import Survey, SurveyQuery, build_walk_options, survey
from iosonde.commands.survey.plan import plan_survey
from iosonde.commands.survey.walk import summarize_walk
from iosonde.core.errors import InputError
from iosonde.survey import tree as tree_of_survey
from iosonde.survey.walk import walk_tree
from messages import raises
from survey_in_process import InProcess
from time_limit import limited


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    survey_tree.make(root, files=600)
    return root


def of(made: Survey, what: str, over: str) -> dict[str, tuple[float, float, float]]:
    found = ((one.name, one.inference.estimate) for one in made.of(what, over))
    return {name: (one.value, one.low, one.high) for name, one in found}


def test_a_survey_that_draws_every_file_knows_the_truth(tree):
    made = survey(SurveyQuery(str(tree), files=5000))
    files = [path for path in tree.rglob("*") if path.is_file()]
    sizes = {path: path.stat().st_size for path in files}
    assert made.walked.files == made.files_read == len(files) == 601
    assert made.walked.numbers["bytes"] == sum(sizes.values())
    for kind, ending in (("text", "txt"), ("gzip", "gz"), ("NetCDF classic", "nc")):
        mine = [path for path in files if path.name.endswith(ending)]
        by_count, by_size = len(mine) / 601, sum(map(sizes.get, mine)) / sum(sizes.values())
        assert of(made, "type", "files")[kind] == pytest.approx((by_count,) * 3)
        assert of(made, "type", "capacity")[kind] == pytest.approx((by_size,) * 3)


@pytest.mark.long
@pytest.mark.slow
def test_intervals_of_samples_hold_the_truth(tree):
    truth = survey(SurveyQuery(str(tree), files=5000, codecs=("gzip:6",)))
    wanted = [
        ("type", "files", "text"),
        ("type", "capacity", "text"),
        ("type", "capacity", "NetCDF classic"),
        ("compressed", "capacity", "gzip:6"),
        ("saved", "capacity", "gzip:6"),
    ]
    held = dict.fromkeys(wanted, 0)
    for seed in range(60):
        made = survey(SurveyQuery(str(tree), files=160, seed=seed, codecs=("gzip",)))
        for what, over, name in wanted:
            value, low, high = of(made, what, over)[name]
            held[what, over, name] += low - 1e-9 <= of(truth, what, over)[name][0] <= high + 1e-9
    assert min(held.values()) >= 52, held  # of a level of 95 %, fewer come once in 10,000 times


def test_the_same_seed_reads_the_same_files(tree):
    one, two, other = (survey(SurveyQuery(str(tree), files=80, seed=seed, codecs=())) for seed in (1, 1, 2))
    assert [a.to_json() for a in one.estimates] == [a.to_json() for a in two.estimates]
    assert [a.to_json() for a in one.estimates] != [a.to_json() for a in other.estimates]
    assert one.files_read <= 80


def test_the_json_holds_no_name_of_a_file(tree):
    made = survey(SurveyQuery(str(tree), files=5000)).to_dict()
    assert {"estimates", "files_seen", "files_read", "seconds"} <= made.keys()
    text = json.dumps({**made, "path": ""}, allow_nan=False)
    assert "project" not in text and "restart" not in text


def test_holes_and_links_are_told_and_not_read(tmp_path):
    (tmp_path / "text").write_text("text" * 2000)
    os.link(tmp_path / "text", tmp_path / "again")
    (tmp_path / "hole").touch()
    os.truncate(tmp_path / "hole", 24_000)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / ".snapshot").mkdir()
    made = survey(SurveyQuery(str(tmp_path)))
    assert made.no_answer == {"released": 1} and made.files_read == 1
    assert of(made, "type", "files") == {"text": (1.0, 0.5, 1.0)}, "the hole may be anything"
    one = next(made.of("type", "capacity")).to_json()
    assert (one["if_missing_none"], one["if_missing_all"]) == (0.25, 1.0)
    assert {sample.by: sample.missing.estimate.value for sample in made.samples} == {"files": 0.5, "capacity": 0.75}
    notes = " ".join(made.walked.notes)
    assert "snapshots not entered: .snapshot 1" in notes and "never opened" in notes
    whole = survey(SurveyQuery(str(tmp_path), allocated=True))
    assert [sample.drawn for sample in whole.samples] == [2, 1], "what is not allocated is not drawn by that"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_what_may_not_be_read_is_missing_and_said(monkeypatch):
    monkeypatch.setattr(tree_of_survey, "Child", InProcess)
    root = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        root.chmod(0o755)
        (root / "mine").write_text("public text")
        (root / "private").write_text("private text")
        (root / "private").chmod(0o600)
        (root / "closed").mkdir(mode=0o700)
        os.seteuid(65534)
        try:
            made = survey(SurveyQuery(str(root)))
        finally:
            os.seteuid(0)
        assert made.no_answer == {"denied": 1} and made.touched == 1
        assert made.walked.numbers["unreadable_directories"] == 1
        assert made.walked.notes[0] == "1 directory could not be read (EACCES 1): their contents are missing"
    finally:
        shutil.rmtree(root)


def test_a_tree_without_a_file(tmp_path):
    made = survey(SurveyQuery(str(tmp_path)))
    assert (made.walked.files, made.files_read, made.estimates) == (0, 0, ())


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"files": 1}, "2 files"),
        ({"precision": 0.0}, "margin"),
        ({"precision": 1e-5}, "too many"),
        ({"codecs": ("lz5",)}, "unknown codec 'lz5'"),
        ({"level": 2.0}, "confidence level"),
    ],
)
def test_what_cannot_be_asked(tmp_path, asked, match):
    with pytest.raises(InputError, match=match):
        survey(SurveyQuery(str(tmp_path), **asked))


def test_a_plan_never_reads_more_than_there_is():
    small = plan_survey(100, 10_000, 1e9, 0.01)
    assert max(row.files for row in small.rows) == 100 and max(row.bytes for row in small.rows) == 10_000
    large = plan_survey(300_000_000, 50 * 10**15, 5 * 2**30, 0.0)
    assert large.rows[1].files == 770
    assert large.rows[-1].seconds / 86_400 == pytest.approx(107.8, abs=0.1)
    with raises("out-of-range"):
        plan_survey(0, 10, 1.0, 0.0)


def test_a_plan_says_what_each_file_takes_besides_and_how_many_are_of_each_draw():
    made = plan_survey(300_000_000, 50 * 10**15, 5 * 2**30, 0.01)
    whole, told = made.rows[-1], made.to_dict()
    assert whole.seconds / 86_400 == pytest.approx(142.5, abs=0.1)
    assert whole.seconds_of_bytes / 86_400 == pytest.approx(107.8, abs=0.1)
    assert made.rows[1].by_count == 385 == made.rows[1].files / 2
    assert (told["per_file_s"], told["rate"]) == (0.01, 5 * 2**30)
    assert told["plans"][-1]["seconds_of_bytes"] == whole.seconds_of_bytes
    assert plan_survey(30, 10_000, 1e9, 0.01).rows[0].by_count <= 30


def test_sums_that_no_file_system_holds_are_said_to_be_wrong(tmp_path):
    (tmp_path / "text").write_text("text")
    walked = walk_tree(build_walk_options(SurveyQuery(str(tmp_path))))
    assert not [note for note in summarize_walk(walked, False).notes if "wrong" in note]
    sizes = walked.counts["sizes"].copy()
    sizes[3:5, :2] = [[1, 2**64 - 1], [1, 2**64 - 1]]
    summary = summarize_walk(replace(walked, counts={**walked.counts, "bytes": 2**64 - 1, "sizes": sizes}), False)
    assert [tail.share for tail in summary.tails] == [0.5, 1.0]
    assert "sums and shares of capacity are wrong" in summary.notes[0]


@pytest.mark.long
@pytest.mark.slow
def test_survey_of_equal_small_files_ends(tmp_path):
    for directory in range(100):
        (tmp_path / f"{directory}").mkdir()
        for file in range(100):
            (tmp_path / f"{directory}" / f"{file}.txt").write_bytes(b"a line of text\n" * 20)
    for file in range(3):
        (tmp_path / f"zeros{file}").write_bytes(bytes(480_128))
    with limited(60):
        answer = survey(SurveyQuery(str(tmp_path)))
    for compressed in answer.of("compressed", "capacity"):
        estimate = compressed.inference.estimate
        assert estimate.low < estimate.value < estimate.high, "files that were not drawn may be others"
