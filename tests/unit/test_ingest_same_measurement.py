"""Several files of one measurement are one run: fio's JSON, text and logs, IOzone's sheet, vdbench's and Darshan's."""

from __future__ import annotations

import json
import random
import shutil
from itertools import permutations
from pathlib import Path

import pytest

import iosonde
from iosonde.importers import Parsed, Row
from iosonde.importers.fio_logs import LogName, read_log_name
from iosonde.ingest.same_measurement import join_accounts, join_directory_accounts, may_repeat
from iosonde.store import Store

FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"
START = "Sun Nov 29 20:00:01 2026"


class Job:
    """A thread of fio with its operations: (end in ms, latency in ns, 0 read or 1 write)."""

    def __init__(self, name="j", group=0, operations=(), **options):
        self.name, self.group, self.options = name, group, options
        self.operations = list(operations) or [(at, 1000 + 10 * at + len(name), at % 2) for at in range(40)]

    def entry(self, others=()):
        every = [each for job in (self, *others) for each in job.operations]
        entry = {"jobname": self.name, "groupid": self.group, "error": 0, "job options": self.options}
        for code, direction in enumerate(("read", "write")):
            values = [ns for _, ns, at in every if at == code]
            entry[direction] = {"total_ios": 0, "io_bytes": 0} | (
                {
                    "total_ios": len(values),
                    "io_bytes": 4096 * len(values),
                    "bw_bytes": 4096 * len(values) * 25,
                    "iops": len(values) * 25.0,
                    "runtime": 40,
                    "lat_ns": {"mean": sum(values) / len(values) + 10, "min": min(values), "max": max(values)},
                    "clat_ns": {
                        "mean": sum(values) / len(values),
                        "N": len(values),
                        "percentile": {"99.000000": max(values)},
                    },
                }
                if values
                else {}
            )
        return entry

    def logs(self, number, prefix="l", kinds=("lat", "clat", "bw")):
        lines = {
            "lat": [f"{ms}, {ns + 10}, {code}, 4096, 0" for ms, ns, code in self.operations],
            "clat": [f"{ms}, {ns}, {code}, 4096, 0" for ms, ns, code in self.operations],
            "bw": [f"{ms}, 4000, {code}, 4096, 0" for ms, ns, code in self.operations],
            "slat": [],
        }
        return {f"{prefix}_{kind}.{number}.log": "".join(f"{line}\n" for line in lines[kind]) for kind in kinds}


def document(*entries, time=START, **options):
    return json.dumps(
        {"fio version": "fio-3.33", "time": time, "global options": options, "jobs": list(entries)}, indent=1
    )


def write_files(place: Path, *files: dict[str, str]) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for name, text in (item for several in files for item in several.items()):
        (place / name).write_text(text)
    return place


def import_directory(place: Path, store: Path):
    """The counts of an import, and its runs; a second import adds nothing."""
    counts = iosonde.import_files(place, store, recursive=True).to_dict()
    again = iosonde.import_files(place, store, recursive=True).to_dict()
    assert again["runs"] == 0 and again["joined"] == 0
    opened = Store.open(store)
    return counts, [opened.run(name, operations=True) for name in opened.run_ids()]


def test_fios_json_and_its_logs_are_one_run_with_each_operation_once(tmp_path):
    job = Job(write_lat_log="l", write_bw_log="l")
    logs = job.logs(1, kinds=("lat", "clat", "bw", "slat"))
    counts, runs = import_directory(
        write_files(tmp_path / "in", {"o.json": document(job.entry())}, logs), tmp_path / "s"
    )
    assert (counts["runs"], counts["joined"], counts["incomplete"]) == (1, 4, 0)
    assert {Path(each["into"]).name for each in counts["joined_files"]} == {"o.json"}
    (run,) = runs
    assert run.factors["tool"] == "fio" and len(run.operations) == 40
    assert sorted(run.operations["duration_ns"]) == sorted(ns + 10 for _, ns, _ in job.operations)
    values = {(row.operation, row.metric) for row in run.observations}
    assert {("read", "bandwidth_last_done"), ("read", "bandwidth_sample_mean")} <= values
    assert len(values) == len(run.observations)
    assert sorted(run.raw) == sorted({"o.json", *logs} - {"l_slat.1.log"})


def test_a_job_names_its_logs_where_no_option_does(tmp_path):
    job = Job("randread")
    counts, _ = import_directory(
        write_files(tmp_path / "in", {"o.json": document(job.entry())}, job.logs(1, "randread")), tmp_path / "s"
    )
    assert (counts["runs"], counts["joined"]) == (1, 3)


