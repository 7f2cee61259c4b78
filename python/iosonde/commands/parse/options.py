"""``iosonde parse``: what an importer understands of other tools' output, without storing it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.reader_options import ReaderOptions
from iosonde.commands.result import Result
from iosonde.core.errors import DataError
from iosonde.core.message import restore

from .sources import ParseSources, split_source

if TYPE_CHECKING:
    from .answer import Parses


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

    sources = map(split_source, options.files)
    parses = Parses(tuple(answer(name, options.format, file, options.columns) for name, file in sources))
    return Result(parses, _lines, error=_build_error(parses))


def _lines(parses: Parses) -> Iterator[str]:
    from .answer import Parse
    from .text import lines

    return (line for file in parses.files if isinstance(file, Parse) for line in lines(file))


def _build_error(parses: Parses) -> DataError | None:
    """Return the error of the files that were not understood, None where all were."""
    from .answer import NotUnderstood

    errors = parses.errors
    if len(errors) < 2:
        return errors[0] if errors else None
    names = ", ".join(file.name for file in parses.files if isinstance(file, NotUnderstood))
    text = "; ".join(error.message for error in errors)
    return errors[0].with_words(restore("several-files-not-understood", text, {"files": names}))
