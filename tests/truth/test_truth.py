"""Verdicts held against the truth: every trap, and a few draws of each cell. ``make truth`` draws them all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from . import bench
from .bench import all_cells, failures, score_traps
from .cells import FALSE, FOUND, INTERVAL, SILENCE, Cell, Tally, broken_promises, tally
from .pending import PENDING
from .scores import (
    DIFFERENT,
    DOWN,
    EQUAL,
    INCONCLUSIVE,
    NOT_SEPARABLE,
    NOT_TESTED,
    UP,
    Score,
    Truth,
    score_answer,
    truth,
)

THIN = 0.005  # of the draws
pytestmark = pytest.mark.slow


def check(asked: set[tuple[str, str]], beyond: dict[tuple[str, str], str]) -> None:
    """Nothing is beyond its limits but what is pending, and what is pending is."""
    assert {key: why for key, why in beyond.items() if key not in PENDING} == {}
    assert sorted(key for key in PENDING if key in asked and key not in beyond) == [], "mended: take it off pending.py"


@pytest.mark.long
def test_no_trap_has_a_wrong_or_overconfident_verdict():
    scores = score_traps()
    check(set(scores), failures(scores, ()))


def thin_cells() -> list[Cell]:
    """A few draws of what promises something; of slow commands every eighth."""
    slow = {"scale", "report", "fit"}
    chosen = [cell for cell in all_cells(THIN) if cell.promises]
    return [cell for place, cell in enumerate(chosen) if cell.question.command not in slow or place % 8 == 0]


@pytest.mark.long
def test_a_few_draws_keep_what_is_promised():
    tallies = [(cell, tally(cell, 0, cell.draws)) for cell in thin_cells()]
    beyond = {key: why for key, why in failures({}, tallies).items() if key not in PENDING}
    assert beyond == {}


def verdict(state, **more) -> dict[str, object]:
    """The JSON of a verdict."""
    plain = {
        "question": "difference",
        "response": "y",
        "subject": ["A", "B"],
        "direction": None,
        "claim": "",
        "estimate": None,
        "doubts": [],
    }
    return {"verdicts": [{**plain, "state": state, **more}]}


TWICE = truth("difference", DIFFERENT, direction=UP)
NONE = truth("difference", EQUAL, INCONCLUSIVE, faults=["order"])
SURE = replace(TWICE, denials=frozenset({INCONCLUSIVE}))
BLOCK = truth(
    "effect", DIFFERENT, NOT_SEPARABLE, subject=("a", "b"), block=("a", "b"), faults=["goes-together"], accuses=True
)


@pytest.mark.parametrize(
    ("answer", "true", "score"),
    [
        (verdict(DIFFERENT, direction="up"), TWICE, Score.RIGHT),
        (verdict(DIFFERENT, direction="down"), TWICE, Score.WRONG),
        (verdict(DIFFERENT), TWICE, Score.OVERCONFIDENT),
        (verdict(EQUAL), TWICE, Score.OVERCONFIDENT),
        (verdict(INCONCLUSIVE), TWICE, Score.INCONCLUSIVE),
        (verdict(NOT_TESTED), TWICE, Score.INCONCLUSIVE),
        (verdict(INCONCLUSIVE), SURE, Score.WRONG),
        (verdict(DIFFERENT, direction="down"), NONE, Score.OVERCONFIDENT),
        (verdict(DIFFERENT, doubts=["order"]), NONE, Score.INCONCLUSIVE),
        (verdict(DIFFERENT, doubts=["coarse-clock"]), NONE, Score.OVERCONFIDENT),
        (verdict(DIFFERENT), replace(NONE, accuses=True), Score.WRONG),
        (verdict(INCONCLUSIVE), NONE, Score.RIGHT),
        (verdict(DIFFERENT, question="effect", subject=["a", "b"]), BLOCK, Score.RIGHT),
        (verdict(DIFFERENT, question="effect", subject=["a"]), BLOCK, Score.WRONG),
        (verdict(DIFFERENT, question="effect", subject=["a"], doubts=["goes-together"]), BLOCK, Score.INCONCLUSIVE),
        (verdict(NOT_SEPARABLE, question="effect", subject=["b"]), BLOCK, Score.RIGHT),
        (verdict(DIFFERENT, question="effect", subject=["c"]), BLOCK, Score.NO_VERDICT),
        (verdict(DIFFERENT, question="effect", subject=["c"]), replace(BLOCK, absent=True), Score.RIGHT),
        (verdict(INCONCLUSIVE, question="effect", subject=["b"]), replace(BLOCK, absent=True), Score.WRONG),
        (
            verdict(DIFFERENT, direction=DOWN, claim="fs=B"),
            truth("difference", DIFFERENT, claim=("fs=A",)),
            Score.OVERCONFIDENT,
        ),
        ({}, NONE, Score.NO_VERDICT),
        (None, NONE, Score.INCONCLUSIVE),
    ],
)
def test_score_of_a_verdict(answer, true: Truth, score):
    assert score_answer(answer, true) is score


def test_the_worst_of_several_verdicts_counts():
    both = {"verdicts": verdict(INCONCLUSIVE)["verdicts"] + verdict(DIFFERENT)["verdicts"]}
    assert score_answer(both, NONE) is Score.OVERCONFIDENT


def a_tally(scores: dict[Score, int], **more: int) -> Tally:
    return Tally(Counter(scores), **more)


@pytest.mark.parametrize(
    ("promise", "kept", "broken"),
    [
        (FALSE, a_tally({Score.RIGHT: 1880, Score.OVERCONFIDENT: 120}), a_tally({Score.RIGHT: 1860, Score.WRONG: 140})),
        (
            INTERVAL,
            a_tally({Score.RIGHT: 2000}, held=1870, intervals=2000),
            a_tally({Score.RIGHT: 2000}, held=1850, intervals=2000),
        ),
        (SILENCE, a_tally({Score.RIGHT: 2000}, warned=90), a_tally({Score.RIGHT: 2000}, warned=110)),
        (
            FOUND,
            a_tally({Score.RIGHT: 1900, Score.INCONCLUSIVE: 100}),
            a_tally({Score.RIGHT: 1780, Score.INCONCLUSIVE: 220}),
        ),
        (FALSE, a_tally({Score.RIGHT: 34, Score.WRONG: 6}), a_tally({Score.RIGHT: 30, Score.WRONG: 10})),
        (INTERVAL, a_tally({Score.RIGHT: 40}, held=36, intervals=40), a_tally({Score.RIGHT: 40})),
    ],
)
def test_a_promise_is_broken_beyond_its_limit_and_chance_is_allowed_for(promise, kept, broken):
    cell = replace(all_cells(THIN)[0], promises=frozenset({promise}))
    assert broken_promises(cell, kept) == [] and len(broken_promises(cell, broken)) == 1


def test_a_command_without_verdicts_is_beyond_its_limits():
    cell = all_cells(THIN)[0]
    assert broken_promises(cell, a_tally({Score.NO_VERDICT: 1})) == [Score.NO_VERDICT]


def test_the_page_gets_new_tables_and_keeps_its_words(tmp_path, monkeypatch, capsys):
    page = tmp_path / "truth.md"
    page.write_text("# Title\n\nWords.\n\n## Traps\n\nold\n")
    monkeypatch.setattr(bench, "all_cells", lambda scale=1.0: [])
    assert bench.main(["--only", "anscombe-1", "--table", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("# Title\n\nWords.\n\n## Traps\n\n| trap |") and "\nold\n" not in text
    assert text.count("anscombe-1") == 1 and "1 traps asked" in capsys.readouterr().out


def test_a_cell_beyond_its_limits_ends_with_code_1_unless_it_is_pending(monkeypatch, capsys):
    key = ("regress", "anscombe-1")
    monkeypatch.setattr(bench, "all_cells", lambda scale=1.0: [])
    for score, pending, code in (
        (Score.WRONG, {}, 1),
        (Score.WRONG, {key: "a review"}, 0),
        (Score.RIGHT, {}, 0),
        (Score.RIGHT, {key: "a review"}, 1),
    ):
        monkeypatch.setattr(bench, "score_traps", lambda words, score=score: {key: score})
        monkeypatch.setattr(bench, "PENDING", pending)
        assert bench.main([]) == code
    capsys.readouterr()
