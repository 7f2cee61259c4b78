"""dbench for Kubernetes (leeliu, logdna): the summary of its fio jobs. It has only the name in common with Samba's.

    = Dbench Summary =
    Random Read/Write IOPS: 20.5k/10.2k. BW: 512MiB/s / 256MiB/s
    Average Latency (usec) Read/Write: 250.50/500.25
    Sequential Read/Write: 1024MiB/s / 512MiB/s
    Mixed Random Read/Write IOPS: 15.0k/5000

becomes ``read rate_last_done``, ``bandwidth_last_done``, ``latency_mean``: each test is an fio job of its own, with
another size or depth (settings ``test`` and ``random``); ``mixed`` is 3 reads to 1 write. With fio's outputs above the
summary, fio's importer reads these: they have more digits. Source: ``docker-entrypoint.sh``.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import BINARY, DECIMAL, PER_SECOND, parse_number
from .text import Text

NAME = "dbench-kubernetes"
HEADLINE = ("bandwidth", "rate", "latency_mean")

_TITLE = re.compile(r"\s*= (?:Dbench|NSbench) Summary ?=\s*$")
_FIO = "(groupid="
_RATE = r"(\d{1,12}(?:\.\d{1,3})?[kMG]?|)"
_SPEED = r"(\d{1,12}(?:\.\d{1,3})?[KMG]?i?B/s|)"
_TIME = r"(\d{1,12}(?:\.\d{1,3})?|)"
_UNIT = r"\((nsec|usec|msec|ms|us|sec|)\)"
_RANDOM = re.compile(rf"Random Read/Write IOPS: {_RATE} ?/ ?{_RATE}(?:\. BW: {_SPEED} ?/ ?{_SPEED})?$")
_BANDWIDTH = re.compile(rf"Random Read/Write BW: {_SPEED} ?/ ?{_SPEED}$")
_LATENCY = re.compile(rf"Average Latency {_UNIT} Read/Write: {_TIME} ?/ ?{_TIME}$")
_LATENCY_UNITS = re.compile(rf"Average Latency Read/Write: {_TIME}{_UNIT} ?/ ?{_TIME}{_UNIT}$")
_SEQUENTIAL = re.compile(rf"Sequential Read/Write: {_SPEED} ?/ ?{_SPEED}$")
_MIXED = re.compile(rf"Mixed Random Read/Write IOPS: {_RATE} ?/ ?{_RATE}$")
_LINE = re.compile(r"(?:Mixed )?Random Read/Write|Average Latency|Sequential Read/Write")
_NUMBER = re.compile(r"([\d.]+)([kKMG]?)(i?)")
# Tests of a whole summary; the quick mode has only the first two.
_QUICK = ("iops", "bandwidth")
_ALL = (*_QUICK, "latency", "sequential", "mixed")


def claims(text: Text) -> Claim | None:
    """Recognise the title; fio's importer is surer where fio's own outputs are in the text."""
    score = LIKELY if _FIO in text.content else CERTAIN
    return Claim.from_match(score, text.search(_TITLE, "bench Summary"))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each summary."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line.strip())
    reader.end_summary(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._begin_summary(False)

    def _begin_summary(self, has_begun: bool) -> None:
        self._run = Parsed()
        self._has_begun = has_begun
        self._tests: list[str] = []

    def read_line(self, at: int, line: str) -> None:
        if _TITLE.match(line):
            self.end_summary(at)
            self._begin_summary(True)
        elif not self._has_begun:
            return
        elif match := _RANDOM.match(line):
            self._add(at, "iops", "rate_last_done", match.groups()[:2])
            if match.group(3) is not None:
                self._add(at, "bandwidth", "bandwidth_last_done", match.groups()[2:])
        elif match := _BANDWIDTH.match(line):
            self._add(at, "bandwidth", "bandwidth_last_done", match.groups())
        elif match := _LATENCY.match(line):
            unit, *cells = match.groups()
            self._add(at, "latency", "latency_mean", cells, (unit, unit))
        elif match := _LATENCY_UNITS.match(line):
            self._add(at, "latency", "latency_mean", match.groups()[::2], match.groups()[1::2])
        elif match := _SEQUENTIAL.match(line):
            self._add(at, "sequential", "bandwidth_last_done", match.groups())
        elif match := _MIXED.match(line):
            self._add(at, "mixed", "rate_last_done", match.groups())
        elif _LINE.match(line):
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        else:
            note_reported_failure(self._run, at, line)

    def _add(
        self, at: int, test: str, metric: str, cells: tuple[str, ...] | list[str], units: tuple[str, ...] = ("", "")
    ) -> None:
        if test in self._tests:  # the title of the next summary is lost
            self.end_summary(at)
            self._begin_summary(True)
        self._tests.append(test)
        factors: dict[str, FactorValue] = {"test": test, "random": int(test != "sequential")}
        for operation, cell, unit in zip(("read", "write"), cells, units, strict=True):
            if not cell:
                message = "no number of {operation}, {test}: the tool did not find it in fio's output"
                self._run.lacks(at, Message("no-results", message, operation=operation, test=test))
                continue
            value, base = _parse_cell(cell, metric, unit)
            if value is None:
                self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            else:
                self._run.rows.append(Row(operation, metric, value, base, at, factors=factors))

    def end_summary(self, at: int) -> None:
        """Close the summary; one that has some of the lines behind the first, but not all, is incomplete."""
        run = self._run
        if self._has_begun:
            lost = [test for test in (_ALL if len(self._tests) > len(_QUICK) else _QUICK) if test not in self._tests]
            if lost and not run.missing:
                run.lacks(at, Message("ended-early", "the summary ends before {tests}", tests=", ".join(lost)))
            if run.rows:
                run.warn(run.rows[0].line, Message("low-resolution", "the numbers have three digits or four"))
            self.runs.append(run)
        self._begin_summary(False)


def _parse_cell(cell: str, metric: str, unit: str) -> tuple[float | None, str]:
    """Return the value in base units, None if it is damaged, and the unit."""
    match = _NUMBER.match(cell)
    number = parse_number(match.group(1)) if match else None
    if match is None or number is None:
        return None, ""
    if metric == "latency_mean":
        return (number / PER_SECOND[unit] if unit else None), "s"
    scale = match.group(2).lower()
    if metric.startswith("bandwidth"):  # fio's KB/s of old versions are 1024 bytes, too
        return number * BINARY[scale], "bytes/s"
    return number * DECIMAL[scale], "operations/s"
