"""Suspected changes: by one look alone, with the values that would settle them."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.changes.find import Search, SearchedValues, find_changes, search_newest
from iosonde.changes.suspected import MOST, find_suspected

SEARCH = Search()


def noise(n: int, seed: int, share: float = 0.02) -> np.ndarray:
    return 100 * (1 + share * np.random.default_rng(seed).standard_normal(n))


def suspect(values: np.ndarray, several: int = 1):
    series = [values, *(noise(values.size, 50 + other) for other in range(several - 1))]
    return find_suspected(series, (), find_changes(series, SEARCH), SEARCH)[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_suspected_before_it_is_settled_by_the_number_that_was_said(seed):
    values = noise(90, seed)
    values[60:] *= 0.92
    first = next(end for end in range(62, 80) if suspect(values[:end]))
    settled = next(end for end in range(62, 90) if find_changes([values[:end]], SEARCH)[0])
    assert first < settled
    suspicion = suspect(values[:first])
    assert abs(suspicion.change.at - 60) <= 3 and 1 <= suspicion.remaining <= 15
    assert first + suspicion.remaining == pytest.approx(settled, abs=6)
    assert suspect(values[: settled + 1]) is None, "a change is no suspicion"


def test_more_series_need_more_values():
    values = noise(63, 1)
    values[60:] *= 0.92
    few, many = suspect(values), find_suspected([values] * 40, (), [()] * 40, SEARCH)[0]
    assert few and many and many.remaining > few.remaining


def test_nothing_is_suspected_of_old_or_small_steps_and_a_step_that_will_not_count_says_so():
    old = noise(90, 3)
    old[40:] *= 0.9
    assert suspect(old) is None
    small = noise(80, 3, 0.001)
    small[70:] *= 0.98
    assert suspect(small) is None
    assert MOST > 20


def test_few_looks_at_what_does_not_change_raise_a_suspicion():
    n_suspected = sum(suspect(noise(60, seed)) is not None for seed in range(300))
    assert n_suspected <= 25  # 5 % of 300, with 95 % of the binomial distribution below 22


def test_the_newest_values_are_searched_alone():
    segments = []
    history = SearchedValues(365, lambda begin, end: segments.append((begin, end)))
    assert search_newest([history], SEARCH) == [()]
    assert {end for _, end in segments} == {365} and len(segments) <= 12
