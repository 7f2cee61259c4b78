"""The order of trials: complete blocks, random within, the same for the same seed, extendable, held together."""

from collections import Counter
from itertools import groupby
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.schema import CENTRE
from iosonde.core.types import Factor, Role
from iosonde.measure import design
from iosonde.measure.design import kinds, order, plan
from messages import assert_problem, codes, raises, with_code

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


def test_the_document_of_a_design_counts_each_cell_at_the_first_constraint_that_forbids_it():
    asked = {
        "kind": "full",
        "constraints": ["nodes < 4", "ranks_per_node == 8", "nodes * ranks_per_node < 16"],
        "centre": 2,
    }
    made = design.build_cells([NODES, PER_NODE, FS], asked, 1)
    assert made.to_json() == {
        "kind": "full",
        "cells": 3,
        "dropped": 15,
        "dropped_by": [
            {"constraint": "nodes < 4", "cells": 6},
            {"constraint": "ranks_per_node == 8", "cells": 6},
            {"constraint": "nodes * ranks_per_node < 16", "cells": 3},
        ],
        "generators": [],
        "resolution": None,
        "aliases": [],
        "discrepancy": None,
        "merged": 0,
        "centre_trials": 2,
        "blocks": 1,
        "trials": 5,
        "notes": [],
    }
    fraction = design.build_cells(
        [*(Factor(name, "", (0, 1)) for name in "abc"), NODES],
        {"kind": "fractional", "p": 1, "factors": ["a", "b", "c"], "blocks": "nodes", "centre": 3},
        1,
    ).to_json()
    assert (fraction["cells"], fraction["blocks"], fraction["trials"]) == (12, 3, 12 + 3 * 3)
    assert fraction["generators"] == ["c = a * b"]
    assert fraction["aliases"] == [["a", "b:c"], ["b", "a:c"], ["c", "a:b"]]


@pytest.mark.parametrize(
    ("more", "plots"),
    [
        ({"hard_to_change": ["fs", "nodes"]}, [("fs", 3), ("nodes", 9)]),
        ({"hard_to_change": ["nodes", "fs"], "blocks": ["ranks_per_node"]}, [("nodes", 6)]),
        ({"hard_to_change": ["nodes", "fs", "ranks_per_node"]}, [("nodes", 3), ("fs", 9)]),
    ],
)
def test_each_held_factor_has_as_many_whole_plots_as_combinations_down_to_it(more, plots):
    notes = design.build_cells([PER_NODE, NODES, FS], {"kind": "full", **more}, 1).notes
    assert codes(notes) == ["whole-plots"] * len(plots)
    assert [(note.values["factor"], note.values["plots"], note.values["trials"]) for note in notes] == [
        (name, count, 18) for name, count in plots
    ]


def test_the_constraint_that_forbids_most_is_named_where_no_cell_is_left():
    asked = {"constraints": ["nodes == 1", "ranks_per_node > 8 and nodes == 1"]}
    with raises("no-allowed-cells", key="design.constraints[0]", constraint="nodes == 1", dropped=4, n_cells=6):
        design.check_design(asked, [NODES, PER_NODE])
    with raises("no-allowed-cells", key="design.constraints[1]", dropped=4):
        design.check_design({"constraints": ["nodes > 1", "nodes > 4"]}, [NODES, PER_NODE])


def test_trials_in_given_order_with_blocks_and_centres_by_hand():
    factors = [Factor("a", "", ("x", "y"), Role.BLOCKED), NODES]
    trials = design.build_trials(factors, {"order": "given", "centre": 2}, range(1, 3), 5, 7)
    order = [(2, True), (1, False), (2, False), (2, True), (4, False)]
    expected = [
        ({"a": name, "nodes": nodes, CENTRE: mark}, repetition, 2 * repetition + number)
        for repetition in (1, 2)
        for number, name in enumerate("xy")
        for nodes, mark in order
    ]
    assert [(t.factors, t.repetition, t.block) for t in trials] == expected
    assert [t.index for t in trials] == list(range(5, 25))
    draws = [Random("7/1"), Random("7/2")]
    assert [t.seed for t in trials] == [draw.getrandbits(32) for draw in draws for _ in range(10)]


@pytest.mark.parametrize(
    ("levels", "places"),
    [
        ((4, 1, 2), {"1": 0.0, "2": 0.5, "4": 1.0}),
        (("b", "a", "c"), {"'b'": 0.0, "'a'": 0.5, "'c'": 1.0}),
        ((True, False), {"True": 0.0, "False": 1.0}),
        ((7,), {"7": 0.5}),
        ((8, 0.5), {"0.5": 0.0, "8": 1.0}),
    ],
)
def test_levels_are_placed_by_size_if_they_are_numbers_else_as_they_come(levels, places):
    assert order._scale_levels([{"f": level} for level in (*levels, levels[0])], "f") == places


