"""CrystalDiskMark 3 to 9, its text export, and KDiskMark's, which has the same form.

    [Read]
      SEQ    1MiB (Q=  8, T= 1):  5120.500 MB/s [   4883.3 IOPS] <  1635.25 us>
     Random Read 4KiB (Q= 32,T= 1) :   512.250 MB/s [125061.0 IOPS]

becomes ``read bandwidth_max``, ``rate_max`` and ``latency_mean_min``: CrystalDiskMark shows the best of its
iterations, with IOPS computed from the bandwidth. Block size, depth, threads and order are settings of each row; a mix
is ``readwrite``. Tests that were not run are 0.000, and left out. KDiskMark's default profile shows means, without
``_max``, and its MB/s are 1000 KiB/s. Source: ``DiskMarkDlg.cpp``, ``DiskBench.cpp``; KDiskMark's ``benchmark.cpp``.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed, Row
from .reading import parse_number, parse_size
from .text import Text

NAME = "crystaldiskmark"
HEADLINE = ("bandwidth_max", "rate_max", "bandwidth", "rate")

_ROW = re.compile(
    r"\s*(SEQ|Seq(?:uential)?|RND|Random)\s+(?:(Read|Write|Mix)\s+)?(?:(\d{1,6} ?[KM]i?B)\s*)?"
    r"(?:\((?:Q=\s*(\d{1,6}), ?)?T=\s*(\d{1,6})\)|\(QD=\s*(\d{1,6})\))?\s*: +([\d.]+) MB/s"
    r"(?: +\[ *([\d.]+) IOPS\])?(?: +< *([\d.]+) us>)?\s*$"
)
_DAMAGED = re.compile(r"\b(?:SEQ|Seq|Sequential|RND|Random) .{0,80}(?: MB/s|\(Q=|\(T=|\(QD=)")
_SECTION = re.compile(r"\s*\[(Read|Write|Mix)\](?: Read (\d{1,2})%/Write \d{1,2}%)?\s*$")
_VERSION = re.compile(r"\s*CrystalDiskMark (\d[\w.]*)(?: \w+)? .*hiyohiyo")
_KDISKMARK = re.compile(r"\s*KDiskMark \(([\w.]+)\): http")
_TAIL = re.compile(r"\s*(Test|Date|OS|Profile|Mode|Time|Target|Comment|Mix Ratio)\s*: +(.*)$")
_TEST = re.compile(r"(\d{1,9} [KMG]i?B)\b")
_LOOPS = re.compile(r"\(x(\d{1,6})\)")
_DRIVE = re.compile(r"\[([A-Z]:)")
_MEASURE = re.compile(r"Measure:? (\d{1,6}) (sec|min)")
_DATE = re.compile(r"(\d{4})[/-](\d\d)[/-](\d\d) +(\d{1,2}):(\d\d):(\d\d)")
_OPERATIONS = {"Read": "read", "Write": "write", "Mix": "readwrite"}
_MB = 1e6
_KDISKMARK_MB = 1000 * 1024.0
_FOOT = "[SATA/"


def claims(text: Text) -> Claim | None:
    """Recognise a row of results, with the tool's name or the line of its units in the text."""
    hit = text.search(_ROW, " MB/s")
    if hit is None:
        return None
    if head := text.search(_VERSION, "CrystalDiskMark ") or text.search(_KDISKMARK, "KDiskMark ("):
        return Claim.from_match(CERTAIN, head)
    return Claim.from_match(LIKELY, hit) if _FOOT in text.content or "CrystalDiskMark" in text.content else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each export."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    reader.end_export(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._begin_export("")

    def _begin_export(self, version: str) -> None:
        self._run = Parsed(version=version)
        self._is_kdiskmark = False
        self._operation = ""
        self._tests: list[tuple[str, str]] = []
        self._rows: list[Row] = []
        self._tail: dict[str, str] = {}

    def read_line(self, at: int, line: str) -> None:
        if match := _VERSION.match(line):
            self.end_export(at)
            self._begin_export(match.group(1)[:40])
        elif match := _KDISKMARK.match(line):
            self.end_export(at)
            self._begin_export("")
            self._is_kdiskmark = True
            self._run.facts["kdiskmark"] = match.group(1)[:40]
        elif match := _SECTION.match(line):
            self._begin_section(at, match.group(1), match.group(2))
        elif match := _ROW.match(line):
            self._read_row(at, match)
        elif _DAMAGED.search(line):
            is_glued = "]" in line.partition(" MB/s")[0] or line.count(" MB/s") > 1
            damaged = Message("damaged-lines", "the row is cut or damaged: left out")
            self._run.lacks(at, GLUED if is_glued else damaged)
            self._operation = "" if is_glued else self._operation
        elif self._tests and (match := _TAIL.match(line)):
            self._tail.setdefault(match.group(1), match.group(2).strip())
        elif self._tests:
            note_reported_failure(self._run, at, line)

    def _begin_section(self, at: int, word: str, percent: str | None) -> None:
        operation = _OPERATIONS[word]
        if self._tail or any(test[0] == operation for test in self._tests):
            self.end_export(at)
            self._begin_export("")
        self._operation = operation
        if percent:
            self._run.factors["percent_read"] = int(percent)

    def _read_row(self, at: int, match: re.Match[str]) -> None:
        order, word, size, depth, threads, old_depth, speed, rate, latency = match.groups()
        operation = _OPERATIONS[word] if word else self._operation
        test = (operation, re.sub(r"\s+", "", match.group().partition(":")[0]))
        if self._tail or test in self._tests:
            self.end_export(at)
            self._begin_export("")
            self._operation = "" if word else operation
        self._tests.append(test)
        numbers = [None if cell is None else parse_number(cell) for cell in (speed, rate, latency)]
        if not operation or numbers[0] is None:
            message = Message("damaged-lines", "the row is cut or damaged, or without its section: left out")
            self._run.lacks(at, message)
            return
        if not numbers[0]:  # not executed
            return
        factors: dict[str, FactorValue] = {"random": int(order in ("RND", "Random"))}
        if size:
            factors["transfer_size"] = parse_size(size)
        if depth or old_depth:
            factors["io_depth"] = int(depth or old_depth)
        if threads:
            factors["threads"] = int(threads)
        unit = _KDISKMARK_MB if self._is_kdiskmark else _MB
        self._rows.append(Row(operation, "bandwidth", numbers[0] * unit, "bytes/s", at, factors=factors))
        if numbers[1]:
            self._rows.append(Row(operation, "rate", numbers[1], "operations/s", at, factors=factors))
        if numbers[2] and not word:  # older versions: 1 / IOPS
            self._rows.append(Row(operation, "latency_mean", numbers[2] / 1e6, "s", at, factors=factors))

    def end_export(self, at: int) -> None:
        """Close the export; one without the lines after its results, or without a section, is incomplete."""
        run = self._run
        if not (self._tests or run.missing):
            return
        self._read_tail(run)
        is_mean = self._is_kdiskmark and self._tail.get("Profile", "").startswith("Default")
        for row in self._rows:
            if not is_mean:
                row.metric = "latency_mean_min" if row.metric == "latency_mean" else f"{row.metric}_max"
        run.rows = self._rows
        operations = [operation for operation, _ in self._tests]
        counts = {operations.count(operation) for operation in dict.fromkeys(("read", "write", *operations))}
        is_complete = "Test" in self._tail or len(counts) == 1
        if not is_complete:
            run.lacks(at, Message("ended-early", "the output ends before the end of the results"))
        elif not run.rows and not run.missing:
            run.lacks(at, Message("no-results", "no test was executed"))
        if self._is_kdiskmark:
            message = "KDiskMark's MB/s were read as 1000 KiB/s, as it calculates"
            run.warn(at, Message("assumed-unit", message))
        self.runs.append(run)
        self._begin_export("")

    def _read_tail(self, run: Parsed) -> None:
        test = self._tail.get("Test", "")
        if match := _TEST.match(test):
            run.factors["file_size"] = parse_size(match.group(1))
        if match := _LOOPS.search(test):
            run.factors["iterations"] = int(match.group(1))
        if match := _DRIVE.search(test):
            run.factors["target"] = match.group(1)
        elif target := self._tail.get("Target"):
            run.factors["target"] = target[:200]
        if profile := self._tail.get("Profile"):
            run.factors["profile"] = profile[:60]
        if match := _MEASURE.search(f"{self._tail.get('Time', '')} {test}"):
            run.factors["runtime"] = int(match.group(1)) * (60 if match.group(2) == "min" else 1)
        if match := _DATE.match(self._tail.get("Date", "")):
            year, month, day, hour, minute, second = match.groups()
            run.started_at = f"{year}-{month}-{day}T{int(hour):02d}:{minute}:{second}"
        for name in ("OS", "Mode", "Comment"):
            if self._tail.get(name):
                run.facts[name.lower()] = self._tail[name][:200]
