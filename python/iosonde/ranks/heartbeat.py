"""What each rank says about itself while a trial runs, as small files that the watchdog can read.

A rank writes ``rank-N`` whenever it enters a phase or starts to wait, and once a second while it works, with
the count of operations it has done. The same thread looks whether the process that watches the trial is still
there, and ends the rank if not: a launcher that was killed must not leave ranks behind that go on writing.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType

from iosonde.ranks.processes import WATCHDOG_VARIABLE, is_gone

BEAT_S = 1.0

STARTING, RUNNING, WAITING, DONE = "starting", "running", "waiting", "done"


@dataclass(frozen=True)
class Beat:
    """A rank's last word. ``state``: starting, running, waiting (for the others) or done; ``since`` that
    state (seconds since 1970, the rank's clock); ``progress`` counts operations done in the phase. ``pulse`` counts
    instead while a command runs whose operations nobody sees: it says that the rank is alive.
    """

    rank: int
    host: str
    pid: int
    phase: str
    state: str
    since: float
    progress: int
    pulse: int = 0

    def sentence(self, now: float) -> str:
        """As people say it: ``rank 3 on n2: running write_large for 31 s (1200 operations done)``."""
        what = f"{self.state} {self.phase}" if self.phase else self.state
        seconds = max(0, now - self.since)
        if self.pulse:
            return f"rank {self.rank} on {self.host}: {what} for {seconds:.0f} s"
        return f"rank {self.rank} on {self.host}: {what} for {seconds:.0f} s ({self.progress} operations done)"


class Heartbeat:
    """The rank's side. ``progress`` is asked from another thread (``Session.operations_done``)."""

    def __init__(self, directory: Path, rank: int, interval_s: float = BEAT_S) -> None:
        self._path = directory / f"rank-{rank}"
        self._interval_s = interval_s
        self._progress: Callable[[], int] | None = None
        self._pulse: Callable[[], int] | None = None
        self._beat = Beat(rank, socket.gethostname(), os.getpid(), "", STARTING, time.time(), 0)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._write()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if error is None:
            self.enter("", DONE)

    def enter(
        self,
        phase: str,
        state: str = RUNNING,
        progress: Callable[[], int] | None = None,
        pulse: Callable[[], int] | None = None,
    ) -> None:
        """Say that this rank now is in ``phase`` in ``state``; ``progress`` counts its operations from now
        on, or ``pulse`` shows that it lives where nobody can count.
        """
        with self._lock:
            self._progress, self._pulse = progress, pulse
            last = self._beat
            self._beat = Beat(last.rank, last.host, last.pid, phase, state, time.time(), 0)
            self._write()

    def _run(self) -> None:
        watchdog = os.environ.get(WATCHDOG_VARIABLE, "")
        while not self._stop.wait(self._interval_s):
            if is_gone(watchdog):
                os.write(2, f"iosonde: rank {self._beat.rank}: the process that watched it is gone\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)  # nothing less ends threads inside a system call
            with self._lock:
                done = self._progress() if self._progress else 0
                pulse = self._pulse() if self._pulse else 0
                if (done, pulse) != (self._beat.progress, self._beat.pulse):
                    self._beat = Beat(**{**asdict(self._beat), "progress": done, "pulse": pulse})
                    self._write()

    def _write(self) -> None:
        """Replace the file as a whole. A heartbeat that cannot be written (disk full) must not end a rank."""
        beside = self._path.with_name(self._path.name + ".new")
        try:
            beside.write_text(json.dumps(asdict(self._beat)))
            beside.replace(self._path)
        except OSError:
            beside.unlink(missing_ok=True)


def read_beats(directory: Path) -> list[Beat]:
    """The last word of every rank that has spoken, in order of rank. A damaged file is left out."""
    beats = []
    for path in directory.glob("rank-*"):
        if path.suffix == ".new":
            continue
        try:
            found = json.loads(path.read_text())
            beats.append(Beat(**{field.name: found[field.name] for field in fields(Beat)}))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return sorted(beats, key=lambda beat: beat.rank)


def waited_for(beats: list[Beat], ranks: int) -> list[int]:
    """The ranks that the others wait for: those that never spoke and those that run; where all wait, those
    that are behind the rank that spoke last.
    """
    silent = sorted(set(range(ranks)) - {beat.rank for beat in beats})
    running = [beat.rank for beat in beats if beat.state in (STARTING, RUNNING)]
    waiting = [beat for beat in beats if beat.state == WAITING]
    if silent or running or not waiting:
        return sorted(silent + running)
    ahead = max(waiting, key=lambda beat: beat.since).phase
    return [beat.rank for beat in waiting if beat.phase != ahead] or [beat.rank for beat in waiting]
