"""Damage and failures, for all importers: lost parts, a last line that may be cut, impossible values, and the words
with which a tool, MPI or the kernel reports a failure.

A damaged line never becomes another number: it is left out, and the run is marked.
"""

import math
import re
from collections.abc import Mapping

from iosonde.core.message import Message

from .parsed import Parsed, Row
from .text import Text

# Far beyond any machine or run: an exbibyte a second, 10^15 operations a second, a century.
_MOST = {"bytes/s": 2.0**60, "operations/s": 1e15, "bytes": 2.0**70, "s": 3.2e9}
# Fatal messages: the line is quoted. The most informative first.
_FATAL = (
    "No space left on device",
    "Disk quota exceeded",
    "Input/output error",
    "Assertion `",
    "MPI_ABORT",
    "Signal: ",
    "exited on signal",
    "Segmentation fault",
    "DUE TO TIME LIMIT",
    "Killed",
    "oom-kill",
    "Bus error",
    "Stale file handle",
    "Read-only file system",
    "terminated by signal",
    "CANCELLED AT",
)
_CANDIDATES = re.compile("|".join(sorted({re.escape(words) for words in _FATAL})))


def drop_implausible_rows(run: Parsed, text: Text) -> Parsed:
    """Return the run without implausible rows, and with messages about what is missing."""
    for note in text.damage:
        run.lacks(note.line, note.sentence)
    if text.flagged_lines:
        _keep_flags(run, text.flagged_lines)
    absurd = [row for row in run.rows if _is_absurd(row)]
    for row in absurd:
        run.lacks(
            row.line,
            Message(
                "impossible-value",
                "{operation} {metric}: {value:g} {unit} is impossible: left out",
                operation=row.operation,
                metric=row.metric,
                value=row.value,
                unit=row.unit,
            ),
        )
    cut = 0 if run.has_complete_last_line else text.cut_line
    lost = [row for row in run.rows if cut and row.line == cut]
    if lost:
        run.lacks(
            cut,
            Message("cut-last-line", "the last line has no line end, and its last number may be cut: it is left out"),
        )
    if absurd or lost:
        gone = {id(row) for row in (*absurd, *lost)}
        run.rows = [row for row in run.rows if id(row) not in gone]
    return run


def _keep_flags(run: Parsed, flags: Mapping[int, str]) -> None:
    """Mark the run as invalid where the tool flags a number; a reader of numbers drops the word after them."""
    noted_lines = {note.line for note in run.missing}
    for row in run.rows:
        if row.line in flags and row.line not in noted_lines:
            run.mark_invalid(
                row.line,
                Message(
                    "marked-invalid",
                    "{operation} {metric} is marked {mark}",
                    operation=row.operation,
                    metric=row.metric,
                    mark=flags[row.line],
                ),
            )
            noted_lines.add(row.line)


def _is_absurd(row: Row) -> bool:
    most = _MOST.get(row.unit)
    return not (math.isfinite(row.value) if most is None else 0 <= row.value <= most)


def note_reported_failure(run: Parsed | None, at: int, line: str) -> bool:
    """Return whether ``line`` reports a failure; it is then noted in ``run`` as missing."""
    if run is None or not _CANDIDATES.search(line):
        return False
    for words in _FATAL:
        if words in line:
            if not any(words in note.sentence for note in run.missing):
                run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line.strip()[:160]))
            return True
    return False
