"""A phase through MPI-IO, with the methods and the record of the engine's session.

A call of the library is an operation. The records do not show whether it became one large access or many small ones;
the number of bytes that the process moved (``/proc/self/io``) does.
"""

import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import SystemFaultError, TargetError
from iosonde.core.schema import RECORD, STATUS_MISMATCH, STATUS_OK, STATUS_SHORT
from iosonde.core.workload import MpiIo
from iosonde.ranks.mpi import Ranks
from iosonde.ranks.mpi_io import SharedFile

STATUS_OTHER = 249  # a failure that has no errno
MOST_ERRORS = 100


@dataclass
class Record:
    """This rank's record of the phase: the fields of ``_native.PhaseRecord``. ``extra_bytes`` may be negative on a rank
    whose bytes another one moved; None if the system does not count them."""

    started_ns: int
    ended_ns: int
    stopped: str
    operations: npt.NDArray[np.uint64]
    totals: list[dict[str, int]]
    errors: list[dict[str, Any]]
    extra_bytes: int | None
    complete: bool = True
    histograms: dict[int, Any] = field(default_factory=dict)


@dataclass
class _Done:
    kind: str
    status: int
    offset: int
    size: int
    start_ns: int
    duration_ns: int

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.duration_ns


class Session:
    """A phase of this rank; all ranks create theirs together. ``hints`` are those in force, once it has run."""

    def __init__(self, access: MpiIo, root: str, seed: int, ranks: Ranks) -> None:
        self._access, self._seed, self._ranks = access, seed, ranks
        self._path = Path(root) / access.file
        self._done: list[_Done] = []
        self._errors: list[dict[str, Any]] = []
        self.hints: dict[str, str] = {}

    def prepare(self, _phase: int) -> None:
        """Do everything that must not be timed. Raises TargetError, LaunchError."""
        try:
            ours = stat.S_ISREG(self._path.lstat().st_mode)
        except OSError as error:
            raise TargetError(
                "io-error", "{path}: {reason}", "mount the target on every node", path=self._path, reason=error.strerror
            ) from error
        if not ours:
            raise TargetError(
                "file-replaced",
                "{path} is not the file that was created",
                "something else writes below the target",
                path=self._path,
            )
        access = self._access
        size = min(access.per_call, access.count) * access.piece
        self._buffer = np.random.default_rng().integers(0, 256, size, np.uint8)
        self._ranks.library()

    def operations_done(self) -> int:
        """Return the number of operations so far; any thread may call it."""
        return len(self._done)

    def run(self, _phase: int, start_at_ns: int = 0) -> list[Record]:
        """Open, make all calls, sync after writing, close. A failed call is recorded and the others follow, because all
        ranks must make a collective call."""
        while time.monotonic_ns() < start_at_ns:
            pass
        writes, extra = self._access.kind == "write", None
        opened: list[SharedFile] = []
        self._time_call("open", lambda: opened.append(SharedFile(self._ranks, self._path, writes, self._access.hints)))
        for file in opened:
            extra = self._make_calls(file)
            if writes:
                self._time_call("fsync", file.sync)
            self.hints = file.hints()
            self._time_call("close", file.close)
        return [self._build_record(extra)]

    def close(self) -> None:
        """Do nothing: no file is left open."""

    def _make_calls(self, file: SharedFile) -> int | None:
        """Make all reads or writes. Return how many bytes were moved beyond the requested ones."""
        access = self._access
        file.view(access.base, access.piece, access.hole)
        before = _read_process_io_bytes()
        for first in range(0, access.count, access.per_call):
            pieces = min(access.per_call, access.count - first)
            self._make_call(file, first, self._buffer[: pieces * access.piece])
        after = _read_process_io_bytes()
        return None if before is None or after is None else after - before - access.count * access.piece

    def _make_call(self, file: SharedFile, first: int, buffer: npt.NDArray[np.uint8]) -> None:
        from iosonde.engine import _native

        access = self._access
        offset = access.base + first * (access.piece + access.hole)
        content = (buffer, self._seed, access.file, offset, access.piece, access.hole)
        if access.kind == "write" and access.verify:
            _native.fill_content(*content)
        elif access.kind == "write":
            _make_unique(buffer)
        at, collective = first * access.piece, access.collective
        done = self._time_call(access.kind, lambda: file.move(access.kind, at, buffer, collective), offset, len(buffer))
        if access.kind == "read" and access.verify and done.status == STATUS_OK:
            bad = _native.content_mismatch(*content)
            if bad is not None:
                self._record_failure(done, STATUS_MISMATCH, bad, f"byte {bad} is not what was written")

    def _time_call(self, kind: str, call: Callable[[], int | None], offset: int = 0, size: int = 0) -> _Done:
        """Make one call and record its times. ``size`` is the number of bytes that it should move and returns."""
        message, moved = "", None
        start_ns = time.monotonic_ns()
        try:
            moved = call()
        except SystemFaultError as error:
            message = error.message
        done = _Done(kind, STATUS_OK, offset, moved or 0, start_ns, time.monotonic_ns() - start_ns)
        self._done.append(done)
        if message:
            self._record_failure(done, STATUS_OTHER, offset, message)
        elif done.size < size:
            self._record_failure(done, STATUS_SHORT, offset, f"{done.size} of {size} bytes")
        return done

    def _record_failure(self, done: _Done, status: int, offset: int, text: str) -> None:
        done.status = status
        if len(self._errors) < MOST_ERRORS:
            path = self._access.file
            self._errors.append({"kind": done.kind, "path": path, "offset": offset, "errno": status, "text": text})

    def _build_record(self, extra: int | None) -> Record:
        from iosonde.engine import _native

        rows = np.zeros(len(self._done), RECORD)
        by_kind: dict[int, list[_Done]] = {}
        for place, done in enumerate(self._done):
            kind = _native.KINDS.index(done.kind)
            by_kind.setdefault(kind, []).append(done)
            rows[place] = (done.start_ns, done.offset, kind | done.status << 8 | done.duration_ns << 16, done.size, 0)
        totals = [_sum_calls(kind, by_kind[kind]) for kind in sorted(by_kind)]
        first, last = self._done[0].start_ns, max(done.end_ns for done in self._done)
        stopped = "error" if self._errors else "count"
        return Record(first, last, stopped, rows.view(np.uint64).reshape(-1, 4), totals, self._errors, extra)


def _sum_calls(kind: int, calls: list[_Done]) -> dict[str, int]:
    return {
        "kind": kind,
        "count": len(calls),
        "bytes": sum(done.size for done in calls),
        "errors": sum(done.status != STATUS_OK for done in calls),
        "first_start_ns": min(done.start_ns for done in calls),
        "last_end_ns": max(done.end_ns for done in calls),
        "sum_duration_ns": sum(done.duration_ns for done in calls),
    }


def _make_unique(buffer: npt.NDArray[np.uint8]) -> None:
    """Make the buffer differ from all earlier writes, so that deduplication gains nothing."""
    words = buffer[: len(buffer) // 8 * 8].view(np.uint64)
    words[::512] += np.uint64(1)


def _read_process_io_bytes() -> int | None:
    """Return the bytes that this process moved by read and write calls, including holes; None if the kernel does not
    count."""
    try:
        lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    except OSError:
        return None
    return int(lines["rchar"]) + int(lines["wchar"])
