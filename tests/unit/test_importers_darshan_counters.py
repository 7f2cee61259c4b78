"""What is kept of Darshan's counters per file: sizes, order, alignment, ranks, targets of Lustre."""

from __future__ import annotations

import json
import math
import sys
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
import darshan_sample as sample

from iosonde.core.io_counters import IO_COUNTERS, IoCounters, RankShare
from iosonde.importers import Parsed, Text, darshan_child, understand
from iosonde.importers.darshan_counters import MOST_FILES, CounterRecords
from iosonde.importers.runs import build_runs
from messages import codes

MIB = 1 << 20


def read(*parts: list[str]) -> Parsed:
    (run,) = understand(Text(sample.text(*parts).encode(), "d.txt")).runs
    return run


def counters_of(*parts: list[str]) -> IoCounters:
    return IoCounters.from_json(read(sample.head(), *parts).facts[IO_COUNTERS])


def values_of(run: Parsed) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in run.rows}


def test_sizes_and_order_of_accesses_are_results():
    run = read(sample.head(), sample.record(sample.SMALL_WRITES))
    values = values_of(run)
    assert values["posix_write", "operations_1K_10K"] == 2000
    assert values["posix_write", "sequential_share"] == 0.02
    assert values["posix_write", "consecutive_share"] == 0.004
    assert values["posix", "aligned_share"] == pytest.approx(0.005)
    assert ("posix_read", "sequential_share") not in values and not run.missing


def test_a_text_of_totals_says_the_same_of_accesses():
    whole = values_of(read(sample.head(), sample.record(sample.SMALL_WRITES)))
    totals = [f"total_POSIX_{name}: {value}" for name, value in sample.SMALL_WRITES.items()]
    run = read(sample.head(), totals)
    assert values_of(run) == whole
    counters = IoCounters.from_json(run.facts[IO_COUNTERS])
    assert (counters.files[0].files, counters.total("small_writes"), counters.slowest_s) == (0, 2000, None)


def test_the_time_of_the_slowest_rank_that_darshan_prints_is_taken():
    totals = [f"total_POSIX_{name}: {value}" for name, value in sample.SMALL_WRITES.items()]
    run = read(sample.head(), ["# POSIX module data"], totals, ["# agg_time_by_slowest: 12.5 # seconds"])
    assert IoCounters.from_json(run.facts[IO_COUNTERS]).slowest_s == 12.5
    assert [row.value for row in run.rows if row.metric == "time_by_slowest"] == [12.5]


def test_a_file_keeps_its_ranks_alignment_and_targets():
    times = {"SLOWEST_RANK": 3, "SLOWEST_RANK_BYTES": 900, "F_SLOWEST_RANK_TIME": 20.5}
    times |= {"FASTEST_RANK": 0, "FASTEST_RANK_BYTES": 700, "F_FASTEST_RANK_TIME": 5.25, "MAX_BYTE_WRITTEN": 4095}
    layout = {"OSTS": 248, "STRIPE_WIDTH": 2, "OST_ID_0": 7, "OST_ID_1": 9}
    counters = counters_of(sample.record(sample.SMALL_WRITES | times), sample.record(layout, module="LUSTRE"))
    (file,) = counters.files
    assert (file.name, file.filesystem, file.ranks, file.alignment, file.size) == (
        "/scratch/out",
        "lustre",
        4,
        MIB,
        4096,
    )
    assert (file.slowest, file.fastest) == (RankShare(3, 20.5, 900.0), RankShare(0, 5.25, 700.0))
    assert (file.osts, counters.n_osts, counters.osts) == ((7, 9), 248, ())
    assert (counters.shared.slowest_s, counters.shared.mean_s) == (20.5, pytest.approx(41.75 / 4))
    assert (counters.slowest_s, counters.own) == (20.5, None)


