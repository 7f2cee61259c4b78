"""Comparisons within a store: declared factors make the cells, the first level as declared is the base, iterations of
one run are no trials."""

from __future__ import annotations

import declared_sample
import pytest

from iosonde.answers.compare import WITHIN_RUN, Comparisons, Sides, compare
from iosonde.answers.published_side import side_of
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import table_of
from iosonde.data.asked import Asked
from iosonde.data.source import open_data
from iosonde.report.text.compare import lines

pytest.importorskip("iosonde.engine._native")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "s"
    declared_sample.store(path)
    return path


def ratios(made: Comparisons) -> list[float]:
    return [one.comparison.ratio.value for one in made.items]


def test_an_operation_of_a_store_at_every_setting_of_its_other_factors(place):
    made = compare(open_data(place, (), "old"), Asked(("write",)), Sides(group="fs"))
    assert [one.cell for one in made.items] == [
        {"operation": "write", "metric": "bandwidth_last_done", "unit": "bytes/s", "nodes": n} for n in (1, 2, 4)
    ]
    assert ratios(made) == pytest.approx([0.5, 0.5, 0.5]) and {r["n_a"] for r in made.records()} == {4}


def test_the_first_level_as_declared_or_as_given_is_the_base(place):
    source = open_data(place, ["nodes=1"], "old")  # the first run is on afs
    assert compare(source, Asked(("write",)), Sides(group="fs")).items[0].comparison.a.name == "nfs"
    made = compare(source, Asked(("write",)), Sides(("afs", "nfs"), "fs"))
    assert made.items[0].comparison.a.name == "afs" and ratios(made) == pytest.approx([2])


def test_experiment_clock_and_computed_responses_choose(place):
    one = Sides(("nfs", "afs"), "fs")
    source = open_data(place, ["nodes=1"], "new")
    summed = compare(source, Asked(("write",), clock="sum_of_ranks"), one)
    assert summed.items[0].cell["metric"] == "bandwidth_sum_of_ranks"
    assert summed.items[0].comparison.a.side.mean == pytest.approx(1500 * declared_sample.MIB)
    assert len(compare(source, Asked(), one).items) == 3  # every operation
    logs = compare(source, Asked(("log2(write)",)), one).items[0]
    assert logs.cell["response"] == "log2(write)"
    assert logs.comparison.a.side.mean - logs.comparison.b.side.mean == pytest.approx(1)
    table = table_of({"v": ["a"] * 3 + ["b"] * 3, "work": [6] * 6, "s": [1, 2, 3, 2, 3, 6]})
    made = compare(open_data(table), Asked(("work/s",)), Sides(group="v"))
    assert made.items[0].comparison.a.side.mean == pytest.approx(11 / 3)


def test_what_always_changes_with_the_group_is_named_and_makes_no_cells(place):
    source = open_data(place, ["fs=nfs"], "old")
    for group, first in (("nodes", "1"), ("servers", "10")):
        made = compare(source, Asked(("write",)), Sides(group=group))
        assert len(made.items) == 3 and made.items[0].comparison.a.name == first
        assert made.warnings == ("servers always changes with nodes: nothing here tells them apart",)
        assert any("servers always changes" in line for line in lines(made))


def test_iterations_of_one_run_are_compared_and_said_to_be_that(tmp_path):
    declared_sample.imported(tmp_path / "s")
    made = compare(open_data(tmp_path / "s"), Asked(("write",)), Sides(group="nodes"))
    (one,) = made.items
    assert one.within_run and one.comparison.a.side.n == 4 and one.comparison.n_needed is None
    assert WITHIN_RUN in made.to_dict()["comparisons"][0]["warnings"]
    text = list(lines(made))
    assert "iterations within one run" in text[0] and max(map(len, text)) < 80


def test_iterations_of_several_runs_are_never_pooled(tmp_path):
    declared_sample.imported(tmp_path / "s", runs_each=3)
    (one,) = compare(open_data(tmp_path / "s"), Asked(("write",)), Sides(group="nodes")).items
    assert not one.within_run and (one.comparison.a.side.n, one.comparison.b.side.n) == (3, 3)
    declared_sample.imported(tmp_path / "one")
    # Within one run each by nodes; of the whole store two runs, against a published side.
    published = side_of({"mean": "1e8", "sd": "1e6", "n": "5"}, "B")
    (one,) = compare(open_data(tmp_path / "one"), Asked(("write",)), Sides(by=("source",), b=published)).items
    assert not one.within_run and one.comparison.a.side.n == 2


def test_a_published_side_against_every_setting_of_a_store(place):
    published = side_of({"mean": "104857600", "sd": "1e6", "n": "5", "name": "paper"}, "B")
    made = compare(open_data(place, ["fs=nfs"], "old"), Asked(("write",)), Sides(b=published))
    assert [one.cell["nodes"] for one in made.items] == [1, 2, 4]
    assert ratios(made) == pytest.approx([1, 0.5, 0.25])


@pytest.mark.parametrize(
    ("asked", "sides", "said"),
    [
        (Asked(("write",)), Sides(), "--group is missing"),
        (Asked(("none",)), Sides(group="fs"), "no response 'none'"),
        (Asked(("write",)), Sides(group="fss"), "no column 'fss'"),
        (Asked(("write",)), Sides(("nfs", "ufs"), "fs"), "no value 'ufs'"),
    ],
)
def test_what_cannot_be_is_one_sentence(place, asked, sides, said):
    with pytest.raises((InputError, DataError), match=said):
        compare(open_data(place, (), "old"), asked, sides)


def test_a_table_needs_its_response_named():
    with pytest.raises(InputError, match="--response is missing"):
        compare(open_data(table_of({"v": ["a", "b"], "y": [1, 2]})), Asked(), Sides(group="v"))
