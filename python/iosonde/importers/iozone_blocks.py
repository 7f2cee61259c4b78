"""IOzone's units, and the quoted blocks that ``-R`` appends for a spreadsheet, if a file holds nothing else.

    "Writer report"
            "4"  "8"  "16"
    "64"   1083249  1933893  2662899

The top row has the record sizes, the left column the file sizes, both in kB. A 0 was not measured.

``-b FILE`` writes the same into an Excel 2 sheet (BIFF2). Record: type and length (2 bytes each, little endian), data.
NUMBER 0x03 and LABEL 0x04 begin with row, column (2 bytes each) and 3 bytes of attributes. Format: "Microsoft Excel
File Format", section BIFF2, openoffice.org.
"""

import re
import struct
from typing import NamedTuple

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import Parsed, Row
from .reading import parse_number

_REPORTS = {
    "writer": "write",
    "re-writer": "rewrite",
    "reader": "read",
    "re-reader": "reread",
    "random read": "random_read",
    "random write": "random_write",
    "backward read": "backward_read",
    "record rewrite": "record_rewrite",
    "stride read": "stride_read",
    "fwrite": "fwrite",
    "re-fwrite": "refwrite",
    "fread": "fread",
    "re-fread": "refread",
    "initial write": "write",
    "rewrite": "rewrite",
    "read": "read",
    "re-read": "reread",
    "reverse read": "backward_read",
    "mixed workload": "mixed",
    "pwrite": "pwrite",
    "re-pwrite": "repwrite",
    "pread": "pread",
    "re-pread": "repread",
}
_TITLE = re.compile(r'"\s*([A-Za-z-][A-Za-z -]*?)(?: report)?\s*"\s*(.*)$', re.IGNORECASE)
_ROW = re.compile(r'"(\d+)"\s+(\d.*)$')
_INTEGER, _NUMBER, _LABEL, _SHEET_BEGIN, _SHEET_END = 0x02, 0x03, 0x04, 0x09, 0x0A
# Begin of IOzone's records: after a wrong length (a path was edited afterwards), reading continues at the next one.
_RECORD = re.compile(rb"\x03\x00\x0f\x00|\x04\x00\x08\x01|\x02\x00\x09\x00")


class Unit(NamedTuple):
    """An IOzone unit in our units, and how it was read."""

    quantity: str
    base: str
    factor: float
    reading: str = ""

    def metric(self, clock: str) -> str:
        """Return the name of the metric; a mean latency has no clock."""
        return self.quantity if self.quantity == "latency_mean" else f"{self.quantity}_{clock}"


_READING = Message("assumed-unit", "kB/sec was read as 1024 bytes/s, as iozone counts in every version")
_MEBIBYTES = Message("assumed-unit", "MB/sec was read as 1048576 bytes/s")
_UNITS = {
    **dict.fromkeys(
        ("kb/sec", "kbytes/sec", "kbyte/sec", "kb/s", "kbytes/s"), Unit("bandwidth", "bytes/s", 1024.0, _READING)
    ),
    **dict.fromkeys(("mb/sec", "mbytes/sec", "mb/s"), Unit("bandwidth", "bytes/s", 1024.0**2, _MEBIBYTES)),
    **dict.fromkeys(("ops/sec", "operationspersecond", "ops/s"), Unit("rate", "operations/s", 1.0)),
    **dict.fromkeys(
        ("microseconds/op", "usec/op", "microsecondsperoperation", "microsec/op"), Unit("latency_mean", "s", 1e-6)
    ),
}


def parse_unit(words: str) -> Unit | None:
    """Return the Unit of ``kBytes/sec``, ``ops/sec``, ``microseconds/op`` and the like; None if unknown."""
    return _UNITS.get(words.strip(" .").lower().replace(" ", ""))


