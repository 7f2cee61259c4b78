"""The files to parse: paths, standard input, and in Python files of bytes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, BinaryIO

from iosonde.core.options import Option

Source = str | Path | BinaryIO


class ParseSources(Option[tuple[Source, ...], Source | list[Source] | tuple[Source, ...]]):
    """Paths, or files of bytes: one or several."""

    kind = "path, binary file, or list of these"

    def parse(self, value: Any) -> tuple[Source, ...]:
        """Return the files. Raises InputError for what is neither a path nor a file of bytes."""
        files = tuple(value) if isinstance(value, list | tuple) else (value,)
        for file in files:
            if not isinstance(file, str | Path) and not (hasattr(file, "read") and isinstance(file.read(0), bytes)):
                raise self.type_error(file, "give a path, or a file of bytes: io.BytesIO(output)")
        return files


def split_source(file: Source) -> tuple[str, BinaryIO | None]:
    """Return the name of a file, and what to read where the name is no path."""
    if isinstance(file, str | Path):
        return str(file), sys.stdin.buffer if str(file) == "-" else None
    return "-", file
