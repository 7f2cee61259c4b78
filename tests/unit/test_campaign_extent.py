"""``quick`` and ``full`` of an experiment file."""

from __future__ import annotations

from iosonde.campaign.document import build_document
from iosonde.campaign.request import Request
from messages import raises

FILE = """
nodes: [1, 2, 4]
repetitions: 6
factors: {size: [32MiB], record: [1MiB]}
steps: [{command: "true"}]
quick: {nodes: [1, 2], factors: {size: [1MiB]}}
full: {repetitions: 3, factors: {size: [200MiB]}}
"""


def asked(tmp_path, text=FILE, **words):
    (tmp_path / "e.yaml").write_text(text)
    return build_document(Request(what=str(tmp_path / "e.yaml"), **words)).data


def test_without_a_word_they_are_not_there(tmp_path):
    found = asked(tmp_path)
    assert (found["nodes"], found["repetitions"]) == ([1, 2, 4], 6) and not {"quick", "full"} & set(found)


def test_each_takes_the_place_of_keys_and_joins_factors(tmp_path):
    found = asked(tmp_path, quick=True)
    assert (found["nodes"], found["repetitions"]) == ([1, 2], 2)  # as always of --quick
    assert found["factors"] == {"size": ["1MiB"], "record": ["1MiB"]}
    assert asked(tmp_path, full=True)["factors"]["size"] == ["200MiB"]
    assert asked(tmp_path, full=True)["repetitions"] == 3


def test_what_a_file_says_of_quick_repetitions_holds_and_an_option_more(tmp_path):
    text = FILE.replace("quick: {", "quick: {repetitions: 4, ")
    assert asked(tmp_path, text, quick=True)["repetitions"] == 4
    assert asked(tmp_path, text, quick=True, repetitions=5)["repetitions"] == 5


def test_what_is_wrong_is_said(tmp_path):
    with raises("conflicting-options"):
        asked(tmp_path, quick=True, full=True)
    with raises("missing-key"):
        asked(tmp_path, "steps: [{command: 'true'}]\n", full=True)
    with raises("not-a-mapping", key="quick"):
        asked(tmp_path, "steps: [{command: 'true'}]\nquick: 3\n")


def test_an_error_in_it_names_its_line(tmp_path):
    (tmp_path / "e.yaml").write_text(FILE.replace("quick: {nodes: [1, 2],", "quick: {nodes: [0],"))
    found = build_document(Request(what=str(tmp_path / "e.yaml"), quick=True))
    assert found.place(("nodes",)) == 6
