"""Other versions and modes of the tools than the captures hold: short samples after the tools' sources."""

from __future__ import annotations

import re

import pytest

from iosonde.importers import Text, understand
from messages import has_message

KB, MIB, GIB = 1024.0, 1024.0**2, 1024.0**3


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


def said(found) -> str:
    return " ".join(note.sentence for note in found.warnings)


def lacks(found, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in found.runs for note in run.missing), code, **values)


def warns(found, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in found.warnings), code, **values)


# IOR

IOR_2 = """IOR-2.10.3: MPI Coordinated Test of Parallel I/O

Run began: Tue Mar  3 10:11:12 2009
Command line used: ./IOR -w -r -F -e -i 3 -t 1m -b 16m -o /scratch/x
Machine: Linux n001

Summary:
\tapi                = POSIX
\ttest filename      = /scratch/x
\taccess             = file-per-process
\tordering in a file = sequential offsets
\tordering inter file= no tasks offsets
\tclients            = 16 (8 per node)
\trepetitions        = 3
\txfersize           = 1 MiB
\tblocksize          = 16 MiB
\taggregate filesize = 256 MiB

{table}Operation  Max (MiB)  Min (MiB)  Mean (MiB)   Std Dev  Max (OPs)  Min (OPs)  Mean (OPs)  Std Dev Mean (s)  {more}
---------  ---------  ---------  ----------   -------  ---------  ---------  ----------   -------  --------
write         900.00     700.00      800.00     81.65     900.00     700.00      800.00  81.65   0.32000   {tail}EXCEL
read         1900.00    1700.00     1800.00     81.65   1900.00   1700.00  1800.00   81.65   0.14000   {tail}EXCEL

Max Write: 900.00 MiB/sec (943.72 MB/sec)
Max Read:  1900.00 MiB/sec (1992.29 MB/sec)

Run finished: Tue Mar  3 10:11:32 2009
"""


def test_ior_2_prints_its_summary_only():
    found = of(IOR_2.format(table="", more="\n", tail=""))
    run = found.runs[0]
    assert (found.format, run.version, run.started_at) == ("ior", "2.10.3", "2009-03-03T10:11:12")
    assert not missing(found)
    assert run.factors["ranks"] == 16 and run.factors["transfer_size"] == 2**20 and run.factors["iterations"] == 3
    assert values(found, "bandwidth_mean", "write") == [800 * MIB]
    assert values(found, "bandwidth_sd", "read") == [81.65 * MIB]
    assert values(found, "total_time_mean", "write") == [0.32]
    assert next(row for row in run.rows if row.metric == "bandwidth_max").includes == "open,fsync,close"


def test_ior_2_verbose_has_rows_that_end_in_xxcel():
    table = (
        "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s) total(s)  iter\n"
        "------    ---------  ---------- ---------  --------   --------   --------  --------   ----\n"
    )
    for i, (write, read) in enumerate(((700, 1700), (800, 1800), (900, 1900))):
        table += (
            f"write     {write}.00     16384      1024.00    0.000362   0.30       0.01       0.32       {i}    XXCEL\n"
        )
        table += (
            f"read      {read}.00    16384      1024.00    0.000362   0.13       0.01       0.14       {i}    XXCEL\n"
        )
    more = "Op grep #Tasks tPN reps  fPP reord reordoff reordrand seed segcnt blksiz xsize aggsize\n\n"
    found = of(IOR_2.format(table=table, more=more, tail="16 8 3 1 0 1 0 0 1 16777216 1048576 268435456 0 POSIX "))
    assert values(found, "bandwidth_last_done", "write") == [700 * MIB, 800 * MIB, 900 * MIB]
    assert values(found, "access_time", "read") == [0.13] * 3
    assert values(found, "bandwidth_max", "read") == [1900 * MIB]
    assert not missing(found)


def test_ior_2_that_runs_a_script_of_tests_gives_a_run_for_each():
    one = IOR_2.format(table="", more="\n", tail="")
    begin, end = one.index("Summary:"), one.index("Run finished")
    second = one[begin:end].replace("1 MiB", "65536 bytes").replace("800.00", "750.00")
    found = of(one[:end] + second + one[end:])
    assert [run.factors["transfer_size"] for run in found.runs] == [2**20, 65536]
    assert values(found, "bandwidth_mean", "write") == [800 * MIB, 750 * MIB]
    cut = of(one[: one.index("read  ")])
    assert "'Finished'" in said(cut) or missing(cut)


def test_ior_2_prints_the_header_of_its_rows_for_the_first_test_of_a_script_alone():
    head = "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s) total(s)  iter\n"
    row = "{}     {}.00     16384      {}.00    0.000362   0.30       0.01       0.32       {}    XXCEL\n"

    def rows(first, transfer_kib):
        return "".join(
            row.format(name, first + 100 * i, transfer_kib, i) for i in range(3) for name in ("write", "read")
        )

    one = IOR_2.format(table=head + rows(700, 1024), more="\n", tail="")
    begin, end = one.index("Summary:"), one.index("Run finished")
    second = one[begin:end].replace("1 MiB", "65536 bytes").replace(head + rows(700, 1024), rows(200, 64))
    found = of(one[:end] + second + one[end:])
    first, other = found.runs
    assert not missing(found)
    for run, transfer_size, bandwidths in ((first, 2**20, (700, 800, 900)), (other, 65536, (200, 300, 400))):
        assert run.factors["transfer_size"] == transfer_size
        for name in ("write", "read"):
            rates = [row.value for row in run.rows if (row.operation, row.metric) == (name, "bandwidth_last_done")]
            assert rates == [value * MIB for value in bandwidths]


def test_ior_json_may_have_a_list_for_each_iteration():
    rows = [f'{{"access": "write", "bwMiB": {value}, "totalTime": 0.5}}' for value in (100.5, 200.5)]
    head = '{"Version": "3.3.0", "Command line": "ior -w", "tests": [{"TestID": 0, "Parameters": {"repetitions": 2}, '
    for results in (f"[{rows[0]}], [{rows[1]}]", f"{rows[0]}, {rows[1]}"):
        found = of(f'{head}"Results": [{results}]}}], "Finished": "x"}}')
        assert values(found, "bandwidth_last_done") == [100.5 * MIB, 200.5 * MIB] and not missing(found)
        assert [row.iteration for row in found.runs[0].rows if row.unit != "s"] == [0, 1]


