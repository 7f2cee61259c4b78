"""Regressions of a store's operations, of computed responses, and of the one that --clock and --experiment choose."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import declared_sample
import numpy as np
import pytest

from iosonde.commands.regress.answer import LeastSquares, regress, regress_from_sums
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import assert_problem, codes, raises, with_code

MIB = 2**20
pytest.importorskip("iosonde.engine._native")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("regress") / "s"
    declared_sample.store(path)
    return path


def slope(made: LeastSquares) -> float:
    return made.regression.fit.coefficients()[1].estimate


def test_an_operation_of_a_store_is_a_response(place):
    source = open_data(place, ["fs=nfs"], "old")
    made = regress(source, ResponseQuery(("write",), ("nodes",)), [{"nodes": "8"}])
    assert made.to_dict()["n"] == 12 and slope(made) == pytest.approx(100 * MIB, rel=0.05)
    assert made.regression.response == "write bandwidth_last_done"
    (point,) = made.to_dict()["at"]
    assert point["extrapolated"] and point["low"] < 800 * MIB < point["high"]
    assert [row["name"] for row in made.records()] == ["intercept", "nodes"]


def test_experiment_and_clock_choose(place):
    new = open_data(place, ["fs=nfs"], "new")
    assert slope(regress(new, ResponseQuery(("write",), ("nodes",)))) == pytest.approx(1000 * MIB, rel=0.05)
    summed = regress(new, ResponseQuery(("write",), ("nodes",), "sum_of_ranks"))
    assert slope(summed) == pytest.approx(1500 * MIB, rel=0.05)
    with raises("ambiguous-response", response="'write'", n_responses=2):
        regress(new, ResponseQuery(("write",), ("nodes",), "all"))


def test_computed_responses_of_a_store_and_of_a_table(place):
    source = open_data(place, ["fs=nfs"], "old")
    each = regress(source, ResponseQuery(("write/nodes",), ("nodes",)))
    assert each.regression.response == "write/nodes" and abs(slope(each)) < 5 * MIB
    doubling = regress(source, ResponseQuery(("log2(write)",), ("log2(nodes)",)))
    assert slope(doubling) == pytest.approx(1, abs=0.02)
    table = build_table({"x": [1, 2, 3, 4, 5], "work": [2, 2, 2, 2, 2], "s": [1, 0.52, 0.34, 0.24, 0.2]})
    speed = regress(open_data(table), ResponseQuery(("work/s",), ("x",)))
    assert slope(speed) == pytest.approx(2, rel=0.05)


def test_without_on_a_store_is_explained_by_its_factors(place):
    made = regress(open_data(place, (), "old"), ResponseQuery(("write",)))
    assert made.regression.terms == ("nodes", "fs")
    assert_problem(with_code(made.to_dict()["warnings"], "confounded"), "confounded", factor="servers", twin="nodes")


def test_the_only_operation_of_a_store_need_not_be_named(place):
    source = open_data(place, ["operation=write", "fs=nfs"], "old")
    made = regress(source, ResponseQuery((), ("nodes",)))
    assert made.regression.response == "write bandwidth_last_done"


def test_iterations_of_one_run_are_said_to_be_that(tmp_path):
    declared_sample.imported(tmp_path / "s")
    made = regress(open_data(tmp_path / "s"), ResponseQuery(("write",), ("nodes",)))
    assert made.regression.fit.n == 8 and codes(made.regression.warnings)[0] == "within-run"


@pytest.mark.parametrize(
    ("response", "on", "code", "values"),
    [
        (("write",), ("value",), "conflicting-roles", {}),
        (("log(write)",), ("write bandwidth_last_done",), "unknown-column", {}),
        (("none",), ("nodes",), "unknown-response", {"response": "none"}),
        (("log(value - value)",), ("nodes",), "undefined-transform", {}),
        (("write",), ("node",), "unknown-column", {"column": "node"}),
    ],
)
def test_what_cannot_be_is_one_sentence(place, response, on, code, values):
    source = open_data(place, ["operation=write", "metric=bandwidth_last_done"], "old")
    with raises(code, InputError, **values):
        regress(source, ResponseQuery(response, on))


def test_a_logarithm_on_its_own_column_is_refused_and_one_of_zero_named():
    table = open_data(build_table({"x": [1, 2, 3, 4], "y": [0, 2, 3, 5]}))
    with raises("conflicting-roles"):
        regress(open_data(build_table({"x": [1, 2], "y": [1, 2]})), ResponseQuery(("log(y)",), ("y",)))
    with raises("undefined-transform", DataError, transform="log", column="y"):
        regress(table, ResponseQuery(("log(y)",), ("x",)))


def test_sums_have_no_plots():
    sums = {"n": 44, "sum_x": 157, "sum_x2": 747, "b0": 168.12, "b1": 20.25, "SSR": 76590.4, "SSE": 61437.46}
    made = regress_from_sums(sums, 0.9)
    assert made.to_dict()["assumptions"] is None and made.sentence.endswith(".")
    with raises("conflicting-options"):
        made.plots()


def test_a_slope_that_rests_on_one_row_is_inconclusive():
    y = [6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89]
    source = open_data(build_table({"x": [8.0] * 7 + [19.0] + [8.0] * 3, "y": y}))
    made = regress(source, ResponseQuery(("y",), ("x",)))
    (verdict,) = made.verdicts
    assert verdict.state == "inconclusive" and verdict.doubts == ("leverage",) and verdict.direction is None
    assert "adds" not in made.sentence


def test_slopes_have_the_direction_and_the_interval_of_their_term():
    rows = {"x": [1.0, 2, 3, 4] * 6, "z": [1.0, 1, 2, 2] * 6}
    rows["y"] = [10 - 2 * x + 0.01 * ((7 * k) % 5) for k, x in enumerate(rows["x"])]
    made = regress(open_data(build_table(rows)), ResponseQuery(("y",), ("x", "z")))
    x, z = made.verdicts
    assert (x.question, x.subject, x.state, x.direction) == ("slope", ("x",), "different", "down")
    assert x.estimate.value == pytest.approx(-2, abs=0.05) and x.estimate.low < x.estimate.value < x.estimate.high
    assert z.state == "inconclusive" and made.to_dict()["verdicts"][0]["subject"] == ["x"]


def test_effects_that_depend_on_each_other_are_said_to_and_the_missing_term_is_named():
    cells = {("a", 1): 100, ("a", 16): 150, ("b", 1): 150, ("b", 16): 100}
    rows = [(fs, n, rate + trial) for (fs, n), rate in cells.items() for trial in (0.5, -1, 1, 0, -0.5)]
    source = open_data(build_table(dict(zip(("fs", "clients", "mbs"), zip(*rows, strict=True), strict=True))))
    made = regress(source, ResponseQuery(("mbs",), ("fs", "clients")))
    assert "the effect of each of fs and clients depends on the other: add fs:clients." in made.sentence
    joint = made.verdicts[-1]
    assert (joint.subject, joint.state) == (("fs", "clients"), VerdictState.DIFFERENT)
    whole = regress(source, ResponseQuery(("mbs",), ("fs", "clients", "fs:clients")))
    assert whole.joint is None and "fs[b]:clients" in whole.sentence


def test_the_missing_interaction_of_several_factors_is_one_term():
    rng = np.random.default_rng(1)
    factors = list(product((0, 1), repeat=4)) * 3
    rates = [100 + 50 * (sum(levels) % 2) + rng.normal(0, 1) for levels in factors]
    table = build_table({**dict(zip("abcd", zip(*factors, strict=True), strict=True)), "mbs": rates})
    made = regress(open_data(table), ResponseQuery(("mbs",), tuple("abcd")))
    assert made.sentence.endswith("add a*b*c*d.")
    plain = build_table({"a": [0, 1] * 6, "b": [0, 0, 1, 1] * 3, "mbs": 100 + rng.normal(0, 1, 12)})
    assert regress(open_data(plain), ResponseQuery(("mbs",), ("a", "b"))).joint is None


def test_a_page_claims_no_slope_whose_effect_its_verdicts_leave_open():
    table = build_table({"n": [1, 2, 3, 4] * 2, "m": [1, 2] * 4, "y": [1.0, 2.1, 2.9, 4.0, 1.1, 2.0, 3.0, 4.1]})
    answer = regress(open_data(table), ResponseQuery(response=("y",), on=("n", "m")))
    assert "significant effects: n" in answer.sentence
    assert "n" not in replace(answer, unclaimed=frozenset({"n"})).sentence.partition(";")[2].split()
