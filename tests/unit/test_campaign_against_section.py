"""``against`` in a file: the design of pairs that it becomes, and what is wrong with it."""

from __future__ import annotations

import pytest

from iosonde.campaign.spec import against
from iosonde.core.yaml_text import Document
from iosonde.measure.spec import Against


def document(section, **more):
    return Document({"steps": ["cp a b"], "against": section, **more}, "e.yaml", {}, "")


def test_a_command_becomes_a_second_step_at_a_level_of_its_own():
    made = against.expand_against(document("cp c d", nodes=[1, 2], factors={"size": [1, 2], "fs": ["x"]})).data
    assert made["steps"] == [
        {"name": "step-01", "command": "cp a b", "when": {"variant": "cp a b"}},
        {"name": "step-01", "command": "cp c d", "when": {"variant": "cp c d"}},
    ]
    assert made["factors"] == {"size": [1, 2], "fs": ["x"], "variant": ["cp a b", "cp c d"]}
    assert made["against"] == {"factor": "variant", "margin": 0.05, "metric": ""}
    assert made["design"] == {"kind": "full", "blocks": ["nodes", "size"]}
    assert made["repetitions"] == 100


def test_other_steps_keep_their_place_and_the_command_its_keys():
    steps = [{"workload": "envelope"}, {"command": "a", "name": "n", "on": "each"}, {"workload": "phases"}]
    made = against.expand_against(document({"command": "b", "a_name": "old"}, steps=steps, repetitions=8)).data
    assert made["steps"] == [
        steps[0],
        {"command": "a", "name": "n", "on": "each", "when": {"variant": "old"}},
        {"command": "b", "name": "n", "on": "each", "when": {"variant": "b"}},
        steps[2],
    ]
    assert made["repetitions"] == 8 and made["design"] == {"kind": "full"}


def test_a_factor_is_its_own_pair():
    section = {"factor": "fs", "margin": "10%", "metric": "write", "fail_if": "slower>5%"}
    made = against.expand_against(document(section, factors={"fs": ["x", "y"], "size": {"levels": [1, 2]}})).data
    assert made["steps"] == ["cp a b"]
    assert made["design"] == {"kind": "full", "blocks": ["size"]}
    found = against.against_from_document(made)
    assert (found.factor, found.margin, found.metric, len(found.fail_if)) == ("fs", 0.1, "write", 1)
    assert against.against_to_document(found) == made["against"]
    plain = Against("fs", 0.05, "", ())
    assert against.against_to_document(plain) == {"factor": "fs", "margin": 0.05, "metric": ""}
    assert against.against_from_document({}) is None
    assert against.expand_against(Document({"steps": []}, "", {}, "")).data == {"steps": []}


@pytest.mark.parametrize(
    ("first", "second", "more", "names"),
    [
        ("cat x", "cat y", {}, ("cat x", "cat y")),
        (" cat x ", "cat y", {"b_name": "new"}, ("cat x", "new")),
        ("c" * 24, "d", {}, ("c" * 24, "d")),
        ("c" * 25, "d", {}, ("A", "B")),
        ("c", "d ${size}", {"a_name": "old"}, ("old", "B")),
        ("same", "same", {}, ("A", "B")),
    ],
)
def test_sides_are_called_by_short_commands(first, second, more, names):
    assert against._name_sides({"command": second, **more}, first) == names


def test_two_targets_are_a_factor_and_a_word_may_name_one():
    places = {"old": "/a", "new": "/b"}
    for section in ("target", {"command": "target"}, {"factor": "target"}):
        made = against.expand_against(document(section, targets=places, nodes=[1, 2])).data
        assert made["against"] == {"factor": "target", "margin": 0.05, "metric": ""}
        assert made["steps"] == ["cp a b"] and made["design"] == {"kind": "full", "blocks": ["nodes"]}
    both = against.expand_against(document("cp c d", targets=places)).data
    assert both["design"] == {"kind": "full", "blocks": ["target"]}
    assert against.expand_against(document("target", targets={"old": "/a"})).data["steps"][1]["command"] == "target"