# mdtest


def test_mdtest_1_8_is_read_as_1_9_is():
    found = of(
        "-- started at 03/03/2009 10:11:12 --\n\nmdtest-1.8.3 was launched with 16 total task(s) on 2 nodes\n"
        "Command line used: ./mdtest -n 100 -d /scratch/md -i 1\nPath: /scratch\nFS: 1.0 TiB   Used FS: 10.0%\n\n"
        "16 tasks, 1600 files/directories\n\nSUMMARY: (of 1 iterations)\n"
        "   Operation                  Max        Min       Mean    Std Dev\n"
        "   ---------                  ---        ---       ----    -------\n"
        "   Directory creation:   1234.500   1234.500   1234.500      0.000\n"
        "   File stat         :  45678.125  45678.125  45678.125      0.000\n"
        "\n-- finished at 03/03/2009 10:11:22 --\n"
    )
    assert found.format == "mdtest" and found.runs[0].factors["ranks"] == 16 and found.runs[0].factors["nodes"] == 2
    assert values(found, "rate_last_done") == [1234.5, 45678.125] and not missing(found)


# IOzone


def test_iozone_from_one_to_two_processes_is_two_tests():
    def block(count: int, rate: float) -> str:
        return (
            f"\tThroughput test with {count} process{'es' if count > 1 else ''}\n"
            f"\tChildren see throughput for {count:2} initial writers \t=  {rate:.2f} KB/sec\n"
            f"\tParent sees throughput for {count:2} initial writers \t=  {rate / 2:.2f} KB/sec\n"
        )

    found = of(
        "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.414 $\n"
        "\tRun began: Sat Nov 21 15:53:41 2026\n\tFile size set to 512 KB\n\tRecord Size 64 KB\n"
        "\tCommand line used: iozone -l 1 -u 2 -s 512k -r 64k -i 0 -F a b\n\tOutput is in Kbytes/sec\n"
        + block(1, 100.0)
        + block(2, 150.0)
        + "\niozone test complete.\n"
    )
    assert [run.factors["ranks"] for run in found.runs] == [1, 2]
    assert [run.factors["record_size"] for run in found.runs] == [65536, 65536]
    assert [run.rows[0].value for run in found.runs] == [100 * KB, 150 * KB]
    assert not missing(found)


def test_iozone_names_close_and_fsync_in_an_option_of_many_letters():
    found = of(
        "\tIozone: Performance Test of File I/O\n\tRun began: Fri Oct 21 11:39:44 2022\n"
        "\tInclude close in write timing\n\tInclude fsync in write timing\n\tO_DIRECT feature enabled\n"
        "\tNetwork distribution mode enabled.\n\tExcel chart generation enabled\n"
        "\tCommand line used: iozone -ceIT -i0 -+n -r 4k -s1g -+m hosts -t4 -Rb x.xls\n\tOutput is in kBytes/sec\n"
        "\tThroughput test with 4 threads\n\tEach thread writes a 1048576 kByte file in 4 kByte records\n\n"
        "\tChildren see throughput for  4 initial writers \t=   84011.57 kB/sec\n"
        "\tMin throughput per thread \t\t\t=   20916.70 kB/sec\n\tMin xfer \t\t\t\t\t= 1043968.00 kB\n"
        "\niozone test complete.\n"
    )
    run = found.runs[0]
    assert run.rows[0].includes == "fsync,close" and run.factors["mode"] == "cluster" and run.factors["direct"] is True
    assert values(found, "bytes_rank_min") == [1043968 * KB]


# IO500


BANDWIDTHS = {"ior-easy-write": 8.0, "ior-hard-write": 0.5, "ior-easy-read": 16.0, "ior-hard-read": 1.0}
RATES = {
    "mdtest-easy-write": 64.0,
    "mdtest-hard-write": 4.0,
    "find": 512.0,
    "mdtest-easy-stat": 128.0,
    "mdtest-hard-stat": 32.0,
    "mdtest-easy-delete": 16.0,
    "mdtest-hard-read": 8.0,
    "mdtest-hard-delete": 1.0,
}
BANDWIDTH, RATE = 64 ** (1 / 4), 2.0 ** (36 / 8)
TOTAL = (BANDWIDTH * RATE) ** 0.5


def io500(year: int, without: str = "", score: str = "SCORE ", total: float = TOTAL, **changed: float) -> str:
    """A whole list as that year's version prints it."""
    lines = []
    for unit, phases in (("GiB/s", BANDWIDTHS), ("kIOPS", RATES)):
        for place, (name, value) in enumerate(phases.items(), 1):
            value = changed.get(name.replace("-", "_"), value)
            if name == without:
                continue
            if year < 2020:
                kind, old = ("BW  ", "GB/s") if unit == "GiB/s" else ("IOPS", "kiops")
                old_name = name.replace("-", "_")
                lines.append(f"[RESULT] {kind} phase {place} {old_name:>25} {value:20.3f} {old} : time 301.50 seconds")
            else:
                lines.append(f"[RESULT] {name:>20} {value:15.6f} {unit} : time 301.500 seconds")
    unit = "GB/s" if year < 2020 else "GiB/s"
    lines.append(f"[{score}] Bandwidth {BANDWIDTH:.6g} {unit} : IOPS {RATE:.6g} kiops : TOTAL {total:.6g}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "lines",
    [
        io500(2019),
        "IO500 version io500-isc21 (standard)\n"
        "[      ]            timestamp        0.000000 kIOPS : time 0.002 seconds\n" + io500(2021),
        "IO500 version io500-sc22_v2 (extended)\n"
        "[      ]      ior-rnd4K-write        0.250000 GiB/s : time 300.100 seconds\n"
        + io500(2022)
        + "[SCOREX] Bandwidth 1.000000 GiB/s : IOPS 2.000000 kiops : TOTAL 1.414214\n",
        io500(2018, total=BANDWIDTH * RATE),
    ],
)
def test_io500_of_all_years(lines):
    """The product, which lists of 2017 and 2018 call TOTAL, becomes the root, as everybody else's is."""
    found = of(lines)
    assert found.format == "io500" and len(found.runs) == 1 and not missing(found)
    assert values(found, "bandwidth_last_done", "ior_easy_write") == [8 * GIB]
    assert values(found, "rate_last_done", "mdtest_easy_write") == [64000.0]
    assert values(found, "total", "score") == [pytest.approx(TOTAL, rel=1e-5)]


