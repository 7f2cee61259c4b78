"""Finders of causes: operations that are slow by a rule that we set are named by it, and chance is not."""

from __future__ import annotations

import diagnose_sample as sample
import numpy as np
import pytest

from iosonde.explain import causes
from iosonde.explain.causes.target import Target
from iosonde.stats.density import histogram

N = 4000
SIZE, UNIT = sample.SIZE, 1 << 20


def told(seed: int, ranks: int, rule, offsets=None, **more):
    """What is said of the slow class of a trial."""
    rng = np.random.default_rng(seed)
    where = None if offsets is None else np.tile(offsets(rng), ranks)
    made = sample.rows(N, ranks, lambda r, i, o: rule(r, i, o, rng), rng, where)
    operations = sample.operations(made, **more)
    classes = sample.classes_of(made)
    of = classes.classify(made["duration_ns"])
    assert classes.count >= 2
    return [
        one
        for place in range(classes.fast + 1, classes.count)
        for one in causes.find_suspects(Target(operations, of == place, place))
    ]


def anywhere(rng):
    return rng.integers(0, N, N) * SIZE


def jumps(rng):
    offsets = np.arange(N) * SIZE
    some = rng.random(N) < 0.1
    offsets[some] = rng.integers(0, N, int(some.sum())) * SIZE
    return offsets


def again(rng):
    return rng.integers(0, N // 2, N) * SIZE


def first(offsets):
    found = np.zeros(offsets.size, bool)
    found[np.unique(offsets, return_index=True)[1]] = True
    return found


HOSTS = {rank: f"n{rank // 2}" for rank in range(8)}
CASES = {
    "read-ahead window": ("S401", 2, lambda r, i, o, g: i % 16 == 0, None, {"period_bytes": UNIT}),
    "and half of it by chance": (
        "S401",
        2,
        lambda r, i, o, g: (i % 16 == 0) & (g.random(i.size) < 0.6),
        None,
        {"period_operations": 16},
    ),
    "one slow server of four": ("S401", 1, lambda r, i, o, g: i % 64 >= 48, None, {"slow_bytes": UNIT}),
    "the same, anywhere": (
        "S406",
        1,
        lambda r, i, o, g: o // UNIT % 4 == 2,
        anywhere,
        {"unit_bytes": 4 * UNIT, "width_bytes": UNIT, "from_bytes": 2 * UNIT},
    ),
    "one of three": (
        "S406",
        1,
        lambda r, i, o, g: o // UNIT % 3 == 2,
        anywhere,
        {"unit_bytes": 3 * UNIT, "width_bytes": UNIT},
    ),
    "across stripes": (
        "S406",
        1,
        lambda r, i, o, g: o % UNIT + SIZE > UNIT,
        lambda g: g.integers(0, N * SIZE, N),
        {"unit_bytes": UNIT, "crosses": True},
    ),
    "a limit of dirty data": ("S404", 2, lambda r, i, o, g: i > 3000, None, {"late": True}),
    "warming up": ("S404", 2, lambda r, i, o, g: i < 200, None, {"late": False}),
    "another user": ("S403", 1, lambda r, i, o, g: np.isin(i // 50, g.choice(80, 6, False)), None, {}),
    "a slow rank": ("S408", 8, lambda r, i, o, g: (r == 5) & (g.random(i.size) < 0.9), None, {"ranks": [5]}),
    "a slow node": ("S408", 8, lambda r, i, o, g: (r // 2 == 2) & (g.random(i.size) < 0.9), None, {"hosts": ["n2"]}),
    "a seek": ("S407", 1, lambda r, i, o, g: np.diff(o, prepend=-SIZE) != SIZE, jumps, {"backwards": False}),
    "the first touch": ("S405", 1, lambda r, i, o, g: first(o), again, {"first": "on its place in the file"}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_rule_is_found_with_its_numbers(name, seed):
    code, ranks, rule, offsets, evidence = CASES[name]
    hosts = {"hosts": HOSTS} if ranks == 8 else {}
    found = told(seed, ranks, rule, offsets, **hosts)
    assert found and found[0].code == code, [one.sentence for one in found]
    assert found[0].agreement.kappa > 0.55 and found[0].confirm
    assert {key: found[0].evidence[key] for key in evidence} == evidence


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("offsets", [None, anywhere])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_of_chance_it_is_said_to_be_chance(ranks, offsets, share):
    for seed in range(3):
        [one] = told(seed, ranks, lambda r, i, o, g: g.random(i.size) < share, offsets)
        assert one.code == "S412" and abs(one.evidence["probability"] / share - 1) < 0.4


def test_a_rare_chance_is_not_said_to_be_none():
    rng = np.random.default_rng(7)
    slow = np.zeros(200_000, bool)
    slow[rng.choice(slow.size, 40, replace=False)] = True
    made = sample.rows(slow.size, 1, lambda r, i, o: slow[i], rng)
    [one] = [found for found in causes.find_suspects(Target(sample.operations(made), slow, 1)) if found.code == "S412"]
    assert one.sentence.startswith("0.02 % ")


def test_stalls_of_all_ranks_and_a_clock():
    rng = np.random.default_rng(5)
    made = sample.rows(N, 4, lambda r, i, o: i < 0, rng)
    stalls = sample.BEGIN + np.sort(rng.choice(80, 12, replace=False)) * 10**6
    for rank in range(4):
        at = sample.BEGIN
        for row in np.flatnonzero(made["rank"] == rank):
            took = int(made["duration_ns"][row]) + 600
            took += 2_000_000 * int(((stalls >= at) & (stalls < at + took)).any())
            made["start_ns"][row], made["duration_ns"][row] = at, took - 500
            at += took
    classes = sample.classes_of(made)
    slow = classes.classify(made["duration_ns"]) == classes.count - 1
    found = causes.find_suspects(Target(sample.operations(made), slow, 1))
    assert found[0].code == "S409" and found[0].agreement.kappa > 0.9 and found[0].evidence["moments"] >= 8
    apart = sample.operations(made, comparable=False)
    assert "S409" not in {one.code for one in causes.find_suspects(Target(apart, slow, 1))}


def test_a_sample_of_the_operations_tells_no_order():
    rng = np.random.default_rng(3)
    made = sample.rows(N, 1, lambda r, i, o: i % 16 == 0, rng)
    slow = made["duration_ns"] > 1e5
    found = causes.find_suspects(Target(sample.operations(made, in_order=False), slow, 1))
    assert [one.code for one in found] == ["S406"], "where is still known"


def test_a_unit_that_the_file_system_names_is_told():
    unit = "the mount's rsize"
    found = told(1, 1, lambda r, i, o, g: i % 16 == 0, units={unit: UNIT})
    assert f"1 MiB ({unit})" in found[0].sentence


def test_a_far_hill_and_what_lies_beyond_the_last_are_unexpected():
    rng = np.random.default_rng(4)
    fast = 2e4 * np.exp(0.15 * rng.standard_normal(2000))
    far = sample.classify_by_density(histogram.histogram_from_values(np.append(fast, [5e8, 9e8])))
    assert (far.count, far.unexpected, far.fast) == (2, 1, 0)
    assert sample.classify_by_density(histogram.histogram_from_values(fast)).unexpected is None
    large = np.append(fast, 3e5 * np.exp(0.15 * rng.standard_normal(1000)))
    assert sample.classify_by_density(histogram.histogram_from_values(large)).unexpected is None, (
        "a third is no outlier"
    )
