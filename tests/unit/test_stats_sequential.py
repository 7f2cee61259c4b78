"""The interval that holds whenever one stops: against other implementations, and by simulation in small
(benches/bench_against.py)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

import bench_against as bench
from iosonde.stats.estimate import sequential
from messages import assert_problem, codes, raises

CAMPAIGNS = 4000


def factor(logs) -> float:
    """The Bayes factor of the docstring, by its definition: a t density with and without an effect of N(0, 1)."""
    n = len(logs)
    t = np.mean(logs) / np.std(logs, ddof=1) * math.sqrt(n)
    with_effect = stats.t.pdf(t / math.sqrt(n + 1), n - 1) / math.sqrt(n + 1)
    return float(with_effect / stats.t.pdf(t, n - 1))


def test_the_boundary_is_where_the_bayes_factor_is_at_its_threshold():
    rng = np.random.default_rng(3)
    for n in (6, 11, 40, 100):
        logs = rng.normal(0, 1, n)
        logs += sequential.compute_critical_t(n, 0.95) * np.std(logs, ddof=1) / math.sqrt(n) - np.mean(logs)
        assert math.log(factor(logs)) == pytest.approx(sequential.solve_log_threshold(0.05), abs=1e-6)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_one_look_is_students_t(level):
    assert sequential.compute_critical_t(6, level, most=6) == pytest.approx(stats.t.ppf(0.5 + level / 2, 5), rel=2e-3)


def test_two_looks_are_the_integral_over_both():
    """The second implementation: u after 6 pairs by its t distribution, then that of the seventh pair."""
    at = 1.3
    first, second = (sequential._compute_boundary(n, at) for n in (6, 7))

    def stays(u: float) -> float:
        """P(|u·cos φ + sin φ| <= second), the seventh pair being √Σx² × t(6) ÷ √6."""
        edges = np.sort(np.roots([second**2 - 1, -2 * u, second**2 - u**2]).real)
        disc = u**2 - (second**2 - 1) * (second**2 - u**2)
        if disc <= 0:
            return 1.0
        low, high = edges * math.sqrt(6)
        return float(1 - (stats.t.cdf(high, 6) - stats.t.cdf(low, 6)))

    def density(u: float) -> float:
        t = u * math.sqrt(5 / (6 - u**2))
        return float(stats.t.pdf(t, 5) * math.sqrt(5) * 6 / (6 - u**2) ** 1.5)

    inside, _ = integrate.quad(lambda u: density(u) * stays(u), 0, first, limit=400)
    assert sequential.compute_crossing_probability(7, at) == pytest.approx(1 - 2 * inside, abs=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.005])
@pytest.mark.parametrize("most", [8, 30, 100])
def test_all_looks_together_miss_as_often_as_they_say(alpha, most):
    logs = np.random.default_rng(most).normal(0, 1, (20_000, most))
    seen = bench.followed(logs, 1.0, 0.0, bench.boundary(most, 1 - alpha))
    assert seen.missed_ever == pytest.approx(alpha, abs=4 * math.sqrt(alpha / 20_000))


def test_the_threshold_is_below_villes_and_rises_with_the_looks():
    found = [sequential.solve_log_threshold(0.05, most) for most in (6, 10, 30, 100, 200)]
    assert found == sorted(found)
    assert found[-1] < math.log(20)


@pytest.mark.parametrize("noise", bench.NOISE)
def test_false_verdicts_and_the_interval_at_stopping(noise):
    logs = bench.paths(bench.NOISE[noise], 0.03, 1.0, 100, CAMPAIGNS, seed=2)
    seen = bench.followed(logs, 1.0, margin=0.0)
    assert seen.different < 0.05 + 4 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)
    for ratio in (1.0, 1.05):
        stopped = bench.followed(logs + math.log(ratio), ratio)
        assert stopped.missed < 0.05
        assert stopped.told > 0.75


@pytest.mark.parametrize("noise", bench.NOISE)
def test_at_a_limit_hardly_any_campaign_ends_on_the_wrong_side(noise):
    """Where B ÷ A is the limit itself both answers are wrong: 5 of 100 at most, half of them too strict."""
    limit = math.log1p(0.05)
    logs = bench.paths(bench.NOISE[noise], 0.03, 1.05, 100, CAMPAIGNS, seed=3) - limit
    at = bench.followed(logs, 1.0, margin=0.0)
    error = 4 * math.sqrt(0.025 * 0.975 / CAMPAIGNS)
    assert at.above < 0.025 + error and at.different - at.above < 0.025 + error
    further = bench.followed(logs + math.log(1.10 / 1.05), 1.10 / 1.05, margin=0.0)
    assert further.different - further.above < 0.005 and further.above > 0.8
    equal = bench.followed(logs - limit, 1 / 1.05, margin=0.0)
    assert equal.above < 0.005 and equal.different > 0.8


def test_student_after_each_pair_cries_wolf():
    student = np.array([stats.t.ppf(0.975, n - 1) for n in range(6, 51)])
    logs = np.random.default_rng(1).normal(0, 1, (CAMPAIGNS, 50))
    assert bench.followed(logs, 1.0, 0.0, student).different > 0.2


def test_five_per_cent_at_cv_three_take_half_of_a_fixed_plan():
    seen = bench.followed(bench.paths(bench.normal, 0.03, 1.05, 100, CAMPAIGNS), 1.05, margin=0.0)
    assert np.mean(seen.pairs) <= 0.5 * bench.fixed_plan(0.03, 1.05, min(seen.different, 1 - 1 / CAMPAIGNS))


def test_the_interval_is_around_the_geometric_mean():
    logs = np.array([0.1, 0.2, 0.15, 0.05, 0.1, 0.12, 0.08])
    found = sequential.estimate_sequential_ratio(logs, 0.95, 30)
    half = sequential.compute_critical_t(7, 0.95, 30) * np.std(logs, ddof=1) / math.sqrt(7)
    assert (found.value, found.n, found.level) == (pytest.approx(math.exp(np.mean(logs))), 7, 0.95)
    assert found.low == pytest.approx(math.exp(np.mean(logs) - half))
    assert found.high == pytest.approx(math.exp(np.mean(logs) + half))


def test_fewer_than_six_pairs_have_no_interval_and_more_than_planned_are_refused():
    few = sequential.estimate_sequential_ratio([0.3] * 5, 0.95)
    assert (few.low, few.high, few.n) == (None, None, 5)
    assert_problem(few.warnings[0], "too-few-pairs", least=6)
    assert sequential.estimate_sequential_ratio([], 0.95).value is None
    with raises("too-many-pairs", limit=10):
        sequential.estimate_sequential_ratio([0.1] * 11, 0.95, 10)


def test_a_level_that_six_pairs_cannot_reach_is_said():
    found = sequential.estimate_sequential_ratio([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], 0.999_99)
    assert found.low is None and codes(found.warnings) == ["too-few-pairs"]