def test_a_log_of_io500_that_prints_each_phase_twice_has_it_once():
    """As it ended, and again before the score; a scheduler's words are none of io500's."""
    whole = io500(2019)
    phases = "".join(line + "\n[Starting] next\n" for line in whole.splitlines()[:-1])
    found = of("sbatch: invalid account, the default is taken\n" + phases + whole)
    assert len(found.runs) == 1 and not missing(found)
    assert values(found, "bandwidth_last_done", "ior_hard_read") == [GIB]
    two = of(phases + io500(2019, find=513.0))
    assert len(two.runs) == 2 and lacks(two, "ended-early", name="find")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (io500(2021, without="find"), "the score lacks find"),
        (io500(2021, ior_easy_read=1.6), "the score's bandwidth is 177.8 % of the geometric mean of its phases"),
        (io500(2021, mdtest_hard_stat=320.0), "the score's rate is 74.99 % of the geometric mean of its phases"),
        (io500(2021, total=5.0), "TOTAL 5 is not the root of bandwidth × IOPS"),
        (io500(2019, score="SCORE-invalid"), "the score is marked invalid"),
        (io500(2019) + "One or more test phases invalid.  Not valid for IO-500 submission.\n", "phases invalid"),
        (io500(2021).replace("TOTAL ", "TOTAL x"), "the total of the score, 'x"),
    ],
)
def test_what_contradicts_the_score_of_io500_is_said(lines, says):
    assert says in missing(of(lines))


def test_what_io500_says_of_itself_is_noted():
    quote = "ERROR INVALID stonewall-time < 30s"
    found = of(f"[run]\nprocs = 8\nversion         = io500-sc23_v1\n; {quote}\n")
    assert warns(found, "marked-invalid", quote=quote)


# fio


def terse(version: int, head: str) -> str:
    """A job that read 2048 KiB in 8 ms and wrote and trimmed nothing, in the fields of one version."""
    lead = "" if version == 2 else "1;2;1.500000;0.500000;"
    latencies = f"{lead or '1;2;1.500000;0.500000;'}3;41;5.250000;2.000000;"
    percentiles = ";".join([f"{level}%=7" for level in (1, 5, 50, 99)] + ["0%=0"] * 16) + ";"
    bandwidth = "100;200;50.000000%;150.000000;25.000000"
    more = ";4;500;600;550.000000;10.000000;4" if version == 5 else ""
    read = f"2048;262144;512;8;{latencies}{percentiles}4;43;6.250000;2.500000;{bandwidth}{more}"
    nothing = read.replace("2048;262144;512;8;", "0;0;0;0;", 1)
    parts = [read, nothing, *([nothing] if version >= 4 else [])]
    return f"{head};{';'.join(parts)};10.0%;20.0%;30;0;9;100.0%;0.0%\n"


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_fio_terse_of_every_version(version):
    found = of(terse(version, "2;j;0;0" if version == 2 else f"{version};fio-3.33;j;0;0"))
    assert found.format == "fio" and not missing(found)
    assert values(found, "bandwidth_last_done", "read") == [262144 * KB]
    assert values(found, "rate_last_done", "read") == [512.0]
    assert values(found, "time", "read") == [0.008]
    assert values(found, "completion_latency_mean", "read") == [5.25e-6]
    assert values(found, "completion_latency_p99", "read") == [7e-6]
    assert values(found, "latency_max", "read") == [43e-6]
    assert values(found, "bandwidth_last_done", "write") == []


def test_fio_says_whether_the_steady_state_was_reached():
    text = (
        "fio-3.33\nj: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 15:53:24 2026\n"
        "  read: IOPS=1033k, BW=4035MiB/s (4232MB/s)(7583MiB/1879msec)\n"
        "  steadystate  : attained={word}, bw=4013MiB/s (4109MB/s), iops=1027k, iops mean dev=9.640%\n"
        "Run status group 0 (all jobs):\n"
    )
    assert not missing(of(text.replace("{word}", "yes")))
    assert warns(of(text.replace("{word}", "no")), "not-steady")
    job = '"jobname": "j", "read": {"io_bytes": 4096, "bw_bytes": 4096, "runtime": 1000, "total_ios": 1}'
    for attained, words in ((0, True), (1, False)):
        json = f'{{"fio version": "fio-3.33", "jobs": [{{{job}, "steadystate": {{"attained": {attained}}}}}]}}'
        assert warns(of(json), "not-steady") == words


# Networks


def test_iperf2_enhanced_reports():
    found = of(
        "Client connecting to 10.0.0.2, TCP port 5001 with pid 19 (1 flows)\n"
        "[  1] local 10.0.0.1%eth0 port 46710 connected with 10.0.0.2 port 5001 (icwnd/mss/irtt=14/1448/215)\n"
        "[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr\n"
        "[  1] 0.0000-1.0000 sec   225 MBytes  1.89 Gbits/sec  1801/0         0       -1K/2167(12) us  109692.59\n"
        "[  1] 0.0000-10.0086 sec  2.00 GBytes  1.60 Gbits/sec  18151/0       3       -1K/2167(12) us  109692.59\n"
    )
    assert values(found, "bandwidth") == [2e8] and values(found, "time") == [10.0086]
    sums = of(
        "Client connecting to 10.0.0.2, TCP port 5001\n"
        "[ *1] 0.0000-10.0 sec  1.00 GBytes   800 Mbits/sec\n[  2] 0.0000-10.0 sec  1.00 GBytes   800 Mbits/sec\n"
        "[SUM-2] 0.0000-10.0 sec  2.00 GBytes  1.60 Gbits/sec\n"
    )
    assert values(sums, "bandwidth_sum_of_ranks") == [2e8] and values(sums, "bandwidth_own") == [1e8, 1e8]


