"""S501: small accesses

What it says
    More than a tenth of the reads, or of the writes, are smaller than 1 MiB.
    Each pays for a call, a lock, a request to a server; larger ones pay once
    for more bytes.

How we know
    From Darshan's histogram of sizes (POSIX_SIZE_READ_*, POSIX_SIZE_WRITE_*),
    which counts every access. Its bin 100K_1M includes accesses of exactly
    1 MiB; those are left out if they are among the four most common sizes.
    So are reads that look like the one of 0 bytes at the end of a file: below
    100 bytes, at most one for each open, in a file with large reads only.
    The thresholds are Drishti's: 10 % of the accesses, 1,000 of them, 1 MB
    (Bez, Ather, Byna 2022: Drishti: Guiding End-Users in the I/O Optimization
    Journey, PDSW).

    The cost is at most the time in these calls on files with small ones: the
    counters do not separate small from large accesses of one file, nor say
    what larger ones would have taken. If other files of the log have larger
    accesses, the rates of both (bytes over time in calls) are compared: at
    least twice as fast is "high", not even a quarter faster is "low".

When it is wrong
    When a library or the client's cache merges them: then they are cheap, and
    the limit of the cost shows it. Files that are small cannot be read in
    large pieces.

What to do
    Gather data in memory before it is written, read more at once; collective
    MPI-IO (MPI_File_write_all with romio_cb_write), larger HDF5 chunks and
    chunk cache, a larger stdio buffer (setvbuf); few large files instead of
    many small ones.
"""

from iosonde.core.io_counters import DIRECTIONS, SIZE_BINS, SMALL_BINS, IoCounters
from iosonde.core.units import format_rate
from iosonde.core.words import format_count, format_share

from .cost import (
    HIGH,
    LOW,
    CounterFinding,
    compute_rate,
    compute_share,
    describe_files,
    describe_number,
    judge_by_number,
    limit_by_calls,
    rank_files,
)

CODE = "S501"
MIN_SHARE = 0.1
_MOSTLY, _HARDLY = 0.9, 0.1  # share of small accesses of files whose rates are compared
_FASTER, _ALIKE = 2.0, 1.25


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find small reads and small writes."""
    findings = [_find_direction(counters, direction, word) for direction, word in DIRECTIONS.items()]
    return [finding for finding in findings if finding]


def _find_direction(counters: IoCounters, direction: str, word: str) -> CounterFinding | None:
    small = f"small_{direction}s"
    n_small, n = counters.total(small), counters.total(f"{word}S")
    parts = [part for part in counters.parts if part.get(small)]
    if compute_share(n_small, n) <= MIN_SHARE:
        return None
    cost = limit_by_calls(counters, sum(part.get(f"F_{word}_TIME") for part in parts))
    confidence = judge_by_number(n_small, cost)
    if confidence is None:
        return None
    files, bins = rank_files(parts, small), {size: counters.total(f"SIZE_{word}_{size}") for size in SIZE_BINS}
    common = max(SMALL_BINS, key=lambda size: bins[size])
    ratio = _compare_rates(counters, direction, word)
    grounds = describe_number(n_small, confidence, MIN_SHARE)
    if ratio is not None:
        confidence = HIGH if ratio >= _FASTER else LOW if ratio < _ALIKE else confidence
        grounds += f"; in files with larger ones a call moved {format_rate(ratio, '')} times the bytes per second"
    else:
        grounds += f"; no file with larger {direction}s shows what these would take"
    return CounterFinding(
        CODE,
        direction,
        f"{n_small:,.0f} of {format_count(int(n), direction)} ({format_share(n_small / n)}) are smaller than 1 MiB, "
        f"most of them {common.replace('_', ' to ')} bytes{describe_files(files)}",
        cost,
        confidence,
        grounds,
        f"gather {direction}s into larger ones: collective MPI-IO, larger buffers or chunks",
        {
            "accesses": n,
            "small": n_small,
            "share": n_small / n,
            "sizes": {size: count for size, count in bins.items() if count},
            "files": [part.name for part in files],
            "rate_ratio_of_larger": ratio,
        },
    )


def _compare_rates(counters: IoCounters, direction: str, word: str) -> float | None:
    """Return the rate in files that hardly have small accesses, relative to the rate in those that have almost no
    others; None without both."""
    shares = [
        (part, part.get(f"small_{direction}s") / part.get(f"{word}S"))
        for part in counters.parts
        if part.get(f"{word}S")
    ]
    small = compute_rate((part for part, share in shares if share >= _MOSTLY), word)
    large = compute_rate((part for part, share in shares if share <= _HARDLY), word)
    return large / small if small and large else None
