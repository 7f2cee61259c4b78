"""The system calls of a trace that touch files: how their arguments are read, exactly or not at all."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from dataclasses import dataclass

# What -y and -yy say behind a number; signs in a path are written as \\74 and \\76.
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
# What a trace's operations are called; of those at the end nobody knows the offset.
UNPLACED = ("read_unplaced", "write_unplaced", "append", "copy")
OPERATIONS = ("read", "write", "open", "create", "close", "stat", "fstat", "readdir", "fsync", "fdatasync", "truncate",
              "rename", "unlink", "mkdir", "rmdir", *UNPLACED)  # fmt: skip


class UnreadableError(Exception):
    """The arguments are not those of such a call."""


@dataclass(slots=True)
class Call:
    """One call. ``operation`` is '' where it is no operation by itself; ``effect`` what it does to open files:
    ``opens``, ``closes``, ``copies``, ``moves`` (to ``result``), ``no_file`` (``made`` are numbers of no files),
    ``displaces`` (those in ``made`` are elsewhere)."""

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
    made: tuple[int, ...] = ()
    what: str = ""


Reader = Callable[[str, int, str | None], Call]


def status_of(error: str | None) -> int:
    """An errno by its name. Raises UnreadableError."""
    if error is None:
        return 0
    found: int | None = getattr(errno, error, None)
    if found is None:
        raise UnreadableError(error)
    return found


def _match(pattern: re.Pattern[str], args: str) -> re.Match[str]:
    found = pattern.fullmatch(args)
    if found is None:
        raise UnreadableError(args)
    return found


def _buffer(operation: str, placed: bool) -> Reader:
    def read(args: str, result: int, path: str | None) -> Call:
        found = _match(_BUFFER, args)
        if (found.group(4) is not None) != placed:
            raise UnreadableError(args)
        offset = max(0, int(found.group(4))) if placed else None
        return Call(operation, "", int(found.group(1)), found.group("path"), int(found.group(3)), offset, result)

    return read


def _vector(operation: str, placed: bool) -> Reader:
    def read(args: str, result: int, path: str | None) -> Call:
        bare = _QUOTED.sub('""', args)
        found = _match(_VECTOR, bare)
        lengths = [int(one) for one in _LENGTH.findall(bare)]
        if placed and found.group(4) is None:
            raise UnreadableError(args)
        # strace prints the first 32 parts; what moved is then what is known of the size.
        size = sum(lengths) if len(lengths) == int(found.group(3)) else max(0, result)
        offset = int(found.group(4)) if placed else -1
        return Call(operation, "", int(found.group(1)), found.group("path"), size,
                    offset if offset >= 0 else None, result)  # fmt: skip

    return read


def _open(always: str = "") -> Reader:
    def read(args: str, result: int, path: str | None) -> Call:
        found = _match(_OPEN, args)
        flags = always or found.group(4) or ""
        directory = found.group(1) or ""
        return Call(
            "create" if "O_CREAT" in flags else "open", "opens",
            path=_bare(path) if path else found.group(3), result=result, appends="O_APPEND" in flags,
            directory=int(directory) if directory.isdigit() else -1,
        )  # fmt: skip

    return read


def _bare(path: str) -> str:
    """A path as -y prints it, without its brackets."""
    return path.removesuffix("(deleted)")[1:-1]


def _copy(into: int) -> Reader:
    """Bytes that the kernel copies by itself, into the first or the second of the two files."""

    def read(args: str, result: int, path: str | None) -> Call:
        found = _match(_COPY, args)
        fds, paths = (int(found.group(1)), int(found.group(3))), (found.group(2), found.group(4))
        return Call("copy", "displaces", fds[into], _bare(paths[into]) or None, max(0, result), None, result, made=fds)

    return read


def _about_path(operation: str) -> Reader:
    def read(args: str, result: int, path: str | None) -> Call:
        found = _match(_ABOUT_PATH, args)
        name = operation
        if name == "unlink" and args.endswith("AT_REMOVEDIR"):
            name = "rmdir"
        if name == "stat" and not found.group(3):
            name = "fstat"
        return Call(name, "", path=found.group(3) or found.group(2) or "")

    return read


def _about_fd(operation: str, effect: str = "", pattern: re.Pattern[str] = _ABOUT_FD) -> Reader:
    def read(args: str, result: int, path: str | None) -> Call:
        found = _match(pattern, args)
        return Call(operation, effect, int(found.group(1)), found.group("path"), result=result)

    return read


def _control(args: str, result: int, path: str | None) -> Call:
    """fcntl: of interest where it copies a number."""
    return _about_fd("", "copies", _DUPLICATE)(args, result, path) if "F_DUPFD" in args else Call()


def _no_file(what: str, pair: bool = False) -> Reader:
    def read(args: str, result: int, path: str | None) -> Call:
        found = _PAIR.fullmatch(args) if pair else None
        made = (int(found.group(1)), int(found.group(2))) if found else (() if pair else (result,))
        return Call("", "no_file", made=made, what=what)

    return read


# Name of a call → how it is read.
CALLS: dict[str, Reader] = {
    "read": _buffer("read", False), "write": _buffer("write", False),
    "pread64": _buffer("read", True), "pwrite64": _buffer("write", True),
    "readv": _vector("read", False), "writev": _vector("write", False),
    "preadv": _vector("read", True), "pwritev": _vector("write", True),
    "preadv2": _vector("read", True), "pwritev2": _vector("write", True),
    "open": _open(), "openat": _open(), "openat2": _open(), "creat": _open("O_CREAT"),
    "copy_file_range": _copy(1), "splice": _copy(1), "sendfile": _copy(0), "sendfile64": _copy(0),
    "close": _about_fd("close", "closes"), "lseek": _about_fd("", "moves", _SEEK),
    "dup": _about_fd("", "copies", _DUPLICATE), "dup2": _about_fd("", "copies", _DUPLICATE),
    "dup3": _about_fd("", "copies", _DUPLICATE), "fcntl": _control,
    "fsync": _about_fd("fsync"), "fdatasync": _about_fd("fdatasync"), "ftruncate": _about_fd("truncate"),
    "getdents": _about_fd("readdir"), "getdents64": _about_fd("readdir"), "fstat": _about_fd("fstat"),
    "stat": _about_path("stat"), "lstat": _about_path("stat"), "newfstatat": _about_path("stat"),
    "statx": _about_path("stat"), "truncate": _about_path("truncate"),
    "unlink": _about_path("unlink"), "unlinkat": _about_path("unlink"), "rmdir": _about_path("rmdir"),
    "mkdir": _about_path("mkdir"), "mkdirat": _about_path("mkdir"),
    "rename": _about_path("rename"), "renameat": _about_path("rename"), "renameat2": _about_path("rename"),
    "pipe": _no_file("pipes", True), "pipe2": _no_file("pipes", True),
    "socket": _no_file("sockets"), "socketpair": _no_file("sockets", True),
    "accept": _no_file("sockets"), "accept4": _no_file("sockets"),
    "eventfd2": _no_file("events"), "eventfd": _no_file("events"), "timerfd_create": _no_file("events"),
    "signalfd4": _no_file("events"), "inotify_init1": _no_file("events"), "epoll_create1": _no_file("events"),
    "memfd_create": _no_file("memory"), "pidfd_open": _no_file("events"), "perf_event_open": _no_file("events"),
}  # fmt: skip
