"""Files that a command writes besides its answer: figures, pages, rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.whole_file import replace_file

if TYPE_CHECKING:
    from iosonde.layout.figure import Figure


def build_figure_writer(path: str | None, draw: Callable[[], Figure]) -> Callable[[], None] | None:
    """Return what writes a figure, in the format that its name ends with; None where none was asked for."""
    return None if path is None else lambda: write_file(path, lambda: draw().image(Path(path).suffix[1:].lower()))


def write_file(path: str, content: Callable[[], bytes]) -> None:
    """Write a file, whole or not at all, and say so. Raises InputError."""
    get_front_end().note(f"wrote {replace_file(Path(path), content())}")


def write_files(directory: Path, files: Mapping[str, str]) -> None:
    """Write files into a directory, which is made if it is not there, and say so. Raises InputError."""
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            "cannot-create-directory",
            "cannot make the directory {directory}: {reason}",
            "name another one",
            directory=directory,
            reason=error.strerror,
        ) from error
    for name, content in files.items():
        write_file(str(directory / name), content.encode)


def announce_analysis(what: str, n_rows: int, n_columns: int) -> None:
    """Say what begins, where it may take a while."""
    if n_rows >= _MANY_ROWS:
        get_front_end().note(f"{what} of {n_rows} rows by {n_columns} columns …")


_MANY_ROWS = 100_000  # more may take seconds
