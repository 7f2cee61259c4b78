"""Results of the walk of all files, without a sample: sizes, ages, owners, and what was not seen."""

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.message import Message
from iosonde.core.words import format_count
from iosonde.engine import _native
from iosonde.survey.walk import Walked

_HALF, _MOST = 0.5, 0.9
_YEAR_DAYS = 365
_LARGEST_SUM = 2**64 - 1  # bytes: sums of the walk saturate here


@dataclass(frozen=True)
class WalkRow:
    """Files, their bytes and allocated bytes, up to a size (bytes), an age (days) or a depth; None: beyond the last."""

    up_to: int | None
    files: int
    bytes: int
    allocated_bytes: int

    def to_json(self) -> dict[str, Any]:
        """Its numbers."""
        return {"up_to": self.up_to, "files": self.files, "bytes": self.bytes, "allocated_bytes": self.allocated_bytes}


@dataclass(frozen=True)
class Tail:
    """The largest files that hold a ``share`` of the capacity: those of ``least`` bytes and more, ``files`` in
    number."""

    share: float
    least: int
    files: float


@dataclass(frozen=True)
class WalkSummary:
    """``numbers`` are those of the walk by name; tables are from small to large, young to old, high to low. A list of
    names and sizes alone lacks owners, ages and allocated bytes: None, and empty tables."""

    numbers: dict[str, int]
    sizes: tuple[WalkRow, ...]
    modified: tuple[WalkRow, ...]
    accessed: tuple[WalkRow, ...]
    depths: tuple[WalkRow, ...]
    owners: int | None
    largest_owner: float | None
    tails: tuple[Tail, ...]
    old: tuple[float, float] | None
    notes: tuple[str, ...]
    capacity: int
    seconds: float

    @property
    def files(self) -> int:
        """Count every regular file once."""
        return self.numbers["files"]

    def to_json(self) -> dict[str, Any]:
        """Return its numbers, tables and what was not seen."""
        tables = {
            name: [row.to_json() for row in getattr(self, name)] for name in ("sizes", "modified", "accessed", "depths")
        }
        return {
            **self.numbers,
            "capacity": self.capacity,
            "seconds": self.seconds,
            "owners": self.owners,
            "largest_owner": self.largest_owner,
            **tables,
            "tails": [vars(tail) for tail in self.tails],
            "year_old": None if self.old is None else list(self.old),
            "notes": list(self.notes),
        }


def summarize_walk(walked: Walked, allocated: bool) -> WalkSummary:
    """Convert the counts of the walk. ``allocated``: capacity counts allocated bytes."""
    counts, column = walked.counts, 2 if allocated else 1
    numbers = {name: value for name, value in counts.items() if isinstance(value, int)}
    ages = [*_native.AGE_EDGES_DAYS, None]
    capacity = numbers["allocated_bytes" if allocated else "bytes"]
    owners, none = counts.get("owners"), np.zeros((len(ages), 3), np.uint64)
    return WalkSummary(
        numbers,
        _build_rows(counts["sizes"], [0, *(2**power - 1 for power in range(1, 65))]),
        _build_rows(counts.get("modified", none), ages),
        _build_rows(counts.get("accessed", none), ages),
        _build_rows(counts["depths"], [*range(len(counts["depths"]) - 1), None]),
        None if owners is None else len(owners),
        None
        if owners is None
        else _compute_share(float(max((row[column] for row in (owners or {}).values()), default=0)), capacity),
        _find_tails(counts["sizes"], column),
        _compute_old_shares(counts, column, walked.files, capacity),
        tuple(_notes(counts)),
        capacity,
        walked.seconds,
    )


def _compute_old_shares(counts: dict[str, Any], column: int, files: int, capacity: int) -> tuple[float, float] | None:
    if "modified" not in counts:
        return None
    old = counts["modified"][_native.AGE_EDGES_DAYS.index(_YEAR_DAYS) + 1 :].sum(axis=0, dtype=float)
    return _compute_share(float(old[0]), files), _compute_share(float(old[column]), capacity)


