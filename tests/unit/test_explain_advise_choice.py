"""Choice of settings: defaults, rules, copies, refusals and new trials."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.explain import advise_defaults
from iosonde.explain.advise import Wish, advise_settings
from iosonde.explain.advise_defaults import Default, build_defaults, find_best_default_by_criterion
from iosonde.explain.advise_gain import Learner, grow_full_tree
from iosonde.explain.advise_parts import iter_splits, needs_split_by_repeat
from iosonde.explain.advise_tree import choose_settings_by_tree, cut_tree, grow_advice_tree
from iosonde.explain.advise_trial import validate_by_new_trials
from iosonde.explain.instances import build_instances
from messages import assert_problem, codes, raises, with_code

SIEVING = Path(__file__).parents[1] / "golden" / "data" / "sieving_384.csv"

CHOOSE, GIVEN = ["servers", "stripe", "sieving"], ["op", "hole_kib", "block_kib"]

PUBLISHED = [
    ("1/128K/off", 20, 35, 58.4, 200.1, 102.1, 9.0),
    ("1/2M/off", 45, 39, 60.7, 261.5, 103.7, 9.0),
    ("2/128K/off", 87, 76, 69.8, 209.5, 92.7, 8.8),
    ("2/2M/off", 81, 14, 72.1, 284.2, 81.1, 8.9),
    ("1/128K/on", 79, 37, 64.1, 245.6, 56.7, 15.2),
    ("1/2M/on", 11, 75, 59.4, 259.2, 106.1, 14.4),
    ("2/128K/on", 80, 58, 68.7, 239.6, 62.6, 16.2),
    ("2/2M/on", 5, 74, 62.9, 258.0, 107.3, 14.9),
]


def sieving() -> Table:
    with SIEVING.open() as file:
        rows = list(csv.DictReader(file))
    numbers = {"hole_kib", "block_kib", "servers", "mib_s"}
    return build_table({n: [float(r[n]) if n in numbers else r[n] for r in rows] for n in rows[0]}, "sieving")


def made_up(rng, n=24, n_settings=4, repeats=3, effect=0.0, noise=0.08) -> Table:
    """Workloads with their own speeds; below size 50 setting 1 is better by ``effect``, above it setting 2."""
    rows = []
    for at, size in enumerate(np.linspace(1, 100, n)):
        base = float(np.exp(rng.normal(4, 0.8)))
        for setting in range(n_settings):
            mean = base * (1 + effect * (setting == (1 if size < 50 else 2)))
            rows += [
                ("rw"[at % 2], size, f"s{setting}", mean * float(np.exp(rng.normal(0, noise)))) for _ in range(repeats)
            ]
    return build_table(dict(zip(("op", "size", "set", "v"), map(list, zip(*rows, strict=True)), strict=True)))


def test_the_published_table_names_its_winners_and_criteria_disagree():
    rows = [Default(name, best, worst, a / 100, x, loss, h / 100) for name, best, worst, a, x, loss, h in PUBLISHED]
    by = find_best_default_by_criterion(rows)
    assert by["rel_arith"] == by["abs"] == "2/2M/off" and by["rel_harm"] == "2/128K/on" and by["loss"] == "1/128K/on"
    assert sum(d.best for d in rows) == sum(d.worst for d in rows) == 408
    assert np.mean([d.abs for d in rows]) == pytest.approx(244.7125, abs=0.11)
    assert (min(d.rel_arith for d in rows), max(d.rel_arith for d in rows)) == pytest.approx((0.584, 0.721))


def test_the_published_losses_are_of_each_stripe_size_alone_ours_of_one_best():
    sums = {
        stripe: {round(x + loss, 1) for name, *_, x, loss, _ in PUBLISHED if f"/{stripe}/" in name}
        for stripe in ("128K", "2M")
    }
    assert all(abs(total - 302.2) < 0.11 for total in sums["128K"])
    assert all(abs(total - 365.3) < 0.11 for total in sums["2M"])
    ours = build_instances(sieving(), "mib_s", CHOOSE, GIVEN, False)
    totals = [d.abs + d.loss for d in build_defaults(ours.values, ours.names, False)]
    assert np.ptp(totals) == pytest.approx(0, abs=1e-9)


GOLDEN = {
    "1/128K/off": (0, 24, 0.571513, 149.396, 121.409042, 0.551674),
    "1/128K/on": (0, 24, 0.562136, 156.091583, 114.713458, 0.514541),
    "1/2M/off": (0, 0, 0.582942, 152.383667, 118.421375, 0.562706),
    "1/2M/on": (0, 0, 0.573379, 159.213458, 111.591583, 0.524832),
    "2/128K/off": (0, 0, 0.857269, 224.094, 46.711042, 0.82751),
    "2/128K/on": (0, 0, 0.843205, 234.137396, 36.667646, 0.771812),
    "2/2M/off": (24, 0, 0.874414, 228.575667, 42.229375, 0.84406),
    "2/2M/on": (24, 0, 0.860068, 238.820104, 31.984937, 0.787248),
}


@pytest.fixture(scope="module")
def golden():
    return advise_settings(sieving(), "mib_s", CHOOSE, GIVEN)


def test_the_golden_table_of_defaults(golden):
    for d in golden.defaults:
        got = (d.best, d.worst, d.rel_arith, d.abs, d.loss, d.rel_harm)
        assert got == pytest.approx(GOLDEN[d.setting], abs=1e-5)
    assert not golden.criteria_agree


def test_one_column_alone_is_compared_with_the_rest_alike(golden):
    found = {e.column: e for e in golden.effects}
    assert list(found) == CHOOSE and (found["servers"].level, found["servers"].other) == (2, 1)
    servers, stripe = found["servers"].ratio, found["stripe"].ratio
    assert servers.low == pytest.approx(1.5) and stripe.value == pytest.approx(1.02, abs=1e-4)
    assert found["sieving"].low_case < 1 < found["sieving"].high_case


def test_the_golden_rules_are_found_and_cost_nothing(golden):
    assert golden.kind == "rules" and golden.depth <= 3
    assert golden.depths[3].loss == pytest.approx(0, abs=1e-6)
    ends = {c.high for r in golden.rules for c in r.conditions if c.high is not None}
    assert sorted(ends) == pytest.approx([128, 200], abs=8)
    for op, limit in (("write", 128), ("read", 200)):
        for hole in (32, 96, 112, 136, 160, 192, 208, 512):
            rule = golden.find_rule_for({"op": op, "hole_kib": hole, "block_kib": 64})
            assert rule.setting == (2, "2M", "on" if hole < limit else "off")


def test_a_leaf_shows_its_two_most_frequent_best_choices_and_where_they_differ():
    made = advise_settings(sieving(), "mib_s", CHOOSE, GIVEN, wish=Wish(depth=1, full=True))
    mixed = next(rule for rule in made.rules if len(rule.frequent) == 2)
    assert [n for _, n in mixed.frequent] == [18, 6] or sum(n for _, n in mixed.frequent) == mixed.instances
    assert mixed.differ == ("sieving",) and mixed.to_json()["hamming_distance"] == 1
    assert mixed.lowest < 1 and set(mixed.lowest_at) == set(GIVEN)


def test_a_tree_cut_is_the_tree_of_that_depth():
    made = build_instances(sieving(), "mib_s", CHOOSE, GIVEN, False)
    rows = np.arange(len(made))
    full = grow_full_tree(made, made.values, rows, Learner(5))
    for depth in range(4):
        direct = grow_full_tree(made, made.values, rows, Learner(depth))
        assert (choose_settings_by_tree(full, made.x, depth) == choose_settings_by_tree(direct, made.x)).all()
        assert (choose_settings_by_tree(cut_tree(full, depth), made.x) == choose_settings_by_tree(direct, made.x)).all()


def test_the_tree_is_that_of_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(5)
    made = build_instances(made_up(rng, 40, 3, 1, 0.3), "v", ["set"], ["op", "size"], False)
    share = advise_defaults.compute_shares_of_best(made.values, False)
    label = share.argmax(axis=1)
    theirs = DecisionTreeClassifier(max_depth=4, min_samples_leaf=2, random_state=0)
    theirs.fit(made.x, label, sample_weight=1 - share.mean(axis=1) + 1e-9)
    leaf = theirs.apply(made.x)
    expected = [share[leaf == at].mean(axis=0).argmax() for at in leaf]
    assert (choose_settings_by_tree(grow_advice_tree(made.features, made.x, share, label, 4), made.x) == expected).all()


def test_few_instances_are_split_by_repeats_only():
    rng = np.random.default_rng(3)
    clear = made_up(rng, 3, 3, 5, 0.0, 0.02)
    faster = build_table(
        {n: list(clear.column(n).values) for n in ("op", "size", "set")}
        | {
            "v": [
                v * (1.5 if s == "s2" else 1)
                for v, s in zip(clear.column("v").values, clear.column("set").values, strict=True)
            ]
        }
    )
    made = advise_settings(faster, "v", ["set"], ["size"])
    assert made.kind == "default" and made.best_default == "s2" and [r.when for r in made.rules] == ["always"]
    assert made.over_random.low > 0 and "few-instances" in codes(made.warnings)
    assert advise_settings(faster, "v", ["set"]).best_default == "s2"


def test_without_repeats_it_is_said(golden):
    assert "single-trial" in codes(golden.warnings)
    assert golden.gain.possible is None and all(d.tied is None for d in golden.defaults)


def test_incomplete_instances_are_counted_and_not_used():
    table = made_up(np.random.default_rng(4), 12, 3, 2, 0.4)
    keep = np.ones(len(table), dtype=bool)
    keep[:2] = False
    made = advise_settings(table.take(keep), "v", ["set"], ["size"])
    assert len(made.instances) == 11 and made.instances.incomplete == 1
    assert_problem(with_code(made.warnings, "missing-settings"), "missing-settings", n=1, n_instances=12)


def test_the_advice_tried_brings_what_it_said():
    rng = np.random.default_rng(11)
    made = advise_settings(made_up(rng, 24, 3, 3, 0.4, 0.05), "v", ["set"], ["size"])
    tried = validate_by_new_trials(made, made_up(rng, 24, 3, 2, 0.4, 0.05))
    assert tried.verdict == "kept" and tried.instances == 24
    assert tried.difference.low <= 1 <= tried.difference.high
    sides = [made.best_default] * 4 + ["s1"] * 2 + ["s2"] * 2
    speeds = [100.0] * 4 + [140.0, 139.0, 141.0, 142.0]
    elsewhere = build_table({"size": [10.5, 30.5, 60.5, 90.5] * 2, "set": sides, "v": speeds})
    assert validate_by_new_trials(made, elsewhere).instances == 4
    assert validate_by_new_trials(made, made_up(rng, 24, 3, 2, 0.0, 0.05)).verdict == "less"


def test_new_trials_are_read_as_the_old_ones_were():
    rng = np.random.default_rng(11)
    table = made_up(rng, 24, 3, 3, 0.4, 0.05)
    named = {"s0": "auto", "s1": "1", "s2": "2"}  # text, for one of them is
    rows = {
        "size": list(table.column("size").values),
        "op": list(table.column("op").values),
        "set": [named[s] for s in table.column("set").values],
        "v": list(table.column("v").values),
    }
    made = advise_settings(build_table(rows), "v", ["set"], ["size", "op"], wish=Wish(current={"set": "2"}))
    numbers = {
        "size": [10.0, 10.0, 500.0, 500.0, 20.0, 20.0],
        "op": ["r", "r", "r", "r", "x", "x"],
        "set": [1, 2] * 3,
        "v": [1.4, 1.0] * 3,
    }
    tried = validate_by_new_trials(made, build_table(numbers))
    assert (tried.instances, tried.unused) == (1, 2)  # 500 and x were never tried
    with raises("not-a-number", DataError, cell="big"):
        validate_by_new_trials(made, build_table({**numbers, "size": ["big"] * 6}))


def test_trying_an_advice_on_its_own_trials_is_refused():
    table = made_up(np.random.default_rng(11), 24, 3, 3, 0.4, 0.05)
    made = advise_settings(table, "v", ["set"], ["size"])
    with raises("training-data-reused", DataError):
        validate_by_new_trials(made, table)
    with raises("no-paired-trials", DataError):
        validate_by_new_trials(made, build_table({"size": [1.0], "set": ["s1"], "v": [3.0]}))


@pytest.mark.parametrize(
    "columns, choose, fixed, error, code",
    [
        ({"a": [1, 1], "g": [1, 2], "v": [1.0, 2.0]}, ["a"], ["g"], DataError, "constant-column"),
        ({"a": [1, 2], "g": [1, 2], "v": [1.0, 2.0]}, ["a"], ["g"], DataError, "no-shared-instance"),
        ({"a": [1, 2, 2, 3], "g": [1, 1, 2, 2], "v": [1.0] * 4}, ["a"], ["g"], DataError, "no-complete-instance"),
        ({"a": [1, 2], "g": [1, 1], "v": [1.0, 0.0]}, ["a"], ["g"], DataError, "nonpositive-value"),
        ({"a": [1, 2], "g": [1, 1], "v": [1.0, 2.0]}, ["x"], ["g"], DataError, "unknown-column"),
        ({"a": [1, 2], "g": [1, 1], "v": [1.0, 2.0]}, ["a"], ["a"], InputError, "duplicate-column"),
        ({"a": [1, 2], "g": [1, 1], "v": [1.0, 2.0]}, ["v"], ["g"], InputError, "response-as-factor"),
        ({"a": [1, 2], "g": [1, 1], "v": [1.0, 2.0]}, [], ["g"], InputError, "missing-option"),
        ({"a": [1, None], "g": [None, 1], "v": [1.0, 2.0]}, ["a"], ["g"], DataError, "no-complete-rows"),
    ],
)
def test_bad_input_gets_one_sentence(columns, choose, fixed, error, code):
    with raises(code, error):
        advise_settings(build_table(columns), "v", choose, fixed)


def test_one_trial_of_few_instances_tells_nothing():
    made = advise_settings(build_table({"a": [1, 2], "v": [1.0, 2.0]}), "v", ["a"])
    assert made.kind == "nothing" and made.gain is None and made.needs.repeats == 3


def test_one_setting_under_two_names_is_one_column_of_instances():
    once = made_up(np.random.default_rng(8), 12, 3, 3, 0.0, 0.1)
    rows = {name: list(once.column(name).values) for name in ("size", "set", "v")}
    at = [i for i, name in enumerate(rows["set"]) if name == "s0"][::-1]  # the same trials in another order
    sizes, values = [rows["size"][i] for i in at], [rows["v"][i] for i in at]
    table = build_table({"size": sizes + rows["size"], "set": ["a"] * 36 + rows["set"], "v": values + rows["v"]})
    made, plain = (build_instances(data, "v", ["set"], ["size"], False) for data in (table, once))
    assert (made.renamed, made.names) == (((("s0",), ("a",)),), ("a", "s1", "s2"))
    assert_problem(with_code(made.warnings, "identical-settings"), "identical-settings", copy="s0", setting="a")
    order = np.argsort(made.x[:, 0])
    assert made.x[order].tolist() == plain.x.tolist() and (made.trials == 3).all() and (made.counts == 1).all()
    assert made.values[order] == pytest.approx(plain.values) and made.log_ss[order] == pytest.approx(plain.log_ss)
    assert (made.incomplete, made.slots, made.log_df.tolist()) == (0, 3, [6.0] * 12)
    alone = [i for i, name in enumerate(rows["set"]) if name == "s0"]
    twice = {"size": sizes * 2, "set": ["a"] * 36 + ["s0"] * 36, "v": values + [rows["v"][i] for i in alone[::-1]]}
    with raises("identical-settings", DataError, n_settings=2):
        build_instances(build_table(twice), "v", ["set"], ["size"], False)


def test_copied_rows_are_no_repeats():
    once = made_up(np.random.default_rng(9), 12, 4, 1, 0.0, 0.1)
    rows = {name: list(once.column(name).values) * 3 for name in ("size", "set", "v")}
    made = advise_settings(build_table(rows), "v", ["set"], ["size"])
    assert made.instances.slots == 1 and made.to_json()["repeats"] == 1 and made.gain.possible is None
    assert all(d.tied is None for d in made.defaults) and "copied-trials" in codes(made.warnings)
    assert_problem(with_code(made.warnings, "copied-trials"), "copied-trials", n_trials=144)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 9))
def test_every_partition_measures_each_instance_and_slot_once_and_learns_from_none_of_them(seed, n, repeats):
    made = build_instances(made_up(np.random.default_rng(seed), n, 3, repeats), "v", ["set"], ["size"], False)
    seen: dict[int, list[tuple[int, int]]] = {}
    for split in iter_splits(made):
        slots = range(made.slots) if split.slots is None else split.slots.tolist()
        seen.setdefault(split.partition, []).extend((int(row), slot) for row in split.test for slot in slots)
        if not needs_split_by_repeat(made):
            assert not set(split.train) & set(split.test)
        assert split.slots is None or 0 < len(split.slots) < made.slots
    for visits in seen.values():
        assert sorted(visits) == [(row, slot) for row in range(n) for slot in range(made.slots)]


def test_the_worst_case_of_few_instances_is_an_instance_not_a_repeat():
    rows = [
        (size, name, 100.0 * (0.5 if (name, size) == ("a", 3) else 1.5 if name == "a" else 1.0) * (1 + 0.001 * k))
        for size in (1, 2, 3)
        for name in "ab"
        for k in range(4)
    ]
    rows = [(size, name, v * (1 + 1e-6 * at**2)) for at, (size, name, v) in enumerate(rows)]
    table = build_table(dict(zip(("size", "set", "v"), map(list, zip(*rows, strict=True)), strict=True)))
    made = advise_settings(table, "v", ["set"], ["size"])
    assert made.best_default == "a" and made.gain.reference_lowest == pytest.approx(0.5, abs=0.01)
    assert made.kind == "rules" and made.gain.lowest == pytest.approx(1.0)


def test_few_instances_are_told_how_many_trials_they_need():
    rng = np.random.default_rng(5)
    rows = [(name, 100 * (1.06 if name == "b" else 1) * np.exp(rng.normal(0, 0.1))) for name in "ab" for _ in range(6)]
    made = advise_settings(build_table({"set": [r[0] for r in rows], "v": [r[1] for r in rows]}), "v", ["set"])
    assert made.kind == "nothing" and made.needs.instances is None
    assert made.needs.trials > 6 and made.needs.of.startswith(f"{made.best_default} over ")
    two = advise_settings(build_table({"set": list("aabb"), "v": [1.0, 1.1, 1.3, 1.45]}), "v", ["set"])
    assert two.kind == "nothing" and two.needs.repeats == 3
