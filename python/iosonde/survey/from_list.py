"""A walk replaced by an existing list of files: the same totals, and two samples in one pass.

Names without a size are all looked up; with sizes, only drawn files are.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.engine import _native

from .listing import FileList, read_list
from .lookup import LookUp, StatusTable
from .walk import DrawnFiles, Walked, WalkOptions

_CHUNK = 1 << 15
_DEPTHS = 65
_MOST_LINKED = 1 << 22  # hard-linked inodes remembered; beyond, every name counts
_SIZE_EDGES = 2 ** np.arange(64, dtype=np.uint64)
_AGE_EDGES_S = 86_400 * np.array(_native.AGE_EDGES_DAYS)
_COLUMNS = ("size", "allocated", "device", "inode", "owner", "modified_ns", "accessed_s")
Table = npt.NDArray[np.uint64]


def walk_list(
    options: WalkOptions, resolved: str, source: str, look_up: LookUp, on_files: Callable[[int], object] | None = None
) -> Walked:
    """Build the totals and samples from a list. ``source``: the file with the list, ``-`` for standard input. Names
    begin with the path of ``options``, absolute or relative, or with the ``resolved`` path. ``look_up`` returns the
    status of names relative to the root. Raises InputError, and what ``look_up`` raises."""
    began, now_s = time.monotonic(), int(time.time())
    with _open_list(source) as stream:
        listed = read_list(stream, "the list" if source == "-" else source, os.fsencode(options.path))
        if options.allocated and listed.form.sized:
            raise InputError(
                "conflicting-options",
                "{source}: a list of sizes has no allocated sizes",
                "remove {spell.allocated}",
                source=source,
            )
        totals = _ListTotals(options, now_s)
        for names, sizes in _iter_chunks(listed, _Names(options.path, resolved, totals.outside)):
            if listed.form.sized:
                totals.sized(names, np.array(sizes, np.uint64))
            else:
                totals.add_looked_up_files(names, look_up(names))
            if on_files:
                on_files(int(totals.numbers["files"]))
        by_count, by_size = (sample.drawn(look_up) for sample in (totals.by_count, totals.by_size))
    if not totals.numbers["files"] and totals.outside[0]:
        raise InputError(
            "path-not-listed",
            "{source}: no listed file is below {path}",
            "give the path of the tree as in the list",
            source=source,
            path=options.path,
        )
    summary = totals.build_counts(listed)
    return Walked(summary, by_count.first(options.draws), by_size.first(options.draws), time.monotonic() - began, now_s)


@contextmanager
def _open_list(source: str) -> Iterator[BinaryIO]:
    try:
        with open(0 if source == "-" else source, "rb", closefd=source != "-") as stream:
            yield stream
    except OSError as error:
        if error.filename != source and source != "-":
            raise
        raise InputError(
            "unreadable-file",
            "{source}: {reason}",
            "give the file with the list, or - for standard input",
            source=source,
            reason=error.strerror,
        ) from error


class _Names:
    """Names relative to the root of the tree; others are counted and left out."""

    def __init__(self, path: str, resolved: str, outside: list[int]) -> None:
        ways = (path, os.path.abspath(path), resolved)
        self._starts = tuple(os.fsencode(way).rstrip(b"/") + b"/" for way in dict.fromkeys(ways))
        self._outside = outside

    def get_name_below_root(self, name: bytes) -> bytes | None:
        """Return ``a/b`` for ``/tree/a/b`` and for ``./a/b``, None if it is not below the root."""
        for start in self._starts:
            if name.startswith(start):
                name = name[len(start) :]
                break
        parts = [part for part in name.split(b"/") if part not in (b"", b".")]
        if name.startswith(b"/") or not parts or b".." in parts or b"\0" in name:
            self._outside[0] += 1
            return None
        return b"/".join(parts)


def _iter_chunks(listed: FileList, names: _Names) -> Iterator[tuple[list[bytes], list[int]]]:
    while some := list(islice(listed.entries, _CHUNK)):
        entries = [(size or 0, below) for size, name in some if (below := names.get_name_below_root(name)) is not None]
        if entries:
            yield [name for _, name in entries], [size for size, _ in entries]


class _ListTotals:
    def __init__(self, options: WalkOptions, now_s: int) -> None:
        self.options, self.now_s = options, now_s
        self.random = np.random.default_rng(options.seed)
        self.by_count, self.by_size = _Smallest(options.draws), _Smallest(options.draws)
        self.numbers = dict.fromkeys(("files", "bytes", "empty", "vanished", "not_files"), 0)
        self.exact = dict.fromkeys(("allocated_bytes", "released", "released_bytes", "hard_links"), 0)
        self.outside = [0]
        self.tables = {
            name: np.zeros((rows, 3), np.uint64)
            for name, rows in (("sizes", 65), ("modified", 9), ("accessed", 9), ("depths", _DEPTHS))
        }
        self.owners: dict[int, list[int]] = {}
        self.linked: set[tuple[int, int]] = set()

    def sized(self, names: Sequence[bytes], sizes: Table) -> None:
        """Add files with known sizes only."""
        self._add(names, sizes, np.zeros_like(sizes), sizes)

    def add_looked_up_files(self, names: Sequence[bytes], table: StatusTable) -> None:
        """Add files that were looked up."""
        self.numbers["vanished"] += int((~table["found"]).sum())
        counted = [row for row in np.flatnonzero(table["found"]).tolist() if self._is_regular_and_uncounted(table[row])]
        if not counted:
            return
        files = table[counted]
        size, allocated = files["size"], 512 * files["blocks"]
        self._add([names[row] for row in counted], size, allocated, allocated if self.options.allocated else size)
        rows = np.stack([np.ones_like(size), size, allocated], axis=1)
        for name, times in (("modified", files["modified_ns"] / 1e9), ("accessed", files["accessed_s"])):
            np.add.at(self.tables[name], np.searchsorted(_AGE_EDGES_S, self.now_s - times, "right"), rows)
        released = (size > 0) & (allocated == 0)
        self.exact["allocated_bytes"] += int(allocated.sum())
        self.exact["released"] += int(released.sum())
        self.exact["released_bytes"] += int(size[released].sum())
        for owner in np.unique(files["owner"]):
            total = self.owners.setdefault(int(owner), [0, 0, 0])
            for column, more in enumerate(rows[files["owner"] == owner].sum(axis=0).tolist()):
                total[column] += more

    def _is_regular_and_uncounted(self, row: np.void) -> bool:
        """Return whether it is a regular file that was not counted by another name."""
        if not stat.S_ISREG(int(row["mode"])):
            self.numbers["not_files"] += 1
            return False
        if row["links"] > 1 and len(self.linked) < _MOST_LINKED:
            before = len(self.linked)
            self.linked.add((int(row["device"]), int(row["inode"])))
            if len(self.linked) == before:
                self.exact["hard_links"] += 1
                return False
        return True

    def _add(self, names: Sequence[bytes], sizes: Table, allocated: Table, masses: Table) -> None:
        rows = np.stack([np.ones_like(sizes), sizes, allocated], axis=1)
        np.add.at(self.tables["sizes"], np.searchsorted(_SIZE_EDGES, sizes, "right"), rows)
        np.add.at(self.tables["depths"], np.minimum([name.count(b"/") for name in names], _DEPTHS - 1), rows)
        self.numbers["files"] += len(names)
        self.numbers["bytes"] += int(sizes.sum())
        self.numbers["empty"] += int((sizes == 0).sum())
        chances = self.random.random(len(names))
        self.by_count.add_if_small_enough(chances, names, sizes)
        some = np.flatnonzero(masses)
        self.by_size.add_if_small_enough(chances[some] / masses[some], [names[at] for at in some.tolist()], sizes[some])

    def build_counts(self, listed: FileList) -> dict[str, Any]:
        """Return the counts as a walk does, without those that a list of sizes lacks."""
        numbers = {**self.numbers, "outside": self.outside[0]}
        numbers["not_files"] += listed.not_files
        exact = {} if listed.form.sized else {**self.exact, "owners": self.owners}
        tables = {name: table for name, table in self.tables.items() if exact or name in ("sizes", "depths")}
        return {**numbers, **tables, **exact, "form": listed.form.name}


class _Smallest:
    """The files with the smallest keys: ``draws`` plus one."""

    def __init__(self, draws: int) -> None:
        self._most = draws + 1
        self._keys: npt.NDArray[np.float64] = np.empty(0)
        self._files: list[tuple[bytes, int]] = []

    def add_if_small_enough(self, keys: npt.NDArray[np.float64], names: Sequence[bytes], sizes: Table) -> None:
        """Add files; keep those with small enough keys."""
        least = self._keys[-1] if len(self._keys) == self._most else np.inf
        some = np.flatnonzero(keys < least)
        files = [*self._files, *((names[at], int(sizes[at])) for at in some.tolist())]
        all_keys = np.concatenate([self._keys, keys[some]])
        order = np.argsort(all_keys, kind="stable")[: self._most]
        self._keys, self._files = all_keys[order], [files[at] for at in order.tolist()]

    def drawn(self, look_up: LookUp) -> DrawnFiles:
        """Return the sample with the current status of each file. A size that differs stays that of the list, so that
        the change is detected later."""
        names, sizes = [name for name, _ in self._files], [size for _, size in self._files]
        rows = list(map(_build_row, names, sizes, look_up(names)))
        columns = dict(zip(_COLUMNS, np.array(rows, object).reshape(-1, len(_COLUMNS)).T, strict=True))
        return DrawnFiles(tuple(names), {"key": self._keys, **columns}, None)


def _build_row(name: bytes, size: int, now: np.void) -> tuple[int, ...]:
    if not now["found"]:  # no file has this device: it will be reported as vanished
        return (size, 1, -1, int.from_bytes(blake2b(name, digest_size=8).digest(), "big"), 0, 0, 0)
    allocated = 512 * int(now["blocks"]) if now["size"] == size else 1
    columns = ("device", "inode", "owner", "modified_ns", "accessed_s")
    return (size, allocated, *(int(now[name]) for name in columns))
