"""Tables of the figures, and the parts of a page: first screen, machine, sections that commands bring."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from iosonde.core.types import Estimate
from iosonde.core.units import format_for_file
from iosonde.layout.figure import Figure

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


def iterate_ends(estimate: Estimate | None) -> Iterator[float | None]:
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
        writer.writerow([_escape_csv_cell(name) for name in self.columns])
        writer.writerows([_escape_csv_cell(value) for value in row] for row in self.rows)
        return out.getvalue()


def _escape_csv_cell(value: Value) -> Value:
    """Prefix text that a spreadsheet would evaluate with an apostrophe; a number written as text stays."""
    if isinstance(value, float):
        return format_for_file(value)
    return f"'{value}" if isinstance(value, str) and value[:1] in _STEERING and not _NUMBER.fullmatch(value) else value


@dataclass(frozen=True)
class SectionTable:
    """A table of texts under its ``title``; of the ``columns`` the first names the row, and the ``n_numbers`` after it
    are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_numbers: int = 0


@dataclass(frozen=True)
class PageSection:
    """A section: its ``name`` in the navigation, its ``title``, a ``note`` below it, a ``figure`` with the text that
    stands for it where it cannot be seen, and tables. ``sentence``: its result for the top of the page, '' for none."""

    name: str
    title: str
    note: str = ""
    figure: Figure | None = None
    figure_text: str = ""
    tables: tuple[SectionTable, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class FactGroup:
    """A group of facts of the machine: (name, value) pairs."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Reproduce:
    """How to reproduce a page: (title, command line) pairs, then seed, versions and the like."""

    commands: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class FirstScreen:
    """Sentences on what was measured, how fast it is, how sure that is, what looks wrong; ``sentence`` is that of
    ``summary``, which ends with ``closing``."""

    headline: str
    what: tuple[str, ...]
    fast: str
    sure: tuple[str, ...]
    wrong: str
    sentence: str = ""
    closing: str = ""
