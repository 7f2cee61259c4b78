"""The hour-of-day pattern: estimated where there is one, from enough days, and not bent by a change."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.changes.daily import MIN_DAYS, MIN_WEEKS, WEEK_H, estimate_daily_pattern
from iosonde.changes.find import Search, find_changes

BUSY = np.where((np.arange(24) >= 9) & (np.arange(24) < 18), 1.8, 1.0)


def looks(days: float, seed: int = 1, cv: float = 0.1, pattern: np.ndarray = BUSY, per_hour: int = 6):
    """Hours since an epoch, and latencies with a pattern."""
    rng, hours = np.random.default_rng(seed), np.arange(int(days * 24 * per_hour)) / per_hour
    return hours, 0.005 * pattern[hours.astype(int) % 24] * np.exp(cv * rng.standard_normal(hours.size))


def test_a_pattern_is_estimated_and_taken_out():
    hours, values = looks(10)
    pattern = estimate_daily_pattern(values, hours)
    assert pattern.days == 10 and pattern.ratio == pytest.approx(1.8, rel=0.12) and 9 <= pattern.peak_hour < 18
    adjusted = pattern.remove_from(values, hours)
    assert np.std(np.log(adjusted)) == pytest.approx(0.1, rel=0.1)
    assert np.exp(np.log(adjusted).mean()) == pytest.approx(np.exp(np.log(values).mean()), rel=1e-6)


@pytest.mark.parametrize(
    ("hours", "values"),
    [
        looks(MIN_DAYS - 1),
        looks(28, pattern=np.ones(24)),
        (np.arange(90) * 24.0 + 2, looks(90, per_hour=1)[1][::24]),
        (looks(10)[0], looks(10)[1] - 0.006),
        (np.array([]), np.array([])),
    ],
    ids=["too few days", "no pattern", "one look a night", "values below 0", "nothing"],
)
def test_where_there_is_no_pattern_to_be_known_none_is_taken_out(hours, values):
    assert estimate_daily_pattern(values, hours) is None


def test_a_change_stays_in_the_values_however_new_it_is():
    hours, values = looks(7)
    values[-6:] *= 1.2
    adjusted = estimate_daily_pattern(values, hours).remove_from(values, hours)
    assert adjusted[-6:].mean() / adjusted[:-6].mean() == pytest.approx(1.2, rel=0.08)


def test_hours_without_looks_keep_their_values():
    hours, values = looks(10)
    awake = (hours % 24) >= 6
    pattern = estimate_daily_pattern(values[awake], hours[awake])
    assert pattern is not None and np.all(pattern.factors[:6] == 1)


def test_a_busy_afternoon_is_a_change_only_with_its_pattern():
    hours, values = looks(5)
    adjusted = estimate_daily_pattern(values, hours).remove_from(values, hours)
    assert len(find_changes([values], Search())[0]) >= 5
    assert find_changes([adjusted], Search()) == [()]


def look_at_quiet_weekends(weeks: int, seed: int = 1):
    """As ``looks``, without the busy hours on two days of seven."""
    hours, values = looks(7 * weeks, seed, cv=0.05)
    is_quiet = (hours // 24) % 7 >= 5
    return hours, np.where(is_quiet, values / BUSY[hours.astype(int) % 24], values)


@pytest.mark.parametrize("seed", range(3))
def test_a_quiet_weekend_is_taken_out_once_there_are_enough_weeks(seed):
    hours, values = look_at_quiet_weekends(MIN_WEEKS, seed)
    pattern = estimate_daily_pattern(values, hours)
    assert pattern.weeks == MIN_WEEKS and pattern.factors.size == WEEK_H
    adjusted = pattern.remove_from(values, hours)
    assert np.std(np.log(adjusted)) < 0.08
    assert np.exp(np.log(adjusted).mean()) == pytest.approx(np.exp(np.log(values).mean()), rel=0.01)
    assert find_changes([adjusted], Search()) == [()] != find_changes([values], Search())
    assert estimate_daily_pattern(*look_at_quiet_weekends(MIN_WEEKS - 1, seed)[::-1]).weeks == 0


def test_weeks_that_are_alike_have_no_pattern_of_their_own():
    assert not any(estimate_daily_pattern(*looks(28, seed)[::-1]).weeks for seed in range(10))


def test_a_change_in_the_last_days_is_no_part_of_the_week():
    hours, values = look_at_quiet_weekends(4)
    values[-2 * 144 :] *= 1.2
    adjusted = estimate_daily_pattern(values, hours).remove_from(values, hours)
    assert adjusted[-2 * 144 :].mean() / adjusted[: -2 * 144].mean() == pytest.approx(1.2, rel=0.03)
