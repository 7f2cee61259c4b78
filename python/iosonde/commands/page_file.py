"""The file of a page: where it may be written, and writing it."""

from __future__ import annotations

from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.front_end import front_end
from iosonde.core.whole_file import replace_file


def check_place_of_page(path: str | None) -> None:
    """Check before anything is measured. Raises InputError where the page could not be written afterwards."""
    if path and not Path(path).resolve().parent.is_dir():
        raise InputError(
            "no-such-directory",
            "the directory of {path} is not there",
            "name a page in a directory that is there",
            path=path,
        )


def write_page_of(store: str, experiment: str, level: float, path: str) -> None:
    """Write the page of one experiment, as ``iosonde report`` does. Raises InputError, DataError."""
    from iosonde.answers.report import ReportQuery, report
    from iosonde.report.page.html import html_of

    confidence = ["--level", f"{level:g}"] if level != 0.95 else []
    again = ("iosonde", "report", store, "-o", path, "--experiment", experiment, *confidence)
    page = report(ReportQuery(store, experiment=experiment, level=level, again=again))
    front_end().note(f"the page: {replace_file(Path(path), html_of(page, front_end().note).encode())}")
