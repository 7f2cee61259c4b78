"""``quick`` and ``full`` of an experiment file."""

from __future__ import annotations

from iosonde.campaign.document import build_document
from iosonde.campaign.extent import apply_extent
from iosonde.campaign.request import Request
from iosonde.core.yaml_text import Document
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


def test_only_the_section_in_use_counts_with_its_lines_and_values():
    places = {("nodes",): 1, ("quick", "nodes"): 2, ("full", "nodes"): 3, ("quick",): 4, ("quick", "lab", "set"): 5}
    data = {
        "nodes": [1],
        "lab": {"servers": 2, "set": {"a": 1}},
        "factors": {"x": [1]},
        "quick": {"nodes": [2], "lab": {"set": {}}, "steps": {"y": 1}},
        "full": {"nodes": [3], "factors": 7},
    }
    document = Document(data, "e.yaml", places, "text")
    common = {"lab": data["lab"], "factors": {"x": [1]}}
    plain, quick, full = (apply_extent(document, *flags) for flags in ((False, False), (True, False), (False, True)))
    assert plain == Document({"nodes": [1], **common}, "e.yaml", places, "text")
    shortened = {"nodes": [2], "lab": {"servers": 2, "set": {}}, "factors": {"x": [1]}, "steps": {"y": 1}}
    assert quick.data == shortened
    assert quick.places == places | {("nodes",): 2, ("lab", "set"): 5}
    assert full.data == {"nodes": [3], "lab": data["lab"], "factors": 7}
    assert full.places == places | {("nodes",): 3}
    assert set(document.data) == {"nodes", "lab", "factors", "quick", "full"}, "the file itself stays"


def test_without_a_section_quick_changes_nothing_here():
    document = Document({"nodes": [1]}, "", {}, "")
    assert apply_extent(document, True, False).data == {"nodes": [1]}
