"""All commands give the same verdict to the same question: a few draws of each kind of DATA, and all 500."""

from __future__ import annotations

import re

import pytest

from .agreement import DRAWS, QUESTIONS, Disagreement, Reply, find_disagreements, is_same_but_family
from .drawn_data import KINDS, draw_data
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE

BRIEF = ("default", "sides", "cells", "gate", "best")  # of the second draw: without the questions that ask most pages
MOST_OPEN = 0.2  # of the draws: ``compare`` inside cells claims what others leave open, or they what it does
pytestmark = pytest.mark.slow


def list_cases() -> list[object]:
    """Each kind with each question; a mark where commands disagree today, to be removed with its mend."""
    return [pytest.param(kind, question, id=f"{kind}: {question}") for kind in KINDS for question in QUESTIONS]


def describe_hard(kind: str, seed: int, question: str) -> list[str]:
    """Describe where commands disagree, but where one leaves open what another claims inside cells."""
    return [one.describe() for one in find_disagreements(kind, seed, question) if not one.is_soft]


# Kinds that take seconds a draw, which the test of all draws has as well.
SLOW = {kind for kind in KINDS if kind.startswith("store,")} | {"three factors", "one trial a setting", "bring-ups"}


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.long if kind in SLOW else ()) for kind in KINDS])
def test_few_draws_have_the_same_verdict_in_all_commands(kind):
    cases = [(seed, question) for seed, several in ((0, QUESTIONS), (1, BRIEF)) for question in several]
    assert [text for seed, question in cases for text in describe_hard(kind, seed, question)] == []


@pytest.mark.long
@pytest.mark.parametrize(("kind", "question"), list_cases())
def test_all_commands_have_the_same_verdict(kind, question):
    assert [text for seed in range(DRAWS) for text in describe_hard(kind, seed, question)] == []


@pytest.mark.long
def test_few_claims_inside_cells_are_left_open():
    draws = [(kind, seed) for kind in KINDS for seed in range(DRAWS)]
    asked = sum(bool(data.sides) and not data.is_alone for data in (draw_data(*draw) for draw in draws))
    soft = [draw for draw in draws if any(one.is_soft for one in find_disagreements(*draw, "cells"))]
    assert len(soft) <= MOST_OPEN * asked


def test_500_are_drawn():
    assert len(KINDS) * DRAWS >= 500


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_is_drawn_again(kind):
    first, second = draw_data(kind, 1), draw_data(kind, 1)
    assert {name: list(map(str, values)) for name, values in first.columns.items()} == {
        name: list(map(str, values)) for name, values in second.columns.items()
    }


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Reply("rank", DIFFERENT, family=1), Reply("rank", DIFFERENT, family=4), True),
        (Reply("rank", DIFFERENT, family=1), Reply("rank", INCONCLUSIVE, family=4), True),
        (Reply("rank", INCONCLUSIVE, family=1), Reply("rank", DIFFERENT, family=4), False),
        (Reply("rank", DIFFERENT, family=4), Reply("rank", INCONCLUSIVE, family=4), False),
        (Reply("rank", DIFFERENT, family=1), Reply("rank", EQUAL, family=4), False),
        (Reply("rank", "refuses"), Reply("rank", EQUAL, family=4), True),
    ],
)
def test_only_a_larger_family_may_open_a_verdict(one, other, same):
    assert is_same_but_family(one, other) is same


def test_a_disagreement_names_seed_command_state_and_p():
    replies = (Reply("rank", "different", p=0.01, family=2), Reply("anova", "inconclusive", p=0.06, family=2))
    text = Disagreement("two levels", 3, "default", "a", replies).describe()
    values = ["3", "a", "rank", "different", "0.01", "2", "anova", "inconclusive", "0.06", "2"]
    assert [word for word in re.findall(r"[a-z]+|[\d.]+", text) if word in values] == values
