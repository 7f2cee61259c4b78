"""Every recorded verdict of every command rests on all assumptions of its question."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iosonde.core.verdict import DOUBTS, VerdictState
from iosonde.stats.assumptions.required import REQUIRED

ANSWERS = sorted((Path(__file__).parents[1] / "golden" / "answers").glob("*.json"))
OPEN = {str(state) for state in VerdictState} - {str(VerdictState.DIFFERENT), str(VerdictState.EQUAL)}
COMMANDS = ("advise", "anova", "compare", "corpus", "diagnose", "fit", "plot", "rank", "regress", "report", "scale")


def iterate_verdicts(value: Any) -> Iterator[dict[str, Any]]:
    """The verdicts in an answer. Many of them are recorded as columns, of which only the lists are whole."""
    if isinstance(value, dict):
        verdicts = value.get("verdicts", [])
        if isinstance(verdicts, dict):
            verdicts = [
                {"doubts": a, "checked": b} for a, b in zip(verdicts["doubts"], verdicts["checked"], strict=True)
            ]
        yield from verdicts
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from iterate_verdicts(item)


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_every_recorded_verdict_was_checked(path: Path) -> None:
    verdicts = list(iterate_verdicts(json.loads(path.read_text(encoding="utf-8"))))
    assert verdicts or path.stem not in COMMANDS
    for verdict in verdicts:
        checked = set(verdict["checked"])
        questions = [verdict["question"]] if "question" in verdict else list(REQUIRED)
        assert any(checked >= REQUIRED[question] for question in questions), verdict
        assert set(verdict["doubts"]) <= checked <= set(DOUBTS)


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_an_open_verdict_has_a_remedy_and_a_claimed_one_has_none(path: Path) -> None:
    for verdict in iterate_verdicts(json.loads(path.read_text(encoding="utf-8"))):
        if "state" in verdict:
            assert bool(verdict["remedy"]) is (verdict["state"] in OPEN), verdict
            assert not verdict["why"] or verdict["state"] in OPEN, verdict
