"""One execution of IO500 is one run: its list, the tools' own files, what stands beside and above them."""

from __future__ import annotations

import re
import tarfile
from dataclasses import replace
from pathlib import PurePath
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.importers import Claim, Note, Parsed, Row, Text, Understood
from iosonde.importers.fio_bins import merge_percentiles
from iosonde.importers.io500_execution import Execution, FilePart, is_execution, join_directory
from iosonde.importers.runs import compute_digest
from iosonde.ingest import related_files
from iosonde.ingest.related_files import Member
from iosonde.ingest.same_measurement import join_accounts
from iosonde.store import Store
from messages import assert_problem, codes
from terminal import command_of

import_command = command_of("import")

MIB, GIB = 1024.0**2, 1024.0**3
BANDWIDTHS = {"ior-easy-write": 4.0, "ior-hard-write": 1.0, "ior-easy-read": 4.0, "ior-hard-read": 1.0}
RATES = dict.fromkeys(
    [
        "mdtest-easy-write",
        "mdtest-hard-write",
        "find",
        "mdtest-easy-stat",
        "mdtest-hard-stat",
        "mdtest-easy-delete",
        "mdtest-hard-read",
        "mdtest-hard-delete",
    ],
    16.0,
)
EXE = "./ior -e -t 2m -b 1m -F -w -a posix --posix.odirect -o /x"


def result(factor=1.0):
    """``result.txt``; every rate is ``factor`` times as high."""
    text = "version         = io500-isc24\n; START 2024-05-03 09:25:44\n[run]\nprocs           = 8\n"
    for name, value in (BANDWIDTHS | RATES).items():
        text += (
            f"[{name}]\nexe             = {EXE}\nscore           = {factor * value:.6f}\nt_delta         = 300.5\n\n"
        )
    scores = f"MD              = {16 * factor:.6f}\nBW              = {2 * factor:.6f}\n"
    return text + f"[SCORE]\n{scores}SCORE           = {32**0.5 * factor:.6f}\n"


def summary(factor=1.0):
    """``result_summary.txt`` of the same."""
    text = "IO500 version io500-isc24 (standard)\n"
    for names, unit in ((BANDWIDTHS, "GiB/s"), (RATES, "kIOPS")):
        for name, value in names.items():
            text += f"[RESULT]  {name:>20} {factor * value:15.6f} {unit} : time 300.500 seconds\n"
    return text + (
        f"[SCORE ] Bandwidth {2 * factor:.6f} GiB/s : IOPS {16 * factor:.6f} kiops : TOTAL {32**0.5 * factor:.6f}\n"
    )


def ior(bandwidth=4096.0):
    return f"""IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Fri May  3 09:25:50 2024
Command line        : {EXE}
api                 : POSIX
nodes               : 2
tasks               : 8
clients per node    : 4
repetitions         : 1
xfersize            : 2 MiB
blocksize           : 1 MiB
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     {bandwidth}     2048       0.000080    1024       2048.00    0.026540   300.1     0.012107   300.5     0
Finished            : Fri May  3 09:30:50 2024
"""


INFORMATION = 'io500_info_filesystem_type="Lustre"\nio500_info_ds_storage_type="NVMe"\nio500_info_ds_network="HDR"\n'


def directory(at, **files):
    """An execution's files; ``__`` in a name stands for ``.``, and ``_`` for ``-``."""
    at.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (at / name.replace("__", ".").replace("_", "-").replace("result-summary", "result_summary")).write_text(text)
    return at


def whole(at, factor=1.0):
    return directory(
        at,
        result__txt=result(factor),
        result_summary__txt=summary(factor),
        ior_easy_write__txt=ior(4096.0 * factor),
        system_information__txt=INFORMATION,
        config__ini="[global]\ndatadir = /x\n",
    )


def imported(place, store, **words):
    return iosonde.import_files(place, store, recursive=True, **words).to_dict()


def only(store):
    (name,) = Store.open(store).run_ids()
    return Store.open(store).run(name)


def of(run, operation, metric):
    return [one.value for one in run.observations if (one.operation, one.metric) == (operation, metric)]


@pytest.mark.parametrize(("offset_s", "n_findings"), [(4.0, 1), (0.0, 0)])
def test_clocks_of_nodes_that_differ_are_found_by_the_list_beside_iors_output(tmp_path, offset_s, n_findings):
    times = {"0.026540": 0.02654, "300.1 ": 300.1, "0.012107": 0.012107, "300.5 ": 300.5}
    text = ior()
    for words, seconds in times.items():
        text = text.replace(words, f"{seconds + offset_s:.6f} ")
    imported(directory(tmp_path / "in", result__txt=result(), ior_easy_write__txt=text), tmp_path / "s")
    findings = [
        finding for finding in iosonde.check(str(tmp_path / "s")).to_dict()["findings"] if finding["code"] == "S146"
    ]
    assert [finding["evidence"]["operation"] for finding in findings] == ["ior_easy_write"] * n_findings


