"""Lustre's counters and the profile of GlusterFS: written after their sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.importers import Text, Understood, understand

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures"
LUSTRE = (SAMPLES / "lustre-stats" / "sample-job-stats.txt").read_text()
GLUSTER = (SAMPLES / "gluster-profile" / "sample-info.txt").read_text()


def read(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, factor: str, run: int = 0) -> dict[tuple[str, str, str], float]:
    return {
        (str((row.factors or {}).get(factor, "")), row.operation, row.metric): row.value
        for row in reading.runs[run].rows
    }


def list_codes(reading: Understood, kind: str) -> list[str]:
    return [note.sentence.code for run in reading.runs for note in getattr(run, kind)]


def test_each_job_of_a_target_has_its_operations_bytes_and_latencies():
    reading = read(LUSTRE)
    assert (reading.format, reading.others, len(reading.runs)) == ("lustre-stats", {}, 3)
    assert [run.factors["lustre_target"] for run in reading.runs] == [
        "lustre-OST0000",
        "lustre-OST0001",
        "lustre-MDT0000",
    ]
    values = get_values(reading, "job")
    assert values["ior.1000", "write", "bytes"] == 256 << 20
    assert values["ior.1000", "write", "size_mean"] == 1 << 20
    assert values["ior.1000", "setattr", "latency_mean"] == pytest.approx(20e-6)
    assert values["ior.1000", "punch", "operations"] == 4
    assert ("ior.1000", "read", "operations") not in values, "it did not happen"
    assert values["cp.0", "read", "operations"] == 10 and values["cp.0", "read", "latency_max"] == pytest.approx(5e-4)
    assert reading.runs[0].facts["snapshot_at"] == "2023-05-03T08:00:11Z"


def test_counters_of_a_target_have_their_time_and_an_idle_target_is_noted():
    reading = read(LUSTRE)
    assert (reading.runs[2].seconds, reading.runs[2].started_at) == (100_000.0, "2023-05-02T04:13:30Z")
    assert get_values(reading, "job", 2)["", "open", "latency_mean"] == pytest.approx(50e-6)
    assert list_codes(reading, "missing") == [] and list_codes(reading, "warnings") == ["no-results"]


def test_of_several_prints_of_a_target_the_last_counts():
    text = LUSTRE.split("obdfilter.lustre-OST0001")[0]
    reading = read(text.replace("256,", "128,").replace("268435456", "134217728") + text)
    assert len(reading.runs) == 1 and list_codes(reading, "warnings") == ["earlier-print"]
    assert get_values(reading, "job")["ior.1000", "write", "bytes"] == 256 << 20


def test_a_cut_counter_is_missing():
    assert list_codes(read(LUSTRE[: LUSTRE.index("268435456")]), "missing") == ["damaged-lines"]


def test_each_brick_has_its_operations_and_their_share_of_the_time():
    reading = read(GLUSTER)
    (run,) = reading.runs
    values = get_values(reading, "brick")
    first, second = "srv1:/bricks/b1", "srv2:/bricks/b1"
    assert (reading.format, reading.others, run.missing, run.seconds) == ("gluster-profile", {}, [], 60)
    assert values[first, "write", "latency_share"] == pytest.approx(0.9)
    assert values[first, "write", "operations"] == values[first, "write", "operations_128K"] == 256
    assert values[first, "write", "bytes"] == 32 << 20 and values[first, "read", "bytes"] == 40960
    assert values[second, "fsync", "latency_mean"] == pytest.approx(1.5e-3)
    assert values[second, "fsync", "latency_min"] == pytest.approx(1e-7)
    assert values[first, "release", "operations"] == 3 and (first, "release", "latency_mean") not in values
    assert (second, "write", "bytes") not in values
    assert list_codes(reading, "warnings") == ["intervals-left-out"]


def test_an_interval_alone_is_read_and_a_cut_one_is_incomplete():
    head, interval = GLUSTER.partition("Cumulative Stats:")[0], GLUSTER[GLUSTER.index("Interval 0") :]
    reading = read(head + interval)
    assert get_values(reading, "brick")["srv1:/bricks/b1", "write", "operations"] == 256
    assert list_codes(reading, "warnings") == []
    cut = read(GLUSTER[: GLUSTER.rindex("Data Read")])
    assert list_codes(cut, "missing") == ["ended-early"]
