"""What leaves a command: its answer on stdout, talk on stderr, and files, which appear whole or not at all."""

import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import click

from iosonde.core.errors import PROBLEM_DETECTED, InputError
from iosonde.core.headlines import write_metric_names
from iosonde.core.whole_file import write_atomically
from iosonde.layout import text as layout_text


class Emitted(Protocol):
    """What came out: an answer, or what a campaign did."""

    def to_dict(self) -> dict[str, Any]:
        """Its stable JSON."""
        ...


def print_result(
    result: Emitted, lines: Iterable[str], as_json: bool, then: Callable[[], object] | None = None
) -> None:
    """Print a result, as its stable JSON or as the lines of its text, and only ``then`` write figures and pages, which
    may fail. Ends with exit code 1 where an answer found a problem."""
    try:
        if as_json:
            show_json(result.to_dict())
        else:
            print_lines(lines)
        if sys.stdout:
            sys.stdout.flush()
    except OSError:  # a reader who went away is no reason to write less
        if then:
            then()
        raise
    if then:
        then()
    if getattr(result, "problem", False):
        raise click.exceptions.Exit(PROBLEM_DETECTED)


def print_lines(lines: Iterable[str]) -> None:
    """Lines on stdout, as they are."""
    for line in lines:
        click.echo(line)


def show_json(document: Any) -> None:
    """A document of plain values on stdout."""
    click.echo(_format_json(document))


def _format_json(document: Any) -> str:
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    return text if text.isascii() else "".join(map(_escape_for_terminal, text))


def _escape_for_terminal(char: str) -> str:
    """Return what could steer a terminal, or is half of a character, as JSON writes it in ASCII."""
    return char if char.isascii() or layout_text.escape(char) == char else json.dumps(char)[1:-1]


@contextmanager
def open_output(form: str, output: str | None) -> Iterator[BinaryIO]:
    """The file that was asked for, or stdout. Raises InputError where it cannot be written, or is a terminal that
    cannot show it."""
    if output is not None:
        with write_atomically(Path(output)) as file:
            yield file
    elif not sys.stdout.isatty():
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif form == "parquet":
        raise InputError(
            "binary-output-to-terminal", "a terminal cannot show Parquet", "give a file: -o results.parquet"
        )
    else:
        buffer = io.BytesIO()
        yield buffer
        click.echo(
            "\n".join(map(layout_text.escape, buffer.getvalue().decode("utf-8", "replace").split("\n"))), nl=False
        )


def print_to_stderr(text: str) -> None:
    """Write one line to stderr; nothing in it can steer a terminal."""
    click.echo(layout_text.escape(write_metric_names(text)), err=True)


def print_error(message: str, hint: str, details: Iterable[str] = ()) -> None:
    """Say what went wrong, and what to do about it."""
    for line in (f"iosonde: {message}", *(f"  {detail}" for detail in details), *([f"hint: {hint}"] if hint else [])):
        print_to_stderr(line)
