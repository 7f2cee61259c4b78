"""The Excel 2 sheet (BIFF2) that ``iozone -b FILE`` writes, as the lines that ``-R`` prints.

Record: type and length (2 bytes each, little endian), data. NUMBER 0x03 and LABEL 0x04 begin with row, column
(2 bytes each) and 3 bytes of attributes. Format: "Microsoft Excel File Format", section BIFF2, openoffice.org.
"""

from __future__ import annotations

import re
import struct

_INTEGER, _NUMBER, _LABEL, _BEGIN, _END = 0x02, 0x03, 0x04, 0x09, 0x0A
# Begin of IOzone's records: after a wrong length (a path was edited afterwards), reading continues at the next one.
_RECORD = re.compile(rb"\x03\x00\x0f\x00|\x04\x00\x08\x01|\x02\x00\x09\x00")


def sheet_lines(data: bytes) -> list[str]:
    """Return the rows of the sheet as text: numbers of a row that begins with one are a block's sizes or values."""
    rows: dict[int, dict[int, str | float]] = {}
    at = 0
    while at + 4 <= len(data):
        kind, length = struct.unpack_from("<HH", data, at)
        if kind not in (_INTEGER, _NUMBER, _LABEL, _BEGIN, _END):
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
