"""The doubts of verdicts: a closed list, of which every code is given by some command."""

from __future__ import annotations

from pathlib import Path

from iosonde.core.types import Estimate
from iosonde.core.verdict import DOUBTS, Direction, Verdict, VerdictState

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
