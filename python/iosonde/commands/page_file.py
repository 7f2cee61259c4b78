"""The file of a page: where it may be written, and writing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from .corpus.for_page import CorpusPage
    from .report.content import Page
    from .survey.for_page import SurveyPage


@dataclass(frozen=True)
class Report:
    """A page, and the file ``path`` that it is written to by ``write``, if at all."""

    page: Page | SurveyPage | CorpusPage
    path: Path
    write: Callable[[], None] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return what the terminal shows: the first sentence."""
        return "\n".join(self.text())

    __repr__ = __str__

    def text(self) -> Iterable[str]:
        """Return the lines that the terminal shows."""
        from iosonde.layout.text import wrapped

        return wrapped(self.page.headline)

    def to_dict(self) -> Mapping[str, Any]:
        """Return what ``--json`` prints: everything that the page shows."""
        from .report.section import build_page_document

        return build_page_document(self.page)


def check_page_is_writable(path: str | None) -> None:
    """Check before anything is measured. Raises InputError where the page could not be written afterwards."""
    if path and not Path(path).resolve().parent.is_dir():
        raise InputError(
            "no-such-directory",
            "the directory of {path} is not there",
            "name a page in a directory that is there",
            path=path,
        )


def write_page(page: Page | SurveyPage | CorpusPage, path: str) -> None:
    """Write a page, whole or not at all, and say so. Raises InputError."""
    from .report.html import render_page_html

    get_front_end().note(f"the page: {replace_file(Path(path), render_page_html(page, get_front_end().note).encode())}")


def write_experiment_page(store: str, experiment: str, level: float, path: str) -> None:
    """Write the page of one experiment, as ``iosonde report`` does. Raises InputError, DataError."""
    from .opened import build_opener
    from .report.answer import report
    from .report.query import ReportQuery

    query = ReportQuery(store, experiment=experiment, level=level).with_command(path)
    write_page(report(query, build_opener(store)), path)
