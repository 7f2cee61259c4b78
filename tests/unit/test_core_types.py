"""An interval is cut to what can be, by one rule, which says so."""

from __future__ import annotations

import pytest

from iosonde.core.types import Estimate

BELOW = "the interval reaches below 0 and is cut there"
ABOVE = "the interval reaches above 1 and is cut there"


def test_an_interval_is_cut_to_what_can_be_and_says_so():
    made = Estimate(0.5, -0.2, 1.3, 0.95, 3, ("few",))
    assert made.within(low=0.0) == Estimate(0.5, 0.0, 1.3, 0.95, 3, ("few", BELOW))
    assert made.within(0.0, 1.0) == Estimate(0.5, 0.0, 1.0, 0.95, 3, ("few", BELOW, ABOVE))
    assert made.within() == made


def test_what_was_cut_once_is_not_warned_about_twice():
    made = Estimate(0.5, -0.2, 1.3, 0.95, 3).within(0.0, 1.0)
    assert made.within(0.0, 1.0) == made


@pytest.mark.parametrize("value", [-0.1, 1.2])
def test_an_interval_is_never_cut_past_its_value(value):
    made = Estimate(value, value - 0.1, value + 0.1, 0.95, 3).within(0.0, 1.0)
    assert made.low <= made.value <= made.high


def test_without_an_interval_there_is_nothing_to_cut():
    made = Estimate(0.5, None, None, 0.95, 1)
    assert made.within(0.0, 1.0) == made
