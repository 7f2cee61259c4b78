"""What the walk of a tree knows of all its files, without a sample: sizes, ages, owners, and what was not seen."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.words import counted
from iosonde.engine import _native
from iosonde.survey.walk import Walked

_HALF, _MOST = 0.5, 0.9
_YEAR_DAYS = 365


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
    """The largest files that hold a ``share`` of the capacity: those of ``least`` bytes and more, ``files`` of all."""

    share: float
    least: int
    files: float


@dataclass(frozen=True)
class WalkSummary:
    """``numbers`` are those of the walk by their names; tables are from small to large, young to old, high to low."""

    numbers: dict[str, int]
    sizes: tuple[WalkRow, ...]
    modified: tuple[WalkRow, ...]
    accessed: tuple[WalkRow, ...]
    depths: tuple[WalkRow, ...]
    owners: int
    largest_owner: float
    tails: tuple[Tail, ...]
    old: tuple[float, float]
    notes: tuple[str, ...]
    capacity: int
    seconds: float

    @property
    def files(self) -> int:
        """Every regular file once."""
        return self.numbers["files"]

    def to_json(self) -> dict[str, Any]:
        """Its numbers, tables and what was not seen."""
        tables = {name: [row.to_json() for row in getattr(self, name)]
                  for name in ("sizes", "modified", "accessed", "depths")}  # fmt: skip
        return {**self.numbers, "capacity": self.capacity, "seconds": self.seconds, "owners": self.owners,
                "largest_owner": self.largest_owner, **tables, "notes": list(self.notes)}  # fmt: skip


def walk_summary(walked: Walked, allocated: bool) -> WalkSummary:
    """What the walk found, as it is said. ``allocated``: the capacity is what is allocated."""
    found, column = walked.found, 2 if allocated else 1
    numbers = {name: value for name, value in found.items() if isinstance(value, int)}
    ages = [*_native.AGE_EDGES_DAYS, None]
    owners = np.array(list(found["owners"].values())).reshape(-1, 3)[:, column]
    capacity = numbers["allocated_bytes" if allocated else "bytes"]
    first = _native.AGE_EDGES_DAYS.index(_YEAR_DAYS) + 1
    old = found["modified"][first:].sum(axis=0)
    return WalkSummary(
        numbers, _rows(found["sizes"], [0, *(2**power - 1 for power in range(1, 65))]), _rows(found["modified"], ages),
        _rows(found["accessed"], ages), _rows(found["depths"], [*range(len(found["depths"]) - 1), None]),
        len(found["owners"]), _part(float(owners.max(initial=0)), capacity), _tails(found["sizes"], column),
        (_part(float(old[0]), walked.files), _part(float(old[column]), capacity)), tuple(_notes(found)), capacity,
        walked.seconds,
    )  # fmt: skip


def _rows(table: Any, ends: list[int | None]) -> tuple[WalkRow, ...]:
    """Those that have a file."""
    return tuple(WalkRow(end, *row) for end, row in zip(ends, table.tolist(), strict=True) if row[0])


def _part(some: float, whole: float) -> float:
    return some / whole if whole else 0.0


def _tails(sizes: Any, column: int) -> tuple[Tail, ...]:
    """By whole powers of 2, as the table has them."""
    above = sizes[::-1].cumsum(axis=0)[::-1].astype(float)
    if not above[0, column]:
        return ()
    found = []
    for part in (_HALF, _MOST):
        row = int(np.flatnonzero(above[:, column] >= part * above[0, column])[-1])
        found.append(Tail(above[row, column] / above[0, column], 2 ** (row - 1) if row else 0,
                          above[row, 0] / above[0, 0]))  # fmt: skip
    return tuple(found)


def _notes(found: dict[str, Any]) -> Iterator[str]:
    """What is not in the numbers, or not as one would think."""
    if found["unreadable_directories"]:
        why = ", ".join(f"{errno.errorcode.get(code, code)} {many}" for code, many in found["errors"].items())
        yield f"{_directories(found['unreadable_directories'])} could not be read ({why}): what is in them is missing"
    if found["unknown_entries"]:
        yield f"{found['unknown_entries']:,} entries could not be looked at, and are missing"
    if found["vanished"]:
        yield f"{found['vanished']:,} vanished while they were looked at"
    if found["mounts"]:
        yield f"{counted(found['mounts'], 'other file system')} in the tree not entered (--other-file-systems)"
    snapshots = {name: many for name, many in found["snapshots"].items() if many}
    if snapshots:
        named = ", ".join(f"{name} {many}" for name, many in snapshots.items())
        yield f"snapshots not entered: {named} (--snapshots)"
    if found["released"]:
        yield (f"{counted(found['released'], 'file')} without a block on disk (on tape, a hole, or in the inode) are "
               "never opened")  # fmt: skip
    if found["linked_elsewhere"]:
        yield f"{counted(found['linked_elsewhere'], 'file')} with names outside of the tree, too"
    if found["links_unchecked"]:
        yield f"{found['links_unchecked']:,} of files with several names may be counted twice"


def _directories(many: int) -> str:
    return "1 directory" if many == 1 else f"{many:,} directories"
