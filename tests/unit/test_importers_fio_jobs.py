"""Jobs of one fio output are settings: never summed, never a part of a name; threads and servers of a job are ranks."""

import json

import pytest

from iosonde.importers.registry import understand
from iosonde.importers.runs import build_runs
from iosonde.importers.text import Text

KIB = 1024


def entry(job, group, rate, size=4 * KIB, *, write=False, percentile=None, **options):
    """Return fio's object of one entry that ran for 2 s."""
    section = {
        "io_bytes": int(2 * rate * size),
        "bw_bytes": rate * size,
        "iops": float(rate),
        "runtime": 2000,
        "total_ios": 2 * rate,
        "clat_ns": {"mean": 1.0, "N": 2 * rate, "percentile": {"99.000000": percentile}} if percentile else {},
    }
    return {
        "jobname": job,
        "groupid": group,
        "error": 0,
        "job options": {"bs": str(size), **options},
        "write" if write else "read": section,
    }


def read(entries, key="jobs", **more):
    document = {"fio version": "fio-3.33", "global options": {"ioengine": "libaio"}, key: entries, **more}
    text = Text(json.dumps(document, indent=1).encode(), "x.json")
    understood = understand(text)
    (parsed,) = understood.runs
    return parsed, build_runs(understood, text, "e")


def by_job(runs):
    return {
        run.factors["job"]: {(row.operation, row.metric): row.value for row in run.observations if row.rank is None}
        for run in runs
    }


def codes(parsed):
    return [note.sentence.code for note in parsed.warnings]


FILE = [
    entry("oltp", 0, 100, rw="randread", iodepth="8", percentile=7_000),
    entry("stream", 0, 10, 64 * KIB, write=True, rw="write"),
    entry("later", 1, 50, rw="randread"),
]


def test_jobs_are_settings_of_one_file_with_operations_of_plain_names():
    parsed, runs = read(FILE)
    assert {row.operation for row in parsed.rows} == {"read", "write"}
    assert parsed.factors == {"engine": "libaio"}
    assert [run.factors["job"] for run in runs] == ["oltp", "stream", "later"]
    assert [run.factors["block_size"] for run in runs] == [4 * KIB, 64 * KIB, 4 * KIB]
    assert [run.factors["io_depth"] for run in runs] == [8, 1, 1]  # fio's default, as another job sets it
    assert by_job(runs)["oltp"]["read", "completion_latency_p99"] == 7e-6
    assert by_job(runs)["later"]["read", "rate_last_done"] == 50
    assert parsed.facts["groups"] == [["oltp", "stream"], ["later"]]
    assert codes(parsed).count("concurrent-jobs") == 1


@pytest.mark.parametrize(("option", "setting"), [("fsync", "fsync_every"), ("end_fsync", "end_fsync")])
def test_a_job_without_an_option_that_another_sets_has_fios_default(option, setting):
    _, runs = read([entry("a", 0, 100, rw="read"), entry("b", 1, 10, rw="read", **{option: "1"})])
    assert [run.factors[setting] for run in runs] == [0, 1]


@pytest.mark.parametrize(("more", "is_stated"), [({}, True), ({"buffered": "0"}, False), ({"bssplit": "4k/50"}, False)])
def test_all_options_are_stated_unless_one_sets_what_another_does(more, is_stated):
    parsed, _ = read([entry("a", 0, 100, rw="write", write=True, **more)])
    assert parsed.facts.get("states_all_options", False) is is_stated


def test_one_job_is_no_factor():
    parsed, (run,) = read(FILE[:1])
    assert "job" not in run.factors
    assert parsed.facts["job"] == "oltp"
    assert run.factors["block_size"] == 4 * KIB
    assert {row.metric for row in run.observations} >= {"rate_last_done"}


def test_threads_of_one_of_several_jobs_are_summed_and_not_averaged():
    _, runs = read([entry("a", 0, 100), *[entry("b", 1, rate, numjobs="2") for rate in (30, 40)]])
    assert by_job(runs)["a"]["read", "rate_sum_of_ranks"] == 100
    assert by_job(runs)["b"]["read", "rate_sum_of_ranks"] == 70
    assert [run.factors["ranks"] for run in runs] == [1, 2]


