"""dbench for Kubernetes: written after its script; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLE = (Path(__file__).parents[1] / "golden" / "fixtures" / "dbench-kubernetes" / "sample-summary.txt").read_text()
MIB = 2**20
QUICK = SAMPLE[: SAMPLE.index("Average")]
FIO = """read_iops: (g=0): rw=randread, bs=4096B-4096B,4096B-4096B,4096B-4096B, ioengine=libaio, iodepth=64
fio-2.17-45-g06cb
Starting 1 process

read_iops: (groupid=0, jobs=1): err= 0: pid=9: Fri Nov 20 17:26:04 2026
   read: IOPS=20.5k, BW=80.2MiB/s (84.1MB/s)(1203MiB/15001msec)

Run status group 0 (all jobs):
   READ: bw=80.2MiB/s (84.1MB/s), 80.2MiB/s-80.2MiB/s (84.1MB/s-84.1MB/s), io=1203MiB (1261MB), run=15001-15001msec

"""


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood) -> dict[tuple[str, str, str], float]:
    return {(row.operation, row.metric, (row.factors or {})["test"]): row.value for row in reading.runs[0].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_each_test_of_the_summary_is_a_setting():
    reading = read_text(SAMPLE)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("dbench-kubernetes", 1, [], {})
    assert get_values(reading) == pytest.approx(
        {
            ("read", "rate_last_done", "iops"): 20500,
            ("write", "rate_last_done", "iops"): 5120,
            ("read", "bandwidth_last_done", "bandwidth"): 512 * MIB,
            ("write", "bandwidth_last_done", "bandwidth"): 25.5 * MIB,
            ("read", "latency_mean", "latency"): 250.5e-6,
            ("write", "latency_mean", "latency"): 1500.25e-6,
            ("read", "bandwidth_last_done", "sequential"): 1024 * MIB,
            ("write", "bandwidth_last_done", "sequential"): 512 * MIB,
            ("read", "rate_last_done", "mixed"): 15000,
            ("write", "rate_last_done", "mixed"): 5000,
        }
    )
    assert run.rows[-1].factors == {"test": "mixed", "random": 1}
    assert has_message((note.sentence for note in reading.warnings), "low-resolution")


@pytest.mark.parametrize(
    ("line", "read", "write"),
    [
        ("Average Latency (ms) Read/Write: 36.1/3.1", 36.1e-3, 3.1e-3),
        ("Average Latency Read/Write: 250.5(usec) / 3.5(msec)", 250.5e-6, 3.5e-3),
    ],
)
def test_latencies_have_their_unit(line, read, write):
    values = get_values(read_text(SAMPLE.replace("Average Latency (usec) Read/Write: 250.50/1500.25", line)))
    assert values["read", "latency_mean", "latency"] == pytest.approx(read)
    assert values["write", "latency_mean", "latency"] == pytest.approx(write)


def test_a_quick_summary_is_complete():
    reading = read_text(QUICK)
    assert not reading.runs[0].missing
    assert len(reading.runs[0].rows) == 4


def test_a_number_that_the_tool_did_not_find_is_missing():
    reading = read_text(SAMPLE.replace("250.50/1500.25", "/"))
    assert lacks(reading, "no-results", operation="write", test="latency")
    assert lacks(read_text(SAMPLE.replace("250.50/", "/")), "no-results", operation="read")


def test_a_summary_that_ends_early_is_incomplete():
    assert lacks(read_text(SAMPLE[: SAMPLE.index("Mixed")]), "ended-early", tests="mixed")
    assert lacks(read_text(SAMPLE[: SAMPLE.index("Random")]), "ended-early")
    assert lacks(read_text(SAMPLE.replace("512MiB/s / 25", "512MiB 25")), "damaged-lines")


def test_the_outputs_of_fio_have_more_digits_than_their_summary():
    reading = read_text(FIO + SAMPLE)
    assert reading.format == "fio"
    assert not has_message((note.sentence for note in reading.warnings), "also-another-format")
