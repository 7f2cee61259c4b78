"""What would settle a question that is open: other data, never an option of a command."""

from iosonde.core.message import Message
from iosonde.core.verdict import VerdictState

_TEXTS = {
    "varies-besides": "hold the other columns fixed, or analyse them as well",
    "goes-together": "measure settings in which the two columns change apart",
    "order": "measure the settings alternately, or in random order",
    "drift": "measure the settings alternately, or in random order",
    "dependent": "more trials, farther apart in time",
    "subsamples": "a column that names the trial of each row",
    "few-trials": "at least 2 trials per setting",
    "missing-values": "measure what is missing",
    "selected": "measure all units again, or units drawn at random",
    "coarse-clock": "longer trials, so that each takes thousands of ticks",
    "cells-differ": "compare the sides within each cell",
    "lack-of-fit": "another model, or levels in between",
    "extrapolated": "measure the levels in question",
    "leverage": "more trials near the row that decides",
    "impossible": "correct the unit, or drop the cache before each trial",
    "bring-ups": "several bring-ups per setting",
    "within-run": "several runs per setting",
    "not-corrected": "repeat the test on new data",
    "other-tests": "ask for this metric alone before measuring, or more trials per setting",
}

REMEDIES = {code: Message(f"remedy-{code}", text) for code, text in _TEXTS.items()}
"""Assumption → what would make it hold."""

_OF_STATES = {
    VerdictState.INCONCLUSIVE: Message("remedy-inconclusive", "more trials per setting"),
    VerdictState.NOT_TESTED: Message("remedy-not-tested", "more trials per setting, each brought up anew"),
    VerdictState.NOT_SEPARABLE: REMEDIES["goes-together"],
}


def remedy_of_state(state: VerdictState) -> str | Message:
    """Return what would settle a question whose assumptions hold; '' if nothing is open."""
    return _OF_STATES.get(state, "")
