"""DLIO and MLPerf Storage, warp, vdbench: written after the tools' sources and manuals; figures of our own."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, understand
from messages import assert_problem, has_message

MIB, GIB = 2.0**20, 2.0**30


def of(text: str | dict, name: str = "x"):
    return understand(Text((text if isinstance(text, str) else json.dumps(text, indent=4)).encode(), name))


def numbers(found) -> dict:
    return {(row.operation, row.metric): row.value for run in found.runs for row in run.rows if row.rank is None}


def said(found, kind: str = "missing") -> str:
    return " ".join(note.sentence for run in found.runs for note in getattr(run, kind))


def lacks(found, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in found.runs for note in run.missing), code, **values)


def warns(found, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in found.warnings), code, **values)


SUMMARY = {
    "start": "2026-11-20T10:00:00.500000",
    "num_accelerators": 8,
    "num_hosts": 2,
    "hostname": "n1",
    "metric": {
        "train_au_percentage": [90.0, 94.0],
        "train_au_mean_percentage": 92.0,
        "train_au_meet_expectation": "success",
        "train_au_stdev_percentage": 2.0,
        "train_throughput_samples_per_second": [100.0, 110.0],
        "train_throughput_mean_samples_per_second": 105.0,
        "train_throughput_stdev_samples_per_second": 5.0,
        "train_io_mean_MB_per_second": 1500.0,
        "train_io_stdev_MB_per_second": 70.0,
    },
    "num_files_train": 700,
    "num_files_eval": 0,
    "num_samples_per_file": 1,
    "potential_caching": [0, 0],
    "epochs": 2,
    "end": "2026-11-20T10:05:00.500000",
}


def test_dlio_gives_means_over_epochs_as_one_trial():
    found = of(SUMMARY)
    run = found.runs[0]
    assert (found.format, run.seconds, run.started_at) == ("dlio", 300.0, "2026-11-20T10:00:00")
    assert run.factors == {"ranks": 8, "nodes": 2, "files": 700, "samples_per_file": 1}
    values = numbers(found)
    assert values["train", "accelerator_utilization"] == pytest.approx(0.92)
    assert values["train", "bandwidth_sum_of_ranks"] == 1500 * MIB
    assert values["train", "sample_rate_sum_of_ranks"] == 105
    assert run.facts["per_epoch"]["train_au_percentage"] == [90.0, 94.0]
    assert all(row.iteration is None for row in run.rows)  # an epoch is no trial
    assert not run.missing and not run.warnings


def test_dlio_that_did_not_end_lost_epochs_or_failed_the_rules_says_so():
    interrupted = {key: value for key, value in SUMMARY.items() if key != "end"}
    assert lacks(of(interrupted), "ended-early")
    assert lacks(of(SUMMARY | {"epochs": 3}), "missing-rows", n_values=2, n_epochs=3.0)
    assert lacks(of(SUMMARY | {"metric": {}}), "no-results")
    metric = SUMMARY["metric"] | {"train_au_meet_expectation": "fail"}
    failed = of(SUMMARY | {"metric": metric, "potential_caching": [1, 0]})
    assert not said(failed)
    assert warns(failed, "not-accepted", value="fail") and warns(failed, "data-fits-memory", hosts="1 of 2 hosts")
    text = of(SUMMARY | {"metric": metric | {"train_io_mean_MB_per_second": "fast"}})
    assert lacks(text, "invalid-number", metric="train_io_mean_MB_per_second")


def test_dlio_checkpoints_are_operations_of_their_own():
    metric = {
        "save_checkpoint_io_mean_GB_per_second": 3.0,
        "save_checkpoint_duration_mean_seconds": 5.0,
        "load_checkpoint_io_mean_GB_per_second": 4.0,
        "checkpoint_size_GB": 15.0,
    }
    found = of(SUMMARY | {"metric": metric})
    assert numbers(found) == {
        ("checkpoint_save", "bandwidth"): 3 * GIB,
        ("checkpoint_save", "time"): 5.0,
        ("checkpoint_load", "bandwidth"): 4 * GIB,
    }
    assert found.runs[0].facts["checkpoint_bytes"] == 15 * GIB


def test_the_times_of_dlios_epochs_are_of_the_rank_in_the_files_name():
    block = {"start": "2026-11-20T10:00:01", "end": "2026-11-20T10:00:30", "duration": "29.00"}
    epochs = {
        "1": {"start": "2026-11-20T10:00:00", "block1": block, "end": "2026-11-20T10:00:31", "duration": "31.00"},
        "2": {"start": "2026-11-20T10:00:31", "save_ckpt1": {"duration": 2.5, "throughput": 4.0}},
    }
    found = of(epochs, "results/3_per_epoch_stats.json")
    rows = {(row.operation, row.metric, row.rank, row.iteration): row.value for row in found.runs[0].rows}
    assert rows == {
        ("epoch", "time", 3, 0): 31.0,
        ("block", "time", 3, 0): 29.0,
        ("epochs", "time", None, None): 31.0,
        ("checkpoint_save", "time", 3, 1): 2.5,
        ("checkpoint_save", "bandwidth", 3, 1): 4 * GIB,
    }
    assert lacks(found, "ended-early", epoch=2)


def window(requests: int, mean: float, least: float, most: float) -> dict:
    return {
        "single_sized_requests": {
            "requests": requests,
            "dur_avg_millis": mean,
            "dur_median_millis": mean,
            "dur_90_millis": most,
            "dur_99_millis": most,
            "fastest_millis": least,
            "slowest_millis": most,
            "obj_size": 1048576,
            "merged_entries": 1,
        }
    }


def warp(windows: list, **more) -> dict:
    speed = {"measure_duration_millis": 4000, "bytes": 8e8, "objects": 800, "ops": 800}
    kind = {"total_errors": 0, "throughput": speed, "requests_by_client": {"c1": windows}}
    return {
        "v": 2,
        "commandline": "warp get --obj.size=1MiB --concurrent 20 --secret-key=abcdef",
        "final": True,
        "total": {
            "concurrency": 20,
            "hosts": ["a", "b"],
            "clients": ["c1"],
            "start_time": "2026-11-20T10:00:00Z",
            "throughput": kind["throughput"],
        },
        "by_op_type": {"GET": kind | more},
    }


def test_warp_2_has_the_rate_of_its_window_and_latencies_that_can_be_merged():
    found = of(warp([window(300, 10.0, 2.0, 50.0), window(100, 20.0, 1.0, 90.0)]))
    run, values = found.runs[0], numbers(found)
    assert values["get", "bandwidth"] == 2e8
    assert values["get", "rate"] == 200
    assert values["get", "latency_mean"] == pytest.approx(0.0125)
    assert (values["get", "latency_min"], values["get", "latency_max"]) == (0.001, 0.09)
    assert ("get", "latency_p99") not in values and warns(found, "latencies-left-out", n_windows=2)
    assert run.factors == {"benchmark": "get", "object_size": 1 << 20, "concurrency": 20, "nodes": 1, "servers": 2}
    assert "abcdef" not in run.facts["command"]
    assert not run.missing
    alone = numbers(of(warp([window(300, 10.0, 2.0, 50.0)])))
    assert alone["get", "latency_p99"] == 0.05


def test_no_latencies_if_a_later_window_is_merged_from_several_clients():
    merged = window(100, 20.0, 1.0, 90.0)
    merged["single_sized_requests"]["merged_entries"] = 2
    found = of(warp([window(300, 10.0, 2.0, 50.0), merged]))
    assert warns(found, "latencies-left-out", operation="get")
    assert not [metric for operation, metric in numbers(found) if metric.startswith("latency")]


def test_failed_operations_and_runs_too_short_for_warp_are_incomplete():
    failed = of(warp([], total_errors=3, first_errors=["gone"]))
    assert lacks(failed, "operations-failed", n_errors=3.0, operation="get") and "gone" in said(failed)
    assert lacks(of(warp([], throughput={"measure_duration_millis": 0})), "ended-early", operation="get")
    assert lacks(of(warp([]) | {"final": False}), "ended-early")


def test_warps_older_form_and_its_table_are_read():
    operation = {
        "type": "PUT",
        "concurrency": 8,
        "hosts": 4,
        "clients": 2,
        "start_time": "2026-11-20T10:00:00+01:00",
        "throughput": {"measure_duration_millis": 2000, "bytes": 4e8, "objects": 100, "ops": 100, "errors": 0},
        "single_sized_requests": window(100, 5.0, 1.0, 9.0)["single_sized_requests"],
    }
    found = of({"type": "single", "mixed": False, "operations": [operation]})
    assert numbers(found)["put", "bandwidth"] == 2e8 and numbers(found)["put", "latency_p90"] == 0.009
    assert found.runs[0].factors["nodes"] == 2
    head = (
        "index\top\thost\tduration_s\tobjects_per_op\tbytes\tfull_ops\tpartial_ops\tops_started\tops_ended\t"
        "errors\tmb_per_sec\tops_ended_per_sec\tobjs_per_sec\treqs_ended_avg_ms\tstart_time\tend_time\n"
    )
    row = "{}\tGET\t\t1\t1\t{}\t9\t2\t9\t9\t{}\t1\t9\t10\t3\tx\ty\n"
    table = of(head + row.format(0, 1000, 0) + row.format(1, 3000, 0))
    assert numbers(table) == {("get", "bandwidth"): 2000.0, ("get", "rate"): 10.0}
    assert lacks(of(head + row.format(0, 1000, 2)), "operations-failed", n_errors=2.0)
    assert lacks(of(head + row.format(0, 1000, 0) + "1\tGET\t\t1"), "damaged-lines")


RAW = """<pre>
Vdbench distribution: vdbench50407 Tue June 05  9:49:29 MDT 2018
09:00:00.100 Starting RD=SD_format; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: threads=2 iorate=max

