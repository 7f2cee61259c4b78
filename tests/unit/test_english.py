"""Names and messages in the field's English (docs/development.md): what was reached is kept. The figures may only "
"fall."""

from __future__ import annotations

from pathlib import Path

import pytest

import house

# Identifiers of 1,000 that hold a word of the old dialect.
DIALECT_PER_1000 = {
    ".": 0.0,
    "agreement": 0.0,
    "answers": 0.3,
    "campaign": 0.5,
    "cli": 0.6,
    "commands": 0.6,
    "core": 0.5,
    "data": 0.0,
    "engine": 0.0,
    "explain": 0.6,
    "extras": 0.0,
    "foreign": 0.0,
    "importers": 0.0,
    "ingest": 0.4,
    "lab": 0.3,  # its command, too
    "layout": 0.6,
    "measure": 0.6,
    "model": 0.2,
    "page": 0.8,
    "ranks": 0.0,
    "selection": 0.0,
    "serve": 0.0,
    "changes": 0.0,
    "stats": 0.0,
    "store": 0.2,
    "survey": 0.7,
    "tables": 0.0,
}
OPAQUE_PARAMETERS = 0
ONE_WORD_FUNCTIONS = 0.318
PHRASES_IN_TESTS = 0.028
OBLIQUE_DOCSTRINGS = 0


@pytest.mark.parametrize("room", sorted({house.room_of(path) for path in house.all_files()}))
def test_dialect_only_falls(room):
    files = [path for path in house.all_files() if house.room_of(path) == room]
    assert house.dialect_per_1000(files) <= DIALECT_PER_1000[room]


def test_names_only_become_better():
    assert house.opaque_parameters(house.all_files()) <= OPAQUE_PARAMETERS
    assert house.one_word_share(house.all_files()) <= ONE_WORD_FUNCTIONS
    assert house.oblique_docstrings(house.all_files()) <= OBLIQUE_DOCSTRINGS


def test_no_sentence_below_the_front_ends_names_an_option_as_a_terminal_spells_it():
    assert house.own_flags() == []


def test_words_are_asserted_in_golden_texts_and_not_in_tests():
    assert house.phrase_share(house.test_files()) <= PHRASES_IN_TESTS


def test_the_measures_see_what_they_count(tmp_path: Path):
    file = tmp_path / "test_sample.py"
    file.write_text(
        "def read(found, rows):\n    return [one for one in found]\n"
        "def parse_row(row): ...\n"
        "def test_words():\n    assert 'no such row' in str(read(1, 2))\n"
        "def test_codes():\n    assert read(1, 2) == ['bad-row']\n"
    )
    assert house.opaque_parameters([file]) == 1
    assert house.one_word_share([file]) == 0.25
    assert house.phrase_share([file]) == 0.5
    assert house.dialect_per_1000([file]) == round(1000 * 4 / 13, 1)
