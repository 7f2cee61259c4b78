"""blktrace, as printed by ``blkparse``: requests to block devices become recorded operations.

      8,0    3        7     0.000004915   697  D   W 223490 + 8 [kjournald]
      8,0    3       11     0.000912111     0  C   W 223490 + 8 [0]

An operation is a request from its issue to the driver (D) to its completion (C); if a device has no D (device mapper,
loop), from its queueing (Q). Sectors have 512 bytes. A rank is the process that was on the CPU when the request was
issued, which for write-behind is a kernel thread.
"""

import re
from collections import Counter, defaultdict
from functools import lru_cache

from iosonde.core.message import Message

from .parsed import CERTAIN, Claim, Parsed
from .text import Text
from .trace import Gathered, Numbered, keep_names

NAME = "blktrace"
HEADLINE = ("latency_p99", "bytes")

# Possessive: no part can be read in two ways, so there is no backtracking.
_EVENT = re.compile(
    r" *+(\d{1,4}+,\d{1,7}+) ++\d{1,5}+ ++\d{1,12}+ ++(\d{1,9}+)\.(\d{9}+) ++(\d{1,9}+) ++([A-Z]{1,2}+) ++([A-Z]{1,6}+)"
    r"(?: (\d{1,18}+)(?: \+ (\d{1,9}+))?+)?+(?: <- \([^)]*+\) \d++)?+(?: / \d++)?+(?: \[([^\[\]]*+)\])?+ *+"
)
_BEGINS = re.compile(r" *\d{1,4},\d{1,7} +\d{1,5} +")
_ANOTHER = re.compile(r"\d,\d+ +\d+ +\d+ +\d+\.\d{9} .*\d,\d+ +\d+ +\d+ +\d+\.\d{9} ")
_ERROR = re.compile(r"-?\d{1,5}")
_SKIPS = re.compile(r"Skips: (\d+) forward")
_SECTOR = 512
_ACTIONS = frozenset("DCQ")
_KINDS = {"read": "read", "write": "write"}
_Waiting = dict[tuple[str, str, str, str], list[tuple[int, int]]]


def claims(text: Text) -> Claim | None:
    """Recognise the shape of its first lines."""
    head = [(at, line) for at, line in enumerate(text.lines[:60], 1) if _BEGINS.match(line)]
    fitting = sum(bool(_EVENT.fullmatch(line)) for _, line in head)
    return Claim(CERTAIN, head[0][0], head[0][1].strip()[:60]) if head and fitting >= max(2, 0.7 * len(head)) else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for all devices of the trace."""
    run, reader = Parsed(), _Reader()
    for at, line in enumerate(text.lines, 1):
        if match := _EVENT.fullmatch(line):
            reader.event(run, at, match)
        elif _BEGINS.match(line):
            if "  m   N " not in line or _ANOTHER.search(line):  # a message of a scheduler
                reader.gathered.note_unreadable(
                    run,
                    at,
                    Message(
                        "unreadable-lines", "not an event of blkparse, or two in one: left out, and others like it"
                    ),
                )
        elif (skips := _SKIPS.match(line)) and skips.group(1) != "0":
            run.lacks(
                at,
                Message(
                    "lost-records",
                    "blktrace lost {n_lost} parts of the trace: requests are missing",
                    n_lost=skips.group(1),
                ),
            )
    reader.end(run, text)
    return [run]


@lru_cache(64)
def _parse_request_kind(flags: str) -> str:
    """Return the kind of a request; '' for discards and flushes."""
    if "D" in flags.removesuffix("S"):
        return ""
    return "read" if "R" in flags else "write" if "W" in flags else ""


class _Reader:
    """Requests that wait for their completion."""

    def __init__(self) -> None:
        self.gathered = Gathered()
        self._issued: _Waiting = defaultdict(list)
        self._queued: _Waiting = defaultdict(list)
        self._ranks = Numbered()
        self._from_queue, self._without, self._others = 0, 0, Counter[str]()

    def event(self, run: Parsed, at: int, match: re.Match[str]) -> None:
        """Read one event."""
        if match[5] not in _ACTIONS:
            return
        device, integer, part, pid, action, flags, sector, count, error_text = match.groups()
        kind = _parse_request_kind(flags)
        if not kind or not count or count == "0":
            self._others["discards and flushes" if action == "C" else ""] += 1
            return
        now, key = int(integer + part), (device, kind, sector, count)
        if action != "C":
            (self._issued if action == "D" else self._queued)[key].append((now, self._ranks.get_number(pid)))
            return
        issued, queued = self._issued.get(key), self._queued.get(key)
        begun = issued or queued
        if not begun:
            self._without += 1
            return
        self._from_queue += not issued
        start, rank = begun.pop(0)
        if queued:
            queued.clear()
        if now < start:
            self.gathered.note_unreadable(
                run, at, Message("impossible-times", "a request completed before it began: left out")
            )
            return
        error = int(error_text) if error_text and error_text != "0" and _ERROR.fullmatch(error_text) else 0
        status = min(abs(error), 133) if error < 0 else 0
        self.gathered.rows.extend(
            (
                rank,
                self.gathered.names.get_number(kind),
                status,
                int(count) * _SECTOR,
                self.gathered.files.get_number(device),
                int(sector) * _SECTOR,
                start,
                now - start,
                at,
            )
        )

    def end(self, run: Parsed, text: Text) -> None:
        """Add the operations to the run, with a note on what the trace does not contain."""
        gathered = self.gathered
        gathered.into(run, _KINDS, text)
        keep_names(run, "files", gathered.files.numbers)
        keep_names(run, "processes", self._ranks.numbers)
        if self._from_queue:
            run.warn(
                0,
                Message(
                    "queue-times",
                    "{n_queued} of {n_requests} requests start when they were queued: the trace lacks their "
                    "issue to the driver",
                    n_queued=self._from_queue,
                    n_requests=len(gathered.rows) // len(gathered.FIELDS),
                ),
            )
        if self._without:
            run.warn(
                0,
                Message(
                    "begin-not-traced",
                    "{n_requests} requests completed but did not begin in the trace: left out",
                    n_requests=self._without,
                ),
            )
        if open_ones := sum(map(len, self._issued.values())):
            run.warn(
                0,
                Message("end-not-traced", "{n_open} requests had not completed when the trace ended", n_open=open_ones),
            )
        if done := self._others["discards and flushes"]:
            run.warn(0, Message("flushes-left-out", "{n_requests} discards and flushes were left out", n_requests=done))
        run.cannot_tell(
            Message(
                "device-requests",
                "requests to a device are not operations of a program: caches, read-ahead and merging lie between",
            )
        )
