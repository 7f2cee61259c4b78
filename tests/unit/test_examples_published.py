"""The files of examples/published: every number stands in its words, and the words in the document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import outside
from iosonde.importers.published_figures import Publication, read_publication

FILES = sorted((Path(__file__).parents[2] / "examples" / "published").glob("*.yaml"))
# The text of each document.
TEXTS = {
    "cheng-2004": "004_69a49150fb1279a0.txt",
    "dobrescu-2014": "003_4a4aff0ef7812cff.txt",
    "ficus-lecture": "001_3a5167c0f0205560.txt",
    "kumar-2013": "000_47b1107246f93b25.txt",
    "kunkel-2017": "002_9309b6620d006ef5.txt",
}


def read_file(file: Path) -> Publication:
    return read_publication(file.read_text(encoding="utf-8"), file.name)


def join_blanks(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_every_number_stands_in_its_words(file):
    publication = read_file(file)  # raises where one does not
    assert publication.document == file.stem and publication.figures


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_the_words_stand_in_the_document(file):
    document = join_blanks(outside.needed(f"seeds/{TEXTS[file.stem]}").read_text(encoding="utf-8"))
    publication = read_file(file)
    entries = [*publication.figures, *publication.statements]
    absent = {words for entry in entries for words in entry.words if join_blanks(words).strip() not in document}
    assert not absent
