"""Changes of the newest few values, their places, and their return; a change of few series among many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.changes.all_changes import find_all_changes
from iosonde.changes.evidence import find_best_split
from iosonde.changes.find import Break, Search
from iosonde.changes.jumps import find_jumps
from iosonde.changes.places import compute_place_shares, locate
from iosonde.changes.pooled import Pool, find_changes_together
from iosonde.changes.returns import find_return

JUMPS = Search(rate=0.005)


def noise(n: int, seed: int = 1, sd: float = 1.5) -> np.ndarray:
    return 100 + sd * np.random.default_rng(seed).standard_normal(n)


def build_pool(values: np.ndarray) -> Pool:
    rows = tuple(range(len(values)))
    return Pool(rows, values, (1,) * len(values), (rows,))


def find_alone(values: np.ndarray) -> tuple[Break, ...]:
    return find_all_changes([values], [], Search())[0]


@pytest.mark.parametrize("seed", range(5))
def test_a_large_jump_takes_three_values(seed):
    series = [noise(63, 10 * seed + number) for number in range(4)]
    for values in series[:2]:
        values[60:] *= 0.7
    pools = [build_pool(np.array(series))]
    for n, places in ((62, []), (63, [60, 60])):
        jumps = find_jumps([values[:n] for values in series], pools, [()] * 4, JUMPS)
        assert [jump.at for several in jumps for jump in several] == places
    found = find_all_changes(series, pools, Search())
    assert [[change.at for change in changes] for changes in found] == [[60], [60], [], []]
    assert not any(find_changes_together(series, pools, Search())), "ranks alone do not show it yet"
    assert all(found[0][0].p <= JUMPS.rate and change.n_until_detected == 3 for (change,) in found[:2])


def test_two_equal_outliers_are_no_jump():
    values = noise(62)
    values[60:] *= 0.7
    assert find_alone(values) == ()
    values = np.append(values, noise(20, 2))
    assert all(find_alone(values[:n]) == () for n in range(63, values.size + 1))


def test_a_history_of_such_outliers_makes_a_jump_wait():
    values = noise(63)
    values[60:] *= 0.7
    assert find_jumps([values], [], [()], JUMPS)[0]
    values[[20, 40]] *= 0.6
    assert find_jumps([values], [], [()], JUMPS) == [[]]


def test_outliers_of_a_series_count_for_those_of_its_nights():
    values = np.array([noise(64, seed) for seed in range(2)])
    values[0, 60:] *= 0.7
    values[1, 10:60:7] *= 0.8
    alone, together = (find_jumps(list(values), pools, [()] * 2, JUMPS)[0] for pools in ([], [build_pool(values)]))
    assert alone and (not together or alone[0].p < together[0].p)


def test_a_jump_is_measured_from_the_newest_level():
    values = noise(90)
    values[60:87] *= 0.8
    assert [change.at for change in find_alone(values)] == [60, 87]  # back again


@pytest.mark.parametrize("size", [0.6, 0.7, 0.8])
@pytest.mark.parametrize("seed", range(6))
def test_a_change_keeps_its_place_while_nights_come(seed, size):
    series = [noise(60, 100 * seed + number) for number in range(8)]
    for values in series:
        values[49:] *= size
    for n in range(53, 57):  # the fourth night is too few for a step, which would take the one before along
        pools = [build_pool(np.array([values[:n] for values in series]))]
        found = find_all_changes([values[:n] for values in series], pools, Search())
        assert {change.at for changes in found for change in changes} == {49}
        assert {(change.first, change.last) for changes in found for change in changes} == {(49, 49)}


def test_the_bounds_of_the_last_place_reach_the_values_that_are_too_few():
    values = noise(60)
    values[56:] *= 0.8
    split = find_best_split(values, 5)
    assert split is not None and (split.at, split.last >= 56) == (55, True)
    assert locate(values, Break(0, 60, split.at, 0.001, 0.0, split.first, split.last)).at == 56


@pytest.mark.slow
@pytest.mark.parametrize("tails", ["t3", "outliers"])
def test_heavy_tails_are_rarely_jumps(tails):
    """15 years of 4 series with daily looks."""
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(15):
        shape = (4, 365)
        outliers = rng.standard_normal(shape) - 12 * (rng.random(shape) < 0.05)
        draws = rng.standard_t(3, shape) if tails == "t3" else outliers
        years = 100 + 3 * draws
        pool = build_pool(years)
        wrong += any(
            any(find_jumps(list(years[:, :n]), [replace(pool, values=years[:, :n])], [()] * 4, JUMPS))
            for n in range(25, 366)
        )
    assert wrong <= 1


def test_a_large_step_is_where_its_values_say():
    values = noise(60, 4)
    values[57:] *= 0.8
    values[56] = 98.0  # one of the lowest before
    ranks = Break(0, 60, 56, 0.001, 0.0, 52, 57)
    found = locate(values, ranks)
    assert (found.at, found.first, found.last) == (57, 57, 57)
    shares = compute_place_shares(values, ranks)
    assert np.argmax(shares) == 5 and sum(shares) == pytest.approx(1) and shares[5] > 0.95


def test_a_small_step_stays_where_ranks_put_it():
    values = noise(60, 4)
    values[30:] *= 0.97
    change = Break(0, 60, 29, 0.001, 0.0, 25, 33)
    assert locate(values, change) == change


def test_the_bounds_of_a_large_step_hold_its_place():
    held = 0
    for seed in range(40):
        values = noise(60, seed)
        values[40:] *= 0.94
        change = locate(values, Break(0, 60, 41, 0.001, 0.0, 36, 45))
        held += change.first <= 40 <= change.last
    assert held >= 38


@pytest.mark.parametrize(("end", "until"), [(44, 44), (60, 0)])
def test_a_change_is_measured_up_to_its_return(end, until):
    values = noise(60, 6)
    values[29:end] *= 0.93
    change = Break(0, 60, 29, 0.001, 0.0, 28, 30)
    assert find_return(values, change, 0, 60, Search()) == replace(change, until=until)


def test_a_level_between_both_is_no_return():
    values = noise(60, 6)
    values[29:] *= 0.86
    values[44:] *= 1.08
    change = Break(0, 60, 29, 0.001, 0.0, 28, 30)
    assert find_return(values, change, 0, 60, Search()) == change


def test_a_change_of_two_of_eight_series_is_found_sooner_with_sets():
    """All eight dilute it; their two strongest do not."""
    values = np.array([noise(80, seed, sd=3.0) for seed in range(50, 58)])
    values[:2, 68:] *= 0.92
    pool = build_pool(values)
    found = find_changes_together(list(values), [pool], Search())
    assert [bool(changes) for changes in found] == [True, True] + [False] * 6
    assert all(change.together == 2 for changes in found for change in changes)
