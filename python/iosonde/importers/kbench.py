"""kbench of Longhorn: the summary of fio's jobs on one volume, or on two that it compares.

    FIO Benchmark Summary
    IOPS (Read/Write)
            Random:         20,480 / 10,240
    Latency in ns (Read/Write)
        Sequential:        250,000 / 500,000

becomes ``read rate_sample_mean``, ``bandwidth_sample_mean`` (kbench takes the means of fio's samples, not bytes over
time) and ``latency_mean``. The three tests are jobs of their own, with other sizes and depths: settings ``test`` and
``random`` of each row. A comparison is a run for each volume (factor ``volume``). Source: ``fio/parse.sh``,
``cmp_parse.sh``, ``func.sh``.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import parse_number, parse_size
from .text import Text

NAME = "kbench"
HEADLINE = ("bandwidth_sample", "rate_sample", "latency_mean")

_TITLE = re.compile(r"\s*FIO Benchmark (?:Compar(?:ison|sion) )?Summary\s*$")
_SETTING = re.compile(r"(For|Size|Quick Mode|Mode|CPU Idleness Profiling): *(.{1,200})$", re.IGNORECASE)
_SECTIONS = {
    "IOPS": ("iops", "rate_sample_mean", "operations/s", 1.0),
    "Bandwidth in KiB/sec": ("bandwidth", "bandwidth_sample_mean", "bytes/s", 1 / 1024),
    "Latency in ns": ("latency", "latency_mean", "s", 1e9),
}
_SECTION = re.compile(rf"({'|'.join(map(re.escape, _SECTIONS))})(?: \(Read/Write\))?$")
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d{1,15}|null)?"
_PAIR = rf"{_NUMBER} ?/ ?{_NUMBER}"
_ROW = re.compile(rf"(Random|Sequential): *{_PAIR}(?: +vs +{_PAIR} +:.{{0,60}})?$")
# Versions of 2021 have a line for each operation, with the CPU's use.
_CPU = r"(?: \(sys/usr cpu: .{1,30}?\))?"
_SINGLE_ROW = re.compile(
    rf"(Random|Sequential) R?(read|Read|Write): *{_NUMBER}{_CPU}(?: +vs +{_NUMBER}{_CPU} +: +[\d.-]{{1,12}}%{_CPU})?$"
)
_ROW_BEGIN = re.compile(r"(?:Random|Sequential)\b")
_VOLUMES = re.compile(r"(\S{1,100}) vs (\S{1,100})$")
# One of the tests alone.
_SINGLE = re.compile(r"(?:random|sequential)-")


def claims(text: Text) -> Claim | None:
    """Recognise the title of a summary."""
    return Claim.from_match(CERTAIN, text.search(_TITLE, "FIO Benchmark "))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each volume of each summary."""
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
        self._volumes = [Parsed()]
        self._has_begun = has_begun
        self._section = ""
        self._sections: list[str] = []
        self._mode = ""
        self._has_gap = False

    def read_line(self, at: int, line: str) -> None:
        if _TITLE.match(line):
            self.end_summary(at)
            self._begin_summary(True)
        elif not self._has_begun:
            return
        elif match := _SECTION.match(line):
            self._section = match.group(1)
            self._sections.append(self._section)
        elif match := _ROW.match(line):
            order, *cells = match.groups()
            self._add_rows(at, order, ("read", "write"), [cells[:2], cells[2:]], " vs " in line)
        elif match := _SINGLE_ROW.match(line):
            order, operation, *cells = match.groups()
            self._add_rows(at, order, (operation.lower(),), [cells[:1], cells[1:]], " vs " in line)
        elif _ROW_BEGIN.match(line) and self._section and ":" in line:
            self._lack(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        elif not self._section and (match := _SETTING.match(line)):
            self._read_setting(match.group(1).lower(), match.group(2).strip())
        elif len(self._sections) == len(_SECTIONS) and line.startswith("==="):
            self._section = ""
        else:
            note_reported_failure(self._volumes[0], at, line)

    def _lack(self, at: int, message: Message) -> None:
        for run in self._volumes:
            run.lacks(at, message)

    def _read_setting(self, name: str, value: str) -> None:
        if name == "for" and (match := _VOLUMES.match(value)):
            self._volumes = [Parsed(factors={"volume": volume}) for volume in match.groups()]
        elif name == "for":
            self._volumes[0].facts["output"] = value
        elif name == "size" and (size := parse_size(value)):
            for run in self._volumes:
                run.factors["file_size"] = size
        elif name in ("mode", "quick mode"):
            word = value.lower()
            self._mode = {"enabled": "quick", "disabled": "full"}.get(word, word[:40])
            for run in self._volumes:
                run.factors["mode"] = self._mode

    def _add_rows(
        self, at: int, order: str, operations: tuple[str, ...], cells: list[list[str | None]], is_comparison: bool
    ) -> None:
        """Add the numbers of a line; ``cells``: those of each volume, one for each operation."""
        if not self._section or (len(self._volumes) == 2) != is_comparison:
            self._lack(at, Message("damaged-lines", "the row is cut or damaged, or without its section: left out"))
            return
        test, metric, unit, per_unit = _SECTIONS[self._section]
        factors: dict[str, FactorValue] = {"test": test, "random": int(order == "Random")}
        for run, numbers in zip(self._volumes, cells, strict=False):
            for operation, cell in zip(operations, numbers, strict=True):
                number = parse_number((cell or "").replace(",", ""))
                if number:
                    run.rows.append(Row(operation, metric, number / per_unit, unit, at, factors=factors))
                elif not _SINGLE.match(self._mode):
                    message = "no number of {operation}, {order} {test}"
                    run.lacks(at, Message("no-results", message, operation=operation, order=order.lower(), test=test))

    def end_summary(self, at: int) -> None:
        """Close the summary; one without one of its three sections is incomplete."""
        if self._has_begun:
            lost = [name for name in _SECTIONS if name not in self._sections]
            for run in self._volumes:
                if lost or not run.rows:
                    names = ", ".join(lost) or "its numbers"
                    run.lacks(at, Message("ended-early", "the summary ends before {names}", names=names))
            self.runs += self._volumes
        self._begin_summary(False)