NATIVE = {"workload": "envelope"}
TWO = {"fs": ["x", "y"]}


@pytest.mark.parametrize(
    ("section", "more", "codes"),
    [
        ("b", {}, []),
        ({"factor": "fs"}, {"factors": TWO}, []),
        ({"factor": "nodes"}, {"nodes": [1, 2]}, []),
        ({"factor": "target"}, {"targets": {"old": "/a", "new": "/b"}}, []),
        ({"factor": "target"}, {"target": "/a"}, ["unknown-factor"]),
        ({"factor": "target"}, {"targets": {"old": "/a"}}, ["not-two-levels"]),
        ("fs", {"factors": TWO, "steps": ["a", "c"]}, []),
        ("fs", {"factors": {"fs": ["x", "y", "z"]}}, ["not-two-levels"]),
        ({"command": "fs", "a_name": "x"}, {"factors": TWO}, ["key-not-applicable"]),
        ({"command": "b", "factor": "fs"}, {"factors": TWO}, ["conflicting-keys"]),
        ("b", {"steps": ["a", "c"]}, ["not-one-command"]),
        ("b", {"steps": [NATIVE]}, ["not-one-command", "missing-metric"]),
        ({"command": "b", "metric": "write"}, {"steps": [NATIVE, "a"]}, []),
        ("b", {"factors": {"variant": [1, 2]}}, ["duplicate-factor"]),
        (" ", {}, ["empty-command"]),
        ({"command": "b", "a_name": "x", "b_name": "x"}, {}, ["duplicate-side"]),
        ({"command": "b", "a_name": "1MiB", "b_name": "2MiB"}, {}, ["ambiguous-side"]),
        ({"command": "b", "a_name": "1MiB", "b_name": "x"}, {}, []),
        ({}, {}, ["missing-comparison"]),
        ({"factor": "fs", "b_name": "x"}, {"factors": TWO}, ["key-not-applicable"]),
        ({"factor": "fz"}, {"factors": TWO}, ["unknown-factor"]),
        ({"factor": "nodes"}, {}, ["unknown-factor"]),
        ({"factor": "fs"}, {"factors": {"fs": ["x", "y", "z"]}}, ["not-two-levels"]),
        ({"factor": "fs"}, {"factors": {"fs": "x"}}, ["not-two-levels"]),
        ("b", {"until": "ci<5%"}, ["conflicting-keys"]),
        ("b", {"repetitions": 6}, []),
        ("b", {"repetitions": 5}, ["too-few-pairs"]),
        ("b", {"design": "full"}, []),
        ("b", {"design": {"kind": "full"}}, []),
        ("b", {"design": {"kind": "full", "blocks": ["nodes"]}, "nodes": [1, 2]}, []),
        ("b", {"design": {"kind": "full", "blocks": ["nodes"]}}, ["conflicting-keys"]),
        ({"factor": "fs"}, {"factors": TWO, "steps": [NATIVE]}, ["missing-metric"]),
        ({"factor": "fs", "metric": "write"}, {"factors": TWO, "steps": [NATIVE]}, []),
    ],
)
def test_each_mistake_is_one_problem_of_the_key(section, more, codes):
    found = against.list_against_problems(document(section, **more))
    assert [problem.what.code for problem in found] == codes
    assert {problem.key for problem in found} <= {"against"}
    assert all(problem.hint for problem in found)


def test_a_condition_that_is_none_is_a_problem():
    (problem,) = against.list_against_problems(document({"command": "b", "fail_if": ["slower"]}))
    assert problem.key == "against" and problem.hint
    assert against.list_against_problems(document({"command": "b", "fail_if": ["slower>5%"]})) == []
    assert against.list_against_problems(Document({"steps": ["a"]}, "", {}, "")) == []
