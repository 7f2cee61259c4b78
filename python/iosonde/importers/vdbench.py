"""vdbench 5.0x: ``flatfile.html``, ``summary.html`` and its printed output.

    16:24:36.053     avg_2-5      104.5     0.10    1024  50.72    0.012    0.010    0.015 …

becomes, for each run definition (RD, an execution of its own), ``all rate`` and ``bandwidth`` (MB is 2^20 bytes) and
``latency_mean``. ``read`` and ``write`` have their latencies, and for file systems their rates, as do ``mkdir``,
``create``, ``open`` … These are vdbench's own averages over the intervals after the warm-up (``avg_2-5``): a window
inside the run, without a clock's name. Intervals are not trials. Formatting runs are set-up and left out. The settings
come from ``For loops`` and from the flatfile's columns. An RD without its ``avg`` line ended early. Source:
``FwdStats.java``, ``Flat.java``; Users Guide 5.04.07.
"""

import html
import re
from datetime import datetime

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import parse_number, parse_size
from .text import Note, Text

NAME = "vdbench"
HEADLINE = ("rate", "bandwidth", "latency_mean")

_MIB = 2.0**20
_TAG = re.compile(r"<[^<>\n]{0,200}>")
_STARTING = re.compile(r"(\d\d:\d\d:\d\d\.\d+) Starting RD=([^;\s]+)(.*)$")
_DATA = re.compile(r"\d\d:\d\d:\d\d\.\d+\s+(avg_\d+-\d+)\s+(.*)$")
_HEAD = re.compile(r"(\w{3} +\d+, \d{4})\s+\.*(?:interval|Interval)\.*\s+(.*)$")
_LOOPS = re.compile(r"For loops:\s*(.*)$")
_FLAT = re.compile(r"\s*(?:tod\s+(?:timestamp\s+)?)Run\s+Interval\s")
_BANNER = re.compile(r"Vdbench distribution: (\S+)")
_FORMATS = ("SD_format", "format_for_", "FSD_format")
_BAD = (
    "Data Validation error",
    "Vdbench aborted",
    "java.lang.",
    "I/O error",
    "i/o error",
    "CTRL-C requested",
    "Slave aborting",
    "unexpectedly terminated",
)
_DONE = "Vdbench execution completed successfully"

# Columns of raw and file workloads, by the two lines of the header: operation, metric, unit, factor to base units.
_RATE, _SPEED, _TIME = ("rate", "operations/s", 1.0), ("bandwidth", "bytes/s", _MIB), ("latency_mean", "s", 1e-3)
_RAW = {
    ("i/o", "rate"): ("all", *_RATE),
    ("MB/sec", "1024**2"): ("all", *_SPEED),
    ("MB/sec", "1000**2"): ("all", "bandwidth", "bytes/s", 1e6),
    ("resp", "time"): ("all", *_TIME),
    ("read", "resp"): ("read", *_TIME),
    ("write", "resp"): ("write", *_TIME),
    ("resp", "max"): ("all", "latency_max", "s", 1e-3),
    ("read", "max"): ("read", "latency_max", "s", 1e-3),
    ("write", "max"): ("write", "latency_max", "s", 1e-3),
    ("resp", "stddev"): ("all", "latency_sd", "s", 1e-3),
}
# Number of columns of a group in a file workload's header, by the first word below it.
_WIDTHS = {"rate": 2, "total": 2, "pct": 1, "read": 2, "size": 1}
_FLAT_COLUMNS = {
    "rate": ("all", *_RATE),
    "mb/sec": ("all", *_SPEED),
    "resp": ("all", *_TIME),
    "resp_max": ("all", "latency_max", "s", 1e-3),
    "resp_std": ("all", "latency_sd", "s", 1e-3),
    "mb_read": ("read", *_SPEED),
    "mb_write": ("write", *_SPEED),
    "read_max": ("read", "latency_max", "s", 1e-3),
    "write_max": ("write", "latency_max", "s", 1e-3),
}
_FLAT_KIND = re.compile(r"([a-z]+)_(rate|resp)")
_FLAT_FACTORS = {
    "xfersize": "transfer_size",
    "threads": "threads",
    "rdpct": "read_percent",
    "seekpct": "seek_percent",
    "rhpct": "read_hit_percent",
    "whpct": "write_hit_percent",
    "reqrate": "requested_rate",
}
_LOOP_FACTORS = {
    "xfersize": "transfer_size",
    "iorate": "requested_rate",
    "fwdrate": "requested_rate",
    "rdpct": "read_percent",
    "seekpct": "seek_percent",
}
_MOST_RATE = 999_988  # vdbench's number for "as fast as possible", and those of its curves


