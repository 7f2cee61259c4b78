"""The promise of a race: the choice is within the margin; and its region, written again as in the papers."""

import math

import numpy as np
import pytest

from iosonde.core.types import Better
from iosonde.selection import race
from iosonde.selection.standing import RaceRule, find_reached_margin, judge_race

CONFIDENCE, MARGIN = 0.95, 0.05
LEAST_LIMIT = 0.935
N_RACES = 300  # 2,000 in benches/bench_race.py


def has_left(rival, chosen, n_settings, better):
    """Whether ``rival`` left against ``chosen`` (lists, None where missing): the region of Kim and Nelson (2006) for
    each of the two slopes, with half of the error each, term by term."""
    pairs = [(x, y) for x, y in zip(rival, chosen, strict=True) if x is not None and y is not None]
    n = len(pairs)
    if n < 6:
        return False
    factor = 1 - MARGIN if better == "higher" else 1 + MARGIN
    sign = 1 if better == "higher" else -1
    differences = [sign * (factor * x - y) for x, y in pairs]
    mean = sum(differences) / n
    variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
    leader = [y for y in chosen if y is not None]
    delta = MARGIN * sum(leader) / len(leader)
    beta = (1 - CONFIDENCE) / (n_settings - 1)
    for zone in (delta, 2.5 * delta):
        eta = 0.5 * ((beta / 2) ** (-2 / (n - 1)) - 1)
        a = 2 * eta * (n - 1) * variance / (2 * zone)
        if n * mean <= -(a + zone / 2 * n):
            return True
    return False


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize("seed", range(25))
def test_who_remains_is_the_same_by_the_papers_formulas(seed, better):
    generator = np.random.default_rng(seed)
    n_settings, n_blocks = int(generator.integers(2, 9)), int(generator.integers(10, 40))
    means = 100 * generator.uniform(0.8, 1.0, n_settings)
    blocks = means * (1 + 0.06 * generator.standard_normal((n_blocks, n_settings)))
    blocks[np.arange(n_blocks)[:, None] > generator.integers(5, n_blocks + 1, n_settings)] = np.nan
    standing = judge_race(blocks, RaceRule(Better(better), MARGIN, CONFIDENCE))
    columns = [[None if math.isnan(x) else float(x) for x in column] for column in blocks.T]
    assert standing.leader is not None
    expected = [
        i
        for i in range(n_settings)
        if i == standing.leader or not has_left(columns[i], columns[standing.leader], n_settings, better)
    ]
    assert list(standing.remaining) == expected


def test_within_is_the_margin_at_which_the_race_would_be_over():
    """With the slopes of that margin, which a larger one makes steeper: so it is an upper limit here."""
    blocks = 100 * np.linspace(0.9, 1, 5) * (1 + 0.08 * np.random.default_rng(2).standard_normal((12, 5)))
    standing = judge_race(blocks, RaceRule(margin=0.02))
    assert not standing.is_settled
    within = find_reached_margin(blocks, standing.leader, RaceRule(margin=0.02))
    assert within > 0.02
    assert judge_race(blocks, RaceRule(margin=1.3 * within)).is_settled


def normal(cv):
    return lambda generator, n: 1 + cv * generator.standard_normal(n)


def log_normal(sigma):
    return lambda generator, n: np.exp(sigma * generator.standard_normal(n) - sigma**2 / 2)


def drifting(cv, size):
    """A random level of each block, common to its trials."""
    return lambda generator, n: (1 + size * generator.standard_normal()) * (1 + cv * generator.standard_normal(n))


SLIPPAGE = [100.0] + [94.999] * 9
CASES = {
    "slippage": (SLIPPAGE, normal(0.08), "higher"),
    "slippage of two": ([100.0, 94.999], normal(0.08), "higher"),
    "slippage of two that vary": ([100.0, 94.999], normal(0.2), "higher"),
    "slippage of times": ([100.0] + [105.001] * 9, normal(0.08), "lower"),
    "the best varies most": (SLIPPAGE, normal(np.linspace(0.15, 0.03, 10)), "higher"),
    "the best varies least": (SLIPPAGE, normal(np.linspace(0.03, 0.15, 10)), "higher"),
    "two near ties": ([100.0, 99.5, *[94.0] * 8], normal(0.08), "higher"),
    "a chain of near ties": (list(100 - 3.0 * np.arange(10)), normal(0.08), "higher"),
    "log-normal": (SLIPPAGE[:6], log_normal(0.3), "higher"),
    "drift by blocks": (SLIPPAGE, drifting(0.05, 0.2), "higher"),
}


def count_right_choices(case, n_races, seed):
    """Return right choices, and the trials of a setting. A block is drawn at once, so that its level is common."""
    means, noise, better = CASES[case]
    limit = (1 - MARGIN) * max(means) if better == "higher" else (1 + MARGIN) * min(means)
    right, n_trials = 0, 0
    for number in range(n_races):
        generator, blocks = np.random.default_rng([seed, number]), []

        def draw(setting, block, generator=generator, blocks=blocks):
            if block == len(blocks):
                blocks.append(np.array(means) * noise(generator, len(means)))
            return float(blocks[block][setting])

        outcome = race(draw, len(means), better, MARGIN, CONFIDENCE)
        right += means[outcome.best] >= limit if better == "higher" else means[outcome.best] <= limit
        n_trials += outcome.n_trials
    return right, n_trials / n_races / len(means)


def lower_limit(right, n):
    """Wilson's, at 95 % two-sided."""
    z, share = 1.959964, right / n
    center = share + z * z / (2 * n)
    return (center - z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_choice_is_within_the_margin_as_promised(case):
    right, _ = count_right_choices(case, N_RACES, 20)
    assert lower_limit(right, N_RACES) >= LEAST_LIMIT


def test_a_race_among_spread_settings_takes_few_trials():
    """Rinott's constant for 20 settings, 6 first trials and 0.95 is above 6: at a CV of 8 % it takes 92 trials each."""
    means = list(np.linspace(60, 100, 20))
    CASES["spread"] = (means, normal(0.08), "higher")
    right, n_trials = count_right_choices("spread", 50, 21)
    assert right == 50
    assert n_trials < 0.35 * (6 * 0.08 / MARGIN) ** 2