def test_a_job_that_repeats_after_a_stonewall_is_an_iteration():
    _, (run,) = read([entry("a", 0, 100), entry("a", 1, 300)])
    rates = [(row.repetition, row.value) for row in run.observations if row.metric == "rate_last_done"]
    assert rates == [(0, 100), (1, 300)]


def test_servers_are_ranks_of_their_own_job_and_the_total_of_all_jobs_is_no_result():
    servers = [one | {"hostname": name} for name in ("n1", "n2") for one in FILE]
    total = entry("All clients", 1, 320, percentile=9_000)
    parsed, runs = read([*servers, total], "client_stats")
    assert {job: values.get(("read", "rate_sum_of_ranks")) for job, values in by_job(runs).items()} == {
        "oltp": 200,
        "stream": None,
        "later": 100,
    }
    assert by_job(runs)["stream"]["write", "bandwidth_sum_of_ranks"] == 2 * 10 * 64 * KIB
    assert [run.factors["block_size"] for run in runs] == [4 * KIB, 64 * KIB, 4 * KIB]
    assert not [row for row in parsed.rows if row.rank is None and row.metric.endswith("p99")]
    assert all(run.factors["ranks"] == 2 for run in runs)


@pytest.mark.parametrize(
    ("rate", "metric", "is_noted"), [(200, "rate_last_done", False), (2000, "rate_sum_of_ranks", True)]
)
def test_the_total_of_all_servers_counts_if_it_is_their_sum(rate, metric, is_noted):
    clients = [FILE[0] | {"hostname": name} for name in ("n1", "n2")]
    parsed, (run,) = read([*clients, entry("All clients", 0, rate, percentile=9_000)], "client_stats")
    whole = {row.metric: row.value for row in run.observations if row.rank is None}
    assert whole[metric] == 200
    assert ("completion_latency_p99" in whole) != is_noted
    assert ("total-mismatch" in codes(parsed)) == is_noted


def test_settings_of_clients_that_fio_does_not_print_are_unknown():
    def strip(part):
        return {key: value for key, value in part.items() if key != "job options"}

    servers = [
        one | {"hostname": name}
        for name in ("n1", "n2")
        for one in (FILE[0], strip(FILE[1]), strip(entry("c", 2, 7, 700)))
    ]
    parsed, runs = read(servers, "client_stats")
    oltp, stream, mixed = ({name: run.factors[name] for name in run.factors if name != "tool"} for run in runs)
    assert parsed.factors == {"engine": "libaio"}
    assert (oltp["block_size"], oltp["io_depth"], oltp["ranks"]) == (4 * KIB, 8, 2)
    assert stream == {"engine": "libaio", "job": "stream", "block_size": 64 * KIB}
    assert mixed == {"engine": "libaio", "job": "c"}
    only = read([strip(FILE[1]) | {"hostname": "n1"}], "client_stats")[0]
    assert only.factors == {"engine": "libaio", "block_size": 64 * KIB}


