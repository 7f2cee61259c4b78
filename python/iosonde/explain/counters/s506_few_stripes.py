"""S506: a large shared file on few Lustre targets

What it says
    A large file that several ranks share lies on fewer Lustre targets (OSTs)
    than is recommended for its size: these few limit its rate.

How we know
    From the layouts in Darshan's Lustre module, and the end of the highest
    access. NERSC recommends for shared files of 1 to 10 GB 8 OSTs, up to
    100 GB 24, beyond 72 (its page on Lustre striping); not more than the file
    system has, nor than ranks use the file. Only the files that took most time
    are looked at (20 of them).

    The cost is at most the time in reads and writes of these files. More
    targets save it only if these few are the limit, which the counters do not
    say: "medium" for one target, else "low".

When it is wrong
    When the file grew later, when targets are fast and clients slow, or when
    the layout has components (progressive layouts): their targets are counted
    together. Each site has recommendations of its own.

What to do
    Before the file is written: lfs setstripe -c COUNT DIRECTORY, or the hint
    striping_factor of MPI-IO; measure 1, 4, 16 targets as a factor.
"""

from iosonde.core.io_counters import FileCounters, IoCounters
from iosonde.core.units import format_size
from iosonde.core.words import format_count

from .cost import LOW, MEDIUM, CounterFinding, limit_by_calls

CODE = "S506"
_GB = 1e9
_RECOMMENDED = ((100 * _GB, 72), (10 * _GB, 24), (_GB, 8))  # from so many bytes on, so many targets


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find large shared files with few targets."""
    narrow = [
        (part, n_targets)
        for part in counters.files
        if part.osts and len(part.osts) < (n_targets := _recommend_targets(part, counters.n_osts))
    ]
    if not narrow:
        return []
    part, recommended = max(narrow, key=lambda pair: pair[0].data_seconds)
    more = f"; so are {format_count(len(narrow) - 1, 'other file')}" if len(narrow) > 1 else ""
    return [
        CounterFinding(
            CODE,
            "",
            f"{part.name} has {format_size(part.size)}, is shared by {format_count(part.ranks, 'rank')}, and lies on "
            f"{format_count(len(part.osts), 'target')} of Lustre; {recommended} are recommended{more}",
            limit_by_calls(counters, sum(part.data_seconds for part, _ in narrow)),
            MEDIUM if len(part.osts) == 1 else LOW,
            "NERSC's recommendation by size; the counters do not say if these targets were the limit",
            f"lfs setstripe -c {recommended} on its directory before it is written, or the hint striping_factor",
            {
                "files": [
                    {"name": part.name, "bytes": part.size, "osts": len(part.osts), "recommended": n_targets}
                    for part, n_targets in narrow
                ]
            },
        )
    ]


def _recommend_targets(part: FileCounters, n_osts: int) -> int:
    """Return how many targets are recommended for a file; 0 for one that is small, or of one rank."""
    if part.ranks < 2:
        return 0
    recommended = next((targets for size, targets in _RECOMMENDED if part.size >= size), 0)
    return min(recommended, part.ranks, n_osts or recommended)