Nov 20, 2026    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys
09:00:01.000     avg_2-4      320.0    40.00  131072   0.00    0.739    0.000    0.739     0.00    32.50    2.466    0.2  36.5  25.0
<a name="rd1"></a><i><b>09:00:02.001 Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=4; For loops: threads=8 xfersize=4k</b></i>

Nov 20, 2026    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys
09:00:03.018           1       84.0     0.08    1024  53.57    0.013    0.010    0.015     0.03     0.05    0.006    0.0  19.2   1.5
09:00:04.011           2      103.0     0.10    1024  52.43    0.012    0.010    0.014     0.05     0.02    0.005    0.0   5.0   0.5
09:00:06.053     avg_2-4      104.5     0.25    1024  50.72    0.012    0.010    0.016     0.05     0.12    0.007    0.0   4.6   0.9
09:00:07.008 Vdbench execution completed successfully. Output directory: /x/output
"""  # noqa: E501


def test_vdbench_takes_the_average_after_the_warm_up_and_no_formatting():
    found = of(RAW)
    (run,) = found.runs
    assert (found.format, run.version, run.started_at) == ("vdbench", "50407", "2026-11-20T09:00:02")
    assert run.factors == {"rd": "rd1", "requested_rate": "max", "elapsed": 4.0, "threads": 8, "transfer_size": 4096}
    assert numbers(found) == pytest.approx(
        {
            ("all", "rate"): 104.5,
            ("all", "bandwidth"): 0.25 * MIB,
            ("all", "latency_mean"): 12e-6,
            ("read", "latency_mean"): 10e-6,
            ("write", "latency_mean"): 16e-6,
            ("read", "latency_max"): 50e-6,
            ("write", "latency_max"): 120e-6,
            ("all", "latency_sd"): 7e-6,
        }
    )
    assert run.facts["window"] == "avg_2-4" and not run.missing and not run.warnings


def test_vdbench_that_ended_early_is_incomplete():
    lines = RAW.splitlines(True)
    cut = of("".join(lines[:-2]))
    assert lacks(cut, "ended-early", rd="rd1") and not numbers(cut)
    assert warns(of("".join(lines[:-1])), "ended-early")
    assert lacks(of(RAW.replace("avg_2-4      104.5", "avg_2-1      104.5")), "too-short")
    assert lacks(of("".join(lines[:7])), "no-results")
    failure = "09:00:09.000 Data Validation error for sd=sd1"
    assert lacks(of("".join(lines[:-1]) + failure + "\n"), "tool-failed", quote=failure)


FILES = """09:00:02.000 Starting RD=rd1; elapsed=30; fwdrate=max. For loops: None

