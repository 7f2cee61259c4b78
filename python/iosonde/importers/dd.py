"""GNU, BSD and busybox dd: bytes and seconds of each copy.

    67108864 bytes (67 MB, 64 MiB) copied, 0.0275971 s, 2.4 GB/s

becomes ``copy bytes``, ``time`` and ``bandwidth_last_done``: bytes over seconds, because dd prints its rate with two
digits. The output does not show whether an fsync is inside (``conv=fsync``). Each copy is one run.
"""

import re

from iosonde.core.message import Message

from .parsed import LIKELY, WEAK, Claim, Parsed, Row
from .reading import parse_number
from .text import Note, Text

NAME = "dd"
HEADLINE = ("bandwidth",)

# In any language: bytes, their MB, a word, seconds, and the rate; `transferred in` is BSD's.
_COPIED = re.compile(
    r"\s*+(\d++) ?+[^\W\d]++(?: ?[(（][^)）]{0,60}[)）])? ?+[^\W\d]++(?:,|，| in) ?+([\d.]++(?:e-?\d++)?)\s*+"
    r"(?:s|secs|seconds)\b(?=\s*+(?:[,，] ?[\d.]++ ?[kMGT]?i?B/s|\(\d++ bytes/sec\)|$))(.*)$"
)
_RECORDS = re.compile(r"\D{0,40}+\d++\+\d++ \S")
_ERROR = re.compile(r"\s*dd: (.*)$")


def claims(text: Text) -> Claim | None:
    """Recognise the line of a copy; with the records above it, for certain."""
    if hit := text.search(_COPIED, " copied,", " transferred in ", "B/s"):
        return Claim.from_match(LIKELY if hit[0] > 1 and _RECORDS.match(text.lines[hit[0] - 2]) else WEAK, hit)
    return Claim.from_match(WEAK, text.search(_ERROR, "\ndd: "))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each copy."""
    runs: list[Parsed] = []
    errors: list[Note] = []
    records, progress = -1, (0.0, 0.0)
    for at, line in text.numbered():
        if _RECORDS.match(line):
            records = at
        elif match := _ERROR.match(line):
            errors.append(Note(at, Message("tool-failed", "dd reports: {quote}", quote=match.group(1)[:160])))
        elif match := _COPIED.match(line):
            run = _build_copy(at, match)
            moved, seconds = (row.value for row in run.rows[:2]) if run.rows else (0.0, 0.0)
            # Lines of status=progress have no records before them, and grow towards the final line.
            if progress[1] and moved >= progress[0] and seconds > progress[1]:
                runs.pop()
            progress = (0.0, 0.0) if records == at - 1 else (moved, seconds)
            runs.append(run)
            for error in errors:
                run.lacks(*error)
            errors = []
    if errors:
        runs.append(Parsed())
        for error in errors:
            runs[-1].lacks(*error)
    return runs


def _build_copy(at: int, match: re.Match[str]) -> Parsed:
    run, size, seconds = Parsed(), int(match.group(1)[:18]), parse_number(match.group(2))
    if seconds is None or seconds <= 0 or size == 0:
        run.lacks(
            at,
            Message(
                "invalid-number", "{n_bytes} bytes in '{cell}' s is not a speed", n_bytes=size, cell=match.group(2)[:40]
            ),
        )
        return run
    run.rows += [
        Row("copy", "bytes", size, "bytes", at),
        Row("copy", "time", seconds, "s", at),
        Row("copy", "bandwidth_last_done", size / seconds, "bytes/s", at),
    ]
    run.warn(at, Message("unknown-clock", "dd's output does not show what is inside the time (fsync or not)"))
    return run
