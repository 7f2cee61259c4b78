"""filebench 1.4 and 1.5: its output.

    Per-Operation Breakdown
    readfile1            21406ops    21403ops/s 334.4mb/s    0.007ms/op [0.001ms - 5.359ms]
    2.024: IO Summary: 171228 ops 171207.797 ops/s 21403/21404 rd/wr 668.8mb/s 0.021ms/op

becomes, for operation ``all``, ``rate_last_done``, ``bandwidth_last_done`` (mb is 2^20 bytes), ``latency_mean`` and
``operations``. ``read`` and ``write`` have their rates, and each flowop (``readfile1``) is an operation of its own. The
clock runs from "Running..." to the end of the requested time, over all threads; the personality defines what a flowop
includes. With ``psrun PERIOD`` there is a summary for each period and for the whole run: only the last one is taken if
they overlap, as periods are not trials. "Run stopped early" marks the run incomplete, and so does a text without a
summary. Source: ``stats.c``.
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, GLUED, Claim, Parsed, Row
from .reading import parse_number
from .text import Text

NAME = "filebench"
HEADLINE = ("rate", "bandwidth", "latency_mean")

_BEGIN = re.compile(r"(?:\d+\.\d+: )?Filebench Version (\S+)")
_STAMP = re.compile(r"(?:\s*\d+: )?(\d+\.\d+): (.*)$")
_SUMMARY = re.compile(
    r"IO Summary:\s+(\d+) ops,?\s+(\S+) ops/s,?\s+\(?(\d+)/(\d+) (?:rd/wr|r/w)\)?,?\s+(\S+)mb/s,?"
    r"(?:\s+(\d+)us cpu/op,)?\s+(\S+)ms(?:/op| latency)"
)
_COUNTED = re.compile(r"(?:\s*\d+: )?(?:\d+\.\d+: )?IO Summary:\s+\d+ ops")
_FLOWOP = re.compile(
    r"(?P<name>\w[\w.\-]*)\s+(?P<count>\d+)ops\s+(?P<rate>\d+)ops/s\s+(?P<speed>\S+)mb/s\s+(?P<mean>\S+)ms/op"
    r"(?:\s+\d+us/op-cpu)?(?: \[(?P<least>\S+)ms - +(?P<most>\S+)ms\])?(?:\t\[[ \d]*\])?\s*$"
)
_OLD_FLOWOP = re.compile(
    r"(?P<name>\w[\w.\-]*)\s+(?P<rate>\d+)ops/s\s+(?P<speed>\S+)mb/s\s+(?P<mean>\S+)ms/op\s+\d+us/op-cpu\s*$"
)
_FLOWOP_VALUES = ("count", "rate", "speed", "mean", "least", "most")
_PERSONALITY = "personality successfully loaded"
_LOADED = re.compile(rf"(.+?) (?:Version (\S+) )?{_PERSONALITY}")
_WITHOUT_BANNER = ("IO Summary: ", "Per-Operation Breakdown", _PERSONALITY)
_FILESET = re.compile(
    r"(\S+) populated: (\d+) files, avg\. dir\. width = \d+, avg\. dir\. depth = \S+, \d+ leafdirs, (\S+)MB total"
)
_TOOK = re.compile(r"Run took (\d+) seconds")
_BAD = (
    "Run stopped early",
    "Unexpected Process termination",
    "Failed to ",
    "Could not",
    "could not obtain",
    "FATAL",
    "out of memory",
)
_BEGIN_LINES = ("Per-Operation Breakdown", "IO Summary:", "Run took ")
_HARMLESS = ("Failed to open cvar directory",)
_MIB = 2.0**20
_LEAST_COVERED = 0.8  # the run's seconds, by its last report


def claims(text: Text) -> Claim | None:
    """Recognise its banner or the line of its summary."""
    hit = text.search(_BEGIN, "Filebench Version ") or text.search(_COUNTED, "IO Summary: ")
    return Claim(CERTAIN, hit[0], hit[1].group()[:60]) if hit else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each start of filebench."""
    readers: list[_Reader] = []
    for at, line in text.numbered():
        if match := _BEGIN.match(line):
            readers.append(_Reader(Parsed(version=match.group(1)[:40])))
        elif readers or any(words in line for words in _WITHOUT_BANNER):
            readers = readers or [_Reader(Parsed())]
            readers[-1].line(at, line)
    for reader in readers:
        reader.end(text.last_line)
    return [reader.run for reader in readers]