Nov 20, 2026 .Interval. .ReqstdOps... ...cpu%...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir.... ...create...
                          rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size  rate   resp  rate   resp
09:00:33.205  avg_2-30    60.2  1.063  13.0 2.80  25.0   15.0  0.500   45.2  1.250  1.50  4.75   6.25 1048576   1.0  0.250   2.5 24.100
09:00:34.000 Vdbench execution completed successfully
"""  # noqa: E501


def test_vdbench_of_file_systems_has_a_rate_for_each_operation():
    assert numbers(of(FILES)) == pytest.approx(
        {
            ("all", "rate"): 60.2,
            ("all", "latency_mean"): 1.063e-3,
            ("read", "rate"): 15.0,
            ("read", "latency_mean"): 5e-4,
            ("write", "rate"): 45.2,
            ("write", "latency_mean"): 1.25e-3,
            ("read", "bandwidth"): 1.5 * MIB,
            ("write", "bandwidth"): 4.75 * MIB,
            ("all", "bandwidth"): 6.25 * MIB,
            ("mkdir", "rate"): 1.0,
            ("mkdir", "latency_mean"): 2.5e-4,
            ("create", "rate"): 2.5,
            ("create", "latency_mean"): 24.1e-3,
        }
    )


FLAT = """<pre>
* flatfile
*
         tod               timestamp Run  Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max xfersize threads version
