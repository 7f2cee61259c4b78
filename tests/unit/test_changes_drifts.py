"""A level that drifts is a change, too: found, measured, told from a step, and seldom seen where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.changes.all_changes import find_all_changes
from iosonde.changes.drifts import (
    compute_trend_p,
    estimate_drift,
    estimate_sen_slope,
    find_drifts,
    fit_sen_line,
    measure_trend,
)
from iosonde.changes.find import Break, Search
from iosonde.changes.pooled import Pool
from iosonde.changes.suspected import find_suspected

RARE = Search(rate=0.005)


def noise(n: int, seed: int = 1, sd: float = 1.5) -> np.ndarray:
    return 100 + sd * np.random.default_rng(seed).standard_normal(n)


def wander(n: int, seed: int, rho: float) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal(n)
    for place in range(1, n):
        x[place] += rho * x[place - 1]
    return 100 + 1.5 * x


def drift(n: int, start: int = 0, share: float = -0.002) -> np.ndarray:
    return np.exp(share * np.maximum(0, np.arange(n) - start))


def find_alone(values: np.ndarray) -> tuple[Break, ...]:
    return find_all_changes([values], [], Search())[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_drift_of_all_series_is_one_change_of_each(seed):
    series = [noise(60, 10 * seed + number) * drift(60) for number in range(8)]
    rows = tuple(range(8))
    pool = Pool(rows, np.array(series), (1,) * 8, (rows,))
    found = find_all_changes(series, [pool], Search())
    assert [len(changes) for changes in found] == [1] * 8
    assert all(change.is_drift and change.end == 60 and change.first <= 6 for (change,) in found)
    assert not any(find_suspected(series, [pool], found, Search())), "no double report"
    lasting = [noise(60, 10 * seed + number) for number in range(8)]
    assert not any(find_all_changes(lasting, [Pool(rows, np.array(lasting), (1,) * 8, (rows,))], Search()))


def test_a_drift_that_begins_later_has_its_place():
    (change,) = find_alone(noise(100, 3) * drift(100, 55))
    assert change.is_drift and change.first <= 56 <= change.last and abs(change.at - 56) <= 8


@pytest.mark.parametrize(("place", "seed"), [(20, 1), (30, 2), (40, 3)])
def test_a_step_is_no_drift(place, seed):
    values = noise(60, seed)
    values[place:] *= 0.93
    assert [change.is_drift for change in find_alone(values)] == [False]


def test_a_staircase_is_no_drift():
    values = noise(120, 7, sd=1.0) * np.repeat([1.0, 0.95, 0.9], 40)
    assert [(change.at, change.is_drift) for change in find_alone(values)] == [(40, False), (80, False)]


def test_a_drift_that_is_too_small_to_matter_is_no_change():
    values = noise(200, sd=0.3) * drift(200, share=-0.0001)
    assert find_alone(values) == () and find_all_changes([values], [], Search(share=0.01))[0]


def test_a_drift_stays_when_it_is_repaired():
    values = noise(90, 5)
    values[:60] *= drift(60)
    fall, repair = find_alone(values)
    assert fall.is_drift and fall.end == repair.at and not repair.is_drift and abs(repair.at - 60) <= 1


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_a_series_that_wanders_seldom_drifts(rho):
    series = [wander(120, seed, rho) for seed in range(30)]
    assert not any(find_drifts(series, [], [()] * 30, RARE, 0.05))


def test_the_slope_of_scores_is_that_of_least_squares():
    values = noise(40, 2) * drift(40)
    scores = np.argsort(np.argsort(values))
    z, correlation = measure_trend(values)
    assert z < 0 and 0 <= correlation < 0.95
    assert measure_trend(-values)[0] == pytest.approx(-z) and measure_trend(np.exp(values / 10))[0] == pytest.approx(z)
    assert abs(z) > 3 and scipy_stats.kendalltau(np.arange(40), scores).pvalue < 0.01
    assert measure_trend(np.ones(30)) == (0.0, 0.0)
    assert measure_trend(values, 0.9)[1] == 0.9 and abs(measure_trend(values, 0.9)[0]) < abs(z)


def test_the_chance_over_looks_is_about_what_is_simulated():
    """Windows of 20 and 28 values of independent noise at any of 365 looks."""
    rng, z, n_years = np.random.default_rng(4), 4.0, 2000
    over = np.zeros(n_years, bool)
    years = rng.standard_normal((n_years, 365 + 28))
    for length in (20, 28):
        x = np.arange(length) - (length - 1) / 2
        windows = np.lib.stride_tricks.sliding_window_view(years, length, axis=1)
        over |= (np.abs(windows @ x) / np.sqrt(x @ x) > z).any(axis=1)
    assert over.mean() <= compute_trend_p(z, 365, 20) <= 6 * over.mean()
    assert compute_trend_p(0.5, 365, 20) == 1.0 and compute_trend_p(np.inf, 365, 20) == 0.0


def test_sen_slope_and_interval_are_those_of_scipy():
    values = noise(50, 8) * drift(50)
    expected = scipy_stats.theilslopes(values, alpha=0.95)
    slope, low, high = estimate_sen_slope(values, 0.0, 0.95)
    assert slope == pytest.approx(expected.slope) == fit_sen_line(values)[0]
    assert (low, high) == (pytest.approx(expected.low_slope, rel=0.03), pytest.approx(expected.high_slope, rel=0.03))
    _, wide_low, wide_high = estimate_sen_slope(values, 0.5, 0.95)
    assert wide_low < low < high < wide_high


def test_the_levels_of_a_drift_are_those_of_its_ends():
    values = 100 * (1 - 0.002 * np.arange(60)) + 0.1 * np.cos(np.arange(60) * 7)
    levels, slope = estimate_drift(values, 0.0, 0.95)
    assert levels.before.value == pytest.approx(100, abs=0.2) and levels.after.value == pytest.approx(88.2, abs=0.2)
    assert levels.ratio.value == pytest.approx(0.882, abs=0.003)
    assert slope.value == pytest.approx(-0.002, rel=0.05) and slope.low <= slope.value <= slope.high
    assert estimate_drift(values - 100, 0.0, 0.95)[1].value is None


@pytest.mark.parametrize("seed", range(4))
def test_series_that_drift_together_have_one_start(seed):
    """Alone, half of them seem to drift from the first night on."""
    series = [noise(60, 10 * seed + number) for number in range(8)]
    for number in (3, 7):
        series[number] *= 1 - 0.0015 * np.maximum(0, np.arange(60) - 20)
    rows = tuple(range(8))
    pool = Pool(rows, np.array(series), (1,) * 8, (rows, (3, 7)))
    found = find_all_changes(series, [pool], Search())
    drifts = [change for number in (3, 7) for change in found[number] if change.is_drift]
    assert len({change.at for change in drifts}) <= 1
    assert all(change.first <= 21 <= change.last and change.at > 5 for change in drifts) and (seed > 1 or drifts)


@pytest.mark.parametrize("seed", [3, 17])
def test_a_step_that_many_series_share_is_no_drift_of_some(seed):
    values = 100 * (1 + 0.03 * np.random.default_rng([seed, 12, 1]).standard_normal((12, 60)))
    values[:, 42:] *= 0.95
    groups = (tuple(range(12)), *(tuple(range(4 * row, 4 * row + 4)) for row in range(3)))
    pool = Pool(tuple(range(12)), values, (1,) * 12, (*groups, *(tuple(range(row, 12, 4)) for row in range(4))))
    found = find_all_changes(list(values), [pool], Search())
    assert sum(bool(changes) for changes in found) >= 10
    assert not any(change.is_drift for changes in found for change in changes)