def test_jobs_of_other_settings_get_their_own_operations(tmp_path):
    jobs = [Job("a", 0, iodepth="2"), Job("a", 0, iodepth="2"), Job("bb", 1, iodepth="4")]
    jobs[1].operations = [(at, 5000, 0) for at in range(20)]
    logs = [job.logs(number) for number, job in enumerate(jobs, 1)]
    place = write_files(
        tmp_path / "in",
        {"o.json": document(*(job.entry() for job in jobs), write_lat_log="l", write_bw_log="l")},
        *logs,
    )
    counts, runs = import_directory(place, tmp_path / "s")
    assert (counts["runs"], counts["joined"]) == (2, 9)
    by_job = {run.factors["job"]: run for run in runs}
    assert {name: len(run.operations) for name, run in by_job.items()} == {"a": 60, "bb": 40}
    assert {rank: sum(by_job["a"].operations["rank"] == rank) for rank in (0, 1)} == {0: 40, 1: 20}


def test_threads_that_fio_merged_have_all_their_operations(tmp_path):
    threads = [Job(numjobs="2", write_lat_log="l"), Job()]
    threads[1].operations = [(at, 7000, 1) for at in range(30)]
    logs = [job.logs(number, kinds=("lat", "clat")) for number, job in enumerate(threads, 1)]
    place = write_files(tmp_path / "in", {"o.json": document(threads[0].entry(threads[1:]))}, *logs)
    counts, (run,) = import_directory(place, tmp_path / "s")
    assert (counts["runs"], len(run.operations), sorted(set(run.operations["rank"]))) == (1, 70, [0, 1])


def test_logs_belong_to_the_execution_that_wrote_them_last(tmp_path):
    first, last = Job(write_lat_log="l"), Job(write_lat_log="l")
    first.operations = [(at, 1100 + at, 0) for at in range(40)]
    files = {"a.json": document(first.entry()), "b.json": document(last.entry(), time=START.replace("01", "09"))}
    counts, runs = import_directory(
        write_files(tmp_path / "in", files, last.logs(1, kinds=("lat", "clat"))), tmp_path / "s"
    )
    assert counts["runs"] == 2
    assert {run.facts["import"]["file"]: run.operations is not None for run in runs} == {
        "a.json": False,
        "b.json": True,
    }


def test_logs_of_another_execution_are_a_run_of_their_own_and_that_is_noted(tmp_path):
    job, other = Job(write_lat_log="l"), Job()
    other.operations = other.operations[:-1]
    files = {"a.json": document(job.entry())}
    counts, runs = import_directory(
        write_files(tmp_path / "in", files, other.logs(1, kinds=("lat", "clat"))), tmp_path / "s"
    )
    assert (counts["runs"], counts["joined"]) == (2, 1)
    (logs,) = [run for run in runs if run.factors["tool"] == "fio-log"]
    assert len(logs.operations) == 39
    assert any("a.json" in warning for warning in logs.facts["import"]["warnings"])


def test_two_executions_that_may_both_have_written_averages_get_none(tmp_path):
    job = Job(write_bw_log="l")
    averages = {"l_bw.1.log": "10, 4000, 0, 0, 0\n35, 4000, 1, 0, 0\n"}
    one = write_files(tmp_path / "one", {"a.json": document(job.entry())}, averages)
    assert import_directory(one, tmp_path / "s1")[0]["runs"] == 1
    both = {"a.json": document(job.entry()), "b.json": document(job.entry(), time=START.replace("01", "09"))}
    assert import_directory(write_files(tmp_path / "two", both, averages), tmp_path / "s2")[0]["runs"] == 3


def test_logs_without_their_json_are_one_run_for_each_prefix(tmp_path):
    job = Job()
    place = write_files(tmp_path / "in", job.logs(1), job.logs(2), job.logs(1, "m", ("clat",)))
    counts, runs = import_directory(place, tmp_path / "s")
    assert (counts["runs"], counts["joined"]) == (2, 5)
    by_size = {len(run.operations): run for run in runs}
    assert set(by_size) == {80, 40}
    assert "part" not in by_size[80].factors and sorted(set(by_size[80].operations["rank"])) == [0, 1]
    metrics = {row.metric for row in by_size[80].observations}
    assert {"latency_p99", "completion_latency_p99", "bandwidth_sample_mean"} <= metrics