def test_collective_calls_are_those_of_mpi_io():
    calls = {"INDEP_WRITES": 5, "COLL_WRITES": 7, "COLL_READS": -1, "SPLIT_WRITES": 1}
    lines = [line.replace("MPI-IO_", "MPIIO_") for line in sample.record(calls, module="MPI-IO")]
    counters = counters_of(sample.record(sample.SMALL_WRITES), lines)
    assert counters.total("collective_calls") == 8
    totals = [f"total_MPIIO_{name}: {value}" for name, value in calls.items()]
    run = read(sample.head(), ["total_POSIX_WRITES: 7"], totals)
    assert IoCounters.from_json(run.facts[IO_COUNTERS]).total("collective_calls") == 8


def test_shares_that_cannot_be_are_left_out():
    damaged = {**sample.SMALL_WRITES, "SEQ_WRITES": 2001, "FILE_NOT_ALIGNED": 2001}
    values = values_of(read(sample.head(), sample.record(damaged)))
    assert values.keys().isdisjoint({("posix_write", "sequential_share"), ("posix", "aligned_share")})
    assert ("posix_write", "consecutive_share") in values


def test_layouts_with_components_have_their_targets():
    """As darshan 3.5 prints them, with the names of pools."""
    layout = {"NUM_COMPONENTS": 2, "COMP1_POOL_NAME": "N/A", "COMP1_OST_ID_0": 3, "COMP2_POOL_NAME": "flash"}
    lustre = sample.record(layout | {"COMP2_OST_ID_0": 5}, module="LUSTRE")
    run = read(sample.head(), sample.record(sample.SMALL_WRITES), lustre)
    assert IoCounters.from_json(run.facts[IO_COUNTERS]).files[0].osts == (3, 5) and not run.missing


def test_ranks_are_compared_over_the_files_that_they_did_not_share():
    parts = [
        sample.record({"WRITES": 1, "BYTES_WRITTEN": 100, "F_WRITE_TIME": time, "F_META_TIME": meta}, rank, identity)
        for rank, identity, time, meta in ((0, 1, 1.0, 0.5), (0, 2, 2.0, 0.25), (2, 3, 5.0, 0.0))
    ]
    own = counters_of(*parts).own
    assert (own.slowest, own.mean_s, own.mean_bytes) == (RankShare(2, 5.0, 100.0), 8.75 / 4, 75.0)
    assert (own.fastest, own.longest_metadata_s) == (RankShare(1, 0.0, 0.0), 0.75)


def test_the_slowest_rank_is_unknown_where_a_shared_file_does_not_say_it():
    own = sample.record({"WRITES": 1, "F_WRITE_TIME": 1.0}, 0, 1)
    run = read(sample.head(), own, sample.record(sample.SMALL_WRITES))
    assert ("posix", "time_by_slowest") not in values_of(run)
    assert values_of(read(sample.head(), own))["posix", "time_by_slowest"] == 1.0


@pytest.mark.parametrize("ranks", [None, 1, 2**31 - 1])
def test_ranks_that_cannot_be_compared_are_not(ranks):
    parts = [sample.record({"WRITES": 1, "F_WRITE_TIME": 1.0}, rank, rank) for rank in (0, 3)]
    run = read(sample.head(ranks), *parts)
    counters = IoCounters.from_json(run.facts[IO_COUNTERS])
    assert (counters.own, counters.slowest_s, counters.total("WRITES")) == (None, None, 2)


def test_accesses_of_exactly_1_mib_are_not_small_ones():
    """Darshan counts them as 100K to 1M, like the smaller ones."""
    record = {"WRITES": 100, "SIZE_WRITE_100K_1M": 100, "ACCESS1_ACCESS": MIB, "ACCESS1_COUNT": 90}
    assert counters_of(sample.record(record)).total("small_writes") == 10


@pytest.mark.parametrize(
    ("change", "n_small"),
    [({}, 0), ({"SIZE_READ_0_100": 3}, 3), ({"SIZE_READ_1K_10K": 1, "READS": 11}, 3), ({"READS": 2}, 2)],
)
def test_a_read_at_the_end_of_a_file_is_no_small_one(change, n_small):
    """Large reads until one returns 0 bytes, of a file that was opened twice."""
    record = {"OPENS": 2, "READS": 10, "SIZE_READ_0_100": 2, "SIZE_READ_1M_4M": 8}
    assert counters_of(sample.record(record | change)).total("small_reads") == n_small


