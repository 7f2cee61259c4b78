"""What is refused before anything starts comes from the terms, the machine's facts and the forecast, all of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from iosonde.campaign import preflight
from iosonde.campaign.amounts.trials import SpaceNeed, UncountedStep
from iosonde.campaign.forecast import Forecast
from iosonde.core.message import Message, spell_for_terminal
from iosonde.measure.spec import Terms
from iosonde.measure.target.space import Limits, Need, QuotaFree
from messages import raises


class Keeper:
    """Keeps what it was asked."""

    def check(self, *asked):
        self.asked = asked


def campaign(target=None, **terms):
    spec = SimpleNamespace(targets={} if target is None else {"": target})
    return SimpleNamespace(spec=spec, terms=Terms(**terms))


@pytest.fixture(autouse=True)
def a_trial_of_1000_bytes_and_10_files(monkeypatch):
    monkeypatch.setattr(preflight, "compute_space_needed", lambda _: SpaceNeed(1000, 10))


def test_a_target_is_asked_with_the_need_the_limits_and_what_the_quotas_leave():
    keeper = Keeper()
    facts = {"quota": [{"free_bytes": 5, "free_files": None}, {"free_bytes": 9, "free_files": 3}]}
    preflight.check_room(campaign("/t", max_bytes=1, max_files=2, max_seconds=3.0), 60.0, {"": facts}, keeper)
    assert keeper.asked == ("/t", Need(1000, 10, 60.0), Limits(1, 2, 3.0), QuotaFree(5, 3))


@pytest.mark.parametrize("terms", [{"max_bytes": 999}, {"max_files": 9}, {"max_seconds": 59.0}])
def test_limits_hold_without_a_target_too(terms):
    (name,) = terms
    with raises("over-limit") as error:
        preflight.check_room(campaign(**terms), 60.0, {}, Keeper())
    assert name in error.value.values and spell_for_terminal(name, "") in error.value.message


@pytest.mark.parametrize(
    ("terms", "uncounted", "seconds", "said"),
    [
        ({"max_seconds": 1.0}, 1, [None, None], ["max_seconds"]),
        ({"max_seconds": 9.0}, 1, [1.0, 2.0], []),
        ({"max_bytes": 1}, 1, [], ["max_bytes"]),
        ({"max_bytes": 1, "max_files": 1}, 2, [], ["max_bytes max_files", "max_bytes max_files"]),
        ({"max_bytes": 1, "max_files": 1, "max_seconds": 9.0}, 0, [1.0], []),
        ({}, 1, [None], []),
    ],
)
def test_a_limit_that_can_be_held_against_nothing_says_so(monkeypatch, terms, uncounted, seconds, said):
    step = UncountedStep(1, "mine", Message("unknown-amount", "the output of mine is unknown"))
    monkeypatch.setattr(preflight, "compute_space_needed", lambda _: SpaceNeed(0, 0, (step,) * uncounted))
    found = list(
        preflight.warn_of_unchecked_limits(campaign(**terms), Forecast(seconds, Message("forecast-basis", "")))
    )
    assert [(one.code, one.values["options"]) for one in found] == [("unchecked-limit", options) for options in said]
    assert all(spell_for_terminal(name, "") in one for one in found for name in one.values["options"].split())
