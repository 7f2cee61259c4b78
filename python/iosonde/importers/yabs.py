"""yabs.sh (Yet-Another-Bench-Script): the table of its fio tests, random reads and writes at the same time, 50:50.

    fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda1):
    Block Size | 4k            (IOPS) | 64k           (IOPS)
    Read       | 204.80 MB/s  (50.0k) | 1.02 GB/s    (15.6k)
    Total      | 409.60 MB/s (100.0k) | 2.04 GB/s    (31.2k)

becomes ``read bandwidth_last_done`` and ``rate_last_done`` with ``block_size``, the same of ``write``; ``Total`` adds
both up: ``all operations bandwidth_sum_of_ranks``. MB/s are 10^6 bytes, in older versions 1000 KiB: rate × block size
tells which. Its network and CPU tests are not read. Source: ``yabs.sh``.
"""

import re
from statistics import median

from iosonde.core.derived_numbers import ALL_OPERATIONS
from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import DECIMAL, date_output_to_iso, parse_number, parse_size
from .text import Text

NAME = "yabs"
HEADLINE = ("bandwidth", "rate")

_TITLE = re.compile(r"\s*fio Disk Speed Tests \(Mixed R/W (\d\d?)/\d\d?\)(?: \(Partition (.{1,200}?)\))?:\s*$")
_BANNER = "Yet-Another-Bench-Script"
_VERSION = re.compile(r"\W*(v\d{4}-\d\d-\d\d)\W*$")
_FAILED = "fio disk speed tests failed."
# Other scripts print the table under a title of their own.
_HEAD = re.compile(r"\s*Block Size *\| *\d{1,6}[kKmM] +\(IOPS\) *\|")
_SIZES = re.compile(r"Block Size *\|(.*)$")
_SIZE = re.compile(r" *(\d{1,6}[kKmM]) +\(IOPS\) *$")
_ROW = re.compile(r"(Read|Write|Total) *\|(.*)$")
_CELL = re.compile(r" *(\d{1,9}(?:\.\d\d?)?) ([KMG])B/s +\((\d{1,9})(?:\.(\d))?(k?)\) *$")
_OPERATIONS = {"Read": "read", "Write": "write", "Total": ALL_OPERATIONS}
_LENGTH = 3  # rows of a block
_KIB_SHARE = 1000 / 1024
# Rates below have too few digits to tell 2.4 % from what was cut.
_LEAST_RATE = 200.0
_NEAR = 0.008