09:00:03.000 11/20/2026-09:00:03-CET rd1  1        999988  90.0 0.09   1024     50.0  0.02 0.01      0.03       1.5      4096     8       50407
09:00:06.000 11/20/2026-09:00:06-CET rd1  avg_2-4  999988  104.5 0.25  1024     50.7  0.012 0.010   0.016      0.5      4096     8       50407
09:00:09.000 11/20/2026-09:00:09-CET rd2  1        500     90.0 n/a    1024     50.0  0.02 0.01      0.03       1.5      8192     8       50407
"""  # noqa: E501


def test_vdbenchs_flatfile_has_the_settings_in_its_columns():
    found = of(FLAT, "flatfile.html")
    first, second = found.runs
    assert first.factors == {"rd": "rd1", "transfer_size": 4096, "threads": 8, "requested_rate": "max"}
    assert numbers(found)["all", "rate"] == 104.5 and numbers(found)["all", "bandwidth"] == 0.25 * MIB
    assert numbers(found)["write", "latency_mean"] == pytest.approx(16e-6)
    assert not first.missing
    assert_problem(second.missing[0].sentence, "ended-early", rd="rd2")


SAMPLES = {
    "dlio": json.dumps(SUMMARY, indent=4),
    "warp": json.dumps(warp([window(9, 1.0, 0.5, 2.0)]), indent=2),
    "vdbench": RAW,
    "vdbench of files": FILES,
    "flatfile": FLAT,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_cut_or_a_hole_changes_no_number_that_is_not_marked(name):
    raw, rng = SAMPLES[name].encode(), random.Random(name)
    whole = understand(Text(raw, "x"))
    known = {(row.operation, row.metric, row.value) for run in whole.runs for row in run.rows}
    for _ in range(150):
        at = rng.randrange(len(raw))
        for damaged in (raw[:at], raw[:at] + bytes(20) + raw[at + 20 :]):
            try:
                runs = understand(Text(damaged, "x"), whole.format).runs
            except UnknownFormatError:
                continue
            strange = [
                row
                for run in runs
                if not run.missing
                for row in run.rows
                if (row.operation, row.metric, row.value) not in known
            ]
            assert not strange, (at, strange[:2])


@pytest.mark.parametrize("name", SAMPLES)
def test_any_bytes_in_them_crash_nothing(name):
    raw, rng = SAMPLES[name].encode(), random.Random(name)
    form = understand(Text(raw, "x")).format
    for _ in range(150):
        damaged = bytearray(raw)
        for _ in range(6):
            damaged[rng.randrange(len(damaged))] = rng.choice(b'0123456789.,:;-"{}[]<>eE \n\0x\xff')
        for run in understand(Text(bytes(damaged), "x"), form).runs:
            assert all(0 <= row.value < 1e30 and row.line >= 1 for row in run.rows)


def test_a_sysbench_that_ended_before_its_latencies_is_marked():
    folder = Path(__file__).parents[1] / "golden" / "fixtures" / "sysbench-fileio"
    whole = (folder / "gen-sysbench1020-rndrw.txt").read_text()
    cut = whole[: whole.index("Latency (ms):")]
    assert not said(of(whole)) and lacks(of(cut), "ended-early")
    assert numbers(of(cut)).keys() < numbers(of(whole)).keys()


@pytest.mark.parametrize(
    ("printed", "started_at"),
    [
        ("2026-11-20T10:00:00.123456789Z", "2026-11-20T10:00:00Z"),
        ("2026-11-20T10:00:00", "2026-11-20T10:00:00"),
        ("2026-11-20T00:30:00.5+01:00", "2026-11-19T23:30:00Z"),
        ("2026-11-20T23:30:00-02:30", "2026-11-21T02:00:00Z"),
        ("2026-13-20T23:30:00-02:30", ""),
        ("soon", ""),
        (None, ""),
    ],
)
def test_a_run_of_warp_begins_in_utc_whatever_zone_is_printed(printed, started_at):
    document = {"v": 2, "total": {"start_time": printed}, "by_op_type": {}}
    text = json.dumps(document | {"commandline": "warp get"})
    assert [run.started_at for run in understand(Text(text.encode(), "x"), "warp").runs] == [started_at]


def test_a_flowop_of_filebench_without_operations_has_no_latency():
    head = "Filebench Version 1.5-alpha3\n1.0: Run took 20 seconds...\n1.0: Per-Operation Breakdown\n"
    flowops = (
        "read1            40ops    2ops/s 1.5mb/s    2.5ms/op [0.5ms - 80.0ms]\n"
        "wait1            0ops    0ops/s 0.0mb/s    0.0ms/op [0.0ms - 0.0ms]\n"
    )
    end = "1.0: IO Summary: 40 ops 2.000 ops/s 2/0 rd/wr 1.5mb/s 2.5ms/op\n"
    [run] = understand(Text((head + flowops + end).encode(), "x")).runs
    assert {row.operation for row in run.rows} == {"all", "read", "read1"} and not run.missing


def test_a_cut_row_of_elbenchos_live_csv_is_noted():
    head = "Label,Phase,RuntimeMS,Rank,MixType,PercentDone,DoneBytes,MiB/s,IOPS\n"
    [run] = understand(Text(f"{head}x,WRITE,500,0,,50,9,2.5,10\nx,WRITE,5\n{head}".encode(), "x")).runs
    assert [(note.line, note.sentence.code) for note in run.warnings] == [(3, "damaged-lines"), (1, "samples-only")]
