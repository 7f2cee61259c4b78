"""The files in which a rank leaves each phase's results, and how the parent reads them, whole or in parts.

Each rank has a file, ``SPOOL/rank-00003``, with a frame per phase or command, appended before the next barrier. So
finished frames survive when MPI kills the survivors of a dead rank, and the length reveals a frame that was cut short.
A frame is ``magic, phase, length of head, length of records``, the head (JSON) and the records (bytes of
``schema.OPERATION``). A command's output is a separate file, ``SPOOL/output-00003-0007`` (rank, frame). A rank's counts
of its node's network traffic while all ranks worked are in ``SPOOL/wire-00003``, a line of JSON for each frame.
"""

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.schema import OPERATION, RECORD

_HEAD = struct.Struct("<4sIQQ")
_MAGIC = b"iosp"
_NAME = re.compile(r"(?:rank|output|wire)-(\d{5,})(?:-\d{4,})?")
# Size of one message to rank 0: a rank's file may be larger than a message should be.
PIECE_BYTES = 16 * 2**20


@dataclass
class RankPhase:
    """Part of one rank in one phase. Times are this rank's CLOCK_MONOTONIC.

    ``operations`` has dtype ``schema.OPERATION``; ``recorded_all`` is False if it is a sample. ``totals`` are exact,
    one entry per kind, as ``_native.PhaseRecord.totals``. ``command`` is how a command ended
    (``command.CommandResult``), empty for a phase. ``extra_bytes`` were moved beyond those of ``totals`` (None:
    unknown). ``truth`` is that of a scripted machine (``core/truth.py``). ``hints`` are those requested from MPI-IO
    (``asked``) and those in force (``took``).
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
    histograms: dict[str, list[list[int]]] = field(default_factory=dict)
    operations: npt.NDArray[Any] | None = None
    command: dict[str, Any] = field(default_factory=dict)
    extra_bytes: int | None = 0
    hints: dict[str, dict[str, str]] = field(default_factory=dict)
    truth: str = ""

    def total(self, kind: int, what: str) -> int:
        """Return an exact total of one kind: ``count``, ``bytes``, ``errors`` …; 0 if the kind did not occur."""
        return sum(entry[what] for entry in self.totals if entry["kind"] == kind)


def build_rank_path(spool: Path, rank: int) -> Path:
    """Return the file of one rank."""
    return spool / f"rank-{rank:05d}"


def build_output_path(spool: Path, rank: int, frame: int) -> Path:
    """Return the output file of a command on one rank."""
    return spool / f"output-{rank:05d}-{frame:04d}"


def build_wire_path(spool: Path, rank: int) -> Path:
    """Return the file of one rank's network counts."""
    return spool / f"wire-{rank:05d}"


def build_server_counts_path(spool: Path, phase: int, when: str) -> Path:
    """Return the file of the servers' counters at the begin or end of a phase."""
    return spool / f"servers-{phase}-{when}.json"


def write_wire(spool: Path, rank: int, frame: int, counted: dict[str, Any]) -> None:
    """Append the counts of a frame."""
    with build_wire_path(spool, rank).open("a") as file:
        file.write(json.dumps({"frame": frame, **counted}) + "\n")


def read_wire(spool: Path) -> dict[int, dict[int, dict[str, Any]]]:
    """Return frame → rank → its counts; only complete lines."""
    counts_by_frame: dict[int, dict[int, dict[str, Any]]] = {}
    for rank in list_ranks(spool):
        path = build_wire_path(spool, rank)
        for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
            if line.endswith("\n"):
                counted = json.loads(line)
                counts_by_frame.setdefault(counted.pop("frame"), {})[rank] = counted
    return counts_by_frame


def list_ranks(spool: Path) -> list[int]:
    """List the ranks that left a file here."""
    return sorted({int(match.group(1)) for path in spool.iterdir() if (match := _NAME.fullmatch(path.name))})


