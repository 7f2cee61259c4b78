"""The order of trials: complete blocks, random within, the same for the same seed, extendable, held together."""

from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.schema import CENTRE
from iosonde.core.types import Factor, Role
from iosonde.measure import design
from messages import assert_problem, raises, with_code

NODES = Factor("nodes", "nodes", (1, 2, 4))
PER_NODE = Factor("ranks_per_node", "ranks", (1, 8))
FS = Factor("fs", "", ("nfs", "lustre", "beegfs"))
SIZE = Factor("size", "bytes", (4096, 65536, 2**20))
# As the version drew it that knew only full designs.
ORDER_OF_SEED_7 = [(4, 8), (2, 1), (1, 8), (2, 8), (4, 1), (1, 1)]
seeds = st.integers(-(2**63), 2**63)


@st.composite
def factor_lists(draw):
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return [Factor(f"f{i}", "", tuple(draw(st.permutations(range(n))))) for i, n in enumerate(counts)]


def cell(trial):
    return tuple((name, value) for name, value in trial.factors.items() if name != CENTRE)


def held(trials, name):
    """The levels of a factor in order, each run of equal ones once."""
    return [level for level, _ in groupby(trial.factors[name] for trial in trials)]


@given(factor_lists(), seeds, st.integers(1, 4))
def test_every_repetition_holds_every_cell_once(factors, seed, repetitions):
    trials = design.build_trials(factors, design.FULL, range(repetitions), 0, seed)
    n_cells = len({cell(trial) for trial in trials})
    assert [trial.index for trial in trials] == list(range(repetitions * n_cells))
    for repetition in range(repetitions):
        counts = Counter(cell(trial) for trial in trials if trial.repetition == repetition)
        assert len(counts) == n_cells
        assert set(counts.values()) == {1}


@given(factor_lists(), seeds)
def test_a_full_design_holds_every_combination_whatever_the_order_of_levels(factors, seed):
    turned = [Factor(f.name, f.unit, f.levels[::-1]) for f in factors]
    one, other = (design.build_cells(fs, design.FULL, seed).cells for fs in (factors, turned))
    assert {tuple(c.items()) for c in one} == {tuple(c.items()) for c in other}
    n_cells = 1
    for factor in factors:
        n_cells *= len(factor.levels)
    assert len(one) == n_cells


DESIGNS = [
    {"kind": "full", "centre": 2},
    {"kind": "full", "blocks": ["fs"], "hard_to_change": ["nodes"], "centre": 1},
    {"kind": "latin", "points": 7, "tries": 3, "ranges": {"size": {"low": 1, "high": 100}}},
    {"kind": "one_at_a_time", "order": "given"},
    {"kind": "full", "constraints": ["nodes > 1 or fs == 'nfs'"]},
]


@pytest.mark.parametrize("asked", DESIGNS, ids=lambda d: d["kind"])
@given(seed=seeds, first=st.integers(1, 4))
@settings(max_examples=20)
def test_more_repetitions_later_do_not_change_the_earlier_ones(asked, seed, first):
    factors = [NODES, FS, SIZE]
    all_at_once = design.build_trials(factors, asked, range(5), 0, seed)
    begun = design.build_trials(factors, asked, range(first), 0, seed)
    assert begun + design.build_trials(factors, asked, range(first, 5), len(begun), seed) == all_at_once
    assert len(begun) == first * design.build_cells(factors, asked, seed).trials


def test_campaigns_that_were_begun_by_an_earlier_version_keep_their_order():
    trials = design.build_trials([NODES, PER_NODE], design.FULL, range(3, 4), 18, seed=7)
    assert [tuple(trial.factors.values()) for trial in trials] == ORDER_OF_SEED_7


def test_the_order_is_random_within_repetitions():
    trials = design.build_trials([NODES], design.FULL, range(60), 0, seed=1)
    orders = Counter(
        tuple(t.factors["nodes"] for t in trials if t.repetition == repetition) for repetition in range(60)
    )
    assert len(orders) == 6  # all 3! orders occur in 60 draws (misses one with p < 1e-3; the seed is fixed)


