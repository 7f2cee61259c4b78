"""Result lines of the Ficus project (1990s): a path with date and time, then the times of one benchmark.

    …/RESULTS/950531.211023/benchtimes:ficus mab 2 162.9 real 83.2 user 40.9 sys

becomes ``mab real``, ``user`` and ``sys`` in s, with factors ``fs`` (ficus), ``benchmark`` and ``replicas`` (2), and
facts ``date`` (1995-05-31) and ``time`` (21:10:23): when it was run is no setting.
Made by ``grep real RESULTS/*/benchtimes``.
"""

from __future__ import annotations

import re
from datetime import datetime

from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import number
from .text import Text

NAME = "ficus"

_LINE = re.compile(
    r"(?:\S*/)?(\d{6})\.(\d{6})/[^\s:]+:\s*(\S+)\s+(\S+)\s+(\d+)\s+([\d.]+)\s+real\s+([\d.]+)\s+user\s+([\d.]+)\s+sys\s*$"
)


def claims(text: Text) -> Claim | None:
    """By the form of a line."""
    found = text.search(_LINE, " user ")
    return Claim(CERTAIN, found[0], found[1].group()[:60]) if found else None


def parse(text: Text) -> list[Parsed]:
    """One Parsed for each line."""
    runs = []
    for at, line in text.numbered():
        if found := _LINE.match(line):
            runs.append(_run(at, found))
        elif runs and "/RESULTS/" in line:
            runs[-1].warn(at, "a line of another form: left out")
    return runs


def _run(at: int, found: re.Match[str]) -> Parsed:
    date, time, system, benchmark, replicas, *times = found.groups()
    run = Parsed()
    run.factors |= {"fs": system[:100], "benchmark": benchmark[:100], "replicas": int(replicas[:9])}
    try:
        # Two digits of the year: 1970 to 2069. The lines that are known are of 1994 and 1995.
        year = (1900 if int(date[:2]) >= 70 else 2000) + int(date[:2])
        started = datetime.strptime(f"{year}{date[2:]}{time}", "%Y%m%d%H%M%S")
    except ValueError:
        run.warn(at, f"{date}.{time} is not a date and time")
    else:
        run.started_at = started.isoformat()
        run.facts |= {"date": started.date().isoformat(), "time": started.time().isoformat()}
    values = [number(word) for word in times]
    if None in values:
        run.lacks(at, "a time of this line is not a number")
        return run
    real, user, system_time = (value or 0.0 for value in values)
    for metric, value in (("real", real), ("user", user), ("sys", system_time)):
        run.rows.append(Row(benchmark[:100], metric, value, "s", at))
    if user + system_time > real:
        run.warn(at, "user and sys together are more than real: not on one CPU, or the line is damaged")
    return run