def test_iperf3_udp_text_takes_what_arrived():
    found = of(
        "Connecting to host 10.0.0.2, port 5201\n[  5]   0.00-1.00   sec  11.9 MBytes  99.9 Mbits/sec  8630\n"
        "- - - - - - - - -\n[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
        "[  5]   0.00-10.00  sec   119 MBytes   100 Mbits/sec  0.000 ms  0/86380 (0%)  sender\n"
        "[  5]   0.00-10.04  sec   118 MBytes  99.2 Mbits/sec  0.014 ms  312/86380 (0.36%)  receiver\n\niperf Done.\n"
    )
    assert values(found, "bandwidth", "udp_send") == [1e8 / 8]
    assert values(found, "bandwidth", "udp_receive") == [99.2e6 / 8]
    assert values(found, "lost") == [312.0] and values(found, "jitter") == [0.014 / 1e3]
    assert values(found, "datagrams", "udp_receive") == [86380.0]


def test_iperf3_text_of_several_streams_both_ways():
    found = of(
        "Connecting to host 10.0.0.2, port 5201\n"
        "[  5][TX-C]   0.00-10.00  sec  1.10 GBytes   800 Mbits/sec    3             sender\n"
        "[  5][TX-C]   0.00-10.00  sec  1.10 GBytes   720 Mbits/sec                  receiver\n"
        "[  7][RX-C]   0.00-10.00  sec  1.10 GBytes   640 Mbits/sec    1             sender\n"
        "[  7][RX-C]   0.00-10.00  sec  1.10 GBytes   560 Mbits/sec                  receiver\n\niperf Done.\n"
    )
    # Both directions at once: neither is the other's stream.
    assert sorted(row.value for run in found.runs for row in run.rows if row.metric.startswith("bandwidth")) == [
        560e6 / 8,
        640e6 / 8,
        720e6 / 8,
        800e6 / 8,
    ]
    assert len({(row.operation, row.metric, row.rank) for run in found.runs for row in run.rows}) == len(
        [row for run in found.runs for row in run.rows]
    )


def test_netperf_omni_table_and_csv():
    table = of(
        "OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n"
        "Local       Remote      Local  Elapsed Throughput Throughput  \n"
        "Send Socket Recv Socket Send   Time               Units       \n"
        "Size        Size        Size   (sec)                          \nFinal       Final\n"
        "2538112     5455360     16384  10.00   800.00     10^6bits/s  \n"
    )
    assert values(table, "bandwidth") == [1e8] and values(table, "time") == [10.0] and not missing(table)
    csv = of(
        "OMNI Send|Recv TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n"
        "Throughput,Throughput Units,Elapsed Time (sec),Minimum Latency Microseconds,Mean Latency Microseconds,"
        "99th Percentile Latency Microseconds,Maximum Latency Microseconds\n"
        "55958.36,Trans/s,2.00,13,17.83,40,900\n"
    )
    assert values(csv, "rate") == [55958.36] and values(csv, "time") == [2.0]
    assert values(csv, "latency_mean") == [17.83 / 1e6] and values(csv, "latency_p99") == [40e-6]


# Others


def test_dbench_3():
    found = of(
        "dbench version 3.04 - Copyright Andrew Tridgell 1999-2004\n\n"
        "Running for 60 seconds with load '/usr/share/dbench/client.txt' and minimum warmup 12 secs\n"
        "4 clients started\n   4      2048   250.11 MB/sec  warmup   1 sec\n"
        "   4     62477   250.34 MB/sec  execute  60 sec\n   4     62477   250.34 MB/sec  cleanup  60 sec\n\n"
        "Throughput 250.349 MB/sec 4 procs\n"
    )
    assert found.runs[0].version == "3.04" and found.runs[0].factors["ranks"] == 4
    assert values(found, "bandwidth_last_done") == [250.349e6] and not missing(found)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (
            "host,16G,,,72853,15,47358,5,,,156821,7,537.7,0,16,1000,10,+++++,+++,2000,20,3000,30,+++++,+++,4000,40",
            "1.03",
        ),
        (
            "1.98,2.00,host,1,1600000000,16G,,8192,5,,,72853,15,47358,5,,,156821,7,537.7,10,16,,,,,1000,10,+++++,+++,"
            "2000,20,3000,30,+++++,+++,4000,40,,512ms,670ms,,44574us,200ms,3747us,244us,647us,3856us,55us,771us",
            "2.00",
        ),
    ],
)
def test_bonnie_of_both_forms(line, version):
    found = of(line + "\n")
    assert found.format == "bonnie++" and found.runs[0].version == version and not missing(found)
    assert values(found, "bandwidth_last_done") == [72853 * KB, 47358 * KB, 156821 * KB]
    assert values(found, "rate_last_done") == [537.7, 1000.0, 2000.0, 3000.0, 4000.0]
    assert found.runs[0].factors["file_size"] == 16 * 2**30


def test_fs_mark_verbose_columns():
    found = of(
        "#  ./fs_mark  -v  -d  /mnt  -n  1000  -s  4096\n#\tVersion 3.3, 1 thread(s) starting at Tue"
        " Mar  3 10:11:12 2009\n"
        "#\tSync method: INBAND FSYNC: fsync() per file in write loop.\n\n"
        "FSUse%        Count         Size    Files/sec     App Overhead\tCREAT (Min/Avg/Max)\tWRITE (Min/Avg/Max)\t"
        "FSYNC (Min/Avg/Max)\tSYNC (Min/Avg/Max)\tCLOSE (Min/Avg/Max)\tUNLINK (Min/Avg/Max)\n"
        "     5         1000         4096        250.5            12345       10       20       30        1        2"
        "        3       40       50       60        0        0        0        1        1        2 "
        "       4        5        6\n"
    )
    assert values(found, "rate_last_done") == [250.5] and not missing(found)