def test_the_files_of_one_execution_are_one_run_without_doubles(tmp_path):
    made = imported(whole(tmp_path / "in"), tmp_path / "s")
    assert (made["runs"], made["joined"], made["incomplete"]) == (1, 2, 0)
    text = CliRunner().invoke(import_command, ["-r", str(tmp_path / "in"), "--store", str(tmp_path / "t")]).stdout
    assert re.search(r"\b2 files\b", text)
    run = only(tmp_path / "s")
    names = [(one.operation, one.metric, one.rank) for one in run.observations]
    assert len(names) == len(set(names))
    assert of(run, "ior_easy_write", "bandwidth_last_done") == [4 * GIB]
    assert of(run, "ior_easy_write", "open_time") == [0.026540]  # which IOR's own file alone has
    assert of(run, "score", "total") == [pytest.approx(32**0.5, rel=1e-6)]
    assert {one.operation for one in run.observations}.isdisjoint({"write", "read"})
    assert run.facts["import"]["doubles"] == ["result_summary.txt"]
    assert set(run.raw) == {"result.txt", "ior-easy-write.txt", "config.ini", "system-information.txt"}


@pytest.mark.parametrize("pattern", ["{institution}/{system}/...", "in/{institution}/{system}/..."])
def test_the_factors_are_those_of_all_files(tmp_path, pattern):
    whole(tmp_path / "in/DKRZ/Mistral/2024")
    imported(tmp_path / "in", tmp_path / "s", factors_from=pattern)
    run = only(tmp_path / "s")
    assert run.factors == {
        "tool": "io500",
        "nodes": 2,
        "ranks": 8,
        "ranks_per_node": 4,
        "transfer_size": 2 << 20,
        "api": "POSIX",
        "direct": 1,
        "file_system": "Lustre",
        "storage": "NVMe",
        "network": "HDR",
        "institution": "DKRZ",
        "system": "Mistral",
    }
    assert run.facts["date"] == "2024-05-03" and "year" not in run.factors
    assert run.facts["commands"]["ior_easy_write"] == EXE


def test_without_the_tools_files_the_commands_of_the_list_say_it(tmp_path):
    directory(tmp_path / "in", result__txt=result(), mdtest_easy_stat__txt="")
    assert imported(tmp_path / "in", tmp_path / "s")["runs"] == 1
    factors = only(tmp_path / "s").factors
    assert (factors["api"], factors["direct"], factors["transfer_size"]) == ("POSIX", 1, 2 << 20)
    assert factors["ranks"] == 8 and "nodes" not in factors


def test_the_version_of_mpi_io_is_no_part_of_the_api(tmp_path):
    text = ior().replace(": POSIX", ": MPIIO (version=3, subversion=1)")
    imported(directory(tmp_path / "in", result__txt=result(), ior_easy_write__txt=text), tmp_path / "s")
    assert only(tmp_path / "s").factors["api"] == "MPIIO"


def test_what_stands_above_tells_of_the_same_run_and_of_another_one_its_own(tmp_path):
    top = tmp_path / "in"
    whole(top / "results" / "2024.05.03")
    (top / "slurm-17.out").write_text("srun: job 17\n" + summary())
    assert imported(top, tmp_path / "s")["runs"] == 1
    (top / "slurm-18.out").write_text("srun: job 18\n" + summary(3.0))
    assert imported(top, tmp_path / "t")["runs"] == 2
    again = imported(top, tmp_path / "t")
    assert (again["runs"], again["joined"], again["already_there"]) == (0, 0, 5)


def test_two_executions_and_the_copy_of_one_are_two_runs(tmp_path):
    top = tmp_path / "in"
    whole(top / "results" / "1")
    whole(top / "results" / "2", 2.0)
    directory(top, result_summary__txt=summary(2.0))
    with tarfile.open(top / "all.tgz", "w:gz") as packed:
        packed.add(top / "results" / "1", "copy/1")
    assert imported(top, tmp_path / "s")["runs"] == 2
    store = Store.open(tmp_path / "s")
    assert sorted(of(store.run(name), "ior_easy_write", "bandwidth_last_done")[0] for name in store.run_ids()) == [
        4 * GIB,
        8 * GIB,
    ]


def test_the_list_of_one_system_beside_another_one_is_no_run_of_that_one(tmp_path):
    top = tmp_path / "in"
    for number, place in enumerate(["a/one", "b/two", "c/three", "d/four"], 1):
        whole(top / place / "results", number)
    directory(top / "a/one", result_summary__txt=summary(2.0))  # in its place b's
    directory(top / "d/four/results", io_500_summary__old__txt=summary(3.0))
    directory(top / "c/three/results", io_500_summary__old__txt=summary(3.0))
    made = imported(top, tmp_path / "s", factors_from="{site}/{system}/...")
    assert (made["runs"], made["incomplete"]) == (4, 0)
    store = Store.open(tmp_path / "s")
    runs = [store.run(name) for name in store.run_ids()]
    bandwidths = {run.factors["system"]: of(run, "ior_easy_write", "bandwidth_last_done")[0] / GIB for run in runs}
    assert bandwidths == {"one": 4, "two": 8, "three": 12, "four": 16}


def old(name, value, invalid=""):
    kind, unit = ("BW  ", "GB/s") if name.startswith("ior") else ("IOPS", "kiops")
    return f"[RESULT{invalid}] {kind} phase 1 {name:>25} {value:20.3f} {unit} : time 300.00 seconds\n"


