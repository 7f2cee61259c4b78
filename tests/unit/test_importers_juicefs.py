"""juicefs bench and objbench: written after their sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "juicefs"
BENCH = (SAMPLES / "sample-bench.txt").read_text()
OBJBENCH = (SAMPLES / "sample-objbench.txt").read_text()
COMMAND = "juicefs bench -p 4 /mnt/jfs"
INSIDE = "open,close"
KIB, MIB, GIB = 2**10, 2**20, 2**30


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def warns(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in reading.warnings), code, **values)


def test_the_table_of_a_file_system():
    reading = read_text(BENCH)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("juicefs", 1, [], {})
    assert run.factors == {
        "benchmark": "bench",
        "threads": 4,
        "transfer_size": MIB,
        "big_file_size": GIB,
        "small_file_size": 128 * KIB,
        "files_per_thread": 100,
    }
    assert (run.facts["command"], run.seconds) == (COMMAND, 15.5)
    assert get_values(reading) == pytest.approx(
        {
            ("write_big_file", "bandwidth_last_done"): 512.5 * MIB,
            ("write_big_file", "time_per_file"): 7.99,
            ("read_big_file", "bandwidth_last_done"): 1024 * MIB,
            ("read_big_file", "time_per_file"): 4.0,
            ("write_small_file", "rate_last_done"): 250,
            ("write_small_file", "time_per_file"): 0.016,
            ("read_small_file", "rate_last_done"): 800,
            ("read_small_file", "time_per_file"): 0.005,
            ("stat_file", "rate_last_done"): 2500,
            ("stat_file", "time_per_file"): 0.0016,
            ("fuse_operation", "operations"): 70900,
            ("fuse_operation", "latency_mean"): 0.00225,
            ("update_meta", "operations"): 3100,
            ("update_meta", "latency_mean"): 0.00175,
            ("put_object", "operations"): 1424,
            ("put_object", "latency_mean"): 0.1405,
            ("get_object", "operations"): 1024,
            ("get_object", "latency_mean"): 0.08525,
            ("delete_object", "operations"): 0,
            ("write_into_cache", "operations"): 1424,
            ("write_into_cache", "latency_mean"): 0.0035,
            ("read_from_cache", "operations"): 400,
            ("read_from_cache", "latency_mean"): 0.00025,
        }
    )
    includes = {row.operation: row.includes for row in run.rows}
    assert (includes["write_big_file"], includes["stat_file"], includes["fuse_operation"]) == (INSIDE, "", "")


def test_the_table_of_an_object_store():
    reading = read_text(OBJBENCH)
    run = reading.runs[0]
    assert (len(reading.runs), run.missing) == (1, [])
    assert run.factors == {
        "benchmark": "objbench",
        "storage": "s3",
        "threads": 8,
        "object_size": 4 * MIB,
        "data_size": GIB,
        "small_object_size": 128 * KIB,
        "small_objects": 100,
    }
    assert "AK" not in run.facts["command"] and "SK" not in run.facts["command"]
    values = get_values(reading)
    assert values["put", "bandwidth_last_done"] == 320 * MIB
    assert values["put", "time_per_object"] == pytest.approx(0.1)
    assert values["get", "bandwidth_last_done"] == 640 * MIB
    assert values["put_small", "rate_last_done"] == 400
    assert values["get_small", "time_per_object"] == pytest.approx(0.01)
    assert values["list", "rate_last_done"] == 28480
    assert values["head", "rate_last_done"] == 1600
    assert values["delete", "rate_last_done"] == 1280
    assert not {"chmod", "chown", "utime"} & {operation for operation, _ in values}
    assert warns(reading, "tool-warning", n_tests="1")


def test_a_failed_test_and_a_cut_table_are_incomplete():
    failed = OBJBENCH.replace("  320.00 MiB/s | 100.00 ms/object", "failed | failed").replace("skipped", "failed ")
    assert lacks(read_text(failed), "tool-failed")
    cut = BENCH[: BENCH.index("|  Read small")]
    assert lacks(read_text(cut), "ended-early")
    assert lacks(read_text(BENCH[: BENCH.index("+--")]), "ended-early")
    fatal = (
        BENCH[: BENCH.index("Benchmark fin")] + "juicefs[1] <FATAL>: Failed to write file: no space [bench.go:127]\n"
    )
    assert lacks(read_text(fatal), "tool-failed")
    assert lacks(read_text(BENCH.replace("7.99 s/file |\n", "7.99 s/file |")), "glued-lines")


def test_reads_behind_a_page_cache_are_noted():
    warning = "2026/11/20 17:26:04 juicefs[1] <WARNING>: Clear cache operation has been skipped [bench.go:355]\n"
    reading = read_text(BENCH.replace("Benchmark finished", f"{warning}Benchmark finished"))
    assert warns(reading, "cache-not-dropped") and not reading.runs[0].missing


def test_each_benchmark_is_a_run_and_other_tables_are_none():
    other = "| Setup | Score |\n|---|---|\n| a | 1 |\n"
    reading = read_text(BENCH + other + OBJBENCH + BENCH[BENCH.index("Benchmark fin") :])
    assert [run.factors.get("benchmark") for run in reading.runs] == ["bench", "objbench", None]
    assert not any(run.missing for run in reading.runs)
    table = BENCH[BENCH.index("| ") :]
    markdown = "\n".join(line for line in table.splitlines() if line.startswith("|")) + "\n"
    assert get_values(read_text(markdown)) == get_values(read_text(BENCH))
    with pytest.raises(UnknownFormatError):
        read_text("| ITEM | VALUE | COST |\n|---|---|---|\n| bread | 3 | 2.50 |\n")


def test_labels_before_the_lines_are_left_out():
    labelled = "".join(f"jfs-bench-0 | {line}\n" for line in BENCH.splitlines())
    assert get_values(read_text(labelled)) == get_values(read_text(BENCH))


@given(st.integers(1, 10**8), st.integers(1, 64), st.sampled_from([("1.0 GiB", GIB), ("512 MiB", 512 * MIB)]))
@settings(max_examples=50, deadline=None)
def test_every_value_is_in_base_units(bandwidth, threads, size):
    text = BENCH.replace("   512.50 MiB/s", f"{bandwidth / 100:.2f} MiB/s").replace(
        "NumThreads: 4", f"NumThreads: {threads}"
    )
    reading = read_text(text.replace("1.0 GiB", size[0]))
    assert get_values(reading)["write_big_file", "bandwidth_last_done"] == pytest.approx(bandwidth / 100 * MIB)
    assert reading.runs[0].factors["threads"] == threads
    assert reading.runs[0].factors["big_file_size"] == size[1]
