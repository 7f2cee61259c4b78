"""fs_mark 3.x: files per second of each iteration.

    FSUse%        Count         Size    Files/sec     App Overhead
         5        51200         8192       8324.8           390190

becomes ``file_write rate_last_done`` of iteration 0 (create, write, fsync as the sync method says, close), with
``operations`` files of ``file_size`` bytes, and ``overhead`` (µs in its own bookkeeping, outside the rate) in s.
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import date_to_iso, parse_integer, parse_number
from .text import Text

NAME = "fs_mark"
HEADLINE = ("rate",)

_VERSION = re.compile(r"#?\s*Version (\S+), (\d+) thread\(s\) starting at (.*)$")
_HEAD = re.compile(r"\s*FSUse%\s+Count\s+Size\s+Files/sec\s+App Overhead")
_COMMAND = re.compile(r"#\s+(\S*fs_mark\s.*)$")


def claims(text: Text) -> Claim | None:
    """Recognise the table's header."""
    return Claim.from_match(CERTAIN, text.find("FSUse%")) or Claim.from_match(
        LIKELY, text.search(_VERSION, first_lines=200)
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution."""
    runs: list[Parsed] = []
    names: list[str] = []
    iteration = 0
    for at, line in text.numbered():
        if match := _COMMAND.match(line):
            runs.append(Parsed(facts={"command": match.group(1)[:4000]}))
            names, iteration = [], 0
        elif _HEAD.match(line):
            names = re.split(r"\s{2,}|(?<=%)\s+|\s(?=App)", line.strip())
            if not runs:
                runs.append(Parsed())
        elif match := _VERSION.match(line):
            if not runs or runs[-1].version:
                runs.append(Parsed())
            runs[-1].version, runs[-1].started_at = match.group(1)[:60], date_to_iso(match.group(3))
            runs[-1].factors["threads"] = int(match.group(2)[:9])
        elif names and line.strip()[:1].isdigit():
            iteration += _add_row(runs[-1], at, line.split(), len(names), iteration)
        elif runs:
            _read_other_line(runs[-1], at, line.strip())
    for run in runs:
        if not run.rows:
            run.lacks(text.last_line, Message("no-results", "no row of results"))
    return runs


def _add_row(run: Parsed, at: int, words: list[str], columns: int, iteration: int) -> bool:
    values = [parse_number(word) for word in words]
    if len(words) < 5 or len(words) < columns or None in values[:5] or (values[3] or 0) <= 0:
        run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        return False
    count, size, rate, overhead = (value or 0.0 for value in values[1:5])
    run.factors["file_size"] = int(size)
    run.rows += [
        Row("file_write", "rate_last_done", rate, "operations/s", at, None, iteration, int(count), "write,close"),
        Row("file_write", "operations", count, "operations", at, None, iteration),
        Row("file_write", "overhead", overhead / 1e6, "s", at, None, iteration),
    ]
    return True


def _read_other_line(run: Parsed, at: int, line: str) -> None:
    if "Sync method:" in line:
        run.factors["sync_method"] = line.partition("Sync method:")[2].strip()[:80]
    elif match := re.search(r"written with an IO size of (\d+) bytes", line):
        run.factors["transfer_size"] = parse_integer(match.group(1)[:18])
    elif not note_reported_failure(run, at, line) and "failed" in line:
        run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