@pytest.mark.parametrize(
    "text",
    [
        "64+0 Datensätze ein\n64+0 Datensätze aus\n67108864 Bytes (67 MB, 64 MiB) kopiert, 0,5 s, 134 MB/s\n",
        "64+0 enregistrements lus\n64+0 enregistrements écrits\n67108864 octets (67 MB, 64 MiB) copi"
        "és, 0,5 s, 134 MB/s\n",
        "64+0 registros leídos\n64+0 registros escritos\n67108864 bytes (67 MB, 64 MiB) copiados, 0,5 s, 134 MB/s\n",
        "64+0 record dentro\n64+0 record fuori\n67108864 byte (67 MB, 64 MiB) copiati, 0,5 s, 134 MB/s\n",
        "記録了64+0 的读入\n記録了64+0 的写出\n67108864字节（67 MB，64 MiB）已复制，0.5 s，134 MB/s\n",
        "64+0 レコード入力\n64+0 レコード出力\n67108864 bytes (67 MB, 64 MiB) copied, 0.5 s, 134 MB/s\n",
        "64+0 records in\n64+0 records out\n67108864 bytes (64.0MB) copied, 0.500000 seconds, 128.0MB/s\n",
        "64+0 records in\n64+0 records out\n67108864 bytes transferred in 0.500000 secs (134217728 bytes/sec)\n",
    ],
)
def test_dd_of_several_languages(text):
    found = of(text)
    assert found.format == "dd" and len(found.runs) == 1
    assert values(found, "bandwidth_last_done") == [2.0**27] and values(found, "time") == [0.5]


def test_dd_progress_is_not_a_copy_of_its_own():
    last = "4+0 records in\n4+0 records out\n4194304 bytes (4.2 MB, 4.0 MiB) copied, 2 s, 2.1 MB/s\n"
    for between in ("\r", "\n"):
        found = of(
            f"1048576 bytes (1.0 MB, 1.0 MiB) copied, 1 s, 1.0 MB/s{between}"
            f"2097152 bytes (2.1 MB, 2.0 MiB) copied, 1.5 s, 1.0 MB/s\n{last}"
        )
        assert values(found, "bytes") == [4194304.0]
    assert len(of(last + last).runs) == 2


@pytest.mark.parametrize(
    "text",
    [
        "real\t0m 1.50s\nuser\t0m 0.10s\nsys\t0m 0.20s\n",  # busybox
        "real    0m1.50s\nuser    0m0.10s\nsys     0m0.20s\n",  # ksh
        "dd if=/dev/zero  0,10s user 0,20s system 20% cpu 1,500 total\n",  # zsh
        "\t1.50s real\t\t0.10s user\t\t0.20s sys\n",  # time -h of FreeBSD and macOS
        "    0m1.50s real     0m0.10s user     0m0.20s system\n",  # mksh
        "0.1u 0.2s 0:01.50 20.0% 0+0k 0+8io 0pf+0w\n",  # tcsh
    ],
)
def test_time_of_more_shells(text):
    found = of(text)
    assert found.format == "time" and not missing(found)
    assert {row.metric: row.value for row in found.runs[0].rows} == pytest.approx(
        {"real": 1.5, "user": 0.1, "sys": 0.2}
    )


def test_elbencho_names_the_parts_of_a_mix_alike_in_every_form():
    text = of(
        "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n=========== ========= ========= =====\n"
        "RWMIX30     Elapsed time     :         0ms         1ms\n            IOPS write       :     "
        "   5163        4351\n"
        "            IOPS read        :       49913       51348\n---\n"
    )
    json = of(
        '{"phase_type":"RWMIX30","config":{"version":"3.0-37","command":"elbencho"},'
        '"first_done":{"elapsed_time_ms":"0","iops":"5163","rwmix_read":{"iops":"49913"}},'
        '"last_done":{"elapsed_time_ms":"1","iops":"4351","rwmix_read":{"iops":"51348"}}}\n'
    )
    csv = of(
        "ISO date,label,path type,paths,hosts,threads,operation,time ms [first],time ms [last],IOPS "
        "[first],IOPS [last],"
        "rwmix read IOPS [first],rwmix read IOPS [last],version,command\n"
        "2026-11-21T15:58:31.671+0000,,file,1,1,2,RWMIX30,0,1,5163,4351,49913,51348,3.0-37,elbencho -w\n"
    )
    for found in (text, json, csv):
        assert values(found, "access_rate_last_done", "rwmix30_write") == [4351.0]
        assert values(found, "access_rate_last_done", "rwmix30_read") == [51348.0]
        assert values(found, "time_last_done", "rwmix30") == [0.001]


def test_mdtest_that_prints_times_only_is_complete():
    found = of(
        "-- started at 11/21/2026 15:57:55 --\n\nmdtest-4.1.0+dev was launched with 2 total task(s) on 1 node(s)\n"
        "Command line used: mdtest '-Z' '-n' '20' '-i' '2' '-d' 'md'\n\nSUMMARY time (in ms/op): (of 2 iterations)\n"
        "   Operation                     Max            Min           Mean        Std Dev\n"
        "   File read                       0.017          0.001          0.009          0.008\n"
        "   File removal                    0.000          0.000          0.000          0.000\n"
        "-- finished at 11/21/2026 15:57:56 --\n"
    )
    assert not missing(found) and values(found, "time_max") == [0.017]
    assert warns(found, "assumed-unit")


def test_a_run_without_any_phase_of_mdtests_gets_no_empty_table():
    from iosonde.commands.show import text_as_tool as as_tool

    assert list(as_tool.format_mdtest([])) == []


STREAMS = """Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 40 connected to 10.0.0.2 port 5201
[  7] local 10.0.0.1 port 42 connected to 10.0.0.2 port 5201
[  5]   0.00-10.00  sec  1.10 GBytes   800 Mbits/sec    3             sender
[  5]   0.00-10.00  sec  1.10 GBytes   720 Mbits/sec                  receiver
[  7]   0.00-10.00  sec  1.10 GBytes   640 Mbits/sec    1             sender
[  7]   0.00-10.00  sec  1.10 GBytes   560 Mbits/sec                  receiver
[SUM]   0.00-10.00  sec  2.20 GBytes  1.44 Gbits/sec    4             sender
[SUM]   0.00-10.00  sec  2.20 GBytes  1.28 Gbits/sec                  receiver
"""
OF_IPERF_2 = """Client connecting to 10.0.0.2, TCP port 5001
[  1] local 10.0.0.1 port 46710 connected with 10.0.0.2 port 5001
[  2] local 10.0.0.1 port 46712 connected with 10.0.0.2 port 5001
[  1] 0.0000-10.0086 sec  1.00 GBytes  800 Mbits/sec
[  2] 0.0000-10.0086 sec  1.00 GBytes  800 Mbits/sec
[SUM] 0.0000-10.0086 sec  2.00 GBytes  1.60 Gbits/sec
"""
UDP_STREAM = """MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

212992    1024   2.00       212141      0     868.90
212992           2.00       139309            570.59
"""


