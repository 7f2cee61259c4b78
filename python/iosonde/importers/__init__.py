"""Other tools' results: text → Runs. One file per tool; how to add one: docs/importers.md."""

from .parsed import CERTAIN, LIKELY, WEAK, Claim, Parsed, Row
from .registry import Understood, importers, understand
from .text import Note, Text, read

__all__ = [
    "CERTAIN",
    "LIKELY",
    "WEAK",
    "Claim",
    "Note",
    "Parsed",
    "Row",
    "Text",
    "Understood",
    "importers",
    "read",
    "understand",
]
