"""The walk of a tree: everything that is known of files without opening one, and which of them are drawn."""

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

THREADS = 16  # a walk mostly waits: for the disks, or for a server's answers


@dataclass(frozen=True)
class WalkOptions:
    """Where, how many are drawn by either way, and what belongs to the tree.

    ``allocated``: the size that counts is what is allocated. ``by_owner``, ``by_depth``: as many are also drawn of each
    owner, or of each directory so deep. ``rate``: looks at entries a second, at most (0: no limit).
    ``share``: which part of the tree, of how many.
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
        """The part of one of several processes that walk the same tree."""
        return replace(self, share=(which, of))


@dataclass(frozen=True)
class DrawnFiles:
    """Files in the order of their keys, and the key from which on none was drawn (None: all there are)."""

    paths: tuple[bytes, ...]
    columns: dict[str, npt.NDArray[Any]]
    threshold: float | None

    def __len__(self) -> int:
        return len(self.paths)

    def first(self, count: int) -> DrawnFiles:
        """The sample of the same seed that would have been drawn with a smaller number."""
        if count >= len(self):
            return self
        threshold = float(self.columns["key"][count])
        return DrawnFiles(
            self.paths[:count], {name: column[:count] for name, column in self.columns.items()}, threshold
        )


@dataclass(frozen=True)
class Walked:
    """What ``_native.walk_tree`` found, in its words, the two samples, and how long it took. ``strata``: the same of
    each part, by its name, with files, bytes and allocated_bytes alone."""

    counts: dict[str, Any]
    by_count: DrawnFiles
    by_size: DrawnFiles
    seconds: float
    now_s: int
    strata: Mapping[str, Walked] = field(default_factory=dict)

    @property
    def files(self) -> int:
        """Every regular file once."""
        return int(self.counts["files"])


# Called about ten times a second: files seen so far, what is waited for the longest (from the root on), and how long.
OnWalk = Callable[[int, bytes, float], object]


class WalkStalledError(Exception):
    """Nothing in the tree answers any more: ``path`` (from the root on) has not for ``hung_s``; ``files`` were seen."""

    def __init__(self, path: bytes, hung_s: float, files: int) -> None:
        super().__init__()
        self.path, self.hung_s, self.files = path, hung_s, files


def walk(
    options: WalkOptions, root: str | None = None, limit_s: float = math.inf, on_walk: OnWalk | None = None
) -> Walked:
    """Walk a tree; ``root``: a path of it that stays. Raises InputError where it cannot be opened, WalkStalledError
    where nothing got on for ``limit_s``."""
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
        why = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        raise InputError(
            "unreadable-directory",
            "{path}: {reason}",
            "name a directory that you may read",
            path=options.path,
            reason=why,
        ) from error
    seconds, strata = time.monotonic() - began, totals.pop("strata")
    if strata is None:
        raise InputError(
            "too-many-parts",
            "there are more than 10,000 parts to sample by themselves",
            "name fewer: a depth of 1, say",
        )
    parts = {
        os.fsdecode(stratum.pop("name")): _build_walked(stratum, options.draws, seconds, now_s, {})
        for stratum in strata
    }
    return _build_walked(totals, options.draws, seconds, now_s, parts)


class _Stall:
    """Follows the threads of a walk: since when each is where it is, and when any of them last got on."""

    def __init__(self, limit_s: float, on_walk: OnWalk) -> None:
        self._limit_s, self._on_walk = limit_s, on_walk
        self._since: dict[tuple[int, int], float] = {}
        self._advanced, self._heard = -1, 0.0

    def __call__(self, files: int, advanced: int, steps: list[tuple[int, int, bytes]]) -> None:
        """As ``walk_tree`` tells it. Raises WalkStalledError."""
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
    paths = tuple(columns.pop("path"))
    return DrawnFiles(paths, columns, None).first(draws)


def files_from_drawn(drawn: DrawnFiles) -> Iterable[WalkedFile]:
    """The drawn files as they are looked at."""
    columns = [drawn.columns[name].tolist() for name in ("size", "allocated", "device", "inode", "modified_ns")]
    return (WalkedFile(path, *row) for path, *row in zip(drawn.paths, *columns, strict=True))
