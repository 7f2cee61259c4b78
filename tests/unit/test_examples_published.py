"""The files of examples/published: every number stands in its words, and the words in the document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

import outside
from iosonde.core.yaml_text import load
from iosonde.importers.published_figures import Publication, list_numbers, read_publication

EXAMPLES = Path(__file__).parents[2] / "examples"
PUBLISHED, SEEDS = EXAMPLES / "published", EXAMPLES / "seeds"
FILES = sorted(PUBLISHED.glob("*.yaml"))
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


# Results that a reader of the document looks for; each stands in its file.
RESULTS = {
    "cheng-2004": [94.11, 11101, 11125, 10976, 5137, 10723, 10372, 10841, 1020, 11450, 7305, 11430],
    "dobrescu-2014": [1433371, 1345494, 728699, 624046, 3, 30],
    "ficus-lecture": [
        *(162.9, 83.2, 40.9, 186.2, 168.6, 213.2, 177.1, 199.1, 245.2, 188.0, 210.2, 198.1, 224.4, 20.25, 168.12),
        *(76590.40, 61437.46, 0.55, 50, 38.25, 240.4, 11.53, 2.80, 1.68, 148.7, 187.5, 15.5, 25.0, 41.6, 308.8, 391.9),
        *(1462.80, 52.36, 2.83),
    ],
    "kumar-2013": [
        *(-120.485, -142.931, -39.676, -114.066, 271.936, 237.502, 162.003, 230.091, -21.058, -21.094, -0.16, -0.004),
        *(0.735, 0.801, 0.744, 0.745, 75.4, 82.5, 75.2, 76.9, 0.78, 0.22, 0.95, 0.05, 1.5, 30000, 8.6, 23.88),
        *(2311, 1916, 478, 282, 144, 993, 5.8, 117, 148, 8306, 8.5),
    ],
    "kunkel-2017": [
        *(6.80, 6.25, 5.66, 1.59, 1.34, 1.19, 28.5, 54.7, 12.7, 96, 245, 70, 16, 284.2, 72.1, 0.17, 107.3),
        *(110, 800, 6, 1.25, 700, 10, 52, 10000, 300, 6e6, 115, 4000, 400, 380e3, 0.12, 0.44, 53.1, 128, 200),
        *(46, 54, 6.1, 9.5, 8.8, 2e-4, 100, 57, 0.003, 71, 48),
    ],
}


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_the_results_of_each_document_are_there(file):
    values = {number.value for number in read_file(file).figures}
    assert set(RESULTS[file.stem]) <= values


# Cells of each whole table.
TABLES = {
    ("cheng-2004", "slide: Results (one client, one server)"): 36,
    ("cheng-2004", "slide: Results (multi-process)"): 40,
    **{("kumar-2013", f"table {name}"): 10 for name in ("1.1", "6.1", "6.3", "6.5", "6.7", "7.1")},
    ("kunkel-2017", "slide: Validation: Classify Different Patterns"): 15 * 5,
    ("kunkel-2017", "slide: System-Wide Defaults"): 8 * 7 + 4,
}


def test_whole_tables_are_there():
    counts = Counter((file.stem, number.where) for file in FILES for number in read_file(file).figures)
    assert {table: counts[table] for table in TABLES} == TABLES


def test_totals_of_the_documents_are_those_of_their_parts():
    lecture, talk = (read_file(file).figures for file in FILES if file.stem in ("ficus-lecture", "kunkel-2017"))
    trials = [number.value for number in lecture if number.settings.get("replica") == 1 and not number.statistic]
    assert len(trials) == 8 and round(sum(trials) / 8, 1) == 199.1
    absolute = [number.value for number in talk if number.metric == "bandwidth" and "method" in number.settings]
    assert round(sum(value for value in absolute if value > 200) / 8) == 245


def test_every_slip_says_why_and_mostly_what_is_right():
    entries = [entry for file in FILES for entry in (*read_file(file).figures, *read_file(file).statements)]
    slips = [entry.slip for entry in entries if entry.slip is not None]
    known = [slip for slip in slips if slip.should_be is not None]
    assert len(slips) > 30 and all(slip.why for slip in slips) and len(known) > 0.7 * len(slips)


# Campaign → the document whose experiment it repeats.
CAMPAIGNS = {
    "chep": "cheng-2004",
    "ficus": "ficus-lecture",
    "gluster": "kumar-2013",
    "kunkel": "kunkel-2017",
    "mtc": "dobrescu-2014",
    "proxy": "kumar-2013",
    "translators": "kumar-2013",
}
# Not quoted: what is computed, and numbers of figures, tables and sections.
NOT_QUOTED = re.compile(r"\(computed:[^)]*\)|\b(?:figures?|tables?|section) [B\d.]+(?:(?: and| to|,) [B\d.]+)*")


def list_quoted_numbers(text: str) -> set[float]:
    """Return the numbers that a campaign says were published."""
    return list_numbers(NOT_QUOTED.sub("", text))


def is_printed(number: float, printed: Iterable[float]) -> bool:
    """Return whether a number is printed, to the digits that are quoted."""
    digits = len(f"{number:.10g}".partition(".")[2])
    return any(number in (value, round(value, digits)) for value in printed)


@pytest.mark.parametrize("file", sorted(SEEDS.glob("*.yaml")), ids=lambda path: path.stem)
def test_what_a_campaign_says_was_published_is_printed(file):
    publication = read_file(PUBLISHED / f"{CAMPAIGNS[file.stem.partition('-')[0]]}.yaml")
    entries = (*publication.figures, *publication.statements)
    printed = {number for entry in entries for number in list_numbers(" ".join(entry.words))}
    printed |= {abs(number) for number in printed} | {number.value for number in publication.figures}
    questions = load(file).data.get("questions", ())
    quoted = {number for item in questions for number in list_quoted_numbers(item.get("published", ""))}
    assert {number for number in quoted if not is_printed(number, printed)} == set()
