"""S505: much time in metadata calls

What it says
    Opens, closes, stats and seeks take at least half of the time in I/O
    calls, or more than 30 s of one rank.

How we know
    From Darshan's POSIX_F_META_TIME, which is the time in open, close, stat
    and seek (fsync is in the time of writes). Half of the time is the rule of
    WisIO (Yildirim et al. 2025, WisIO: Automated I/O Bottleneck Detection with
    Multi-Perspective Views for HPC Workflows, ICS), 30 s of a rank that of
    Drishti (Bez, Ather, Byna 2022, PDSW). Both: "high". In a file that all
    ranks opened, Darshan has only their sum; the mean rank is taken.

    The cost is at most that time.

When it is wrong
    Close may wait until data are written, opening a named pipe for its other
    end: then it is no metadata call at heart. A job that reads a few
    configuration files has little else to do; the limit of the cost shows it.

What to do
    Open once and keep open, let one rank open and broadcast, fewer and larger
    files (containers, HDF5, tar, squashfs), collective metadata in HDF5
    (H5Pset_all_coll_metadata_ops), no stat in loops; libraries and Python
    packages on a node's own disk or in an image.
"""

from iosonde.core.io_counters import IoCounters
from iosonde.core.units import format_percent
from iosonde.core.words import format_count, format_share, join_names

from .cost import HIGH, MEDIUM, CounterFinding, describe_files, describe_seconds, limit_by_calls, rank_files

CODE = "S505"
MIN_SHARE, MIN_RANK_S = 0.5, 30.0
_CALLS = {"OPENS": "open", "STATS": "stat", "SEEKS": "seek"}


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find much time in metadata calls."""
    metadata_s, io_s = counters.total("F_META_TIME"), counters.io_seconds
    if not metadata_s:
        return []
    longest_s = _find_longest(counters)
    rules = [metadata_s / io_s >= MIN_SHARE, longest_s > MIN_RANK_S]
    if not any(rules):
        return []
    calls = [format_count(int(n), noun) for name, noun in _CALLS.items() if (n := counters.total(name))] or [
        "uncounted"
    ]
    files = rank_files(counters.parts, "F_META_TIME")
    words = [
        f"WisIO's rule of {format_percent(MIN_SHARE)} of the time in I/O calls" if rules[0] else "",
        f"Drishti's {MIN_RANK_S:g} s of a rank ({describe_seconds(longest_s)})" if rules[1] else "",
    ]
    return [
        CounterFinding(
            CODE,
            "",
            f"opens, closes, stats and seeks took {describe_seconds(metadata_s)} summed over ranks "
            f"({format_share(metadata_s / io_s)} of the time in I/O calls): {join_names(calls)} for "
            f"{counters.total('READS', 'WRITES'):,.0f} reads and writes{describe_files(files)}",
            limit_by_calls(counters, metadata_s),
            HIGH if all(rules) else MEDIUM,
            f"the time is counted; passes {join_names([word for word in words if word])}",
            "open files once, let one rank do it for all, use fewer and larger files",
            {
                "metadata_s": metadata_s,
                "share": metadata_s / io_s,
                "longest_rank_s": longest_s,
                **{name.lower(): counters.total(name) for name in _CALLS},
                "files": [part.name for part in files],
            },
        )
    ]


def _find_longest(counters: IoCounters) -> float:
    """Return the longest time of a rank: in files of its own, or the mean of all ranks in a file."""
    means = [part.get("F_META_TIME") / part.ranks for part in counters.files if part.ranks]
    return max([counters.own.longest_metadata_s if counters.own else 0.0, *means])
