"""Files that figures are written to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.commands.plot.layout import PAGE
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import FIGURE_FORMATS, parse_figure_format

if TYPE_CHECKING:
    from .content import Drawn


@dataclass(frozen=True)
class FigureFiles:
    """One file, or in a directory a file of each figure."""

    path: Path
    format: str
    is_directory: bool

    def place_of(self, name: str) -> Path:
        """Return the file of the figure with this name."""
        return self.path / f"{name}.{self.format}" if self.is_directory else self.path


def choose_files(path: Path, form: str | None, kind: str | None) -> FigureFiles:
    """Return where figures of a kind go; make the directory where it is one. Raises InputError."""
    if path.suffix and not path.is_dir():
        return _choose_file(path, form, kind)
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            "cannot-create-directory",
            "cannot make the directory {path}: {reason}",
            "name another one",
            path=path,
            reason=error.strerror,
        ) from error
    return FigureFiles(path, form or FIGURE_FORMATS[0], True)


def _choose_file(path: Path, form: str | None, kind: str | None) -> FigureFiles:
    if form and form != parse_figure_format(path):
        raise InputError(
            "format-mismatch",
            "{spell.format:{format}} and {path} do not agree",
            "leave {spell.format} out",
            format=form,
            path=path,
        )
    if kind == PAGE:
        raise InputError(
            "directory-required",
            "{spell.kind:{kind}} is several figures, and {path} is one file",
            "name a directory with -o",
            kind=PAGE,
            path=path,
        )
    return FigureFiles(path, parse_figure_format(path), False)


def write_figures(drawn: Drawn, files: FigureFiles, each_bar_alone: bool) -> Iterator[str]:
    """Write every figure and yield its file; then say what they show, and what is not drawn."""
    from iosonde.layout.text import escape, paragraphs

    from . import figure as kinds

    figures = (
        kinds.list_single_bar_figures(drawn)
        if each_bar_alone and files.is_directory
        else kinds.list_figure_makers(drawn)
    )
    for name, draw in figures:
        yield escape(str(draw().save(files.place_of(name))))
    for line in paragraphs(map(escape, (*drawn.notes, *drawn.omissions))):
        get_front_end().remark(line)
