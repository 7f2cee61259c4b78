"""Parts of a tree with draws of their own: what each holds, that the whole follows from them, what cannot be asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import survey_tree
from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.commands.survey.text import lines
from iosonde.core.errors import InputError
from messages import raises


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    survey_tree.make(root, files=700)
    return root


def share_of(estimates, kind: str, of: str) -> tuple[float, float, float]:
    found = next(one.inference.estimate for one in estimates if (one.name, one.of) == (kind, of))
    return found.value, found.low, found.high


def test_parts_of_which_every_file_is_read_are_known(tree):
    made = survey(SurveyQuery(str(tree), files=5000, codecs=(), by="directory"))
    plain = survey(SurveyQuery(str(tree), files=5000, codecs=()))
    assert [one.name for one in made.strata] == [".", *(f"project{number}" for number in range(7))]
    assert sum(one.files for one in made.strata) == made.walked.files == made.files_read == 701
    assert [one.to_json()["value"] for one in made.estimates] == pytest.approx(
        [one.to_json()["value"] for one in plain.estimates]
    )
    for one in made.strata[1:]:
        files = [path for path in (tree / one.name).rglob("*") if path.is_file()]
        texts = [path for path in files if path.suffix == ".txt"]
        assert (one.files, one.looked_at) == (len(files), len(files))
        assert one.bytes == sum(path.stat().st_size for path in files)
        assert share_of(one.estimates, "text", "files") == pytest.approx((len(texts) / len(files),) * 3)
        size = sum(path.stat().st_size for path in texts) / one.bytes
        assert share_of(one.estimates, "text", "capacity") == pytest.approx((size,) * 3)


@pytest.mark.long
def test_draws_go_to_the_parts_in_proportion_and_no_part_is_without(tree):
    made = survey(SurveyQuery(str(tree), files=140, codecs=(), by="directory:2"))
    assert len(made.strata) > 100
    assert all(one.looked_at >= min(2, one.files) for one in made.strata)
    seven = survey(SurveyQuery(str(tree), files=140, codecs=(), by="directory"))
    assert seven.files_read <= 145 and all(10 <= one.looked_at <= 30 for one in seven.strata[1:])
    text = "\n".join(lines(seven))
    assert "part" in text and "project3" in text and max(map(len, text.split("\n"))) < 80


@pytest.mark.long
@pytest.mark.slow
def test_intervals_of_parts_and_of_the_whole_hold(tree):
    truth = survey(SurveyQuery(str(tree), files=5000, by="directory"))
    wanted = [("text", "files"), ("NetCDF classic", "capacity")]
    held = {(name, kind): [] for name in ("", *(one.name for one in truth.strata[1:])) for kind, _ in wanted}
    for seed in range(60):
        made = survey(SurveyQuery(str(tree), files=280, seed=seed, by="directory"))
        for one, known in [(made, truth), *zip(made.strata[1:], truth.strata[1:], strict=True)]:
            for kind, of in wanted:
                _, low, high = share_of(one.estimates, kind, of)
                value = share_of(known.estimates, kind, of)[0]
                held[getattr(one, "name", ""), kind].append(low - 1e-9 <= value <= high + 1e-9)
    parts = [np.mean(of) for (name, _), of in held.items() if name]
    assert np.mean(parts) > 0.93 and min(parts) > 0.8, held
    assert min(np.mean(of) for (name, _), of in held.items() if not name) > 0.85


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")
def test_owners(tmp_path):
    for number, owner in enumerate((0, 7, 7, 8)):
        file = tmp_path / f"file{number}"
        file.write_text("text " * 2000 if owner != 8 else "\0" * 40_000)
        os.chown(file, owner, 0)
    made = survey(SurveyQuery(str(tmp_path), codecs=(), by="owner"))
    assert {one.name: (one.files, one.bytes) for one in made.strata} == {
        "0": (1, 10_000),
        "7": (2, 20_000),
        "8": (1, 40_000),
    }
    assert made.strata[2].mostly.name.endswith("zeros")


def test_names_of_parts_are_shown_without_what_they_could_do(tmp_path):
    for name in (b"\x1b[31mred\n", b"\xff", b"x" * 200):
        place = tmp_path / os.fsdecode(name)
        place.mkdir()
        (place / "file").write_text("text " * 100)
    words = [sys.executable, "-m", "iosonde.cli.main", "survey", str(tmp_path), "--by", "directory"]
    shown = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    assert all(line.isprintable() and len(line) < 80 for line in shown.split("\n"))
    assert subprocess.run([*words, "--json"], capture_output=True, check=True).stdout.isascii()


@pytest.mark.long
@pytest.mark.slow
def test_more_parts_than_can_have_samples(tmp_path):
    for number in range(10_001):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "file").touch()
    with raises("too-many-parts"):
        survey(SurveyQuery(str(tmp_path), by="directory"))


@pytest.mark.parametrize(
    "asked",
    [
        {"by": "group"},
        {"by": "directory:0"},
        {"by": "directory:x"},
        {"by": "owner", "until": 0.1},
        {"by": "owner", "seconds": 1.0},
        {"by": "directory", "files_from": "-"},
    ],
)
def test_what_cannot_be_asked(tmp_path, asked):
    with pytest.raises(InputError) as error:
        survey(SurveyQuery(str(tmp_path), **asked))
    assert "--by" in error.value.hint


def test_a_tree_without_a_file(tmp_path):
    made = survey(SurveyQuery(str(tmp_path), by="directory"))
    assert (made.strata, made.files_read) == ((), 0)
