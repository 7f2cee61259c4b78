"""Surveys that are simulated from a full scan: the truth, that right ways find it, and that the wrong one does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import survey_tree
from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.commands.survey.simulate import SimulationQuery, simulate
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.survey.sampling.population import Population, TrueNumber
from iosonde.survey.sampling.resampling import (
    BY_COUNT,
    BY_SIZE,
    WITH_REPLACEMENT,
    WRONG,
    DrawnAgain,
    simulate_estimates,
)
from iosonde.survey.scan import TreeScan, load_scan, scan_tree
from iosonde.survey.tree import SurveyedTree
from messages import raises


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    survey_tree.make(root, files=600)
    return root


class OfShares(Population):
    """Of which shares alone are asked: most of the time of a simulated survey goes to the ends of its quantiles."""

    def list_true_numbers(self, of: str) -> list[TrueNumber]:
        return [one for one in super().list_true_numbers(of) if one.unit == "share"]


def a_scan(sizes: Sequence[float], kind: Sequence[int], **more: object) -> TreeScan:
    zeros = np.zeros(len(sizes), np.int64)
    return TreeScan(
        np.array(sizes),
        np.arange(len(sizes), dtype=float),
        ("nc", "text"),
        np.array(kind),
        1,
        **{"part": zeros, "n_omitted": 0, **more},
    )


def test_a_scan_knows_what_a_survey_of_all_files_says(tree):
    with SurveyedTree(str(tree)) as opened:
        whole = Population(scan_tree(opened, ("lz4:0",)))
    said = survey(SurveyQuery(str(tree), files=5000, codecs=("lz4",)))
    truth = {
        (one.what, one.name, one.of): one.truth for of in ("files", "capacity") for one in whole.list_true_numbers(of)
    }
    found = {(one.what, one.name, one.of): one.inference.estimate.value for one in said.estimates}
    for kind in ("text", "gzip", "NetCDF classic"):
        for of in ("files", "capacity"):
            assert truth["type", kind, of] == pytest.approx(found["type", kind, of])
    sizes = {(one.name, one.of): one.inference.estimate.value for one in said.quantiles if one.what == "size"}
    assert truth["size", "0.5", "files"] == sizes["0.5", "files"]
    assert truth["size", "0.9", "capacity"] == sizes["0.9", "capacity"]
    # One file is so large that a survey reads pieces of it, and a scan all.
    assert truth["compressed", "lz4:0", "capacity"] == pytest.approx(found["compressed", "lz4:0", "capacity"], abs=0.1)
    assert truth["zeros", "", "capacity"] == pytest.approx((2 << 20) / said.walked.capacity, abs=0.01)


def test_a_scan_that_was_kept_is_the_same_and_holds_no_name(tree, tmp_path):
    place = tmp_path / "scan.npz"
    asked = SimulationQuery(str(tree), 5, codecs=("lz4",), scan=str(place))
    one, two = simulate(asked), simulate(SimulationQuery("gone", 5, scan=str(place)))
    assert [a.to_json() for a in one.shares] == [a.to_json() for a in two.shares]
    assert [path.name for path in tmp_path.iterdir()] == ["scan.npz"]
    kept = load_scan(str(place))
    assert kept.kinds == ("NetCDF classic", "gzip", "text") and len(np.unique(kept.part)) == 8
    assert b"project" not in place.read_bytes() and len(kept.first) == len(kept.sizes) + 1


def test_what_is_no_scan_is_said(tree, tmp_path):
    (tmp_path / "text").write_text("some text")
    with raises("not-a-scan"):
        simulate(SimulationQuery(str(tree), 5, scan=str(tmp_path / "text")))
    place = str(tmp_path / "scan")
    simulate(SimulationQuery(str(tree), 2, scan=place))
    with raises("scan-mismatch"):
        simulate(SimulationQuery(str(tree), 2, scan=place, codecs=("lz4",)))
    with raises("scan-mismatch"):
        simulate(SimulationQuery(str(tree), 2, scan=place, by="directory:2"))
    with raises("unwritable-file"):
        simulate(SimulationQuery(str(tree), 2, scan=str(tmp_path / "no" / "scan")))


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"repetitions": 1}, "repetitions"),
        ({"draws": (1,)}, "2 files"),
        ({"by": "owner"}, "no owners"),
        ({"by": "directory", "until": 0.1}, "known before"),
        ({"level": 2.0}, "confidence level"),
    ],
)
def test_what_cannot_be_simulated(words, match):
    with pytest.raises(InputError, match=match):
        SimulationQuery("anywhere", **words)


def test_a_tree_without_a_file_has_no_truth(tmp_path):
    with raises("no-files"):
        simulate(SimulationQuery(str(tmp_path)))
    (tmp_path / "one").write_text("one")
    with raises("too-few-files"):
        simulate(SimulationQuery(str(tmp_path)))
    (tmp_path / "empty").touch()
    assert all(0 <= one.coverage.value <= 1 for one in simulate(SimulationQuery(str(tmp_path), 5)).shares)


@pytest.mark.slow
def test_equal_draws_mislead_on_the_capacity(tree):
    made = simulate(SimulationQuery(str(tree), repetitions=20))
    found = {(one.way, one.n, one.true_number.name): one for one in made.shares if one.true_number.what == "type"}
    right, wrong = found[BY_SIZE, 256, "NetCDF classic"], found[WRONG, 256, "NetCDF classic"]
    assert right.true_number.truth == wrong.true_number.truth > 0.5
    assert right.coverage.value > 0.8 and wrong.coverage.value == 0
    assert right.worst < 0.1 < wrong.worst
    assert found[BY_COUNT, 64, "text"].worst > found[BY_COUNT, 256, "text"].worst


def test_estimates_are_not_biased_but_the_wrong_ones():
    whole = OfShares(a_scan([1.0, 2.0, 3.0, 4.0, 90.0] * 40, [0, 1, 0, 1, 1] * 40))
    truth = {(one.of, one.name): one.truth for of in ("files", "capacity") for one in whole.list_true_numbers(of)}
    assert (truth["files", "nc"], truth["capacity", "nc"]) == pytest.approx((0.4, 0.04))
    types = [one for one in simulate_estimates(whole, DrawnAgain(100, 1, 0.95, [60])) if one.true_number.what == "type"]
    assert {one.way for one in types} == {BY_COUNT, BY_SIZE, WITH_REPLACEMENT, WRONG}
    for one in types:
        wrong = 0.4 if one.true_number.name == "nc" else 0.6
        assert one.mean == pytest.approx(wrong if one.way == WRONG else one.true_number.truth, abs=0.02), one


def test_parts_by_themselves_know_more_where_they_differ():
    kind = [0] * 200 + [1] * 200
    whole = OfShares(a_scan([1.0, 3.0] * 200, kind, part=np.array(kind)))
    alone = {
        one.way: one.sd
        for one in simulate_estimates(whole, DrawnAgain(40, 1, 0.95, [60]))
        if one.true_number.name == "nc"
    }
    parts = {
        one.way: one
        for one in simulate_estimates(whole, DrawnAgain(40, 1, 0.95, [60], parts=True))
        if one.true_number.name == "nc"
    }
    assert set(parts) == {BY_COUNT, BY_SIZE}
    for way, one in parts.items():
        assert one.sd < 1e-9 < alone[way] and one.mean == pytest.approx(0.5)


@pytest.mark.slow
def test_until_ends_early_and_says_how_many():
    whole = OfShares(a_scan([1.0] * 5000, [0] * 4500 + [1] * 500))
    found = list(simulate_estimates(whole, DrawnAgain(60, 2, 0.95, [2000], until=0.03)))
    assert {one.way for one in found} == {BY_COUNT, BY_SIZE} and 64 < found[0].n < 1000
    assert next(one for one in found if one.true_number.name == "nc").coverage.value > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("parts", [False, True])
def test_means_of_pieces_are_what_all_pieces_say(parts):
    random, many = np.random.default_rng(3), 300
    counts = np.where(random.random(many) < 0.3, 8, 1)
    first = np.concatenate([[0], np.cumsum(counts)])
    zeros = np.where(random.random(first[-1]) < 0.2, 1.0, 0.0)
    whole = OfShares(a_scan(counts * 1e5, [0] * many, pieces={"zeros": zeros}, first=first, part=np.arange(many) % 3))
    plain = sum(size * np.mean(zeros[a:b]) for size, a, b in zip(counts, first, first[1:], strict=False)) / counts.sum()
    found = next(
        one
        for one in simulate_estimates(whole, DrawnAgain(60, 1, 0.95, [100], parts))
        if one.true_number.what == "zeros"
    )
    assert found.true_number.truth == pytest.approx(plain)
    assert found.mean == pytest.approx(plain, abs=0.015) and found.coverage.value > 0.85


def test_a_scan_that_the_disk_cannot_hold_is_a_fault_of_the_system(tmp_path):
    scan = a_scan([1.0, 2.0], [0, 0])
    (tmp_path / "full").symlink_to("/dev/full")
    with raises("unwritable-file", SystemFaultError) as caught:
        scan.save(str(tmp_path / "full"))
    assert caught.value.exit_code == 3
    with raises("unwritable-file", InputError):
        scan.save(str(tmp_path / "nowhere" / "scan.npz"))
