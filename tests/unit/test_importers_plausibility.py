"""Numbers of one output that contradict each other: which rule is broken, and what is still a headline."""

from __future__ import annotations

import json

import pytest

from iosonde.core.contradiction import Contradiction, group_doubtful_metrics
from iosonde.importers import Text, understand
from iosonde.importers.parsed import Parsed, Row
from iosonde.importers.plausibility import note_contradictions
from iosonde.importers.runs import build_runs
from messages import assert_problem, codes

FIO_TEXT = """slow: (g=0): rw=write, bs=(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, ioengine=libaio, iodepth=32
fio-3.35
Starting 4 threads

slow: (groupid=0, jobs=4): err= 0: pid=78: Thu Jan 11 05:08:31 2024
  write: IOPS=10, BW=165KiB/s (169kB/s)(8.06MiB/50000msec); 0 zone resets
    slat (usec): min=301, max=714211, avg=51917.70, stdev=38694.50
    clat (msec): min=5, max={longest}, avg=11163.00, stdev=9078.80
     lat (msec): min=61, max={longest}, avg=11222.00, stdev=9078.40
    clat percentiles (msec):
     |  1.00th=[  850],  5.00th=[ 8356], 10.00th=[10671], 50.00th=[{last}],
     | 99.00th=[{last}], 99.99th=[{last}]
  cpu          : usr=0.01%, sys=0.02%, ctx=4878, majf=0, minf=1

Run status group 0 (all jobs):
  WRITE: bw=165KiB/s (169kB/s), 165KiB/s-165KiB/s (169kB/s-169kB/s), io=8.06MiB (8.45MB), run=50000-50000msec
"""

IOR = """IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Sat Feb  3 10:42:04 2024
Command line        : ./ior -a POSIX -t 1m -b 8m -s 16 {flags} -o /mnt/y/f
Machine             : Linux n2
TestID              : 0
StartTime           : Sat Feb  3 10:42:04 2024

Options:
api                 : POSIX
test filename       : /mnt/y/f
access              : file-per-process
type                : independent
segments            : 16
ordering in a file  : sequential
ordering inter file : {order}
nodes               : {nodes}
tasks               : 4
clients per node    : 4
repetitions         : 1
xfersize            : 1 MiB
blocksize           : 8 MiB
aggregate filesize  : 512 MiB

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     256.00     256.50     0.015610    8192       1024.00    0.001853   2.00       0.004621   2.00       0
read      {read}   10250.00   0.000390    8192       1024.00    0.001210   0.050000   0.003011   0.050000   0
Max Write: 256.00 MiB/sec (268.44 MB/sec)
Max Read:  {read} MiB/sec (10737.42 MB/sec)
Finished            : Sat Feb  3 10:42:09 2024
"""


def read_text(text: str) -> Parsed:
    [run] = understand(Text(text.encode(), "out.txt")).runs
    return run


def build_side(iops: float, mean_ns: float, seconds: int = 50, **changes) -> dict:
    n_operations = int(iops * seconds)
    latency = {"min": mean_ns / 5, "max": mean_ns * 9, "mean": mean_ns, "stddev": mean_ns / 3, "N": n_operations}
    side = {
        "io_bytes": n_operations * 4096,
        "io_kbytes": n_operations * 4,
        "bw_bytes": int(iops * 4096),
        "iops": iops,
        "runtime": seconds * 1000,
        "total_ios": n_operations,
        "clat_ns": {**latency, "percentile": {"50.000000": mean_ns, "99.000000": mean_ns * 4}},
        "lat_ns": {**latency, "mean": mean_ns * 1.01, "max": mean_ns * 9.1},
    }
    return side | changes


def build_job(side: dict, name: str = "j", **options) -> dict:
    return {
        "jobname": name,
        "groupid": 0,
        "error": 0,
        "job options": {"rw": "randread", "bs": "4k", "iodepth": "16", "direct": "1", "ioengine": "libaio", **options},
        "read": side,
        "job_runtime": side["runtime"],
    }


def read_fio(*jobs: dict, key: str = "jobs") -> Parsed:
    document = {"fio version": "fio-3.35", "timestamp": 1712000001, "time": "x", key: list(jobs)}
    return read_text(json.dumps(document, indent=1))


def list_codes(run: Parsed) -> list[tuple[str, str]]:
    return [(entry.code, entry.sentence.code) for entry in run.contradictions]


def list_operations(run: Parsed, code: str) -> list[str]:
    return [entry.operation for entry in run.contradictions if entry.code == code]


def test_percentiles_in_the_last_bin_and_a_maximum_beyond_the_run_are_no_values():
    run = read_text(FIO_TEXT.format(longest=62000, last=17113))
    assert set(list_codes(run)) == {("S134", "last-bin"), ("S134", "longer-than-run")}
    doubtful = group_doubtful_metrics(run.contradictions)["write"]
    assert {"completion_latency_p50", "completion_latency_p99", "completion_latency_max"} <= doubtful
    assert not {"completion_latency_p10", "completion_latency_mean"} & doubtful
    assert all(note.sentence in [warning.sentence for warning in run.warnings] for note in run.contradictions)
    [bin_entry] = [entry for entry in run.contradictions if entry.sentence.code == "last-bin"]
    assert_problem(bin_entry.sentence, "last-bin", first="p50", bin="17.1 s", statistic="maximum")


def test_latencies_within_the_run_and_the_histogram_are_believed():
    assert not read_text(FIO_TEXT.format(longest=16200, last=15101)).contradictions


