"""Results of other tools: text → Runs. Each tool has one file; docs/importers.md explains how to add one."""

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
