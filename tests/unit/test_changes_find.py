"""Changes of a series: found where they are, not found where there is none, also with autocorrelation and skew."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from iosonde.changes.evidence import (
    compute_normal_scores,
    compute_split_p,
    compute_variance_inflation,
    find_best_split,
)
from iosonde.changes.find import Search, compute_least_values, compute_newest_p, estimate_levels, find_changes
from iosonde.stats.estimate.multiple import find_discovery_p_limit

sys.path.append(str(Path(__file__).parents[2] / "benches"))


def noise(n: int, seed: int = 1, mean: float = 100.0, sd: float = 3.0) -> np.ndarray:
    return mean + sd * np.random.default_rng(seed).standard_normal(n)


def correlated(n: int, rho: float, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal(n)
    for i in range(1, n):
        x[i] = rho * x[i - 1] + math.sqrt(1 - rho**2) * x[i]
    return 100 + 3 * x


def test_scores_are_normal_whatever_the_values_and_ties_share_theirs():
    x = np.exp(noise(101, sd=5.0, mean=0))
    assert np.allclose(np.sort(compute_normal_scores(x)), np.sort(compute_normal_scores(x**3)))
    assert abs(compute_normal_scores(x).mean()) < 1e-12 and 0.95 < compute_normal_scores(x).std() < 1
    scores = compute_normal_scores(np.array([1.0, 2.0, 2.0, 3.0]))
    assert scores[1] == scores[2] == pytest.approx(0) and scores[0] == -scores[3]


def test_the_variance_of_a_mean_of_neighbours():
    rho, n = 0.5, 7
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    assert compute_variance_inflation(rho, n)[n] == pytest.approx((rho**lags).sum() / n)
    assert np.allclose(compute_variance_inflation(0.0, 5), 1)


def test_a_step_is_found_where_it_is():
    x = noise(200)
    x[120:] *= 0.93
    (found,) = find_changes([x], Search())[0]
    assert abs(found.at - 120) <= 2 and found.first <= 120 <= found.last and found.p < 1e-9
    assert 5 <= found.n_until_detected <= 30


def test_a_dip_that_ends_is_two_changes():
    x = noise(300)
    x[100:140] *= 0.88
    first, second = find_changes([x], Search())[0]
    assert abs(first.at - 100) <= 2 and abs(second.at - 140) <= 2


def test_a_step_that_is_too_small_to_matter_is_no_change():
    x = noise(400, sd=1.0)
    x[200:] *= 0.98
    assert find_changes([x], Search())[0] == () and find_changes([x], Search(share=0.01))[0]


def test_nothing_is_said_of_few_or_equal_values():
    assert find_best_split(noise(9), 5) is None and find_best_split(np.full(50, 3.0), 5) is None
    enough = compute_least_values(Search(), 48)
    assert 20 < enough < 60 and compute_least_values(Search(), 1) < enough
    x = noise(enough - 1)
    x[enough // 2 :] += 500
    assert find_changes([x] + [noise(300, seed) for seed in range(47)], Search())[0] == ()


def test_autocorrelation_is_no_change():
    """What the same statistic without it says of these series is an alarm in most of them."""
    series = [correlated(365, 0.8, seed) for seed in range(30)]
    assert sum(map(bool, find_changes(series, Search()))) == 0
    naive = [abs(find_best_split(np.random.default_rng(7).permutation(x), 5).correlation) for x in series]
    found = [find_best_split(x, 5).correlation for x in series]
    assert np.mean(found) == pytest.approx(0.8, abs=0.06) and np.mean(naive) < 0.1


def test_the_scale_is_that_of_a_permutation_of_moving_blocks():
    """A second way to the standard error of a difference of means: blocks long enough, drawn 2000 times."""
    x, rng, at, length = compute_normal_scores(correlated(1200, 0.5, 3)), np.random.default_rng(5), 600, 40
    drawn = []
    for _ in range(2000):
        starts = rng.integers(0, x.size - length + 1, x.size // length)
        mixed = np.concatenate([x[start : start + length] for start in starts])
        drawn.append(mixed[at:].mean() - mixed[:at].mean())
    worth = compute_variance_inflation(0.5, 1200)
    theory = x.std() * math.sqrt(worth[at] / at + worth[at] / at)
    assert np.std(drawn) == pytest.approx(theory, rel=0.15)


def test_the_chance_over_looks_is_never_below_what_is_simulated():
    """Independent normal values, windows of 5 to 14 after a long past: any look of 365 above the threshold."""
    rng, z = np.random.default_rng(11), 3.8
    x = rng.standard_normal((400, 365))
    sums = np.concatenate([np.zeros((400, 1)), np.cumsum(x, axis=1)], axis=1)
    over = np.zeros(400, bool)
    for m in range(5, 15):
        over |= (np.abs(sums[:, m:] - sums[:, :-m]) / math.sqrt(m) > z).any(axis=1)
    assert over.mean() <= compute_split_p(z, 365, 5, 14) <= 6 * over.mean()


def test_levels_know_the_correlation():
    x, y = noise(40, 1), noise(30, 2, mean=90)
    plain, wide = estimate_levels(x, y, 0.0, 0.95), estimate_levels(x, y, 0.5, 0.95)
    assert plain.ratio.value == pytest.approx(y.mean() / x.mean()) == wide.ratio.value
    assert wide.ratio.high - wide.ratio.low > 1.5 * (plain.ratio.high - plain.ratio.low)
    assert plain.before.low < plain.before.value < plain.before.high and plain.before.n == 40


def test_discoveries_of_benjamini_and_hochberg():
    """The example of their paper, table 1: 4 of 15 at 5 %."""
    paper = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert find_discovery_p_limit(paper, 0.05) == pytest.approx(0.05 * 4 / 15)  # which lies between 0.0095 and 0.0201
    assert find_discovery_p_limit([0.5, 0.9], 0.05) == 0.025


def test_a_change_of_many_series_is_told_sooner_than_one_alone():
    series = [noise(160, seed) for seed in range(48)]
    shifted = [np.where(np.arange(160) >= 150, 0.955 * x, x) for x in series]
    alone = find_changes([shifted[0], *series[1:]], Search())
    together = find_changes(shifted[:24] + series[24:], Search())
    assert sum(map(bool, together[:24])) > 24 * 0.3 and sum(map(bool, together[24:])) <= 2
    assert sum(map(bool, alone[1:])) == 0


def test_old_changes_of_others_make_no_new_alarm_likelier():
    """A step that is told beside others of the same day, and not beside those of last month."""
    quiet = [noise(160, seed) for seed in range(48)]
    now = np.where(np.arange(160) >= 151, 0.955, 1.0)
    then = np.where(np.arange(160) >= 80, 0.9, 1.0)
    weak = next(
        n
        for n in range(48)
        if not find_changes([x * (now if i == n else 1) for i, x in enumerate(quiet)], Search())[n]
        and find_changes([x * now for x in quiet], Search())[n]
    )
    beside = find_changes([x * (now if i == weak else then) for i, x in enumerate(quiet)], Search())
    assert all(beside[:weak] + beside[weak + 1 :]) and not beside[weak]


def test_an_alarm_is_a_change_among_the_newest():
    x = noise(150)
    assert compute_newest_p(x, Search()) > 0.05 / 48
    x[138:] *= 0.88
    assert compute_newest_p(x, Search()) < 1e-4
    assert compute_newest_p(np.append(x, 0.88 * noise(20, 9)), Search()) > 0.05 / 48


@pytest.mark.slow
@pytest.mark.parametrize("name", ["normal", "AR(0.5)", "skewed", "bimodal"])
def test_a_year_of_daily_looks_raises_few_false_alarms(name):
    """15 years of one series: at p = 0.2 at most 3 are expected (8 and more come with a chance of 0.4 %), at that of 48
    series 0.02."""
    from bench_watch import DRAWS, years

    found = years(DRAWS[name], 15, seed=31)
    assert (found <= 0.2).sum() <= 7 and (found <= 0.05 / 48).sum() == 0


@pytest.mark.slow
def test_a_step_of_5_percent_is_found_within_10_nights():
    from bench_watch import power

    assert power(trials=3, of=1, before=200, after=10, steps=10) >= 0.9