def test_a_mean_beyond_the_run_makes_all_latencies_doubtful_and_no_rate():
    side = build_side(1000, 1e6)
    run = read_fio(build_job(side | {"clat_ns": side["clat_ns"] | {"mean": 5.62e13}}))
    assert ("S134", "longer-than-run") in list_codes(run)
    doubtful = group_doubtful_metrics(run.contradictions)["read"]
    assert "completion_latency_p99" in doubtful and "latency_mean" not in doubtful
    assert not {metric for metric in doubtful if metric.startswith(("rate", "bandwidth"))}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"percentile": {"50.000000": 1e6, "99.000000": 2e7}}, "beyond-extreme"),
        ({"percentile": {"50.000000": 5e6, "99.000000": 1e6}}, "falling-percentiles"),
        ({"percentile": {"1.000000": 1e3, "99.000000": 4e6}}, "beyond-extreme"),
        ({"max": 5e5}, "beyond-extreme"),
        ({"mean": 3e6}, "part-above-whole"),
    ],
)
def test_statistics_of_a_latency_are_in_order(changes, code):
    side = build_side(1000, 1e6)
    run = read_fio(build_job(side | {"clat_ns": side["clat_ns"] | changes}))
    assert ("S134", code) in list_codes(run)


def test_a_percentile_above_the_maximum_by_a_bin_is_a_note_that_believes_the_maximum():
    side = build_side(1000, 1_000_137)
    side["clat_ns"]["percentile"]["99.999900"] = side["clat_ns"]["max"] * 1.005
    run = read_fio(build_job(side))
    assert not run.contradictions and "bin-edge" in codes(note.sentence for note in run.warnings)


def test_more_operations_in_flight_than_jobs_times_depth_are_impossible():
    run = read_fio(build_job(build_side(80_000, 1e6)))
    assert list_codes(run) == [("S136", "more-in-flight")]
    assert not {"rate_last_done", "bandwidth_last_done"} & group_doubtful_metrics(run.contradictions)["read"]
    assert not read_fio(build_job(build_side(15_000, 1e6))).contradictions
    assert not read_fio(build_job(build_side(80_000, 1e6), numjobs="8")).contradictions


def test_jobs_that_group_reporting_merged_count_by_their_times():
    job = build_job(build_side(45_000, 1e6))
    assert list_codes(read_fio(job)) == [("S136", "more-in-flight")]
    assert not read_fio(job | {"job_runtime": 3 * job["read"]["runtime"]}).contradictions
    assert not read_fio({name: value for name, value in job.items() if name != "job_runtime"}).contradictions


# 15,000 operations/s of 1 ms fill 16; here their latencies are 1 µs.
SHORT = build_side(15_000, 1e3)


@pytest.mark.parametrize(
    ("options", "is_wrong"),
    [
        ({}, True),
        ({"numjobs": "1", "runtime": "50", "time_based": "", "norandommap": "1"}, True),
        ({"ioengine": "io_uring"}, True),
        # Such a job pauses, waits for other calls, or reads what it wrote.
        ({"rate_iops": "15000"}, False),
        ({"thinktime": "1000"}, False),
        ({"fsync": "1"}, False),
        ({"end_fsync": "1"}, False),
        ({"verify": "crc32c"}, False),
        ({"an_option_of_a_later_version": "1"}, False),
        ({"ioengine": "filecreate"}, False),
        # One operation is in flight, whatever the depth.
        ({"ioengine": "psync"}, False),
    ],
)
def test_too_few_operations_in_flight_of_a_loop_that_never_pauses_are_a_wrong_unit(options, is_wrong):
    run = read_fio(build_job(SHORT, **options))
    assert list_codes(run) == [("S136", "short-latency")] * is_wrong
    assert ("latency_p99" in group_doubtful_metrics(run.contradictions).get("read", ())) is False
    assert ("latency_mean" in group_doubtful_metrics(run.contradictions).get("read", ())) is is_wrong
    assert not {"rate_last_done", "bandwidth_last_done"} & group_doubtful_metrics(run.contradictions).get("read", set())


def test_a_loop_that_is_short_or_partly_busy_is_no_wrong_unit():
    short = read_fio(build_job(build_side(15_000, 1e3, seconds=1) | {"runtime": 950}))
    assert not list_operations(short, "S136")
    assert not read_fio(build_job(build_side(15_000, 5e4))).contradictions
    # Old versions print no options.
    assert not read_fio(build_job(build_side(1_000, 1e3)) | {"job options": {}}).contradictions
    # Few operations for the depth never fill it.
    assert not read_fio(build_job(build_side(1000, 1e6, seconds=2), iodepth="4096")).contradictions


def test_reads_and_writes_of_one_job_fill_its_depth_together():
    job = build_job(build_side(15_000, 1e3), rw="randrw")
    assert not read_fio(job | {"write": build_side(15_000, 1e6), "job_runtime": 50_000}).contradictions
    writes = build_side(15_000, 1e6)
    writes["lat_ns"] |= {"mean": 9e13}  # not believed: how many writes were in flight is not known
    assert {code for code, _ in list_codes(read_fio(job | {"write": writes, "job_runtime": 50_000}))} == {"S134"}
    run = read_fio(job | {"write": build_side(1_000, 1e3), "job_runtime": 50_000})
    assert [entry.operation for entry in run.contradictions] == ["read", "write"]


@pytest.mark.parametrize(
    ("engine", "mean_ns", "codes"),
    [("libaio", 30, ["short-latency"]), ("libaio", 80, []), ("null", 30, []), ("mmap", 30, [])],
)
def test_no_operation_is_shorter_than_a_system_call(engine, mean_ns, codes):
    """Whatever limits the rate: nanoseconds are microseconds here."""
    job = build_job(build_side(80_000, mean_ns), iodepth="64", ioengine=engine, rate_iops="80000")
    assert [entry.sentence.code for entry in read_fio(job).contradictions] == codes


