"""A rank's heartbeat: a thread that reports its state and progress once a second (`beats`).

The same thread ends the rank if the process that watches the trial is gone: after a killed launcher no rank may
continue to write. It also checks that the launcher process that started the rank (Hydra's proxy, Slurm's step daemon)
lives. Without it nobody would notice how the rank ends.

A `Pulse` detects whether a command is alive although its operations are not visible. It is alive while any of its
processes runs or sleeps voluntarily, or while their CPU or I/O counters move. It hangs if everything that it waits for
hangs in the kernel. A process hangs if none of its threads runs, and one sleeps uninterruptibly (state D) or in FUSE's
wait for the server, whose first part is interruptible (state S). A sleeping process whose child hangs waits for that
child, as a shell does. States: proc_pid_stat(5); counters: proc_pid_io(5).
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from iosonde.ranks.beats import DONE, RUNNING, STARTING, WAITING, Beat, Relay, write_beat
from iosonde.ranks.processes import WATCHDOG_VARIABLE, is_gone, name_of

PROC = Path("/proc")
_RUNNING, _UNINTERRUPTIBLE, _SLEEPING, _ENDED = "R", "D", "S", "ZX"
# Waits in /proc/PID/wchan of an interruptible process that nevertheless hangs: the server of a FUSE mount.
_FUSE_WAITS = ("request_wait_answer", "__fuse_request_send", "fuse_request_send")
_COUNTERS = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes")


@dataclass(frozen=True)
class Process:
    """The state of one process in /proc. ``hangs_in`` is the kernel function in which it hangs, "?" if unreadable,
    empty if it does not hang. ``moved`` is the sum of its counters."""

    pid: int
    parent: int
    runs: bool
    hangs_in: str
    moved: int


class Pulse:
    """The pulse of this process's descendants with ``mark`` (``NAME=VALUE``) in their environment; of all if empty.
    Invisible ones, also on other nodes, count as alive."""

    def __init__(self, mark: str, root: int | None = None, proc: Path = PROC) -> None:
        self._mark, self._root, self._proc = mark.encode(), os.getpid() if root is None else root, proc
        self._moved: dict[int, int] = {}
        self._beats = 1
        self.hangs = ""  # the process that the command waits for, and where; empty while it is alive

    def beat(self) -> int:
        """Return a number that increases while the command is alive, and stays constant while it hangs."""
        processes = list(self._list_family())
        moved = {process.pid: process.moved for process in processes}
        stuck = None if moved != self._moved else find_hanging_process(processes)
        self._moved = moved
        self.hangs = f"process {stuck.pid}, {stuck.hangs_in}" if stuck else ""
        self._beats += not stuck
        return self._beats

    def _list_family(self) -> list[Process]:
        processes, pids = [], _list_children(self._proc, self._root)
        while pids:
            pid = pids.pop()
            pids += _list_children(self._proc, pid)
            with contextlib.suppress(OSError, ValueError, IndexError):
                ours = not self._mark or self._mark in (self._proc / str(pid) / "environ").read_bytes().split(b"\0")
                if ours and (process := _read_process(self._proc / str(pid))):
                    processes.append(process)
        return sorted(processes, key=lambda process: process.pid)


def find_hanging_process(family: list[Process]) -> Process | None:
    """Return the first hanging process, if no process of the family is alive."""
    stuck = [process for process in family if process.hangs_in]
    waiting = {process.pid for process in stuck}
    parents = {process.pid: process.parent for process in family}
    for process in stuck:  # ancestors that wait for a hung process
        above = process.parent
        while above in parents and above not in waiting:
            waiting.add(above)
            above = parents[above]
    busy = any(process.runs or process.pid not in waiting for process in family)
    return None if busy or not stuck else stuck[0]


def _list_children(proc: Path, pid: int) -> list[int]:
    """Return the children of all threads of a process; empty if the kernel does not list
    them (CONFIG_PROC_CHILDREN)."""
    pids: list[int] = []
    for path in (proc / str(pid)).glob("task/*/children"):
        with contextlib.suppress(OSError):
            pids += map(int, path.read_text().split())
    return pids


def _read_process(place: Path) -> Process | None:
    """Read one process; None if it has ended."""
    fields = _read_fields(place / "stat")
    if fields[0] in _ENDED:
        return None
    runs, hangs_in = False, ""
    for task in sorted(place.glob("task/*/stat")):
        with contextlib.suppress(OSError):
            state = _read_fields(task)[0]
            runs = runs or state == _RUNNING
            hangs_in = hangs_in or _find_kernel_wait(task.with_name("wchan"), state)
    moved = int(fields[11]) + int(fields[12])  # utime, stime: ticks of all threads
    with contextlib.suppress(OSError):
        for line in (place / "io").read_text().splitlines():
            name, _, value = line.partition(":")
            moved += int(value) if name in _COUNTERS else 0
    return Process(int(place.name), int(fields[1]), runs, hangs_in, moved)


def _find_kernel_wait(wchan: Path, state: str) -> str:
    where = ""
    with contextlib.suppress(OSError):
        where = wchan.read_text().strip()
    if state == _UNINTERRUPTIBLE:
        return where if where not in ("", "0") else "?"
    return where if state == _SLEEPING and where.startswith(_FUSE_WAITS) else ""


def _read_fields(stat: Path) -> list[str]:
    """Return the fields from the third on: the second, the name, may hold anything."""
    return stat.read_text().rpartition(")")[2].split()


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
