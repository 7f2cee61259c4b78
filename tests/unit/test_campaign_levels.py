"""Levels of factors, as written: their units, their types, and which one an option means."""

from __future__ import annotations

import pytest

from iosonde.campaign.spec import faults
from iosonde.campaign.spec.levels import find_level, read_levels
from iosonde.campaign.spec.schema import parse_until
from messages import raises


@pytest.mark.parametrize(
    ("declaration", "levels", "unit"),
    [
        (["64KiB", "1MiB"], (65536, 1048576), "bytes"),
        (["4kB", "1.5 MiB"], (4000, 1572864), "bytes"),
        (["30s", "5min"], (30, 300), "s"),
        (["1500ms", "2h"], (1.5, 7200), "s"),
        (["64k", "5m"], ("64k", "5m"), ""),
        (["64KiB", "30s"], ("64KiB", "30s"), ""),
        (["64KiB", "all"], ("64KiB", "all"), ""),
        ([1, 2.5], (1, 2.5), ""),
        ("64KiB", (65536,), "bytes"),
        (True, (True,), ""),
        ({"levels": [1, 2], "unit": "GiB"}, (1, 2), "GiB"),
        ({"levels": "64", "unit": "bytes"}, (64,), "bytes"),
        ({"levels": ["1MiB"]}, (1048576,), "bytes"),
        ({"levels": [30, "1min"], "unit": "s"}, (30, 60), "s"),
    ],
)
def test_levels_are_in_base_units_where_all_say_so(declaration, levels, unit):
    values, found = read_levels(declaration)
    assert (values, found) == (levels, unit)
    assert [type(value) for value in values] == [type(level) for level in levels]


@pytest.mark.parametrize(
    ("declaration", "kinds"),
    [
        ([1, "a"], "numbers and texts"),
        (["a", True], "texts and true or false"),
        ([True, 1], "true or false and numbers"),
    ],
)
def test_levels_of_several_types_are_refused(declaration, kinds):
    with raises("mixed-level-types", kinds=kinds):
        read_levels(declaration)


@pytest.mark.parametrize(
    "declaration", [["1MiB", "1024KiB"], [1, 1.0], ["a", "a"], {"levels": [60, "1min"], "unit": "s"}]
)
def test_one_level_twice_is_refused(declaration):
    with raises("duplicate-level"):
        read_levels(declaration)


@pytest.mark.parametrize(
    ("declaration", "word", "level"),
    [
        (["64KiB", "1MiB"], "1MiB", 1048576),
        (["64KiB", "1MiB"], 65536, 65536),
        ({"levels": ["a", "b"]}, "b", "b"),
        (8, 8, 8),
        ([False, True], True, True),
    ],
)
def test_a_level_is_meant_as_written_or_as_converted(declaration, word, level):
    assert find_level(declaration, word) is level or find_level(declaration, word) == level


@pytest.mark.parametrize(
    ("declaration", "word"), [([0, 1], True), ([False, True], 1), (["a"], "b"), (["64KiB"], "64k")]
)
def test_what_is_no_level_is_refused_with_those_there_are(declaration, word):
    with raises("unknown-level", level=word, levels=", ".join(map(str, declaration))):
        find_level(declaration, word)


FAULT = {"fault": "${fault}", "on": "server2"}


@pytest.mark.parametrize(
    ("document", "without", "sparing"),
    [
        ({}, True, []),
        ({"settle": "5s"}, False, []),
        ({"faults": [{"fault": "none", "on": "server1"}]}, True, []),
        ({"faults": [{"fault": "stop", "on": "server1"}]}, False, []),
        ({"faults": [FAULT], "factors": {"fault": ["none"]}}, True, ["fault"]),
        ({"faults": [FAULT], "factors": {"fault": "none"}, "settle": "1s"}, False, ["fault"]),
        ({"faults": [FAULT, FAULT], "factors": {"fault": {"levels": ["none", "stop"]}}}, False, ["fault"]),
        ({"faults": [FAULT], "factors": {"fault": ["stop", "cut-link"]}}, False, []),
        ({"faults": [FAULT]}, False, []),  # an unknown factor is refused elsewhere
        ({"faults": [{"fault": "x-${fault}"}], "factors": {"fault": ["none"]}}, False, ["fault"]),
    ],
)
def test_whether_a_file_inflicts_anything_and_which_factor_may_spare(document, without, sparing):
    assert faults.is_without_faults(document) is without
    assert faults.list_sparing_factors(document) == sparing


@pytest.mark.parametrize(
    ("text", "half_width"), [("ci<5%", 0.05), ("5%", 0.05), (" ci < 2.5 % ", 0.025), ("99.9%", 0.999)]
)
def test_a_stopping_rule_is_a_half_width(text, half_width):
    assert parse_until(text) == pytest.approx(half_width)


@pytest.mark.parametrize("text", ["ci<0%", "100%", "ci>5%", "5", "ci<5", "-5%", "ci<5%%", ""])
def test_what_is_no_half_width_is_refused(text):
    with raises("invalid-rule", rule=text):
        parse_until(text)
