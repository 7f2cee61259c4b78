"""Open files of the processes of a trace: the file of a number, and the offset of its next read."""

from dataclasses import dataclass

from .strace_calls import Call
from .trace import Numbered

_NO_FILES = {
    "/dev/pts/": "terminals",
    "/dev/tty": "terminals",
    "/proc/": "/proc and /sys",
    "/sys/": "/proc and /sys",
    **dict.fromkeys(("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"), "devices without a medium"),
}
_KINDS_OF_Y = {
    "pipe": "pipes",
    "socket": "sockets",
    "TCP": "sockets",
    "UDP": "sockets",
    "UNIX": "sockets",
    "TCPv6": "sockets",
    "UDPv6": "sockets",
    "NETLINK": "sockets",
    "anon_inode": "events",
}
NAMELESS = "descriptor "  # prefix of a file of unknown name, before its number


@dataclass(slots=True)
class OpenFile:
    """An open file description, as ``dup`` and ``fork`` share it. ``position`` is None if unknown; ``what`` names the
    kind of a non-file."""

    path: str
    position: int | None = None
    appends: bool = False
    what: str = ""


class OpenFiles:
    """The open files of every process, and numbers for their paths."""

    def __init__(self) -> None:
        self._open: dict[str, dict[int, OpenFile]] = {}
        self._forking: dict[str, bool] = {}  # processes inside a fork, and whether the child shares their numbers
        self._first = ""
        self._paths = Numbered()
        self.numbers = self._paths.numbers

    def process(self, pid: str) -> str:
        """Return the process's own name: strace prints no number for a single process, and may do so later."""
        return pid or self._first or "the program"

    def knows(self, pid: str) -> bool:
        """Return whether the process has appeared before."""
        return pid in self._open

    def get_open_files(self, pid: str) -> dict[int, OpenFile]:
        """Return the open files of a process. A child may appear before the call that made it has returned."""
        if pid in self._open:
            return self._open[pid]
        if self._forking:
            parent, shares = list(self._forking.items())[-1]
            mine = self._open[parent] if shares else dict(self._open[parent])
        elif pid and not self._first and "" in self._open:
            mine, self._first = self._open[""], pid
        elif not pid and self._first:
            mine = self._open[self._first]
        else:
            mine = {}
            self._first = self._first or pid
        self._open[pid] = mine
        return mine

    def forking(self, pid: str, forks: bool, shares: bool) -> None:
        """Note an unfinished call; a fork makes a process before it returns."""
        if forks:
            self.get_open_files(pid)
            self._forking[pid] = shares

    def forked(self, pid: str, child: str, shares: bool) -> None:
        """Note that a fork returned, with the number of the child."""
        mine = self.get_open_files(pid)
        self._forking.pop(pid, None)
        if child.isdigit() and child not in self._open:
            self._open[child] = mine if shares else dict(mine)

    def get_file(self, pid: str, fd: int, path: str | None) -> OpenFile:
        """Return the open file of a number; if its open is not in the trace, only its path, if printed."""
        mine = self._open.get(pid)
        if mine is None:
            mine = self.get_open_files(pid)
        file = mine.get(fd)
        if file is None:
            file = mine[fd] = OpenFile(path or f"{NAMELESS}{fd}", None, False, _classify_non_file(path))
        elif path is not None and file.path != path:
            if _classify_non_file(path):
                file.what = _classify_non_file(path)
            elif not file.what:
                file.path = path
        return file

    def after(self, pid: str, call: Call, done: bool) -> OpenFile | None:
        """Apply a call that moves no data. Return the file that it concerns."""
        mine = self.get_open_files(pid)
        if call.effect == "opens" and done:
            path = call.path or ""
            if call.directory >= 0 and not path.startswith("/") and call.directory in mine:
                path = f"{mine[call.directory].path}/{path}"
            file = mine[call.result] = OpenFile(path, 0, call.appends, _classify_non_file(path))
            return file
        if call.effect == "no_file" and done:
            for fd in call.fds:
                mine[fd] = OpenFile(call.what, None, False, call.what)
            return None
        if call.fd < 0:
            return None
        file = self.get_file(pid, call.fd, call.path)
        if not done:
            return file
        if call.effect == "closes":
            mine.pop(call.fd, None)
        elif call.effect == "copies":
            mine[call.result] = file
        elif call.effect == "moves":
            file.position = call.result
        elif call.effect == "displaces":
            for fd in call.fds:
                self.get_file(pid, fd, None).position = None
        return file

    def number(self, path: str | None) -> int:
        """Return the number of a path."""
        return self._paths.get_number(path or "")


def _classify_non_file(path: str | None) -> str:
    """Return the kind of a non-file from its path in ``-y``; '' for a file."""
    if not path or path.startswith("/"):
        return next((what for begin, what in _NO_FILES.items() if path and path.startswith(begin)), "")
    return _KINDS_OF_Y.get(path.partition(":")[0], "")
