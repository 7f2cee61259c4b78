"""What leaves a command: its answer on stdout, talk on stderr, and files, which appear whole or not at all."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from iosonde.core.errors import InputError
from iosonde.core.whole_file import replace_file, whole_file

if TYPE_CHECKING:
    from iosonde.answers.answer import Answer
    from iosonde.core.table import Table
    from iosonde.report.figures.figure import Figure

_MANY_ROWS = 100_000  # more may take seconds
_LARGE_BYTES = 16 * 2**20


def emit(answer: Answer, lines: Iterable[str], as_json: bool) -> None:
    """An answer as its stable JSON, or as the lines of its text. Ends with exit code 1 where it found a problem."""
    if as_json:
        show_json(answer.to_dict())
    else:
        show(lines)
    if answer.problem:
        raise click.exceptions.Exit(1)


def show(lines: Iterable[str]) -> None:
    """Lines on stdout, as they are."""
    for line in lines:
        click.echo(line)


def show_json(document: Any) -> None:
    """A document of plain values on stdout."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    click.echo(text if text.isascii() else "".join(map(_in_json, text)))


def _in_json(char: str) -> str:
    """What could steer a terminal, or is half of a character, as JSON writes it in ASCII."""
    from iosonde.report.text import escape

    return char if char.isascii() or escape(char) == char else json.dumps(char)[1:-1]


def show_printed(head: str, pieces: Iterable[bytes]) -> None:
    """Bytes on stdout below their head: as they are, or escaped where a person looks; a line end where they lack
    one."""
    from iosonde.report.text import escape

    click.echo(escape(head))
    last = b"\n"
    for piece in pieces:
        last = piece[-1:]
        if sys.stdout.isatty():
            click.echo(_harmless(piece), nl=False)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    if last != b"\n":
        click.echo()


@contextmanager
def sink(form: str, output: str | None) -> Iterator[BinaryIO]:
    """The file that was asked for, or stdout. Raises InputError where it cannot be written, or is a terminal that
    cannot show it."""
    if output is not None:
        with whole_file(Path(output)) as file:
            yield file
    elif not sys.stdout.isatty():
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif form == "parquet":
        raise InputError("a terminal cannot show Parquet", "give a file: -o results.parquet")
    else:
        buffer = io.BytesIO()
        yield buffer
        click.echo(_harmless(buffer.getvalue()), nl=False)


def _harmless(content: bytes) -> str:
    from iosonde.report.text import escape

    return "\n".join(escape(line) for line in content.decode("utf-8", "replace").split("\n"))


def tell(what: str, table: Table) -> None:
    """Say on stderr what begins, where it may take a while."""
    if len(table) >= _MANY_ROWS:
        talk(f"{what} of {len(table)} rows by {len(table.columns)} columns …")


def tell_reading(path: Path) -> None:
    """Say on stderr that a large file is being read."""
    if path.is_file() and path.stat().st_size >= _LARGE_BYTES:
        talk(f"reading {path}, {path.stat().st_size / 2**20:.0f} MiB …")


def talk(text: str) -> None:
    """One line on stderr; nothing in it can steer a terminal."""
    from iosonde.report.text import escape

    click.echo(escape(text), err=True)


def write_figure(path: str | Path, figure: Figure) -> None:
    """Write a figure in the format that the name ends with, and say so. Raises InputError for another ending."""
    from iosonde.report.figures.files import format_of

    talk(f"wrote {replace_file(Path(path), figure.image(format_of(path)))}")


def check_figure(path: str | Path) -> None:
    """Raises InputError for a name that is not a figure's, before anything is computed."""
    from iosonde.report.figures.files import format_of

    format_of(path)
