"""Sizes, durations and the way numbers are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core import units
from iosonde.core.errors import InputError
from messages import raises


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


@pytest.mark.parametrize("text", ["9" * 400, "1.3", "0.3k", "1.0001k"])
def test_a_size_is_a_whole_number_of_bytes(text):
    with raises("invalid-size", InputError, size=text):
        units.parse_size(text)
    assert units.parse_suffixed_size(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5ns", 5e-9),
        ("5us", 5e-6),
        ("5 µs", 5e-6),
        ("2m", 120),
        ("2sec", 2),
        ("1d", 86400),
        ("1H 30M", 5400),
        (" 7 ", 7),
    ],
)
def test_durations_in_every_unit(text, seconds):
    assert units.parse_seconds(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize("text", ["9" * 400, "1 2 x", "5s!", " "])
def test_a_duration_is_read_to_its_end(text):
    with raises("invalid-duration", InputError, duration=text):
        units.parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("117MB/s", 117e6),
        ("1GiB/s", 2.0**30),
        ("1Gbit/s", 1.25e8),
        ("94.11Mbit/s", 94.11e6 / 8),
        ("5kBps", 5000.0),
        ("2 Mbytes / s", 2e6),
        ("1Kibit/s", 128.0),
        ("1e3B/s", 1000.0),
        ("3byte/s", 3.0),
        ("1TiB/s", 2.0**40),
    ],
)
def test_rates(text, rate):
    assert units.parse_rate(text) == pytest.approx(rate, rel=1e-12)
    assert units.parse_bits(text) == pytest.approx(8 * rate, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["117", "1Mb/s", "1mb/s", "1kb/s", "1b/s", "1Gib/s", "1MB", "MB/s", "1e999B/s", "1MB/h"]
)
def test_what_is_no_rate_in_bytes_is_refused(text):
    with raises("invalid-rate", InputError, rate=text):
        units.parse_rate(text)


@pytest.mark.parametrize(
    ("text", "bits"),
    [("993mbit", 993e6), ("1gbit", 1e9), ("580 Mbit/s", 580e6), ("5bit", 5.0), ("10kbitps", 1e4), (" 2Kbit ", 2e3)],
)
def test_rates_of_links_in_bits(text, bits):
    assert units.parse_bits(text) == pytest.approx(bits, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("1.5Mb/s", "ambiguous-rate", {"bits": "1.5m", "bytes_": "1.5M"}),
        ("2gb", "ambiguous-rate", {"bits": "2g", "bytes_": "2G"}),
        ("1.2.3mbit", "invalid-rate", {}),
        ("x", "invalid-rate", {}),
    ],
)
def test_a_link_in_bits_or_bytes_is_asked_back(text, code, values):
    with raises(code, InputError, rate=text, **values):
        units.parse_bits(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("0.02s/MB", 2e-8), ("3ns/B", 3e-9), ("1us/KiB", 1e-6 / 1024), ("2e-3 min / GB", 0.12e-9)]
)
def test_times_per_byte(text, seconds):
    assert units.parse_per_byte(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize("text", ["1/MB", "3x/B", "3s/Mbit", "1e999s/B", "3s"])
def test_what_is_no_time_per_byte_is_refused(text):
    with raises("invalid-time-per-byte", InputError, time_per_byte=text):
        units.parse_per_byte(text)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (-(2**20), "-1 MiB"),
        (1536, "1.50 KiB"),
        (2**50, "1 PiB"),
        (2**60, "1024 PiB"),
        (float("inf"), "inf"),
    ],
)
def test_sizes_are_shown_in_the_largest_unit_that_they_reach(n_bytes, text):
    assert units.format_size(n_bytes) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 3, "0"),
        (0.001, 3, "0.00100"),
        (0.0009, 3, "0.0009"),
        (12.345, 3, "12.3"),
        (1234567, 3, "1230000"),
        (9_999_999, 3, "1e+07"),
        (9_999_999, 7, "9999999"),
        (-0.5, 1, "-0.5"),
        (99.96, 3, "100.0"),
        (float("nan"), 3, "nan"),
    ],
)
def test_significant_digits(value, digits, text):
    assert units.format_significant(value, digits) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.85, "850 ms"),
        (1, "1.0 s"),
        (12, "12 s"),
        (59.7, "60 s"),
        (60, "1 min 00 s"),
        (250, "4 min 10 s"),
        (3599.4, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (7500, "2 h 05 min"),
        (float("inf"), "inf"),
    ],
)
def test_durations_as_they_are_shown(seconds, text):
    assert units.format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.061, "1.061"), (0.978, "0.978"), (0.1, "0.100"), (0.0999, "0.0999"), (12.4, "12.4"), (10, "10.0")],
)
def test_ratios_near_one_have_three_decimals(ratio, text):
    assert units.format_ratio(ratio) == text


@pytest.mark.parametrize(
    ("value", "unit", "scale"),
    [
        (1024, "bytes", (1024.0, "KiB")),
        (1023, "bytes", (1.0, "B")),
        (-2048, "bytes/s", (1024.0, "KiB/s")),
        (2**50, "bytes", (2.0**40, "TiB")),
        (1e3, "operations/s", (1e3, "kop/s")),
        (999, "operations/s", (1.0, "op/s")),
        (1e6, "operations/s", (1e6, "Mop/s")),
        (0, "s", (1e-9, "ns")),
        (1e-3, "s", (1e-3, "ms")),
        (float("inf"), "s", (1e-9, "ns")),
        (5e9, "W", (1.0, "W")),
    ],
)
def test_the_scale_of_a_value(value, unit, scale):
    assert units.choose_human_scale(value, unit) == scale


def test_several_values_share_the_scale_of_their_mean_magnitude():
    assert units.choose_common_scale([1, -2047], "bytes") == (1024.0, "KiB")
    assert units.choose_common_scale([1, 2046], "bytes") == (1.0, "B")
    assert units.choose_common_scale([], "bytes") == (1.0, "B")


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (9999, ("9999B", "9999B")),
        (10_000, ("9.766KiB", "10.00kB")),
        (9999.5 * 1024, ("9.765MiB", "10.24MB")),
        (2e15, ("1819TiB", "2000TB")),
        (0.6, ("1B", "1B")),
        (9999.4, ("9999B", "9999B")),
        (-20480, ("-20.00KiB", "-20.48kB")),
        (1e17, ("88.82PiB", "100.0PB")),
        (1e20, ("88820PiB", "100000PB")),
    ],
)
def test_bytes_with_both_families_of_prefixes(value, texts):
    assert units.format_both_prefixes(value, "B") == texts


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), ("0.02", 0.02), (" 99.9% ", 0.999), ("0", 0.0)])
def test_shares(text, share):
    assert units.parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "code"),
    [("100%", "out-of-range"), ("1", "out-of-range"), ("-1%", "out-of-range"), ("x%", "invalid-share")],
)
def test_what_is_no_share_below_one_is_refused(text, code):
    with raises(code, InputError, share=text):
        units.parse_share(text)


def test_numbers_in_other_places():
    assert units.format_percent(0.034) == "3.4 %"
    assert (units.format_for_file(1 / 3), units.format_for_file(12345678901)) == ("0.333333333", "12345678901")
    assert (units.format_fitted(1.000005000000001), units.format_fitted(123456.0)) == ("1.0000", "123460")


@pytest.mark.parametrize(("text", "rate"), [("993mbit", 993e6 / 8), ("1gbit", 125e6), ("117MB/s", 117e6)])
def test_a_link_has_bits_as_its_vendor_says_or_bytes(text, rate):
    assert units.parse_link_rate(text) == rate