def test_the_first_access_of_each_rank_to_a_file_is_counted():
    shared = sample.record({"OPENS": 9, "READS": 3, "WRITES": 50})
    own = sample.record({"OPENS": 7, "READS": 5}, 1, 2)
    counters = counters_of(shared, own)
    assert (counters.total("first_reads"), counters.total("first_writes")) == (3 + 1, 4)


def test_the_slowest_rank_of_shared_files_is_known_beyond_the_longest_files():
    def share(rank: int, identity: int) -> list[str]:
        times = {"WRITES": 4, "F_WRITE_TIME": 1.0, "SLOWEST_RANK": rank, "F_SLOWEST_RANK_TIME": 0.5}
        return sample.record(times, -1, identity)

    longer = [sample.record({"READS": 2, "F_READ_TIME": 9.0}, 0, at, f"/f{at}") for at in range(MOST_FILES)]
    assert counters_of(*longer, share(3, 98)).shared.slowest_rank == 3
    assert counters_of(share(3, 98), share(3, 99)).shared.slowest_rank == 3
    assert counters_of(share(3, 98), share(2, 99)).shared.slowest_rank is None


def test_files_beyond_the_longest_are_summed():
    n = MOST_FILES + 5
    parts = [sample.record({"READS": 2, "F_READ_TIME": 1.0 + at}, 0, at, f"/f{at}") for at in range(n)]
    counters = counters_of(*parts)
    assert [file.name for file in counters.files[:2]] == [f"/f{n - 1}", f"/f{n - 2}"]
    assert (len(counters.files), counters.others.files, counters.total("READS")) == (MOST_FILES, 5, 2 * n)
    assert counters.io_seconds == pytest.approx(sum(1.0 + at for at in range(n)))


def test_times_of_targets_are_of_files_on_one_target():
    parts = [
        part
        for identity, osts, seconds in ((1, (4,), 1.0), (2, (4,), 4.0), (3, (5,), 1.0), (4, (4, 5), 9.0))
        for part in (
            sample.record({"BYTES_WRITTEN": MIB, "WRITES": 1, "F_WRITE_TIME": seconds}, 0, identity),
            sample.record({f"OST_ID_{at}": ost for at, ost in enumerate(osts)}, 0, identity, module="LUSTRE"),
        )
    ]
    slow, fast = counters_of(*parts).osts
    assert (slow.ost, slow.files, slow.seconds, slow.bytes) == (4, 2, 5.0, 2 * MIB)
    assert (slow.mean_log_rate, fast.mean_log_rate) == (pytest.approx(math.log(MIB / 2)), pytest.approx(math.log(MIB)))


def test_what_darshan_could_not_count_is_not_0():
    counters = counters_of(sample.record(sample.SMALL_WRITES | {"SEQ_WRITES": -1}))
    assert not counters.has("SEQ_WRITES") and counters.has("CONSEC_WRITES")


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: [*lines[:3], lines[3] + lines[4], *lines[5:]],
        lambda lines: [*lines[:2], lines[2].replace("2000", "20x0"), *lines[3:]],
        lambda lines: [*lines[:3], lines[3].replace("\t/scratch\t", "\t"), *lines[4:]],
    ],
)
def test_a_damaged_line_of_a_record_is_left_out_and_the_others_are_read(damage):
    run = read(sample.head(), damage(sample.record(sample.SMALL_WRITES)))
    assert codes(note.sentence for note in run.missing) == ["unreadable-lines"]
    assert values_of(run)["posix_write", "time_sum_of_ranks"] == 41.5
    assert IoCounters.from_json(run.facts[IO_COUNTERS]).total("SIZE_WRITE_1K_10K") == 2000


