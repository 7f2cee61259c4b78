"""strace: ``strace -f -T -ttt -y -o FILE PROGRAM``. System calls that touch files become recorded operations.

    30688 1795465784.892742 pread64(3, "xxxx"..., 4096, 12345) = 4096 <0.000006>
    30688 1795465784.892818 read(3,  <unfinished ...>
    30688 1795465784.893394 <... read resumed>"xxxx"..., 65536) = 65536 <0.000570>

Each kind of call is an operation (read, write, open, create, stat, fsync, unlink, …), each process or thread a rank.
The offset of a read or write is tracked through open, lseek, dup, fork and the bytes moved (``strace_files``). If it is
unknown (files opened earlier, ends of files that are appended to) the operation is ``read_unplaced``,
``write_unplaced`` or ``append``; ``copy`` is what the kernel copies by itself. Pipes, sockets, terminals, /dev/null and
the like, /proc and /sys are not files: left out, and counted.
"""

import re
from array import array
from collections import Counter
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from iosonde.core.message import Message
from iosonde.core.schema import STATUS_SHORT

from .parsed import CERTAIN, Claim, Parsed
from .strace_calls import CALLS, DATA, OPERATIONS, PATH, UNPLACED, Call, UnreadableError, match_exactly, parse_errno
from .strace_files import NAMELESS, OpenFile, OpenFiles
from .text import Text
from .trace import Numbered, keep_names, note_end, record_operations

NAME = "strace"
HEADLINE = ("latency_p99", "bytes")

