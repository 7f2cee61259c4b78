"""Claims become verdicts in one place, and only after their assumptions were checked."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from iosonde.core.verdict import DOUBTS, Direction, UncheckedClaim, VerdictState
from iosonde.stats.assumptions import (
    AssumptionCheck,
    CheckOutcome,
    doubtful,
    fails,
    find_deciding_check,
    holds,
    judge,
    judge_all,
    list_doubts,
    list_withdrawn_subjects,
    not_applicable,
)
from iosonde.stats.assumptions.remedies import REMEDIES
from iosonde.stats.assumptions.required import REQUIRED

ROOT = Path(__file__).parents[2]
DIFFERENT, EQUAL, INCONCLUSIVE = VerdictState.DIFFERENT, VerdictState.EQUAL, VerdictState.INCONCLUSIVE
NOT_TESTED, NOT_SEPARABLE = VerdictState.NOT_TESTED, VerdictState.NOT_SEPARABLE
CLAIM = UncheckedClaim("cause", "v", ("fs",), DIFFERENT, Direction.UP)
DRIFT = fails("drift", INCONCLUSIVE, "values drift")
TWIN = fails("goes-together", NOT_SEPARABLE, "host changes with fs", cause="host")
REST = holds(*REQUIRED[CLAIM.question])


def _is_verdict_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == "Verdict"


def test_only_judge_makes_verdicts():
    sources = [*(ROOT / "python").rglob("*.py"), *(ROOT / "packages").glob("*/iosonde_*/**/*.py")]
    texts = {path: text for path in sources if "Verdict(" in (text := path.read_text(encoding="utf-8"))}
    makers = {
        path.relative_to(ROOT / "python" / "iosonde").as_posix()
        for path, text in texts.items()
        if any(map(_is_verdict_call, ast.walk(ast.parse(text))))
    }
    assert makers == {"stats/assumptions/judge.py"}


@pytest.mark.parametrize(
    ("state", "checks", "expected", "deciding"),
    [
        (DIFFERENT, (), DIFFERENT, None),
        (DIFFERENT, (doubtful("order"),), DIFFERENT, None),
        (DIFFERENT, (TWIN,), NOT_SEPARABLE, TWIN),
        (DIFFERENT, (TWIN, DRIFT), INCONCLUSIVE, DRIFT),
        (EQUAL, (TWIN,), EQUAL, None),
        (EQUAL, (DRIFT,), INCONCLUSIVE, DRIFT),
        (INCONCLUSIVE, (TWIN,), INCONCLUSIVE, None),
        (INCONCLUSIVE, (DRIFT,), INCONCLUSIVE, DRIFT),
        (NOT_SEPARABLE, (TWIN,), NOT_SEPARABLE, TWIN),
        (NOT_SEPARABLE, (DRIFT,), INCONCLUSIVE, DRIFT),
        (NOT_TESTED, (DRIFT, TWIN), NOT_TESTED, None),
        (DIFFERENT, (DRIFT, fails("bring-ups", NOT_TESTED)), NOT_TESTED, fails("bring-ups", NOT_TESTED)),
    ],
)
def test_a_failed_assumption_decides_the_state(state, checks, expected, deciding):
    claim = replace(CLAIM, state=state)
    verdict = judge(claim, (*checks, *REST))
    assert find_deciding_check(state, checks) == deciding
    assert verdict.state is expected and verdict.doubts == list_doubts(checks)
    assert verdict.why == ("" if deciding is None else deciding.why)
    assert bool(verdict.remedy) is (expected not in (DIFFERENT, EQUAL))
    assert verdict.direction is (None if deciding and expected is not NOT_SEPARABLE else Direction.UP)


def test_a_verdict_keeps_its_claim_and_lists_what_was_checked():
    checks = (*holds("order"), *not_applicable("impossible"), doubtful("drift"), *holds("drift"), *REST)
    verdict = judge(CLAIM, checks)
    assert set(verdict.checked) == {"order", "impossible", "drift"} | REQUIRED["cause"]
    assert verdict.doubts == ("drift",) and (verdict.response, verdict.subject) == ("v", ("fs",))
    keys = ["doubts", "checked", "why", "remedy"]
    assert list(verdict.to_json())[-4:] == keys and verdict.to_json()["checked"] == list(verdict.checked)
    assert judge_all([CLAIM, CLAIM], checks) == (verdict, verdict)


@pytest.mark.parametrize("question", [question for question, codes in REQUIRED.items() if codes])
def test_an_unchecked_claim_is_a_defect(question):
    claim = replace(CLAIM, question=question)
    every = holds(*REQUIRED[question])
    assert judge(claim, every).state is DIFFERENT
    for place in range(len(every)):
        with pytest.raises(AssertionError):
            judge(claim, every[:place] + every[place + 1 :])


def test_a_check_concerns_its_columns_and_their_levels():
    own = doubtful("drift", subject=("fs",))
    for subject, concerned in ((("fs",), True), (("fs[nfs]",), True), (("fsx",), False), (("a", "fs"), True)):
        assert own.concerns(subject) is concerned
    assert DRIFT.concerns(("a",))
    assert judge(replace(CLAIM, subject=("size",)), (own, *REST)).doubts == ()


def test_differences_that_do_not_follow_are_withdrawn():
    other = replace(CLAIM, subject=("size",))
    check = fails("varies-besides", INCONCLUSIVE, subject=("fs",))
    assert list_withdrawn_subjects([CLAIM, other, replace(CLAIM, state=EQUAL)], [check]) == {"fs"}
    assert list_withdrawn_subjects([CLAIM], [doubtful("order")]) == frozenset()


def test_checks_and_remedies_use_the_list_of_doubts():
    assert set(REMEDIES) == set(DOUBTS) and all(codes <= set(DOUBTS) for codes in REQUIRED.values())
    for values in (("nothing", CheckOutcome.HOLDS), ("drift", CheckOutcome.FAILS)):
        with pytest.raises(AssertionError):
            AssumptionCheck(*values)
    with pytest.raises(AssertionError):
        AssumptionCheck("drift", CheckOutcome.HOLDS, instead=INCONCLUSIVE)
