"""Forms of the tools' output that no capture holds: written after the tools' sources and manuals."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from iosonde.importers import Text, understand
from iosonde.importers.fio_bins import merge_percentiles, read_levels
from messages import assert_problem, has_message

KB = 1024.0
FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"


def of(text: str, name: str = "x"):
    return understand(Text(text.encode(), name))


def values(found, metric: str, operation: str | None = None) -> list[float]:
    return [
        row.value
        for run in found.runs
        for row in run.rows
        if row.metric == metric and operation in (None, row.operation)
    ]


def missing(found) -> str:
    return " ".join(note.sentence for run in found.runs for note in run.missing)


def lacks(found, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in found.runs for note in run.missing), code, **values)


def warns(found, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in found.warnings), code, **values)


IOZONE = """\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.506 $
\tRun began: Sat Nov 21 09:29:26 2026

{settings}
{body}
{end}
"""


def test_iozone_cluster_mode_has_children_and_no_parent():
    body = """	Throughput test with 2 processes
	Children see throughput for  2 initial writers 	= 200.00 kB/sec
	Min throughput per process 			=  80.00 kB/sec
	Child[0] xfer count =  1024.00 kB, Throughput =  120.00 kB/sec
	Child[1] xfer count =  1024.00 kB, Throughput =   80.00 kB/sec
