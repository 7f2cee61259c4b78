"""What a page says in words: its first screen, the machine, how to do it again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FactGroup:
    """One group of what the machine was like: (name, value) pairs."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Reproduce:
    """What somebody needs to do the same again: (what, command line) pairs, then seed, versions and the like."""

    commands: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class FirstScreen:
    """In sentences: what was measured, how fast it is, how sure that is, what looks wrong; ``sentence`` is that of
    ``summary``."""

    headline: str
    what: tuple[str, ...]
    fast: str
    sure: tuple[str, ...]
    wrong: str
    sentence: str = ""
