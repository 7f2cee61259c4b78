"""The table of reading rates: a column for each state that there was, and the share that was cold."""

from __future__ import annotations

from iosonde.answers.survey.reading import ReadSpeed
from iosonde.core.types import Estimate
from iosonde.report.text.survey_reading import reading_lines


def speed(kind: str, state: str, n_bytes: int) -> ReadSpeed:
    return ReadSpeed(kind, state, Estimate(2e8, 1.5e8, 2.5e8, 0.95, 9), n_bytes)


def test_states_stand_apart_and_the_cold_share_is_said():
    found = list(reading_lines([speed("NetCDF classic", "cold", 300), speed("text", "cached", 100)]))
    assert "not in memory" in found[1] and found[1].rstrip().endswith(" in memory")
    assert "75.0 % of these bytes were not in this node's memory." in " ".join(found)
    assert max(map(len, found)) < 80


def test_where_the_file_system_does_not_tell_no_share_is_claimed():
    said = " ".join(reading_lines([speed("text", "unknown", 1)]))
    assert "not told" in said and "the file system does not tell" in said and "%" not in said
    assert list(reading_lines([])) == []


def test_three_states_of_long_names_fit():
    kinds = [speed("a very long name of a type of file " * 2, state, 5) for state in ("cold", "cached", "unknown")]
    assert max(map(len, reading_lines(kinds))) < 80
