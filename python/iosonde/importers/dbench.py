"""dbench and tbench 3 and 4: throughput of the whole run, and count and latency of each operation.

     NTCreateX     163821     0.014    12.321
    Throughput 999.571 MB/sec  2 clients  2 procs  max_latency=16.246 ms

becomes ``all bandwidth_last_done`` and ``latency_max``, and ``ntcreatex operations``, ``latency_mean``,
``latency_max`` in s.
dbench's MB is 10^6 bytes (dbench.c multiplies the bytes by 1.0e-6).
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import parse_number
from .text import Text

NAME = "dbench"
HEADLINE = ("bandwidth",)

_BANNER = re.compile(r"\s*(?:\S+ \S+ )?([dt]bench) version (\S+)")
_TOTAL = re.compile(
    r"Throughput (\S+) MB/sec(?: \(([^)]*)\))?\s*(?:\(sync \w+\))?\s*(?:(\d+) clients)?\s*"
    r"(?:(\d+) procs)?\s*(?:max_latency=(\S+) ms)?"
)
_ROW = re.compile(r" ([A-Za-z_]+)\s+(\d+)\s+(\S+)\s+(\S+)\s*$")
_RUNNING = re.compile(r"Running for (\d+) seconds with load '(.*?)'(?: and minimum warmup (\d+))?")


def claims(text: Text) -> Claim | None:
    """Recognise the banner, or the last line."""
    if (occurrence := text.find("dbench version ", "tbench version ")) and _BANNER.match(text.lines[occurrence[0] - 1]):
        return Claim(CERTAIN, *occurrence)
    if occurrence := text.find("\nThroughput "):
        at = occurrence[0] + 1
    else:
        at = int(text.content.startswith("Throughput "))
    line = text.lines[at - 1] if at else ""
    return Claim(LIKELY, at, line[:60]) if _TOTAL.match(line) and " MB/sec" in line else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution."""
    runs: list[Parsed] = []
    table, done = False, True
    for at, line in text.numbered():
        if match := _BANNER.match(line):
            _close_runs(runs, done, at)
            runs.append(Parsed(version=match.group(2)))
            runs[-1].factors["protocol"] = "socket" if match.group(1) == "tbench" else "file"
            table, done = False, False
        elif line.startswith("Throughput") and (match := _TOTAL.match(line)):
            if done:
                runs.append(Parsed())
            _add_total(runs[-1], at, match)
            table, done = False, True
        elif not runs or not line.strip():
            continue
        elif match := _RUNNING.match(line):
            runs[-1].factors["runtime"] = int(match.group(1)[:9])
            runs[-1].facts["load"] = match.group(2)[:300]
        elif " Operation" in line and "AvgLat" in line:
            table = True
        elif table and (match := _ROW.match(line)):
            _add_row(runs[-1], at, match)
        elif not note_reported_failure(runs[-1], at, line) and "ERROR" in line:
            runs[-1].lacks(at, Message("tool-failed", "it failed: {quote}", quote=line.strip()[:160]))
    _close_runs(runs, done, text.last_line)
    return runs


def _add_row(run: Parsed, at: int, match: re.Match[str]) -> None:
    operation, count = match.group(1).lower(), int(match.group(2)[:18])
    run.rows.append(Row(operation, "operations", count, "operations", at, count=count))
    for metric, word in (("latency_mean", match.group(3)), ("latency_max", match.group(4))):
        if (value := parse_number(word)) is None or value < 0:
            run.lacks(
                at,
                Message(
                    "invalid-number", "'{cell}' of {operation} is not a latency", cell=word[:40], operation=operation
                ),
            )
        else:
            run.rows.append(Row(operation, metric, value / 1e3, "s", at, count=count))


def _add_total(run: Parsed, at: int, match: re.Match[str]) -> None:
    value, latency = parse_number(match.group(1)), parse_number(match.group(5) or "")
    if value is None or value <= 0:
        run.lacks(at, Message("invalid-number", "the throughput is '{cell}'", cell=match.group(1)[:40]))
    else:
        run.warn(at, Message("assumed-unit", "MB/sec was read as 1000000 bytes/s, as dbench calculates"))
        run.rows.append(Row("all", "bandwidth_last_done", value * 1e6, "bytes/s", at))
    if latency is not None:
        run.rows.append(Row("all", "latency_max", latency / 1e3, "s", at))
    for place, factor in ((3, "clients"), (4, "ranks")):
        if match.group(place):
            run.factors[factor] = int(match.group(place)[:9])


def _close_runs(runs: list[Parsed], done: bool, last: int) -> None:
    if runs and not done:
        runs[-1].lacks(last, Message("ended-early", "the output ends without 'Throughput'"))