def log(lived, listed):
    """A log of 2018: each phase when it ends, and before the score what the directory holds."""
    said = "".join(f"[Starting]\n{old(*one)}" for one in lived) + "[Exiting]\n"
    return said + "".join(old(*one) for one in listed) + "[SCORE-invalid] Bandwidth 0 GB/s : IOPS 0 kiops : TOTAL 0\n"


def test_attempts_in_one_directory_are_each_what_they_measured(tmp_path):
    first = [("ior_easy_write", 4.0), ("ior_hard_write", 1.0), ("mdtest_easy_write", 20.0)]
    second = [("mdtest_hard_write", 60.0, "-invalid"), ("mdtest_hard_stat", 70.0)]
    third = [("mdtest_hard_write", 50.0), ("mdtest_hard_stat", 80.0)]
    top = directory(
        tmp_path / "in",
        result_summary__txt=summary(),
        io_500_summary__1__txt=log(first, first)[:-40],
        io_500_summary__2__txt=log(second, [*first, *second]),
        io_500_summary__3__txt=log(third, [*first, *second, *third]),
    )
    assert imported(top, tmp_path / "s")["runs"] == 3
    store = Store.open(tmp_path / "s")
    runs = {run.facts["import"]["file"].split("/")[-1]: run for run in map(store.run, store.run_ids())}
    assert [name for name, run in runs.items() if not run.missing] == ["result_summary.txt"]
    went_on, again = runs["io-500-summary.2.txt"], runs["io-500-summary.3.txt"]
    assert {one.operation for one in went_on.observations} == {name for name, *_ in (*first, *second)}
    assert {one.operation for one in again.observations} == {name for name, *_ in third}
    assert of(again, "mdtest_hard_write", "rate_last_done") == [50e3]
    assert any("several attempts" in one for one in again.missing)


def test_a_phase_of_another_execution_gives_no_number(tmp_path):
    directory(tmp_path / "in", result__txt=result(), ior_easy_write__txt=ior(8192.0))
    assert imported(tmp_path / "in", tmp_path / "s")["runs"] == 1
    run = only(tmp_path / "s")
    assert of(run, "ior_easy_write", "bandwidth_last_done") == [4 * GIB] and not of(run, "ior_easy_write", "open_time")
    assert any("8.59e+09 bytes/s" in said and "4.295e+09" in said for said in run.facts["import"]["warnings"])


def test_phases_without_a_list_are_an_incomplete_run(tmp_path):
    directory(tmp_path / "in", ior_easy_write__txt=ior(), ior_hard_write__txt=ior(1024.0))
    made = imported(tmp_path / "in", tmp_path / "s")
    assert (made["runs"], made["incomplete"]) == (1, 1)
    run = only(tmp_path / "s")
    assert "result.txt" in run.missing[0] and "result_summary.txt" in run.missing[0]
    assert of(run, "ior_hard_write", "bandwidth_last_done") == [1024 * MIB]


def test_a_cut_list_gives_way_to_the_whole_one(tmp_path):
    text = result()
    directory(
        tmp_path / "in",
        result__txt=text[: text.index("[SCORE]")],
        result_summary__txt=summary(),
        ior_easy_write__txt=ior(),
    )
    assert imported(tmp_path / "in", tmp_path / "s")["incomplete"] == 0
    assert of(only(tmp_path / "s"), "score", "bandwidth") == [2 * GIB]


def test_a_format_that_is_named_reads_each_file(tmp_path):
    directory(tmp_path / "in", result__txt=result(), ior_easy_write__txt=ior(), ior_hard_write__txt=ior(1024.0))
    assert imported(tmp_path / "in", tmp_path / "s", format="ior")["runs"] == 2


@pytest.mark.parametrize(
    ("names", "one"),
    [
        (["result.txt", "ior-easy-write.txt"], True),
        (["ior_easy_read.txt", "mdtest_hard_stat.txt"], True),
        (["result.txt", "result_summary.txt"], True),
        (["ior-easy-write.txt", "ior-easy-write.csv"], False),
        (["a.txt", "find.csv", "result.txt"], False),
    ],
)
def test_a_list_with_a_phase_or_two_phases_are_an_execution(names, one):
    assert is_execution(names) is one


def test_the_rate_at_the_stonewall_in_another_unit_is_left_out(tmp_path):
    text = result().replace("score           = 4.0", "throughput-stonewall = 2651.79\nscore           = 4.0", 1)
    (tmp_path / "result.txt").write_text(text)
    iosonde.import_files(tmp_path / "result.txt", tmp_path / "s")
    run = only(tmp_path / "s")
    assert not of(run, "ior_easy_write", "bandwidth_first_done")
    assert any("throughput-stonewall" in said and "ior_easy_write" in said for said in run.facts["import"]["warnings"])


# The parts of an execution, joined without files.


def row(operation: str, metric: str, value: float, **more) -> Row:
    return Row(operation, metric, value, "", 1, **more)


def part(name: str, *rows: Row, **more) -> FilePart:
    return FilePart(name, Parsed(rows=list(rows), **more), Claim(90, 1, ""))


def listed(name: str = "result.txt", bandwidth: float = 4.0, rate: float = 16.0, **more) -> FilePart:
    rows = (
        row("ior_easy_write", "bandwidth_last_done", bandwidth * GIB),
        row("find", "rate_last_done", rate * 1e3),
    )
    return part(name, *rows, **more)


def names(parts) -> list[str]:
    return [one.name for one in parts]


