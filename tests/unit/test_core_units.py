"""Sizes, durations and the way numbers are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core import units
from iosonde.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4KiB", 4096),
        ("4k", 4096),
        ("4K", 4096),
        ("4kB", 4000),
        ("4 KB", 4000),
        ("1M", 2**20),
        ("1.5GiB", 1610612736),
        ("17", 17),
        ("17B", 17),
        ("2tib", 2 * 2**40),
    ],
)
def test_sizes_as_storage_people_write_them(text, size):
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "4Q", "-1k", "k4", "1.3", "4 K i B", "1e3"])
def test_what_is_no_size_is_refused_with_a_hint(text):
    with pytest.raises(InputError) as error:
        units.parse_size(text)
    assert "4KiB" in error.value.hint


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("30min", 1800), ("1h30m", 5400), ("250ms", 0.25), ("2 h 5 s", 7205), (3, 3)],
)
def test_durations(text, seconds):
    assert units.parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "min", "5 fortnights", "1h x"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(InputError):
        units.parse_seconds(text)


@given(st.integers(0, 2**60))
def test_a_size_in_bytes_is_itself(n_bytes):
    assert units.parse_size(str(n_bytes)) == int(float(n_bytes))


@given(st.floats(1e-3, 1e15), st.sampled_from(["bytes/s", "operations/s", "s", "bytes"]))
def test_the_human_scale_keeps_the_value(value, unit):
    scale, name = units.choose_human_scale(value, unit)
    assert name
    shown = float(units.format_significant(value / scale, 6))
    assert shown * scale == pytest.approx(value, rel=1e-4)


def test_rates_are_shown_in_binary_units_and_kilo_operations():
    assert units.format_rate(1048576, "bytes/s") == "1.00 MiB/s"
    assert units.format_rate(12345, "operations/s") == "12.3 kop/s"
    assert units.format_rate(0.00213, "s") == "2.13 ms"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64k", 65536),
        ("1MiB", 1 << 20),
        ("1.5K", 1536),
        ("4096", None),
        ("0", 0),
        ("nfs", None),
        ("k", None),
        ("4kB", 4000),
    ],
)
def test_a_text_that_can_only_be_a_size(text, size):
    assert units.parse_suffixed_size(text) == size
