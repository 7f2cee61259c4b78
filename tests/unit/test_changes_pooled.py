"""Changes of several series together: found sooner than alone, in the series that changed, seldom without a change."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.changes.find import Break, Search, compute_newest_p_of, find_changes
from iosonde.changes.pooled import Pool, build_histories, find_changes_together, get_search_alone

K, SEARCH = 8, Search()
EVERY = tuple(range(K))


def draw_nights(n: int, seed: int, cross: float = 0.0, lasting: float = 0.0) -> np.ndarray:
    """K series around 100 with a CV of 3 %: ``cross`` correlated in each night, ``lasting`` from night to night."""
    rng = np.random.default_rng(seed)
    x = math.sqrt(cross) * rng.standard_normal((1, n)) + math.sqrt(1 - cross) * rng.standard_normal((K, n))
    for night in range(1, n):
        x[:, night] = lasting * x[:, night - 1] + math.sqrt(1 - lasting**2) * x[:, night]
    return 100 * (1 + 0.03 * x)


def build_pool(values: np.ndarray, groups=(EVERY,), signs=(1,) * K) -> Pool:
    return Pool(tuple(range(len(values))), values, signs, groups)


def find_together(values: np.ndarray, groups=(EVERY,), search: Search = SEARCH) -> list[tuple[Break, ...]]:
    return find_changes_together(list(values), [build_pool(values, groups)], search)


def test_the_pooled_value_is_the_mean_of_bloms_scores_with_their_signs():
    values = np.array([[1.0, 2, 3, 4], [8.0, 7, np.nan, 5]])
    pool = Pool((0, 1), values, (1, -1), ((0, 1),))
    four, three = (scipy_stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25)) for n in (4, 3))
    expected = [(four[0] + three[0]) / 2, (four[1] + three[1]) / 2, four[2], (four[3] + three[2]) / 2]
    assert pool.pool_scores((0, 1), 0, 4) == pytest.approx(expected)
    assert pool.pool_scores((1,), 1, 4) == pytest.approx([-two for two in (0.58946, 0.0, -0.58946)], abs=1e-4)
    assert np.isnan(values[1, 2]), "the values stay"


@pytest.mark.parametrize("cross", [0.0, 0.5])
def test_the_error_of_a_pooled_value_is_that_of_its_covariance(cross):
    pool = build_pool(draw_nights(4000, 3, cross))
    assert pool.pool_scores(EVERY, 0, 4000).std() == pytest.approx(math.sqrt((1 + 7 * cross) / 8), rel=0.06)


def test_a_change_of_all_is_found_sooner_than_today_and_in_each():
    """5 % at a CV of 3 %, six nights ago, nights correlated by 0.25: together in most, alone in few."""
    together = alone = 0
    for seed in range(12):
        values = draw_nights(206, seed, 0.25)
        values[:, 200:] *= 0.95
        together += sum(map(bool, find_together(values)))
        alone += sum(map(bool, find_changes(list(values), Search())))
    assert together >= 0.6 * 12 * K and alone <= 0.5 * together


def test_series_that_did_not_change_are_not_named():
    named, wrong = 0, 0
    for seed in range(20):
        values = draw_nights(120, seed, 0.5)
        values[:5, 100:] *= 0.93
        found = find_together(values, (EVERY, (0, 1, 2, 3, 4), (5, 6, 7)))
        named += sum(map(bool, found[:5]))
        wrong += any(found[5:])
    assert named >= 0.9 * 20 * 5 and wrong <= 3  # at most 5 % expected: 4 and more in 20 come with a chance of 1.6 %


def test_a_level_that_comes_back_is_found_twice_in_every_series():
    for seed in range(6):
        values = draw_nights(60, seed)
        values[:, 20:40] *= 0.8
        for changes in find_together(values):
            assert [abs(change.at - at) <= 1 for change, at in zip(changes, (20, 40), strict=True)] == [True, True]


def test_a_change_of_one_of_the_others_is_that_of_one():
    values = draw_nights(60, 4)
    values[2, 30:] *= 0.7
    found = find_together(values)
    assert [bool(changes) for changes in found] == [place == 2 for place in range(K)]
    assert found[2][0].together in (0, 1)


def test_the_numbers_of_a_change_that_is_found_together():
    values = draw_nights(206, 1)
    values[:, 200:] *= 0.95
    found = find_together(values)
    (change,) = found[0]
    assert change.together == sum(map(bool, found)) > 4 and change.first <= 200 <= change.last
    assert change.p <= 0.05 and 5 <= change.n_until_detected <= 6
    assert not any(find_together(values, search=Search(share=0.2))), "each change is smaller than what counts"


def test_a_series_that_lacks_nights_is_changed_at_its_own_place():
    values = draw_nights(130, 2)
    values[:, 100:] *= 0.9
    values[0, 90:95] = np.nan
    found = find_changes_together([row[np.isfinite(row)] for row in values], [build_pool(values)], Search())
    assert [changes[0].at for changes in found] == [95, *[100] * 7]


def test_what_gets_worse_may_go_up():
    values = draw_nights(206, 5, 0.2)
    values[:4, 200:] *= 0.95
    values[4:, 200:] *= 1.05
    signs = (1,) * 4 + (-1,) * 4
    pooled = find_changes_together(list(values), [build_pool(values, signs=signs)], Search())
    assert sum(map(bool, pooled)) >= 6
    assert sum(map(bool, find_together(values))) <= 2


def test_without_a_pool_a_series_has_all_of_the_rate():
    values = draw_nights(120, 6)
    values[0, 100:] *= 0.93
    assert find_changes_together(list(values), [], Search()) == find_changes(list(values), Search())
    assert get_search_alone(Search(), []) == Search()
    assert get_search_alone(Search(), [build_pool(values)]) == replace(Search(), rate=0.025)


@pytest.mark.slow
@pytest.mark.parametrize(("cross", "lasting"), [(0.5, 0.0), (0.0, 0.5), (0.5, 0.5)])
def test_a_year_of_pooled_looks_raises_few_false_alarms(cross, lasting):
    """The size by simulation: 12 years of a look every fifth day. At p = 0.2 at most 2.4 years are expected (7 and more
    come with a chance of 0.4 %), at 0.005 at most 0.06."""
    smallest = []
    for seed in range(12):
        year = draw_nights(365, 100 + seed, cross, lasting)
        looks = (build_histories([build_pool(year[:, :day])], Search())[0][2] for day in range(20, 366, 5))
        smallest.append(min(compute_newest_p_of(look, Search()) for look in looks))
    assert sum(p <= 0.2 for p in smallest) <= 6 and sum(p <= 0.005 for p in smallest) <= 1