def sorted_parts(execution) -> tuple[list[str], list[str], list[str]]:
    return names(execution.used), names(execution.doubles), names(execution.unused)


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        ([listed()], (["result.txt"], [], [])),
        ([listed("log"), listed("result_summary.txt"), listed()], (["result.txt"], ["result_summary.txt", "log"], [])),
        # Old lists have three decimals: 0.0005 of 4 GiB/s is within their step, 0.001 of it is the tolerance.
        ([listed(), listed("log", 4.0039)], (["result.txt"], ["log"], [])),
        ([listed(), listed("log", 4.0041)], (["result.txt"], [], ["log"])),
        ([listed(bandwidth=0.1), listed("log", 0.1005)], (["result.txt"], ["log"], [])),
        ([listed(bandwidth=0.1), listed("log", 0.1006)], (["result.txt"], [], ["log"])),
        ([listed(), listed("a", 5), listed("b", 5)], (["result.txt"], ["b"], ["a"])),
        ([listed(missing=[Note(1, "cut")]), listed("log")], (["log"], ["result.txt"], [])),
        # A phase's own file is within 5 %, or of another execution.
        (
            [listed(), part("ior-easy-write.txt", row("write", "bandwidth_last_done", 3.81 * GIB))],
            (["result.txt"], ["ior-easy-write.txt"], []),
        ),
        (
            [listed(), part("ior-easy-write.txt", row("write", "open_time", 1.0))],
            (["result.txt", "ior-easy-write.txt"], [], []),
        ),
        (
            [listed(), part("find.csv", row("find", "x", 1.0, iteration=0), row("find", "x", 2.0, iteration=1))],
            (["result.txt"], [], ["find.csv"]),
        ),
        ([listed(), part("other.txt", row("x", "time", 1.0)), part("empty.txt")], (["result.txt"], [], ["other.txt"])),
        ([part("other.txt", row("x", "time", 1.0))], None),
        ([part("ior-easy-write.txt")], None),
    ],
)
def test_the_files_of_a_directory_are_used_doubles_or_of_another_execution(parts, joined):
    execution = join_directory(parts)
    assert (None if execution is None else sorted_parts(execution)) == joined


def test_a_phase_that_contradicts_the_list_is_left_out_with_both_values():
    execution = join_directory([listed(), part("ior-easy-write.txt", row("write", "bandwidth_last_done", 3.79 * GIB))])
    [note] = execution.parsed.warnings
    assert_problem(note.sentence, "other-execution", file="ior-easy-write.txt", phase="ior_easy_write", listed=4 * GIB)
    assert execution.parsed.rows == listed().parsed.rows


def test_values_of_phases_get_their_names_and_no_statistics_of_a_single_value():
    ior_file = part(
        "ior-easy-write.txt",
        row("write", "bandwidth_last_done", 4 * GIB, iteration=0),
        row("write", "bandwidth_max", 4 * GIB),
        row("write", "bandwidth_min", 3 * GIB),
        row("write", "bandwidth_sd", 0.0),
        row("write", "open_time", 0.5, iteration=0),
        row("read", "open_time", 0.25, iteration=0),
        row("write", "bandwidth_own", 1 * GIB, rank=1),
    )
    mdtest_file = part(
        "mdtest-easy-stat.txt",
        row("file_stat", "rate_last_done", 9.0, iteration=0),
        row("file_stat", "rate_sd", 2.0),
        row("tree_creation", "rate_last_done", 7.0, iteration=0),
    )
    execution = join_directory([listed(), ior_file, mdtest_file])
    assert [(one.operation, one.metric, one.rank) for one in execution.parsed.rows] == [
        ("ior_easy_write", "bandwidth_last_done", None),
        ("find", "rate_last_done", None),
        ("ior_easy_write", "bandwidth_min", None),
        ("ior_easy_write", "open_time", None),
        ("ior_easy_write_read", "open_time", None),
        ("ior_easy_write", "bandwidth_own", 1),
        ("mdtest_easy_stat", "rate_last_done", None),
        ("mdtest_easy_stat", "rate_sd", None),
        ("mdtest_easy_stat_tree_creation", "rate_last_done", None),
    ]
    assert {one.line for one in execution.parsed.rows[2:]} == {0}


def test_without_a_list_the_phases_are_incomplete_and_begin_when_the_first_did():
    first = part("ior-hard-read.txt", row("read", "bandwidth_last_done", 1.0), started_at="2024-05-03T09:00:00")
    first.parsed.lacks(3, "cut")
    second = part("find.csv", row("find", "time", 1.0), started_at="2024-05-04T09:00:00")
    run = join_directory([second, first]).parsed
    assert (run.tool, run.headline, run.started_at) == ("io500", ("bandwidth", "rate", "total"), "2024-05-03T09:00:00")
    assert [(one.operation, one.metric) for one in run.rows] == [
        ("ior_hard_read", "bandwidth_last_done"),
        ("find", "time"),
    ]
    assert codes(note.sentence for note in run.missing) == ["no-results", ""]
    assert run.facts == {"date": "2024-05-03"}


