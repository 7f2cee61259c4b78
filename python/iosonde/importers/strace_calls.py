"""The system calls of a trace that touch files: their arguments are parsed exactly or not at all."""

import errno
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from iosonde.core.message import Message

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

_UNREADABLE = Message("unreadable-lines", "not a line of strace, or two in one: left out, and others like it")

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
    """A line, or arguments that do not fit their call, with the message about it."""

    def __init__(self, message: Message = _UNREADABLE) -> None:
        super().__init__(message)


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


def parse_errno(error: str | None) -> int:
    """Return an errno by its name. Raises UnreadableError."""
    if error is None:
        return 0
    number: int | None = getattr(errno, error, None)
    if number is None:
        raise UnreadableError
    return number


def match_exactly(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    """Return the match of all of the text. Raises UnreadableError."""
    match = pattern.fullmatch(text)
    if match is None:
        raise UnreadableError
    return match


def _read_buffer(operation: str, placed: bool, args: str, result: int, path: str | None) -> Call:
    match = match_exactly(_BUFFER, args)
    if (match.group(4) is not None) != placed:
        raise UnreadableError
    offset = max(0, int(match.group(4))) if placed else None
    return Call(operation, "", int(match.group(1)), match.group("path"), int(match.group(3)), offset, result)


def _read_vector(operation: str, placed: bool, args: str, result: int, path: str | None) -> Call:
    bare = _QUOTED.sub('""', args)
    match = match_exactly(_VECTOR, bare)
    lengths = [int(length) for length in _LENGTH.findall(bare)]
    if placed and match.group(4) is None:
        raise UnreadableError
    # strace prints the first 32 parts; beyond these, the bytes moved are all that is known of the size.
    size = sum(lengths) if len(lengths) == int(match.group(3)) else max(0, result)
    offset = int(match.group(4)) if placed else -1
    return Call(operation, "", int(match.group(1)), match.group("path"), size, offset if offset >= 0 else None, result)


def _read_open(always: str, args: str, result: int, path: str | None) -> Call:
    match = match_exactly(_OPEN, args)
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


def _strip_brackets(path: str) -> str:
    """Return a path printed by -y, without its brackets."""
    return path.removesuffix("(deleted)")[1:-1]


def _read_copy(into: int, args: str, result: int, path: str | None) -> Call:
    """Read bytes that the kernel copies by itself, into the first or the second of the two files."""
    match = match_exactly(_COPY, args)
    fds, paths = (int(match.group(1)), int(match.group(3))), (match.group(2), match.group(4))
    return Call(
        "copy", "displaces", fds[into], _strip_brackets(paths[into]) or None, max(0, result), None, result, fds=fds
    )


def _read_path(operation: str, args: str, result: int, path: str | None) -> Call:
    match = match_exactly(_ABOUT_PATH, args)
    if operation == "unlink" and args.endswith("AT_REMOVEDIR"):
        operation = "rmdir"
    if operation == "stat" and not match.group(3):
        operation = "fstat"
    return Call(operation, "", path=match.group(3) or match.group(2) or "")


def _read_fd(operation: str, effect: str, pattern: re.Pattern[str], args: str, result: int, path: str | None) -> Call:
    match = match_exactly(pattern, args)
    return Call(operation, effect, int(match.group(1)), match.group("path"), result=result)


def _read_control(args: str, result: int, path: str | None) -> Call:
    """Read fcntl, which matters if it copies a number."""
    return _read_fd("", "copies", _DUPLICATE, args, result, path) if "F_DUPFD" in args else Call()


def _read_no_file(what: str, pair: bool, args: str, result: int, path: str | None) -> Call:
    match = _PAIR.fullmatch(args) if pair else None
    new_fds = (int(match.group(1)), int(match.group(2))) if match else (() if pair else (result,))
    return Call("", "no_file", fds=new_fds, what=what)


# Name of a call → its reader.
CALLS: dict[str, Reader] = {
    "read": partial(_read_buffer, "read", False),
    "write": partial(_read_buffer, "write", False),
    "pread64": partial(_read_buffer, "read", True),
    "pwrite64": partial(_read_buffer, "write", True),
    "readv": partial(_read_vector, "read", False),
    "writev": partial(_read_vector, "write", False),
    "preadv": partial(_read_vector, "read", True),
    "pwritev": partial(_read_vector, "write", True),
    "preadv2": partial(_read_vector, "read", True),
    "pwritev2": partial(_read_vector, "write", True),
    "open": partial(_read_open, ""),
    "openat": partial(_read_open, ""),
    "openat2": partial(_read_open, ""),
    "creat": partial(_read_open, "O_CREAT"),
    "copy_file_range": partial(_read_copy, 1),
    "splice": partial(_read_copy, 1),
    "sendfile": partial(_read_copy, 0),
    "sendfile64": partial(_read_copy, 0),
    "close": partial(_read_fd, "close", "closes", _ABOUT_FD),
    "lseek": partial(_read_fd, "", "moves", _SEEK),
    "dup": partial(_read_fd, "", "copies", _DUPLICATE),
    "dup2": partial(_read_fd, "", "copies", _DUPLICATE),
    "dup3": partial(_read_fd, "", "copies", _DUPLICATE),
    "fcntl": _read_control,
    "fsync": partial(_read_fd, "fsync", "", _ABOUT_FD),
    "fdatasync": partial(_read_fd, "fdatasync", "", _ABOUT_FD),
    "ftruncate": partial(_read_fd, "truncate", "", _ABOUT_FD),
    "getdents": partial(_read_fd, "readdir", "", _ABOUT_FD),
    "getdents64": partial(_read_fd, "readdir", "", _ABOUT_FD),
    "fstat": partial(_read_fd, "fstat", "", _ABOUT_FD),
    "stat": partial(_read_path, "stat"),
    "lstat": partial(_read_path, "stat"),
    "newfstatat": partial(_read_path, "stat"),
    "statx": partial(_read_path, "stat"),
    "truncate": partial(_read_path, "truncate"),
    "unlink": partial(_read_path, "unlink"),
    "unlinkat": partial(_read_path, "unlink"),
    "rmdir": partial(_read_path, "rmdir"),
    "mkdir": partial(_read_path, "mkdir"),
    "mkdirat": partial(_read_path, "mkdir"),
    "rename": partial(_read_path, "rename"),
    "renameat": partial(_read_path, "rename"),
    "renameat2": partial(_read_path, "rename"),
    "pipe": partial(_read_no_file, "pipes", True),
    "pipe2": partial(_read_no_file, "pipes", True),
    "socket": partial(_read_no_file, "sockets", False),
    "socketpair": partial(_read_no_file, "sockets", True),
    "accept": partial(_read_no_file, "sockets", False),
    "accept4": partial(_read_no_file, "sockets", False),
    "eventfd2": partial(_read_no_file, "events", False),
    "eventfd": partial(_read_no_file, "events", False),
    "timerfd_create": partial(_read_no_file, "events", False),
    "signalfd4": partial(_read_no_file, "events", False),
    "inotify_init1": partial(_read_no_file, "events", False),
    "epoll_create1": partial(_read_no_file, "events", False),
    "memfd_create": partial(_read_no_file, "memory", False),
    "pidfd_open": partial(_read_no_file, "events", False),
    "perf_event_open": partial(_read_no_file, "events", False),
}
