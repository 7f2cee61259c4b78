"""Tables become rows and features that know what was tried."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.model.fit import features
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