@pytest.mark.parametrize(
    ("factors", "information", "wanted"),
    [
        ({}, "", {}),
        ({"nodes": 2, "ranks": 8}, "", {"nodes": 2, "ranks": 8, "ranks_per_node": 4}),
        ({"nodes": 3, "ranks": 8}, "", {"nodes": 3, "ranks": 8}),
        ({"ranks": 8, "ranks_per_node": 4}, "", {"nodes": 2, "ranks": 8, "ranks_per_node": 4}),
        ({"ranks": 9, "ranks_per_node": 4}, "", {"ranks": 9, "ranks_per_node": 4}),
        ({"nodes": 2, "ranks_per_node": 4}, "", {"nodes": 2, "ranks": 8, "ranks_per_node": 4}),
        (
            {"ranks": 8},
            'io500_info_client_nodes="4"\nio500_info_filesystem_name="fs"\nio500_info_client_network="IB"\n',
            {"nodes": 4, "ranks": 8, "ranks_per_node": 2, "file_system": "fs", "network": "IB"},
        ),
        (
            {"nodes": 2},
            'io500_info_client_nodes="4"\nio500_info_client_procs_per_node="16"\n',
            {"nodes": 2, "ranks": 32, "ranks_per_node": 16},
        ),
    ],
)
def test_nodes_ranks_and_ranks_per_node_complete_each_other(factors, information, wanted):
    assert join_directory([listed(factors=factors)], information).parsed.factors == wanted


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("ior -t 2m -a mpiio", {"transfer_size": 2**21, "api": "MPIIO", "direct": 0}),
        ("ior -t 4k --posix.odirect", {"transfer_size": 4096, "direct": 1}),
        ("ior -B -t x", {"direct": 1}),
        ("ior useO_DIRECT=1", {"direct": 1}),
    ],
)
def test_the_command_of_the_easy_phase_says_what_its_file_does_not(command, wanted):
    execution = join_directory([listed(facts={"commands": {"ior-easy-write": command}})])
    assert execution.parsed.factors == wanted
    assert execution.parsed.facts == {"commands": {"ior_easy_write": command}}


def test_the_names_of_a_directory_are_those_of_an_execution_if_two_are_lists_or_phases():
    named = {
        ("result.txt",): False,
        ("result.txt", "result_summary.txt"): True,
        ("ior-easy-write.txt", "ior-easy-write.csv"): False,
        ("ior-easy-write.txt", "mdtest_hard_stat.txt"): True,
        ("ior-easy-write.txt", "find.txt"): False,
        ("result.txt", "find.txt"): False,
        ("result.txt", "ior-rnd4K-easy-read.txt", "io-500-summary.1.txt"): True,
        ("result.json", "x.txt"): False,
    }
    assert {each: is_execution(each) for each in named} == named


def elbencho_part(command: str = "elbencho -w", seconds: float = 2.0, **more) -> Parsed:
    return Parsed(tool="elbencho", facts={"command": command}, rows=[row("write", "time_last_done", seconds)], **more)


def test_the_forms_of_one_execution_of_elbencho_are_joined_and_its_repetitions_are_not():
    text = elbencho_part("elbencho  -w", 2.0014, started_at="2026-11-21T09:00:00", factors={"threads": 2, "x": 1})
    text.rows.append(row("write", "latency_p99", 0.5))
    text.lacks(3, "cut")
    exact = elbencho_part(started_at="2026-11-21T09:00:01", factors={"threads": 4}, version="3.1")
    joined = join_accounts(
        [
            ("a/x.txt", text),
            ("a/x.json", exact),
            ("a/x.csv", elbencho_part("elbencho,-w", 2.002)),
            ("a/y.json", Parsed()),
        ]
    )
    assert [(name, others) for name, _, others in joined] == [
        ("a/x.json", ["a/x.txt"]),
        ("a/x.csv", []),
        ("a/y.json", []),
    ]
    run = joined[0][1]
    assert run is exact and (run.version, run.started_at) == ("3.1", "2026-11-21T09:00:00")
    assert run.factors == {"threads": 4, "x": 1} and len(run.missing) == 1
    assert [(one.metric, one.value, one.line) for one in run.rows] == [
        ("time_last_done", 2.0, 1),
        ("latency_p99", 0.5, 0),
    ]
    twice = join_accounts([("a/x.json", elbencho_part()), ("a/x.json", elbencho_part())])
    assert [others for _, _, others in twice] == [[], []]


def histogram(bins: dict, n: int, *levels: str) -> dict:
    return {"bins": bins, "N": n, "percentile": dict.fromkeys(levels, 5)}


@pytest.mark.parametrize(
    ("threads", "percentiles"),
    [
        ([histogram({"10": 3, "20": 1}, 4, "50.0", "75.0", "76.0")], {50.0: 10, 75.0: 10, 76.0: 20}),
        (
            [histogram({"10": 3, "20": 1}, 4, "50.0", "99.0"), histogram({"5": 4}, 4, "50.0", "90.0")],
            {50.0: 5},
        ),
        ([histogram({"10": 3}, 4, "50.0")], None),
        ([histogram({}, 0, "50.0")], None),
        ([histogram({"10": 4}, 4, "50.0"), histogram({"x": 4}, 4, "50.0")], None),
    ],
)
def test_histograms_of_threads_are_added(threads, percentiles):
    assert merge_percentiles(threads) == percentiles