def test_histograms_of_clients_give_the_percentiles_of_all():
    def with_bins(name, bins):
        part = entry("a", 0, sum(bins.values()) // 2, rw="read", percentile=max(bins))
        part["read"]["clat_ns"]["bins"] = {str(at): count for at, count in bins.items()}
        return part | {"hostname": name}

    servers = [with_bins("n1", {1000: 98, 2000: 2}), with_bins("n2", {1000: 100, 3000: 200})]
    _, (run,) = read(servers, "client_stats")
    whole = {row.metric: row.value for row in run.observations if row.rank is None}
    assert whole["completion_latency_p99"] == 3e-6
    total = entry("All clients", 0, 200, percentile=2500)
    _, (run,) = read([*servers, total], "client_stats")
    values = [row.value for row in run.observations if row.rank is None and row.metric == "completion_latency_p99"]
    assert values == [2.5e-6]  # fio's own number of all, not ours besides


def test_a_group_of_several_settings_has_the_settings_of_none():
    merged = entry("a", 0, 100, rw="write") | {"write": entry("a", 0, 10, 64 * KIB, write=True)["write"]}
    parsed, (run,) = read([merged])
    assert "merged-jobs" in codes(parsed)
    assert not {"rw", "block_size"} & run.factors.keys()


TEXT = """a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=8
b: (g=0): rw=write, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=psync, iodepth=1
fio-3.33
"""
REPORT = """{name}: (groupid=0, jobs={jobs}): err= 0: pid=1: Sat Nov 21 09:32:21 2026
  {direction}: IOPS={rate}, BW=100MiB/s (105MB/s)(200MiB/2000msec)
"""
END = "\nRun status group 0 (all jobs):\n"


def read_text(*reports):
    text = Text((TEXT + "".join(REPORT.format(**report) for report in reports) + END).encode(), "x.txt")
    understood = understand(text)
    return build_runs(understood, text, "e")


def test_each_job_of_a_text_has_its_own_settings():
    jobs = (
        {"name": "a", "jobs": 1, "direction": "read", "rate": 5},
        {"name": "b", "jobs": 1, "direction": "write", "rate": 7},
    )
    runs = read_text(*jobs)
    assert [run.factors["block_size"] for run in runs] == [4 * KIB, 64 * KIB]
    assert [run.factors["rw"] for run in runs] == ["randread", "write"]
    assert by_job(runs)["b"]["write", "rate_last_done"] == 7


@pytest.mark.parametrize(
    ("printed", "size"),
    [
        ("(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B", 4 * KIB),
        ("4K-4K/4K-4K/4K-4K", 4 * KIB),
        ("(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB", 1024 * KIB),
        # As in fio's JSON: bs=4k,64k, bs=512,1m,4k, bsrange=4k-64k, and bs=10000, which is rounded here.
        ("(R) 4096B-4096B, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB", "4k,64k"),
        ("(R) 512B-512B, (W) 1024KiB-1024KiB, (T) 4096B-4096B", "512,1m,4k"),
        ("(R) 4096B-64.0KiB, (W) 4096B-64.0KiB, (T) 4096B-64.0KiB", None),
        ("(R) 9.77KiB-9.77KiB, (W) 9.77KiB-9.77KiB, (T) 9.77KiB-9.77KiB", None),
    ],
)
def test_the_block_size_of_a_text_is_that_of_the_json(printed, size):
    line = f"a: (g=0): rw=randrw, bs={printed}, ioengine=psync, iodepth=1\nfio-3.33\n"
    report = REPORT.format(name="a", jobs=1, direction="read", rate=5)
    [run] = understand(Text(f"{line}{report}{END}".encode(), "x.txt")).runs
    assert run.factors.get("block_size") == size and run.factors["engine"] == "psync"


def test_a_whole_group_of_a_text_has_the_settings_that_its_jobs_share():
    (run,) = read_text({"name": "a", "jobs": 2, "direction": "read", "rate": 5})
    assert run.factors["engine"] == "psync"
    assert not {"rw", "block_size", "io_depth"} & run.factors.keys()
    assert run.facts["job"] == "a + b"


def test_terse_lines_of_several_jobs_are_settings():
    lines = "\n".join(";".join(["3", "fio-3.33", job, "0", "0", "1", "1", "1", "1", *["0"] * 120]) for job in "ab")
    text = Text(f"x\n{lines}\n".encode(), "x.txt")
    assert [run.factors.get("job") for run in build_runs(understand(text), text, "e")] == ["a", "b"]


SAMPLES = """   bw (  KiB/s): min=  400, max= 2000, per=99.95%, avg={bandwidth}, stdev=26.62, samples=24516
   iops        : min=  100, max=  500, avg={rate}, stdev= 6.34, samples=12253
"""


@pytest.mark.parametrize(
    ("jobs", "rate", "samples"), [(1, 132.5, 132.5), (1, 30, 30), (4, 132.5, 132.5), (4, 25.25, None)]
)
def test_the_means_of_samples_are_metrics_of_their_own(jobs, rate, samples):
    """Older versions print the mean of one thread on the line of several: that is no number of the whole."""
    report = REPORT.format(name="c", jobs=jobs, direction="read", rate=100)
    text = f"{report}{SAMPLES.format(bandwidth=rate * 1024, rate=rate)}{END}"
    values = {row.metric: row.value for row in understand(Text(text.encode(), "x.txt")).runs[0].rows}
    assert values["rate_last_done"] == 100
    assert values.get("rate_sample_mean") == samples


def test_a_cut_line_of_samples_gives_no_mean():
    report = REPORT.format(name="c", jobs=1, direction="read", rate=100)
    for end in range(60, 80):
        text = f"{report}{SAMPLES.format(bandwidth=4096.5, rate=1)[:end]}\n{END}"
        rows = understand(Text(text.encode(), "x.txt")).runs[0].rows
        assert {row.value for row in rows if "sample" in row.metric} <= {4096.5 * 1024}


HEAD = "w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8\n...\n"
RESULT = """fio-3.35
Starting 6 processes

w: (groupid=0, jobs=6): err= 0: pid=77: Sun Jan 28 03:09:31 2024
  write: IOPS=205k, BW=803MiB/s (842MB/s)(235GiB/300002msec); 0 zone resets

Run status group 0 (all jobs):
  WRITE: bw=803MiB/s (842MB/s), 803MiB/s-803MiB/s (842MB/s-842MB/s), io=235GiB (252GB), run=300002-300002msec

Disk stats (read/write):
  nvme4n1: ios=4/61620044, merge=0/0, ticks=0/0, in_queue=0, util=99.99%
"""


def read_texts(text):
    return understand(Text(text.encode(), "x.txt")).runs


def test_a_head_at_the_end_of_a_buffered_output_is_of_the_results_above_it():
    (run,) = read_texts(RESULT + HEAD)
    assert not run.missing
    assert run.factors == {"rw": "randwrite", "engine": "libaio", "io_depth": 8, "block_size": 4096, "ranks": 6}


def test_a_head_between_two_results_is_of_the_second():
    first, second = read_texts(RESULT + HEAD + RESULT)
    assert (first.factors, second.factors["io_depth"]) == ({"ranks": 6}, 8)
    assert not first.missing and not second.missing


@pytest.mark.parametrize("first", [RESULT, HEAD + RESULT])
def test_a_head_whose_fio_was_started_and_killed_is_a_run_without_result(first):
    other = HEAD.replace("w:", "other:", 1) if first == RESULT else f"{HEAD}fio-3.35\nStarting 6 processes\n"
    _, killed = read_texts(first + other)
    assert killed.missing and killed.factors["io_depth"] == 8


READ_HEAD = "r1: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1\n"
READ_RESULT = """fio-3.35
Starting 1 process

r1: (groupid=0, jobs=1): err= 0: pid=77: Sun Jan 28 22:26:41 2024
  read: IOPS=80.4k, BW=314MiB/s (329MB/s)(25.5GiB/83287msec)

Run status group 0 (all jobs):
   READ: bw=314MiB/s (329MB/s), 314MiB/s-314MiB/s (329MB/s-329MB/s), io=25.5GiB (27.4GB), run=83287-83287msec
"""


@pytest.mark.parametrize(
    ("end", "complete"),
    [
        (READ_HEAD, [True]),  # buffered, and written by two processes
        (READ_HEAD.replace("depth=1", "depth=2"), [True, False]),
        (READ_HEAD + "fio-3.35\nStarting 1 process\n", [True, False]),
        (READ_HEAD + READ_RESULT, [True, True]),
    ],
)
def test_a_head_that_is_written_twice_is_no_second_run(end, complete):
    found = understand(Text((READ_HEAD + READ_RESULT + end).encode(), "x.txt"))
    assert [not run.missing for run in found.runs] == complete
    assert {run.factors["io_depth"] for run in found.runs if run.rows} == {1}