TEXT = """fio-3.33
j: (groupid=0, jobs=1): err= 0: pid=4141: Sun Nov 29 20:00:01 2026
  read: IOPS=500, BW=2000KiB/s (2048kB/s)(80.0KiB/40msec)
    clat (nsec): min=1001, max=1381, avg=1191.00, stdev=115.30
  write: IOPS=500, BW=2000KiB/s (2048kB/s)(80.0KiB/40msec); 0 zone resets
    clat (nsec): min=1011, max=1391, avg=1201.00, stdev=115.30

Run status group 0 (all jobs):
   READ: bw=2000KiB/s (2048kB/s), 2000KiB/s-2000KiB/s, io=80.0KiB (81.9kB), run=40-40msec
"""


@pytest.mark.parametrize(
    ("text", "n_runs"),
    [
        (TEXT, 1),
        (TEXT.replace("20:00:01", "20:00:02"), 1),  # printed a second later
        (TEXT.replace("20:00:01", "20:00:09"), 2),  # a repetition with the same numbers
        (TEXT.replace("IOPS=500, BW=2000KiB/s", "IOPS=520, BW=2080KiB/s"), 2),
        (TEXT.replace("40msec", "41msec"), 2),
    ],
)
def test_fios_text_and_json_of_one_execution_are_one_run(tmp_path, text, n_runs):
    files = {"o.json": document(Job().entry()), "o.out": text}
    counts, runs = import_directory(write_files(tmp_path / "in", files), tmp_path / "s")
    assert counts["runs"] == n_runs
    assert any(run.facts["import"]["file"] == "o.json" for run in runs)


def test_what_one_account_lacks_the_run_lacks(tmp_path):
    files = {
        "o.json": document(Job().entry()),
        "o.out": TEXT.replace("Run status", "fio: terminating on signal 2\nRun"),
    }
    counts, (run,) = import_directory(write_files(tmp_path / "in", files), tmp_path / "s")
    assert counts["incomplete"] == 1
    assert any("o.out" in sentence for sentence in run.missing)


def test_two_executions_of_equal_numbers_stay_two(tmp_path):
    files = {f"{at}.json": document(Job().entry(), time=START.replace("01", f"{at:02d}")) for at in (11, 15)}
    assert import_directory(write_files(tmp_path / "in", files), tmp_path / "s")[0]["runs"] == 2


@pytest.mark.parametrize("name", ["out.xls", "renamed.xls"])
def test_iozones_text_and_sheet_are_one_run_for_each_cell(tmp_path, name):
    place = write_files(tmp_path / "in")
    shutil.copy(FIXTURES / "iozone/gen-v489-Rab.xls", place / name)
    shutil.copy(FIXTURES / "iozone/gen-v489-Rab-xls-stdout.txt", place / "zone.txt")
    counts, runs = import_directory(place, tmp_path / "s")
    assert counts["joined"] == 1 and not counts["incomplete"]
    assert {run.started_at for run in runs} == {"2026-11-21T09:28:42"}
    sizes = [(run.factors["file_size"], run.factors["record_size"]) for run in runs]
    assert len(sizes) == len(set(sizes))


VDBENCH = """
10:00:00.000 Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=5; For loops: threads=8 xfersize=4k
Jan 05, 2024    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth
10:00:05.000     avg_2-5      104.5     0.25    4096  50.72    0.012    0.010    0.016     0.50     0.40    0.015    0.0
10:00:05.000 Vdbench execution completed successfully
"""
FLATFILE = """<pre>
         tod               timestamp Run  Interval reqrate rate MB/sec bytes/io read% resp xfersize threads version
10:00:05.000 01/05/2024-10:00:05-CET rd1  avg_2-5  999988  104.52 0.2506  4096     50.7  0.0123 4096     8       50407
"""


def test_the_files_of_a_vdbench_directory_are_one_run(tmp_path):
    files = {"summary.html": f"Vdbench{VDBENCH}", "totals.html": f"Vdbench{VDBENCH}\n", "flatfile.html": FLATFILE}
    counts, (run,) = import_directory(write_files(tmp_path / "in", files), tmp_path / "s")
    assert (counts["runs"], counts["joined"]) == (1, 2)
    assert [row.value for row in run.observations if (row.operation, row.metric) == ("all", "rate")] == [104.5]
    elsewhere = write_files(tmp_path / "other", {"a.html": f"Vdbench{VDBENCH}", "b.html": FLATFILE})
    assert import_directory(elsewhere, tmp_path / "s2")[0]["runs"] == 2


