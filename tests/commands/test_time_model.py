"""The time model of a store's operations and metrics, and of computed times."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bound_sample
import declared_sample
import pytest
from scipy.stats import binomtest

from iosonde.commands.time_model.answer import (
    TimeModel,
    _estimate_group_shares,
    _estimate_row_shares,
    _lookup_size_unit,
    _lookup_time_unit,
    time_model,
)
from iosonde.commands.time_model.parts import parts_from_document
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.model.time_model import PREPARED, Classified, build_conditions
from messages import raises

pytest.importorskip("iosonde.engine._native")
PARTS = {"p": "10GB/s", "c": "10GB/s", "d": {"bandwidth": "500MB/s", "prepare": "25ms"}}
CONDITIONS = build_conditions(parts_from_document(PARTS), PREPARED, ())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Three runs of an experiment w, and one of v."""
    path = tmp_path_factory.mktemp("time") / "s"
    made = bound_sample.store(path, 3)
    made.append(replace(bound_sample._run(7), id="v-0", experiment="v"))
    return path


def counts(made: TimeModel) -> dict[str, int]:
    return {group.name: group.n_operations for group in made.groups}


def test_experiment_and_conditions_choose_the_operations(recorded):
    every = counts(time_model(open_data(recorded), ResponseQuery(), CONDITIONS))
    assert every == {"write_large, experiment=w": 1200, "write_large, experiment=v": 400}
    made = time_model(open_data(recorded, (), "v"), ResponseQuery(), CONDITIONS)
    assert counts(made) == {"write_large": 400} and made.groups[0].lost.n == 1
    by_run = time_model(open_data(recorded, (), "w"), ResponseQuery(), CONDITIONS, by=["run"])
    assert len(counts(by_run)) == 3 and "run=w-0" in next(iter(counts(by_run)))


def test_where_names_the_operation_whose_times_are_read(tmp_path):
    made = bound_sample.store(tmp_path / "s", 1)
    run = bound_sample._run(5)
    phases = [{**phase, "operation": "other", "name": "other"} for phase in run.phases]
    seen = [replace(one, operation="other") for one in run.observations]
    made.append(replace(run, phases=phases, observations=seen))
    both = time_model(open_data(tmp_path / "s"), ResponseQuery(), CONDITIONS)
    one = time_model(open_data(tmp_path / "s", ["operation=other"]), ResponseQuery(), CONDITIONS)
    assert set(counts(both)) == {"write_large", "other"} and set(counts(one)) == {"other"}


def test_a_metric_of_a_store_is_fitted_by_clock_and_experiment(tmp_path):
    declared_sample.store(tmp_path / "s")
    source = open_data(tmp_path / "s", (), "old")
    made = time_model(source, ResponseQuery(("copy",), ("servers",)), by=["fs"])
    assert [(line.name, line.n) for line in made.lines] == [("nfs", 12), ("afs", 12)]
    with raises("not-a-time", unit="bytes/s"):
        time_model(source, ResponseQuery(("write",), ("servers",)))


def test_computed_times_keep_their_unit_or_are_refused():
    table = build_table({"size": [4096, 65536, 1048576] * 3, "n": [2] * 9, "t": [2, 4, 30, 2.2, 4.2, 31, 1.9, 3.9, 29]})
    plain, half = (time_model(open_data(table), ResponseQuery((text,), ("size",))) for text in ("t", "t/n"))
    assert half.lines[0].per_byte.estimate == pytest.approx(plain.lines[0].per_byte.estimate / 2)
    for text in ("log(t)", "t + n"):
        with raises("not-a-time", (InputError, DataError)):
            time_model(open_data(timed(table)), ResponseQuery((text,), ("size",)))


def timed(table):
    """The same with a unit, which t + n has not."""
    return replace(table, columns={**table.columns, "t": replace(table.columns["t"], unit="ms")})