def claims(text: Text) -> Claim | None:
    """Recognise the words with which a run definition begins, or the header of the flatfile."""
    return Claim.from_match(CERTAIN, text.search(_FLAT, "Interval ", "\ttod", " tod")) or Claim.from_match(
        CERTAIN if "Vdbench" in text.content else LIKELY, text.find("Starting RD=", "Vdbench distribution:")
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each run definition."""
    if text.search(_FLAT, "Interval ", "\ttod", " tod"):
        return _parse_flatfile(text)
    reader = _Reader()
    for at, line in text.numbered():
        plain = html.unescape(_TAG.sub("", line)) if "<" in line or "&" in line else line
        if plain.strip():
            reader.line(at, plain.strip())
    return reader.end(text)


class _Reader:
    """Reader of summary or stdout: the header names the columns, and the last line with ``avg`` is a run's result."""

    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._run: Parsed | None = None  # None before the first, and in a formatting run
        self._day = self._version = self._upper = ""
        self._columns: list[tuple[str, str]] = []
        self._done = False
        self._formats = 0

    def line(self, at: int, line: str) -> None:
        """Read one line, without tags."""
        if match := _STARTING.match(line):
            self._begin_run(at, match)
        elif match := _HEAD.match(line):
            self._day, self._upper = match.group(1), match.group(2)
        elif self._upper:
            self._columns, self._upper = _match_columns(self._upper.split(), line.split()), ""
            if self._run is not None and not self._run.started_at and self._day:
                self._run.started_at = _parse_moment(self._day, str(self._run.facts.pop("began", "")))
        elif match := _DATA.match(line):
            self._add_data(at, match.group(1), match.group(2).split())
        elif match := _BANNER.search(line):
            self._version = match.group(1).removeprefix("vdbench")[:40]
        elif _DONE in line:
            self._done = True
        elif any(words in line for words in _BAD):
            (self._run or self._create_run()).lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        else:
            note_reported_failure(self._run, at, line)

    def end(self, text: Text) -> list[Parsed]:
        """Return the runs, with what they lack."""
        for run in self.runs:
            run.version = run.version or self._version
            if not run.rows and not run.missing:
                run.lacks(
                    text.last_line,
                    Message("ended-early", "RD {rd} has no average: it ended early", rd=run.factors.get("rd", "?")),
                )
        if not self.runs:
            self._create_run().lacks(
                text.last_line,
                Message("no-results", "it contains only formatting runs" if self._formats else "it contains no run"),
            )
        elif not self._done:
            self.runs[-1].warn(
                text.last_line,
                Message("ended-early", "the end of vdbench is missing: more runs may have been requested"),
            )
        return self.runs

    def _create_run(self) -> Parsed:
        self.runs.append(Parsed())
        return self.runs[-1]

    def _begin_run(self, at: int, match: re.Match[str]) -> None:
        name, rest = match.group(2), match.group(3)
        if name.startswith(_FORMATS):
            self._run, self._formats = None, self._formats + 1
            return
        run = self._run = self._create_run()
        run.factors["rd"] = name[:60]
        run.facts["began"] = match.group(1)
        for part in rest.partition("For loops:")[0].split(";"):
            key, _, value = part.strip().partition(": " if ": " in part else "=")
            if key == "I/O rate" and value:
                run.factors["requested_rate"] = _parse_level(value)
            elif key == "elapsed":
                seconds = parse_number(value.strip("(). "))
                run.factors["elapsed"] = value[:40] if seconds is None else seconds
            elif key == "fwdrate":
                run.factors["requested_rate"] = _parse_level(value)
        if loops := _LOOPS.search(rest):
            for word in loops.group(1).split():
                key, _, value = word.partition("=")
                if value and value != "None":
                    run.factors[_LOOP_FACTORS.get(key, key)[:60]] = _parse_level(value)

    def _add_data(self, at: int, window: str, cells: list[str]) -> None:
        run = self._run
        if run is None:
            return
        if len(cells) < len(self._columns) or not self._columns:
            run.lacks(at, Message("damaged-lines", "the line of averages is cut, or has no header: left out"))
            return
        run.rows, run.facts["window"] = [], window
        first, _, last = window.removeprefix("avg_").partition("-")
        if int(first) > int(last):
            run.lacks(
                at,
                Message("too-short", "no interval followed the warm-up ({window}): it was too short", window=window),
            )
        else:
            for column, cell in zip(self._columns, cells, strict=False):
                meaning = _RAW.get(column) or _interpret_file_column(*column)
                if meaning is not None and cell != "NaN":
                    _add_number(run, at, meaning, cell, " ".join(column))


def _match_columns(upper: list[str], lower: list[str]) -> list[tuple[str, str]]:
    """Return (operation or group, what) of each column. For a raw workload both lines have the same words in order."""
    if not any("ReqstdOps" in word for word in upper):
        return list(zip(upper, lower, strict=False))
    columns, rest = list[tuple[str, str]](), list(lower)
    for word in upper:
        name = word.strip(".")
        width = 1 if rest[:1] == ["total"] and rest[1:2] != ["sys"] else _WIDTHS.get(rest[0], 1) if rest else 0
        if name == "read" and rest[:1] == ["pct"]:
            width = 1
        columns += [(name, column) for column in rest[:width]]
        rest = rest[width:]
    return columns


def _add_number(run: Parsed, at: int, meaning: tuple[str, str, str, float], cell: str, name: str) -> None:
    operation, metric, unit, factor = meaning
    value = parse_number(cell)
    if value is None:
        run.lacks(
            at, Message("invalid-number", "'{cell}' of {column} is not a number: left out", cell=cell[:40], column=name)
        )
    elif value > 0:
        run.rows.append(Row(operation, metric, value / 1000 if factor == 1e-3 else value * factor, unit, at))


def _interpret_file_column(group: str, what: str) -> tuple[str, str, str, float] | None:
    """Return the meaning of a column of a file system's workload."""
    operation = "all" if group == "ReqstdOps" else group
    if group == "mb/sec":
        return ("all" if what == "total" else what, *_SPEED)
    if group in ("cpu%", "xfer") or what not in ("rate", "resp"):
        return None
    return (operation[:40], *(_RATE if what == "rate" else _TIME))


def _parse_flatfile(text: Text) -> list[Parsed]:
    """Read the rows of averages of a flatfile."""
    names: list[str] = []
    runs: list[Parsed] = []
    begun: dict[str, int] = {}
    for at, line in text.numbered():
        plain = _TAG.sub("", line)
        if _FLAT.match(plain):
            names = [name.lower() for name in plain.split()]
        elif names and plain[:1] != "*" and plain.strip():
            row = dict(zip(names, plain.split(), strict=False))
            name, window = row.get("run", "?"), row.get("interval", "")
            if name.startswith(_FORMATS):
                continue
            if window.startswith("avg_"):
                begun.pop(name, None)
                runs.append(_parse_flat_row(at, row, len(plain.split()) == len(names)))
            else:
                begun.setdefault(name, at)
    for name, at in begun.items():
        note = Note(at, Message("ended-early", "RD {rd} has no average: it ended early", rd=name[:60]))
        runs.append(Parsed(factors={"rd": name[:60]}, missing=[note]))
    return runs or [Parsed(missing=[Note(text.last_line, Message("no-results", "it contains no run"))])]


def _parse_flat_row(at: int, row: dict[str, str], is_complete: bool) -> Parsed:
    version = row.get("version", "")
    run = Parsed(version="" if version == "n/a" else version.removeprefix("vdbench")[:40])
    run.factors["rd"], run.facts["window"] = row.get("run", "?")[:60], row["interval"][:40]
    if not is_complete:
        run.lacks(
            at, Message("damaged-lines", "the row has fewer or more cells than the header: it is cut, and not read")
        )
        return run
    for name, factor in _FLAT_FACTORS.items():
        if (cell := row.get(name, "n/a")) != "n/a":
            run.factors[factor] = _parse_level(cell)
    for name, cell in row.items():
        kind = _FLAT_KIND.fullmatch(name)
        meaning = _FLAT_COLUMNS.get(name)
        if meaning is None and kind and kind.group(1) != "resp":
            meaning = (kind.group(1), *(_RATE if kind.group(2) == "rate" else _TIME))
        if meaning is not None and cell not in ("n/a", "NaN"):
            _add_number(run, at, meaning, cell, name)
    if not run.rows:
        run.lacks(at, Message("no-results", "the row holds no number"))
    run.facts["ended"] = row.get("timestamp", "")[:40]
    return run


def _parse_level(text: str) -> str | int | float:
    """Return ``4k`` in bytes, ``8`` as a number, ``max`` as text; vdbench's number for it becomes ``max``, too."""
    word = text.strip().rstrip(".")
    value = parse_number(word)
    if value is not None:
        return "max" if _MOST_RATE <= value <= _MOST_RATE + 11 else int(value) if value == int(value) else value
    size = parse_size(word)
    return size if size is not None else ("max" if word.lower().endswith("max") else word[:60])


def _parse_moment(day: str, clock: str) -> str:
    try:
        return datetime.strptime(f"{day} {clock[:8]}", "%b %d, %Y %H:%M:%S").isoformat()
    except ValueError:
        return ""
