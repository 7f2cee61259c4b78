"""Intervals cover what they promise, and where they cannot a warning stands beside them: benches/bench_coverage.py
in small."""

from __future__ import annotations

import numpy as np
import pytest

from bench_coverage import POPULATIONS, coverage
from iosonde.stats import checks
from iosonde.stats.estimate import stopping
from iosonde.stats.overview.cells import TrialCell

NORMAL, LOGNORMAL, BIMODAL, DEPENDENT, RARELY_SLOW, SKEWED, TICKING = POPULATIONS
SAMPLES = 800


def slack(level: float) -> float:
    return 4 * (level * (1 - level) / SAMPLES) ** 0.5


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("method", ["mean (t)", "ratio of means", "mean (Stein's rule)"])
def test_intervals_of_normal_trials_cover(method, level):
    assert coverage(method, NORMAL, 6, level, SAMPLES) == pytest.approx(level, abs=slack(level))


@pytest.mark.parametrize("population", [NORMAL, LOGNORMAL, BIMODAL], ids=lambda p: p.name)
@pytest.mark.parametrize("n", [8, 15])
def test_the_medians_interval_covers_at_least_what_it_says_whatever_the_form(population, n):
    assert coverage("median (order statistics)", population, n, 0.95, SAMPLES) >= 0.95 - slack(0.95)


def test_the_ratio_of_skewed_trials_covers():
    for n in (3, 6, 15):
        assert coverage("ratio of means", LOGNORMAL, n, 0.95, SAMPLES) >= 0.95 - slack(0.95)


def test_the_ratio_of_sides_of_different_form_covers():
    """A skewed side over a normal one: a ratio of typical values would be another one (83 % at n = 15)."""
    for n in (3, 6, 15):
        assert coverage("ratio of means, to a normal side", LOGNORMAL, n, 0.95, SAMPLES) >= 0.95 - slack(0.95)
    assert coverage("ratio of geometric means", LOGNORMAL, 6, 0.95, SAMPLES) >= 0.95 - slack(0.95)


def test_too_few_trials_give_no_interval_of_the_median():
    assert coverage("median (order statistics)", NORMAL, 5, 0.95, 20) is None


def test_where_the_mean_of_two_modes_is_not_covered_too_few_trials_are_reported():
    assert coverage("mean (t)", BIMODAL, 3, 0.95, SAMPLES) < 0.7
    cell = TrialCell({}, "y", "", BIMODAL.draw(np.random.default_rng(1), 3))
    assert [f.code for f in checks.run_checks(checks.Subject([cell], 0.95), ["S101"])]


def test_a_rare_slow_mode_is_missed_as_often_as_the_pilot_of_a_rule_says():
    missed = stopping.compute_miss_probability(stopping.PILOT)
    assert missed == pytest.approx(0.53, abs=0.005) and stopping.compute_trials_to_see(0.95) == 29
    held = coverage("mean (Stein's rule)", RARELY_SLOW, stopping.PILOT, 0.95, SAMPLES)
    assert held == pytest.approx(1 - missed, abs=0.08)
    assert coverage("mean (t)", RARELY_SLOW, 29, 0.95, SAMPLES) > 0.85


@pytest.mark.parametrize("population", [SKEWED, TICKING], ids=lambda p: p.name)
def test_the_mean_of_few_trials_holds_less_than_it_says_of_great_skew_and_coarse_ticks(population):
    assert coverage("mean (t)", population, 4, 0.95, SAMPLES) < 0.9


def test_where_dependent_trials_are_not_covered_the_dependence_is_reported():
    assert coverage("mean (t)", DEPENDENT, 30, 0.95, SAMPLES) < 0.8
    seen = 0
    for seed in range(20):
        cell = TrialCell({}, "y", "", DEPENDENT.draw(np.random.default_rng(seed), 60), rows=np.arange(60))
        seen += bool(checks.run_checks(checks.Subject([cell], 0.95), ["S124"]))
    assert seen >= 16