def test_each_thread_has_its_own_depth():
    good, bad = build_side(15_000, 1e6), build_side(45_000, 1e6)
    assert not read_fio(build_job(good), build_job(good)).contradictions
    run = read_fio(build_job(good), build_job(bad), build_job(bad))
    assert list_codes(run) == [("S136", "more-in-flight")]
    assert "latency_mean" in group_doubtful_metrics(run.contradictions)["read"]


SYSBENCH = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 16
{requested}Initializing random number generator from current time


Extra file open flags: (none)
128 files, 16MiB each
2GiB total file size
Block size 16KiB
Number of IO requests: 0
{fsync}Using synchronous I/O mode
Doing random read test
Initializing worker threads...

Threads started!


File operations:
    reads/s:                      16000.00
    writes/s:                     0.00
    fsyncs/s:                     0.00

Throughput:
    read, MiB/s:                  250.00
    written, MiB/s:               0.00

General statistics:
    total time:                          10.0000s
    total number of events:              160000

Latency (ms):
         min:                                    {min}
         avg:                                    {mean}
         max:                                    {max}
         95th percentile:                        {p95}
         sum:                               159000.00
"""
SLOW = {"min": "0.20", "mean": "0.99", "max": "9.00", "p95": "2.00"}


@pytest.mark.parametrize(
    ("latencies", "requested", "fsync", "codes"),
    [
        (SLOW, "", "", []),
        ({"min": "1.00", "mean": "3.00", "max": "9.00", "p95": "5.00"}, "", "", ["more-in-flight"]),
        # 4 of 16 threads are busy: unusual, not impossible.
        ({"min": "0.20", "mean": "0.25", "max": "9.00", "p95": "2.00"}, "", "", []),
        ({"min": "0.20", "mean": "0.99", "max": "0.90", "p95": "0.80"}, "", "", ["beyond-extreme"]),
        ({"min": "0.20", "mean": "0.99", "max": "12000.00", "p95": "2.00"}, "", "", ["longer-than-run"]),
    ],
)
def test_the_events_of_sysbench_fill_its_threads(latencies, requested, fsync, codes):
    run = read_text(SYSBENCH.format(requested=requested, fsync=fsync, **latencies))
    assert [entry.sentence.code for entry in run.contradictions] == codes


RADOS = """# rados bench -p pool1 10 write -t 16
Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds or 0 objects
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    0       0         0         0         0         0           -           0
Total time run:         10.0
Total writes made:      320
Write size:             4194304
Object size:            4194304
Bandwidth (MB/sec):     128
Average IOPS:           32
Average Latency(s):     {mean}
Max latency(s):         {max}
Min latency(s):         {min}
"""


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ({"min": 0.1, "mean": 0.495, "max": 1.4}, []),
        ({"min": 0.1, "mean": 1.3, "max": 2.4}, ["more-in-flight"]),
        ({"min": 0.0001, "mean": 0.000495, "max": 0.0014}, ["short-latency"]),
        ({"min": 0.02, "mean": 0.05, "max": 1.4}, []),
        ({"min": 0.1, "mean": 0.495, "max": 14.4}, ["longer-than-run"]),
    ],
)
def test_rados_bench_keeps_its_operations_in_flight(values, codes):
    run = read_text(RADOS.format(**values))
    assert [entry.sentence.code for entry in run.contradictions] == codes


def build_run(tool: str, operation: str, values: dict[str, float], **factors) -> Parsed:
    units = {"latency": "s", "time": "s", "rate": "operations/s", "bandwidth": "bytes/s", "bytes": "bytes"}
    run = Parsed(tool=tool, factors=factors)
    for metric, value in values.items():
        unit = next((unit for word, unit in units.items() if word in metric), "operations")
        run.rows.append(Row(operation, metric, value, unit, 5))
    note_contradictions(run)
    return run


@pytest.mark.parametrize(
    ("tool", "operation", "values", "factors", "codes"),
    [
        ("elbencho", "read", {"access_rate_last_done": 8000, "access_latency_mean": 1e-3}, {"threads": 8}, []),
        ("elbencho", "read", {"access_rate_last_done": 16000, "access_latency_mean": 1.001e-3}, {"threads": 8}, [1]),
        (
            "elbencho",
            "read",
            {"access_rate_last_done": 16000, "access_latency_mean": 1.001e-3},
            {"threads": 8, "nodes": 2},
            [],
        ),
        (
            "elbencho",
            "read",
            {"access_rate_last_done": 32000, "access_latency_mean": 1.1e-3},
            {"threads": 8, "io_depth": 4},
            [],
        ),
        ("elbencho", "stat", {"rate_last_done": 9000, "latency_mean": 2.0031e-3}, {"threads": 8}, [1]),
        ("elbencho", "stat", {"rate_last_done": 9000, "latency_mean": 2.0031e-3}, {}, []),
        ("warp", "get", {"rate": 1000, "latency_mean": 0.0203}, {"concurrency": 8}, [1]),
        ("warp", "get", {"rate": 1000, "latency_mean": 0.0203}, {"concurrency": 8, "nodes": 4}, []),
        ("warp", "delete", {"rate": 1000, "latency_mean": 0.0203}, {"concurrency": 8}, []),
        ("ioping", "read", {"rate_while_busy": 1000, "latency_mean": 1.001e-3}, {}, []),
        ("ioping", "read", {"rate_while_busy": 1000, "latency_mean": 8.001e-3}, {}, [1]),
        ("sysbench-fileio", "event", {"rate_last_done": 190_000, "latency_mean": 1e-5}, {"threads": 1}, []),
    ],
)
def test_other_tools_have_limits_of_their_own(tool, operation, values, factors, codes):
    run = build_run(tool, operation, values, **factors)
    assert list_codes(run) == [("S136", "more-in-flight")] * len(codes)


def test_clients_of_unknown_number_have_no_limit():
    run = Parsed(tool="warp", factors={"concurrency": 8}, facts={"command": "warp get --warp-client=c{1...4}"})
    run.rows = [Row("get", "rate", 1000, "operations/s", 1), Row("get", "latency_mean", 0.0203, "s", 2)]
    note_contradictions(run)
    assert not run.contradictions


def test_a_total_above_its_servers_is_left_out_or_no_headline():
    servers = [build_job(build_side(iops, 1e6)) for iops in (4000, 6000)]
    run = read_fio(*servers, build_job(build_side(100_000, 1e6), "All clients"), key="client_stats")
    assert list_codes(run) == [("S135", "total-mismatch")]
    assert [row.value for row in run.rows if row.rank is None and row.metric.startswith("rate")] == [10_000]
    total = build_side(10_000, 1e6) | {"iops": 100_000.0, "bw_bytes": 409_600_000}
    run = read_fio(*servers, build_job(total, "All clients"), key="client_stats")
    assert {code for code, _ in list_codes(run)} >= {"S135"}
    doubtful = group_doubtful_metrics(run.contradictions)["read"]
    assert {"rate_last_done", "bandwidth_last_done"} <= doubtful and "rate_sum_of_ranks" not in doubtful
    assert [row.value for row in run.rows if row.metric == "rate_sum_of_ranks"] == [10_000]
    assert not read_fio(*servers, build_job(build_side(10_000, 1e6), "All clients"), key="client_stats").contradictions


@pytest.mark.parametrize(("total", "code"), [(2e9, None), (1.97e9, None), (1e9, "below"), (4e9, "above")])
@pytest.mark.parametrize("metric", ["bytes", "bandwidth_sum_of_ranks"])
def test_what_a_tool_adds_up_is_the_sum_of_its_parts(metric, total, code):
    run = Parsed(tool="iperf2")
    own = metric.replace("sum_of_ranks", "own")
    run.rows = [Row("tcp", own, 1e9, "bytes", 2, 3), Row("tcp", own, 1e9, "bytes", 3, 4)]
    run.rows.append(Row("tcp", metric, total, "bytes", 4))
    note_contradictions(run)
    assert list_codes(run) == [("S135", f"total-{code}-parts")] * bool(code)
    assert group_doubtful_metrics(run.contradictions) == ({"tcp": {metric}} if code else {})
    incomplete = Parsed(tool="iperf2", rows=run.rows)
    incomplete.lacks(3, "a stream")
    note_contradictions(incomplete)
    assert not incomplete.contradictions


@pytest.mark.parametrize(("mean", "codes"), [(50e6, []), (40e6, ["total-above-parts"]), (60e6, ["total-below-parts"])])
def test_a_sum_over_processes_is_that_of_their_printed_mean(mean, codes):
    run = Parsed(tool="iozone", factors={"ranks": 4})
    run.rows = [
        Row("write", "bandwidth_sum_of_ranks", 200e6, "bytes/s", 2),
        Row("write", "bandwidth_last_done", 150e6, "bytes/s", 3),
        Row("write", "bandwidth_rank_mean", mean, "bytes/s", 4),
    ]
    note_contradictions(run)
    assert [entry.sentence.code for entry in run.contradictions] == codes


@pytest.mark.parametrize(("total", "codes"), [(300e6, []), (600e6, ["total-above-parts"])])
def test_a_total_over_directions_is_their_sum(total, codes):
    run = Parsed(tool="elbencho")
    for side, value in (("read", 200e6), ("write", 100e6), ("total", total)):
        run.rows.append(Row(f"rwmix70_{side}", "bandwidth_last_done", value, "bytes/s", 2))
    note_contradictions(run)
    assert [entry.sentence.code for entry in run.contradictions] == codes


@pytest.mark.parametrize(
    ("tool", "values", "factors"),
    [
        ("elbencho", {"bytes_last_done": 1e9, "time_last_done": 10.0, "bandwidth_last_done": 1e8}, {}),
        ("elbencho", {"access_rate_last_done": 1e3, "bandwidth_last_done": 4096e3}, {"block_size": 4096}),
        ("rados-bench", {"rate_last_done": 32.0, "bandwidth_last_done": 2.0**27}, {"block_size": 2**22}),
        ("sysbench-fileio", {"rate_last_done": 16000.0, "bandwidth_last_done": 250 * 2.0**20}, {"block_size": 2**14}),
        ("ioping", {"rate": 1e3, "bandwidth": 4096e3}, {"block_size": 4096}),
        ("vdbench", {"rate": 1e3, "bandwidth": 4.096e6}, {"transfer_size": 4096}),
    ],
)
@pytest.mark.parametrize("factor", [1, 1000, 2**20])
def test_a_bandwidth_of_any_tool_is_in_the_unit_of_its_rate(tool, values, factors, factor):
    values = {metric: value * (factor if "bandwidth" in metric else 1) for metric, value in values.items()}
    run = build_run(tool, "read", values, **factors)
    assert list_codes(run) == [("S135", "unit-factor")] * (factor > 1)


@pytest.mark.parametrize(
    ("tool", "time", "latency"),
    [
        ("elbencho", "time_last_done", "access_latency"),
        ("md-workbench", "time", "latency"),
        ("netperf", "time", "latency"),
        ("rbd-bench", "time", "latency"),
    ],
)
@pytest.mark.parametrize(("longest", "codes"), [(9.87654, []), (12.34567, ["longer-than-run"])])
def test_no_operation_of_any_tool_is_longer_than_the_run(tool, time, latency, longest, codes):
    run = build_run(tool, "read", {time: 10.0, f"{latency}_mean": 0.1, f"{latency}_max": longest})
    assert [entry.sentence.code for entry in run.contradictions] == codes


def test_a_rate_of_files_is_no_rate_of_transfers():
    values = {"rate_last_done": 100.0, "bandwidth_last_done": 100 * 2.0**20}
    assert not build_run("elbencho", "write", values, block_size=1024).contradictions


def test_a_bandwidth_in_another_unit_than_bytes_and_time_is_not_believed():
    side = build_side(1000, 1e6)
    run = read_fio(build_job(side | {"bw_bytes": side["bw_bytes"] * 1000}))
    assert list_codes(run) == [("S135", "unit-factor")]
    assert group_doubtful_metrics(run.contradictions) == {"read": {"bandwidth_last_done"}}


@pytest.mark.parametrize(
    ("tool", "values", "doubtful"),
    [
        ("ior", {"min": 90e6, "mean": 100e6, "max": 110e6}, set()),
        ("ior", {"min": 90e6, "mean": 120e6, "max": 110e6}, {"bandwidth_mean"}),
        ("ior", {"min": 105e6, "mean": 100e6, "max": 110e6}, {"bandwidth_mean"}),
        ("ior", {"min": 0.0, "mean": 100.4e6, "max": 100e6}, set()),
        ("iozone", {"min": 105e6, "mean": 50e6, "max": 110e6}, set()),
    ],
)
def test_statistics_of_a_rate_are_in_order(tool, values, doubtful):
    run = Parsed(tool=tool)
    run.rows = [Row("write", f"bandwidth_{name}", value, "bytes/s", 3) for name, value in values.items()]
    note_contradictions(run)
    assert list_codes(run) == [("S135", "beyond-extreme")] * len(doubtful)
    assert group_doubtful_metrics(run.contradictions).get("write", set()) == doubtful


def test_samples_of_a_log_in_another_unit_than_the_output_are_not_believed():
    run = Parsed(tool="fio")
    run.rows = [
        Row("write", "completion_latency_mean", 7.13, "s", 3),
        Row("write", "completion_latency_sample_mean", 0.00702, "s", 9),
    ]
    note_contradictions(run)
    note_contradictions(run)
    assert list_codes(run) == [("S135", "samples-in-other-unit")]


@pytest.mark.parametrize(
    ("nodes", "order", "flags", "read_speed", "is_cached"),
    [
        (1, "no tasks offsets", "-F", "10240.00", True),
        (1, "constant task offset", "-F -C", "10240.00", True),
        (2, "constant task offset", "-F -C", "10240.00", False),
        (1, "no tasks offsets", "-F", "512.00", False),
        (1, "no tasks offsets", "-F --posix.odirect", "10240.00", False),
    ],
)
def test_reads_far_above_writes_on_one_node_may_come_from_its_memory(nodes, order, flags, read_speed, is_cached):
    run = read_text(IOR.format(nodes=nodes, order=order, flags=flags, read=read_speed))
    assert len(list_operations(run, "S104")) == is_cached
    assert not group_doubtful_metrics(run.contradictions)


def test_two_nodes_that_read_what_they_wrote_may_read_their_memory():
    run = read_text(IOR.format(nodes=2, order="no tasks offsets", flags="-F", read="10240.00"))
    assert list_operations(run, "S104") == ["read"]


@pytest.mark.parametrize(
    ("direct", "engine", "is_cached"), [("0", "psync", True), ("1", "psync", False), ("0", "mmap", False)]
)
def test_files_that_fio_read_again_may_come_from_memory(direct, engine, is_cached):
    run = read_fio(build_job(build_side(1000, 1e6), direct=direct, ioengine=engine, size="64m"))
    assert [entry.code for entry in run.contradictions] == ["S104"] * is_cached


@pytest.mark.parametrize(
    ("rw", "mean_ns", "is_cached"), [("randread", 1500, True), ("read", 1500, False), ("randread", 9000, False)]
)
def test_random_reads_faster_than_any_device_come_from_memory(rw, mean_ns, is_cached):
    run = read_fio(build_job(build_side(16e9 / mean_ns, mean_ns), rw=rw, direct="0"))
    assert [entry.sentence.code for entry in run.contradictions] == ["faster-than-devices"] * is_cached


def build_reads(tool: str, speeds: dict[str, float], facts: dict | None = None, **factors) -> Parsed:
    run = Parsed(tool=tool, facts=facts or {}, factors=factors)
    for line, (operation, speed) in enumerate(speeds.items(), 1):
        run.rows.append(Row(operation, "bandwidth_last_done", speed, "bytes/s", line))
        run.rows.append(Row(operation, "time", 100.0, "s", line))
    note_contradictions(run)
    return run


IOZONE = {"command": "iozone -s 8m -r 64k -i 0 -i 1 -f /mnt/f"}
SIZES = {"file_size": 2**23, "record_size": 2**16}


@pytest.mark.parametrize(
    ("facts", "factors", "speeds", "is_cached"),
    [
        (IOZONE, SIZES, {"write": 100e6, "read": 5e9, "reread": 6e9}, True),
        (IOZONE, SIZES, {"write": 100e6, "read": 300e6, "reread": 390e6}, False),
        (IOZONE, SIZES | {"direct": True}, {"write": 100e6, "read": 5e9, "reread": 6e9}, False),
        (IOZONE, SIZES | {"mode": "cluster"}, {"write": 100e6, "read": 5e9, "reread": 6e9}, False),
        ({"command": "iozone -I -s 8m"}, SIZES, {"write": 100e6, "read": 5e9, "reread": 6e9}, False),
        ({"command": "iozone -U /mnt"}, SIZES, {"write": 100e6, "read": 5e9, "reread": 6e9}, False),
        # The table alone shows neither the nodes nor O_DIRECT; the files exceed any memory.
        ({}, SIZES, {"write": 100e6, "read": 5e9, "reread": 6e9}, False),
        (IOZONE, SIZES | {"file_size": 2**40}, {"write": 100e6, "read": 5e9, "reread": 6e9}, False),
    ],
)
def test_iozone_may_read_the_memory_of_its_node(facts, factors, speeds, is_cached):
    run = build_reads("iozone", speeds, facts, **factors)
    assert [(entry.code, entry.operation) for entry in run.contradictions] == [
        ("S104", "read"),
        ("S104", "reread"),
    ] * is_cached
    assert not group_doubtful_metrics(run.contradictions)


@pytest.mark.parametrize(("ranks", "is_cached"), [(1, True), (8, False)])
def test_random_reads_of_iozone_faster_than_any_device_come_from_memory(ranks, is_cached):
    run = build_reads("iozone", {"random_read": 4e9}, IOZONE, file_size=2**23, record_size=4096, ranks=ranks)
    assert [entry.sentence.code for entry in run.contradictions] == ["faster-than-devices"] * is_cached


def test_a_table_of_cached_reads_is_one_note_for_each_operation():
    run = Parsed(tool="iozone", facts=IOZONE)
    for line, size in enumerate((2**20, 2**21, 2**22), 1):
        factors = {"file_size": size, "record_size": 2**16}
        for operation, speed in (("write", 1e8), ("read", 1e9 + size)):
            run.rows.append(Row(operation, "bandwidth_last_done", speed, "bytes/s", line, factors=factors))
    note_contradictions(run)
    assert len(run.contradictions) == 3 and len(run.warnings) == 1


@pytest.mark.parametrize(
    ("factors", "read_speed", "is_cached"),
    [
        ({"nodes": 1, "ranks": 16}, 20e9, True),
        ({"ranks": 1}, 20e9, True),
        ({"nodes": 1, "ranks": 16}, 3e9, False),
        ({"nodes": 10, "ranks": 160}, 20e9, False),
        ({"ranks": 160}, 20e9, False),
        ({"nodes": 1, "direct": 1}, 20e9, False),
    ],
)
def test_io500_on_one_node_may_read_its_memory(factors, read_speed, is_cached):
    run = build_reads("io500", {"ior_easy_write": 1e9, "ior_easy_read": read_speed}, **factors)
    assert [(entry.code, entry.operation) for entry in run.contradictions] == [("S104", "ior_easy_read")] * is_cached
    # 10 TB were written: no memory holds them.
    assert not build_reads("io500", {"ior_easy_write": 1e11, "ior_easy_read": 5e11}, **factors).contradictions


def test_a_run_keeps_the_numbers_and_says_which_are_not_believed():
    text = Text(FIO_TEXT.format(longest=62000, last=17113).encode(), "out.txt")
    [run] = build_runs(understand(text), text, "e")
    values = {row.metric: row.value for row in run.observations}
    assert values["completion_latency_p99"] == 17.113 and values["completion_latency_max"] == 62
    assert run.headlines == {"write": ["bandwidth", "rate"]}
    entries = run.facts["contradictions"]
    assert {entry["code"] for entry in entries} == {"S134"} and all(entry["sentence"] for entry in entries)
    assert "completion_latency_p99" in {metric for entry in entries for metric in entry["metrics"]}


def test_a_job_is_not_doubted_for_another_of_its_output():
    good, bad = build_side(1000, 1_000_137), build_side(1000, 1_000_137)
    bad["clat_ns"]["mean"] = 5.62e13
    text = json.dumps({"fio version": "fio-3.35", "jobs": [build_job(good, "a"), build_job(bad, "b", bs="8k")]})
    document = Text(text.encode(), "out.json")
    first, second = build_runs(understand(document), document, "e")
    assert "contradictions" not in first.facts and "completion_latency_p99" in first.headlines["read"]
    assert second.facts["contradictions"] and "completion_latency_p99" not in second.headlines["read"]


KBENCH = """=========================
FIO Benchmark Summary
For: dev
Size: 30G
Quick Mode: disabled
=========================
IOPS (Read/Write)
        Random:           80,122 / 61,410
    Sequential:           96,210 / 70,331