_WHO = r"(?:\[pid +(\d+)\] |(\d+) +)?"
# Seconds since 1970 that fit into 63 bits of ns, or a time of the day.
_SECONDS = r"[1-8]?\d{1,9}"
_BODY = r"(?=\w+\(|<\.\.\. |\+\+\+ |--- )(.*)"
_HEAD = re.compile(_WHO + r" *(" + _SECONDS + r"|\d\d:\d\d:\d\d)\.(\d{6}|\d{9}) " + _BODY)
_UNSTAMPED = re.compile(_WHO + r'execve\(".*\) += 0(?: <\d{1,9}\.\d{6,9}>)?')
# Nearly all lines of a trace of data: read at once. Any other line takes the slow path.
_DATA = re.compile(
    r"((?:\[pid +\d+\] |\d+ +)?)("
    + _SECONDS
    + r"\.\d{6}(?:\d{3})?) ((?:read|write|pread64|pwrite64)\(\d{1,9}"
    + PATH
    + r'), (?:"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:\.\.\.)?|0x[0-9a-f]+|NULL), (\d{1,18})(?:, (\d{1,18}))?\)'
    r" += (\d{1,18}) <(\d{1,9}\.\d{6}(?:\d{3})?)>"
)
_SEEK = re.compile(
    r"((?:\[pid +\d+\] |\d+ +)?)"
    + _SECONDS
    + r"\.\d{6,9} lseek\((\d{1,9})("
    + PATH
    + r"), -?\d{1,18}, SEEK_\w+\) += (\d{1,18})(?: <\d{1,9}\.\d{6,9}>)?"
)
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed> ?(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (.*)")
_RESULT = re.compile(
    r"(-?\d{1,18}|\?|0x[0-9a-f]{1,15})(" + PATH + r")(?: (E[A-Z0-9]+))?(?: \(.*\))?"
    r"(?: <(\d{1,9}\.\d{6}(?:\d{3})?)>)?"
)
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
# Text after a call's time, after the mark of an unfinished call, or another line's stamp.
_GLUED = re.compile(r"<(?:\d+\.\d{6,9}|unfinished \.\.\.)>.|\d\.\d{6,9} (?:\w+\(|<\.\.\. |\+\+\+ |--- )")
_ENDED = re.compile(r"\+\+\+ (?:exited|killed|superseded) [^+]*\+\+\+|--- SIG.* ---|--- stopped by .* ---")
_UNFINISHED = re.compile(r"(.*?) ?(?:<unfinished \.\.\.>|strace: Process \d{1,10} attached)$")
_DAY_NS = 86_400 * 10**9
_FORKS = ("clone", "clone3", "fork", "vfork")
# Calls whose bytes or waits a trace of system calls does not show one by one.
_UNSEEN = {"io_uring_enter": "io_uring", "io_submit": "Linux aio"}
_SLOW = Message(
    "tracing-overhead",
    "the program is stopped at every call, for tens of µs: part of this is in durations, the rest in pauses",
)
_MAPPED = Message("mmap-not-traced", "reads and writes through mmap are not system calls, and so not in the trace")
# Numbers that the fast and the slow path keep of an operation; its times are kept as printed.
_FIELDS = ("rank", "phase", "status", "size", "file", "offset", "line", "moved")
_NAMES = {name: place for place, name in enumerate(OPERATIONS)}
_UNPLACED_BEHIND = _NAMES["read_unplaced"] - _NAMES["read"]
# Rank, file, its number, whether it writes, whether the call has an offset, the number of the operation.
_CallTarget = tuple[int, OpenFile, int, bool, bool, int]


def claims(text: Text) -> Claim | None:
    """Recognise the shape of its first lines: strace does not name itself, and no other tool's lines begin like
    this."""
    head = [line for line in text.lines[:60] if line.strip()]
    fitting = sum(bool(_HEAD.match(line)) for line in head)
    if not head or (fitting < max(1, 0.7 * len(head)) and not _UNSTAMPED.fullmatch(head[0])):
        return None
    return Claim(CERTAIN, 1, head[0].strip()[:60])


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed: a trace covers one execution, with all its processes."""
    reader = _Reader()
    reader.read(text.lines if note_end(reader.run, text) else text.lines[:-1])
    return [reader.end()]


class _Event(NamedTuple):
    """A call: its line, its process, its start and its duration (both as printed, '' if missing)."""

    line: int
    pid: str
    start: str
    took: str


class _Reader:
    """Line by line: who calls, what is unfinished, which files are open."""

    def __init__(self) -> None:
        self.run = Parsed()
        self._files = OpenFiles()
        self._ranks = Numbered()
        self._rows, self._starts, self._took = array("q"), list[str](), list[str]()
        self._unfinished: dict[str, tuple[str, str]] = {}
        self._n_unreadable, self._unseen = Counter[str](), Counter[str]()
        self._bad, self._untimed, self._daily = 0, 0, False
        # The fast path's state of a process and an open file, by the words of the line.
        self._targets: dict[str, _CallTarget] = {}

    def read(self, lines: list[str]) -> None:
        """Read all lines: complete reads and writes here, for speed; others one by one."""
        stamp = next((line_match.group(3) for line in lines[:60] if (line_match := _HEAD.match(line))), "")
        if ":" not in stamp and len(stamp) < 9:
            self.run.lacks(
                1,
                Message(
                    "missing-times",
                    "its lines have {lack}: strace -f -T -ttt prints start and duration",
                    lack="times since the line before (-r)" if stamp else "no times",
                ),
            )
            return
        self._daily = ":" in stamp
        match, targets, add = _DATA.fullmatch, self._targets, self._rows.extend
        starts, durations = self._starts.append, self._took.append
        for at, line in enumerate(lines, 1):
            line_match = None if self._daily else match(line)
            if line_match is None:
                if line and not ("lseek(" in line and self._read_seek(line)):
                    self._read_line(at, line)
                continue
            head, start, call, size_text, offset_text, moved_text, took = line_match.groups()
            rank, file, number, writes, placed, phase = targets.get(head + call) or self._learn_target(head, call)
            if placed != (offset_text is not None) or file.what or file.appends:
                self._read_line(at, line)
                continue
            size, moved = int(size_text), int(moved_text)
            if placed:
                offset = int(offset_text)
            elif file.position is None:
                offset, phase = 0, phase + _UNPLACED_BEHIND
            else:
                offset = file.position
                file.position = offset + moved
            # A short read at the end of the file is complete; one that moved nothing, or a write that moved less, is
            # not.
            status = 0 if moved == size or (moved and not writes) else STATUS_SHORT
            add((rank, phase, status, size, number, offset, at, moved))
            starts(start)
            durations(took)

    def _read_seek(self, line: str) -> bool:
        match = _SEEK.fullmatch(line)
        if match is None:
            return False
        head, fd, path, place = match.groups()
        self._files.get_file(_parse_pid(head), int(fd), _strip_brackets(path)).position = int(place)
        return True

    def _learn_target(self, head: str, call: str) -> _CallTarget:
        pid, (name, _, about) = _parse_pid(head), call.partition("(")
        fd, _, path = about.partition("<")
        file = self._files.get_file(pid, int(fd), _strip_brackets(f"<{path}"))
        writes = "w" in name
        target = self._targets[head + call] = (
            self._get_rank(pid),
            file,
            self._files.number(file.path),
            writes,
            name[0] == "p",
            _NAMES["write" if writes else "read"],
        )
        return target

    def _get_rank(self, pid: str) -> int:
        return self._ranks.get_number(self._files.process(pid))

    def _read_line(self, at: int, line: str) -> None:
        if line == " <unfinished ...>" or line.startswith("strace: "):
            return
        try:
            self._read_event(at, line)
        except UnreadableError as error:
            self._bad += 1
            self.run.lacks(at, error.args[0])

    def _read_event(self, at: int, line: str) -> None:
        """Read a line with a time. Raises UnreadableError."""
        first, other, clock, part, body = match_exactly(_HEAD, line).groups()
        pid, start = first or other or "", f"{clock}.{part}"
        if _is_glued(body) or (":" in clock) != self._daily:
            raise UnreadableError
        if body.startswith(("+++ ", "--- ")):
            match_exactly(_ENDED, body)
            return
        if not self._files.knows(pid):
            self._targets.clear()
            self._files.get_open_files(pid)
        if body.startswith("<... "):
            begun = self._resume_call(pid, body)
            if begun is None:
                raise UnreadableError(Message("begin-not-traced", "a call is resumed that did not begin in the trace"))
            start, body = begun
        elif ended := _UNFINISHED.fullmatch(body):
            self._unfinished[pid] = (start, ended.group(1))
            self._files.forking(pid, body.partition("(")[0] in _FORKS, "CLONE_FILES" in body)
            return
        self._read_call(at, pid, start, body)

    def _resume_call(self, pid: str, body: str) -> tuple[str, str] | None:
        match, begun = _RESUMED.fullmatch(body), self._unfinished.pop(pid, None)
        if match is None or begun is None or not begun[1].startswith(match.group(1) + "("):
            return None
        rest = match.group(2)
        return begun[0], begun[1] + ("" if rest.startswith((")", ",")) or begun[1].endswith((" ", "(")) else " ") + rest

    def _read_call(self, at: int, pid: str, start: str, body: str) -> None:
        name, args, result = match_exactly(_CALL, body).groups()
        if name in _UNSEEN:
            self._unseen[_UNSEEN[name]] += 1
        if name not in CALLS and name not in _FORKS:
            return
        if result.startswith("?"):
            return  # it never came back
        value, path, error, took = match_exactly(_RESULT, result).groups()
        if name in _FORKS:
            self._targets.clear()
            self._files.forked(pid, value, "CLONE_FILES" in args)
            return
        call = CALLS[name](args, int(value, 16 if value.startswith("0x") else 10), path)
        status = parse_errno(error)
        self._untimed += took is None
        event = _Event(at, pid, start, took or "")
        if call.operation in DATA:
            self._add_transfer(event, call, status)
            return
        if call.effect not in ("", "moves", "displaces"):
            self._targets.clear()
        file = self._files.after(pid, call, status == 0)
        if file and file.what:
            self._n_unreadable[file.what] += bool(call.operation)
        elif call.operation:
            number = self._files.number(file.path if file else call.path)
            short = STATUS_SHORT if call.operation == "copy" and not call.moved else 0
            self._add_operation(event, call.operation, (status or short, call.size, number, 0, max(call.moved, 0)))

    def _add_transfer(self, event: _Event, call: Call, status: int) -> None:
        """Add a read or a write, at the offset of the call or of the file."""
        file, writes, place = (
            self._files.get_file(event.pid, call.fd, call.path),
            call.operation == "write",
            call.offset,
        )
        if file.what:
            self._n_unreadable[file.what] += 1
            return
        operation: str = call.operation
        if place is None and writes and file.appends:
            operation, file.position = "append", None
        elif place is None:
            place = file.position
            if place is None:
                operation += "_unplaced"
            elif call.moved > 0:
                file.position = place + call.moved
        # A short read at the end of the file is complete; one that moved nothing, or a write that moved less, is not.
        if not status and call.moved != call.size and (writes or not call.moved):
            status = STATUS_SHORT
        number = self._files.number(file.path)
        self._add_operation(event, operation, (status, call.size, number, place or 0, max(call.moved, 0)))

    def _add_operation(self, event: _Event, operation: str, numbers: tuple[int, int, int, int, int]) -> None:
        if not event.took:
            return
        status, size, file, offset, moved = numbers
        self._rows.extend((self._get_rank(event.pid), _NAMES[operation], status, size, file, offset, event.line, moved))
        self._starts.append(event.start)
        self._took.append(event.took)

    def end(self) -> Parsed:
        """Return the run, with notes on what the trace does not contain."""
        run = self.run
        table = np.frombuffer(self._rows, np.int64).reshape(-1, len(_FIELDS))
        columns: dict[str, Any] = dict(zip(_FIELDS, table.T, strict=True))
        columns["start_ns"], columns["duration_ns"] = (
            self._parse_nanoseconds(self._starts),
            self._parse_nanoseconds(self._took),
        )
        columns["kind"] = _build_kinds()[columns["phase"]]
        if self._untimed:
            run.lacks(
                0,
                Message(
                    "missing-times",
                    "{n_calls} calls have no duration: strace needs -T",
                    n_calls=self._untimed,
                ),
            )
        if len(table) and columns["start_ns"].min() > _DAY_NS:
            first = datetime.fromtimestamp(int(columns["start_ns"].min()) // 10**9, UTC)
            run.started_at = first.strftime("%Y-%m-%dT%H:%M:%S")
        record_operations(run, OPERATIONS, columns, unplaced=UNPLACED)
        self._note_resolution(columns["duration_ns"])
        self._note_nameless(columns)
        keep_names(run, "files", self._files.numbers)
        keep_names(run, "processes", self._ranks.numbers)
        run.facts |= {"lines_left_out": self._bad} if self._bad else {}
        return run

    def _parse_nanoseconds(self, printed: list[str]) -> Any:
        """Parse seconds with six or nine digits after the point, or times of the day (``-tt``)."""
        if any(":" in stamp for stamp in printed[:1]):
            self.run.warn(
                1,
                Message("times-of-day", "times of the day (-tt): a trace over midnight goes backwards; -ttt has dates"),
            )
            printed = [_day_time_to_seconds(stamp) for stamp in printed]
        digits = len(printed[0]) - printed[0].find(".") - 1 if printed else 6
        if all(stamp[-digits - 1] == "." for stamp in printed):  # nearly always
            return np.fromstring(" ".join(printed).replace(".", ""), np.int64, sep=" ") * 10 ** (9 - digits)
        return np.array([_parse_decimal(stamp) for stamp in printed], np.int64)

    def _note_nameless(self, columns: dict[str, Any]) -> None:
        """Note accesses to files, pipes or a terminal that were opened earlier, in a trace without -y."""
        nameless = [number for path, number in self._files.numbers.items() if path.startswith(NAMELESS)]
        if count := int((np.isin(columns["file"], nameless) & (columns["size"] > 0)).sum()):
            self.run.warn(
                0,
                Message(
                    "opened-before-trace",
                    "{n_calls} reads and writes use files, pipes or a terminal that were opened before the "
                    "trace began: with -y strace names them",
                    n_calls=count,
                ),
            )

    def _note_resolution(self, took: Any) -> None:
        run = self.run
        if len(took) and not (took % 1000).any():
            run.cannot_tell(
                Message(
                    "low-resolution",
                    "times are in whole µs: short durations have no finer modes (--syscall-times=ns has)",
                )
            )
        run.cannot_tell(_SLOW)
        run.cannot_tell(_MAPPED)
        for what, count in self._n_unreadable.items():
            run.warn(
                0,
                Message(
                    "calls-left-out",
                    "{n_calls} calls for {calls} were left out: not files of a file system",
                    n_calls=count,
                    calls=what,
                ),
            )
        for what, count in self._unseen.items():
            run.cannot_tell(
                Message(
                    "bytes-not-traced",
                    "{n_calls} calls of {calls}: the trace does not show their bytes one by one",
                    n_calls=count,
                    calls=what,
                )
            )
        if self._unfinished:
            run.warn(
                0,
                Message(
                    "end-not-traced",
                    "{n_calls} calls were not finished when the trace ended",
                    n_calls=len(self._unfinished),
                ),
            )


def _parse_pid(head: str) -> str:
    """Return the process id in the text before the time: ``[pid 12] ``, ``12 ``, or nothing."""
    return head.strip(" pid[]")


def _strip_brackets(path: str) -> str | None:
    """Return what -y prints after a number, without its brackets; None if absent."""
    return path.removesuffix("(deleted)")[1:-1] or None


def _is_glued(body: str) -> bool:
    """Return whether the line consists of two merged lines."""
    return bool(_GLUED.search(body)) and bool(_GLUED.search(_QUOTED.sub("", body)))


def _parse_decimal(printed: str) -> int:
    seconds, _, part = printed.partition(".")
    return int(seconds + part.ljust(9, "0"))


def _day_time_to_seconds(printed: str) -> str:
    hours, minutes, seconds = printed.split(":")
    return f"{int(hours) * 3600 + int(minutes) * 60 + int(seconds[:2])}{seconds[2:]}"


def _build_kinds() -> Any:
    from iosonde.engine._native import KINDS

    like = {"read_unplaced": "read", "write_unplaced": "write", "fstat": "stat", "copy": "write"}
    return np.array([KINDS.index(like.get(name, name)) for name in OPERATIONS], np.int64)
