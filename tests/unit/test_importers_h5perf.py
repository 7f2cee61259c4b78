"""h5perf and h5perf_serial of HDF5: written after their sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "h5perf"
TIMES = (SAMPLES / "sample-times.txt").read_text()
SERIAL = (SAMPLES / "sample-serial.txt").read_text()
INSIDE = "open,close"
KIB, MIB = 2**10, 2**20


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_each_api_is_a_run_with_its_settings():
    reading = read_text(TIMES)
    assert (reading.format, reading.tool_version, reading.others) == ("h5perf", "1.14.3", {})
    assert [run.factors["api"] for run in reading.runs] == ["MPIIO", "HDF5"]
    assert not any(run.missing for run in reading.runs)
    assert reading.runs[0].factors == {
        "bytes_per_process": 8 * MIB,
        "block_size": 128 * KIB,
        "pattern": "Interleaved",
        "type": "collective",
        "geometry": "1D",
        "layout": "Chunked",
        "ranks": 4,
        "transfer_size": 256 * KIB,
        "file_size": 64 * MIB,
        "files": 1,
        "datasets": 2,
        "api": "MPIIO",
        "iterations": 2,
    }


def test_statistics_over_the_iterations_and_their_times():
    reading = read_text(TIMES)
    values = get_values(reading)
    assert values["write", "bandwidth_max"] == 640.0 * MIB
    assert values["write", "bandwidth_mean"] == 512.0 * MIB
    assert values["write", "bandwidth_min"] == pytest.approx(426.67 * MIB)
    assert (values["write", "time_min"], values["write", "time_mean"], values["write", "time_max"]) == (
        0.1,
        0.125,
        0.15,
    )
    assert values["write_open_close", "bandwidth_mean"] == 400.0 * MIB
    assert values["write_file_open", "time_mean"] == 0.0125
    assert values["write_file_close", "time_max"] == 0.02
    assert values["read_open_close", "time_max"] == 0.096
    assert get_values(reading, 1)["read", "bandwidth_max"] == 800.0 * MIB
    assert {row.count for row in reading.runs[0].rows} == {2}
    assert {row.operation for row in reading.runs[0].rows if row.includes == INSIDE} == {
        "write_open_close",
        "read_open_close",
    }


def test_a_single_iteration_is_until_the_last_process_is_done():
    reading = read_text(SERIAL)
    assert [run.missing for run in reading.runs] == [[], []]
    assert reading.runs[1].factors == {
        "layout": "Contiguous",
        "file_driver": "sec2",
        "transfer_size": MIB,
        "file_size": 16 * MIB,
        "api": "HDF5",
        "iterations": 1,
    }
    assert get_values(reading) == {
        ("write", "bandwidth_last_done"): 850.25 * MIB,
        ("write_open_close", "bandwidth_last_done"): 640.5 * MIB,
        ("read", "bandwidth_last_done"): 1250.75 * MIB,
        ("read_open_close", "bandwidth_last_done"): 1120.5 * MIB,
    }
    assert get_values(reading, 1)["write", "bandwidth_last_done"] == 425.25 * MIB


def test_further_numbers_of_processes_and_sizes_of_transfers():
    block = TIMES[TIMES.index("Transfer Buffer") :]
    text = TIMES + block.replace("262144 bytes", "524288 bytes") + "Number of processors = 2\n" + block
    runs = [(run.factors["ranks"], run.factors["transfer_size"]) for run in read_text(text).runs]
    assert runs == [(4, 262144)] * 2 + [(4, 524288)] * 2 + [(2, 262144)] * 2
    square = TIMES.replace("Size: 262144 bytes, File size: 64.00 MB", "Size: 512x1024 bytes, File size: 64.00 MBs")
    run = read_text(square).runs[0]
    assert (run.factors["transfer_size"], run.factors["file_size"]) == (512 * KIB, 64 * MIB)


def test_a_benchmark_that_is_cut_or_failed_is_incomplete():
    reading = read_text(TIMES[: TIMES.rindex("Read Open-Close")])
    assert [bool(run.missing) for run in reading.runs] == [False, True] and lacks(reading, "ended-early")
    assert lacks(read_text(SERIAL[: SERIAL.index("IO API = POSIX")]), "ended-early")
    assert lacks(read_text(SERIAL.replace("850.25", "-nan")), "invalid-number")
    error = "HDF5-DIAG: Error detected in HDF5 (1.14.3) MPI-process 0:\n"
    assert lacks(read_text(TIMES + error), "tool-failed")


def test_a_benchmark_that_only_writes_is_whole():
    lines = SERIAL.splitlines()
    keep = [
        line for at, line in enumerate(lines) if not any("Read" in other for other in lines[max(at - 3, 0) : at + 1])
    ]
    reading = read_text("\n".join(keep) + "\n")
    assert [run.missing for run in reading.runs] == [[], []]
    assert {row.operation for run in reading.runs for row in run.rows} == {"write", "write_open_close"}


def test_merged_lines_give_no_number_to_another_operation():
    glued = read_text(SERIAL.replace("850.25 MB/s\n            Write Open", "850.25 MB/s            Write Open", 3))
    assert lacks(glued, "glued-lines")
    assert get_values(glued)["write", "bandwidth_last_done"] == 850.25 * MIB
    assert ("write_open_close", "bandwidth_last_done") not in get_values(glued)
    api = read_text(SERIAL.replace("1120.50 MB/s\n        IO API = HDF5", "1120.50 MB/s        IO API = HDF5"))
    assert lacks(api, "glued-lines") and len(api.runs) == 1


def test_labels_before_the_lines_are_left_out():
    labelled = "".join(f"[1,0]<stdout>: {line}\n" for line in TIMES.splitlines())
    assert get_values(read_text(labelled), 1) == get_values(read_text(TIMES), 1)


def test_other_outputs_of_iterations_are_not_claimed():
    with pytest.raises(UnknownFormatError):
        read_text("Write (1 iteration(s)):\n    Maximum Throughput: 850.25 MB/s\n")


@given(st.integers(1, 10**8), st.integers(1, 4096))
@settings(max_examples=50, deadline=None)
def test_every_number_is_in_base_units(bandwidth, ranks):
    text = TIMES.replace("Maximum Throughput: 640.00", f"Maximum Throughput: {bandwidth / 100:6.2f}")
    reading = read_text(text.replace("processors = 4", f"processors = {ranks}"))
    assert get_values(reading)["write", "bandwidth_max"] == pytest.approx(bandwidth / 100 * MIB)
    assert reading.runs[0].factors["ranks"] == ranks
