"""``gluster volume profile VOLUME info``: what each brick counted and how long its operations took.

    Brick: srv1:/bricks/b1
    Cumulative Stats:
       Block Size:             131072b+
     No. of Reads:                    0
    No. of Writes:                  256
     %-latency   Avg-latency   Min-Latency   Max-Latency   No. of calls         Fop
         90.00     500.00 us     100.00 us    9000.00 us            256       WRITE

        Duration: 60 seconds
    Data Written: 33554432 bytes

become ``write operations``, ``latency_mean``, ``latency_min``, ``latency_max``, ``latency_share`` (of the time of all
operations of the brick), ``bytes`` and the histogram of sizes (``operations_128K``: from 128 KiB on), of each brick
(factor ``brick``). They are totals since profiling began. The statistics of the last interval are read where there are
no cumulative ones. Operations without a time (RELEASE, FORGET) are only counted. Source: ``cli-rpc-ops.c``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import PER_SECOND, parse_number
from .text import Text

NAME = "gluster-profile"
HEADLINE = ("latency_share", "latency_mean", "bytes")

_BRICK = re.compile(r"(?:.{0,80}\W)?Brick: +(\S.*?) *$")
_PART = re.compile(r" *(Cumulative|Interval \d+) Stats:?")
_TIME = r" +(\d[\d.]{0,20}) ?([mnu]?s)"
_FOP = re.compile(rf" *(\d[\d.]{{0,10}}){_TIME}{_TIME}{_TIME} +(\d{{1,18}}) +([A-Za-z_]\w*) *$")
_CUT_FOP = re.compile(rf" *\d[\d.]*{_TIME}")
_SIZES = re.compile(r" *Block Size: +(\S.*)$")
_COUNTS = re.compile(r" *No\. of (Reads|Writes): +(\S.*)$")
_TOTAL = re.compile(r" *(Duration|Data Read|Data Written): +(\d{1,19})")
_SIZE = re.compile(r"(\d{1,18})b\+")
_TOTALS = {"Data Read": "read", "Data Written": "write"}
_LAST_TOTAL = "Data Written"
_OPERATIONS = {"Reads": "read", "Writes": "write"}
_SUFFIXES = ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"))


def claims(text: Text) -> Claim | None:
    """Recognise the heading of the operations; it may have been cut off with the brick."""
    if hit := text.find("%-latency"):
        return Claim(CERTAIN if "Brick: " in text.content else LIKELY, *hit)
    return None


@dataclass
class _Part:
    """The rows of a brick over one time; ``missing``: lines of damaged rows; ``has_end``: its last line is there."""

    rows: list[Row] = field(default_factory=list)
    seconds: float = 0.0
    has_end: bool = False
    missing: list[int] = field(default_factory=list)


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for all bricks."""
    reader = _Reader()
    for at, line in text.numbered():
        reader.read_line(at, line)
    run = Parsed()
    for brick, parts in reader.bricks.items():
        part = parts.get("Cumulative") or next(reversed(parts.values()), _Part())
        run.rows += part.rows
        run.seconds = max(run.seconds, part.seconds)
        for at in part.missing:
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        if not part.has_end:
            run.lacks(text.last_line, Message("ended-early", "the statistics of brick {brick} are cut", brick=brick))
        elif not part.rows:
            run.warn(0, Message("no-operations", "brick {brick} counted no operation", brick=brick))
    if any(len(parts) > 1 for parts in reader.bricks.values()):
        run.warn(
            0,
            Message(
                "intervals-left-out",
                "the statistics of an interval are left out: 'gluster volume profile VOLUME info incremental' prints "
                "them alone",
            ),
        )
    if not run.rows:
        run.lacks(0, Message("no-results", "no operation of any brick: was profiling started?"))
    return [run]


class _Reader:
    """Reader of brick → its parts; of several prints of a brick the last counts, as they are totals."""

    def __init__(self) -> None:
        self.bricks: dict[str, dict[str, _Part]] = {}
        self._brick, self._sizes = "", list[int]()
        self._part = _Part()

    def read_line(self, at: int, line: str) -> None:
        if match := _BRICK.match(line):
            self._brick = match[1]
            self.bricks[self._brick] = {}
            self._part = _Part()
        elif match := _PART.match(line):
            self._part = self.bricks.setdefault(self._brick, {})[match[1]] = _Part()
        elif match := _FOP.match(line):
            self._get_part().rows += self._build_rows(at, match)
        elif match := _SIZES.match(line):
            self._sizes = [int(size) for size in _SIZE.findall(match[1])]
        elif match := _COUNTS.match(line):
            self._add_sizes(at, _OPERATIONS[match[1]], match[2].split())
        elif match := _TOTAL.match(line):
            self._add_total(at, match[1], float(match[2]))
        elif _CUT_FOP.match(line):
            self._get_part().missing.append(at)

    def _get_part(self) -> _Part:
        """Return the part; older versions print the operations of a brick without its heading."""
        if not self.bricks.get(self._brick):
            self.bricks[self._brick] = {"Cumulative": self._part}
        return self._part

    def _build_row(
        self, at: int, operation: str, metric: str, value: float, unit: str, count: int | None = None
    ) -> Row:
        factors: dict[str, FactorValue] | None = {"brick": self._brick} if self._brick else None
        return Row(operation, metric, value, unit, at, count=count, factors=factors)

    def _build_rows(self, at: int, match: re.Match[str]) -> Iterator[Row]:
        share, *times, calls, name = match.groups()
        operation, count = name.lower(), int(calls)
        yield self._build_row(at, operation, "operations", count, "operations", count)
        pairs = zip(times[::2], times[1::2], strict=True)
        values = [(parse_number(value) or 0.0) / PER_SECOND[unit] for value, unit in pairs]
        if not any(values):
            return
        for end, value in zip(("mean", "min", "max"), values, strict=True):
            yield self._build_row(at, operation, f"latency_{end}", value, "s", count)
        yield self._build_row(at, operation, "latency_share", (parse_number(share) or 0.0) / 100, "", count)

    def _add_sizes(self, at: int, operation: str, counts: list[str]) -> None:
        part = self._get_part()
        if len(counts) != len(self._sizes):
            part.missing.append(at)
            return
        for size, word in zip(self._sizes, counts, strict=True):
            if (count := parse_number(word)) is not None and count > 0:
                metric = f"operations_{_format_size(size)}"
                part.rows.append(self._build_row(at, operation, metric, count, "operations", int(count)))

    def _add_total(self, at: int, name: str, value: float) -> None:
        part = self._get_part()
        part.has_end |= name == _LAST_TOTAL
        if name == "Duration":
            part.seconds = value
        elif value:
            part.rows.append(self._build_row(at, _TOTALS[name], "bytes", value, "bytes"))


def _format_size(n_bytes: int) -> str:
    """Format a size as its bin is named: ``128K``."""
    return next((f"{n_bytes // unit}{mark}" for unit, mark in _SUFFIXES if n_bytes % unit == 0), str(n_bytes))
