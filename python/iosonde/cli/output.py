"""What leaves a command: its answer on stdout, talk on stderr, and files, which appear whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from iosonde.core.errors import InputError

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
    click.echo(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))


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


def replace_file(path: Path, content: bytes) -> Path:
    """Put ``content`` in the place of ``path``, as ``whole_file`` does. Raises InputError where that cannot be."""
    with whole_file(path) as file:
        file.write(content)
    return path


def write_figure(path: str | Path, figure: Figure) -> None:
    """Write a figure in the format that the name ends with, and say so. Raises InputError for another ending."""
    from iosonde.report.figures.files import format_of

    talk(f"wrote {replace_file(Path(path), figure.image(format_of(path)))}")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside ``path`` that takes its place when the block ends well. Raises InputError where it cannot.

    A link is followed, and what is no file (``/dev/stdout``, a pipe) is written to: neither is replaced.
    """
    place = path.resolve()
    try:
        if place.exists() and not place.is_file() and not place.is_dir():
            with place.open("wb") as file:
                yield file
            return
        handle, beside = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            Path(beside).chmod(0o666 & ~_umask())
            Path(beside).replace(place)
        finally:
            with suppress(FileNotFoundError):
                Path(beside).unlink()
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}", "name a file in a directory that is there, yours and has room"
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
