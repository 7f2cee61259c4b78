"""Terminal text: tables that fit, Estimates in one form, nothing that could steer a terminal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.estimate_text import format_short_estimate
from iosonde.core.types import Estimate
from iosonde.layout.text import escape, format_estimate, format_estimate_parts, format_fitting_table, table, width

MIB = 2**20


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain é 読", "plain é 読"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
        ("\x9b2J", "\\x9b2J"),
        ("evil\u202egnp.exe", "evil\\u202egnp.exe"),
        ("\u2028", "\\u2028"),
        ("\udcff", "\\udcff"),
        (None, "None"),
    ],
)
def test_escape(raw, shown):
    assert escape(raw) == shown


@given(st.text())
def test_nothing_escaped_can_steer_a_terminal(text):
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", escape(text))


@pytest.mark.parametrize(
    ("low", "value", "high", "unit", "text"),
    [
        (205 * MIB, 212 * MIB, 219 * MIB, "bytes/s", "212 (205–219) MiB/s"),
        (1421.1, 1421.3, 1421.5, "s", "1421.3 (1421.1–1421.5) s"),
        (None, 212 * MIB, None, "bytes/s", "212 (~) MiB/s"),
        (None, None, None, "bytes/s", "~"),
        (0.000110, 0.000120, 0.000150, "s", "120 (110–150) µs"),
        (750, 870, 990, "operations/s", "870 (750–990) op/s"),
        (1.0, 1.0, 1.0, "", "1.00 (1.00–1.00)"),
        (-2.0, 0.0, 2.0, "", "0.00 (-2.00–2.00)"),
        (1e-9, 0.00114, 6.7e6, "s", "1.14 (~) ms"),
        (0.0025, 0.237, 190.0, "", "0.237 (~)"),
    ],
)
def test_one_form_for_an_estimate(low, value, high, unit, text):
    assert format_estimate(Estimate(value, low, high, 0.95, 6), unit) == text


def test_a_scale_may_be_shared():
    estimate = Estimate(512 * MIB, 500 * MIB, 524 * MIB, 0.95, 6)
    assert format_estimate(estimate, "bytes/s", (2.0**30, "GiB/s")) == "0.500 (0.488–0.512) GiB/s"


@given(st.floats(1e-9, 1e15), st.floats(2e-5, 0.5))  # six digits show no half-width of 1e-5
def test_the_ends_of_an_interval_differ_from_its_middle(value, share):
    parts = format_estimate_parts(Estimate(value, value * (1 - share), value * (1 + share), 0.95, 6))
    low, high = parts[1].split("–")
    assert float(low) < float(high)
    assert float(low) <= float(parts[0]) <= float(high)


def test_table_aligns_and_escapes():
    text = table(["name", "n"], [["a\x1b", 5], ["読", 12], [None, 7]], "lr")
    assert text.splitlines() == ["name    n", "a\\x1b   5", "読     12", "        7"]


@given(st.lists(st.lists(st.text(max_size=60), min_size=3, max_size=3), max_size=5))
def test_no_line_of_a_table_is_longer_than_the_limit(rows):
    assert all(width(line) <= 79 for line in table(["first", "second", "third"], rows, "lll").splitlines())


def test_columns_come_closer_where_nothing_more_can_be_cut():
    made = table(["head"] * 12, [["12345"] * 12], "r" * 12, 79)
    assert max(map(width, made.splitlines())) == 12 * 5 + 11


def test_numbers_are_never_cut():
    text = table(["what", "value"], [["x" * 200, "123456789012"]], "lr")
    assert "123456789012" in text
    assert "…" in text


def test_names_that_differ_in_the_middle_are_cut_where_they_stay_apart():
    names = ["write_large", "write_buffered_large", "write_shared_segmented", "write_buffered_shared_segmented"]
    lines = table(["name", "rate"], [[name, "1" * 66] for name in names], "lr").splitlines()
    assert len({line.split()[0] for line in lines[1:]}) == 4 and max(map(width, lines)) <= 79


def test_one_space_between_columns_where_two_would_be_too_wide():
    rows = [["tree", *["12345678"] * 8]]
    assert max(map(width, table(["model", *["x"] * 8], rows, "l" + "r" * 8, limit=78).splitlines())) == 77
    assert max(map(width, table(["model", *["x"] * 8], rows, "l" + "r" * 8, limit=88).splitlines())) == 85


def test_very_long_names_that_are_the_same_but_for_the_middle_are_soon_cut():
    names = [f"{'a' * 20_000}{n}{'b' * 20_000}" for n in range(3)]
    assert len(set(table(["name"], [[name] for name in names]).splitlines())) == 4


@given(st.lists(st.tuples(st.text(max_size=120), st.text(max_size=120)), min_size=1, max_size=4, unique=True))
def test_a_fitting_table_is_never_too_wide(names):
    found = format_fitting_table(["name", "", "rate"], [[*name, "1" * 20] for name in names], "llr", 2)
    assert all(width(line) <= 79 for line in found) and sum("1" * 20 in line for line in found) >= len(names)


@pytest.mark.parametrize(
    ("low", "value", "high", "text"),
    [
        (205, 212, 219, "212 ± 7"),
        (198, 212, 241, "212, 198–241"),
        (None, 212, None, "212 ~"),
        (0.0949, 0.1, 0.1051, "0.100 ± 0.005"),
    ],
)
def test_a_number_in_a_table_of_many_columns_keeps_its_interval(low, value, high, text):
    assert format_short_estimate(Estimate(value, low, high, 0.95, 6)) == text


@pytest.mark.parametrize(("value", "said"), [(8.28e-10, "8.28e-10"), (9.5367431640625e14, "9.53674e+14")])
def test_numbers_far_from_all_units_have_an_exponent(value, said):
    """Their digits made tables of 120 columns."""
    shown, interval = format_estimate_parts(Estimate(value, 0.9 * value, 1.1 * value, 0.95, 5))
    assert shown == said and len(interval) < 25
