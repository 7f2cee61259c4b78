"""What a rank leaves behind after each phase, and how the parent reads it, whole or in parts.

``SPOOL/rank-00003/phase-04.npy`` (records) and ``phase-04.json`` (totals), written before the next barrier:
when MPI kills the survivors of a dead rank, what was finished is still there. The json is renamed into place
last, so a phase is either there whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.schema import OPERATION, RECORD


@dataclass
class RankPhase:
    """One rank's part of one phase. Times are this rank's CLOCK_MONOTONIC until ``shift_ns`` is applied.

    ``operations`` has dtype ``schema.OPERATION``; ``recorded_all`` is False if it is a sample.
    """

    rank: int
    phase: int
    started_ns: int
    ended_ns: int
    stopped: str
    recorded_all: bool
    totals: list[dict[str, int]]
    errors: list[dict[str, Any]]
    cache: dict[str, Any] = field(default_factory=dict)
    at_time_limit: list[dict[str, int]] | None = None
    histograms: dict[str, list[list[int]]] = field(default_factory=dict)
    operations: npt.NDArray[Any] | None = None

    def total(self, kind: int, what: str) -> int:
        """An exact total of one kind: ``count``, ``bytes``, ``errors`` …; 0 if the kind did not occur."""
        return sum(entry[what] for entry in self.totals if entry["kind"] == kind)


def write(spool: Path, part: RankPhase) -> None:
    """Leave one phase of one rank in the spool."""
    folder = spool / f"rank-{part.rank:05d}"
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"phase-{part.phase:02d}"
    if part.operations is not None:
        np.save(f"{stem}.npy", part.operations)
    fields = {name: value for name, value in vars(part).items() if name != "operations"}
    beside = Path(f"{stem}.tmp")
    beside.write_text(json.dumps(fields))
    beside.rename(f"{stem}.json")


def read(spool: Path, rank: int, phase: int) -> RankPhase | None:
    """One phase of one rank, or None if that rank did not finish it."""
    stem = spool / f"rank-{rank:05d}" / f"phase-{phase:02d}"
    try:
        part = RankPhase(**json.loads(Path(f"{stem}.json").read_text()))
    except FileNotFoundError:
        return None
    records = Path(f"{stem}.npy")
    if records.exists():
        part.operations = np.load(records, allow_pickle=False)
    return part


def as_operations(records: npt.NDArray[np.uint64], rank: int, phase: int) -> npt.NDArray[Any]:
    """The engine's packed 32-byte records as rows of ``schema.OPERATION``."""
    packed = records.reshape(-1, 4).view(RECORD)[:, 0]
    rows = np.empty(len(packed), OPERATION)
    rows["rank"], rows["phase"] = rank, phase
    for name in ("start_ns", "offset", "size", "file"):
        rows[name] = packed[name]
    rows["kind"] = packed["packed"] & 0xFF
    rows["status"] = (packed["packed"] >> 8) & 0xFF
    rows["duration_ns"] = packed["packed"] >> 16
    return rows


def files(spool: Path, rank: int) -> Iterator[tuple[str, bytes]]:
    """All that one rank left, as (name, content): what travels to rank 0 from another node."""
    folder = spool / f"rank-{rank:05d}"
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        yield name, (folder / name).read_bytes()


def put(spool: Path, rank: int, name: str, content: bytes) -> None:
    """Store a file that came from another node."""
    folder = spool / f"rank-{rank:05d}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / Path(name).name).write_bytes(content)