"""
    settings = "\tNetwork distribution mode enabled.\n\tCommand line used: iozone -+m hosts -t 2 -c -e -i 0"
    found = of(IOZONE.format(settings=settings, body=body, end="iozone test complete."))
    assert found.runs[0].factors["mode"] == "cluster"
    assert values(found, "bandwidth_sum_of_ranks") == [200 * KB]
    assert values(found, "bandwidth_last_done") == []
    assert values(found, "bandwidth_own") == [120 * KB, 80 * KB]
    assert found.runs[0].rows[0].includes == "fsync,close"
    assert not missing(found)


def test_iozone_zero_after_a_full_disk_is_missing_and_no_value():
    body = "\tChildren see throughput for  2 initial writers \t=       0.00 kB/sec\n\tNo space left on device"
    found = of(IOZONE.format(settings="", body=body, end="iozone test complete."))
    assert values(found, "bandwidth_sum_of_ranks") == []
    assert lacks(found, "no-results", operation="write") and lacks(found, "no-space")


def test_iozone_microseconds_and_columns_that_were_not_run():
    head = " " * 62 + "random    random     bkwd    record    stride"
    names = (
        "              kB  reclen    write  rewrite    read    reread    read     write     read"
        "   rewrite      read   fwrite frewrite    fread  freread"
    )
    row = "            4096      64       12       10" + " " * 18 + "        7        9"
    settings = "\tMicroseconds/op Mode. Output is in microseconds per operation."
    found = of(IOZONE.format(settings=settings, body=f"{head}\n{names}\n{row}", end="iozone test complete."))
    read = {row.operation: row.value for row in found.runs[0].rows}
    assert read == {
        "write": pytest.approx(12e-6),
        "rewrite": pytest.approx(1e-5),
        "random_read": pytest.approx(7e-6),
        "random_write": pytest.approx(9e-6),
    }


def test_iozone_that_was_killed_is_incomplete():
    body = "\tChildren see throughput for  2 initial writers \t=     100.00 kB/sec"
    found = of(IOZONE.format(settings="", body=body, end=""))
    assert lacks(found, "ended-early")


def ior(*tests: str, end: str = "Finished : Sat Nov 21 09:26:00 2026") -> str:
    return "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nCommand line : ior -w -i 2 -o x\n" + "".join(tests) + end


IOR_TEST = """TestID              : {id}
Options:
tasks               : 2
repetitions         : 2
xfersize            : {size}

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     10.00      20.00      0.1         1024       1024       0.1        0.2        0.3        0.6        0
"""
SECOND = (
    "write     12.00      24.00      0.1         1024       1024       0.1        0.2        0.3        0.6        1\n"
)


def test_ior_with_several_tests_gives_several_runs_and_says_which_lacks_iterations():
    first = IOR_TEST.format(id=0, size="1 MiB") + SECOND
    found = of(ior(first, IOR_TEST.format(id=1, size="65536 bytes")))
    assert [run.factors["transfer_size"] for run in found.runs] == [2**20, 65536]
    assert [bool(run.missing) for run in found.runs] == [False, True]
    assert "write: 1 of 2 iterations" in missing(found)


def test_two_ior_sessions_in_one_log_are_two_runs():
    one = ior(IOR_TEST.format(id=0, size="1 MiB") + SECOND)
    others = "\nsome shell output\n"
    assert len(of(one + others + one).runs) == 2


def fio_document(**more) -> dict:
    read = {"io_bytes": 4096000, "bw_bytes": 4096000, "iops": 1000.0, "runtime": 1000, "total_ios": 1000}
    job = {"jobname": "j", "groupid": 0, "error": 0, "job options": {"bs": "4k"}, "read": read}
    return {"fio version": "fio-3.36", "timestamp_ms": 10_000, "jobs": [job], **more}


def test_fio_status_interval_is_one_run_and_two_runs_are_two():
    last = fio_document(timestamp_ms=12_000)
    last["jobs"][0]["read"] |= {"runtime": 3000, "io_bytes": 12288000, "iops": 999.0}
    found = of(json.dumps(fio_document(), indent=1) + "\n" + json.dumps(last, indent=1))
    assert values(found, "rate_last_done") == [999.0]
    later = fio_document(timestamp_ms=60_000)
    assert len(of(json.dumps(fio_document()) + "\n" + json.dumps(later)).runs) == 2


def test_fio_clients_are_ranks_and_all_clients_is_the_whole():
    clients = [fio_document()["jobs"][0] | {"hostname": name} for name in ("a", "b")]
    whole = fio_document()["jobs"][0] | {"jobname": "All clients"}
    whole["read"] = whole["read"] | {"total_ios": 2 * whole["read"]["total_ios"]}
    document = fio_document(client_stats=[*clients, whole])
    del document["jobs"]
    found = of("hostname=a, be=0\n<a> fio-3.36\n" + json.dumps(document, indent=1))
    assert values(found, "bandwidth_own") == [4096000.0, 4096000.0]
    assert values(found, "bandwidth_last_done") == [4096000.0]


def fio_threads(*bins: dict | None) -> dict:
    """One job of several threads without group_reporting, of these histograms (ns → operations)."""
    document = fio_document()
    (job,) = document["jobs"]
    document["jobs"] = []
    for one in bins:
        of = {"mean": 1500.0, "N": sum((one or {"": 4}).values()), "percentile": {"50.000000": 1, "99.000000": 2}}
        clat = of if one is None else of | {"bins": {str(at): count for at, count in one.items()}}
        document["jobs"].append(job | {"read": job["read"] | {"clat_ns": clat}})
    return document


def test_fio_histograms_of_threads_give_the_percentiles_of_all():
    found = of(json.dumps(fio_threads({1000: 98, 9000: 2}, {1000: 100}), indent=1))
    whole = {row.metric: (row.value, row.count) for row in found.runs[0].rows if row.rank is None}
    assert whole["completion_latency_p50"] == (1e-6, 200)
    assert whole["completion_latency_p99"] == (1e-6, 200)  # the mean of 1 and 9 µs would be 5
    more = of(json.dumps(fio_threads({1000: 98, 9000: 2}, {1000: 99, 5000: 1}), indent=1))
    assert [row.value for row in more.runs[0].rows if (row.rank, row.metric) == (None, "completion_latency_p99")] == [
        5e-6
    ]
    assert not [note for note in found.runs[0].warnings if "histograms" in note.sentence]


@pytest.mark.parametrize("bins", [(None, None), ({1000: 4}, None)])
def test_fio_threads_without_histograms_have_no_percentile_of_all_and_say_why(bins):
    (run,) = of(json.dumps(fio_threads(*bins), indent=1)).runs
    assert {row.rank for row in run.rows if row.metric == "completion_latency_p99"} == {0, 1}
    assert any("json+" in note.sentence and "group_reporting" in note.sentence for note in run.warnings)


def test_the_percentiles_of_a_fio_histogram_are_those_that_fio_prints():
    document = json.loads((FIXTURES / "fio" / "gen-fio333-jsonplus.json").read_text())
    seen = 0
    for job in document["jobs"]:
        for direction in ("read", "write"):
            values = job[direction]["clat_ns"]
            if values["N"]:
                assert merge_percentiles([values]) == read_levels(values)
                seen += 1
    assert seen


def test_fio_json_that_was_cut_gives_no_number():
    text = json.dumps(fio_document(), indent=1)
    found = of(text[: len(text) // 2] + "\n")
    assert not values(found, "rate_last_done") and lacks(found, "damaged-lines")


@pytest.mark.parametrize("word", ["runtime=", "runt="])
def test_fio_2_text_says_that_kb_is_1024(word):
    found = of(
        "j: (g=0): rw=read, bs=1M-1M/1M-1M/1M-1M, ioengine=libaio, iodepth=16\n"
        "fio-2.1.3\nj: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 09:32:21 2026\n"
        "  read : io=16384KB, bw=2048.0KB/s, iops=512, " + word + "  8000msec\n"
        "    clat (usec): min=1, max=9, avg= 2.50, stdev= 1.00\n"
        "Run status group 0 (all jobs):\n"
    )
    assert values(found, "bandwidth_last_done") == [2048 * KB]
    assert values(found, "completion_latency_mean") == [2.5e-6]
    assert found.runs[0].factors["block_size"] == 2**20 and not missing(found)
    assert_problem(found.warnings[0].sentence, "assumed-unit", unit="KB")


IOZONE_ALL = (
    "              kB  reclen    write  rewrite    read    reread    random    random     bkwd    record"
    "    stride    fwrite  frewrite    fread  freread"
)


@pytest.mark.parametrize(
    ("options", "row", "operations"),
    [
        ("-i 0 -i 2", " 4096 64 12 10 7 9", ["write", "rewrite", "random_read", "random_write"]),
        ("-i0 -i1", " 4096 64 12 10 7 9", ["write", "rewrite", "read", "reread"]),
        ("-a", " 4096 64 12 10 7 9", []),
    ],
)
def test_iozone_with_squeezed_blanks_is_named_by_its_options_or_not_read(options, row, operations):
    settings = f"\tCommand line used: iozone {options} -s 4m"
    found = of(IOZONE.format(settings=settings, body=f"{IOZONE_ALL}\n{row}", end="iozone test complete."))
    assert [one.operation for one in found.runs[0].rows] == operations
    assert warns(found, "squeezed-row") is not bool(operations)


def test_what_follows_elbenchos_table_is_no_phase_of_it():
    whole = (FIXTURES / "elbencho" / "gen-eb3110-seq-lat.txt").read_text()
    alone, more = of(whole), of(whole + "\nJob statistics:\nState : COMPLETED\nNodes  : 4\nremoved   : 12 files\n")
    assert [row.operation for run in more.runs for row in run.rows] == [
        row.operation for run in alone.runs for row in run.rows
    ]
    assert missing(more) == missing(alone)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(
    ("line", "lacks", "warns"),
    [
        ("ior WARNING: fsync() only available in POSIX.  Using value of 0.", "", "IOR warns: fsync() only available"),
        ("WARNING: inconsistent file size by different tasks", "", "IOR warns: inconsistent file size"),
        ("ior WARNING: cannot open hints file.", "", "IOR warns: cannot open hints file"),
        ("WARNING: Task 0, partial read(), 512 of 1024 bytes at offset 0", "", "moved the rest by further calls"),
        ("WARNING: too many retries -- aborting", "IOR says: too many retries", ""),
        ("WARNING: read(3, 0x55d0, 1024) returned EOF prematurely", "EOF prematurely", ""),
        ("WARNING: Incorrect data on read (3 errors found).", "IOR says: Incorrect data on read (3 errors found)", ""),
        ("ior ERROR: open64() failed, errno 13, Permission denied", "it failed: ior ERROR: open64()", ""),
    ],
)
def test_a_warning_of_ior_is_none_of_its_faults(line, lacks, warns, before):
    test = IOR_TEST.format(id=0, size="1 MiB") + SECOND
    found = of(f"{line}\n{ior(test)}" if before else ior(test + line + "\n"))
    assert found.format == "ior" and lacks in missing(found) and bool(missing(found)) is bool(lacks)
    assert bool(warns) is any(warns in note.sentence for note in found.warnings if warns)


def test_io500_invalid_results_are_incomplete():
    found = of(
        "IO500 version io500-sc22_v2 (standard)\n"
        "[RESULT]       ior-easy-write        2.000000 GB/s : time 300.000 seconds [INVALID]\n"
        "[SCORE ] Bandwidth 2.0 GB/s : IOPS 1.0 kiops : TOTAL 1.4 [INVALID]\n"
    )
    assert lacks(found, "marked-invalid")
    assert values(found, "bandwidth_last_done") == [2 * 1024.0**3]
    assert warns(found, "assumed-unit")


@pytest.mark.parametrize(
    "text",
    [
        "0.10u 0.20s 0:01.50 20.0% 0+0k 0+8io 0pf+0w\n",
        "dd if=/dev/zero  0.10s user 0.20s system 20% cpu 1.500 total\n",
        "        1.50 real         0.10 user         0.20 sys\n",
        "0.10user 0.20system 0:01.50elapsed 20%CPU (0avgtext+0avgdata 2908maxresident)k\n",
        "\nreal\t0m1.500s\nuser\t0m0.100s\nsys\t0m0.200s\n",
        "\nreal\t0m1,500s\nuser\t0m0,100s\nsys\t0m0,200s\n",
        "real 1.50\nuser 0.10\nsys 0.20\n",
        '\tCommand being timed: "dd"\n\tUser time (seconds): 0.10\n\tSystem time (seconds): 0.20\n'
        "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.50\n\tExit status: 0\n",
    ],
)
def test_every_dialect_of_time_says_the_same(text):
    found = of(text)
    assert found.format == "time" and not missing(found)
    assert {row.metric: row.value for row in found.runs[0].rows} == pytest.approx(
        {"real": 1.5, "user": 0.1, "sys": 0.2}
    )


def test_time_of_a_command_that_failed_is_incomplete():
    found = of("time: command terminated abnormally\n        1.50 real         0.10 user         0.20 sys\n")
    assert lacks(found, "tool-failed")


def test_dd_of_other_systems_and_other_locales_and_a_full_disk():
    other = of("1048576 bytes transferred in 0.5 secs (2097152 bytes/sec)\n")
    assert values(other, "bandwidth_last_done") == [2097152.0]
    found = of("1+0 records in\n1+0 records out\n1048576 bytes (1,0 MB, 1,0 MiB) copied, 0,5 s, 2,1 MB/s\n")
    assert values(found, "bandwidth_last_done") == [2097152.0]
    assert warns(found, "decimal-comma")
    full = of(
        "dd: error writing 'x': No space left on device\n2+0 records in\n1+0 records out\n"
        "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s\n"
    )
    assert lacks(full, "tool-failed", quote=f"error writing 'x': {os.strerror(errno.ENOSPC)}")


def test_iperf2_sum_line_and_iperf3_text():
    two = of(
        "Client connecting to 10.0.0.2, TCP port 5001\n[  1] 0.00-10.00 sec  1.00 GBytes  800 Mbits/sec\n"
        "[  2] 0.00-10.00 sec  1.00 GBytes  800 Mbits/sec\n[SUM] 0.00-10.00 sec  2.00 GBytes  1.60 Gbits/sec\n"
    )
    assert values(two, "bandwidth_sum_of_ranks") == [2e8] and values(two, "bandwidth_own") == [1e8, 1e8]
    three = of(
        "Connecting to host 10.0.0.2, port 5201\n[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    3   sender\n"
        "[  5]   0.00-10.04  sec  1.09 GBytes   936 Mbits/sec        receiver\n\niperf Done.\n"
    )
    assert three.format == "iperf3"
    assert values(three, "bandwidth", "tcp_send") == [941e6 / 8] and values(three, "retransmits") == [3]


def test_netperf_that_missed_its_confidence_says_so():
    found = of(
        "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET"
        " : +/-2.5% @ 95% conf.\n"
        "!!! WARNING\n!!! Desired confidence was not achieved within the specified iterations.\n"
        "Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n"
        "bytes  bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    2.00     800.00\n"
    )
    assert values(found, "bandwidth") == [1e8]
    assert any("confidence" in note.sentence for note in found.warnings)


def test_mdtest_rows_out_of_place_are_no_rates():
    head = "mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)\n"
    row = "   File creation   5.0   1.0   9.0   0.0\n"
    found = of(head + "SUMMARY rate: (of 3 iterations)\n" + row + "-- finished at 11/21/2026 09:26:19 --\n")
    assert not found.runs[0].rows and "damaged" in found.warnings[0].sentence


def test_two_settings_of_ior_in_one_line_are_no_value_of_the_first():
    said = IOR_2_SESSION.format(line="ordering inter file= constant task offsets = 1")
    assert not missing(of(said))
    glued = IOR_2_SESSION.format(line="repetitions         : 1 \tstonewallingTime    : 30")
    assert lacks(of(glued), "glued-lines")


IOR_2_SESSION = """IOR-3.0.1: MPI Coordinated Test of Parallel I/O
Began: Tue Nov  7 10:11:12 2017
Command line used: ior -w -F -t 1m -b 1m -o /x
{line}
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     900.00     1024.00    1024.00    0.001      0.001      0.001      0.002      0
Finished: Tue Nov  7 10:11:32 2017
"""


SIZES = """IOR-3.3.0: MPI Coordinated Test of Parallel I/O
Command line        : ior -w -t 2m -b 9920000m -s 3 -o /x
segments            : 3
tasks               : 10
xfersize            : 2 MiB
blocksize           : {block}
aggregate filesize  : 283.81 TiB
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     900.00     1024.00    1024.00    0.001      0.001      0.001      0.002      0
"""


def test_the_sizes_of_iors_command_are_exact_where_its_text_is_rounded():
    run = of(SIZES.format(block="9.46 TiB")).runs[0]
    factors = run.factors
    assert factors["block_size"] == 9920000 << 20 and factors["transfer_size"] == 2 << 20
    assert run.facts["aggregate_size"] == 30 * (9920000 << 20)
    other = of(SIZES.format(block="1 MiB")).runs[0].factors  # of another test of a script: the text is right
    assert other["block_size"] == 1 << 20


@pytest.mark.parametrize("begin", ["  read:", "  write:", "    clat"])
def test_latencies_of_a_direction_whose_line_is_lost_are_not_those_of_another(begin):
    whole = (FIXTURES / "fio" / "gen-fio333-normal-text.txt").read_text()
    place = whole.index(f"\n{begin}") + 1
    cut = whole[:place] + whole[whole.index("\n", place) + 1 :]
    rows, expected = (
        {(row.operation, row.metric, row.value) for run in of(text).runs for row in run.rows} for text in (cut, whole)
    )
    assert rows < expected
    if begin == "  write:":
        line = whole[:place].count("\n") + 1
        assert lacks(of(cut), "damaged-lines", before_line=line)
