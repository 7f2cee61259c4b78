"""A campaign whose number of trials a rule fixed says which slow mode its trials can have missed."""

from __future__ import annotations

import pytest

from iosonde.campaign.run import CampaignOutcome
from iosonde.campaign.trials import Ended
from iosonde.core.message import Message
from iosonde.core.types import Experiment, Trial
from messages import codes, with_code


def remarks(repetitions: int, until: str | None = "ci<5%", early: str = "") -> list[Message]:
    trials = [Trial(n, {"nodes": 1}, n, n, n) for n in range(repetitions)]
    settings = {} if until is None else {"until": until}
    experiment = Experiment("e", "e", [], settings, trials, 1, "2026-11-21T10:00:00Z")
    return CampaignOutcome("s", experiment, Ended(early, repetitions, 0, experiment)).remarks()


@pytest.mark.parametrize(("repetitions", "missed"), [(6, 53), (12, 28), (28, 5)])
def test_trials_of_a_rule_say_what_they_miss(repetitions, missed):
    remark = with_code(remarks(repetitions), "rare-mode")
    assert (remark.values["n"], remark.values["one_in"]) == (repetitions, pytest.approx(10))
    assert remark.values["missed_percent"] == pytest.approx(missed, abs=0.5) and f"{missed} %" in remark


def test_enough_trials_a_fixed_number_and_an_early_end_say_nothing_of_it():
    for said in (remarks(29), remarks(6, until=None), remarks(6, early="the budget")):
        assert "rare-mode" not in codes(said)
