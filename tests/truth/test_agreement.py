"""All commands give the same verdict to the same question: a few draws of each kind of DATA, and all 500."""

from __future__ import annotations

from itertools import chain

import pytest

from .agreement import DRAWS, QUESTIONS, Disagreement, Reply, is_same_but_family, question_all
from .drawn_data import KINDS, draw_data
from .pending import PENDING_AGREEMENT
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE

FEW = 2  # draws of each kind
MOST_OPEN = 0.2  # of the draws: ``compare`` inside cells claims what others leave open, or they what it does
pytestmark = pytest.mark.slow


def list_cases() -> list[object]:
    """Each kind with each question; a mark where commands disagree today, to be removed with its mend."""
    return [
        pytest.param(kind, question, id=f"{kind}: {question}", marks=_mark_pending(kind, question))
        for kind in KINDS
        for question in QUESTIONS
    ]


def _mark_pending(kind: str, question: str) -> list[pytest.MarkDecorator]:
    why = PENDING_AGREEMENT.get((kind, question))
    return [pytest.mark.xfail(strict=True, reason=why)] if why else []


def describe_hard(kind: str, question: str, draws: int) -> str:
    """Describe where commands disagree beyond what chance at the border of two tests explains."""
    found = chain.from_iterable(question_all(kind, seed).disagreements for seed in range(draws))
    return "\n".join(one.describe() for one in found if one.question == question and not one.is_soft)


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_draws_have_the_same_verdict_in_all_commands(kind):
    questions = [question for question in QUESTIONS if (kind, question) not in PENDING_AGREEMENT]
    assert [text for question in questions if (text := describe_hard(kind, question, FEW))] == []


@pytest.mark.long
@pytest.mark.parametrize(("kind", "question"), list_cases())
def test_all_commands_have_the_same_verdict(kind, question):
    assert describe_hard(kind, question, DRAWS) == ""


@pytest.mark.long
def test_few_claims_are_left_open_by_others():
    soft = {
        (kind, seed)
        for kind in KINDS
        for seed in range(DRAWS)
        for one in question_all(kind, seed).disagreements
        if one.is_soft
    }
    asked = sum(bool(data.sides) and not data.is_alone for kind in KINDS for data in map_draws(kind))
    assert len(soft) <= MOST_OPEN * asked


def map_draws(kind: str):
    """All draws of a kind."""
    return (draw_data(kind, seed) for seed in range(DRAWS))


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
    text = Disagreement("two levels", 3, "default", "a on v", replies).describe()
    assert text == "seed 3, a on v: rank: different (p 0.01 of 2); anova: inconclusive (p 0.06 of 2)"
