"""The system calls of a trace that touch files: their arguments are parsed exactly or not at all."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from dataclasses import dataclass

# Output of -y and -yy after a number; signs in a path are written as \\74 and \\76.
_INSIDE = r"(?:[^<>]|->|<[^<>]*>)*"
PATH = rf"(?:<{_INSIDE}>(?:\(deleted\))?)?"
_FD = rf"(-?\d{{1,9}})(?:<(?P<path>{_INSIDE})>(?:\(deleted\))?)?"
_DIRECTORY = rf"(?:(AT_FDCWD|-?\d{{1,9}})(?:<({_INSIDE})>(?:\(deleted\))?)?, )?"
_STRING = r'"([^"\\]*(?:\\.[^"\\]*)*)"(?:\.\.\.)?'
_OPEN = re.compile(_DIRECTORY + _STRING + r"(?:, (?:\{flags=)?([A-Z_0-9a-z|]+)(?:, [^\"]*)?)?")
_ABOUT_PATH = re.compile(_DIRECTORY + _STRING + r"(?:, .*)?")
_ABOUT_FD = re.compile(_FD + r"(?:, .*)?")
_SEEK = re.compile(_FD + r", -?\d{1,19}, SEEK_\w+")
_DUPLICATE = re.compile(_FD + r"(?:, F_DUPFD(?:_CLOEXEC)?)?(?:, \d{1,9}" + PATH + r")?(?:, \w+)?")
_PAIR = re.compile(r".*\[(\d{1,9})(?:<[^\]]*>)?, (\d{1,9})(?:<[^\]]*>)?\](?:, .*)?")
_BUFFER = re.compile(_FD + r', (?:"[^"\\]*(?:\\.[^"\\]*)*"(?:\.\.\.)?|0x[0-9a-f]+|NULL), (\d{1,18})(?:, (-?\d{1,18}))?')
_VECTOR = re.compile(_FD + r", (?:\[.*\]|0x[0-9a-f]+), (\d{1,9})(?:, (-?\d{1,18}))?(?:, \w+)?")
_COPY = re.compile(rf"(\d{{1,9}})({PATH}), (?:[^,]*, )?(\d{{1,9}})({PATH}), .*")
_LENGTH = re.compile(r"iov_len=(\d{1,18})")
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')

DATA = ("read", "write")
# Names of a trace's operations; those at the end have unknown offsets.
UNPLACED = ("read_unplaced", "write_unplaced", "append", "copy")
OPERATIONS = (
    "read",
    "write",
    "open",
    "create",
    "close",
    "stat",
    "fstat",
    "readdir",
    "fsync",
    "fdatasync",
    "truncate",
    "rename",
    "unlink",
    "mkdir",
    "rmdir",
    *UNPLACED,
)


class UnreadableError(Exception):
    """Arguments that do not fit the call."""


@dataclass(slots=True)
class Call:
    """A system call. ``operation`` is '' if it is not an operation by itself. ``effect`` is its effect on open files:
    ``opens``, ``closes``, ``copies``, ``moves`` (to ``result``), ``no_file`` (``fds`` are not files), ``displaces``
    (the offsets of ``fds`` change).
    """

    operation: str = ""
    effect: str = ""
    fd: int = -1
    path: str | None = None
    size: int = 0
    offset: int | None = None
    moved: int = 0
    result: int = -1
    directory: int = -1
    appends: bool = False
    fds: tuple[int, ...] = ()
    what: str = ""


Reader = Callable[[str, int, str | None], Call]


def status_of(error: str | None) -> int:
    """Return an errno by its name. Raises UnreadableError."""
    if error is None:
        return 0
    number: int | None = getattr(errno, error, None)
    if number is None:
        raise UnreadableError(error)
    return number


def _match_args(pattern: re.Pattern[str], args: str) -> re.Match[str]:
    match = pattern.fullmatch(args)
    if match is None:
        raise UnreadableError(args)
    return match


def _build_buffer_reader(operation: str, placed: bool) -> Reader:
    def read_call(args: str, result: int, path: str | None) -> Call:
        match = _match_args(_BUFFER, args)
        if (match.group(4) is not None) != placed:
            raise UnreadableError(args)
        offset = max(0, int(match.group(4))) if placed else None
        return Call(operation, "", int(match.group(1)), match.group("path"), int(match.group(3)), offset, result)

    return read_call


def _build_vector_reader(operation: str, placed: bool) -> Reader:
    def read_call(args: str, result: int, path: str | None) -> Call:
        bare = _QUOTED.sub('""', args)
        match = _match_args(_VECTOR, bare)
        lengths = [int(length) for length in _LENGTH.findall(bare)]
        if placed and match.group(4) is None:
            raise UnreadableError(args)
        # strace prints the first 32 parts; beyond these, the bytes moved are all that is known of the size.
        size = sum(lengths) if len(lengths) == int(match.group(3)) else max(0, result)
        offset = int(match.group(4)) if placed else -1
        return Call(
            operation, "", int(match.group(1)), match.group("path"), size, offset if offset >= 0 else None, result
        )

    return read_call


def _build_open_reader(always: str = "") -> Reader:
    def read_call(args: str, result: int, path: str | None) -> Call:
        match = _match_args(_OPEN, args)
        flags = always or match.group(4) or ""
        directory = match.group(1) or ""
        return Call(
            "create" if "O_CREAT" in flags else "open",
            "opens",
            path=_strip_brackets(path) if path else match.group(3),
            result=result,
            appends="O_APPEND" in flags,
            directory=int(directory) if directory.isdigit() else -1,
        )

    return read_call


def _strip_brackets(path: str) -> str:
    """Return a path printed by -y, without its brackets."""
    return path.removesuffix("(deleted)")[1:-1]


def _build_copy_reader(into: int) -> Reader:
    """Build a reader of bytes that the kernel copies by itself, into the first or the second of the two files."""

    def read_call(args: str, result: int, path: str | None) -> Call:
        match = _match_args(_COPY, args)
        fds, paths = (int(match.group(1)), int(match.group(3))), (match.group(2), match.group(4))
        return Call(
            "copy", "displaces", fds[into], _strip_brackets(paths[into]) or None, max(0, result), None, result, fds=fds
        )

    return read_call


def _about_path(operation: str) -> Reader:
    def read_call(args: str, result: int, path: str | None) -> Call:
        match = _match_args(_ABOUT_PATH, args)
        name = operation
        if name == "unlink" and args.endswith("AT_REMOVEDIR"):
            name = "rmdir"
        if name == "stat" and not match.group(3):
            name = "fstat"
        return Call(name, "", path=match.group(3) or match.group(2) or "")

    return read_call


def _about_fd(operation: str, effect: str = "", pattern: re.Pattern[str] = _ABOUT_FD) -> Reader:
    def read_call(args: str, result: int, path: str | None) -> Call:
        match = _match_args(pattern, args)
        return Call(operation, effect, int(match.group(1)), match.group("path"), result=result)

    return read_call


def _read_control(args: str, result: int, path: str | None) -> Call:
    """Read fcntl, which matters if it copies a number."""
    return _about_fd("", "copies", _DUPLICATE)(args, result, path) if "F_DUPFD" in args else Call()


def _no_file(what: str, pair: bool = False) -> Reader:
    def read_call(args: str, result: int, path: str | None) -> Call:
        match = _PAIR.fullmatch(args) if pair else None
        new_fds = (int(match.group(1)), int(match.group(2))) if match else (() if pair else (result,))
        return Call("", "no_file", fds=new_fds, what=what)

    return read_call


# Name of a call → its reader.
CALLS: dict[str, Reader] = {
    "read": _build_buffer_reader("read", False),
    "write": _build_buffer_reader("write", False),
    "pread64": _build_buffer_reader("read", True),
    "pwrite64": _build_buffer_reader("write", True),
    "readv": _build_vector_reader("read", False),
    "writev": _build_vector_reader("write", False),
    "preadv": _build_vector_reader("read", True),
    "pwritev": _build_vector_reader("write", True),
    "preadv2": _build_vector_reader("read", True),
    "pwritev2": _build_vector_reader("write", True),
    "open": _build_open_reader(),
    "openat": _build_open_reader(),
    "openat2": _build_open_reader(),
    "creat": _build_open_reader("O_CREAT"),
    "copy_file_range": _build_copy_reader(1),
    "splice": _build_copy_reader(1),
    "sendfile": _build_copy_reader(0),
    "sendfile64": _build_copy_reader(0),
    "close": _about_fd("close", "closes"),
    "lseek": _about_fd("", "moves", _SEEK),
    "dup": _about_fd("", "copies", _DUPLICATE),
    "dup2": _about_fd("", "copies", _DUPLICATE),
    "dup3": _about_fd("", "copies", _DUPLICATE),
    "fcntl": _read_control,
    "fsync": _about_fd("fsync"),
    "fdatasync": _about_fd("fdatasync"),
    "ftruncate": _about_fd("truncate"),
    "getdents": _about_fd("readdir"),
    "getdents64": _about_fd("readdir"),
    "fstat": _about_fd("fstat"),
    "stat": _about_path("stat"),
    "lstat": _about_path("stat"),
    "newfstatat": _about_path("stat"),
    "statx": _about_path("stat"),
    "truncate": _about_path("truncate"),
    "unlink": _about_path("unlink"),
    "unlinkat": _about_path("unlink"),
    "rmdir": _about_path("rmdir"),
    "mkdir": _about_path("mkdir"),
    "mkdirat": _about_path("mkdir"),
    "rename": _about_path("rename"),
    "renameat": _about_path("rename"),
    "renameat2": _about_path("rename"),
    "pipe": _no_file("pipes", True),
    "pipe2": _no_file("pipes", True),
    "socket": _no_file("sockets"),
    "socketpair": _no_file("sockets", True),
    "accept": _no_file("sockets"),
    "accept4": _no_file("sockets"),
    "eventfd2": _no_file("events"),
    "eventfd": _no_file("events"),
    "timerfd_create": _no_file("events"),
    "signalfd4": _no_file("events"),
    "inotify_init1": _no_file("events"),
    "epoll_create1": _no_file("events"),
    "memfd_create": _no_file("memory"),
    "pidfd_open": _no_file("events"),
    "perf_event_open": _no_file("events"),
}
