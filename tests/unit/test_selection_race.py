"""A race of settings: who leads, who leaves, when it is over, and what it refuses."""

import numpy as np
import pytest

from iosonde.core.errors import InputError
from iosonde.core.types import Better
from iosonde.selection import race
from iosonde.selection.standing import (
    FIRST_STAGE,
    RaceRule,
    count_first_stage,
    find_reached_margin,
    find_ties,
    judge_race,
)

MEANS = (100.0, 99.0, 80.0, 50.0)


def draw_blocks(n_blocks, means=MEANS, cv=0.03, seed=1):
    return np.array(means) * (1 + cv * np.random.default_rng(seed).standard_normal((n_blocks, len(means))))


def draw_from(blocks):
    return lambda setting, block: float(blocks[block, setting])


def test_nobody_leaves_in_the_first_stage():
    standing = judge_race(draw_blocks(FIRST_STAGE - 1), RaceRule())
    assert standing.remaining == (0, 1, 2, 3)
    assert standing.confidence == 0


def test_worse_settings_leave_first_and_ties_end_the_race():
    blocks = draw_blocks(60)
    first = judge_race(blocks[:FIRST_STAGE], RaceRule())
    assert {2, 3}.isdisjoint(first.remaining)
    last = judge_race(blocks, RaceRule())
    assert last.is_settled
    assert last.leader in (0, 1)
    assert last.confidence > 0.95
    assert find_ties(blocks, last.leader, RaceRule()) == (1 - last.leader,)
    assert find_reached_margin(blocks, last.leader, RaceRule()) <= 0.05


def test_lower_may_be_better():
    times = draw_blocks(60, (50.0, 50.5, 80.0, 100.0))
    standing = judge_race(times, RaceRule(Better.LOWER))
    assert standing.leader in (0, 1)
    assert standing.is_settled
    assert {2, 3}.isdisjoint(find_ties(times, standing.leader, RaceRule(Better.LOWER)))


def test_a_setting_that_left_is_in_the_race_again_under_another_leader():
    """Setting 2 left against 0; then 0 gets slow, and nothing says how 2 compares with 1 at the margin."""
    blocks = draw_blocks(40, (100.0, 97.0, 96.0), cv=0.02)
    blocks[10:, 2] = np.nan
    blocks[10:, 0] -= 12
    standing = judge_race(blocks, RaceRule())
    assert standing.leader in (1, 2)
    assert {1, 2} & set(standing.remaining)
    assert 0 not in standing.remaining


def test_a_setting_without_trials_stays_in_the_race():
    blocks = draw_blocks(30)
    blocks[:, 3] = np.nan
    standing = judge_race(blocks, RaceRule())
    assert 3 in standing.remaining
    assert find_reached_margin(blocks, standing.leader, RaceRule()) is None
    assert standing.confidence == 0


def test_constant_values_settle_at_the_first_look():
    standing = judge_race(np.tile(MEANS, (FIRST_STAGE, 1)), RaceRule())
    assert standing.leader == 0
    assert standing.is_settled
    assert find_ties(np.tile(MEANS, (FIRST_STAGE, 1)), 0, RaceRule()) == (1,)


def test_two_modes_need_a_longer_first_stage():
    generator = np.random.default_rng(3)
    blocks = draw_blocks(FIRST_STAGE) * np.where(generator.random((FIRST_STAGE, 4)) < 0.5, 1, 2)
    assert count_first_stage(blocks, RaceRule()) == 10
    assert count_first_stage(draw_blocks(FIRST_STAGE), RaceRule()) == FIRST_STAGE


def test_a_budget_ends_the_race_before_the_block_that_exceeds_it():
    outcome = race(draw_from(draw_blocks(200, (100.0, 99.9, 99.8), cv=0.3)), 3, max_trials=50)
    assert outcome.n_trials == 48
    assert not outcome.settled
    assert len(outcome.remaining) > 1


def test_a_single_setting_needs_no_race():
    outcome = race(lambda setting, block: 1.0, 1)
    assert (outcome.best, outcome.settled) == (0, True)


@pytest.mark.parametrize("rule", [{"margin": 0}, {"margin": 1.5}, {"first_stage": 5}, {"confidence": 1.0}])
def test_impossible_rules_are_refused(rule):
    with pytest.raises(InputError):
        RaceRule(**rule)


def test_a_mean_below_zero_has_no_relative_margin():
    with pytest.raises(InputError) as error:
        judge_race(draw_blocks(10) - 200, RaceRule())
    assert error.value.code == "mean-not-positive"
