"""The figures of surveys of a tree that is known: what is drawn is what was simulated."""

from __future__ import annotations

import re

import pytest

import survey_tree
from iosonde.commands.survey.figure_simulation import figure
from iosonde.commands.survey.simulate import SimulationQuery, simulate


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    survey_tree.make(root, files=300)
    return simulate(SimulationQuery(str(root), 20, draws=(20, 40, 80), codecs=("lz4",)))


def panels(spec):
    """Title → the rows of each layer."""
    return {one["title"]["text"][0]: [layer["data"]["values"] for layer in one["layer"]] for one in spec["concat"]}


@pytest.mark.long
def test_each_way_has_a_panel_with_band_first_survey_and_truth(made):
    drawn = panels(figure(made).to_dict())
    ways = [title.split(",")[0].split() for title in drawn]
    assert [("count" in way, "size" in way, "replacement" in way, "wrong" in way, "80" in way) for way in ways] == [
        (True, False, False, False, False),
        (False, True, False, False, False),
        (False, True, False, False, False),
        (True, False, False, True, False),
        (False, True, True, False, False),
        (False, False, True, False, True),
    ]
    by_size = [one for one in made.shares if one.way == "by size" and one.true_number.what == "type"]
    said = {(one.n, one.true_number.name): one for one in by_size}
    by_size = next(title for title in drawn if re.fullmatch(r"\w+ by size, for the capacity", title))
    band, _, first, truth = drawn[by_size]
    for low, line, true in zip(band, first, truth, strict=True):
        one = said[line["x"], line["series"]]
        assert (low["low"], low["high"]) == pytest.approx(tuple(100 * end for end in one.band), rel=1e-3)
        expected = 100 * one.first, 100 * one.true_number.truth
        assert (line["y"], true["y"]) == pytest.approx(expected, rel=1e-3, abs=1e-9)
        assert one.band[0] <= one.mean <= one.band[1] or one.sd == 0


def test_the_scatter_counts_every_survey_of_each_type(made):
    bars, truths = panels(figure(made).to_dict())["80 draws with replacement"]
    for name in {one["series"] for one in truths}:
        assert sum(bar["y"] for bar in bars if bar["series"] == name) == 20


def test_one_size_alone_is_drawn_too(tmp_path):
    survey_tree.make(tmp_path, files=60)
    made = simulate(SimulationQuery(str(tmp_path), 5, draws=(20,), by="directory"))
    assert len(figure(made).to_dict()["concat"]) == 2
