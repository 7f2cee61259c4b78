"""Options of commands that read other tools' output: who reads it."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.core.options import Text


@dataclass(kw_only=True)
class ReaderOptions:
    """How to read a file whose tool is not to be recognised."""

    format: Text[str | None] = Text("TOOL", "Read every file as this tool's output, whatever it looks like.")
    columns: Text[str | None] = Text("MAP", "Read CSVs by this file that says what their columns are.")
