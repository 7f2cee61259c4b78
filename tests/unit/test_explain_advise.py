"""Advice: gains that are not luck, and that are there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_explain_advise_choice import CHOOSE, GIVEN, made_up, sieving

from csv_table import table_from
from iosonde.core.errors import DataError
from iosonde.core.table import build_table
from iosonde.explain import advise_defaults
from iosonde.explain.advise import Wish, advise_settings
from iosonde.explain.advise_gain import Learner, cross_validate_choice
from iosonde.explain.advise_needs import compute_sufficient_values
from iosonde.explain.advise_parts import estimate_grouped_mean, iter_splits
from iosonde.explain.advise_tree import choose_settings_by_tree, cut_tree, grow_advice_tree
from iosonde.explain.instances import build_instances
from iosonde.explain.rules import build_rules
from messages import assert_problem, codes, raises, with_code
from outside import published_table


@pytest.fixture(scope="module")
def golden():
    return advise_settings(sieving(), "mib_s", CHOOSE, GIVEN)


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


def test_what_no_single_instance_tells_many_together_do():
    made = advise_settings(
        made_up(np.random.default_rng(6), 60, 4, 3, 0.12, 0.1), "v", ["set"], ["size"], wish=Wish(depth=2)
    )
    assert made.kind == "rules" and {rule.setting[0] for rule in made.rules} == {"s1", "s2"}
    assert sum(d.tied for d in made.defaults) > 100  # of 240


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


def test_the_same_data_gives_the_same_answer(golden):
    assert advise_settings(sieving(), "mib_s", CHOOSE, GIVEN).to_json() == golden.to_json()


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
    from bench_advice import differ, trials_asked

    asked = trials_asked(0.1)
    assert asked == pytest.approx(2 * ((1.96 + 0.842) * 0.1 / np.log(1.1)) ** 2, abs=2)
    told = [differ(0.1, asked, seed) for seed in range(300)]
    assert 0.72 <= np.mean(told) <= 0.9


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


def compression_table(noise: float = 0.02):
    """Compression helps text and harms media a little, at three block sizes; at one of them the harm is not
    significant by itself."""
    rng = np.random.default_rng(3)
    rows = []
    for block, media in ((4, 1.04), (64, 1.005), (1024, 1.04)):
        for data, off in (("text", 0.8), ("media", media)):
            for compression, factor in (("lz4", 1.0), ("off", off)):
                rows += [(compression, block, data, 100 * factor * (1 + noise * e)) for e in rng.normal(size=4)]
    names = ("compression", "block", "data", "speed")
    return build_table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def advise_compression(**wish: object):
    return advise_settings(compression_table(0.003), "speed", ("compression",), ("block", "data"), wish=Wish(**wish))


def test_of_few_workloads_the_shortest_rule_that_does_as_well_is_advised():
    advice = advise_compression()
    assert sum(case.is_sure for case in advice.cases) < len(advice.cases)
    assert {(rule.conditions[0].levels, rule.setting) for rule in advice.rules} == {
        (("text",), ("lz4",)),
        (("media",), ("off",)),
    }
    assert {len(rule.conditions) for rule in advice.rules} == {1}


def test_depth_limits_the_rules_of_few_workloads():
    assert {len(rule.conditions) for rule in advise_compression(depth=1).rules} == {1}
    assert all(not rule.conditions for rule in advise_compression(depth=0).rules)
    assert any("full" in str(warning) for warning in advise_compression(full=True).warnings)