Bandwidth in KiB/sec (Read/Write)
        Random:     2,401,220 / 1,310,774
    Sequential:     2,510,331 / 1,402,118

Latency in ns (Read/Write)
        Random:     {random} / 41,000
    Sequential:     28,000 / 39,000
"""


def test_a_latency_of_kbench_below_that_of_a_system_call_is_in_another_unit():
    run = read_text(KBENCH.format(random=30))
    assert group_doubtful_metrics(run.contradictions) == {"read": {"latency_mean"}}
    assert [entry.code for entry in run.contradictions] == ["S136"]
    assert not read_text(KBENCH.format(random="30,000")).contradictions


@pytest.mark.parametrize(
    ("nodes", "read_speed", "flags", "is_cached"),
    [
        (1, "512.00", "-F -C", True),
        (1, "300.00", "-F -C", False),
        (1, "512.00", "-F -C --posix.odirect", False),
        (4, "512.00", "-F -C", False),
    ],
)
def test_shifted_tasks_on_one_node_read_its_cache(nodes, read_speed, flags, is_cached):
    run = read_text(IOR.format(nodes=nodes, order="constant task offset", flags=flags, read=read_speed))
    assert [code for code in list_codes(run) if code[0] == "S104"] == [("S104", "shifted-on-one-node")] * is_cached


@pytest.mark.parametrize(("random", "is_cached"), [(103.4, True), (74.0, False), (1.2, False)])
def test_random_small_reads_are_not_faster_than_sequential_ones(random, is_cached):
    run = Parsed(tool="io500", factors={"nodes": 40})
    speeds = {"ior_easy_write": 58.2, "ior_easy_read": 71.2, "ior_rnd4k_easy_read": random}
    run.rows = [Row(name, "bandwidth_last_done", speed * 2**30, "bytes/s", 3) for name, speed in speeds.items()]
    note_contradictions(run)
    assert list_codes(run) == [("S104", "random-above-sequential")] * is_cached


@pytest.mark.parametrize(
    ("options", "is_doubtful"),
    [
        ({"size": "64m"}, True),
        ({"size": "64m", "direct": "0", "fsync": "0"}, True),
        ({"size": "64m", "end_fsync": "1"}, False),
        ({"size": "64m", "direct": "1"}, False),
        ({"size": "64m", "buffered": "0"}, False),
        ({"size": "64m", "fdatasync": "8"}, False),
        ({"size": "64m", "sync": "dsync"}, False),
        ({"size": "64m", "fsync_on_close": "1"}, False),
        ({"size": "64m", "ioengine": "mmap"}, False),
        ({"size": "64m", "numjobs": "4"}, False),
        ({"size": "1g"}, False),
        ({}, False),
    ],
)
def test_files_that_fio_wrote_again_without_flushing_may_be_in_memory(options, is_doubtful):
    job = build_job(build_side(1000, 0.9e6), rw="write", **{"ioengine": "psync", "direct": "0", **options})
    job["write"] = job.pop("read")
    assert list_operations(read_fio(job), "S142") == ["write"] * is_doubtful


@pytest.mark.parametrize(("end_fsync", "operations"), [("0", ["write"]), ("1", [])])
def test_writes_of_servers_are_as_those_of_one_where_their_options_are_printed(end_fsync, operations):
    job = build_job(build_side(1000, 0.9e6), rw="write", ioengine="psync", direct="0", size="64m", end_fsync=end_fsync)
    job["write"] = job.pop("read")
    servers = [{**job, "hostname": "127.0.0.1", "port": port} for port in (8871, 8872)]
    assert list_operations(read_fio(*servers, key="client_stats"), "S142") == operations
    unprinted = [{key: value for key, value in job.items() if key != "job options"} for job in servers]
    assert not list_operations(read_fio(*unprinted, key="client_stats"), "S142")


def test_servers_and_threads_that_read_their_files_again_may_have_read_memory():
    job = build_job(build_side(1000, 0.9e6), ioengine="psync", direct="0", size="64m")
    servers = [{**job, "hostname": "127.0.0.1", "port": port} for port in (8871, 8872)]
    for run in (read_fio(job, job), read_fio(*servers, key="client_stats")):
        assert list_operations(run, "S104") == ["read"]
    few = [{**job, "job options": {**job["job options"], "size": "200m"}} for job in servers]
    assert not list_operations(read_fio(*few, key="client_stats"), "S104")


@pytest.mark.parametrize(
    ("mean_ns", "options", "is_doubtful"),
    [(1500, {}, True), (9000, {}, False), (1500, {"end_fsync": "1"}, False), (1500, {"ioengine": "null"}, False)],
)
def test_writes_faster_than_any_device_may_be_in_memory(mean_ns, options, is_doubtful):
    side = build_side(0.9e9 / mean_ns, mean_ns)
    job = build_job(side, rw="randwrite", **{"ioengine": "psync", "direct": "0", **options})
    job["write"] = job.pop("read")
    assert list_operations(read_fio(job), "S142") == ["write"] * is_doubtful


@pytest.mark.parametrize(
    ("flags", "nodes", "n_bytes"),
    [
        ("-w -F", 1, 512 * 2**20),
        ("-w -F", 4, 128 * 2**20),
        ("-w -F -e", 1, None),
        ("-w -F -Y", 1, None),
        ("-w -F -B", 1, None),
        ("-w -F -f script", 1, None),
    ],
)
def test_what_ior_wrote_once_without_flushing_is_in_memory_that_is_larger(flags, nodes, n_bytes):
    run = read_text(IOR.format(nodes=nodes, order="no tasks offsets", flags=flags, read="300.00"))
    entries = [entry for entry in run.contradictions if entry.code == "S142"]
    assert [entry.memory_bytes for entry in entries] == ([n_bytes] if n_bytes else [])
    # It is no reproach where the memory is unknown.
    assert not any("fsync" in note.sentence for note in run.warnings)
    assert [Contradiction.from_json(entry.to_json()).memory_bytes for entry in entries] == [
        entry.memory_bytes for entry in entries
    ]


@pytest.mark.parametrize(
    ("options", "seconds", "memory_bytes"),
    [
        ("of=/mnt/f bs=1M", 2.0, 2**30),
        ("of=/mnt/f bs=4k", 0.5, 0),
        ("of=/mnt/f bs=1M conv=notrunc", 2.0, 2**30),
        ("of=/mnt/f bs=1M conv=fsync", 2.0, None),
        ("of=/mnt/f bs=1M conv=notrunc,fdatasync", 2.0, None),
        ("of=/mnt/f bs=1M oflag=direct", 2.0, None),
        ("of=/mnt/f bs=1M oflag=dsync", 2.0, None),
        ("if=/mnt/f of=/dev/null bs=1M", 2.0, None),
        ("if=/mnt/f bs=1M", 2.0, None),
    ],
)
def test_what_dd_wrote_without_flushing_may_be_in_memory(options, seconds, memory_bytes):
    copied = f"1073741824 bytes (1.1 GB, 1.0 GiB) copied, {seconds} s, 1 GB/s"
    run = read_text(f"$ dd if=/dev/zero {options}\n1+0 records in\n1+0 records out\n{copied}\n")
    entries = [entry.memory_bytes for entry in run.contradictions if entry.code == "S142"]
    assert entries == ([] if memory_bytes is None else [memory_bytes])


@pytest.mark.parametrize(
    ("tool", "nodes", "offset", "flags", "is_found"),
    [
        ("io500", 4, 3.0, "", True),
        ("io500", 4, 0.0, "", False),
        ("io500", 4, 0.1, "", False),
        ("io500", 1, 3.0, "", False),
        ("ior", 4, 3.0, "-w -g", True),
        ("ior", 4, 0.0, "-w -g", False),
        ("ior", 4, 3.0, "-w", False),
        ("ior", 1, 3.0, "-w -g", False),
    ],
)
def test_an_offset_of_the_nodes_clocks_is_in_open_close_and_the_total(tool, nodes, offset, flags, is_found):
    run = Parsed(tool=tool, factors={"nodes": nodes}, facts={"command": f"ior {flags}"})
    true_times = {"open_time": 0.5, "access_time": 90.0, "close_time": 0.25, "total_time": 91.0}
    for metric, seconds in true_times.items():
        run.rows.append(Row("ior_easy_write", metric, seconds + offset, "s", 3))
    run.rows.append(Row("ior_easy_write", "bandwidth_last_done", 1e9, "bytes/s", 3))
    if tool == "io500":
        run.rows.append(Row("ior_easy_write", "time", 91.1, "s", 4))
    note_contradictions(run)
    assert list_operations(run, "S146") == ["ior_easy_write"] * is_found
    if is_found:
        assert "bandwidth_last_done" not in group_doubtful_metrics(run.contradictions)["ior_easy_write"]


@pytest.mark.parametrize(("open_time", "close_time"), [(3.0, 0.5), (0.5, 3.0), (1.5, 1.5)])
def test_a_total_above_the_phase_that_open_and_close_share_is_no_offset(open_time, close_time):
    run = Parsed(tool="io500", factors={"nodes": 4})
    times = {"time": 91.0, "total_time": 94.0, "open_time": open_time, "close_time": close_time, "access_time": 90.0}
    run.rows = [Row("ior_easy_write", metric, seconds, "s", 3) for metric, seconds in times.items()]
    note_contradictions(run)
    assert not list_operations(run, "S146")


def build_timed(*times: float, operation: str = "write", rate: str = "bandwidth_last_done") -> Parsed:
    run = Parsed(tool="x")
    for iteration, seconds in enumerate(times):
        run.rows.append(Row(operation, "time", seconds, "s", 2, iteration=iteration))
        run.rows.append(Row("write", rate, 1e9, "bytes/s", 3, iteration=iteration))
    note_contradictions(run)
    return run


@pytest.mark.parametrize(
    ("run", "is_short"),
    [
        (build_timed(0.21), True),
        (build_timed(0.3, 0.3), True),
        (build_timed(0.6, 0.6), False),
        (build_timed(1.0), False),
        (build_timed(0.0), False),
        (build_timed(0.21, operation="event"), True),
        (build_timed(0.21, operation="remove"), False),
        (build_timed(0.21, rate="bytes"), False),
    ],
)
def test_a_rate_over_less_than_a_second_is_noted(run, is_short):
    assert len(list_operations(run, "S143")) == is_short and not run.warnings
    assert not group_doubtful_metrics(run.contradictions)


@pytest.mark.parametrize(
    ("order", "flags", "nodes", "is_drawn"),
    [
        ("random task offset", "-F -Z", 1, True),
        ("random task offsets >= 1, seed=0", "-F -Z", 1, True),
        ("random task offset", "-F -Z -Z", 1, False),
        ("random task offset", "-F -ZZ", 1, False),
        ("constant task offset", "-F -C", 1, False),
        ("random task offset", "-F -Z", 2, False),
    ],
    ids=["drawn", "IOR 3.0", "twice", "twice in a word", "constant", "no choice"],
)
def test_tasks_that_draw_their_offsets_read_some_data_several_times(order, flags, nodes, is_drawn):
    run = read_text(IOR.format(nodes=nodes, order=order, flags=flags, read="300.00"))
    assert list_operations(run, "S144") == ["read"] * is_drawn


@pytest.mark.parametrize(("n_lines", "is_slowed"), [(9, True), (8, False), (0, False)])
def test_lines_inside_the_clock_of_ior_are_noted(n_lines, is_slowed):
    text = IOR.format(nodes=2, order="constant task offset", flags="-F -C -vv", read="300.00")
    lines = "[RANK 001] open for reading file /mnt/y/f.00000001\n" * n_lines
    run = read_text(text.replace("read      300", f"{lines}read      300"))
    assert list_operations(run, "S145") == ["read"] * is_slowed
    assert not run.missing
