"""Surveys as runs of a store: what is in them, how their shares make a history, and where a store may not be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import survey_tree
from iosonde.commands.report.answer import report
from iosonde.commands.report.query import ReportQuery
from iosonde.commands.summary.answer import summary
from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.commands.survey.stored import SurveyStore, read_stored_survey
from iosonde.core.errors import InputError
from iosonde.core.stored import StoredRun
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import raises


@pytest.fixture
def tree(tmp_path) -> Path:
    root = tmp_path / "data"
    survey_tree.make(root, files=300)
    return root


def kept(tree: Path, place: SurveyStore, **more):
    asked = SurveyQuery(str(tree), files=5000, codecs=("gzip:6",), **more)
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
        assert rows["share of capacity", one.name].value == one.inference.estimate.value
    assert rows["saved of capacity", "gzip:6"].unit == "bytes"
    assert run.headlines["share of capacity"][0] in ("text", "NetCDF classic")
    estimates = run.facts["survey"]["estimates"]
    assert [one["low"] for one in estimates] == [one.to_json()["low"] for one in made.estimates]
    text = "".join(path.read_text() for path in place.path.rglob("*.json"))
    assert "project" not in text.replace(str(tree), "") and "restart" not in text


@pytest.mark.long
def test_surveys_of_a_tree_are_repetitions_and_other_trees_other_levels(tree, tmp_path):
    place = SurveyStore(tmp_path / "store")
    kept(tree, place)
    shutil.rmtree(tree / "project0")
    kept(tree, place)
    kept(tree / "project1", place)
    kept(tree, place, allocated=True)
    factors = [run["factors"] for run in Store.open(place.path).runs()]
    assert sorted((Path(one["tree"]).name, one["capacity_is"], one["repetition"]) for one in factors) == [
        ("data", "allocated", 0),
        ("data", "sizes", 0),
        ("data", "sizes", 1),
        ("project1", "sizes", 0),
    ]
    files = [row["value"] for row in Store.open(place.path).results().to_pylist() if row["metric"] == "files"]
    assert len(files) == 4 and len(set(files)) > 2
    assert json.dumps([one.name for one in Store.open(place.path).experiments()]) == '["surveys"]'


@pytest.mark.long
def test_a_store_is_never_in_the_tree(tree, tmp_path):
    (tmp_path / "link").symlink_to(tree)
    for place in (tree / "store", tree, tmp_path / "link" / "store"):
        with raises("store-inside-tree"):
            SurveyStore(place).check(str(tree))
    (tmp_path / "file").touch()
    with pytest.raises(InputError):
        SurveyStore(tmp_path / "file").check(str(tree))
    SurveyStore(tmp_path / "new").check(str(tree))
    assert not (tmp_path / "new").exists()


def test_a_survey_that_is_kept_is_the_one_that_was_made(tree, tmp_path):
    place = SurveyStore(tmp_path / "store")
    made, _ = kept(tree, place, by="directory", what_if=("compress=gzip:6,type=text", "archive=64KiB"))
    stored = read_stored_survey(StoredRun(Store.open(place.path).runs()[0]))
    assert stored.content() | {"strata": []} == made.content() | {"strata": []}
    assert list(map(str, stored.walked.tails)) == list(map(str, made.walked.tails))


def test_the_page_of_a_store_of_surveys_is_of_the_last_and_has_the_others_of_its_tree(tree, tmp_path):
    place = SurveyStore(tmp_path / "store")
    kept(tree / "project1", place)
    kept(tree, place)
    shutil.rmtree(tree / "project0")
    made, run_id = kept(tree, place)
    page = report(ReportQuery(str(place.path)))
    assert page.survey.walked.files == made.walked.files and "last of 3 surveys" in page.headline
    assert [row[2] for row in page.history.rows] == [301, made.walked.files] and page.history.rows[-1][0] == run_id
    assert page.to_json()["over_time"][-1]["files"] == made.walked.files
    first = report(ReportQuery(str(place.path), where=("tree=" + str(tree / "project1"),)))
    assert first.history is None and first.survey.path.endswith("project1")
    told = summary(open_data(str(place.path)), ResponseQuery())
    assert any("iosonde report" in one for one in told.overview.warnings)


def test_a_survey_that_was_kept_before_tails_were_has_a_page(tree, tmp_path):
    place = SurveyStore(tmp_path / "store")
    kept(tree, place)
    document = Store.open(place.path).runs()[0]
    for name in ("tails", "year_old"):
        del document["facts"]["survey"]["walk"][name]
    assert read_stored_survey(StoredRun(document)).walked.tails == ()
