"""Texts of a page: its first screen, the machine, how to reproduce it; warnings and errors as sentences, in which a
message keeps its code and values."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.core.errors import IosondeError
from iosonde.core.message import Message, restore


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


def as_sentence(warning: str) -> str:
    """Return the warning with a capital letter and a full stop."""
    text = f"{warning[:1].upper()}{warning[1:]}."
    return restore(warning.code, text, warning.values) if isinstance(warning, Message) else text


def missing_part(part: str, error: IosondeError) -> Message:
    """Return the sentence that says why a part of the page is missing."""
    return restore(error.code, f"{part}: {error.message}.", {**error.values, "part": part})
