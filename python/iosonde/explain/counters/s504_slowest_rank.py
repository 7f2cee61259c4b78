"""S504: ranks spend unequal times in I/O

What it says
    The slowest rank spends much longer in I/O calls than the mean rank. If
    the others wait for it, the job is longer by the difference.

How we know
    Darshan names the slowest and the fastest rank of each file that all ranks
    opened, with their times and bytes; for other files it has the times of
    each rank. Reported from 15 % of the slowest rank's time on. The 15 % are
    Drishti's limit for stragglers (Bez, Ather, Byna 2022, PDSW); Drishti takes
    the difference to the fastest rank as a share of the sum over all ranks,
    which many ranks cannot reach.

    If the slowest rank moved more bytes than the mean (by more than a tenth),
    the work is uneven; if not, its node, its files' servers or its turn are
    slow. The cost is at most the slowest rank's time minus the mean: what
    equal times would save.

When it is wrong
    In collective MPI-IO a few ranks (aggregators) read and write for all
    others: they have more work by design; then it is "low". When the other
    ranks do not wait, but compute meanwhile. The slowest ranks
    of several shared files may be different ones; their differences are added.

What to do
    Uneven work: divide it evenly, or let fewer ranks do all of it together
    (collective buffering, aggregators). Even work: is it always the same node
    (S408 with DXT) or storage target (S507)?
"""

from collections.abc import Mapping

from iosonde.core.io_counters import FilesOfAllRanks, FilesOfSingleRanks, IoCounters
from iosonde.core.units import format_percent, format_ratio
from iosonde.core.words import format_count

from .cost import HIGH, LOW, MEDIUM, CostLimit, CounterFinding, describe_seconds

CODE = "S504"
MIN_SHARE = 0.15
_MORE_WORK = 1.1  # times the mean bytes


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find ranks that take much longer than the mean, in files of single ranks and in those of all."""
    findings = []
    if counters.own and (counters.ranks or 0) > 1:
        findings.append(_compare_single_ranks(counters, counters.own))
    if counters.shared and (counters.ranks or 0) > 1:
        findings.append(_compare_all_ranks(counters, counters.shared))
    return [finding for finding in findings if finding]


def _compare_single_ranks(counters: IoCounters, own: FilesOfSingleRanks) -> CounterFinding | None:
    rank = own.slowest
    head = (
        f"rank {rank.rank} spent {describe_seconds(rank.seconds)} in I/O calls on files that not all ranks opened, "
        f"the mean of {counters.ranks:,} ranks is {describe_seconds(own.mean_s)}, the least "
        f"{describe_seconds(own.fastest.seconds)}"
    )
    evidence = {"slowest_rank": rank.rank, "fastest_rank": own.fastest.rank, "fastest_s": own.fastest.seconds}
    return _build_finding(
        counters, "own files", head, (rank.seconds, own.mean_s), (rank.bytes, own.mean_bytes), evidence
    )


def _compare_all_ranks(counters: IoCounters, shared: FilesOfAllRanks) -> CounterFinding | None:
    files = "the shared file" if shared.files == 1 else f"{format_count(shared.files, 'shared file')}"
    rank = shared.slowest_rank
    who = "the slowest rank of each" if rank is None else f"rank {rank}, the slowest,"
    head = (
        f"in {files} {who} spent {describe_seconds(shared.slowest_s)} in I/O calls, the mean of "
        f"{counters.ranks:,} ranks is {describe_seconds(shared.mean_s)}"
    )
    evidence = {"slowest_rank": rank, "files": shared.files}
    pair = shared.slowest_bytes, shared.mean_bytes
    return _build_finding(counters, "shared files", head, (shared.slowest_s, shared.mean_s), pair, evidence)


def _build_finding(
    counters: IoCounters,
    part: str,
    head: str,
    seconds: tuple[float, float],
    moved: tuple[float, float],
    evidence: Mapping[str, object],
) -> CounterFinding | None:
    """Return the finding; ``seconds`` and ``moved`` are of the slowest rank and of the mean."""
    (slowest_s, mean_s), (slowest_bytes, mean_bytes) = seconds, moved
    if not slowest_s or (slowest_s - mean_s) / slowest_s < MIN_SHARE:
        return None
    work = slowest_bytes / mean_bytes if mean_bytes else None
    is_uneven = work is not None and work > _MORE_WORK
    if work is None:
        cause = ""
    elif is_uneven:
        cause = f"; it moved {format_ratio(work)} times the mean bytes: uneven work"
    else:
        cause = f"; it moved {format_ratio(work)} times the mean bytes: not more work, but slower"
    is_most = counters.slowest_s is not None and slowest_s >= 0.5 * counters.slowest_s
    is_collective = is_uneven and counters.total("collective_calls") > 0
    aggregators = "; but in collective MPI-IO a few ranks work for all by design" if is_collective else ""
    return CounterFinding(
        CODE,
        part,
        head + cause,
        CostLimit(None, None, slowest_s - mean_s),
        LOW if is_collective else HIGH if is_most else MEDIUM,
        f"the times are counted; Drishti's {format_percent(MIN_SHARE)} for stragglers, here of the slowest rank's time"
        f"{aggregators}",
        "divide the work evenly, or let aggregators do it (collective buffering)"
        if is_uneven
        else "compare the nodes and the storage targets of slow and fast ranks (S507; DXT with S408)",
        {"slowest_s": slowest_s, "mean_s": mean_s, "bytes_ratio": work, **evidence},
    )
