"""A section of the page that a command brings."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.layout.figure import Figure


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
    stands for it where it cannot be seen, and tables."""

    name: str
    title: str
    note: str = ""
    figure: Figure | None = None
    figure_text: str = ""
    tables: tuple[SectionTable, ...] = ()
