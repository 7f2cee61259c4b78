"""What a summary shows of fio by default: the time of its fsyncs, and why a percentile of all processes is absent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from terminal import command_of

diagnose = command_of("diagnose")
summary = command_of("summary")


def build_entry(p99_ns: int, total: int, counted: int) -> dict:
    write = {"io_bytes": 2**20, "bw_bytes": 2**20, "iops": 256.0, "runtime": 1000, "total_ios": 256}
    write["clat_ns"] = {"mean": 5000.0, "N": 256, "percentile": {"99.000000": p99_ns // 100}}
    sync = {"mean": 4e6, "min": 1e6, "max": 9e6, "N": counted, "percentile": {"99.000000": p99_ns}}
    options = {"rw": "randwrite", "bs": "4k", "fsync": "16"}
    return {
        "jobname": "w",
        "groupid": 0,
        "error": 0,
        "job options": options,
        "write": write,
        "sync": {"total_ios": total, "lat_ns": sync},
    }


def build_json(*entries: dict) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": list(entries)}, indent=1)


def summarise(path, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(summary, [str(path), *words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_fsyncs_are_shown_without_being_asked_for(tmp_path):
    (tmp_path / "j.json").write_text(build_json(build_entry(8_000_000, 31, 31)), encoding="utf-8")
    rows = {(row["operation"], row["metric"]) for row in summarise(tmp_path / "j.json")["groups"]}
    assert {("fsync", "latency_p99"), ("write", "completion_latency_p99")} <= rows


def test_percentiles_of_single_processes_are_mentioned_with_their_range(tmp_path):
    entries = [build_entry(p99, 31, 31) for p99 in (800_000, 5_000_000)]
    (tmp_path / "j.json").write_text(build_json(*entries), encoding="utf-8")
    text = " ".join(summarise(tmp_path / "j.json")["warnings"])
    assert all(each in text for each in ("8.00 µs", "50.0 µs", "800 µs", "5.00 ms", "group_reporting"))
    assert "group_reporting" not in " ".join(summarise(tmp_path / "j.json", "--metric", "bandwidth")["warnings"])


@pytest.mark.parametrize("pause_ms", [4, 0])  # between two writes
def test_the_time_of_fsyncs_is_in_no_recorded_operation(tmp_path, pause_ms):
    """256 writes in 5 ms each with their fsync; the log holds the writes."""
    entry = build_entry(8_000_000, 256, 256)
    entry["job options"]["write_lat_log"] = "l"
    entry["write"]["lat_ns"] = {"mean": 1e6 * (5 - pause_ms), "N": 256}
    (tmp_path / "j.json").write_text(build_json(entry), encoding="utf-8")
    took = 1_000_000 * (5 - pause_ms)
    lines = [f"{5 * (number + 1)}, {took}, 1, 4096, {4096 * number}" for number in range(256)]
    (tmp_path / "l_lat.1.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = CliRunner().invoke(diagnose, [str(tmp_path), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    notes = [note for note in json.loads(done.stdout)["notes"] if note.startswith("80 %")]
    assert [note.rpartition(" ")[0][-3:] for note in notes] == ["1.0"] * (pause_ms > 0)
