"""biosnoop of bcc and libbpf-tools: a line for each request to a block device, with its latency.

    TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)
    0.000004    supervise      1950    xvda1     W 13092560   4096      0.74

``QUE(ms)`` (``-Q``) is the time in the kernel's queue: a separate fact, not part of the latency. bpftrace's program of
the same name prints no offset, size or direction: its latencies are only counted, and are not operations.
"""

import re

import numpy as np

from iosonde.core.message import Message

from .operation_log import add_summary_rows
from .parsed import CERTAIN, Claim, Parsed
from .text import Text
from .trace import Gathered, Numbered, keep_names

NAME = "biosnoop"
HEADLINE = ("latency_p99", "bytes")

_HEAD = re.compile(r"TIME\(s\) +COMM +PID +DISK +T +SECTOR +BYTES +(?:P +)?(?:QUE\(ms\) +)?LAT\(ms\) *$")
_BPFTRACE = re.compile(r"TIME\(ms\) +DISK +COMM +PID +LAT\(ms\) *$")
_ROW = re.compile(
    r" *(\d{1,9})\.(\d{1,6}) +(\S.{0,15}?) +(\d{1,9}) +(\S+) +(\S{1,7}) +(-?\d{1,18}) +(\d{1,12}) +(?:[A-Z]* +)?"
    r"(?:(\d{1,9}\.\d+) +)?(\d{1,9})\.(\d{1,6}) *"
)
_SHORT = re.compile(r" *\d{1,12} +(\S+) +(\S.{0,15}?) +(\d{1,9}) +(\d{1,9}) *")
_LOST = re.compile(r"(?:Possibly lost|Lost) (\d+)")
_SECTOR = 512
_UNREADABLE = Message("unreadable-lines", "not a line of biosnoop, or two in one: left out, and others like it")


def claims(text: Text) -> Claim | None:
    """Recognise the header."""
    return Claim.from_match(CERTAIN, text.search(_HEAD, "TIME(s)") or text.search(_BPFTRACE, "TIME(ms)"))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for all devices of the trace."""
    if (head := text.search(_HEAD, "TIME(s)")) is None:
        return [_parse_latencies(text)]
    run, gathered, ranks = Parsed(), Gathered(), Numbered()
    queued, others, digits = 0.0, 0, 6
    for at, line in enumerate(text.lines[head[0] :], head[0] + 1):
        row = _ROW.fullmatch(line)
        if row is None:
            if line.strip() and not _read_note(run, at, line) and not _HEAD.match(line):
                gathered.note_unreadable(run, at, _UNREADABLE)
            continue
        seconds, part, comm, pid, disk, kind, sector, size, queue, integer, fraction = row.groups()
        name = "read" if "R" in kind else "write" if "W" in kind else ""
        if not name or sector.startswith("-") or size == "0":
            others += 1
            continue
        digits = min(digits, len(fraction))
        took, done = int(integer + fraction.ljust(6, "0")), int(seconds + part.ljust(9, "0"))
        queued += float(queue or 0)
        gathered.rows.extend(
            (
                ranks.get_number(f"{pid} {comm}"),
                gathered.names.get_number(name),
                0,
                int(size),
                gathered.files.get_number(disk),
                int(sector) * _SECTOR,
                done - took,
                took,
                at,
            )
        )
    gathered.into(run, {"read": "read", "write": "write"}, text)
    keep_names(run, "files", gathered.files.numbers)
    keep_names(run, "processes", ranks.numbers)
    if queued:
        run.facts["queued_s"] = queued / 1e3
    if others:
        run.warn(
            0,
            Message(
                "flushes-left-out",
                "{n_requests} requests without direction, offset or bytes (discards, flushes) were left out",
                n_requests=others,
            ),
        )
    run.cannot_tell(
        Message(
            "low-resolution",
            "latencies are in whole {microseconds:g} µs; start times are the printed end minus the latency",
            microseconds=10 ** (3 - digits),
        )
    )
    run.cannot_tell(
        Message(
            "device-requests",
            "requests to a device are not operations of a program: caches, read-ahead and merging lie between",
        )
    )
    return [run]


def _read_note(run: Parsed, at: int, line: str) -> bool:
    if lost := _LOST.search(line):
        run.lacks(at, Message("lost-records", "biosnoop lost {n_lost} requests", n_lost=lost.group(1)))
    return bool(lost) or line.startswith(("Tracing ", "Attaching "))


def _parse_latencies(text: Text) -> Parsed:
    """Read the output of bpftrace's program: latencies in whole ms, without direction, offset or size."""
    run, took, lines = Parsed(), list[int](), list[int]()
    for at, line in text.numbered():
        if not line.strip() or _read_note(run, at, line) or _BPFTRACE.match(line):
            continue
        row = _SHORT.fullmatch(line)
        if row is None or at == text.cut_line:
            run.lacks(at, _UNREADABLE)
        else:
            took.append(int(row.group(4)))
            lines.append(at)
    add_summary_rows(run, "request", np.array(took, float) / 1e3, np.array(lines, np.int64))
    run.warn(
        1,
        Message(
            "low-resolution",
            "latencies are in whole ms, without direction, offset or size of the requests: they are counted, "
            "and cannot be diagnosed",
        ),
    )
    return run
