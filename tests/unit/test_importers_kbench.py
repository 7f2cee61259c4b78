"""kbench of Longhorn: written after its sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "kbench"
VOLUME = (SAMPLES / "sample-volume.txt").read_text()
COMPARISON = (SAMPLES / "sample-comparison.txt").read_text()
KIB, GIB = 2**10, 2**30
NEWEST = """
=========================
FIO Benchmark Summary
For: ./test_device
CPU Idleness Profiling:
Size: 10g
Mode: sequential-read-iops
=========================
IOPS (Read/Write)
        Random:                       /
    Sequential:                 2,500 /

Bandwidth in KiB/sec (Read/Write)
        Random:                       /
    Sequential:                       /

Latency in ns (Read/Write)
        Random:                       /
    Sequential:                       /
"""


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str, int], float]:
    return {(row.operation, row.metric, (row.factors or {})["random"]): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_the_summary_of_a_volume():
    reading = read_text(VOLUME)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("kbench", 1, [], {})
    assert run.factors == {"file_size": 20 * GIB, "mode": "full"}
    assert run.rows[0].factors == {"test": "iops", "random": 1}
    assert get_values(reading) == pytest.approx(
        {
            ("read", "rate_sample_mean", 1): 20480,
            ("write", "rate_sample_mean", 1): 5120,
            ("read", "rate_sample_mean", 0): 40960,
            ("write", "rate_sample_mean", 0): 10240,
            ("read", "bandwidth_sample_mean", 1): 1024000 * KIB,
            ("write", "bandwidth_sample_mean", 1): 512000 * KIB,
            ("read", "bandwidth_sample_mean", 0): 2048000 * KIB,
            ("write", "bandwidth_sample_mean", 0): 256000 * KIB,
            ("read", "latency_mean", 1): 250e-6,
            ("write", "latency_mean", 1): 500e-6,
            ("read", "latency_mean", 0): 125e-6,
            ("write", "latency_mean", 0): 1e-3,
        }
    )


def test_a_comparison_is_a_run_of_each_volume():
    reading = read_text(COMPARISON)
    assert [run.factors["volume"] for run in reading.runs] == ["raw", "ext4"]
    assert reading.runs[1].factors == {"volume": "ext4", "file_size": 20 * GIB, "mode": "quick"}
    assert not any(run.missing for run in reading.runs)
    assert get_values(reading, 0)["read", "rate_sample_mean", 1] == 1000
    assert get_values(reading, 1)["write", "rate_sample_mean", 0] == 4000
    assert get_values(reading, 1)["read", "latency_mean", 1] == pytest.approx(150e-6)


def test_older_summaries_have_no_commas():
    reading = read_text(VOLUME.replace(",", "").replace("Quick Mode: disabled", "QUICK MODE ENABLED"))
    assert get_values(reading) == get_values(read_text(VOLUME))


def test_one_test_alone_is_complete():
    reading = read_text(NEWEST)
    assert get_values(reading) == {("read", "rate_sample_mean", 0): 2500}
    assert not reading.runs[0].missing


def test_a_missing_number_or_section_is_incomplete():
    assert lacks(read_text(VOLUME.replace("20,480", "null")), "no-results", operation="read", test="iops")
    assert lacks(read_text(VOLUME[: VOLUME.index("Latency")]), "ended-early")
    assert lacks(read_text(VOLUME.replace("20,480 / 5,120", "20,480 / 5,1")), "damaged-lines")


def test_the_labels_of_a_pod_go():
    labelled = "".join(f"[pod/kbench-6l2zk/kbench] {line}" for line in VOLUME.splitlines(True))
    assert get_values(read_text(labelled)) == get_values(read_text(VOLUME))


def test_versions_of_2021_have_a_line_for_each_operation():
    sections = []
    for title in ("IOPS", "Bandwidth in KiB/sec", "Latency in ns"):
        sections.append(f"""{title}
       Random Rread:          1,000 (sys/usr cpu: 5% / 2%)   vs     500 (sys/usr cpu: 6% / 1%)    :    -50.00% (sys/usr cpu: 1% / -1%)
       Random Write:          2,000 (sys/usr cpu: 5% / 2%)   vs   1,000 (sys/usr cpu: 6% / 1%)    :    -50.00% (sys/usr cpu: 1% / -1%)
    Sequential Read:          3,000 (sys/usr cpu: 5% / 2%)   vs   1,500 (sys/usr cpu: 6% / 1%)    :    -50.00% (sys/usr cpu: 1% / -1%)
   Sequential Write:          4,000 (sys/usr cpu: 5% / 2%)   vs   2,000 (sys/usr cpu: 6% / 1%)    :    -50.00% (sys/usr cpu: 1% / -1%)
""")  # noqa: E501
    reading = read_text(COMPARISON[: COMPARISON.index("IOPS")] + "\n".join(sections))
    assert [bool(run.missing) for run in reading.runs] == [False, False]
    assert get_values(reading, 0)["read", "rate_sample_mean", 1] == 1000
    assert get_values(reading, 1)["write", "bandwidth_sample_mean", 0] == 2000 * KIB
    assert len(reading.runs[1].rows) == 12
