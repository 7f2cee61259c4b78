"""A command's verdicts and what is true: right, inconclusive, overconfident or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from iosonde.core.verdict import Direction, VerdictState

DIFFERENT, EQUAL = VerdictState.DIFFERENT, VerdictState.EQUAL
INCONCLUSIVE, NOT_TESTED = VerdictState.INCONCLUSIVE, VerdictState.NOT_TESTED
NOT_SEPARABLE = VerdictState.NOT_SEPARABLE
UP, DOWN = Direction.UP, Direction.DOWN


class Score(StrEnum):
    """From the best to the worst."""

    RIGHT = "right"
    INCONCLUSIVE = "inconclusive"
    OVERCONFIDENT = "overconfident"
    WRONG = "wrong"
    NO_VERDICT = "no verdict"


SEVERITY = {score: place for place, score in enumerate(Score)}


@dataclass(frozen=True)
class Truth:
    """What is true of one question about one table.

    ``right``: the states that say it. ``subject``, ``response``: only verdicts about one of these names, about this
    response. ``direction``, ``claim``: of a true DIFFERENT claim; ``claim`` are texts one of which it must hold.
    ``block``: factors that the data cannot tell apart, so that a true claim names all of them. ``faults``: doubts any
    of which names what is wrong with the data. ``denials``: states that deny what these data show beyond doubt.
    ``accuses``: a false claim names a cause that another recorded column explains as well. ``absent``: no verdict may
    be about it at all. ``optional``: to say nothing is right, too.
    """

    question: str
    right: frozenset[VerdictState]
    subject: tuple[str, ...] = ()
    response: str = ""
    direction: Direction | None = None
    claim: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    faults: frozenset[str] = frozenset()
    denials: frozenset[VerdictState] = frozenset()
    accuses: bool = False
    absent: bool = False
    optional: bool = False


def truth(
    question: str, *right: VerdictState, faults: Iterable[str] = (), denials: Iterable[VerdictState] = (), **more: Any
) -> Truth:
    """A Truth, written short."""
    return Truth(question, frozenset(right), faults=frozenset(faults), denials=frozenset(denials), **more)


Verdict = Mapping[str, Any]  # its JSON form


def concerned_verdicts(verdicts: Iterable[Verdict], truth: Truth) -> list[Verdict]:
    """The verdicts that answer the truth's question."""
    return [
        verdict
        for verdict in verdicts
        if verdict["question"] == truth.question
        and truth.response in ("", verdict["response"])
        and (not truth.subject or set(truth.subject) & set(verdict["subject"]))
    ]


def score_verdict(verdict: Verdict, truth: Truth) -> Score:
    """The score of one verdict that answers the question."""
    state = VerdictState(verdict["state"])
    if state in truth.denials:
        return Score.WRONG
    if state not in (DIFFERENT, EQUAL):
        return Score.RIGHT if state in truth.right else Score.INCONCLUSIVE
    if state in truth.right and _is_as_claimed(verdict, truth):
        return Score.RIGHT
    if truth.faults & set(verdict["doubts"]):
        return Score.INCONCLUSIVE
    return Score.WRONG if truth.accuses or _is_opposite(verdict, truth) else Score.OVERCONFIDENT


def _is_as_claimed(verdict: Verdict, truth: Truth) -> bool:
    if verdict["state"] == EQUAL:
        return True
    is_named = not truth.claim or any(word in verdict["claim"] for word in truth.claim)
    return is_named and truth.direction in (None, verdict["direction"]) and set(truth.block) <= set(verdict["subject"])


def _is_opposite(verdict: Verdict, truth: Truth) -> bool:
    opposite = {UP: DOWN, DOWN: UP}
    return truth.direction is not None and verdict["direction"] == opposite[truth.direction]


def score_answer(answer: Mapping[str, Any] | None, truth: Truth) -> Score:
    """The worst score among the verdicts of an answer's JSON. A command that refuses the data (None) claims nothing."""
    if answer is None:
        return Score.INCONCLUSIVE
    if "verdicts" not in answer:
        return Score.NO_VERDICT
    concerned = concerned_verdicts(answer["verdicts"], truth)
    if truth.absent:
        return Score.WRONG if concerned else Score.RIGHT
    if not concerned:
        return Score.RIGHT if truth.optional else Score.NO_VERDICT
    return max((score_verdict(verdict, truth) for verdict in concerned), key=SEVERITY.__getitem__)


def has_warning(answer: Mapping[str, Any], truth: Truth) -> bool:
    """Whether a verdict that answers the question carries a doubt, or a warning stands beside a comparison."""
    doubted = any(verdict["doubts"] for verdict in concerned_verdicts(answer.get("verdicts", ()), truth))
    comparisons = answer.get("comparisons", ())
    return doubted or any(item["warnings"] for item in comparisons) or bool(comparisons and answer["warnings"])


def holds_truth(answer: Mapping[str, Any], truth: Truth, value: float) -> bool | None:
    """Whether the interval of the verdict's estimate holds the true value; None where no interval is given."""
    for verdict in concerned_verdicts(answer.get("verdicts", ()), truth):
        estimate = verdict["estimate"]
        if estimate and estimate["low"] is not None and estimate["high"] is not None:
            return bool(estimate["low"] <= value <= estimate["high"])
    return None
