"""Rows that a reader may take away as CSV: what every figure of the page gives beside itself."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

Value = str | int | float | bool | None

_STEERING = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Table:
    """Rows to read or to take away; ``columns`` name their unit, as ``low (bytes/s)``."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def to_csv(self) -> str:
        """RFC 4180 text. Text that a spreadsheet would take for a formula gets a leading apostrophe."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([_csv_cell(name) for name in self.columns])
        writer.writerows([_csv_cell(value) for value in row] for row in self.rows)
        return out.getvalue()


def _csv_cell(value: Value) -> Value:
    """Text that a spreadsheet would compute with an apostrophe before it; a number written as text stays one."""
    if isinstance(value, str) and value[:1] in _STEERING and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
