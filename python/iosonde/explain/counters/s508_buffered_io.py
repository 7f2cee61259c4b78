"""S508: much data or time in the C library's buffers (STDIO)

What it says
    At least a tenth of the bytes, or of the time in I/O calls, went through
    the buffers of the C library: fprintf, fwrite, fgets, C++ streams, Fortran
    of some compilers. Nothing else in the log counts them.

How we know
    From Darshan's STDIO module: bytes, calls and time of each file. Standard
    input, output and error are left out, where files are known. Drishti (Bez,
    Ather, Byna 2022, PDSW) reports it from a tenth of the bytes on: "medium";
    less data that took a tenth of the time is "low".

    The cost is at most the time in these calls.

When it is wrong
    Most calls only copy into a buffer of a few KiB; few of them reach the file
    system, so the calls are no accesses, and their mean size says nothing of
    those. A text of results that a human reads is no problem if it is short;
    formatting numbers as text takes CPU time, outside these calls.

What to do
    A binary format through MPI-IO, HDF5, NetCDF or ADIOS for data; for the
    rest a larger buffer (setvbuf with 1 MiB or more), one writer instead of a
    file of each rank, no fflush after each line.
"""

from iosonde.core.io_counters import BufferedIo, IoCounters
from iosonde.core.units import format_percent, format_size
from iosonde.core.words import format_count, format_share

from .cost import LOW, MEDIUM, CostLimit, CounterFinding, compute_share, describe_files, describe_seconds, rank_files

CODE = "S508"
MIN_SHARE = 0.1
_BYTES = ("BYTES_READ", "BYTES_WRITTEN")


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find much data or time in the C library's buffers."""
    buffered = counters.buffered
    if buffered is None:
        return []
    n_bytes, io_s = buffered.total(*_BYTES), counters.io_seconds + buffered.seconds
    byte_share = compute_share(n_bytes, counters.total(*_BYTES) + n_bytes)
    time_share = compute_share(buffered.seconds, io_s)
    if max(byte_share, time_share) < MIN_SHARE:
        return []
    has_much = byte_share >= MIN_SHARE
    amount = f"{format_size(n_bytes)}, {format_share(byte_share)} of the data,"
    files = rank_files(buffered.files, "F_WRITE_TIME" if buffered.seconds else "BYTES_WRITTEN")
    return [
        CounterFinding(
            CODE,
            "",
            f"{amount} went through the C library's buffers (fprintf, fread …) in {_describe_calls(buffered)}"
            f"{describe_files(files)}",
            CostLimit(buffered.seconds, time_share, _limit_elapsed(counters, buffered))
            if buffered.seconds
            else CostLimit(None, None, None),
            MEDIUM if has_much else LOW,
            f"Drishti reports it from {format_percent(MIN_SHARE)} of the data on"
            if has_much
            else f"it took {format_share(time_share)} of the time in I/O calls, with less data than Drishti's "
            f"{format_percent(MIN_SHARE)}",
            "write data with MPI-IO, HDF5 or NetCDF; else larger buffers (setvbuf), and no fflush after each line",
            {
                "bytes": n_bytes,
                "byte_share": byte_share,
                "seconds": buffered.seconds,
                "time_share": time_share,
                **{name.lower(): buffered.total(name) for name in ("READS", "WRITES", "FLUSHES", "OPENS")},
                "files": [file.name for file in files],
            },
        )
    ]


def describe_amounts(buffered: BufferedIo) -> str:
    """Return ``668 MiB written in 18,000,000 writes, 9.55 s summed over ranks``."""
    amounts = [
        f"{format_size(n)} {word}"
        for word, n in (("read", buffered.total("BYTES_READ")), ("written", buffered.total("BYTES_WRITTEN")))
        if n
    ]
    return f"{' and '.join(amounts) or 'no bytes'} in {_describe_calls(buffered)}"


def _describe_calls(buffered: BufferedIo) -> str:
    calls = [
        format_count(int(n), noun)
        for noun, n in (("write", buffered.total("WRITES")), ("read", buffered.total("READS")))
        if n
    ] or ["uncounted calls"]
    streams = ", standard output included" if buffered.has_streams else ""
    seconds = f", {describe_seconds(buffered.seconds)} summed over ranks" if buffered.seconds else ""
    return f"{' and '.join(calls)}{streams}{seconds}"


def _limit_elapsed(counters: IoCounters, buffered: BufferedIo) -> float:
    return min(limit for limit in (buffered.seconds, buffered.slowest_s, counters.seconds) if limit)