@pytest.mark.parametrize(
    ("asked", "code", "option"),
    [
        (ResponseQuery((), ("size",)), "missing-option", "--response"),
        (ResponseQuery(("t",)), "missing-option", "--on"),
        (ResponseQuery(("t",), ("size", "n")), "too-many-columns", "--on"),
    ],
)
def test_columns_that_are_missing_are_named(asked, code, option):
    with raises(code, InputError, option=option):
        time_model(open_data(build_table({"size": [1.0], "n": [1.0], "t": [1.5]})), asked)


def test_a_document_of_parts_says_where_it_is_wrong():
    with raises("unknown-part", where="x.yaml:2: q"):
        parts_from_document({"q": 3}, lambda name: "x.yaml:2: ")
    made = time_model(None, ResponseQuery(), CONDITIONS, sizes=[262144], observed_s=[1e-3])
    assert made.to_dict()["schema"] == 1 and len(made.records()) == len(made.conditions)


@pytest.mark.parametrize(
    ("unit", "seconds"), [("", 1.0), ("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)]
)
def test_times_are_read_in_seconds(unit, seconds):
    def response(**more) -> Any:
        return SimpleNamespace(
            **{"unit": unit, "measured": "", "measured_unit": "", "transform": "", "title": "t"} | more
        )

    assert _lookup_time_unit(response()) == seconds
    assert _lookup_time_unit(response(measured="t", measured_unit=unit)) == seconds
    for changes in ({"transform": "log"}, {"measured_unit": "m"}):
        with raises("not-a-time", title="t"):
            _lookup_time_unit(response(**{"measured": "t", "measured_unit": unit} | changes))
        assert _lookup_time_unit(response(**changes)) == seconds, "of a computed response"
    with raises("not-a-time", title="t", unit="MB"):
        _lookup_time_unit(response(unit="MB"))


@pytest.mark.parametrize(
    ("unit", "n_bytes"), [("", 1), ("bytes", 1), ("Byte", 1), ("B", 1), ("KiB", 1024), ("MB", 10**6)]
)
def test_sizes_are_read_in_bytes(unit, n_bytes):
    assert _lookup_size_unit(unit) == n_bytes


def test_shares_of_rows_are_binomial_and_those_of_operations_are_means_of_trials():
    few = Classified({"p": 0.75, "c": 0.25}, 0.5, 0.25, 4)
    shares = _estimate_row_shares("a", few, 0.9)
    low, high = (binom_ends(3, 4, 0.9), binom_ends(1, 4, 0.9))
    assert (shares.name, shares.n_operations, shares.lost) == ("a", 4, Estimate(0.5, None, None, 0.9, 4))
    assert (shares.shares["p"].value, shares.shares["p"].n) == (0.75, 4)
    assert (shares.shares["p"].low, shares.shares["p"].high) == pytest.approx(low)
    assert (shares.beyond.value, shares.beyond.low, shares.beyond.high) == pytest.approx((0.25, *high))
    several = _estimate_group_shares("b", [few, replace(few, shares={"p": 0.25, "c": 0.75}, beyond=0.75, n=8)], 0.9)
    assert (several.name, several.n_operations) == ("b", 12)
    assert {name: (e.value, e.low, e.high, e.n) for name, e in several.shares.items()} == {
        "p": (0.5, 0.0, 1.0, 2),
        "c": (0.5, 0.0, 1.0, 2),
    }
    assert (several.beyond.value, several.beyond.low, several.beyond.high) == (0.5, 0.0, 1.0)
    assert several.lost.value == 0.5 and several.lost.n == 2
    wide = _estimate_group_shares("b", [few, replace(few, lost=-0.5)], 0.9).lost
    assert wide.value == 0.0 and wide.low < -1 and wide.high == 1.0


def binom_ends(hits: int, n: int, level: float) -> tuple[float, float]:
    interval = binomtest(hits, n).proportion_ci(level, "exact")
    return interval.low, interval.high
