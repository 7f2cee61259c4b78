"""benchio of EPCC: written after its sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "benchio"
STRIPINGS = (SAMPLES / "sample-stripings.txt").read_text()
REPEATED = (SAMPLES / "sample-repeated.txt").read_text()
INSIDE = "open,close"
MIB, GIB = 2.0**20, 2.0**30


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def list_values(reading: Understood, run: int = 0) -> list[tuple]:
    return [(row.metric, row.iteration, row.value) for row in reading.runs[run].rows]


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_each_file_is_a_run_with_its_settings():
    reading = read_text(STRIPINGS)
    assert (reading.format, reading.others) == ("benchio", {})
    assert not any(run.missing for run in reading.runs)
    shared = {"ranks": 8, "nodes": 2, "data_size": GIB}
    assert [run.factors for run in reading.runs] == [
        {**shared, "api": api, "access": access, "striping": striping}
        for api, access in (("POSIX", "file-per-process"), ("MPIIO", "single-shared-file"))
        for striping in ("unstriped", "fullstriped")
    ]
    assert reading.runs[2].facts["file"] == "unstriped/mpiio.dat"
    assert reading.runs[0].facts["array_size"] == "256x256x256"
    assert list_values(reading) == [("bandwidth_last_done", None, 2.0 * GIB), ("time", None, 0.5)]
    assert list_values(reading, 3) == [("bandwidth_last_done", None, 1.25 * GIB), ("time", None, 0.8)]
    assert {(row.operation, row.includes) for run in reading.runs for row in run.rows} == {("write", INSIDE)}


def test_older_versions_repeat_each_file():
    reading = read_text(REPEATED)
    assert [run.missing for run in reading.runs] == [[], []]
    assert reading.runs[1].factors == {
        "ranks": 8,
        "data_size": 2**30,
        "api": "HDF5",
        "access": "single-shared-file",
        "iterations": 3,
    }
    assert list_values(reading) == [
        ("bandwidth_last_done", 0, 512 * MIB),
        ("time", 0, 2.0),
        ("bandwidth_last_done", 1, 640 * MIB),
        ("time", 1, pytest.approx(1.6)),
        ("bandwidth_last_done", 2, pytest.approx(409.6 * MIB)),
        ("time", 2, 2.5),
        ("bandwidth_max", None, 640 * MIB),
        ("time_min", None, pytest.approx(1.6)),
        ("bandwidth_mean", None, pytest.approx(520.533333333 * MIB)),
        ("time_mean", None, pytest.approx(2.033333333)),
    ]
    assert {row.count for row in reading.runs[0].rows} == {None, 3}


def test_other_methods_and_their_access():
    serial = STRIPINGS.replace("/mpiio.dat", "/serial.dat").replace("proc000000", "node000001")
    access = [(run.factors["api"], run.factors["access"]) for run in read_text(serial).runs]
    assert access == [("POSIX", "file-per-node")] * 2 + [("POSIX", "single-writer")] * 2
    other = read_text(STRIPINGS.replace("/mpiio.dat", "/daos.dat"))
    assert other.runs[2].factors["api"] == "daos" and "access" not in other.runs[2].factors


def test_a_benchmark_that_ended_early_or_failed_is_incomplete():
    cut = read_text(STRIPINGS[: STRIPINGS.index(" Finished")])
    assert [bool(run.missing) for run in cut.runs] == [False, False, False, True] and lacks(cut, "ended-early")
    last_file = STRIPINGS.rindex(" time =")
    assert lacks(read_text(STRIPINGS[:last_file]), "ended-early")
    head = STRIPINGS[: STRIPINGS.index(" Using")]
    assert lacks(read_text(head), "no-results")
    error = "At line 96 of file mpiio.f90\nFortran runtime error: Cannot open file\n"
    assert lacks(read_text(STRIPINGS[:last_file] + error), "tool-failed")
    lines = [line for line in REPEATED.splitlines() if "avgtime" not in line]
    assert lacks(read_text("\n".join(lines) + "\n"), "ended-early")


def test_merged_lines_give_no_number_to_another_file():
    glued = read_text(STRIPINGS.replace("GiB/s\n Writing to fullstriped/proc", "GiB/s Writing to fullstriped/proc", 1))
    assert lacks(glued, "glued-lines")
    assert [len(run.rows) for run in glued.runs] == [0, 2, 2]
    assert lacks(read_text(STRIPINGS.replace("rate =    1.25", "rate =    1.2*5")), "damaged-lines")


def test_two_benchmarks_and_labels_before_the_lines():
    reading = read_text(STRIPINGS + REPEATED)
    assert [len(run.rows) for run in reading.runs] == [2, 2, 2, 2, 10, 10] and "nodes" not in reading.runs[5].factors
    labelled = "".join(f"n001: {line}\n" for line in REPEATED.splitlines())
    assert list_values(read_text(labelled), 1) == list_values(read_text(REPEATED), 1)


def test_other_times_and_rates_are_not_claimed():
    with pytest.raises(UnknownFormatError):
        read_text(" time =  1.0 , rate =  2.0  GiB/s\n")


@given(st.floats(1e-3, 1e5), st.floats(1e-3, 1e5), st.sampled_from([("GiB", GIB), ("MiB", MIB)]))
@settings(max_examples=50, deadline=None)
def test_every_number_is_in_base_units(seconds, rate, unit):
    old = " time =    0.5000000000000000      , rate =    2.0000000000000000       GiB/s"
    text = STRIPINGS.replace(old, f" time =    {seconds:.16E}      , rate =    {rate:.16E}       {unit[0]}/s")
    assert list_values(read_text(text)) == [
        ("bandwidth_last_done", None, pytest.approx(rate * unit[1])),
        ("time", None, pytest.approx(seconds)),
    ]
