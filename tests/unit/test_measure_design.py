"""The order of trials: complete blocks, random within, the same for the same seed, extendable."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.types import Factor
from iosonde.measure import design

NODES = Factor("nodes", "nodes", (1, 2, 4))
PER_NODE = Factor("ranks_per_node", "ranks", (1, 8))


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_every_block_holds_every_cell_once(seed, repetitions):
    trials = design.blocks([NODES, PER_NODE], range(repetitions), 0, seed)
    assert [trial.index for trial in trials] == list(range(6 * repetitions))
    for repetition in range(repetitions):
        cells = Counter(tuple(t.factors.items()) for t in trials if t.repetition == repetition)
        assert len(cells) == 6
        assert set(cells.values()) == {1}


@given(st.integers(0, 2**32))
def test_more_blocks_later_do_not_change_the_earlier_ones(seed):
    all_at_once = design.blocks([NODES], range(9), 0, seed)
    first = design.blocks([NODES], range(6), 0, seed)
    assert first + design.blocks([NODES], range(6, 9), len(first), seed) == all_at_once


def test_the_order_is_random_within_blocks():
    trials = design.blocks([NODES], range(60), 0, seed=1)
    orders = Counter(
        tuple(t.factors["nodes"] for t in trials if t.repetition == repetition) for repetition in range(60)
    )
    assert len(orders) == 6  # all 3! orders occur in 60 draws (misses one with p < 1e-3; the seed is fixed)


def test_every_trial_has_its_own_seed():
    trials = design.blocks([NODES], range(20), 0, seed=1)
    assert len({trial.seed for trial in trials}) == len(trials)
