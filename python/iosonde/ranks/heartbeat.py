"""A rank's heartbeat: a thread that reports its state and progress once a second (`beats`).

The same thread ends the rank if the process that watches the trial is gone: after a killed launcher no rank may
continue to write. It also checks that the launcher process that started the rank (Hydra's proxy, Slurm's step daemon)
lives. Without it nobody would notice how the rank ends.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from iosonde.ranks.beats import DONE, RUNNING, STARTING, WAITING, Beat, write_beat
from iosonde.ranks.processes import WATCHDOG_VARIABLE, is_gone, name_of
from iosonde.ranks.pulse import Pulse
from iosonde.ranks.relay import Relay

__all__ = ["DONE", "RUNNING", "STARTING", "WAITING", "Heartbeat"]

BEAT_S = 1.0
ORPHAN_S = 10.0  # time for a local watchdog to end a rank whose launcher is gone; then the rank ends itself


class Heartbeat:
    """The heartbeat of a rank. ``progress`` is called from another thread (``Session.operations_done``).

    ``relays``: this rank reports for its node, whose ``directory`` the watchdog cannot read.
    """

    def __init__(self, directory: Path, rank: int, interval_s: float = BEAT_S, relays: bool = False) -> None:
        self._directory = directory
        self._interval_s = interval_s
        self._relay = Relay(directory) if relays else None
        self._progress: Callable[[], int] | None = None
        self._pulse: Pulse | None = None
        self._beat = Beat(rank, socket.gethostname(), os.getpid(), "", STARTING, time.time(), 0)
        self._parent = os.getppid()
        self._parent_name = name_of(self._parent) or "the process"
        self._orphan_since: float | None = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run_thread, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        write_beat(self._directory, self._beat)
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
        pulse: Pulse | None = None,
    ) -> None:
        """Report that this rank is now in ``phase`` in ``state``. ``progress`` counts its operations from now on;
        ``pulse`` shows that it lives if nothing can be counted."""
        with self._lock:
            self._progress, self._pulse = progress, pulse
            self._beat = replace(self._beat, phase=phase, state=state, since=time.time(), progress=0, pulse=0, hangs="")
            write_beat(self._directory, self._beat)

    def _run_thread(self) -> None:
        watchdog = os.environ.get(WATCHDOG_VARIABLE, "")
        while not self._stop.wait(self._interval_s):
            if is_gone(watchdog):
                self._end_rank("its watchdog process is gone")
            lost = self._detect_lost()
            with self._lock:
                done = self._progress() if self._progress else 0
                pulse, hangs = (self._pulse.beat(), self._pulse.hangs) if self._pulse else (0, "")
                now = replace(self._beat, progress=done, pulse=pulse, lost=lost, hangs=hangs)
                if now != self._beat:
                    self._beat = now
                    write_beat(self._directory, now)
            if self._relay:
                self._relay.look()

    def _detect_lost(self) -> str:
        """Return the name of the launcher process that started this rank, if it has ended; the rank then ends too."""
        if os.getppid() == self._parent:
            return ""
        self._orphan_since = self._orphan_since or time.monotonic()
        if time.monotonic() - self._orphan_since > ORPHAN_S:
            self._end_rank(f"{self._parent_name} that started it is gone")
        return self._parent_name

    def _end_rank(self, why: str) -> None:
        os.write(2, f"iosonde: rank {self._beat.rank}: {why}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)  # only SIGKILL ends threads inside a system call