def add_excel_rows(run: Parsed, lines: list[tuple[int, str]], unit: Unit | None) -> None:
    """Add the rows of the blocks in ``lines`` (line number, stripped line) to ``run``."""
    unit = unit or _find_unit(run, lines)
    operation, records = "", list[int]()
    for at, line in lines:
        if re.match(r'"\d+"(?:\s+"\d+")*$', line):
            records = [int(word) * 1024 for word in re.findall(r"\d+", line)]
        elif match := _ROW.match(line):
            _add_table_row(run, at, operation, int(match.group(1)) * 1024, match.group(2).split(), records, unit)
        elif (match := _TITLE.match(line)) and match.group(1).lower() in _REPORTS:
            operation = _REPORTS[match.group(1).lower()]
            value = parse_number(match.group(2).split()[0]) if match.group(2) else None
            if value:
                run.rows.append(Row(operation, f"{unit.quantity}_sum_of_ranks", value * unit.factor, unit.base, at))
                if len(match.group(2).split()) > 1:
                    run.warn(
                        at, Message("first-processes-only", "only the first number of processes of this block was read")
                    )
    if not run.rows:
        run.lacks(lines[0][0], Message("no-results", "the blocks hold no number"))


def _add_table_row(
    run: Parsed, at: int, operation: str, size: int, words: list[str], records: list[int], unit: Unit
) -> None:
    if not operation or len(words) > len(records):
        run.warn(at, Message("unreadable-lines", "a row without its report or its record sizes: not read"))
        return
    for word, record in zip(words, records, strict=False):
        value = parse_number(word)
        if value is None:
            run.warn(at, Message("invalid-number", "'{cell}' is not a number: left out", cell=word[:40]))
        elif value > 0:
            sizes: dict[str, FactorValue] = {"file_size": size, "record_size": record}
            run.rows.append(Row(operation, unit.metric("last_done"), value * unit.factor, unit.base, at, factors=sizes))


def _find_unit(run: Parsed, lines: list[tuple[int, str]]) -> Unit:
    for at, line in lines:
        if line.startswith('"Output is in') and (unit := parse_unit(line.strip('" ').removeprefix("Output is in"))):
            run.warn(at, unit.reading or Message("assumed-unit", "read as {unit}", unit=unit.base))
            return unit
    unit = _UNITS["kbytes/sec"]
    run.warn(
        lines[0][0], Message("assumed-unit", "the unit of these blocks is missing: {reading}", reading=unit.reading)
    )
    return unit


def read_sheet_lines(data: bytes) -> list[str]:
    """Return the rows of the sheet as text: numbers of a row that begins with one are a block's sizes or values."""
    rows: dict[int, dict[int, str | float]] = {}
    at = 0
    while at + 4 <= len(data):
        kind, length = struct.unpack_from("<HH", data, at)
        if kind not in (_INTEGER, _NUMBER, _LABEL, _SHEET_BEGIN, _SHEET_END):
            if (match := _RECORD.search(data, at)) is None:
                break
            at = match.start()
            continue
        body = data[at + 4 : at + 4 + length]
        at += 4 + length
        if kind == _NUMBER and len(body) >= 15:
            row, column, value = struct.unpack("<HH3xd", body[:15])
        elif kind == _INTEGER and len(body) >= 9:
            row, column, value = struct.unpack("<HH3xH", body[:9])
        elif kind == _LABEL and len(body) >= 8:
            row, column, size = struct.unpack("<HH3xB", body[:8])
            value = body[8 : 8 + size].split(b"\0")[0].decode("latin-1").strip()
        else:
            continue
        rows.setdefault(row, {})[column] = value
    return [_format_line(rows.get(row, {})) for row in range(max(rows, default=-1) + 1)]


def _format_line(cells: dict[int, str | float]) -> str:
    words = [cells[column] for column in sorted(cells)]
    if texts := [word for word in words if isinstance(word, str)]:
        return f'"{" ".join(texts)}"'
    numbers = [f"{word:.10g}" for word in words]
    if 0 in cells:
        return f'"{numbers[0]}" {" ".join(numbers[1:])}'
    return " ".join(f'"{word}"' for word in numbers)
