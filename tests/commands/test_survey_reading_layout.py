"""The table of reading rates: a column for each state that there was, and the share that was cold."""

from __future__ import annotations

from iosonde.commands.survey.reading import ReadSpeed, compute_cold_share, describe_reading
from iosonde.commands.survey.text import format_read_speeds
from iosonde.core.types import Estimate


def speed(kind: str, state: str, n_bytes: int) -> ReadSpeed:
    return ReadSpeed(kind, state, Estimate(2e8, 1.5e8, 2.5e8, 0.95, 9), n_bytes)


def test_states_stand_apart_and_the_cold_share_is_said():
    found = list(_lines([speed("NetCDF classic", "cold", 300), speed("text", "cached", 100)]))
    assert found[1].split().count("memory") == 2 and found[1].split().count("not") == 1
    assert "75.0 % " in " ".join(found)
    assert max(map(len, found)) < 80


def test_where_the_file_system_does_not_tell_no_share_is_claimed():
    said = " ".join(_lines([speed("text", "unknown", 1)]))
    assert "191 (143–238)" in said and "%" not in said
    assert list(_lines([])) == []


def test_three_states_of_long_names_fit():
    kinds = [speed("a very long name of a type of file " * 2, state, 5) for state in ("cold", "cached", "unknown")]
    assert max(map(len, _lines(kinds))) < 80


def _lines(found):
    return format_read_speeds(found, describe_reading(found, compute_cold_share(found)))


def test_bytes_of_which_nobody_tells_are_in_no_share():
    found = [speed("text", "cold", 100), speed("text", "cached", 300), speed("raw", "unknown", 10_000)]
    assert compute_cold_share(found) == 0.25 and compute_cold_share(found[2:]) is None
