"""hyperfine --export-json: as its documentation shows it; figures of our own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message


def build_result(command: str, times: list[float], **others: Any) -> dict[str, Any]:
    return {
        "command": command,
        "mean": sum(times) / len(times),
        "stddev": 0.05,
        "median": sorted(times)[len(times) // 2],
        "user": 0.25,
        "system": 0.125,
        "min": min(times),
        "max": max(times),
        "times": times,
        "exit_codes": [0] * len(times),
        **others,
    }


def read_results(*results: dict[str, Any], indent: int | None = 2) -> Understood:
    return understand(Text(json.dumps({"results": list(results)}, indent=indent).encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[str, float]:
    return {row.metric: row.value for row in reading.runs[run].rows if row.iteration is None}


def test_each_execution_is_a_run_of_its_command():
    reading = read_results(
        build_result("cp a b", [1.0, 1.25], parameters={"threads": "4", "mode": "sync"}),
        build_result("cp a c", [2.0, 3.0]),
    )
    assert (reading.format, len(reading.runs), reading.others) == ("hyperfine", 4, {})
    programs = [run.factors["program"] for run in reading.runs]
    assert programs[0] == programs[1] != programs[2] == programs[3]
    assert (reading.runs[1].factors["threads"], reading.runs[1].factors["mode"]) == (4, "sync")
    times = [(row.iteration, row.value, row.line) for run in reading.runs for row in run.rows if row.metric == "real"]
    assert times[:2] == [(0, 1.0, 13), (1, 1.25, 14)] and [value for _, value, _ in times] == [1.0, 1.25, 2.0, 3.0]
    assert get_values(reading) == {
        "real_mean": 1.125,
        "real_sd": 0.05,
        "real_p50": 1.25,
        "real_min": 1.0,
        "real_max": 1.25,
        "user_mean": 0.25,
        "sys_mean": 0.125,
    }
    assert get_values(reading, 1) == {} and get_values(reading, 2)["real_mean"] == 2.5
    assert not any(run.missing for run in reading.runs)


def test_a_single_execution_has_no_deviation():
    reading = read_results(build_result("x", [0.5], stddev=None))
    assert "real_sd" not in get_values(reading) and not reading.runs[0].missing


def test_a_failed_command_or_a_cut_file_is_incomplete():
    failed = read_results(build_result("false", [0.5, 0.5], exit_codes=[0, 1]))
    assert not failed.runs[0].missing
    assert has_message((note.sentence for note in failed.runs[1].missing), "tool-failed", status="1")
    text = json.dumps({"results": [build_result("x", [0.5])]}, indent=2)
    cut = understand(Text(text[:-6].encode(), "x"))
    assert has_message((note.sentence for note in cut.runs[0].missing), "damaged-lines")
    wrong = read_results(build_result("x", [0.5], mean="fast"))
    assert has_message((note.sentence for note in wrong.runs[0].missing), "invalid-number", metric="real_mean")


def test_another_list_of_results_is_not_claimed():
    with pytest.raises(UnknownFormatError):
        understand(Text(json.dumps({"results": [{"command": "x", "mean": 1}]}).encode(), "x"))


@given(
    st.lists(st.lists(st.floats(0.001, 1000), min_size=1, max_size=6), min_size=1, max_size=4),
    st.sampled_from([None, 2]),
)
@settings(max_examples=60, deadline=None)
def test_every_execution_keeps_its_time(commands, indent):
    results = [build_result(f"cmd {place}", times) for place, times in enumerate(commands)]
    reading = read_results(*results, indent=indent)
    rows = [row for run in reading.runs for row in run.rows if row.metric == "real"]
    assert [row.value for row in rows] == [value for times in commands for value in times]
    assert [row.iteration for row in rows] == [place for times in commands for place in range(len(times))]