def test_a_list_that_is_within_another_one_hands_on_that_it_is_invalid():
    def resumed(name: str, *values: float) -> FilePart:
        operations = ("ior_easy_write", "ior_hard_write", "ior_easy_read")
        return part(
            name,
            *(
                row(operation, "bandwidth_last_done", value * GIB)
                for operation, value in zip(operations, values, strict=False)
            ),
        )

    def join_marked(*parts: FilePart):
        parts[-1].parsed.mark_invalid(1, "bad")
        execution = join_directory([listed(), *parts])
        return sorted_parts(execution), {one.name: len(one.parsed.invalid) for one in parts}

    # The shorter list comes after the longer one, and before it.
    wide, narrow = resumed("a", 7, 8, 9), resumed("b", 7, 8)
    assert join_marked(wide, narrow) == ((["result.txt"], ["b"], ["a"]), {"a": 1, "b": 1})
    narrow, wide = resumed("a", 7, 8), resumed("b", 7, 8, 9)
    narrow.parsed.mark_invalid(1, "worse")
    assert join_marked(narrow, wide) == ((["result.txt"], ["a"], ["b"]), {"a": 1, "b": 2})
    same = listed("log")
    same.parsed.mark_invalid(1, "bad")
    assert codes(note.sentence for note in join_directory([listed(), same]).parsed.invalid) == [""]


# Which files are read together.


def grouped(contents: dict[str, bytes]) -> list[list[str]]:
    """The groups of files with these contents, by path."""
    groups = related_files.group_files(
        list(contents), PurePath, lambda name: contents[name][:20], lambda name: contents[name]
    )
    return [list(group) for group in groups]


def execution_files(*folders: str) -> dict[str, bytes]:
    return {f"{at}/{name}": at.encode() for at in folders for name in ("result.txt", "ior-easy-write.txt")}


def in_folders(groups: list[list[str]]) -> list[list[str]]:
    """The folders of each group."""
    return [list(dict.fromkeys(str(PurePath(name).parent) for name in group)) for group in groups]


MANY = [f"top/{at}/r" for at in range(21)]


@pytest.mark.parametrize(
    ("contents", "folders"),
    [
        ({"a/x.txt": b"", "a/y.txt": b"", "b/x.txt": b""}, [["a"], ["a"], ["b"]]),
        (execution_files("a") | {"b/x": b"", "a/x": b""}, [["a"], ["b"]]),
        (execution_files("top/a") | {"top/x": b"", "other/x": b""}, [["top/a", "top"], ["other"]]),
        (execution_files("a/r", "b/r", "c/r"), [["a/r", "b/r", "c/r"]]),
        (execution_files("a/r", "b/r", "c/r", "d/r"), [["a/r"], ["b/r"], ["c/r"], ["d/r"]]),
        (execution_files("a/r", "b/r", "c/r", "d/r") | {"a/x": b"1"}, [["a/r", "a"], ["b/r"], ["c/r"], ["d/r"]]),
        (execution_files("t/a", "t/b", "t/c", "t/d") | {"t/x": b""}, [["t/a", "t/b", "t/c", "t/d", "t"]]),
        (execution_files(*MANY[:20]) | {"top/x": b""}, [[*MANY[:20], "top"]]),
        (execution_files(*MANY) | {"top/x": b""}, [*([one] for one in MANY), ["top"]]),
        (execution_files("t/a", "t/a/b") | {"t/a/b/c/x": b""}, [["t/a", "t/a/b"], ["t/a/b/c"]]),
    ],
)
def test_an_execution_is_read_with_what_stands_above_it(contents, folders):
    assert in_folders(grouped(contents)) == folders


FOUR = execution_files("a/r", "b/r", "c/r", "d/r", "e/r")


@pytest.mark.parametrize(
    ("copies", "folders"),
    [
        ({"a/r/result.txt": b"1", "d/r/result.txt": b"1"}, [["a/r", "d/r"], ["b/r"], ["c/r"], ["e/r"]]),
        (
            {"a/r/ior-easy-write.txt": b"1", "d/r/ior-easy-write.txt": b"1"},
            [["a/r"], ["b/r"], ["c/r"], ["d/r"], ["e/r"]],
        ),
        ({"a/r/result.txt": b"", "d/r/result.txt": b""}, [["a/r"], ["b/r"], ["c/r"], ["d/r"], ["e/r"]]),
        (
            dict.fromkeys(["a/r/result.txt", "b/r/result.txt", "e/r/result.txt"], b"1"),
            [["a/r", "b/r", "e/r"], ["c/r"], ["d/r"]],
        ),
        (
            dict.fromkeys(["a/r/result.txt", "b/r/result.txt", "c/r/result.txt", "e/r/result.txt"], b"1"),
            [["a/r"], ["b/r"], ["c/r"], ["d/r"], ["e/r"]],
        ),
        (
            {"a/r/result.txt": b"1", "b/r/result.txt": b"1", "b/r/result_summary.txt": b"2", "c/r/result.txt": b"2"},
            [["a/r", "b/r", "c/r"], ["d/r"], ["e/r"]],
        ),
        ({"x/result.txt": b"a/r"}, [["a/r"], ["b/r"], ["c/r"], ["d/r"], ["e/r"], ["x"]]),  # beside no phase
    ],
)
def test_executions_with_the_same_list_are_read_together_unless_many_have_it(copies, folders):
    assert in_folders(grouped(FOUR | copies)) == folders


