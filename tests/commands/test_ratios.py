"""A comparison as a figure: every ratio with its interval, nothing for cells that have none, text that stays text."""

from __future__ import annotations

import declared_sample
import pytest

from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.commands.compare.figure import ratios_figure
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data

pytest.importorskip("iosonde.engine._native")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("ratios") / "s"
    declared_sample.store(path)
    return compare(open_data(path, (), "old"), ResponseQuery(("write",)), Sides(group="fs"))


def rows_of(figure, mark):
    return [one["data"]["values"] for one in figure.spec["layer"] if "mark" in one and one["mark"]["type"] == mark][0]


def test_every_cell_is_drawn_with_its_ratio_and_its_interval(made):
    figure = ratios_figure(made)
    drawn = rows_of(figure, "point")
    assert [row["x"] for row in drawn] == pytest.approx([one.comparison.ratio.value for one in made.items], rel=1e-5)
    assert len({row["y"] for row in drawn}) == 3 and " 3 " in figure.description and "÷" in figure.description
    (bars,) = [one for one in figure.spec["layer"] if "layer" in one]
    spans = [end for row in bars["data"]["values"] for end in (row["low"], row["high"])]
    ratios = [one.comparison.ratio for one in made.items]
    assert spans == pytest.approx([end for one in ratios for end in (one.low, one.high)], rel=1e-5)
    (same,) = rows_of(figure, "rect")
    assert (same["x"], same["x2"]) == pytest.approx((1 - made.items[0].comparison.margin, 1.02))
    assert figure.image("svg").startswith(b"<?xml")


def test_many_cells_are_cut_and_said(made):
    many = Comparisons(made.items * 20, made.group, made.level)
    figure = ratios_figure(many)
    assert len(rows_of(figure, "point")) == 40 and "; 20 " in figure.description


def test_where_nothing_has_a_ratio_nothing_is_drawn(made):
    assert ratios_figure(Comparisons((), None, 0.95)) is None
