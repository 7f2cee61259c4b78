"""Texts of darshan-parser, built from counters: what a job of so many ranks would print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

NAME, MOUNT, KIND = "/scratch/out", "/scratch", "lustre"
# Small, misaligned, random writes to a file that four ranks share.
SMALL_WRITES = {
    "OPENS": 4,
    "READS": 0,
    "WRITES": 2000,
    "BYTES_READ": 0,
    "BYTES_WRITTEN": 8192000,
    "SEQ_WRITES": 40,
    "CONSEC_WRITES": 8,
    "FILE_NOT_ALIGNED": 1990,
    "FILE_ALIGNMENT": 1048576,
    "SIZE_WRITE_1K_10K": 2000,
    "F_READ_TIME": 0.0,
    "F_WRITE_TIME": 41.5,
    "F_META_TIME": 0.25,
}


def head(ranks: int | None = 4, seconds: float = 60.0) -> list[str]:
    n_ranks = [] if ranks is None else [f"# nprocs: {ranks}"]
    return ["# darshan log version: 3.41", "# exe: ./app", "# jobid: 5512", *n_ranks, f"# run time: {seconds}"]


def record(
    counters: Mapping[str, object], rank: int = -1, identity: int = 77, name: str = NAME, module: str = "POSIX"
) -> list[str]:
    return [
        f"{module}\t{rank}\t{identity}\t{module}_{counter}\t{value}\t{name}\t{MOUNT}\t{KIND}"
        for counter, value in counters.items()
    ]


def text(*parts: Iterable[str]) -> str:
    """The lines of all parts."""
    return "".join(f"{line}\n" for part in parts for line in part)