ELBENCHO, IOR, MDTEST = b"ISO date,label,path", b"IOR-4.0.0: MPI", b"\n-- started at 05/03/"


@pytest.mark.parametrize(
    ("heads", "repeated"),
    [
        ({"a.csv": ELBENCHO}, True),
        ({"a.CSV": ELBENCHO}, True),
        ({"a.bin": ELBENCHO}, False),
        ({"a.csv": b"x" + ELBENCHO}, False),
        ({"a.txt": IOR, "b": MDTEST}, True),
        ({"a.out": IOR, "b.log": b"x\nmdtest-4"}, True),
        ({"a.out": IOR, "b.log": b"x"}, False),
        ({"a.out": IOR, "b.bin": IOR}, False),
        ({}, False),
    ],
)
def test_a_folder_in_which_files_often_repeat_each_other(heads, repeated):
    assert related_files._is_repeated(list(heads), PurePath, lambda name: heads[name]) is repeated
    if heads:
        groups = grouped({f"f/{name}": head for name, head in heads.items()})
        assert len(groups) == (1 if repeated else len(heads))


def test_a_large_folder_is_read_file_by_file(monkeypatch):
    files = {f"f/{at}.csv": ELBENCHO for at in range(3)}
    monkeypatch.setattr(related_files, "MOST_FILES", 3)
    assert len(grouped(files)) == 1
    monkeypatch.setattr(related_files, "MOST_FILES", 2)
    assert len(grouped(files)) == 3


def parsed(tool="ior", started_at="2024-05-03T09:25:50", value=1.0, operation="write", metric="m", **more) -> Parsed:
    return Parsed(rows=[row(operation, metric, value)], started_at=started_at, **more, tool=tool)


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        ({}, 1),
        ({"tool": "mdtest"}, 2),
        ({"started_at": "2024-05-03T09:25:51"}, 2),
        ({"value": 2.0}, 2),
        ({"operation": "read"}, 2),
        ({"metric": "n"}, 2),
    ],
)
def test_one_execution_in_two_files_stays_in_the_one_with_fewer(other, kept):
    log = [parsed(**other, missing=[Note(3, "cut")]), parsed(value=7.0)]
    first = parsed()
    own = {"log": list(log), "a.txt": [first], "z": [parsed(value=9.0)]}
    related_files._join_accounts(["log", "a.txt", "none"], own)
    assert own == {"log": log[2 - kept :], "a.txt": [first], "z": own["z"]}
    assert [note.line for note in first.missing] == [0] * (2 - kept)


@pytest.mark.parametrize("more", [{"started_at": ""}, {"rows": []}])
def test_what_has_no_start_or_no_number_is_no_copy(more):
    both = [replace(parsed(), **more) for _ in range(2)]
    own = {"a": both[:1], "b": both[1:]}
    related_files._join_accounts(["a", "b"], own)
    assert own == {"a": both[:1], "b": both[1:]}


def test_what_elbencho_wrote_in_several_files_is_joined_into_one():
    def of_elbencho(value: float) -> Parsed:
        return parsed("elbencho", value=value, metric="rate_last_done", facts={"command": "elbencho x"})

    ior_run = parsed()
    own = {"w.out": [of_elbencho(5.2), ior_run], "w.csv": [of_elbencho(5.0)], "other": [of_elbencho(5.0)]}
    related_files._join_accounts(["w.out", "w.csv"], own)
    assert {name: [(one.tool, one.rows[0].value) for one in several] for name, several in own.items()} == {
        "w.out": [("ior", 1.0)],
        "w.csv": [("elbencho", 5.0)],
        "other": [("elbencho", 5.0)],
    }
    assert own["w.csv"][0].facts["joined_with"] == ["w.out"]
    alone = {"w.out": [replace(of_elbencho(5.0), started_at="") for _ in range(2)]}
    before = {name: list(several) for name, several in alone.items()}
    related_files._join_accounts(["w.out"], alone)
    assert alone == before and "joined_with" not in alone["w.out"][0].facts


def member(path: str, *runs: Parsed, raw: bytes = b"") -> Member:
    understood = Understood("x", Claim(90, 1, ""), {}, list(runs)) if runs else None
    return Member(path, PurePath(path), Text(raw, path), understood)


def test_the_nearest_description_of_the_system_is_taken():
    files = [member(f"{at}system-information.txt", raw=at.encode()) for at in ("a/", "a/b/", "a/b/c/", "d/")]
    files.append(member("a/b/x.txt", raw=b"x"))
    for folder, content in (("a/b", "a/b/"), ("a/b/x", "a/b/"), ("a", "a/"), ("e", ""), ("d/e/f", "d/")):
        assert related_files._find_information(PurePath(folder), files) == content


def test_folders_are_taken_with_the_largest_first():
    files = [member(path) for path in ("a/1", "b/1", "b/2", "c/1", "b/3", "c/2")]
    groups = related_files._group_folders(files)
    assert [[one.name for one in group] for group in groups] == [["b/1", "b/2", "b/3"], ["c/1", "c/2"], ["a/1"]]


