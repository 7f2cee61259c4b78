"""Public questions, the commands that answer them, and whether the answers are right."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import click
import yaml
from click.testing import CliRunner

from iosonde.core.errors import IosondeError
from iosonde.core.verdict import VerdictState
from terminal import command_of

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
TOLERANCE = 0.01  # of a number that a pattern states
ANSWERED = [0, 1]  # exit codes
VERDICT_STATES = frozenset(VerdictState)


class Grade(StrEnum):
    """How an answer stands to the truth."""

    RIGHT = "R"
    NO_ANSWER = "N"
    WRONG = "W"


@dataclass(frozen=True)
class Question:
    """A public question (see the head of questions.yaml)."""

    id: str
    source: str
    asked: str
    answer: str
    commands: list[str]
    exits: list[list[int]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    has: list[dict[str, Any]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    no_codes: list[str] = field(default_factory=list)
    lacks: list[dict[str, Any]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)


def read_questions() -> list[Question]:
    """Read all questions."""
    return [Question(**entry) for entry in yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))]


def ask(question: Question, scratch: Path) -> tuple[list[int], list[Any]]:
    """Type the question's commands, and return their exit codes and their JSON; ``import`` has none."""
    exits, answers = [], []
    for command in question.commands:
        words = [_locate(word, scratch) for word in command.split()]
        name, options = words[0], words[1:] if words[0] == "import" else [*words[1:], "--json"]
        done = CliRunner().invoke(command_of(name), options)
        exits.append(_exit_code(done.exception, done.exit_code))
        if done.stdout.startswith("{"):
            answers.append(json.loads(done.stdout))
    return exits, answers


def _locate(word: str, scratch: Path) -> str:
    if word == "STORE":
        return str(scratch / "store")
    return str(INPUTS / word) if (INPUTS / word).exists() else word


def _exit_code(exception: BaseException | None, code: int) -> int:
    """Return the exit code that the terminal gives; what no user may see is raised."""
    if exception is None or isinstance(exception, SystemExit):
        return code
    if isinstance(exception, IosondeError):
        return exception.exit_code
    if isinstance(exception, click.ClickException):
        return exception.exit_code
    raise exception


def list_wrong(question: Question, exits: list[int], answers: list[Any]) -> list[str]:
    """List what the answers claim although it is not so."""
    rights = question.exits or [ANSWERED] * len(exits)
    codes = {entry["code"] for entry in _walk(answers) if "severity" in entry}
    states = {entry["state"] for entry in _walk(answers) if entry.get("state") in VERDICT_STATES}
    return [
        *(f"exit {code}, not {right}" for code, right in zip(exits, rights, strict=True) if code not in right),
        *(f"finds {code}" for code in question.no_codes if code in codes),
        *(f"says {pattern}" for pattern in question.lacks if _has(answers, pattern)),
        *(f"verdict {state}" for state in sorted(states) if question.states and state not in question.states),
    ]


def list_missing(question: Question, answers: list[Any]) -> list[str]:
    """List what the right answer holds, and these do not."""
    codes = {entry["code"] for entry in _walk(answers) if "severity" in entry}
    sentences = [text for entry in _walk(answers) for text in entry.values() if isinstance(text, str)]
    return [
        *(f"no {code}" for code in question.codes if code not in codes),
        *(["no other finding"] if question.beside and codes <= set(question.beside) else []),
        *(f"not {pattern}" for pattern in question.has if not _has(answers, pattern)),
        *(f"{name} unnamed" for name in question.names if not any(re.search(name, text) for text in sentences)),
    ]


def grade(question: Question, exits: list[int], answers: list[Any]) -> Grade:
    """Grade the answers to a question: a false claim is worse than none."""
    if list_wrong(question, exits, answers):
        return Grade.WRONG
    return Grade.NO_ANSWER if list_missing(question, answers) else Grade.RIGHT


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a JSON value, from outside in."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from _walk(entry)


def _has(answers: list[Any], pattern: dict[str, Any]) -> bool:
    return any(_fits(entry, pattern) for entry in _walk(answers))


def _fits(value: Any, pattern: Any) -> bool:
    """Return whether a JSON value fits a pattern: objects may hold more, numbers differ by 1 %."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(key in value and _fits(value[key], pattern[key]) for key in pattern)
    if isinstance(pattern, list):
        return isinstance(value, list) and all(any(_fits(entry, part) for entry in value) for part in pattern)
    if isinstance(pattern, str):
        return isinstance(value, str) and re.fullmatch(pattern, value) is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value is pattern
    return math.isclose(value, pattern, rel_tol=TOLERANCE)