def claims(text: Text) -> Claim | None:
    """Recognise the title of the table, or its first line."""
    title = text.search(_TITLE, "fio Disk Speed Tests")
    return Claim.from_match(CERTAIN, title) or Claim.from_match(LIKELY, text.search(_HEAD, "Block Size"))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each table."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line.strip())
    reader.end_table(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._version = self._started_at = ""
        self._begin_table(False)

    def _begin_table(self, has_begun: bool) -> None:
        self._run = Parsed(version=self._version, started_at=self._started_at)
        self._has_begun = has_begun
        self._sizes: list[int] = []
        self._rows_of_block: list[str] = []
        self._n_blocks = 0

    def read_line(self, at: int, line: str) -> None:
        if match := _TITLE.match(line):
            self.end_table(at)
            self._begin_table(True)
            self._version = self._started_at = ""
            self._run.factors |= {"random": 1, "percent_read": int(match.group(1))}
            if match.group(2):
                self._run.factors["target"] = match.group(2)
        elif _BANNER in line or line.startswith("Basic System Information"):
            self.end_table(at)
        elif match := _VERSION.match(line):
            self._version = match.group(1)
        elif not self._has_begun and not _HEAD.match(line):
            self._started_at = date_output_to_iso(line) or self._started_at
        else:
            self._read_table(at, line)

    def _read_table(self, at: int, line: str) -> None:
        self._has_begun = True
        if match := _SIZES.match(line):
            self._check_block(at)
            cells = [_SIZE.match(cell) for cell in match.group(1).split("|")]
            sizes = [parse_size(f"{cell.group(1)}iB") if cell else None for cell in cells]
            self._sizes, self._rows_of_block = [size for size in sizes if size], []
            self._n_blocks += 1
            if None in sizes:
                self._sizes = []
                self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        elif match := _ROW.match(line):
            self._read_row(at, match.group(1), match.group(2).split("|"))
        elif not line.startswith(("|", "-")):
            if len(self._rows_of_block) == _LENGTH:  # another section
                self.end_table(at)
            else:
                note_reported_failure(self._run, at, line)

    def _read_row(self, at: int, name: str, cells: list[str]) -> None:
        if len(cells) != len(self._sizes) or name in self._rows_of_block or "" in cells:
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        self._rows_of_block.append(name)
        for size, cell in zip(self._sizes, cells, strict=True):
            numbers = _parse_cell(cell)
            if numbers is None:
                message = "no number of {operation} with {size} bytes"
                self._run.lacks(at, Message("no-results", message, operation=name.lower(), size=size))
                continue
            operation, factors = _OPERATIONS[name], dict[str, FactorValue](block_size=size)
            clock = "sum_of_ranks" if operation == ALL_OPERATIONS else "last_done"
            speed, rate = numbers
            self._run.rows += [
                Row(operation, f"bandwidth_{clock}", speed, "bytes/s", at, factors=factors),
                Row(operation, f"rate_{clock}", rate, "operations/s", at, factors=factors),
            ]

    def _check_block(self, at: int) -> None:
        if self._n_blocks and len(self._rows_of_block) < _LENGTH:
            self._run.lacks(at, Message("ended-early", "the table ends before its 'Total'"))

    def end_table(self, at: int) -> None:
        """Close the table; one without results, or whose last block is not whole, is incomplete."""
        run = self._run
        if self._has_begun:
            self._check_block(at)
            if not run.rows and not run.missing:
                run.lacks(at, Message("ended-early", "the output ends before the first result"))
            _convert_unit(run)
            self.runs.append(run)
        self._begin_table(False)


def _parse_cell(cell: str) -> tuple[float, float] | None:
    """Return bytes/s and operations/s of ``204.80 MB/s  (50.0k)``."""
    match = _CELL.match(cell)
    if match is None:
        return None
    speed, unit, ones, tenth, thousands = match.groups()
    rate = parse_number(f"{ones}.{tenth or 0}")
    value = parse_number(speed)
    if not rate or not value:
        return None
    return value * DECIMAL[unit.lower()], rate * (1000.0 if thousands else 1.0)


def _convert_unit(run: Parsed) -> None:
    """Multiply the bandwidths of older versions by 1.024: their MB are 1000 KiB."""
    speeds = [row for row in run.rows if row.metric.startswith("bandwidth")]
    rates = [row for row in run.rows if row.metric.startswith("rate")]
    ratios = [
        speed.value / (rate.value * size)
        for speed, rate in zip(speeds, rates, strict=True)
        if isinstance(size := (speed.factors or {}).get("block_size"), int) and _has_digits(rate.value)
    ]
    ratio = median(ratios) if ratios else None
    if ratio is not None and abs(ratio - _KIB_SHARE) < _NEAR:
        for row in speeds:
            row.value /= _KIB_SHARE
        run.warn(speeds[0].line, Message("assumed-unit", "MB/s were read as 1000 KiB/s, as rate × block size shows"))
    elif speeds and (ratio is None or abs(ratio - 1) > _NEAR):
        message = "MB/s were read as 10^6 bytes/s; in older versions they are 1000 KiB/s, 2.4 % more"
        run.warn(speeds[0].line, Message("assumed-unit", message))


def _has_digits(rate: float) -> bool:
    """Return whether the rate, printed as ``799`` or in thousands with one decimal, has digits enough."""
    return _LEAST_RATE <= rate < 1000 or rate >= 100 * _LEAST_RATE
