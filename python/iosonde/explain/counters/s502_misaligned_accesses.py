"""S502: misaligned accesses

What it says
    More than a tenth of the reads and writes do not begin at a multiple of
    the file's alignment. Such an access touches one block, stripe or lock
    more than an aligned one; a misaligned write may have to read before.

How we know
    From Darshan's POSIX_FILE_NOT_ALIGNED and POSIX_FILE_ALIGNMENT. The
    threshold of 10 % is Drishti's (Bez, Ather, Byna 2022, PDSW); that there
    are 1,000 of them, or that they took a tenth of the time in I/O calls, is
    our own. The cost is at most the time in reads and writes of files with
    misaligned ones: the counters do not separate them.

When it is wrong
    On Lustre Darshan takes 1 MiB as the alignment, whatever the stripe size
    (its manual says so). Accesses smaller than the alignment can hardly be
    aligned: then S501 is the cause. Of accesses that are 10 times as long as
    the alignment, or more, only the ends are misaligned, and local file
    systems hide it in their cache of pages: "low".

What to do
    Begin accesses at multiples of the stripe size: H5Pset_alignment in HDF5,
    nc_var_align_size of PnetCDF, striping_unit of MPI-IO, padded records; or
    choose a stripe size that divides the record.
"""

from iosonde.core.filesystems import is_network
from iosonde.core.io_counters import IoCounters
from iosonde.core.units import format_size
from iosonde.core.words import format_share

from .cost import (
    LOW,
    CounterFinding,
    compute_share,
    describe_files,
    describe_number,
    judge_by_number,
    limit_by_calls,
    rank_files,
)

CODE = "S502"
MIN_SHARE = 0.1
_LONG = 10  # times the alignment, from which on its ends matter little


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find misaligned accesses."""
    # A file with more misaligned accesses than accesses is damaged, or its accesses are not counted.
    parts = [part for part in counters.parts if 0 < part.get("FILE_NOT_ALIGNED") <= part.accesses]
    n_misaligned, n = sum(part.get("FILE_NOT_ALIGNED") for part in parts), counters.total("READS", "WRITES")
    if compute_share(n_misaligned, n) <= MIN_SHARE:
        return []
    cost = limit_by_calls(counters, sum(part.data_seconds for part in parts))
    confidence = judge_by_number(n_misaligned, cost)
    if confidence is None:
        return []
    files = rank_files(parts, "FILE_NOT_ALIGNED")
    grounds = describe_number(n_misaligned, confidence, MIN_SHARE)
    if files and not any(is_network(part.filesystem) for part in files):
        confidence, grounds = LOW, f"{grounds}; but the file system is no network file system"
    alignments = sorted({part.alignment for part in files if part.alignment})
    mean = sum(part.bytes for part in parts) / sum(part.accesses for part in parts)
    if alignments and mean < alignments[0]:
        grounds += f"; an access has {format_size(mean)} on average: few can begin at such places"
    elif alignments and mean >= _LONG * alignments[-1]:
        confidence = LOW
        grounds += f"; but an access has {format_size(mean)} on average: only its ends are misaligned"
    places = f" of {' or '.join(map(format_size, alignments))}" if alignments else ""
    return [
        CounterFinding(
            CODE,
            "",
            f"{n_misaligned:,.0f} of {n:,.0f} reads and writes ({format_share(n_misaligned / n)}) do not begin at a "
            f"multiple{places or ' of the alignment'}{describe_files(files)}",
            cost,
            confidence,
            grounds,
            "begin accesses at multiples of the stripe or block size (H5Pset_alignment, striping_unit)",
            {
                "accesses": n,
                "misaligned": n_misaligned,
                "share": n_misaligned / n,
                "alignments": alignments,
                "files": [part.name for part in files],
            },
        )
    ]
