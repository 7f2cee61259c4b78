"""All that an importer reads in a small file is as it stands in ``readings/``: every row, setting, fact and note.

A section there is ``=== capture NAME`` (a file below ``fixtures/``), or ``=== text NAME`` with the text itself; after
``--- reading`` comes what is read in it, as ``importer_reading.py`` describes it. They were written by
the importers and then held against the files: nearly every number stands on its line there, times a unit. Where a
section differs, the file decides, not the section.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from importer_reading import describe_reading
from iosonde.importers import Text, read, understand

HERE = Path(__file__).parent
_SECTION = re.compile(r"^=== (capture|text) (.*)\n((?s:.*?))--- reading\n", re.MULTILINE)


class Section(NamedTuple):
    """A file, and what is read in it."""

    name: str
    text: Text
    reading: str


def load_sections(page: Path) -> list[Section]:
    """Load the sections of one page."""
    parts = _SECTION.split(page.read_text(encoding="utf-8"))[1:]
    return [
        Section(f"{page.stem}: {name}", load_text(kind, name, content), reading)
        for kind, name, content, reading in zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=True)
    ]


def load_text(kind: str, name: str, content: str) -> Text:
    """Load a capture, or the text of a section, which ends before its last line end."""
    if kind == "text":
        return Text(content.removesuffix("\n").encode(), name)
    path = HERE / "fixtures" / name
    with path.open("rb") as file:
        return read(file, path.name)


SECTIONS = [section for page in sorted((HERE / "readings").glob("*.txt")) for section in load_sections(page)]


@pytest.mark.parametrize("section", [pytest.param(section, id=section.name) for section in SECTIONS])
def test_a_small_file_is_read_as_a_whole(section):
    assert describe_reading(understand(section.text)) == section.reading
