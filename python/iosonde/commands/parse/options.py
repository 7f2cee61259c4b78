"""``iosonde parse``: what an importer understands of other tools' output, without storing it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.errors import DataError
from iosonde.core.message import restore_message
from iosonde.core.options import Option, Text

if TYPE_CHECKING:
    from .answer import Parses

Source = str | Path | BinaryIO


@dataclass(kw_only=True)
class ReaderOptions:
    """How to read a file whose tool is not to be recognised."""

    format: Text[str | None] = Text("TOOL", "Read every file as this tool's output, whatever it looks like.")
    columns: Text[str | None] = Text("MAP", "Read CSVs by this file that says what their columns are.")


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


@dataclass
class ParseOptions(ReaderOptions):
    """Options of ``iosonde parse``."""

    files: ParseSources = ParseSources(
        "FILE...",
        "Results of other tools; - for standard input. In Python also files of bytes, as io.BytesIO(done.stdout).",
        is_argument=True,
        is_required=True,
        is_repeatable=True,
    )


@command("parse", ParseOptions, "parse - < mdtest.txt")
def parse(options: ParseOptions) -> Result[Parses]:
    """Show what other tools' results in FILE (- for standard input) say, in base units, with warnings.

    The tool is found by what is in the file; the evidence is shown. Nothing is stored: that is 'iosonde import'.

    Returns
    -------
    Result[Parses]
        One row a number, with the line that it stands in.

    Raises
    ------
    DataError
        A file is no tool's output; the sentence says why.

    Examples
    --------
    >>> iosonde.parse("ior.txt").to_frame()
    """
    from .answer import Parses
    from .answer import parse as answer

    parses = Parses(
        tuple(answer(name, options.format, file, options.columns) for name, file in map(split_source, options.files))
    )
    return Result(parses, _format_lines, error=_build_error(parses))


def _format_lines(parses: Parses) -> Iterator[str]:
    from .answer import Parse
    from .text import lines

    return (line for file in parses.files if isinstance(file, Parse) for line in lines(file))


def _build_error(parses: Parses) -> DataError | None:
    errors = parses.errors
    if len(errors) < 2:
        return errors[0] if errors else None
    names = ", ".join(str(error.message.values.get("path", "")) for error in errors)
    return errors[0].with_words(
        restore_message("several-files-not-understood", "; ".join(error.message for error in errors), {"files": names})
    )
