"""Stein's rule keeps its promise, and looking until it fits does not: that is why the rule is there."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.errors import InputError
from iosonde.stats.estimate import stopping, summarise

LEVEL, WIDTH = 0.95, 0.05


def stein_trial(rng: np.random.Generator, draw) -> tuple[bool, bool]:
    """(covered, narrow enough) of one campaign that follows the rule; the truth is 100."""
    pilot = draw(rng, stopping.PILOT)
    n = stopping.compute_stein_trials(pilot, WIDTH, LEVEL)
    values = np.concatenate([pilot, draw(rng, n - stopping.PILOT)])
    estimate = stopping.estimate_stein_interval(values, stopping.PILOT, LEVEL)
    half = (estimate.high - estimate.low) / 2
    return estimate.low <= 100 <= estimate.high, half <= WIDTH * np.mean(pilot) * (1 + 1e-9)


def peeking_trial(rng: np.random.Generator) -> bool:
    values = list(rng.normal(100, 10, 3))
    while True:
        estimate = summarise.estimate_mean(values, LEVEL)
        if (estimate.high - estimate.low) / 2 <= WIDTH * estimate.value:
            return estimate.low <= 100 <= estimate.high
        values.append(rng.normal(100, 10))


@pytest.mark.parametrize("spread", [3, 10, 25])
def test_stein_covers_and_is_as_narrow_as_asked(spread):
    rng = np.random.default_rng(5)
    outcomes = [stein_trial(rng, lambda rng, n: rng.normal(100, spread, n)) for _ in range(1500)]
    covered, narrow = np.mean(outcomes, axis=0)
    assert 0.935 < covered < 0.97
    assert narrow == 1.0


@pytest.mark.slow
def test_peeking_does_not_cover():
    rng = np.random.default_rng(5)
    assert np.mean([peeking_trial(rng) for _ in range(800)]) < 0.92


def test_a_steady_pilot_needs_nothing_more():
    assert stopping.compute_stein_trials([7.0] * 6, 0.01, LEVEL) == 6


def test_the_number_is_steins_formula():
    pilot = [98.0, 102.0, 96.0, 104.0, 99.0, 101.0]
    t, s = 2.570582, np.std(pilot, ddof=1)
    assert stopping.compute_stein_trials(pilot, 0.01, LEVEL) == int(np.ceil((t * s / 1.0) ** 2))


def test_repetitions_needed_is_the_largest_and_ignores_what_came_after_the_pilot():
    noisy = [90.0, 110.0, 95.0, 105.0, 92.0, 108.0]
    values = {"a": [1.0] * 6, "b": noisy}
    needed = stopping.repetitions_needed(values, 0.05, LEVEL)
    assert needed == stopping.compute_stein_trials(noisy, 0.05, LEVEL) > 6
    assert stopping.repetitions_needed({"a": [1.0] * 6, "b": [*noisy, 100.0, 100.0]}, 0.05, LEVEL) == needed
    assert stopping.repetitions_needed({"a": [1.0, 2.0]}, 0.05, LEVEL) == stopping.PILOT


@pytest.mark.parametrize(
    ("pilot", "width"), [([1.0] * 5, 0.05), ([1.0] * 6, 0.0), ([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0], 0.05)]
)
def test_what_cannot_be_promised_is_refused(pilot, width):
    with pytest.raises(InputError):
        stopping.compute_stein_trials(pilot, width, LEVEL)


def test_steins_interval_needs_its_pilot():
    with pytest.raises(InputError):
        stopping.estimate_stein_interval([1.0, 2.0], 6, LEVEL)
