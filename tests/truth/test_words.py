"""A text and its states say the same: no sentence claims what no verdict of the answer holds."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli

from .ask import answer_and_text
from .pending import PENDING_WORDS
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, NOT_SEPARABLE, NOT_TESTED, VerdictState
from .traps import all_traps

# The words by which a command claims a state of the questions that they are about.
CLAIMS: dict[str, tuple[tuple[str, ...], dict[VerdictState, str]]] = {
    "compare": (
        ("difference",),
        {
            DIFFERENT: r"\bis (faster|slower|more|less) than\b",
            EQUAL: r"\bpractically equal\b",
            INCONCLUSIVE: r"\bCannot tell whether\b|\b[Ii]nconclusive\b(?! at \d)",  # but not a row of other levels
            NOT_SEPARABLE: r"\bcannot be separated\b(?! here)",  # but not a remark on sides that are not tested
        },
    ),
    "scale": (("limit",), {EQUAL: r"\bno limit detected\b", DIFFERENT: r"\bThere is a limit\b|\brate falls beyond\b"}),
    "summary": (
        ("effect",),
        {
            DIFFERENT: r"\bmatters?( most)?: ",
            NOT_TESTED: r"\b[Nn]ot tested\b",
            NOT_SEPARABLE: r"\bcannot be (separated|told apart)\b|\bgo together\b|\bare confounded\b",
        },
    ),
    "rank": (("effect",), {DIFFERENT: r" first \(", NOT_TESTED: r"\b[Nn]ot tested\b"}),
    "regress": (("slope",), {DIFFERENT: r"significant effects: "}),
}


def asked(command: str) -> list[tuple[str, set[str], str]]:
    """(trap, states of the command's questions, text on one line) of every trap."""
    questions, _ = CLAIMS[command]
    found = []
    for trap in all_traps():
        for one in trap.questions:
            answer, text = answer_and_text(trap.csv, one) if one.command == command else (None, "")
            if answer is not None:
                states = {verdict["state"] for verdict in answer["verdicts"] if verdict["question"] in questions}
                found.append((trap.name, states, " ".join(text.split())))
    return found


@pytest.mark.parametrize("command", sorted(CLAIMS))
def test_no_sentence_claims_what_no_verdict_holds(command):
    answers, claimed = asked(command), set()
    for state, words in CLAIMS[command][1].items():
        claimed |= {(command, name) for name, states, text in answers if re.search(words, text) and state not in states}
        assert any(re.search(words, text) for _, _, text in answers), f"nothing claims '{state}' by {words}"
    assert claimed == {key for key in PENDING_WORDS if key[0] == command}, "words and verdict disagree, or are mended"


def test_the_terminal_prints_the_verdicts_that_python_gives(tmp_path):
    trap = next(trap for trap in all_traps() if trap.name == "simpson")
    path = tmp_path / "simpson.csv"
    path.write_text(trap.csv)
    words = ["compare", str(path), "--group", "fs", "A", "B", "--response", "MBps", "--json"]
    printed = json.loads(CliRunner().invoke(cli, words).stdout)["verdicts"]
    assert printed == iosonde.compare(path, "fs", ["A", "B"], response="MBps").to_dict()["verdicts"] and printed