@pytest.mark.parametrize("value", ["9" * 400, "9" * 31, "x", ""])
@pytest.mark.parametrize(
    ("module", "counter"),
    [
        ("POSIX", "POSIX_WRITES"),
        ("POSIX", "POSIX_SEQ_READS"),
        ("POSIX", "POSIX_SLOWEST_RANK"),
        ("POSIX", "DFS_SEQ_READS"),
        ("LUSTRE", "LUSTRE_OSTS"),
        ("LUSTRE", "LUSTRE_OST_ID_0"),
        ("LUSTRE", "DFS_OST_ID"),
        ("MPI-IO", "MPIIO_COLL_READS"),
        ("DFS", "DFS_READS"),
    ],
)
def test_a_counter_without_a_number_does_not_lose_the_file(module, counter, value):
    bad = f"{module}\t-1\t77\t{counter}\t{value}\t/scratch/out\t/scratch\tlustre"
    uuid = "DFS\t-1\t78\tDFS_POOL_UUID\ta-b-c\t/x\t/\tdfs"
    run = read(sample.head(), sample.record(sample.SMALL_WRITES), [bad, uuid])
    assert [(note.line, *codes([note.sentence])) for note in run.missing] == [(19, "unreadable-lines")]
    assert values_of(run)["posix_write", "time_sum_of_ranks"] == 41.5
    counters = IoCounters.from_json(run.facts[IO_COUNTERS])
    assert (counters.total("WRITES"), counters.total("SIZE_WRITE_1K_10K")) == (2000, 2000)


def test_infinite_counters_of_a_damaged_log_are_not_counted():
    records = CounterRecords(4, 60.0)
    records.add("77", -1, {"WRITES": math.inf, "READS": 2.0, "SLOWEST_RANK": math.inf, "F_SLOWEST_RANK_TIME": 1.0})
    counters = records.build()
    assert counters.total("READS") == 2 and not counters.has("WRITES") and counters.files[0].slowest is None


def test_counters_remain_what_they_were_in_json():
    counters = counters_of(sample.record(sample.SMALL_WRITES), sample.record({"READS": 1}, 0, 2))
    assert IoCounters.from_json(counters.to_json()) == counters


class Records(list):
    def to_numpy(self):
        return list(self)


def build_pydarshan(layout: dict) -> ModuleType:
    """pydarshan, as far as counters are read: one shared file with MPI-IO's calls and a layout."""

    class DarshanReport:
        modules = dict.fromkeys(("POSIX", "MPI-IO", "STDIO", "LUSTRE"), {})
        metadata = {"job": {"nprocs": 4, "run_time": 60.0}}
        name_records = {77: "/scratch/out", 78: "/scratch/a.txt"}
        mounts = (("/", "ext4"), ("/scratch", "lustre"))
        counters = {
            "POSIX": {"counters": ["POSIX_WRITES", "POSIX_SEQ_WRITES"], "fcounters": ["POSIX_F_WRITE_TIME"]},
            "MPI-IO": {"counters": ["MPIIO_COLL_WRITES"], "fcounters": []},
            "STDIO": {"counters": ["STDIO_WRITES"], "fcounters": ["STDIO_F_WRITE_TIME"]},
        }

        def __init__(self, path, read_all):
            self.records = {}

        def mod_read_all_records(self, module, dtype):
            values = {"POSIX": ([2000, -1], [41.5]), "MPI-IO": ([8], []), "STDIO": ([500], [2.5])}[module]
            identity = 78 if module == "STDIO" else 77
            record = {"id": identity, "rank": -1, "counters": values[0], "fcounters": values[1]}
            self.records[module] = Records([record])

        def mod_read_all_lustre_records(self):
            self.records["LUSTRE"] = Records([{"id": 77, "rank": -1, **layout}])

    module = ModuleType("darshan")
    module.DarshanReport = DarshanReport
    return module


