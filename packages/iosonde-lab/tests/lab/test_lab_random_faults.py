"""A dozen campaigns on a real GlusterFS, each hit by a fault at random, some ended from outside; always the same."""

import pytest
import random_faults
from lab_here import why_not

SEED, CAMPAIGNS = 38, 12


def test_every_kind_of_fault_and_of_end_is_among_the_plans():
    plans = [random_faults.draw(SEED, number) for number in range(CAMPAIGNS)]
    assert {plan.kind for plan in plans} == set(random_faults.KINDS)
    assert len({plan.signal for plan in plans}) == 4 and {plan.during for plan in plans} == {"write", "read"}


def test_random_faults_cost_no_finished_trial_hang_nothing_and_touch_nothing_foreign(lab_root):
    if why := why_not("glusterfs"):
        pytest.skip(why)
    found = random_faults.campaigns(range(CAMPAIGNS), SEED)
    assert {name: one.breaches for name, one in found.items() if one.breaches} == {}
    assert len(found) == CAMPAIGNS
    assert sum(one.hit > 0 for one in found.values()) > 0.7 * len(found)