def test_equal_levels_of_the_first_held_factor_are_neighbours_and_within_them_of_the_second():
    cells = [{"a": a, "b": b, "c": c} for c in (0, 1) for b in "xy" for a in (1, 2)]
    grouped = order._group_cells(cells, ("a", "b"), None)
    assert [(c["a"], c["b"], c["c"]) for c in grouped] == [(a, b, c) for a in (1, 2) for b in "xy" for c in (0, 1)]
    assert order._group_cells(cells, (), None) == cells
    orders = {tuple(held_levels) for held_levels in _draw_group_orders(cells)}
    assert orders == {(1, 2), (2, 1)}


def _draw_group_orders(cells):
    for seed in range(9):
        grouped = order._group_cells(cells, ("a",), Random(seed))
        yield [level for level, _ in groupby(cell["a"] for cell in grouped)]


def test_the_shared_keys_are_read_as_written():
    room = Factor("room", "", ("north", "south"), Role.BLOCKED)
    kept = Factor("kept", "", (8,))
    asked = {
        "kind": "full",
        "blocks": ["fs", "room"],
        "hard_to_change": "nodes",
        "constraints": "nodes > 0",
        "centre": {"trials": 2, "cell": {"size": "64KiB"}},
        "order": "given",
    }
    found = plan.read_plan([room, NODES, FS, SIZE, kept], asked, ())
    assert [factor.name for factor in found.over] == ["nodes", "size"]
    assert [factor.name for factor in found.crossed] == ["room", "fs", "kept"]
    assert [factor.name for factor in found.factors] == ["room", "nodes", "fs", "size", "kept"]
    assert [condition.text for condition in found.constraints] == ["nodes > 0"]
    assert (found.blocks, found.hard_to_change, found.grouped_factors) == (
        ("room", "fs"),
        ("nodes",),
        ("room", "fs", "nodes"),
    )
    assert (found.centre, found.centre_cell) == (2, {"size": 65536, "kept": 8})
    assert (found.shuffled, found.names) == (False, {"room", "nodes", "fs", "size", "kept"})
    plain = plan.read_plan([NODES, FS, kept], {"kind": "full", "factors": ["fs"]}, ())
    assert ([f.name for f in plain.over], [f.name for f in plain.crossed]) == (["fs"], ["nodes", "kept"])
    assert (plain.blocks, plain.hard_to_change, plain.centre, plain.centre_cell, plain.shuffled) == (
        (),
        (),
        0,
        None,
        True,
    )


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"n": 2}, 2),
        ({"n": 9}, 9),
        ({}, 5),
        ({"n": 1}, "not-an-integer"),
        ({"n": True}, "not-an-integer"),
        ({"n": 2.0}, "not-an-integer"),
        ({"n": "2"}, "not-an-integer"),
    ],
)
def test_a_whole_number_has_a_least_value_and_a_default(value, wanted):
    if isinstance(wanted, int):
        assert plan.read_integer(value, "n", 2, 5) == wanted
    else:
        with raises(wanted, key="n", setting=value["n"], minimum=2, example=2):
            plan.read_integer(value, "n", 2, 5)


def test_a_missing_number_is_named_with_an_example():
    for least, example in ((0, 2), (1, 2), (3, 3)):
        with raises("missing-key", key="points", minimum=least, example=example):
            plan.read_integer({}, "points", least)


@pytest.mark.parametrize(
    ("centre", "trials", "cell"),
    [
        (0, 0, None),
        (3, 3, None),
        ({}, 1, None),
        ({"trials": 4}, 4, None),
        ({"cell": {"a": 1}}, 1, {"a": 1}),
    ],
)
def test_centres_are_a_number_or_trials_of_a_cell(centre, trials, cell):
    assert plan._read_centre({"centre": centre}) == (trials, cell)
    assert plan._read_centre({}) == (0, None)