def test_two_prints_of_one_darshan_log_are_one_run(tmp_path):
    place = write_files(tmp_path / "in")
    for name in ("sample-files.txt", "sample-total-perf.txt"):
        shutil.copy(FIXTURES / "darshan" / name, place)
    totals = (place / "sample-total-perf.txt").read_text()
    # Darshan rounds each time of a file, or their sum.
    (place / "sample-total-perf.txt").write_text(totals.replace("WRITE_TIME: 4.000000", "WRITE_TIME: 4.000002"))
    counts, (run,) = import_directory(place, tmp_path / "s")
    assert counts["runs"] == 1
    assert {part["name"] for part in run.facts["io_counters"]["files"]} >= {"/scratch/app/out.dat"}
    text = (place / "sample-files.txt").read_text()
    (place / "sample-files.txt").write_text(text.replace("4711", "4713"))
    assert import_directory(place, tmp_path / "s2")[0]["runs"] == 2


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"l_lat.1.log": b"", "l_clat.1.log": b""}, True),
        ({"l_lat.1.log": b"", "o.json": b'{\n "fio version"'}, True),
        ({"o.out": b"j: (g=0): rw=read", "o.json": b'{\n "fio version"'}, True),
        ({"o.out": b"j: (g=0): rw=read", "x_iops.1.log": b""}, True),
        ({"o.out": b"j: (g=0): rw=read", "p.out": b"j: (g=0): rw=read", "x_iops.1.log": b""}, False),
        ({"a.json": b'{\n "fio version"', "o.json": b'{\n "fio version"'}, False),
        ({"a": b"\tIozone: Performance Test", "b": b"\tIozone: Performance Test"}, False),
        ({"a": b"\tIozone: Performance Test", "b": b"\x09\x00\x04"}, True),
        ({"a": b"# darshan log version: 3.41", "b": b"# darshan log version: 3.41"}, True),
    ],
)
def test_directories_are_read_together_only_where_files_may_repeat_each_other(files, expected):
    assert may_repeat(list(files.items())) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/l_lat.1.log", LogName("l", "lat", 1)),
        ("l_clat.log.gz", LogName("l", "clat", 0)),
        ("my_job_bw.12.log", LogName("my_job", "bw", 12)),
        ("o.log", None),
    ],
)
def test_the_name_of_a_log_has_its_prefix_kind_and_thread(name, expected):
    assert read_log_name(name) == expected


def build_accounts() -> list[tuple[str, Parsed]]:
    """Accounts of five executions of three tools, some told twice, some with equal numbers."""

    def account(tool, value, start="", form="", command="", **more):
        rows = [Row("read", "time", value, "s", 1), Row("read", "bandwidth_last_done", value * 1e6, "bytes/s", 1)]
        facts = {"command": command} if command else {}
        return Parsed(tool=tool, rows=rows, started_at=start, form=form, facts=facts, **more)

    return [
        ("a.json", account("fio", 2.0, "2026-11-29T20:00:01", "json")),
        ("a.out", account("fio", 2.0, "2026-11-29T20:00:02", "text")),
        ("b.json", account("fio", 2.0, "2026-11-29T20:01:01", "json")),
        ("z.log", account("iozone", 2.0, "2026-11-29T20:00:01", "", "iozone -b z.xls")),
        ("z.xls", account("iozone", 2.0, "", "sheet", "iozone -b z.x")),
        ("job.log", account("mdtest", 3.0, "2026-11-29T20:00:01")),
        ("job.log", account("mdtest", 3.0, "2026-11-29T20:00:04")),
        ("m.out", account("mdtest", 3.0, "2026-11-29T20:00:04")),
        ("dd1.txt", account("dd", 3.0)),
        ("dd2.txt", account("dd", 3.0)),
    ]


def test_joining_does_not_depend_on_the_order_of_the_files():
    def join(order):
        accounts = build_accounts()
        joined = join_accounts([accounts[index] for index in order])
        return sorted((name, parsed.started_at, sorted(others)) for name, parsed, others in joined)

    expected = join(range(10))
    assert [(name, others) for name, _, others in expected if others] == [
        ("a.json", ["a.out"]),
        ("m.out", ["job.log"]),
        ("z.log", ["z.xls"]),
    ]
    assert len(expected) == 7
    rng = random.Random(1)
    for _ in range(300):
        assert join(rng.sample(range(10), 10)) == expected


def test_logs_join_in_every_order_of_the_files(tmp_path):
    from iosonde.importers import read, understand

    job = Job(write_lat_log="l", write_bw_log="l")
    place = write_files(tmp_path, {"o.json": document(job.entry())}, job.logs(1))

    def understand_file(path: Path):
        with path.open("rb") as file:
            return path.name, understand(read(file, path.name)).runs[0]

    for order in permutations(sorted(place.iterdir())):
        joined, into = join_directory_accounts([understand_file(path) for path in order])
        assert [(name, len(parsed.operations)) for name, parsed in joined] == [("o.json", 40)]
        assert into == dict.fromkeys(job.logs(1), "o.json")