@pytest.mark.parametrize(
    ("text", "lines", "says"),
    [
        (STREAMS, 9, ""),
        (STREAMS, 8, "tcp_receive: 2 streams"),
        (STREAMS, 7, "2 streams without the line of their sum"),
        (STREAMS, 5, "2 streams without the line of their sum"),  # one of them looks like all
        (STREAMS, 4, "the receiver's line is missing"),
        (OF_IPERF_2, 6, ""),
        (OF_IPERF_2, 5, "2 streams without the line of their sum"),
        (OF_IPERF_2, 4, "2 streams without the line of their sum"),
        (UDP_STREAM, 7, ""),
        (UDP_STREAM, 6, "the receiver's line is missing"),
    ],
)
def test_streams_without_their_sum_and_a_sender_without_its_receiver_are_no_total(text, lines, says):
    cut = "".join(text.splitlines(True)[:lines])
    found = of(cut)
    assert says in missing(found) and bool(missing(found)) == bool(says)
    if "sum" in says:
        assert not values(found, "bandwidth") and not values(found, "bandwidth_sum_of_ranks")


def test_iperf2_says_in_its_header_how_many_streams_there_are():
    head = OF_IPERF_2.splitlines()[0].replace("5001", "5001 with pid 19 (2 flows)")
    found = of(f"{head}\n{OF_IPERF_2.splitlines()[3]}\n")
    assert "2 streams" in missing(found) and not values(found, "bandwidth")


def test_both_ways_at_once_are_both_there():
    role = STREAMS.replace("]   0.00", "][TX-C]   0.00")
    assert lacks(of(role), "missing-direction")
    other = role.split("\n", 3)[3].replace("TX-C", "RX-C").replace("[  5]", "[  9]").replace("[  7]", "[ 12]")
    opened = "[  9] local 10.0.0.1 port 44 connected to 10.0.0.2 port 5201\n" * 2
    head, rest = role.split("\n", 1)
    both = of(f"{head}\n{opened}{rest}{other}")
    assert not missing(both) and len(values(both, "bandwidth")) == 4


SUMMARY = """Writing output to s.csv
access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter
write,128.8335,2111.9355,0.0009,256.0000,64.0000,0.0001,0.0038,0.0029,0.0039,2,0
read,8490.4939,151146.0901,0.0000,256.0000,64.0000,0.0000,0.0001,0.0000,0.0001,2,0
write,277.1444,4773.7135,0.0002,256.0000,64.0000,0.0002,0.0017,0.0009,0.0018,2,1
read,7358.4281,135300.1290,0.0000,256.0000,64.0000,0.0000,0.0001,0.0000,0.0001,2,1
"""


def test_iors_csv_summary_is_read_as_its_table():
    found = of(SUMMARY)
    assert found.format == "ior" and len(found.runs) == 1 and not missing(found)
    assert values(found, "bandwidth_last_done", "write") == [128.8335 * MIB, 277.1444 * MIB]
    assert values(found, "rate_last_done", "read") == [151146.0901, 135300.1290]
    assert values(found, "access_time", "write") == [0.0038, 0.0017]
    assert values(found, "latency_mean", "read") == [] and warns(found, "low-resolution")
    assert found.runs[0].factors == {"ranks": 2, "block_size": 262144, "transfer_size": 65536, "iterations": 2}
    rows = SUMMARY.splitlines(True)
    other = of(SUMMARY + "".join(rows[2:4]).replace(",64.0000,", ",32.0000,"))
    assert [run.factors["transfer_size"] for run in other.runs] == [65536, 32768]
    again = of(SUMMARY + "".join(rows[1:]))
    assert len(again.runs) == 2 and not missing(again)


def test_iors_csv_summary_that_ends_early_is_incomplete():
    rows = SUMMARY.splitlines(True)
    assert "read: 1 of 2 iterations" in missing(of("".join(rows[:-1])))
    cut = of(SUMMARY[:-20])
    assert lacks(cut, "damaged-lines") and len(values(cut, "bandwidth_last_done", "read")) == 1
    assert lacks(of("".join(rows[:2])), "no-results")


MD_REAL_IO = """MD-REAL-IO total objects: 80000 workingset size: 223.160 MiB (version: a1b2) time: 2017-11-02 10:11:12
\toffset=1
WARNING: num > precreate, this may cause the situation that no objects are available to read
precreate 0.6s 97172.0 iops/s 20 dset 60000 obj 32.380 dset/s 97139.7 obj/s 361.4 Mib/s (0 errs)
benchmark 0.4s 216259.5 iops/s 20000 obj 54064.9 obj/s 402.3 Mib/s (0 errs)
0: benchmark 0.3s 108129.7 iops/s 10000 obj 27032.4 obj/s 201.1 Mib/s (0 errs)
1: benchmark 0.4s 108129.8 iops/s 10000 obj 27032.5 obj/s 201.2 Mib/s (0 errs)
benchmark 0.5s 200000.0 iops/s 20000 obj 50000.0 obj/s 372.0 Mib/s (0 errs)
cleanup 0.2s 300000.0 iops/s 60000 obj 20 dset 299900.0 obj/s 100.000 dset/s (0 errs)
Total runtime: 2s time: 2017-11-02 10:11:14
"""
MD_REAL_IO_2016 = """MD-REAL-IO total objects: 80000 (version: a1b2)

Total runtime:       2.110s = 0.60s + 1.30s + 0.21s (precreate + benchmark + cleanup)
Operations:          sets: 20 objs: 60000; write: 20000 read: 20000; objs: 60000 sets: 20

Compound performance for the phases:
Precreate: 100033.3 elements/s (obj+sets) 371.9 MiB/s - (create sets, objs and write)
Benchmark: 15384.6 iters/s 114.4 MiB/s - an iteration is (write new, stat, read and delete old)
Cleanup:   285809.5 elements/s (sets+objs) - (delete objs and sets)
"""


