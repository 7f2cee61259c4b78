"""Texts of a page: its first screen, the machine, how to reproduce it."""

from __future__ import annotations

from dataclasses import dataclass


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