def append_phase(spool: Path, part: RankPhase) -> None:
    """Append one phase of one rank to its file."""
    fields = {name: value for name, value in vars(part).items() if name != "operations"}
    head = json.dumps(fields | {"recorded": part.operations is not None}).encode()
    records = b"" if part.operations is None else np.ascontiguousarray(part.operations).view(np.uint8).data
    with build_rank_path(spool, part.rank).open("ab") as file:
        file.write(_HEAD.pack(_MAGIC, part.phase, len(head), len(records)))
        file.write(head)
        file.write(records)


def index_frames(spool: Path, ranks: int) -> list[dict[int, int]]:
    """Return, for every rank, phase → where its frame starts in the rank's file; only complete frames."""
    return [_scan_frames(build_rank_path(spool, rank)) for rank in range(ranks)]


def _scan_frames(path: Path) -> dict[int, int]:
    offsets: dict[int, int] = {}
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return offsets
    with path.open("rb", buffering=0) as file:
        at = 0
        while at + _HEAD.size <= size:
            magic, phase, head, records = _HEAD.unpack(file.read(_HEAD.size))
            end = at + _HEAD.size + head + records
            if magic != _MAGIC or end > size:
                break
            offsets[phase] = at
            at = end
            file.seek(at)
    return offsets


def read_phase(spool: Path, rank: int, at: int) -> RankPhase:
    """Read the part whose frame starts at byte ``at`` of the rank's file."""
    with build_rank_path(spool, rank).open("rb", buffering=0) as file:
        file.seek(at)
        _, _, head, records = _HEAD.unpack(file.read(_HEAD.size))
        fields = json.loads(file.read(head))
        recorded = fields.pop("recorded")
        operations = np.fromfile(file, OPERATION, records // OPERATION.itemsize) if recorded else None
    return RankPhase(**fields, operations=operations)


def records_to_operations(records: npt.NDArray[np.uint64], rank: int, phase: int) -> npt.NDArray[Any]:
    """Convert the engine's packed 32-byte records to rows of ``schema.OPERATION``."""
    packed = records.reshape(-1, 4).view(RECORD)[:, 0]
    rows = np.empty(len(packed), OPERATION)
    rows["rank"], rows["phase"] = rank, phase
    for name in ("start_ns", "offset", "size", "file"):
        rows[name] = packed[name]
    rows["kind"] = packed["packed"] & 0xFF
    rows["status"] = (packed["packed"] >> 8) & 0xFF
    rows["duration_ns"] = packed["packed"] >> 16
    return rows


def iterate_pieces(spool: Path, rank: int) -> Iterator[bytes]:
    """Yield all files of one rank, in order, to be sent to rank 0 from another node. A piece is one length byte, the
    name of the file, and its next content."""
    for path in (
        build_rank_path(spool, rank),
        build_wire_path(spool, rank),
        *sorted(spool.glob(f"output-{rank:05d}-*")),
    ):
        name = path.name.encode()
        try:
            with path.open("rb") as file:
                while content := file.read(PIECE_BYTES):
                    yield bytes([len(name)]) + name + content
        except FileNotFoundError:
            continue


def remove_sent_files(spool: Path, rank: int) -> None:
    """Remove what this rank has sent, because ``append_piece`` appends."""
    for path in (build_rank_path(spool, rank), build_wire_path(spool, rank), *spool.glob(f"output-{rank:05d}-*")):
        path.unlink(missing_ok=True)


def append_piece(spool: Path, piece: bytes | bytearray) -> None:
    """Append a piece from another node to the file that it names. Raises ValueError for a name that is not ours."""
    end = 1 + piece[0]
    name = bytes(piece[1:end]).decode("ascii", "replace")
    if not _NAME.fullmatch(name):
        raise ValueError(f"a rank sent a file called {name!r}")
    with (spool / name).open("ab") as file:
        file.write(memoryview(piece)[end:])
