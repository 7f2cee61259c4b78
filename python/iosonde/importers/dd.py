"""GNU, BSD and busybox dd: bytes and seconds of each copy.

    67108864 bytes (67 MB, 64 MiB) copied, 0.0275971 s, 2.4 GB/s

becomes ``copy bytes``, ``time`` and ``bandwidth_last_done``: bytes over seconds, because dd prints its rate with two
digits. Only a command line above it shows the block size, ``direct``, and whether an fsync is inside (``conv=fsync``).
Each copy is one run. Copies of one file are no repetitions of each other, as the first may create what the second
overwrites: ``part`` is their place. What ``time dd`` prints after a copy is ``command real``, ``user`` and ``sys`` of
that copy.
"""

import re

from iosonde.core.message import Message
from iosonde.core.vocabulary.dd import is_dd_unflushed, read_dd_settings

from . import time
from .command_lines import CommandLines
from .parsed import LIKELY, PART, WEAK, Claim, Parsed, Row
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
        is_certain = hit[0] > 1 and _RECORDS.match(text.lines[hit[0] - 2])
        score = LIKELY if is_certain else WEAK
        # In the output of `time dd` both are of one command: this importer reads both.
        timed = time.claims(text)
        return Claim.from_match(timed.score + 1 if is_certain and timed and timed.line > hit[0] else score, hit)
    return Claim.from_match(WEAK, text.search(_ERROR, "\ndd: "))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each copy, and for each time that follows no copy."""
    copies = _parse_copies(text)
    _add_settings(copies, CommandLines(text, NAME))
    runs = _add_times(copies, time.parse(text) if time.claims(text) else [])
    copies = [run for run in runs if run.rows]
    for place, run in enumerate(copies, 1):
        if len(copies) > 1:
            run.factors[PART] = f"copy {place} of the file"
    return runs


def _add_settings(copies: list[Parsed], commands: CommandLines) -> None:
    """Add what the command above each copy says, and the warning that nothing does."""
    for run in copies:
        command = commands.find_above(run.rows[0].line) if run.rows else None
        if command is not None and command.words is not None:
            run.facts["command"] = command.text
            run.factors |= read_dd_settings(command.words)
            run.is_unflushed = is_dd_unflushed(command.words)
            for row in run.rows:
                row.includes = "fsync" if run.factors.get("fsync") and row.metric != "bytes" else ""
        elif run.rows:
            message = Message("unknown-clock", "dd's output does not show what is inside the time (fsync or not)")
            run.warn(run.rows[0].line, message)


def _add_times(copies: list[Parsed], samples: list[Parsed]) -> list[Parsed]:
    """Add each time to the copy before it that has none yet."""
    runs = [*copies, *samples]
    for sample in samples:
        if not sample.rows:
            continue
        before = [run for run in runs if run is not sample and run.rows and run.rows[0].line < sample.rows[0].line]
        run = max(before, key=lambda run: run.rows[-1].line, default=None)
        for row in sample.rows:
            row.iteration = None
        if run is None or any(row.operation == "command" for row in run.rows):
            continue
        run.rows += sample.rows
        run.facts |= sample.facts
        for at, message in sample.warnings:
            run.warn(at, message)
        for at, message in sample.missing:
            run.lacks(at, message)
        runs = [other for other in runs if other is not sample]
    return sorted(runs, key=_get_line)


def _get_line(run: Parsed) -> int:
    return min([row.line for row in run.rows] or [note.line for note in run.missing] or [0])


def _parse_copies(text: Text) -> list[Parsed]:
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
    return run
