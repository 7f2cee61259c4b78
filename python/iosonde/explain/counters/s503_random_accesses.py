"""S503: accesses that are not sequential

What it says
    At least a fifth of the reads, or of the writes, of a rank go back to, or
    before, where its last one began or ended. Read-ahead fetches in vain,
    write-behind cannot merge, disks seek.

How we know
    From Darshan's POSIX_SEQ_READS and POSIX_SEQ_WRITES: accesses at a higher
    offset than where the one before of this rank in this file ended;
    consecutive ones are among them. The first access of a rank to a file has
    none before it and is taken away (at most one for each open), so the share
    is a lower limit. The thresholds are Drishti's: 20 % and 1,000 accesses
    (Bez, Ather, Byna 2022, PDSW).

    The cost is at most the time in these calls on files with such accesses.

When it is wrong
    When the data are in the memory of clients or servers: then order does not
    matter, and the limit of the cost is small. A strided pattern that goes
    forward is sequential for Darshan. Some sequential accesses may be far
    apart.

What to do
    Sort accesses by offset, let MPI-IO do it (collective calls, data sieving),
    store data in the order in which they are read. If there is no order: no
    read-ahead (POSIX_FADV_RANDOM, Lustre's ladvise), and larger pieces.
"""

from iosonde.core.io_counters import DIRECTIONS, IoCounters
from iosonde.core.words import format_count, format_share

from .cost import (
    CounterFinding,
    compute_share,
    describe_files,
    describe_number,
    judge_by_number,
    limit_by_calls,
    rank_files,
)

CODE = "S503"
MIN_SHARE = 0.2


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find reads and writes that go backwards."""
    findings = [
        _find_direction(counters, direction, word)
        for direction, word in DIRECTIONS.items()
        if counters.has(f"SEQ_{word}S")
    ]
    return [finding for finding in findings if finding]


def _find_direction(counters: IoCounters, direction: str, word: str) -> CounterFinding | None:
    n = counters.total(f"{word}S")
    n_random = n - counters.total(f"SEQ_{word}S", f"first_{direction}s")
    if compute_share(n_random, n) <= MIN_SHARE:
        return None
    parts = [
        part
        for part in counters.parts
        if part.get(f"{word}S") > part.get(f"SEQ_{word}S") + part.get(f"first_{direction}s")
    ]
    cost = limit_by_calls(counters, sum(part.get(f"F_{word}_TIME") for part in parts))
    confidence = judge_by_number(n_random, cost)
    if confidence is None:
        return None
    files = rank_files(parts, f"{word}S")
    consecutive = counters.total(f"CONSEC_{word}S")
    return CounterFinding(
        CODE,
        direction,
        f"at least {n_random:,.0f} of {format_count(int(n), direction)} ({format_share(n_random / n)}) are not "
        f"sequential, {format_share(consecutive / n)} are consecutive{describe_files(files)}",
        cost,
        confidence,
        describe_number(n_random, confidence, MIN_SHARE),
        "sort accesses by offset, use collective MPI-IO, or store data in the order in which they are read",
        {
            "accesses": n,
            "not_sequential": n_random,
            "share": n_random / n,
            "consecutive_share": consecutive / n,
            "files": [part.name for part in files],
        },
    )
