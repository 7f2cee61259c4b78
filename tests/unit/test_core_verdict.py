"""The doubts of verdicts: a closed list, of which every code is given by some command."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.core.types import Estimate
from iosonde.core.verdict import (
    DOUBTS,
    HARDLY_MATTERS,
    IN_INTERACTION,
    Direction,
    UncheckedClaim,
    Verdict,
    VerdictState,
    name_standing,
)

PACKAGE = Path(__file__).parents[2] / "python" / "iosonde"


def test_every_doubt_is_given_somewhere():
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "verdict.py")
    assert [code for code in DOUBTS if f'"{code}"' not in text] == []


def test_the_json_of_a_verdict_is_plain():
    made = Verdict(
        "difference",
        "write",
        ("a", "b"),
        VerdictState.DIFFERENT,
        Direction.UP,
        "",
        Estimate(2.0, 1.5, 2.5, 0.95, 6),
        0.001,
        2,
        ("order",),
    ).to_json()
    assert (made["state"], made["direction"], made["doubts"]) == ("different", "up", ["order"])
    assert made["estimate"]["low"] == 1.5
    assert Verdict("limit", "rate", (), VerdictState.NOT_TESTED).to_json()["direction"] is None


@pytest.mark.parametrize(
    ("state", "text", "standing"),
    [
        (VerdictState.DIFFERENT, "×1.06", "significant"),
        (VerdictState.EQUAL, "", "practically none"),
        (VerdictState.EQUAL, HARDLY_MATTERS, HARDLY_MATTERS),
        (VerdictState.INCONCLUSIVE, HARDLY_MATTERS, HARDLY_MATTERS),
        (VerdictState.INCONCLUSIVE, IN_INTERACTION, IN_INTERACTION),
        (VerdictState.INCONCLUSIVE, "×1.06", "inconclusive"),  # a ratio that a check withdrew
        (VerdictState.NOT_SEPARABLE, HARDLY_MATTERS, "not separable"),
    ],
)
def test_an_effect_has_one_standing_for_all_commands(state, text, standing):
    assert name_standing(UncheckedClaim("effect", "y", ("a",), state, claim=text)) == standing
