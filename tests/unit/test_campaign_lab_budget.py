"""The budget of a campaign in several labs: what is left goes to each, and none begins that would not be done."""

from __future__ import annotations

import pytest

from iosonde.campaign import in_lab
from iosonde.campaign.in_lab import LabBudget
from iosonde.core.units import format_seconds
from messages import assert_problem


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(in_lab.time, "monotonic", lambda: now[0])
    return now


def test_a_lab_is_begun_while_the_longest_one_would_still_be_done(clock):
    budget = LabBudget(60.0, began=clock[0])
    assert budget.has_room() and budget.words() == ("--budget", "60s")
    for took, left, room in ((25, "35s", True), (5, "30s", True), (10, "20s", False)):
        with budget.time_lab():
            clock[0] += took
        assert (budget.words()[1], budget.has_room()) == (left, room)
    assert_problem(budget.ended, "budget-exhausted", budget=format_seconds(60))


def test_without_a_budget_there_is_always_room(clock):
    budget = LabBudget(None, began=clock[0])
    clock[0] += 1e9
    assert budget.has_room() and budget.words() == ()


def test_the_last_second_is_no_room_for_a_lab_that_takes_it(clock):
    budget = LabBudget(60.0, began=clock[0], longest_s=20.0)
    clock[0] += 40.0
    assert budget.remaining_s() == 20.0 and not budget.has_room()
    clock[0] += 19.5
    assert budget.words() == ("--budget", "1s"), "a budget of nothing is none"
