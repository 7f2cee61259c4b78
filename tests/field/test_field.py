"""The questions that people ask in public about their results, and whether ours are the right answers."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("iosonde.engine._native")
from .judge import INPUTS, Grade, Question, ask, grade, list_missing, list_wrong, read_questions  # noqa: E402
from .pending import PENDING  # noqa: E402

QUESTIONS = read_questions()
MOST_COMMANDS = 2  # that somebody with a pasted output types


@pytest.mark.parametrize("question", QUESTIONS, ids=[question.id for question in QUESTIONS])
def test_public_question_is_answered(question: Question, tmp_path: Path):
    exits, answers = ask(question, tmp_path)
    faults = {"wrong": list_wrong(question, exits, answers), "missing": list_missing(question, answers)}
    assert grade(question, exits, answers) is PENDING.get(question.id, Grade.RIGHT), faults


def names_input(command: str) -> bool:
    return any(word == "STORE" or (INPUTS / word).exists() for word in command.split())


def test_only_questions_are_pending():
    assert set(PENDING) <= {question.id for question in QUESTIONS}


def test_each_question_names_its_source_and_has_inputs_and_few_commands():
    ids = [question.id for question in QUESTIONS]
    assert len(set(ids)) == len(ids)
    for question in QUESTIONS:
        assert question.source and question.asked and question.answer
        assert 1 <= len(question.commands) <= MOST_COMMANDS
        assert all(
            any((INPUTS / word).exists() for word in command.split()) or "STORE" in command
            for command in question.commands
        )
        assert question.codes or question.beside or question.has or question.names or question.exits


def test_each_input_belongs_to_a_question():
    words = {word.split("/")[0] for question in QUESTIONS for command in question.commands for word in command.split()}
    assert {path.name for path in INPUTS.iterdir()} <= words


ASKED = Question("x", "a/b#1", "?", "!", ["check x"], codes=["S104"], has=[{"mean": 100}], lacks=[{"n": 2}])


@pytest.mark.parametrize(
    ("answer", "exit_code", "expected"),
    [
        ({"groups": [{"mean": 100.5, "n": 1}], "findings": [{"code": "S104", "severity": "warning"}]}, 1, Grade.RIGHT),
        ({"groups": [{"mean": 100.5, "n": 1}], "findings": []}, 0, Grade.NO_ANSWER),
        (
            {"groups": [{"mean": 102, "n": 1}], "findings": [{"code": "S104", "severity": "warning"}]},
            1,
            Grade.NO_ANSWER,
        ),
        ({"groups": [{"mean": 100.5, "n": 2}], "findings": [{"code": "S104", "severity": "warning"}]}, 1, Grade.WRONG),
        ({"groups": [{"mean": 100.5, "n": 1}], "findings": [{"code": "S104", "severity": "warning"}]}, 2, Grade.WRONG),
    ],
)
def test_grade_of_an_answer(answer, exit_code, expected):
    assert grade(ASKED, [exit_code], [answer]) is expected


@pytest.mark.parametrize(("state", "expected"), [("inconclusive", Grade.RIGHT), ("different", Grade.WRONG)])
def test_a_verdict_that_is_not_right_makes_an_answer_wrong(state, expected):
    careful = Question("x", "a/b#1", "?", "!", ["compare x y"], states=["inconclusive"])
    assert grade(careful, [0], [{"comparisons": [{"state": state}]}]) is expected