class _Reader:
    """Reader of one execution. A breakdown and its summary are one report; the one after "Run took" belongs to the
    run."""

    def __init__(self, run: Parsed) -> None:
        self.run = run
        self._rows: list[Row] = []  # of the current report
        self._lost: list[tuple[int, str]] = []
        self._reports = self._files = 0
        self._bytes = 0.0
        self._open = self._final = False

    def line(self, at: int, line: str) -> None:
        """Read one line."""
        stamp = _STAMP.match(line)
        message = stamp.group(2) if stamp else line
        if any(line.count(words) > message.startswith(words) for words in _BEGIN_LINES):
            self.run.lacks(at, GLUED)
        if message.startswith("Per-Operation Breakdown"):
            self._rows, self._lost, self._open = [], [], True
        elif message.startswith("IO Summary:"):
            self._read_summary(at, message)
        elif self._open and not stamp and ("ops/s" in message or "mb/s" in message):
            self._read_flowop(at, message)
        elif stamp or line.startswith((" ", "\t")):
            self._read_message(at, message.strip())
        else:
            note_reported_failure(self.run, at, line)

    def end(self, last: int) -> None:
        """Note what the run lacks."""
        if not self._final:
            self.run.lacks(last, Message("ended-early", "'Run took … seconds' is missing: it ended early"))
        elif not self._reports:
            self.run.lacks(last, Message("ended-early", "the IO Summary is missing: it ended early"))

    def _read_summary(self, at: int, message: str) -> None:
        if not self._final:
            return  # a period is not a trial
        match = _SUMMARY.match(message)
        values = [parse_number(text) for text in match.groups() if text is not None] if match else [None]
        self._open = False
        if match is None or None in values:
            self.run.lacks(at, Message("damaged-lines", "the line of the summary is cut or damaged: left out"))
            return
        count, rate, reads, writes, speed = (parse_number(text) or 0.0 for text in match.groups()[:5])
        mean, seconds = parse_number(match.group(7)) or 0.0, count / rate if rate else 0.0
        if rate and seconds < _LEAST_COVERED * self.run.seconds:
            self.run.lacks(
                at,
                Message(
                    "warm-up-only",
                    "the report covers {part}: psrun cleared its counts, and no report covers the run",
                    part=f"{seconds:.1f} of {self.run.seconds:g} s",
                ),
            )
        rows = [
            Row("all", "rate_last_done", rate, "operations/s", at, count=int(count)),
            Row("all", "operations", count, "operations", at),
            Row("all", "latency_mean", mean / 1000, "s", at, count=int(count)),
        ]
        rows += [Row("all", "bandwidth_last_done", speed * _MIB, "bytes/s", at)] if speed else []
        rows += [
            Row(name, "rate_last_done", value, "operations/s", at)
            for name, value in (("read", reads), ("write", writes))
            if value
        ]
        self.run.rows += [*rows, *self._rows]
        for place, sentence in self._lost:
            self.run.lacks(place, sentence)
        self._rows, self._lost = [], []
        self._reports += 1

    def _read_flowop(self, at: int, message: str) -> None:
        match = _FLOWOP.match(message) or _OLD_FLOWOP.match(message)
        if match is None:
            self._lost.append(
                (
                    at,
                    Message(
                        "damaged-lines", "the line of a flowop is cut or damaged: '{quote}'", quote=message.strip()[:40]
                    ),
                )
            )
            return
        words = match.groupdict()
        name, count, least = words["name"], words.get("count"), words.get("least")
        values = [parse_number(text) if text is not None else 0.0 for text in map(words.get, _FLOWOP_VALUES)]
        if None in values:
            self._lost.append(
                (at, Message("invalid-number", "a value of {operation} is not a number", operation=name[:40]))
            )
            return
        n, per_second, mib, mean_ms, least_ms, most_ms = (value or 0.0 for value in values)
        operations = int(n) if count is not None else None
        self._rows += (
            [Row(name[:60], "rate_last_done", per_second, "operations/s", at, count=operations)] if per_second else []
        )
        self._rows += [Row(name[:60], "bandwidth_last_done", mib * _MIB, "bytes/s", at)] if mib else []
        if operations == 0:
            return  # a flowop without an operation has no latency
        self._rows.append(Row(name[:60], "latency_mean", mean_ms / 1000, "s", at, count=operations))
        if least is not None:
            self._rows += [
                Row(name[:60], "latency_min", least_ms / 1000, "s", at),
                Row(name[:60], "latency_max", most_ms / 1000, "s", at),
            ]

    def _read_message(self, at: int, message: str) -> None:
        run = self.run
        if _PERSONALITY in message and (match := _LOADED.match(message)):
            run.factors["personality"] = match.group(1)[:60]
        elif match := _FILESET.match(message):
            self._files += int(match.group(2)[:15])
            self._bytes += (parse_number(match.group(3)) or 0.0) * _MIB
            run.factors |= {"files": self._files, "fileset_size": round(self._bytes)}
            run.facts[f"fileset {match.group(1)[:40]}"] = message[:300]
        elif match := _TOOK.match(message):
            run.seconds = float(match.group(1)[:9])
            self._final = True
        elif any(words in message for words in _BAD) and not any(words in message for words in _HARMLESS):
            run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=message[:160]))
        else:
            note_reported_failure(run, at, message)
