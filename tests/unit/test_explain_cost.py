"""Shares of a single trial: does the interval cover the truth where slow operations come in episodes?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from iosonde.explain.classes import DensityClasses
from iosonde.explain.cost import BLOCKS, Account, estimate_class_shares

N, SLOWER, TRIALS = 4000, 20.0, 120
pytestmark = pytest.mark.slow


def account(rng: np.random.Generator, length: int, begins: float, n: int = N) -> Account:
    """A trial of one rank: episodes of so many slow operations begin by chance."""
    sums = np.cumsum(np.r_[0, rng.random(n + length) < begins])
    slow = (sums[length:] - sums[:-length])[:n] > 0
    seconds = np.where(slow, SLOWER, 1.0) * np.exp(0.1 * rng.standard_normal(n))
    starts, all_of_it = np.cumsum(seconds) - seconds, seconds.sum()
    part = np.minimum((starts / (all_of_it / BLOCKS)).astype(int), BLOCKS - 1)
    found = np.zeros((2, BLOCKS, 2))
    np.add.at(found[0], (part, slow.astype(int)), 1)
    np.add.at(found[1], (part, slow.astype(int)), seconds)
    return Account(found[0], found[1], 1, float(all_of_it), 0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("length", "begins"),
    [
        pytest.param(1, 0.05, marks=pytest.mark.long),
        (5, 0.01),
        pytest.param(20, 0.0025, marks=pytest.mark.long),
        pytest.param(50, 0.001, marks=pytest.mark.long),
    ],
)
def test_the_share_of_one_trial_is_covered_whether_slow_operations_come_alone_or_together(length, begins):
    long = account(np.random.default_rng(7), length, begins, 1_000_000)
    truth = long.counts.sum(axis=0)[1] / long.counts.sum(), long.seconds.sum(axis=0)[1] / long.seconds.sum()
    classes = cast(DensityClasses, SimpleNamespace(count=2, fast=0))
    held = np.zeros(2)
    for seed in range(TRIALS):
        slow = estimate_class_shares([account(np.random.default_rng(seed), length, begins)], classes, 0.95)[1]
        held += [one.low <= true <= one.high for one, true in zip((slow.share, slow.time_share), truth, strict=True)]
    assert (held >= 0.88 * TRIALS).all(), held / TRIALS  # 95 % less four standard errors
