"""Scaling of a store's operations and of computed rates, by clock and experiment; a network of queues as an answer."""

from __future__ import annotations

import math

import declared_sample
import pytest

from iosonde.commands.scale.answer import LawOptions, ScalingLaws, scale
from iosonde.commands.scale.queue import Clients, queue
from iosonde.core.errors import InputError
from iosonde.core.table import build_table
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import assert_problem, codes, raises

pytest.importorskip("iosonde.engine._native")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("scale") / "s"
    declared_sample.store(path)
    return path


def first_rates(made: ScalingLaws) -> list[float]:
    """Of one node, in MiB/s."""
    return [one.scaling.sizes[0].rate.value / declared_sample.MIB for one in made.items]


def test_an_operation_of_a_store_by_its_other_factors(place):
    made = scale(open_data(place, (), "old"), ResponseQuery(("write",)))
    assert [one.series.by for one in made.items] == [{"fs": "nfs"}, {"fs": "afs"}]
    assert first_rates(made) == pytest.approx([100, 50]) and {row["n"] for row in made.records()} == {4}
    (warning,) = made.warnings
    assert_problem(warning, "confounded", factor="servers", twin="nodes")
    assert made.to_dict()["series"][0]["response"] == "write bandwidth_last_done"


def test_without_a_response_every_rate_of_a_store_and_nothing_else(place):
    made = scale(open_data(place, ["fs=nfs"], "old"), ResponseQuery())
    assert [one.series.response for one in made.items] == ["write bandwidth_last_done", "read bandwidth_last_done"]


def test_experiment_clock_and_computed_rates_choose(place):
    new = open_data(place, ["fs=nfs"], "new")
    assert first_rates(scale(new, ResponseQuery(("write",)))) == pytest.approx([1000])
    assert first_rates(scale(new, ResponseQuery(("write",), clock="sum_of_ranks"))) == pytest.approx([1500])
    each = scale(new, ResponseQuery(("write/servers",)))
    assert first_rates(each) == pytest.approx([100]) and each.items[0].series.unit == "bytes/s"
    table = build_table({"nodes": [1, 2, 4, 1, 2, 4], "work": [8] * 6, "s": [8, 4, 2, 8.1, 4.1, 2.1]})
    assert scale(open_data(table), ResponseQuery(("work/s",))).items[0].scaling.sizes[0].rate.value == pytest.approx(
        1, rel=0.1
    )


@pytest.mark.parametrize(
    ("columns", "on"),
    [
        ({"threads": [1, 2, 4], "ranks": [1, 2, 4], "nodes": [1, 2, 4]}, "nodes"),
        ({"threads": [1, 2, 4], "nodes": [2, 2, 2], "clients": [8, 16, 32]}, "clients"),
        ({"threads": [1, 2, 4], "ranks": [1, 2, 4]}, "ranks"),
        ({"threads": [1, 2, 4], "ranks": ["few", "more", "many"]}, "threads"),
        ({"threads": [1, 2, 4], "nodes": [1, 2, 4], "ranks": [0.5, 1.5, 2.5]}, "nodes"),
    ],
)
def test_the_size_is_the_first_usual_column_that_varies_and_counts(columns, on):
    table = build_table({**{name: 2 * levels for name, levels in columns.items()}, "mib_s": [8, 15, 28, 9, 16, 29]})
    assert scale(open_data(table), ResponseQuery(("mib_s",))).on == on
    assert scale(open_data(table), ResponseQuery(("mib_s",)), on="threads").on == "threads"


def test_times_of_a_store_are_rates_only_where_that_is_said(place):
    source = open_data(place, ["fs=nfs"], "old")
    with raises("not-a-rate"):
        scale(source, ResponseQuery(("copy",)))
    (one,) = scale(source, ResponseQuery(("copy",)), is_duration=True).items
    assert one.series.unit == "1/s" and one.scaling.sizes[0].rate.value == pytest.approx(0.1048576)


def test_iterations_of_one_run_are_said_to_be_that(tmp_path):
    declared_sample.imported(tmp_path / "s")
    made = scale(open_data(tmp_path / "s"), ResponseQuery(("write",)))
    assert [size.rate.n for size in made.items[0].scaling.sizes] == [4, 4] and codes(made.warnings)[0] == "within-run"


def test_curves_of_laws_go_on_to_the_farthest_prediction(place):
    made = scale(open_data(place, ["fs=nfs"], "old"), ResponseQuery(("write",)), laws=LawOptions([64]))
    curve = made.items[0].curves()[0]
    assert (curve.sizes[0], curve.sizes[-1]) == pytest.approx((1, 64)) and curve.measured == 4
    assert len(curve.rates) == len(curve.sizes)


@pytest.mark.parametrize(
    ("asked", "how", "code", "values"),
    [
        (ResponseQuery(("none",)), {}, "unknown-response", {"response": "none"}),
        (ResponseQuery(("write",)), {"on": "racks"}, "unknown-column", {"column": "racks"}),
        (ResponseQuery(("write",)), {"as_stations": "x"}, "invalid-size", {"size": "x"}),
    ],
)
def test_what_cannot_be_is_one_sentence(place, asked, how, code, values):
    with raises(code, InputError, **values):
        scale(open_data(place, (), "old"), asked, **how)


def test_a_network_is_an_answer():
    made = queue(["client=5ms:delay", "disk=2ms:4"], Clients([1, 64], 100))
    assert made.alone_s == pytest.approx(7e-3) and made.busiest.station.name == "disk"
    assert [row["clients"] for row in made.records()] == [1, 64]
    assert made.solved[0].linear_share == pytest.approx(1) and made.sentence.startswith("disk ")


def test_an_endless_queue_has_no_number_in_json():
    made = queue(["disk=2ms"], Clients(arrivals_per_s=600))
    assert math.isinf(made.open_s) and made.to_dict()["open"][0]["residence_s"] is None
    assert made.to_dict()["schema"] == 1 and made.records() == []
