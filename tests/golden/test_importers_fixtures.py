"""Every capture is read as its facts say: format, version, executions, completeness, values, warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from importer_fixtures import EXPECTED, UNITS, fixture

from iosonde.importers import Understood, read, understand


def understood(name: str) -> Understood:
    path = fixture(name)
    if path is None:
        pytest.skip(f"the capture {name} is not on this machine (set IOSONDE_SHARED)")
    with Path(path).open("rb") as file:
        return understand(read(file, path.name))


def value_of(found: Understood, operation: str, metric: str, where: dict) -> list[float]:
    runs = [found.runs[where["run"]]] if "run" in where else found.runs
    return [
        row.value
        for run in runs
        for row in run.rows
        if (row.operation, row.metric) == (operation, metric)
        and row.rank == where.get("rank")
        and all(
            {**run.factors, **(row.factors or {})}.get(key) == value
            for key, value in where.items()
            if key not in ("run", "rank", "iteration")
        )
        and ("iteration" not in where or row.iteration == where["iteration"])
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_capture_is_read_as_its_facts_say(name):
    expected, found = EXPECTED[name], understood(name)
    assert found.format == expected["format"]
    assert found.tool_version == expected["version"]
    assert len(found.runs) == expected["runs"]
    assert all(not run.missing for run in found.runs) == expected["complete"]
    for operation, metric, number, unit, *where in expected["values"]:
        values = value_of(found, operation, metric, where[0] if where else {})
        # The facts are rounded to as many digits as a person copies.
        assert any(value == pytest.approx(number * UNITS[unit], rel=1e-5) for value in values), (operation, metric)
    said = " ".join(note.sentence for note in found.warnings)
    for words in expected.get("says", ()):
        assert words in said


@pytest.mark.parametrize("name", EXPECTED)
def test_every_number_has_its_line(name):
    path, found = fixture(name), understood(name)
    last = 10**6 if name.endswith(".xls") else path.read_bytes().count(b"\n") + 1  # of a sheet it is the row
    for run in found.runs:
        assert all(1 <= row.line <= last for row in run.rows)


def test_the_streams_of_a_loop_add_up_to_what_others_read():
    found = understood("netperf/pub-lkp-netperf-loops.txt")
    rates = [row.value * 8 / 1e6 for run in found.runs for row in run.rows if row.metric == "bandwidth"]
    assert (len(rates), sum(rates)) == (64, pytest.approx(509081.61))


# fio counted latencies of its verification only in a part of its numbers.
CONTRADICTORY = {"fio/gen-fio333-json-verify-error.txt"}


# Caches, writes that end in memory, short times: true of captures that are made in a moment.
TRUE_OF_CAPTURES = {"S104", "S142", "S143"}


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - CONTRADICTORY))
def test_no_capture_contradicts_itself(name):
    entries = [entry for run in understood(name).runs for entry in run.contradictions]
    assert not [entry.sentence for entry in entries if entry.code not in TRUE_OF_CAPTURES]
