"""Words with which a tool, MPI or the kernel reports a failure, in any tool's output."""

from __future__ import annotations

import re

from iosonde.core.message import Message

from .parsed import Parsed

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
QUOTED = 160


def note_trouble(run: Parsed | None, at: int, line: str) -> bool:
    """Return whether ``line`` reports a failure; it is then noted in ``run`` as missing."""
    if run is None or not _CANDIDATES.search(line):
        return False
    for words in _FATAL:
        if words in line:
            if not any(words in note.sentence for note in run.missing):
                run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line.strip()[:QUOTED]))
            return True
    return False