def test_a_server_that_cannot_open_the_clients_output_file_makes_no_run_incomplete(tmp_path):
    text = f"<vm> fio: output file open error: No such file or directory\n\n{document(Job().entry())}\n"
    counts, (run,) = import_directory(write_files(tmp_path / "in", {"c.json": text}), tmp_path / "s")
    assert (counts["runs"], counts["incomplete"]) == (1, 0)
    assert any("error" in warning for warning in run.facts["import"]["warnings"])
    broken = text.replace('"error": 0', '"error": 5')
    assert import_directory(write_files(tmp_path / "bad", {"c.json": broken}), tmp_path / "s2")[0]["incomplete"] == 1


def build_text(rate: str, name: str = "j") -> dict[str, str]:
    """Return the output of a thread that read for 30 s."""
    head = f"{name}: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, ioengine=libaio, iodepth=8\nfio-3.0\n"
    job = f"\n{name}: (groupid=0, jobs=1): err= 0: pid=27: Thu Aug 17 10:34:09 2017\n"
    result = f"  read: IOPS={rate}, BW=1555MiB/s (1630MB/s)(45.6GiB/30001msec)\n"
    return {f"{name}.out": f"{head}{job}{result}\nRun status group 0 (all jobs):\n   READ: bw=1555MiB/s\n"}


def build_averages(*rates: int, prefix: str = "x", step: int = 5000, end: int = 30001) -> dict[str, str]:
    times = [*range(step, end - 1, step), end]
    lines = [f"{ms}, {rate}, 0, 0\n" for ms, rate in zip(times, rates, strict=True)]
    return {f"{prefix}_iops.1.log": "".join(lines)}


FIRST_RIGHT = (397_812, 1_211_230, 1_403_775, 1_452_208, 1_498_044, 1_536_931)
STEADY = (398_000, 397_000, 399_000, 398_000, 398_500, 397_500)


def list_contradictions(runs) -> list[str]:
    return [entry["code"] for run in runs for entry in run.facts.get("contradictions", ())]


@pytest.mark.parametrize(("rates", "codes"), [(FIRST_RIGHT, ["S135"]), (STEADY, [])])
def test_averages_of_the_only_text_of_a_directory_are_compared_with_its_rate(tmp_path, rates, codes):
    place = write_files(tmp_path / "a", build_text("398k"), build_averages(*rates))
    _, runs = import_directory(place, tmp_path / "s")
    assert (len(runs), list_contradictions(runs)) == (1, codes)


@pytest.mark.parametrize(
    "files",
    [
        (build_text("398k"), build_text("12k", "k"), build_averages(*FIRST_RIGHT)),
        (build_text("398k"), build_averages(*FIRST_RIGHT), build_averages(*STEADY, prefix="y")),
        (build_text("398k"), build_averages(1_200_000, 1_300_000, 1_200_000, step=5000, end=15001)),
    ],
    ids=["two outputs", "two prefixes", "shorter"],
)
def test_averages_that_may_be_of_another_execution_contradict_nothing(tmp_path, files):
    place = write_files(tmp_path / "a", *files)
    _, runs = import_directory(place, tmp_path / "s")
    assert (len(runs), list_contradictions(runs)) == (len(files), [])


def test_averages_with_a_gap_contradict_nothing(tmp_path):
    log = {"x_iops.1.log": "5000, 1200000, 0, 0\n10000, 1200000, 0, 0\n30001, 1200000, 0, 0\n"}
    _, runs = import_directory(write_files(tmp_path / "a", build_text("398k"), log), tmp_path / "s")
    assert (len(runs), list_contradictions(runs)) == (2, [])


def test_two_prints_of_a_darshan_log_that_only_printed_are_one_run(tmp_path):
    head = "# darshan log version: 3.41\n# jobid: 5\n# start_time: 1700000000\n# nprocs: 1\n# run time: 9\n"
    counters = {"WRITES": 500, "BYTES_WRITTEN": 4000, "F_WRITE_TIME": 2.0}
    lines = [f"STDIO\t0\t7\tSTDIO_{name}\t{value}\t/x/a.txt\t/x\text4\n" for name, value in counters.items()]
    totals = [f"total_STDIO_{name}: {value}\n" for name, value in counters.items()]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "files.txt").write_text(head + "".join(lines))
    (tmp_path / "in" / "total.txt").write_text(head + "".join(totals))
    iosonde.import_files(tmp_path / "in", tmp_path / "s", recursive=True)
    (run,) = Store.open(tmp_path / "s").runs()
    (file,) = run["facts"]["io_counters"]["buffered"]["files"]
    assert file["name"] == "/x/a.txt"
