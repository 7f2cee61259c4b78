"""Walk of a tree: all that is known of files without opening them, and samples drawn of them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.engine import _native

from .opening import WalkedFile

THREADS = 16  # a walk mostly waits for disks or servers


@dataclass(frozen=True)
class WalkOptions:
    """The tree to walk, and how many files to draw by either way.

    ``allocated``: use allocated sizes. ``by_owner``, ``by_depth``: draw as many files per owner, or per directory of
    this depth. ``rate``: entries per second, at most (0: no limit). ``share``: the part of the tree, and the number of
    parts.
    """

    path: str
    seed: int
    draws: int
    allocated: bool = False
    other_file_systems: bool = False
    snapshots: bool = False
    threads: int = THREADS
    by_owner: bool = False
    by_depth: int | None = None
    rate: int = 0
    share: tuple[int, int] = (0, 1)

    def shared(self, which: int, of: int) -> WalkOptions:
        """Return the options of one of several processes that walk the same tree."""
        return replace(self, share=(which, of))


@dataclass(frozen=True)
class DrawnFiles:
    """Files in the order of their keys, and the threshold key, from which on none was drawn (None: all were drawn)."""

    paths: tuple[bytes, ...]
    columns: dict[str, npt.NDArray[Any]]
    threshold: float | None

    def __len__(self) -> int:
        return len(self.paths)

    def first(self, count: int) -> DrawnFiles:
        """Return the sample that a smaller ``count`` with the same seed would have drawn."""
        if count >= len(self):
            return self
        threshold = float(self.columns["key"][count])
        return DrawnFiles(
            self.paths[:count], {name: column[:count] for name, column in self.columns.items()}, threshold
        )


@dataclass(frozen=True)
class Walked:
    """The counts of ``_native.walk_tree``, the two samples, and the duration. ``strata``: the same by part, with files,
    bytes and allocated_bytes alone."""

    counts: dict[str, Any]
    by_count: DrawnFiles
    by_size: DrawnFiles
    seconds: float
    now_s: int
    strata: Mapping[str, Walked] = field(default_factory=dict)

    @property
    def files(self) -> int:
        """Return the number of regular files, each counted once."""
        return int(self.counts["files"])


# Called about ten times a second: files so far, the path (from the root) waiting longest, and its waiting time.
OnWalk = Callable[[int, bytes, float], object]


class WalkStalledError(Exception):
    """Nothing in the tree answers any more: ``path`` (from the root) has not for ``hung_s``; ``files`` were counted."""

    def __init__(self, path: bytes, hung_s: float, files: int) -> None:
        super().__init__()
        self.path, self.hung_s, self.files = path, hung_s, files


def walk_tree(
    options: WalkOptions, root: str | None = None, limit_s: float = math.inf, on_walk: OnWalk | None = None
) -> Walked:
    """Walk a tree; ``root``: a path of it that stays valid. Raises InputError if it cannot be opened, WalkStalledError
    after ``limit_s`` without progress."""
    began, now_s = time.monotonic(), int(time.time())
    stall = _Stall(limit_s, on_walk or (lambda *_: None))
    try:
        totals = _native.walk_tree(
            os.fsencode(root or options.path),
            threads=options.threads,
            seed=options.seed,
            by_count=options.draws,
            by_size=options.draws,
            now_s=now_s,
            allocated=options.allocated,
            other_file_systems=options.other_file_systems,
            snapshots=options.snapshots,
            by_owner=options.by_owner,
            by_depth=options.by_depth,
            rate=options.rate,
            share=options.share,
            on_progress=stall,
        )
    except (OSError, ValueError) as error:
        raise InputError(
            "unreadable-directory",
            "{path}: {reason}",
            "give a readable directory",
            path=options.path,
            reason=(error.strerror if isinstance(error, OSError) else None) or "not a path",
        ) from error
    seconds, strata = time.monotonic() - began, totals.pop("strata")
    if strata is None:
        raise InputError(
            "too-many-parts",
            "cannot sample more than 10,000 parts separately",
            "choose fewer parts, such as a depth of 1",
        )
    parts = {
        os.fsdecode(stratum.pop("name")): _build_walked(stratum, options.draws, seconds, now_s, {})
        for stratum in strata
    }
    return _build_walked(totals, options.draws, seconds, now_s, parts)


class _Stall:
    """Monitors the threads of a walk: since when each is at its place, and when any of them last progressed."""

    def __init__(self, limit_s: float, on_walk: OnWalk) -> None:
        self._limit_s, self._on_walk = limit_s, on_walk
        self._since: dict[tuple[int, int], float] = {}
        self._advanced, self._heard = -1, 0.0

    def __call__(self, files: int, advanced: int, steps: list[tuple[int, int, bytes]]) -> None:
        """Receive the progress of ``walk_tree``. Raises WalkStalledError."""
        now = time.monotonic()
        if advanced != self._advanced:
            self._advanced, self._heard = advanced, now
        self._since = {(thread, step): self._since.get((thread, step), now) for thread, step, _ in steps}
        waits = [(now - self._since[thread, step], path) for thread, step, path in steps]
        waited_s, path = max(waits, default=(0.0, b""))
        self._on_walk(files, path, waited_s)
        if steps and now - self._heard >= self._limit_s:
            raise WalkStalledError(path, waited_s, files)


def _build_walked(totals: dict[str, Any], draws: int, seconds: float, now_s: int, strata: dict[str, Walked]) -> Walked:
    by_count, by_size = (_build_drawn(totals.pop(name), draws) for name in ("by_count", "by_size"))
    return Walked(totals, by_count, by_size, seconds, now_s, strata)


def _build_drawn(columns: dict[str, Any], draws: int) -> DrawnFiles:
    return DrawnFiles(tuple(columns.pop("path")), columns, None).first(draws)


def files_from_drawn(drawn: DrawnFiles) -> Iterable[WalkedFile]:
    """Convert drawn files to files to be read."""
    columns = [drawn.columns[name].tolist() for name in ("size", "allocated", "device", "inode", "modified_ns")]
    return (WalkedFile(path, *row) for path, *row in zip(drawn.paths, *columns, strict=True))
