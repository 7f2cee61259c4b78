"""Detect whether a command is alive although its operations are not visible.

It is alive while any of its processes runs or sleeps voluntarily, or while their CPU or I/O counters move. It hangs if
everything that it waits for hangs in the kernel. A process hangs if none of its threads runs, and one sleeps
uninterruptibly (state D) or in FUSE's wait for the server, whose first part is interruptible (state S). A sleeping
process whose child hangs waits for that child, as a shell does. States: proc_pid_stat(5); counters: proc_pid_io(5).
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

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
        stuck = None if moved != self._moved else hanging(processes)
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


def hanging(family: list[Process]) -> Process | None:
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
            hangs_in = hangs_in or _hangs_in(task.with_name("wchan"), state)
    moved = int(fields[11]) + int(fields[12])  # utime, stime: ticks of all threads
    with contextlib.suppress(OSError):
        for line in (place / "io").read_text().splitlines():
            name, _, value = line.partition(":")
            moved += int(value) if name in _COUNTERS else 0
    return Process(int(place.name), int(fields[1]), runs, hangs_in, moved)


def _hangs_in(wchan: Path, state: str) -> str:
    where = ""
    with contextlib.suppress(OSError):
        where = wchan.read_text().strip()
    if state == _UNINTERRUPTIBLE:
        return where if where not in ("", "0") else "?"
    return where if state == _SLEEPING and where.startswith(_FUSE_WAITS) else ""


def _read_fields(stat: Path) -> list[str]:
    """Return the fields from the third on: the second, the name, may hold anything."""
    return stat.read_text().rpartition(")")[2].split()