@pytest.mark.parametrize(
    ("asked", "code", "values"),
    [
        ({"centre": {"trials": 0}}, "not-an-integer", {"key": "trials", "setting": 0, "minimum": 1}),
        ({"centre": {"b": 1, "a": 2}}, "unknown-key", {"key": "a"}),
        ({"centre": {"cell": [1]}}, "invalid-cell", {"cell": [1]}),
        ({"centre": {"cell": {"x": 1}}}, "unknown-factor", {"factor": "x", "factors": "nodes, fs"}),
        ({"centre": {"cell": {"nodes": "a", "fs": "nfs"}}}, "unknown-level", {"level": "a", "factor": "nodes"}),
        ({"centre": {"cell": {"nodes": True, "fs": "nfs"}}}, None, {}),  # as 1, a level
        ({"centre": {"cell": {"nodes": 1, "fs": 3}}}, "unknown-level", {"level": 3, "factor": "fs"}),
        ({"centre": {"cell": {"nodes": 1}}}, "missing-factor", {"factor": "fs"}),
        ({"kind": "full", "blocs": "fs"}, "unknown-key", {"key": "blocs", "kind": "full", "nearest": "blocks"}),
        ({"kind": "full", "zzzzzz": 1}, "unknown-key", {"key": "zzzzzz", "nearest": ""}),
        ({"blocks": ["f"]}, "unknown-factor", {"key": "blocks", "factor": "f", "nearest": "fs"}),
        ({"hard_to_change": ["zz"]}, "unknown-factor", {"nearest": "", "factors": "nodes, fs"}),
        ({"blocks": ["nodes", "fs"], "hard_to_change": ["nodes", "fs"]}, "conflicting-roles", {"factor": "fs"}),
        ({"blocks": ["nodes", "fs"], "factors": ["nodes", "fs"]}, "block-as-factor", {"block": "fs"}),
        ({"kind": "ful"}, "unknown-design", {"kind": "ful", "nearest": "full"}),
        ({"kind": "qqq"}, "unknown-design", {"kind": "qqq", "nearest": ""}),
        ({"kind": "one_at_a_time", "base": 3}, "invalid-cell", {"cell": 3}),
        ({"kind": "one_at_a_time", "base": {"a": 3}}, "unknown-factor", {"factor": "a", "factors": "nodes, fs"}),
        ({"kind": "one_at_a_time", "base": {"fs": 3}}, "unknown-level", {"factor": "fs", "level": 3}),
        ({"kind": "list", "cells": []}, "missing-key", {}),
        ({"kind": "list", "cells": {"nodes": 1}}, "missing-key", {}),
        (
            {
                "kind": "list",
                "cells": [{"nodes": 1, "fs": "nfs"}, {"nodes": 2, "fs": "nfs"}, {"nodes": 2, "fs": "nfs"}],
            },
            "duplicate-cell",
            {"key": "design.cells[2]", "first_index": 1},
        ),
        ({"kind": "list", "cells": [{"fs": "nfs"}]}, "missing-factor", {"key": "design.cells[0]", "factor": "nodes"}),
        ({"kind": "list", "cells": [{"fs": "x", "nodes": 1}]}, "unknown-level", {"level": "x", "factor": "fs"}),
        ({"kind": "latin", "points": 2001, "tries": 1}, "out-of-range", {"key": "points", "limit": 2000}),
        ({"kind": "latin", "points": 2, "tries": 10_001}, "out-of-range", {"key": "tries", "limit": 10_000}),
        ({"kind": "latin", "points": 2, "ranges": [1]}, "invalid-range", {"ranges": [1]}),
    ],
)
def test_the_values_of_a_wrong_key(asked, code, values):
    if code is None:
        design.check_design(asked, [NODES, FS])
        return
    with raises(code, InputError, **values):
        design.check_design(asked, [NODES, FS])


def test_the_name_of_the_mark_of_centre_trials_is_reserved_where_there_are_any():
    factors = [NODES, Factor(CENTRE, "", (1, 2))]
    design.check_design(design.FULL, factors)
    with raises("reserved-name", factor=CENTRE):
        design.check_design({"centre": 1}, factors)


@pytest.mark.parametrize(
    ("unit", "value", "level"),
    [
        ("bytes", "64KiB", 65536),
        ("bytes", "many", "many"),
        ("bytes", 7, 7),
        ("s", "1min", 60.0),
        ("s", "1KiB", "1KiB"),
        ("nodes", "64KiB", "64KiB"),
    ],
)
def test_a_value_is_converted_to_the_unit_of_its_factor(unit, value, level):
    assert plan.convert_level(Factor("f", unit), value) == level


def test_a_cell_of_some_factors_is_checked_by_the_conditions_on_those_alone():
    conditions = plan.read_constraints({"constraints": ["a < 2", "a < b"]}, ["a", "b"])
    some, both = plan.build_cell_check(conditions, ["a"]), plan.build_cell_check(conditions, ["a", "b"])
    assert [some({"a": a}) for a in (1, 2)] == [True, False]
    assert [both({"a": 1, "b": b}) for b in (1, 2)] == [False, True]
    assert plan.read_constraints({}, ["a"]) == ()


def test_one_at_a_time_is_crossed_with_the_other_factors():
    asked = {"kind": "one_at_a_time", "factors": ["nodes", "fs"], "base": {"nodes": 2}}
    made = design.build_cells([NODES, PER_NODE, FS], asked, 1)
    base = [(2, "nfs"), (1, "nfs"), (4, "nfs"), (2, "lustre"), (2, "beegfs")]
    assert [tuple(c.values()) for c in made.cells] == [(n, per, fs) for n, fs in base for per in (1, 8)]
    assert codes(made.notes) == ["no-interactions"]


def test_as_many_cells_as_are_planned_at_most():
    whole = [Factor("a", "", tuple(range(10**3))), Factor("b", "", tuple(range(100)))]
    assert plan.MOST_CELLS == 10**5
    cells = kinds.cross_with_factors([{}], whole, whole)
    assert (len(cells), cells[0], cells[-1]) == (10**5, {"a": 0, "b": 0}, {"a": 999, "b": 99})
    with raises("too-many-cells", level_counts="1000 × 100 × 2", n_cells=2 * 10**5, max_cells=10**5):
        kinds.cross_with_factors([{}], [*whole, Factor("c", "", (0, 1))], whole)
    with raises("too-many-cells", n_cells=2 * 10**5):
        kinds.cross_with_factors([{}, {}], whole, whole)