@pytest.mark.parametrize("layout", [{"ost_ids": [3, 5]}, {"components": [{"ost_ids": [3]}, {"ost_ids": [5]}]}])
def test_a_log_has_the_same_counters_as_its_text(tmp_path, monkeypatch, layout):
    """Records of layouts before and after darshan 3.5."""
    monkeypatch.setitem(sys.modules, "darshan", build_pydarshan(layout))
    darshan_child.main("log", str(tmp_path / "out.npz"))
    with np.load(tmp_path / "out.npz") as arrays:
        counters = IoCounters.from_json(json.loads(str(arrays["about"]))["io_counters"])
    (file,) = counters.files
    assert (file.name, file.filesystem, file.ranks, file.osts) == ("/scratch/out", "lustre", 4, (3, 5))
    counts = {"WRITES": 2000.0, "F_WRITE_TIME": 41.5, "first_writes": 4.0, "collective_calls": 8.0}
    assert (file.counts, counters.seconds) == (counts, 60.0)
    assert not counters.has("SEQ_WRITES")
    (printed,) = counters.buffered.files
    assert (printed.name, printed.filesystem, printed.get("WRITES"), printed.seconds) == (
        *("/scratch/a.txt", "lustre"),
        *(500.0, 2.5),
    )


def test_the_headline_of_performance_is_the_rate_by_the_slowest_rank():
    estimates = "".join(f"# agg_perf_by_{name}: {value}\n" for name, value in (("cumul", 9.5), ("slowest", 2.5)))
    text = Text(f"# darshan log version: 3.41\n# POSIX module data\n{estimates}".encode(), "x")
    (run,) = build_runs(understand(text), text, "e")
    assert run.headlines["posix"] == ["bandwidth_by_slowest"]


PRINTED = {"OPENS": 1, "WRITES": 500, "FLUSHES": 5, "BYTES_WRITTEN": 4000, "F_WRITE_TIME": 2.0, "F_META_TIME": 0.5}


def print_to(name: str, rank: int = 0, identity: int = 1, **changes: float) -> list[str]:
    return sample.record(PRINTED | changes, rank, identity, name, "STDIO")


def test_what_a_job_printed_to_files_is_kept_besides_without_the_standard_streams():
    files = [print_to("/scratch/a.txt"), print_to("/scratch/a.txt", 1, F_WRITE_TIME=3.0), print_to("<STDOUT>", 0, 2)]
    counters = counters_of(*files)
    (file,) = counters.buffered.files
    assert (file.name, file.ranks, file.get("WRITES"), file.get("FLUSHES")) == ("/scratch/a.txt", 2, 1000, 10)
    assert (counters.buffered.seconds, counters.buffered.slowest_s, counters.io_seconds) == (6.0, 3.5, 0.0)
    assert counters.files == () and not counters.buffered.has_streams
    assert counters_of(print_to("<STDERR>"), sample.record(sample.SMALL_WRITES)).buffered is None
    both = counters_of(sample.record(sample.SMALL_WRITES), *files)
    assert (both.total("WRITES"), both.buffered) == (2000, counters.buffered)


@pytest.mark.parametrize(("slowest", "seconds"), [({"F_SLOWEST_RANK_TIME": 1.5}, 4.0), ({}, None)])
def test_the_slowest_rank_of_files_that_all_ranks_printed_to_is_known_if_darshan_says_it(slowest, seconds):
    shared = print_to("/scratch/all.txt", -1, 2, **slowest)
    idle = sample.record({"OPENS": 4, "F_META_TIME": 0.0}, -1, 3, "/scratch/empty.txt", "STDIO")
    buffered = counters_of(print_to("/scratch/a.txt"), shared, idle).buffered
    assert buffered.slowest_s == seconds
    assert [file.ranks for file in buffered.files] == [1, 4, 4]


def test_totals_of_printing_include_the_standard_streams():
    totals = [f"total_STDIO_{name}: {value}" for name, value in PRINTED.items()]
    buffered = counters_of(totals).buffered
    assert (buffered.total("WRITES"), buffered.seconds, buffered.slowest_s) == (500, 2.5, None)
    assert buffered.has_streams


def test_files_beyond_the_longest_that_were_printed_to_are_summed():
    buffered = counters_of(*(print_to(f"/scratch/{at}", 0, at, F_WRITE_TIME=1.0 + at) for at in range(23))).buffered
    assert [file.files for file in buffered.files] == [1] * 20 + [3]
    assert (buffered.files[-1].get("BYTES_WRITTEN"), buffered.total("BYTES_WRITTEN")) == (12000, 92000)