def _build_rows(table: Any, ends: list[int | None]) -> tuple[WalkRow, ...]:
    return tuple(WalkRow(end, *row) for end, row in zip(ends, table.tolist(), strict=True) if row[0])


def _compute_share(some: float, total: float) -> float:
    return some / total if total else 0.0


def _find_tails(sizes: Any, column: int) -> tuple[Tail, ...]:
    """Return tails by whole powers of 2, as in the table."""
    above = sizes[::-1].cumsum(axis=0, dtype=float)[::-1]
    if not above[0, column]:
        return ()
    tails = []
    for part in (_HALF, _MOST):
        row = int(np.flatnonzero(above[:, column] >= part * above[0, column])[-1])
        tails.append(
            Tail(
                float(above[row, column] / above[0, column]),
                2 ** (row - 1) if row else 0,
                float(above[row, 0] / above[0, 0]),
            )
        )
    return tuple(tails)


def _notes(counts: dict[str, Any]) -> Iterator[Message]:
    if max(counts["bytes"], counts.get("allocated_bytes", 0)) >= _LARGEST_SUM:
        yield Message(
            "size-overflow",
            "the sizes add up to 16 EiB or more, which no file system holds: sums and shares of capacity are wrong",
        )
    if "form" in counts:
        yield from _describe_file_list(counts)
        return
    if counts["unreadable_directories"]:
        yield Message(
            "unreadable-directories",
            "{directories} could not be read ({reasons}): their contents are missing",
            directories=_format_directories(counts["unreadable_directories"]),
            reasons=", ".join(f"{errno.errorcode.get(code, code)} {many}" for code, many in counts["errors"].items()),
        )
    if counts["unknown_entries"]:
        missing = "1 entry" if counts["unknown_entries"] == 1 else f"{counts['unknown_entries']:,} entries"
        yield Message("unknown-entries", "missing, as they could not be looked at: {entries}", entries=missing)
    if counts["vanished"]:
        yield Message("vanished-files", "{n_files:,} vanished during the walk", n_files=counts["vanished"])
    if counts["mounts"]:
        yield Message(
            "other-file-systems",
            "{file_systems} in the tree not entered ({spell.other_file_systems})",
            file_systems=format_count(counts["mounts"], "other file system"),
        )
    snapshots = {name: many for name, many in counts["snapshots"].items() if many}
    if snapshots:
        yield Message(
            "snapshots-skipped",
            "snapshots not entered: {snapshots} ({spell.snapshots})",
            snapshots=", ".join(f"{name} {many}" for name, many in snapshots.items()),
        )
    if counts["released"]:
        yield Message(
            "released-files",
            "{files} without a block on disk (on tape, a hole, or in the inode) are never opened",
            files=format_count(counts["released"], "file"),
        )
    if counts["linked_elsewhere"]:
        files = format_count(counts["linked_elsewhere"], "file")
        yield Message("links-outside", "{files} with names outside of the tree, too", files=files)
    if counts["links_unchecked"]:
        yield Message(
            "unchecked-links",
            "{n_files:,} of files with several names may be counted twice",
            n_files=counts["links_unchecked"],
        )


def _format_directories(many: int) -> str:
    return "1 directory" if many == 1 else f"{many:,} directories"


def _describe_file_list(counts: dict[str, Any]) -> Iterator[Message]:
    if "owners" in counts:
        yield Message("list-of-names", "from a list ({form}), each name of which was looked up", form=counts["form"])
    else:
        yield Message(
            "list-of-sizes",
            "from a list ({form}) with its sizes: a file with several names counts as several; who owns what, ages "
            "and what is allocated are not known",
            form=counts["form"],
        )
    outside = {"outside": "not below the tree", "not_files": "no files", "vanished": "not found"}
    if reasons := [f"{counts[name]:,} {words}" for name, words in outside.items() if counts[name]]:
        yield Message("names-left-out", "names of the list that are left out: {names}", names=", ".join(reasons))
    if counts.get("released"):
        files = format_count(counts["released"], "file")
        yield Message("released-files", "{files} without a block on disk are never opened", files=files)
