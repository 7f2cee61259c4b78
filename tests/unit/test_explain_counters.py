"""Findings from counters: which they are, what they can have cost at most, how sure they are, and when they are silent.

Each job is planted: what is wrong with it is known.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from iosonde.core.io_counters import (
    BufferedIo,
    FileCounters,
    FilesOfAllRanks,
    FilesOfSingleRanks,
    IoCounters,
    OstTimes,
    RankShare,
)
from iosonde.core.types import Severity
from iosonde.explain import counters as findings
from iosonde.explain.counters.cost import CounterFinding
from iosonde.explain.counters.files import iterate_files
from iosonde.explain.counters.over_trials import diagnose_trials

MIB, GB = 1 << 20, 10**9
# Large, aligned, sequential writes of four ranks to one file.
GOOD = {
    "OPENS": 4,
    "WRITES": 4000,
    "BYTES_WRITTEN": 16000 * MIB,
    "SEQ_WRITES": 3996,
    "CONSEC_WRITES": 3996,
    "SIZE_WRITE_1M_4M": 4000,
    "F_WRITE_TIME": 80.0,
    "F_META_TIME": 0.5,
    "first_writes": 4,
}
SMALL = {"WRITES": 4000, "BYTES_WRITTEN": 4000 * 4096, "small_writes": 4000, "SIZE_WRITE_1K_10K": 4000}
COUNTED = (*GOOD, "READS", "SEQ_READS", "FILE_NOT_ALIGNED")


def file(counts: dict[str, float], name: str = "/lustre/f", **other: object) -> FileCounters:
    return FileCounters(name, 1, **{"ranks": 4, "filesystem": "lustre", "alignment": MIB, **other}, counts=counts)


def job(*files: FileCounters, ranks: int = 4, seconds: float = 100.0, **other: object) -> IoCounters:
    return IoCounters(ranks, seconds, COUNTED, files, **other)


def find(*files: FileCounters, **other: object) -> dict[tuple[str, str], CounterFinding]:
    return {(finding.code, finding.part): finding for finding in findings.find_patterns(job(*files, **other))}


def test_a_job_with_large_aligned_sequential_accesses_of_equal_ranks_has_no_finding():
    shared = FilesOfAllRanks(1, 21.0, 20.1, 4000.0 * MIB, 4000.0 * MIB)
    assert find(file(GOOD), shared=shared, slowest_s=21.0) == {}
    assert find(seconds=0.0) == {} and find(file({}), seconds=0.0) == {}


def test_small_writes_cost_at_most_the_time_in_writes_of_their_files():
    small = file({**SMALL, "SEQ_WRITES": 4000, "F_WRITE_TIME": 30.0}, "/small")
    found = find(file(GOOD), small)["S501", "write"]
    assert (found.cost.rank_s, found.cost.elapsed_s) == (30.0, 30.0)
    assert found.cost.io_share == pytest.approx(30 / 110.5)
    assert (found.evidence["small"], found.evidence["accesses"], found.evidence["files"]) == (4000, 8000, ["/small"])


@pytest.mark.parametrize(
    ("seconds", "confidence"),
    # The large writes move 200 MiB/s, the small ones 15.6 MiB over these seconds.
    [(30.0, "high"), (15.625 / 200 * 1.5, "medium"), (15.625 / 200 * 1.1, "low")],
)
def test_files_with_larger_accesses_in_the_same_log_show_if_small_ones_are_slower(seconds, confidence):
    small = file({**SMALL, "SEQ_WRITES": 4000, "F_WRITE_TIME": seconds}, "/small")
    assert find(file(GOOD), small)["S501", "write"].confidence == confidence


@pytest.mark.parametrize(
    ("n_small", "n", "seconds", "confidence"),
    [
        (1000, 1000, 1.0, "medium"),
        (999, 999, 50.0, "low"),  # fewer than Drishti's, but much of the time
        (999, 999, 1.0, None),
        (1000, 10000, 50.0, None),  # a tenth
        (1001, 10000, 50.0, "medium"),
    ],
)
def test_small_accesses_are_reported_above_published_thresholds(n_small, n, seconds, confidence):
    counts = {"READS": n, "small_reads": n_small, "SEQ_READS": n, "F_READ_TIME": seconds, "F_META_TIME": 50.0}
    found = find(file(counts)).get(("S501", "read"))
    assert (found.confidence if found else None) == confidence


@pytest.mark.parametrize(
    ("misaligned", "size", "filesystem", "confidence"),
    [
        (4000, 2 * MIB, "lustre", "medium"),
        (400, 2 * MIB, "lustre", None),
        (4000, 2 * MIB, "ext4", "low"),
        (4000, 64 * MIB, "lustre", "low"),  # only the ends of an access
    ],
)
def test_misaligned_accesses_matter_on_network_file_systems_unless_they_are_long(
    misaligned, size, filesystem, confidence
):
    counts = {**GOOD, "FILE_NOT_ALIGNED": misaligned, "BYTES_WRITTEN": 4000 * size}
    found = find(file(counts, filesystem=filesystem)).get(("S502", ""))
    assert (found.confidence if found else None) == confidence
    assert found is None or (found.cost.rank_s, found.evidence["alignments"]) == (80.0, [MIB])


@pytest.mark.parametrize(
    ("sequential", "first", "n_random"),
    [(3200, 0, None), (3199, 0, 801), (2000, 0, 2000), (0, 1000, 3000), (0, 3200, None)],
)
def test_accesses_are_random_beyond_a_fifth_without_the_first_of_each_rank(sequential, first, n_random):
    """A first access has no access before it: many files that are written at once are no random writes."""
    found = find(file({**GOOD, "SEQ_WRITES": sequential, "first_writes": first})).get(("S503", "write"))
    assert (found and found.evidence["not_sequential"]) == n_random
    assert found is None or found.cost.rank_s == 80.0 or n_random in (801,)


def test_order_is_not_judged_where_the_log_does_not_count_it():
    counters = IoCounters(4, 100.0, tuple(name for name in COUNTED if name != "SEQ_WRITES"), (file(SMALL),))
    assert "S503" not in {finding.code for finding in findings.find_patterns(counters)}


@pytest.mark.parametrize(
    ("slowest_s", "slowest_bytes", "expected"),
    [(40.0, 100.0, (30.0, 1.0)), (40.0, 350.0, (30.0, 3.5)), (11.7, 100.0, None), (12.0, 100.0, (2.0, 1.0))],
)
def test_the_slowest_rank_costs_what_it_took_longer_than_the_mean(slowest_s, slowest_bytes, expected):
    shared = FilesOfAllRanks(1, slowest_s, 10.0, slowest_bytes, 100.0, 3)
    found = find(file(GOOD), shared=shared, slowest_s=slowest_s)
    finding = found.get(("S504", "shared files"))
    assert (finding and (finding.cost.elapsed_s, finding.evidence["bytes_ratio"])) == expected
    assert finding is None or (finding.confidence, finding.evidence["slowest_rank"]) == ("high", 3)


def test_one_rank_that_does_all_is_a_slow_rank_with_more_work():
    own = FilesOfSingleRanks(RankShare(0, 80.0, 400.0), RankShare(1, 0.0, 0.0), 20.0, 100.0, 0.5)
    finding = find(file(GOOD, ranks=1), own=own, slowest_s=80.0)["S504", "own files"]
    assert (finding.cost.elapsed_s, finding.evidence["bytes_ratio"]) == (60.0, 4.0)
    assert not find(file(GOOD, ranks=1), own=own, slowest_s=80.0, ranks=1)


@pytest.mark.parametrize(("slowest_bytes", "confidence"), [(400.0, "low"), (100.0, "high")])
def test_aggregators_of_collective_io_have_more_work_by_design(slowest_bytes, confidence):
    shared = FilesOfAllRanks(1, 40.0, 10.0, slowest_bytes, 100.0)
    found = find(file({**GOOD, "collective_calls": 8}), shared=shared, slowest_s=40.0)
    assert found["S504", "shared files"].confidence == confidence


def test_a_slowest_rank_that_differs_between_shared_files_is_not_named():
    shared = FilesOfAllRanks(2, 40.0, 10.0, 100.0, 100.0, None)
    files = [file(GOOD, slowest=RankShare(rank, 20.0, 50.0)) for rank in (0, 3)]
    finding = find(*files, shared=shared, slowest_s=40.0)["S504", "shared files"]
    assert finding.evidence["slowest_rank"] is None and "None" not in finding.sentence


@pytest.mark.parametrize("own_reads", [0, 10])
def test_misaligned_accesses_of_a_file_without_as_many_accesses_are_no_pattern(own_reads):
    """As of a log whose counters of reads and writes are -1."""
    uncounted = file({"FILE_NOT_ALIGNED": 5000, "READS": own_reads, "F_READ_TIME": 50.0})
    assert not find(uncounted, file({"READS": 9000, "SEQ_READS": 9000, "first_reads": 1, "F_READ_TIME": 10.0}))


def test_counters_that_contradict_each_other_are_no_pattern():
    damaged = file({**GOOD, "small_writes": 9000, "FILE_NOT_ALIGNED": 9000})
    assert not find(damaged)
    (shares,) = iterate_files(job(damaged))
    assert (shares.small, shares.misaligned) == (None, None)


@pytest.mark.parametrize(
    ("metadata_s", "longest_s", "confidence"),
    [(80.0, 20.0, "medium"), (79.0, 20.0, None), (40.0, 30.5, "medium"), (90.0, 31.0, "high")],
)
def test_metadata_is_reported_from_half_of_the_time_or_30_s_of_a_rank(metadata_s, longest_s, confidence):
    own = FilesOfSingleRanks(RankShare(0, 40.0, 1.0), RankShare(1, 39.0, 1.0), 40.0, 1.0, longest_s)
    found = find(file({**GOOD, "F_META_TIME": metadata_s}), own=own).get(("S505", ""))
    assert (found.confidence if found else None) == confidence
    assert found is None or found.cost.rank_s == metadata_s


@pytest.mark.parametrize(
    ("size", "n_osts", "ranks", "recommended"),
    [
        (0.9 * GB, 1, 64, None),
        (5 * GB, 1, 64, 8),
        (5 * GB, 8, 64, None),
        (50 * GB, 8, 64, 24),
        (500 * GB, 24, 256, 72),
        (500 * GB, 1, 4, 4),  # more than ranks are no use
        (500 * GB, 1, 1, None),
        (500 * GB, 0, 64, None),  # no layout in the log
    ],
)
def test_large_shared_files_on_few_targets_are_compared_with_the_recommendation(size, n_osts, ranks, recommended):
    found = find(file(GOOD, size=size, osts=tuple(range(n_osts)), ranks=ranks), n_osts=248).get(("S506", ""))
    assert (found and found.evidence["files"][0]["recommended"]) == recommended
    assert found is None or found.confidence == ("medium" if n_osts == 1 else "low")


def targets(slow_by: float, n: int = 12, files: int = 20) -> tuple[OstTimes, ...]:
    """Targets of 100 MiB/s, a few percent apart; the last one is slower by this factor."""
    rates = [100 * MIB * (1 + 0.02 * math.sin(at)) / (slow_by if at == n - 1 else 1) for at in range(n)]
    return tuple(OstTimes(at, files, 1000.0 * MIB, 1000 * MIB / rate, math.log(rate)) for at, rate in enumerate(rates))


def test_a_slow_target_is_found_and_costs_what_its_files_took_longer():
    found = find(file({**GOOD, "F_WRITE_TIME": 1000.0}), osts=targets(10), seconds=500.0)
    finding = found["S507", "target 11"]
    assert (finding.confidence, finding.evidence["ost"]) == ("high", 11)
    assert finding.evidence["rate_ratio"] == pytest.approx(0.1, rel=0.05)
    assert finding.cost.rank_s == pytest.approx(90.0, rel=0.05)  # 100 s instead of 10 s
    assert find(file(GOOD), osts=targets(10, files=2))["S507", "target 11"].confidence == "medium"


@pytest.mark.parametrize("osts", [targets(1.0), targets(1.8), targets(10, n=4)])
def test_targets_that_do_not_differ_enough_or_are_few_are_no_finding(osts):
    assert not find(file(GOOD), osts=osts)


@pytest.mark.parametrize(("slow_by", "least", "most"), [(1.0, 0, 4), (6.0, 180, 200)])
def test_a_target_of_noisy_ones_is_seldom_called_slow_without_reason(slow_by, least, most):
    """200 jobs on 16 targets whose rates vary by a third; at 1 % hardly more than 2 of them are wrong."""
    rng = np.random.default_rng(7)
    rates = math.log(100 * MIB) + 0.3 * rng.standard_normal((200, 16))
    rates[:, 5] -= math.log(slow_by)
    hits = 0
    for job_rates in rates.tolist():
        osts = tuple(OstTimes(at, 8, MIB, MIB / math.exp(rate), rate) for at, rate in enumerate(job_rates))
        hits += bool(find(file(GOOD), osts=osts))
    assert least <= hits <= most


@pytest.mark.parametrize(
    ("n_bytes", "seconds", "confidence"),
    [
        (16000 * MIB, 1.0, "medium"),
        (1000 * MIB, 1.0, None),
        (1000 * MIB, 10.0, "low"),
        (16000 * MIB, 0.0, "medium"),
    ],
)
def test_the_buffers_of_the_c_library_are_named_from_a_tenth_of_the_bytes_or_of_the_time_on(
    n_bytes, seconds, confidence
):
    counts = {"WRITES": 10**6, "BYTES_WRITTEN": n_bytes, "F_WRITE_TIME": seconds}
    found = find(file(GOOD), buffered=BufferedIo((file(counts, "/lustre/a.txt"),)))
    assert [key for key in found if key[0] == "S508"] == ([("S508", "")] if confidence else [])
    if confidence:
        finding = found["S508", ""]
        assert (finding.confidence, finding.cost.elapsed_s) == (confidence, seconds or None)
        assert finding.evidence["files"] == ["/lustre/a.txt"]


def test_the_slowest_rank_limits_what_the_buffers_of_the_c_library_cost():
    buffered = BufferedIo((file({"BYTES_READ": 4 * GB, "F_READ_TIME": 40.0}),), 15.0)
    (finding,) = find(buffered=buffered).values()
    assert (finding.cost.rank_s, finding.cost.io_share, finding.cost.elapsed_s) == (40.0, 1.0, 15.0)


def test_the_job_cannot_become_shorter_by_more_than_its_slowest_rank_was_in_calls():
    small = file({**SMALL, "SEQ_WRITES": 4000, "F_WRITE_TIME": 300.0})
    assert find(small)["S501", "write"].cost.elapsed_s == 100.0
    assert find(small, slowest_s=80.0)["S501", "write"].cost.elapsed_s == 80.0
    assert find(small, seconds=0.0)["S501", "write"].cost.elapsed_s == 300.0


def test_without_times_there_is_a_pattern_but_no_cost():
    cost = find(file({**SMALL, "SEQ_WRITES": 4000}))["S501", "write"].cost
    assert (cost.rank_s, cost.io_share, cost.elapsed_s) == (None, None, None)


def test_costs_of_several_trials_have_an_interval():
    trials = [job(file({**SMALL, "SEQ_WRITES": 4000, "F_WRITE_TIME": 30.0 + at})) for at in range(3)]
    (pattern,) = diagnose_trials({}, "", [*trials, job(file(GOOD))], 0.95).patterns
    assert (pattern.n_matching, pattern.finding.cost.rank_s) == (3, 32.0)
    assert (pattern.rank_s.value, pattern.rank_s.n) == (pytest.approx(31.0), 3)
    assert pattern.rank_s.low < 30 and pattern.rank_s.high > 32


@pytest.mark.parametrize(("seconds", "severity"), [(2.0, Severity.WARNING), (0.9, Severity.INFO)])
def test_what_can_have_cost_less_than_a_hundredth_of_the_job_is_information(seconds, severity):
    counters = job(file({**SMALL, "SEQ_WRITES": 4000, "F_WRITE_TIME": seconds}))
    (pattern,) = diagnose_trials({}, "", [counters], 0.95).patterns
    assert pattern.severity is severity


def test_every_finding_has_a_page_with_its_rule_and_its_limits():
    codes = findings.map_codes_to_modules()
    assert list(codes) == [f"S50{number}" for number in range(1, 9)]
    for code in codes:
        page = findings.read_manual_page(code.lower())
        assert page.startswith(f"{code}: ") and max(map(len, page.splitlines())) < 80
        for section in ("What it says", "How we know", "When it is wrong", "What to do"):
            assert f"\n{section}\n" in page
    assert findings.read_manual_page("S599") is None
