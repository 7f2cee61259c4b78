"""Tables of the figures, and the parts of a page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from iosonde.core.types import Estimate
from iosonde.core.units import in_file

Value = str | int | float | bool | None
Item = TypeVar("Item")

_STEERING = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Section(Generic[Item]):
    """Figures of one part of the page; ``missing`` explains what is absent, why, and the remedy."""

    items: tuple[Item, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def shown(self) -> bool:
        """Return whether the page has this part."""
        return bool(self.items or self.missing)


def ends(estimate: Estimate | None) -> Iterator[float | None]:
    """Yield value, low and high; three times None without an estimate."""
    return iter((None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high))


@dataclass(frozen=True)
class DataTable:
    """Rows to read or to download; ``columns`` name their unit, as ``low (bytes/s)``."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def to_csv(self) -> str:
        """Return RFC 4180 text. Text that a spreadsheet would take for a formula gets a leading apostrophe."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([_csv_cell(name) for name in self.columns])
        writer.writerows([_csv_cell(value) for value in row] for row in self.rows)
        return out.getvalue()


def _csv_cell(value: Value) -> Value:
    """Prefix text that a spreadsheet would evaluate with an apostrophe; a number written as text stays."""
    if isinstance(value, float):
        return in_file(value)
    return f"'{value}" if isinstance(value, str) and value[:1] in _STEERING and not _NUMBER.fullmatch(value) else value
