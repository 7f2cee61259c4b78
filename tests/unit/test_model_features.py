"""Tables become rows and features that know what was tried."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.model.fit import features
from iosonde.model.fit.coding import Coded, build_coded_columns, expand_to_columns, factors_to_json
from messages import assert_problem, raises, with_code

TABLE = build_table(
    {
        "fs": ["nfs", "nfs", "ceph", "ceph", None],
        "nodes": [1, 2, 1, 2, 2],
        "site": ["x"] * 5,
        "mbs": [10.0, 20.0, 5.0, None, 7.0],
    }
)


def test_rows_that_lack_a_value_are_left_out_and_counted():
    made = features.build_examples(TABLE, "mbs", ["fs", "nodes"])
    assert made.x.tolist() == [[0, 1], [0, 2], [1, 1]] and made.y.tolist() == [10, 20, 5]
    (warning,) = made.warnings
    assert_problem(warning, "missing-values", n_missing=2, n_rows=5)
    assert [feature.levels for feature in made.features] == [("nfs", "ceph"), (1, 2)]


def test_repeats_share_a_cell():
    made = features.build_examples(build_table({"a": [1, 2, 1], "y": [1.0, 2.0, 3.0]}), "y", ["a"])
    assert made.cells[0] == made.cells[2] != made.cells[1]


@pytest.mark.parametrize(
    ("response", "on", "code"),
    [
        ("mbs", ["site"], "single-level-factor"),
        ("mbs", [], "missing-option"),
        ("mbs", ["fs", "fs"], "duplicate-factor"),
        ("mbs", ["mbs"], "response-as-factor"),
        ("fs", ["nodes"], "not-a-number"),
        ("nodez", ["fs"], "unknown-column"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(response, on, code):
    with raises(code, InputError):
        features.build_examples(TABLE, response, on)


def test_a_constant_response_is_refused():
    with raises("constant-response", DataError, response="y", constant=3):
        features.build_examples(build_table({"a": [1, 2], "y": [3.0, 3.0]}), "y", ["a"])


def test_a_setting_is_encoded_as_the_rows_were():
    made = features.build_examples(TABLE, "mbs", ["fs", "nodes"])
    assert features.encode_setting(made.features, {"nodes": 2, "fs": "ceph"}).tolist() == [1, 2]
    (outside,) = features.list_factors_outside_range(made.features, np.array([0.0, 9.0]))
    assert_problem(outside, "out-of-range", factor="nodes", level=9, low=1, high=2)
    for setting, code, factor in (
        ({"nodes": 2}, "missing-factor-level", "fs"),
        ({"nodes": 2, "fs": "xfs"}, "unknown-level", "fs"),
        ({"nodes": "two", "fs": "nfs"}, "not-a-number", "nodes"),
        ({"nodes": 2, "fs": "nfs", "disk": 1}, "unknown-factor", "disk"),
    ):
        with raises(code, InputError, factor=factor):
            features.encode_setting(made.features, setting)


def test_a_feature_survives_json():
    for feature in features.build_examples(TABLE, "mbs", ["fs", "nodes"]).features:
        assert features.Feature.from_json(feature.to_json()) == feature


def test_a_number_with_a_slip_of_the_pen_is_said():
    d = features.build_examples(build_table({"a": ["1", "2", "4", "8x"], "y": [1.0, 2, 3, 4]}), "y", ["a"])
    assert_problem(with_code(d.warnings, "number-as-text"), "number-as-text", factor="a", n_levels=4, level="8x")
    assert features.build_examples(build_table({"a": ["x", "2", "off"], "y": [1.0, 2, 3]}), "y", ["a"]).warnings == ()


def test_numbers_that_are_text_on_purpose_are_no_slip_of_the_pen():
    table = build_table({"a": ["1", "2", "1"], "y": [1.0, 2.0, 3.0]})
    assert not table.column("a").numeric and features.build_examples(table, "y", ["a"]).warnings == ()


def test_numbers_stay_and_text_becomes_indicators():
    factors = [{"name": "n"}, {"name": "fs", "levels": ["nfs", "ceph"]}, {"name": "os", "levels": ["a", "b", "c"]}]
    assert build_coded_columns(factors) == [Coded(0), Coded(1, 1), Coded(2, 0), Coded(2, 1), Coded(2, 2)]
    x = np.array([[4.0, 0, 2], [8.0, 1, 0]])
    assert expand_to_columns(factors, x).tolist() == [[4, 0, 0, 0, 1], [8, 1, 1, 0, 0]]
    made = features.build_examples(TABLE, "mbs", ["fs", "nodes"])
    assert factors_to_json(made.features) == [{"name": "fs", "levels": ["nfs", "ceph"]}, {"name": "nodes"}]


def test_examples_and_a_part_of_them():
    table = build_table({"fs": ["b", "a", "b"], "n": [2, 1, 2], "y": [1.0, 2.0, 4.0]})
    made = features.build_examples(table, "y", ["fs", "n"])
    assert (made.x.tolist(), made.y.tolist(), made.cells.tolist()) == ([[0, 2], [1, 1], [0, 2]], [1, 2, 4], [0, 1, 0])
    assert (made.response, made.unit, made.warnings, made.bring_ups, len(made)) == ("y", "", (), None, 3)
    part = made.take(np.array([2, 1]))
    assert (part.y.tolist(), part.x.tolist(), part.features) == ([4, 2], [[0, 2], [1, 1]], made.features)
    assert part.cells.tolist() == made.cells[[2, 1]].tolist()
    assert [(f.name, f.levels, f.numeric) for f in made.features] == [("fs", ("b", "a"), False), ("n", (1, 2), True)]
    assert (made.features[1].low, made.features[1].high) == (1.0, 2.0)


@pytest.mark.parametrize("on", [["net"], ["net", "bring_up"]])
def test_rows_of_one_bring_up_are_numbered_unless_a_factor_is_about_it(on):
    table = build_table({"net": [1, 1, 2, 2], "bring_up": [5, 5, 6, 6], "y": [1.0, 2.0, 3.0, 4.0]})
    made = features.build_examples(table, "y", on)
    assert (made.bring_ups is None) is ("bring_up" in on)
    if made.bring_ups is not None:
        assert made.bring_ups[0] == made.bring_ups[1] != made.bring_ups[2] == made.bring_ups[3]
        assert made.take(np.array([1, 2])).bring_ups.tolist() == made.bring_ups[[1, 2]].tolist()


@pytest.mark.parametrize(
    ("levels", "warned"),
    [(["1", "x"], False), (["1", "2", "x"], True), (["1", "2", "x", "z"], False), (["1", "2", "4", "x", "z"], True)],
)
def test_fewer_than_half_of_the_levels_are_a_slip_of_the_pen(levels, warned):
    made = features.build_examples(build_table({"a": levels, "y": np.arange(len(levels)) + 1.0}), "y", ["a"])
    assert bool(made.warnings) is warned
    assert not warned or with_code(made.warnings, "number-as-text").values["level"] == "x"


def test_numbers_at_the_ends_of_their_range_are_inside():
    made = features.build_examples(TABLE, "mbs", ["fs", "nodes"])
    rows = {1.0: 0, 2.0: 0, 0.99: 1, 2.01: 1}
    assert {n: len(features.list_factors_outside_range(made.features, np.array([0.0, n]))) for n in rows} == rows
    assert features.list_factors_outside_range(made.features, np.array([7.0, 1.0])) == [], "a text has no range"


def test_refusals_name_what_there_is():
    made = features.build_examples(TABLE, "mbs", ["fs", "nodes"]).features
    with raises("unknown-factor", InputError, factor="NODE", factors="nodes"):
        features.encode_setting(made, {"NODE": 1})
    with raises("unknown-factor", InputError, factor="disk", factors="fs, nodes"):
        features.encode_setting(made, {"disk": 1})
    with raises("missing-factor-level", InputError, factor="nodes", example=1):
        features.encode_setting(made, {"fs": "nfs"})
    with raises("not-a-number", InputError, factor="nodes", level=True, levels="1 to 2"):
        features.encode_setting(made, {"fs": "nfs", "nodes": True})
    many = features.Feature("fs", "", tuple(f"l{i}" for i in range(13)), False)
    with raises("unknown-level", InputError, levels=", ".join([*(f"l{i}" for i in range(12)), "…"])):
        features.encode_level(many, "x")
    with raises("unknown-level", InputError, levels=", ".join(f"l{i}" for i in range(12))):
        features.encode_level(features.Feature("fs", "", many.levels[:12], False), "x")
    with raises("no-complete-rows", DataError, columns="fs"):
        features.build_examples(build_table({"fs": [None, "a"], "y": [1.0, None]}), "y", ["fs"])