def test_a_list_belongs_to_the_execution_with_the_same_results():
    execution, other = join_directory([listed()]), join_directory([listed(bandwidth=9.0)])
    executions = {"other": other, "result.txt": execution}
    copy = listed(invalid=[Note(3, "invalid")]).parsed
    ior_run = parsed()
    for run, belongs in ((copy, True), (listed(bandwidth=5.0).parsed, False), (ior_run, False)):
        assert related_files._is_part_of_execution(run, executions) is belongs
        assert related_files._adopt_list(run, "top/log", executions) is belongs
    assert [len(one.parsed.invalid) for one in (other, execution)] == [0, 1]
    assert related_files._adopt_list(execution.parsed, "x", executions)  # itself: nothing to take over
    assert len(execution.parsed.invalid) == 1
    assert not related_files._is_part_of_execution(copy, {})


def test_a_run_keeps_its_files_and_those_of_its_settings():
    paths = ("in/result.txt", "in/ior-easy-write.txt", "in/config:x.ini", "in/unused.txt", "in/.system-information.txt")
    files = [member(path, raw=path.encode()) for path in paths]
    base = FilePart(paths[0], Parsed(), Claim(90, 1, ""))
    execution = Execution(
        Parsed(), base, [base, replace(base, name=paths[1])], doubles=[replace(base, name=f"in/{one}") for one in "zaz"]
    )
    runs = [SimpleNamespace(raw={"result.txt": b"1"}, facts={"import": {"file": "x"}}) for _ in range(2)]
    related_files._keep_files(runs, execution, files[0], files)
    names = ["ior-easy-write.txt", "config_x.ini", "system-information.txt"]
    assert list(runs[0].raw) == ["result.txt", *names]
    assert runs[0].raw[names[0]] == b"in/ior-easy-write.txt"
    kept = [files[0], files[1], files[2], files[4]]
    expected = {one.place.name: compute_digest(one.text.raw) for one in kept}
    assert runs[0].facts["import"] == {"file": "x", "files": expected, "doubles": ["a", "z"]}
    assert (runs[1].raw, runs[1].facts) == ({"result.txt": b"1"}, {"import": {"file": "x"}})


def test_a_long_name_keeps_its_end():
    files = [member("result.txt"), member("in/" + "x" * 200 + "config.ini", raw=b"1")]
    base = FilePart("result.txt", Parsed(), Claim(90, 1, ""))
    run = SimpleNamespace(raw={}, facts={"import": {}})
    related_files._keep_files([run], Execution(Parsed(), base, [base]), files[0], files)
    assert list(run.raw) == ["x" * 110 + "config.ini"]


def test_the_version_of_a_log_is_looked_for_among_the_imported_files_and_beside_them(tmp_path):
    contents = {
        PurePath("in/w_clat.log"): b"1, 2",
        PurePath("in/any.txt"): b"fio-2.16\n",
        PurePath("in/r/r_lat.1.log"): b"1, 2",
        PurePath("in/bw.log"): b"fio-3.1\n",
        PurePath(tmp_path / "r_clat.log"): b"",
        PurePath("alone/w_slat.log"): b"",
    }
    (tmp_path / "r.out").write_bytes(b"fio-3.28\n")
    limits = []

    def content(place: PurePath, limit: int) -> bytes:
        limits.append(limit)
        return contents[place] if "fio-3.1" not in contents[place].decode() else b""

    versions = related_files.find_adjacent_versions(list(contents), content)
    assert versions == {
        PurePath("in/w_clat.log"): ("2.16", "any.txt"),
        PurePath("in/r/r_lat.1.log"): ("2.16", "any.txt"),
        PurePath(tmp_path / "r_clat.log"): ("3.28", "r.out"),
    }
    assert set(limits) == {65536}


@pytest.mark.parametrize(
    ("theirs", "is_joined"),
    [
        ({"time_last_done": 2.0014}, True),
        ({"time_last_done": 2.0016}, False),
        ({"bandwidth_last_done": 101.009 * MIB}, True),
        ({"bandwidth_last_done": 98.98 * MIB}, False),
        ({"rate_last_done": 51.01}, True),
        ({"rate_last_done": 51.02}, False),
        ({"access_rate_last_done": 68.995}, True),
        ({"access_rate_last_done": 68.98}, False),
        ({"time_last_done": 2.0, "rate_last_done": 60.0}, False),
        ({"latency_mean": 1.0}, False),
    ],
)
def test_results_of_elbencho_are_those_of_one_execution_within_what_its_csv_rounds(theirs, is_joined):
    mine = {
        "time_last_done": 2.0,
        "bandwidth_last_done": 100 * MIB,
        "rate_last_done": 50.0,
        "access_rate_last_done": 70.0,
        "latency_mean": 1.0,
    }
    parts = [
        (name, Parsed(tool="elbencho", facts={"command": "e"}, rows=[row("write", *item) for item in values.items()]))
        for name, values in (("d/x.json", mine), ("d/x.csv", theirs))
    ]
    assert [others for _, _, others in join_accounts(parts)] == ([["d/x.csv"]] if is_joined else [[], []])


def test_executions_of_elbencho_without_a_command_are_never_joined():
    parts = [(name, elbencho_part("")) for name in ("x.json", "x.csv")]
    assert [others for _, _, others in join_accounts(parts)] == [[], []]
    named = join_accounts([("x.out", elbencho_part(version="9")), ("x.csv", elbencho_part(version=""))])
    assert [(name, run.version, run.started_at) for name, run, _ in named] == [("x.csv", "9", "")]
