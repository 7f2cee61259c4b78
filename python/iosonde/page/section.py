"""Parts of a page: its first screen, the machine, how to reproduce it, and a section that a command brings."""

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
    ``summary``."""

    headline: str
    what: tuple[str, ...]
    fast: str
    sure: tuple[str, ...]
    wrong: str
    sentence: str = ""
