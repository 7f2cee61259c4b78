"""``--set NAME=LEVEL`` with one level that nothing uses is a label: a factor that tells campaigns apart."""

from __future__ import annotations

import pytest

from iosonde.campaign.caller import Caller
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.request import Request
from iosonde.campaign.run import run_campaign
from iosonde.core.level_text import format_level
from iosonde.core.types import Factor
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import open_data
from iosonde.stats.estimate.compare_words import format_side_name
from messages import assert_problem, raises

FILE = "steps: ['echo ${size}']\nfactors:\n  size: [1, 2]\n"
KINDS = ("file", "user:ls", "interference:ls", "true", None)


def asked(kind, place, *levels, **more):
    (place / "sweep.yaml").write_text(FILE)
    what = str(place / "sweep.yaml") if kind == "file" else kind
    return Request(what=what, target=(str(place),), set=levels, store=str(place.parent / "store"), **more)


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_is_a_declared_factor_of_one_level_and_is_said(kind, tmp_path):
    said = []
    made = build_campaign(asked(kind, tmp_path, "fs=nfs"), Caller(say=said.append))
    assert Factor("fs", "", ("nfs",)) in made.spec.factors
    assert made.identity()["factors"]["fs"]["levels"] == ["nfs"]
    assert made.identity() != build_campaign(asked(kind, tmp_path)).identity()
    (note,) = said
    assert_problem(note, "label", label="fs=nfs")


def test_an_empty_level_beside_others_is_a_flag_that_is_not_there(tmp_path):
    request = Request(what="ls ${F} ${TARGET}", target=(str(tmp_path),), set=("F=,-l",), store=str(tmp_path / "s"))
    made = build_campaign(request, Caller())
    assert Factor("F", "", ("", "-l")) in made.spec.factors
    assert format_level("") == "(empty)" and format_side_name("", "F") == "(empty)"
    with raises("invalid-assignment"):
        build_campaign(Request(what="ls ${F}", set=("F=",), store=str(tmp_path / "s")), Caller())


@pytest.mark.parametrize(
    ("kind", "words", "code", "values"),
    [
        ("file", "siz=3", "unknown-factor", {"factor": "siz", "suggestion": "size"}),
        ("file", "fs=nfs,ext4", "unknown-factor", {"factor": "fs"}),
        ("user:ls", "fils=3", "unknown-factor", {"factor": "fils", "suggestion": "files"}),
        (None, "small_files=7", "not-a-factor", {"flag": "--small-files"}),
        (None, "small_file_size=7", "not-a-factor", {"flag": "--small-size"}),
        ("true", "target=x", "not-a-factor", {"flag": "--target"}),
        ("true", "fs=nfs,ext4", "unused-factor", {"factor": "fs"}),
    ],
)
def test_what_was_hardly_meant_as_a_label_is_refused(kind, words, code, values, tmp_path):
    with raises(code, **values) as refused:
        build_campaign(asked(kind, tmp_path, words))
    assert refused.value.hint


def test_a_factor_that_a_file_uses_and_does_not_have_can_be_given(tmp_path):
    (tmp_path / "one.yaml").write_text("steps: ['echo ${n}']\n")
    said = []
    made = build_campaign(Request(what=str(tmp_path / "one.yaml"), set=("n=1,2",)), Caller(say=said.append))
    assert made.spec.levels("n") == (1, 2)
    assert not said


@pytest.mark.slow
def test_two_campaigns_in_one_store_are_two_levels_of_a_factor(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for level in ("nfs", "ext4"):
        outcome = run_campaign(Request(what="true", set=(f"fs={level}",), repetitions=2, store="store", seed=1))
        outcome.check()
    assert capfd.readouterr() == ("", "")
    source = open_data("store")
    found = build_responses(source, ResponseQuery(response=("seconds",)))
    assert found
    for response in found:
        assert "fs" in response.names
        assert sorted(response.rows.columns["fs"].values) == ["ext4", "ext4", "nfs", "nfs"]
