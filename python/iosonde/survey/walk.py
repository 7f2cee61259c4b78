"""The walk of a tree: everything that is known of files without opening one, and which of them are drawn."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.engine import _native

THREADS = 16  # a walk mostly waits: for the disks, or for a server's answers


@dataclass(frozen=True)
class WalkAsked:
    """Where, how many are drawn by either way, and what belongs to the tree. ``allocated``: the size that counts is
    what is allocated."""

    path: str
    seed: int
    draws: int
    allocated: bool = False
    other_file_systems: bool = False
    snapshots: bool = False
    threads: int = THREADS


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
        return DrawnFiles(self.paths[:count], {name: one[:count] for name, one in self.columns.items()}, threshold)


@dataclass(frozen=True)
class Walked:
    """What ``_native.walk_tree`` found, in its words, the two samples, and how long it took."""

    found: dict[str, Any]
    by_count: DrawnFiles
    by_size: DrawnFiles
    seconds: float
    now_s: int

    @property
    def files(self) -> int:
        """Every regular file once."""
        return int(self.found["files"])


def walk(asked: WalkAsked, on_files: Callable[[int], object] | None = None) -> Walked:
    """Walk a tree. Raises InputError where it cannot be opened."""
    began, now_s = time.monotonic(), int(time.time())
    try:
        found = _native.walk_tree(
            os.fsencode(asked.path), threads=asked.threads, seed=asked.seed, by_count=asked.draws, by_size=asked.draws,
            now_s=now_s, allocated=asked.allocated, other_file_systems=asked.other_file_systems,
            snapshots=asked.snapshots, on_files=on_files,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        raise InputError(f"{asked.path}: {why}", "name a directory that you may read") from error
    by_count, by_size = (_drawn(found.pop(name), asked.draws) for name in ("by_count", "by_size"))
    return Walked(found, by_count, by_size, time.monotonic() - began, now_s)


def _drawn(columns: dict[str, Any], draws: int) -> DrawnFiles:
    paths = tuple(columns.pop("path"))
    return DrawnFiles(paths, columns, None).first(draws)


def chances_of(drawn: DrawnFiles, masses: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """With which chance each was drawn, given the threshold: a key is a random number of (0, 1) over the mass."""
    if drawn.threshold is None:
        return np.ones(len(drawn))
    return np.minimum(1.0, masses * drawn.threshold)
