"""Advice: the table of defaults, trees and rules, and gains that are not luck."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csv_table import table_from
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.explain import advise_defaults
from iosonde.explain.advise import Wish, advise_settings
from iosonde.explain.advise_defaults import Default, build_defaults, find_best_default_by_criterion
from iosonde.explain.advise_gain import Learner, cross_validate_choice, grow_full_tree, mark_settings_tied_with_best
from iosonde.explain.advise_needs import compute_sufficient_values
from iosonde.explain.advise_parts import estimate_grouped_mean, iter_splits, needs_split_by_repeat
from iosonde.explain.advise_tree import choose_settings_by_tree, cut_tree, grow_advice_tree
from iosonde.explain.advise_trial import validate_by_new_trials
from iosonde.explain.instances import build_instances
from iosonde.explain.rules import build_rules
from messages import assert_problem, codes, raises, with_code
from outside import published_table

SIEVING = Path(__file__).parents[1] / "golden" / "data" / "sieving_384.csv"
CHOOSE, GIVEN = ["servers", "stripe", "sieving"], ["op", "hole_kib", "block_kib"]

# Kunkel, "Understanding I/O performance behaviour" (2016), System-Wide Defaults: servers/stripe/sieving, best and
# worst frequency, arithmetic mean relative, absolute, loss, harmonic mean relative.
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


def test_of_times_the_lowest_is_best():
    speeds = sieving()
    column = speeds.column("mib_s")
    times = build_table(
        {**{n: list(speeds.column(n).values) for n in (*CHOOSE, *GIVEN)}, "s": list(1000 / column.values)}
    )
    made, mirrored = (
        advise_settings(speeds, "mib_s", CHOOSE, GIVEN),
        advise_settings(times, "s", CHOOSE, GIVEN, wish=Wish(lower=True)),
    )
    for a, b in zip(made.defaults, mirrored.defaults, strict=True):
        assert (a.best, a.worst, a.rel_arith, a.rel_harm) == pytest.approx((b.best, b.worst, b.rel_arith, b.rel_harm))
    assert [r.sentence() for r in made.rules] == [r.sentence() for r in mirrored.rules]
    assert mirrored.gain.absolute.low > 0 and mirrored.gain.ratio.value == pytest.approx(made.gain.ratio.value)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(2, 5))
def test_rules_say_what_the_tree_says_on_all_rows_and_exactly_one_holds(seed, depth, n_settings):
    rng = np.random.default_rng(seed)
    rows = [(float(rng.integers(1, 6)), "abc"[rng.integers(3)], "yn"[rng.integers(2)]) for _ in range(40)]
    table = build_table(
        {
            "a": [r[0] for r in rows for _ in range(n_settings)],
            "b": [r[1] for r in rows for _ in range(n_settings)],
            "c": [r[2] for r in rows for _ in range(n_settings)],
            "s": [s for _ in rows for s in range(n_settings)],
            "v": rng.uniform(1, 2, len(rows) * n_settings).tolist(),
        }
    )
    made = build_instances(table, "v", ["s"], ["a", "b", "c"], False)
    share = advise_defaults.compute_shares_of_best(made.values, False)
    tree = cut_tree(grow_advice_tree(made.features, made.x, share, share.argmax(axis=1), depth), depth)
    keys = [made.key(row) for row in range(len(made))]
    found = build_rules(tree, made, share, share.argmax(axis=1))
    advised = choose_settings_by_tree(tree, made.x)
    for key, choice in zip(keys, advised, strict=True):
        holding = [rule for rule in found if rule.holds(key)]
        assert len(holding) == 1 and holding[0].setting == made.settings[choice]
    assert tree.depth <= depth and sum(rule.instances for rule in found) == len(made)
    assert len(found) == len(list(tree.leaves()))


def test_a_tree_cut_is_the_tree_of_that_depth():
    made = build_instances(sieving(), "mib_s", CHOOSE, GIVEN, False)
    rows = np.arange(len(made))
    full = grow_full_tree(made, made.values, rows, Learner(5))
    for depth in range(4):
        direct = grow_full_tree(made, made.values, rows, Learner(depth))
        assert (choose_settings_by_tree(full, made.x, depth) == choose_settings_by_tree(direct, made.x)).all()
        assert (choose_settings_by_tree(cut_tree(full, depth), made.x) == choose_settings_by_tree(direct, made.x)).all()


def test_what_no_single_instance_tells_many_together_do():
    made = advise_settings(
        made_up(np.random.default_rng(6), 60, 4, 3, 0.12, 0.1), "v", ["set"], ["size"], wish=Wish(depth=2)
    )
    assert made.kind == "rules" and {rule.setting[0] for rule in made.rules} == {"s1", "s2"}
    assert sum(d.tied for d in made.defaults) > 100  # of 240


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


def test_equal_settings_show_no_gain_and_get_no_advice():
    false, gains, naive = 0, [], []
    for seed in range(8):
        made = advise_settings(
            made_up(np.random.default_rng(seed), 16, 8, 2, noise=0.1), "v", ["set"], ["size", "op"], wish=Wish(depth=3)
        )
        false += made.kind != "nothing"
        gains.append(made.gain.share.value)
        naive.append(made.defaults[0].loss / (made.defaults[0].abs + made.defaults[0].loss))
    assert false <= 1
    assert np.mean(naive) > 0.05  # what who looks at the best alone would promise
    assert abs(np.mean(gains)) < 0.01


def test_a_gain_that_is_there_is_found_with_an_interval_that_holds_it():
    held = 0
    for seed in range(8):
        made = advise_settings(
            made_up(np.random.default_rng(seed), 24, 3, 2, 0.4, 0.05), "v", ["set"], ["size"], wish=Wish(depth=3)
        )
        assert made.kind == "rules" and [c.name for r in made.rules for c in r.conditions].count("size") >= 2
        truth = 0.5 * (1 - 1 / 1.4)  # the best default is right for one half of the workloads
        held += made.gain.share.low <= truth <= made.gain.share.high
    assert held >= 7


def test_choosing_for_each_instance_alone_is_measured_on_other_repeats():
    made = build_instances(made_up(np.random.default_rng(1), 40, 8, 4, 0.0, 0.1), "v", ["set"], ["size"], False)
    crossed = cross_validate_choice(made, Learner(2), 0)
    assert crossed.share["possible"].mean() < 0.97  # the best of others is no best here, where all are equal
    assert abs(crossed.share["possible"].mean() - crossed.share["random"].mean()) < 0.02


def test_within_the_noise_is_a_tie_and_needs_name_cells_and_trials():
    made = advise_settings(made_up(np.random.default_rng(2), 16, 3, 4, 0.0, 0.1), "v", ["set"], ["size"])
    assert made.kind == "nothing" and made.rules == ()
    assert min(d.tied for d in made.defaults) >= 14
    cell = made.needs.cells[0]
    assert cell.trials == 4 and (cell.more is None or cell.more > 0) and set(cell.instance) == {"size"}
    assert made.needs.cells[0].ratio >= made.needs.cells[-1].ratio >= 1


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


def test_the_setting_in_use_is_what_the_gain_is_over(golden):
    made = advise_settings(
        sieving(), "mib_s", CHOOSE, GIVEN, wish=Wish(current={"servers": "1", "stripe": "128K", "sieving": "off"})
    )
    assert made.gain.over == made.current == "1/128K/off"
    assert made.gain.share.value > golden.gain.share.value
    best = advise_settings(
        made_up(np.random.default_rng(7), 24, 3, 3, 0.0), "v", ["set"], ["size"], wish=Wish(current={"set": "s0"})
    )
    assert best.kind == "nothing"
    with raises("unmeasured-setting"):
        advise_settings(
            sieving(), "mib_s", CHOOSE, GIVEN, wish=Wish(current={"servers": "9", "stripe": "128K", "sieving": "off"})
        )
    with raises("incomplete-setting"):
        advise_settings(sieving(), "mib_s", CHOOSE, GIVEN, wish=Wish(current={"servers": "1"}))


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


def test_few_workloads_get_no_false_advice_and_a_true_one_is_found():
    from bench_advice import one_better, trials

    alike = [
        advise_settings(trials(one_better(0.0), 1, 5, np.random.default_rng(seed)), "v", ["set"]) for seed in range(20)
    ]
    assert sum(made.kind != "nothing" for made in alike) <= 3
    better = [
        advise_settings(trials(one_better(0.1), 4, 10, np.random.default_rng(seed)), "v", ["set"], ["size"])
        for seed in range(6)
    ]
    assert sum(made.kind == "default" and made.best_default == "s3" for made in better) >= 4


def test_one_trial_of_few_instances_tells_nothing():
    made = advise_settings(build_table({"a": [1, 2], "v": [1.0, 2.0]}), "v", ["a"])
    assert made.kind == "nothing" and made.gain is None and made.needs.repeats == 3


def test_the_same_data_gives_the_same_answer(golden):
    assert advise_settings(sieving(), "mib_s", CHOOSE, GIVEN).to_json() == golden.to_json()


def test_one_setting_under_two_names_is_counted_once_and_known_by_both():
    table = made_up(np.random.default_rng(8), 12, 3, 3, 0.0, 0.1)
    rows = {name: list(table.column(name).values) for name in ("size", "set", "v")}
    at = [i for i, name in enumerate(rows["set"]) if name == "s2"]
    shuffled = at[::-1]  # the same trials in another order
    again = {
        "size": [rows["size"][i] for i in shuffled],
        "set": ["s9"] * len(at),
        "v": [rows["v"][i] for i in shuffled],
    }
    made = advise_settings(build_table({name: rows[name] + again[name] for name in rows}), "v", ["set"], ["size"])
    plain = advise_settings(table, "v", ["set"], ["size"])
    assert made.instances.renamed == ((("s9",), ("s2",)),) and "identical-settings" in codes(made.warnings)
    assert {**made.to_json(), "warnings": []} == {**plain.to_json(), "warnings": []}
    assert (
        advise_settings(
            build_table({name: rows[name] + again[name] for name in rows}),
            "v",
            ["set"],
            ["size"],
            wish=Wish(current={"set": "s9"}),
        ).current
        == "s2"
    )
    with raises("identical-settings", DataError, n_settings=2):
        pair = [i for i in range(len(rows["set"])) if rows["set"][i] == "s2"]
        twice = {name: [rows[name][i] for i in pair] + again[name] for name in rows}
        advise_settings(build_table(twice), "v", ["set"], ["size"])


def test_copied_rows_are_no_repeats():
    once = made_up(np.random.default_rng(9), 12, 4, 1, 0.0, 0.1)
    rows = {name: list(once.column(name).values) * 3 for name in ("size", "set", "v")}
    made = advise_settings(build_table(rows), "v", ["set"], ["size"])
    assert made.instances.slots == 1 and made.to_json()["repeats"] == 1 and made.gain.possible is None
    assert all(d.tied is None for d in made.defaults) and "copied-trials" in codes(made.warnings)
    assert_problem(with_code(made.warnings, "copied-trials"), "copied-trials", n_trials=144)


def test_instances_that_are_copies_are_one_piece_of_evidence_and_held_out_together():
    once = made_up(np.random.default_rng(10), 10, 3, 2, 0.3, 0.1)
    rows = {name: list(once.column(name).values) for name in ("size", "set", "v")}
    both = {"size": rows["size"] + [x + 0.01 for x in rows["size"]], "set": rows["set"] * 2, "v": rows["v"] * 2}
    made = build_instances(build_table(both), "v", ["set"], ["size"], False)
    assert len(made) == 20 and len(np.unique(made.group)) == 10
    for split in iter_splits(made):
        assert not set(made.group[split.train]) & set(made.group[split.test])
    one, two = advise_settings(once, "v", ["set"], ["size"]), advise_settings(build_table(both), "v", ["set"], ["size"])
    assert two.gain.share.n == one.gain.share.n == 10
    assert_problem(with_code(two.warnings, "copied-instances"), "copied-instances", n=10, n_instances=20)


def test_the_cluster_robust_interval_is_that_of_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), [1, 2, 3, 4, 2, 3])
    values = rng.normal(1, 1, 15) + rng.normal(0, 1, 6)[group]
    theirs = sm.OLS(values, np.ones(15)).fit(cov_type="cluster", cov_kwds={"groups": group}, use_t=True)
    # Theirs has a further factor of (N - 1) / (N - k), which is 1 for a mean.
    low, high = theirs.conf_int(0.05)[0]
    ours = estimate_grouped_mean(values, 0.95, group)
    assert (ours.low, ours.high) == pytest.approx((low, high)) and ours.n == 6


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
    made = advise_settings(table, "v", ["set"], ["size"], wish=Wish(current={"set": "b"}))
    assert made.best_default == "a" and made.gain.lowest == pytest.approx(0.5, abs=0.01)


def test_what_would_settle_it_has_the_power_it_promises():
    from statsmodels.stats.power import TTestPower

    for size in (0.2, 0.5, 1.0):
        gain = estimate_grouped_mean(np.concatenate([np.full(3, size - 1), np.full(3, size + 1)]), 0.95)
        sd = np.sqrt(6 / 5)
        exact = TTestPower().solve_power(size / sd, alpha=0.05, power=0.8, alternative="two-sided")
        assert max(7, exact) <= compute_sufficient_values(gain) <= max(7, exact) + 2
    assert compute_sufficient_values(estimate_grouped_mean(np.array([-1.0, 0.5, -0.2]), 0.95)) is None
    assert compute_sufficient_values(estimate_grouped_mean(np.array([1.0, 2.0]), 0.95)) is None
    assert compute_sufficient_values(estimate_grouped_mean(np.array([1.0, 1.0, 1.0]), 0.95)) is None


def test_so_many_trials_as_asked_for_tell_two_settings_apart_four_times_in_five():
    from bench_advice import pair, trials_asked

    asked = trials_asked(0.1)
    assert asked == pytest.approx(2 * ((1.645 + 0.842) * 0.1 / np.log(1.1)) ** 2, abs=2)
    told = [
        not mark_settings_tied_with_best(build_instances(pair(0.1, asked, seed), "v", ["set"], [], False), 0.95).all()
        for seed in range(300)
    ]
    assert 0.72 <= np.mean(told) <= 0.9


def test_few_instances_are_told_how_many_trials_they_need():
    rng = np.random.default_rng(5)
    rows = [(name, 100 * (1.06 if name == "b" else 1) * np.exp(rng.normal(0, 0.1))) for name in "ab" for _ in range(6)]
    made = advise_settings(build_table({"set": [r[0] for r in rows], "v": [r[1] for r in rows]}), "v", ["set"])
    assert made.kind == "nothing" and made.needs.instances is None
    assert made.needs.trials > 6 and made.needs.of.startswith(f"{made.best_default} over ")
    two = advise_settings(build_table({"set": list("aabb"), "v": [1.0, 1.1, 1.3, 1.45]}), "v", ["set"])
    assert two.kind == "nothing" and two.needs.repeats == 3


def test_the_real_non_contiguous_data_give_the_known_figures():
    table = table_from(published_table())
    size, gap, on, buffer, fill, value = (table.columns[name].values for name in table.names)
    setting = [f"{'on' if o else 'off'} {b:g}" for o, b in zip(on, buffer, strict=True)]
    rows = build_table({"size": size, "gap": gap, "fill": fill, "set": setting, "v": value})
    made = advise_settings(rows, "v", ["set"], ["size", "gap", "fill"], wish=Wish(weigh=False))
    assert [tuple(sorted(pair[0] + pair[1])) for pair in made.instances.renamed] == [("on 100", "on 4")]
    assert len(made.instances) == 180 and made.to_json()["best_mean"] == pytest.approx(65.49, abs=0.01)
    found = {d.setting: (round(d.rel_arith, 3), round(d.rel_harm, 3)) for d in made.defaults}
    assert found == {"off 4": (0.821, 0.314), "on 1": (0.851, 0.711), "on 4": (0.791, 0.601)}
    assert [1 - made.depths[d].loss for d in (2, 3)] == pytest.approx([0.984, 0.990], abs=1.1e-3)
    # By the most frequent label of a leaf 0.848; a leaf here advises what has the highest mean share.
    assert 1 - made.depths[1].loss == pytest.approx(0.851, abs=1e-3)
    assert [1 - made.depths[d].crossed.value for d in (2, 3)] == pytest.approx([0.972, 0.974], abs=0.005)
    weighed = advise_settings(rows, "v", ["set"], ["size", "gap", "fill"])
    assert weighed.kind == "rules" and weighed.depth == 3 and weighed.gain.share.low > 0.05
    assert 1 - weighed.depths[1].crossed.value > 0.94  # by labels alone 0.82: worse than the best default