def test_md_real_io_is_md_workbench_under_its_old_name():
    found = of(MD_REAL_IO)
    assert found.format == "md-workbench" and not missing(found) and len(found.runs) == 1
    assert values(found, "rate_last_done", "benchmark") == [216259.5, 200000.0]
    assert values(found, "object_rate_last_done", "precreate") == [97139.7]
    assert values(found, "bandwidth_last_done", "benchmark") == [402.3 * MIB, 372.0 * MIB]
    assert values(found, "time") == [0.6, 0.4, 0.5, 0.2] and "1024² bytes/s" in said(found)
    assert found.runs[0].started_at.startswith("2017-11-02") and found.runs[0].factors["objects"] == 80000
    old = of(MD_REAL_IO_2016)
    assert not missing(old) and values(old, "object_rate_last_done") == [15384.6]
    assert values(old, "rate_last_done") == [100033.3, 285809.5]


def test_lines_of_md_real_io_without_iops_are_whole_if_they_end_with_their_errors():
    first = MD_REAL_IO
    for rate in ("97172.0", "216259.5", "200000.0", "300000.0"):
        first = first.replace(f" {rate} iops/s", "")
    found = of(first)
    assert not missing(found) and values(found, "object_rate_last_done", "benchmark") == [54064.9, 50000.0]
    assert not values(found, "rate_last_done")
    assert lacks(of(first.replace(" 402.3 Mib/s", "")), "damaged-lines", metrics="MiB/s, iops/s")
    assert lacks(of(first.replace(" (0 errs)", "")), "damaged-lines", phase="benchmark")


def test_md_real_io_that_failed_or_was_cut_is_incomplete():
    errors = of(MD_REAL_IO.replace("(0 errs)", "(3 errs!!!)"))
    assert lacks(errors, "operations-failed", phase="benchmark", n_errors=3)
    assert lacks(of(MD_REAL_IO[: MD_REAL_IO.index("Total")]), "ended-early")
    assert lacks(of(MD_REAL_IO[: MD_REAL_IO.index(" 402.3")]), "damaged-lines", metrics="MiB/s")
    assert lacks(of(MD_REAL_IO_2016 + "Errors: 3 /Pre dir: 0 obj: 3\n"), "operations-failed")


def test_reports_of_single_processes_are_no_labels_and_no_totals():
    head, phase = (
        "MD-Workbench total objects: 480 (version: 4.1.0)\n",
        (
            "benchmark process max:0.10s min:0.09s mean: 0.10s balance:75.8 stddev:0.0 rate:4000.0 iops/s objects:100 "
            "rate:1000.0 obj/s tp:7.4 Mib/s op-max:2.0e-05s (0 errs)\n"
        ),
    )
    report = "{}: benchmark process max:0.10s rate:100.0 iops/s objects:2 rate:25.0 obj/s tp:0.2 MiB/s (0 errs)\n"
    found = of(head + phase + "".join(map(report.format, range(40))) + "Total runtime: 0s time: 2021-10-24 20:02:50\n")
    assert values(found, "rate_last_done") == [4000.0] and values(found, "bandwidth_last_done") == [7.4 * MIB]
    assert "labels" not in said(found)
    one = "{}: benchmark 0.3s 108129.7 iops/s 10000 obj 27032.4 obj/s 201.1 Mib/s (0 errs)\n"
    many = of(MD_REAL_IO.replace("0: benchmark", "".join(map(one.format, range(2, 60))) + "0: benchmark"))
    assert values(many, "rate_last_done", "benchmark") == [216259.5, 200000.0]


LONG_WORD, LONG_NUMBER = "y" * 5000, "1" * 40


def repeated_lengths(text: str) -> dict[str, list[int]]:
    """Where a reading repeats the long words and numbers of a text, and how long they then are."""
    reading, lengths = of(text.replace("@", LONG_WORD).replace("#9", LONG_NUMBER)), dict[str, set[int]]()
    places: list[tuple[str, object]] = [("claim", reading.claim.evidence)]
    for run in reading.runs:
        places += [("version", run.version), ("facts", run.facts), ("factors", run.factors)]
        places += [("rows", [[row.operation, row.rank, row.factors] for row in run.rows])]
        places += [(note.sentence.code, note.sentence.values) for note in (*run.warnings, *run.missing)]
    for place, value in places:
        found = {len(str(leaf)) for leaf in leaves(value) if re.search(r"y{8}|1{8}", str(leaf))}
        if found:
            lengths.setdefault(place, set()).update(found)
    return {place: sorted(found) for place, found in lengths.items()}


def leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        (
            "1.98,2.00,@,#9,1600000000,16G,,8192,5,,,@,15,47358,5,,,156821,7,537.7,10,16,,,,,1000,10,+++++,+++,2000,20,3000,30,+++++,+++,4000,40,,512ms,670ms,,44574us,200ms,3747us,244us,647us,3856us,55us,771\n",
            {"claim": [60], "factors": [9], "facts": [200], "invalid-number": [40]},
        ),
        (
            "dbench version 3\n"
            "Running for #9 seconds with load '@'\n"
            "ERROR @\n"
            " Operation Count AvgLat MaxLat\n"
            " Close #9 @ 1\n"
            "Throughput @ MB/sec  #9 clients  #9 procs\n",
            {"factors": [9], "facts": [300], "invalid-number": [40], "tool-failed": [160]},
        ),
        (
            "dd: @\n",
            {"claim": [60], "tool-failed": [160]},
        ),
        (
            '{"num_accelerators": 1, "metric": {"train_au_meet_expectation": "@"}, "hostname": "@"}',
            {"facts": [40], "not-accepted": [40]},
        ),
        (
            "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n"
            "WRITE       Elapsed time     :  @ 1ms\n"
            "ERROR: @\n"
            "Interrupted @\n",
            {"ended-early": [120], "invalid-number": [40], "tool-failed": [160]},
        ),
        (
            "ERROR: @\nOPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n",
            {"tool-failed": [160]},
        ),
        (
            "--dryrun\nERROR: @\n",
            {"tool-failed": [200]},
        ),
        (
            '{"phase_type":"@","config":{"version":"@"},"first_done":{"entries":1},"last_done":{}}\n',
            {"claim": [60], "rows": [60], "version": [60]},
        ),
        (
            "ISO date,label,path type,paths,hosts,threads,operation,IOPS [last],version,command\n"
            "2026,@,dir,1,1,1,W,@,@,c\n",
            {"facts": [200], "invalid-number": [40], "version": [60]},
        ),
        (
            "Filebench Version @\n"
            "0.1: @ Version 2 personality successfully loaded\n"
            "0.2: @ populated: 5 files, avg. dir. width = 20, avg. dir. depth = 1.3, 0 leafdirs, 0.5MB total size\n"
            "0.3: Failed to @\n"
            "1.0: Run took #9 seconds\n"
            "1.0: Per-Operation Breakdown\n"
            "@1 2ops 1ops/s 1mb/s 1ms/op [1ms - 1ms]\n"
            "@2 2ops 1ops/s xmb/s 1ms/op\n"
            "@ ops/s\n"
            "1.1: IO Summary: 3 ops 1.5 ops/s 1/1 rd/wr 3mb/s 1ms/op\n",
            {
                "claim": [60],
                "damaged-lines": [40],
                "factors": [60],
                "facts": [48, 300],
                "invalid-number": [40],
                "rows": [60],
                "tool-failed": [160],
                "version": [40],
            },
        ),
        (
            "Fileop:  Working in\n . mkdir chdir\nA 1 5@ 3\n",
            {"invalid-number": [40]},
        ),
        (
            "3;fio-@;@;0;7;0;0;0;0;0\nfio: terminating on signal @\n",
            {"claim": [60], "facts": [200], "tool-failed": [40, 160], "version": [60]},
        ),
        (
            '{"fio version": "fio-@", "jobs": [{"jobname": "@", "error": 1, "job options": {"bs": "@"}}]}\n'
            "fio: @ failed\n",
            {"factors": [200], "facts": [200], "no-results": [200], "tool-failed": [200], "version": [60]},
        ),
        (
            "fio-@\n"
            "@: (groupid=0, jobs=#9): err= 4: pid=1: x\n"
            "fio: io_u error @\n"
            "verify @ failed\n"
            "  read: IOPS=5, BW=1KiB/s (1kB/s)(1KiB/1msec)\n",
            {
                "claim": [60],
                "factors": [9],
                "facts": [200],
                "tool-failed": [60, 160],
                "verification-failed": [160],
                "version": [60],
            },
        ),
        (
            "#  fs_mark @\n"
            "#\tVersion @, #9 thread(s) starting at x\n"
            "#\tSync method: @\n"
            "written with an IO size of #9 bytes\n"
            "@ failed\n"
            "FSUse% \n",
            {"factors": [9, 18, 80], "facts": [4000], "tool-failed": [160], "version": [60]},
        ),
        (
            "[run]\nversion         = io500-@\nmode = @\n; ERROR INVALID @\n; WARNING @\n[ior-easy-write]\nexe = @\n",
            {"factors": [60], "facts": [2000], "marked-invalid": [160], "version": [60]},
        ),
        (
            "[RESULT] ior-easy-write 5 @ : time 3 seconds\n"
            "[RESULT] find @ kIOPS : time @ seconds\n"
            "ERROR INVALID @\n"
            "[SCORE ] Bandwidth @ GiB/s : IOPS 5 kiops : TOTAL 3\n",
            {"claim": [60], "invalid-number": [40], "marked-invalid": [160], "unknown-unit": [20]},
        ),
        (
            "IOR-4: MPI Coordinated Test of Parallel I/O\n"
            "tasks : #9\n"
            "api : @\n"
            "Path : @\n"
            "TestID : #9\n"
            "stonewalling pairs accessed @\n"
            "ERROR: @\n"
            "WARNING: not retrying @\n"
            "WARNING: @\n"
            "ERROR: x\n"
            "access bw(MiB/s) iter\n"
            "write @ 0\n"
            "write @\n"
            "Operation Max(MiB) Min(MiB) Mean(MiB) StdDev\n"
            "write 1 2 3 @\n"
            "write @\n",
            {
                "damaged-lines": [60],
                "factors": [9, 18, 200],
                "facts": [200, 1000],
                "invalid-number": [40],
                "tool-failed": [160],
                "tool-warning": [200],
                "unreadable-lines": [60],
            },
        ),
        (
            "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n@,0,2.5,@,100,200\n",
            {"invalid-number": [40], "rows": [40]},
        ),
        (
            '{"Version": "@", "tests": [{"TestID": 0, "Results": [{"access": "w", "bwMiB": 7}]}], '
            '"summary": [{"operation": "@", "bwMeanMIB": 3}]}',
            {"rows": [40], "version": [60]},
        ),
        (
            "Iozone: Performance Test of File I/O\n"
            "Output is in @\n"
            "Error @\n"
            "Throughput test with #9 processes\n"
            "Children see throughput for  #9 @ \t=   @ kB/sec\n"
            "Child[#9] xfer count =  1024.00 kB, Throughput =  120.00 kB/sec\n",
            {
                "factors": [9],
                "rows": [9, 60],
                "tool-failed": [200],
                "unknown-operation": [40],
                "unknown-unit": [40, 60],
            },
        ),
        (
            '"Writer report"\n"4"\n"64" 1@\n',
            {"invalid-number": [40]},
        ),
        (
            "Client connecting to 10.0.0.2, TCP port 5001\n"
            "iperf ver @\n"
            "connect failed @\n"
            "[#9] local 1 port 1 connected with 2\n"
            "[#9] 0.00-10.00 sec  1.00 MBytes  8 Mbits/sec 0.5 ms #9/#9\n",
            {"tool-failed": [160], "version": [60]},
        ),
        (
            '{"start": {"version": "iperf @", "system_info": "@", "test_start": {"protocol": "@"}}, "end": {}, '
            '"error": "iperf 3. @"}\n',
            {"factors": [10], "facts": [300], "tool-failed": [160], "version": [60]},
        ),
        (
            "Connecting to host \niperf3: error @\n[  5] 0.00-10.00 sec 1 MBytes 8 Mbits/sec  #9 sender\n",
            {"tool-failed": [160]},
        ),
        (
            "# darshan log version: 3.4\n"
            "# exe: @\n"
            "# jobid: @\n"
            "total_POSIX_MODE: @\n"
            "total_POSIX_READS: @\n"
            "# POSIX module data\n"
            "# agg_perf_by_slowest: @\n",
            {"facts": [40, 2000], "invalid-number": [40]},
        ),
    ],
)
def test_what_a_reading_repeats_of_a_file_is_cut(text, lengths):
    assert repeated_lengths(text) == lengths