def test_a_given_order_is_kept():
    trials = design.build_trials([NODES, PER_NODE], {"kind": "full", "order": "given"}, range(2), 0, seed=1)
    assert [t.factors["nodes"] for t in trials] == 2 * [1, 1, 2, 2, 4, 4]
    assert "drift" in design.build_cells([NODES], {"order": "given"}, 1).notes[0]


def test_every_trial_has_its_own_seed():
    trials = design.build_trials([NODES], design.FULL, range(20), 0, seed=1)
    assert len({trial.seed for trial in trials}) == len(trials)


@given(seeds)
def test_each_level_of_a_blocked_factor_is_a_block_that_holds_all_other_cells(seed):
    room = Factor("room", "", ("north", "south"), Role.BLOCKED)
    trials = design.build_trials([NODES, room, PER_NODE], design.FULL, range(3), 0, seed)
    assert [block for block, _ in groupby(t.block for t in trials)] == list(range(6))
    for number in range(6):
        block = [t for t in trials if t.block == number]
        assert len({t.factors["room"] for t in block}) == 1
        assert len({(t.factors["nodes"], t.factors["ranks_per_node"]) for t in block}) == 6
        assert {t.repetition for t in block} == {number // 2}


def test_blocks_by_name_and_by_role_are_the_same():
    room = Factor("room", "", ("north", "south"))
    blocked = Factor("room", "", ("north", "south"), Role.BLOCKED)
    by_name = design.build_trials([NODES, room], {"kind": "full", "blocks": ["room"]}, range(4), 0, 5)
    assert by_name == design.build_trials([NODES, blocked], design.FULL, range(4), 0, 5)


@given(seeds)
def test_a_factor_that_is_hard_to_change_is_set_once_a_level_in_a_repetition(seed):
    asked = {"kind": "full", "hard_to_change": ["fs", "nodes"]}
    trials = design.build_trials([PER_NODE, NODES, FS], asked, range(4), 0, seed)
    for repetition in range(4):
        mine = [t for t in trials if t.repetition == repetition]
        assert sorted(held(mine, "fs")) == ["beegfs", "lustre", "nfs"]
        assert len(held(mine, "nodes")) <= 9
        assert len({cell(t) for t in mine}) == len(mine) == 18


def test_a_split_plot_says_what_it_costs():
    notes = design.build_cells([PER_NODE, FS], {"kind": "full", "hard_to_change": ["fs"]}, 1).notes
    assert_problem(with_code(notes, "whole-plots"), "whole-plots", factor="fs", plots=3, trials=6)
    assert not design.build_cells([PER_NODE, FS], {"kind": "full"}, 1).notes


@given(seeds, st.integers(1, 9), st.integers(1, 4))
def test_centre_trials_are_spread_evenly_over_each_block(seed, centres, levels):
    factors = [Factor("a", "", tuple(range(levels))), NODES]
    trials = design.build_trials(factors, {"kind": "full", "centre": centres}, range(3), 0, seed)
    for repetition in range(3):
        marks = [t.factors[CENTRE] for t in trials if t.repetition == repetition]
        assert sum(marks) == centres
        assert marks.count(False) == 3 * levels
        gaps = [0]
        for mark in marks:
            if mark:
                gaps.append(0)
            else:
                gaps[-1] += 1
        inner = gaps[1:-1]
        assert not inner or max(inner) - min(inner) <= 1
        assert abs(gaps[0] - gaps[-1]) <= 1
        assert not inner or gaps[0] + gaps[-1] - max(inner) in (-1, 0, 1)  # over the next block, too
    assert len({cell(t) for t in trials if t.factors[CENTRE]}) == 1


def test_the_centre_is_the_middle_cell_that_is_allowed_unless_it_is_given():
    def centre_of(**more):
        trials = design.build_trials([NODES, SIZE], {"kind": "full", **more}, range(1), 0, 1)
        return {cell(t) for t in trials if t.factors[CENTRE]}

    assert centre_of(centre=2) == {(("nodes", 2), ("size", 65536))}
    (allowed,) = centre_of(centre=1, constraints=["nodes != 2 and size != 65536"])
    assert dict(allowed)["nodes"] != 2
    given_cell = {"trials": 3, "cell": {"nodes": 3, "size": "8KiB"}}
    assert centre_of(centre=given_cell) == {(("nodes", 3), ("size", 8192))}


@given(seeds)
def test_a_centre_trial_changes_nothing_that_is_held(seed):
    asked = {
        "kind": "full",
        "blocks": ["fs"],
        "hard_to_change": ["nodes"],
        "centre": {"trials": 4, "cell": {"size": 4096}},
    }
    trials = design.build_trials([FS, NODES, SIZE], asked, range(2), 0, seed)
    plain = [t for t in trials if not t.factors[CENTRE]]
    assert held(trials, "fs") == held(plain, "fs")
    assert held(trials, "nodes") == held(plain, "nodes")
    assert all(t.factors["size"] == 4096 for t in trials if t.factors[CENTRE])
    assert len(trials) == 2 * design.build_cells([FS, NODES, SIZE], asked, seed).trials


def test_without_centre_cells_trials_are_not_marked():
    assert CENTRE not in design.build_trials([NODES], design.FULL, range(1), 0, 1)[0].factors


def test_one_at_a_time_changes_one_factor_from_the_base():
    asked = {"kind": "one_at_a_time", "base": {"nodes": 2, "size": "64KiB"}}
    made = design.build_cells([NODES, SIZE, FS], asked, 1)
    base = {"nodes": 2, "size": 65536, "fs": "nfs"}
    assert made.cells[0] == base
    assert sorted(sum(c[n] != base[n] for n in base) for c in made.cells) == [0] + 6 * [1]
    assert "interactions" in made.notes[0]


def test_a_list_is_taken_as_it_is():
    one = Factor("ranks_per_node", "", (8,))
    asked = {"kind": "list", "cells": [{"nodes": 4, "size": "4KiB"}, {"nodes": 1, "size": 65536}]}
    assert design.build_cells([NODES, SIZE, one], asked, 1).cells == (
        {"nodes": 4, "size": 4096, "ranks_per_node": 8},
        {"nodes": 1, "size": 65536, "ranks_per_node": 8},
    )


WRONG = [
    ({"kind": "ful"}, "design.kind", "full"),
    ({"kind": ["full"]}, "design.kind", "full"),
    ("full", "design:", "kind"),
    ({"kind": "full", "point": 3}, "design.point", ""),
    ({"kind": "latin", "point": 3}, "design.point:", "points"),
    ({"kind": "full", "blocks": ["fz"]}, "design.blocks", "fs"),
    ({"kind": "full", "blocks": 3}, "design.blocks", "[fs"),
    ({"kind": "full", "blocks": ["fs"], "hard_to_change": "fs"}, "design.hard_to_change", ""),
    ({"kind": "full", "blocks": ["fs"], "factors": ["fs"]}, "design.factors", ""),
    ({"kind": "full", "constraints": {"a": 1}}, "design.constraints", ""),
    ({"kind": "full", "constraints": ["nodes > 0", "nodes >"]}, "design.constraints[1]", ""),
    ({"kind": "full", "constraints": ["nodes > 9"]}, "design.constraints[0]: no cell is left", "loosen"),
    ({"kind": "full", "centre": -1}, "design.centre", ""),
    ({"kind": "full", "centre": {"trial": 1}}, "design.centre.trial", ""),
    ({"kind": "full", "centre": {"cell": {"nodes": 1}}}, "design.centre.cell", "every factor"),
    ({"kind": "full", "centre": {"cell": {"nodes": 1, "fs": "xfs"}}}, "design.centre.cell", "nfs"),
    ({"kind": "full", "blocks": "fs", "centre": {"cell": {"nodes": 1, "fs": "nfs"}}}, "design.centre.cell", "leave"),
    ({"constraints": "nodes != 3", "centre": {"cell": {"nodes": 3, "fs": "nfs"}}}, "design.centre.cell", "allows"),
    ({"kind": "full", "order": "sorted"}, "design.order", "random"),
    ({"kind": "one_at_a_time", "base": {"nodes": 3}}, "design.base", "[1, 2, 4]"),
    ({"kind": "one_at_a_time", "base": {"node": 1}}, "design.base", "nodes"),
    ({"kind": "list"}, "design.cells", ""),
    ({"kind": "list", "cells": [{"nodes": 1}]}, "design.cells[0]", ""),
    ({"kind": "list", "cells": [{"nodes": 1, "fs": "nfs"}] * 2}, "design.cells[1]", "repetitions"),
    ({"kind": "list", "cells": [{"nodes": 3, "fs": "nfs"}]}, "design.cells[0]", "[1, 2, 4]"),
    ({"kind": "list", "cells": [{"nodes": 1, "fs": "nfs", "x": 1}]}, "design.cells[0]", "fs"),
    ({"kind": "list", "cells": [3]}, "design.cells[0]", ""),
    ({"kind": "latin"}, "design.points", ""),
    ({"kind": "latin", "points": 10**9}, "design.points", ""),
    ({"kind": "latin", "points": 4, "tries": 0}, "design.tries", ""),
    ({"kind": "latin", "points": 4, "ranges": {"n": {}}}, "design.ranges.n", "nodes"),
    ({"kind": "latin", "points": 4, "ranges": {"nodes": {"low": 1}}}, "design.ranges.nodes", "high"),
    ({"kind": "latin", "points": 4, "ranges": {"nodes": {"low": 4, "high": 1}}}, "design.ranges.nodes", "below"),
    ({"kind": "latin", "points": 4, "ranges": {"nodes": {"low": 0, "high": 1, "scale": "log"}}}, "nodes.low", ""),
    ({"kind": "latin", "points": 4, "ranges": {"nodes": {"low": 0, "high": 1, "scale": "x"}}}, "nodes.scale", ""),
    ({"kind": "latin", "points": 4, "ranges": {"nodes": {"low": "x", "high": 1}}}, "nodes.low", ""),
    ({"kind": "latin", "points": 4, "ranges": {"nodes": {"low": 1.1, "high": 1.9, "step": 1}}}, "nodes.step", ""),
    ({"kind": "fractional", "p": 1}, "factors.nodes", "two levels"),
]


@pytest.mark.parametrize(("asked", "where", "hint"), WRONG)
def test_what_is_wrong_is_named_by_its_key(asked, where, hint):
    with pytest.raises(InputError) as caught:
        design.check_design(asked, [NODES, FS])
    assert where in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.hint


def test_levels_must_be_there_and_differ():
    with raises("duplicate-level", factor="a", level=1):
        design.check_design(design.FULL, [Factor("a", "", (1, 2, 1))])
    with raises("no-levels", factor="a"):
        design.check_design(design.FULL, [Factor("a")])


def test_a_design_that_nobody_can_measure_is_refused_before_it_fills_the_memory():
    with raises("too-many-cells"):
        design.check_design(design.FULL, [Factor(f"f{i}", "", tuple(range(10))) for i in range(30)])


def test_the_tables_of_the_gluster_study():
    """Workload and hardware: layouts that the servers cannot hold are dropped; file-system parameters: 1664 cells."""
    factors = [Factor("servers", "", (1, 2, 4)), Factor("stripe", "", (1, 2, 4)), Factor("replica", "", (1, 2))]
    made = design.build_cells(factors, {"constraints": ["stripe * replica <= servers"]}, 1)
    expected = sum(st * r <= s for s in (1, 2, 4) for st in (1, 2, 4) for r in (1, 2))
    assert (len(made.cells), made.n_dropped) == (expected, 18 - expected)
    assert all(c["stripe"] * c["replica"] <= c["servers"] for c in made.cells)
    switches = [Factor(f"s{i}", "", ("off", "on")) for i in range(4)]
    wide = [Factor("block", "bytes", tuple(2048 * 2**i for i in range(13))), Factor("cache", "", tuple(range(8)))]
    assert len(design.build_cells([*wide, *switches], design.FULL, 1).cells) == 1664
    assert len(design.build_cells([*wide, *switches, Factor("o_sync", "", (0, 1))], design.FULL, 1).cells) == 3328
