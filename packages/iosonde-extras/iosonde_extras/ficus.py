"""Result lines of the Ficus project (1990s): a path with date and time, then the times of one benchmark.

    …/RESULTS/950531.211023/benchtimes:ficus mab 2 162.9 real 83.2 user 40.9 sys

becomes ``mab real``, ``user`` and ``sys`` in s, with factors ``fs`` (ficus), ``benchmark`` and ``replicas`` (2). Facts
are ``date`` (1995-05-31) and ``time`` (21:10:23), as the time of a run is not a setting. Made by ``grep real
RESULTS/*/benchtimes``. A file ``benchtimes`` itself has the part after the colon on each line, and its directory
contains the date and time.
"""

import re
from datetime import datetime

from iosonde.core.message import Message
from iosonde.importers.parsed import CERTAIN, Claim, Parsed, Row
from iosonde.importers.reading import parse_number
from iosonde.importers.text import Text

NAME = "ficus"

_TIMES = r"(\S+)\s+(\S+)\s+(\d+)\s+([\d.]+)\s+real\s+([\d.]+)\s+user\s+([\d.]+)\s+sys\s*$"
_WHEN = r"(?:^|/)(\d{6})\.(\d{6})/"
_LINE = re.compile(r"(?:\S*/)?(\d{6})\.(\d{6})/[^\s:]+:\s*" + _TIMES)
_ALONE = re.compile(r"\s*" + _TIMES)
_DIRECTORY = re.compile(_WHEN + r"[^/]*$")


def claims(text: Text) -> Claim | None:
    """Recognise the form of a line."""
    hit = text.search(_LINE, " user ") or text.search(_ALONE, " user ")
    return Claim.from_match(CERTAIN, hit) if hit else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each line."""
    runs = []
    directory = _DIRECTORY.search(text.name)
    when = directory.groups() if directory else ("", "")
    for at, line in text.numbered():
        if match := _LINE.match(line):
            runs.append(_build_run(at, match.groups()[:2], match.groups()[2:]))
        elif match := _ALONE.match(line):
            runs.append(_build_run(at, when, match.groups()))
        elif runs and line.strip():
            runs[-1].warn(at, Message("unreadable-lines", "a line of another form: left out"))
    return runs


def _build_run(at: int, when: tuple[str, ...], cells: tuple[str, ...]) -> Parsed:
    (date, time), (system, benchmark, replicas, *times) = when, cells
    run = Parsed()
    run.factors |= {"fs": system[:100], "benchmark": benchmark[:100], "replicas": int(replicas[:9])}
    try:
        if not date:
            raise ValueError
        # Two digits of the year: 1970 to 2069. The known lines are of 1994 and 1995.
        year = (1900 if int(date[:2]) >= 70 else 2000) + int(date[:2])
        started = datetime.strptime(f"{year}{date[2:]}{time}", "%Y%m%d%H%M%S")
    except ValueError:
        invalid = Message("invalid-time", "{date}.{time} is not a date and time", date=date, time=time)
        run.warn(at, invalid if date else Message("unknown-time", "its date and time are missing"))
    else:
        run.started_at = started.isoformat()
        run.facts |= {"date": started.date().isoformat(), "time": started.time().isoformat()}
    values = [parse_number(word) for word in times]
    if None in values:
        run.lacks(at, Message("invalid-number", "a time of this line is not a number"))
        return run
    real, user, system_time = (value or 0.0 for value in values)
    for metric, value in (("real", real), ("user", user), ("sys", system_time)):
        run.rows.append(Row(benchmark[:100], metric, value, "s", at))
    if user + system_time > real:
        run.warn(
            at,
            Message("damaged-lines", "user and sys together exceed real: not on one CPU, or the line is damaged"),
        )
    return run
