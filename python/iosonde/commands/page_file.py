"""The file of a page: where it may be written."""

from __future__ import annotations

from pathlib import Path

from iosonde.core.errors import InputError


def check_place_of_page(path: str | None) -> None:
    """Check before anything is measured. Raises InputError where the page could not be written afterwards."""
    if path and not Path(path).resolve().parent.is_dir():
        raise InputError(
            "no-such-directory",
            "the directory of {path} is not there",
            "name a page in a directory that is there",
            path=path,
        )
