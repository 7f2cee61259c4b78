"""Surveys as runs of a store: what is in them, how their shares make a history, and where a store may not be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import survey_tree
from iosonde.answers.survey import SurveyAsked, survey
from iosonde.answers.survey_run import SurveyStore
from iosonde.core.errors import InputError
from iosonde.store import Store


@pytest.fixture
def tree(tmp_path) -> Path:
    root = tmp_path / "data"
    survey_tree.make(root, files=300)
    return root


def kept(tree: Path, place: SurveyStore, **more):
    asked = SurveyAsked(str(tree), files=5000, codecs=("gzip:6",), **more)
    made = survey(asked)
    return made, place.keep(made, asked)


def test_a_survey_is_a_run_without_a_name_of_a_file(tree, tmp_path):
    place = SurveyStore(tmp_path / "store")
    made, run_id = kept(tree, place, by="directory")
    run = Store.open(place.path).run(run_id)
    assert run.complete and run.seed == 0 and run.source == "survey"
    assert run.factors == {"tree": str(tree), "capacity_is": "sizes", "repetition": 0}
    rows = {(one.operation, one.metric): one for one in run.observations}
    assert rows["tree", "files"].value == 301
    for one in made.of("type", "capacity"):
        assert rows["share of capacity", one.name].value == one.found.estimate.value
    assert rows["saved of capacity", "gzip:6"].unit == "bytes"
    assert run.headlines["share of capacity"][0] in ("text", "NetCDF classic")
    estimates = run.facts["survey"]["estimates"]
    assert [one["low"] for one in estimates] == [one.to_json()["low"] for one in made.estimates]
    text = "".join(path.read_text() for path in place.path.rglob("*.json"))
    assert "project" not in text.replace(str(tree), "") and "restart" not in text


def test_surveys_of_a_tree_are_repetitions_and_other_trees_other_levels(tree, tmp_path):
    place = SurveyStore(tmp_path / "store")
    kept(tree, place)
    shutil.rmtree(tree / "project0")
    kept(tree, place)
    kept(tree / "project1", place)
    kept(tree, place, allocated=True)
    factors = [run["factors"] for run in Store.open(place.path).runs()]
    assert sorted((Path(one["tree"]).name, one["capacity_is"], one["repetition"]) for one in factors) == [
        ("data", "allocated", 0), ("data", "sizes", 0), ("data", "sizes", 1), ("project1", "sizes", 0),
    ]  # fmt: skip
    files = [row["value"] for row in Store.open(place.path).results().to_pylist() if row["metric"] == "files"]
    assert len(files) == 4 and len(set(files)) > 2
    assert json.dumps([one.name for one in Store.open(place.path).experiments()]) == '["surveys"]'


def test_a_store_is_never_in_the_tree(tree, tmp_path):
    (tmp_path / "link").symlink_to(tree)
    for place in (tree / "store", tree, tmp_path / "link" / "store"):
        with pytest.raises(InputError, match="where nothing is written"):
            SurveyStore(place).check(str(tree))
    (tmp_path / "file").touch()
    with pytest.raises(InputError):
        SurveyStore(tmp_path / "file").check(str(tree))
    SurveyStore(tmp_path / "new").check(str(tree))
    assert not (tmp_path / "new").exists()
