"""Numbers of an advice on tables small enough to compute them again by hand, with NumPy or with SciPy."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy import stats

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.core.types import Estimate
from iosonde.core.words import format_ratio_interval, format_share_difference, format_share_interval
from iosonde.explain import advise_defaults, instance_twins
from iosonde.explain.advise import Wish, advise_settings
from iosonde.explain.advise_defaults import CRITERIA, Default, build_defaults, find_best_default_by_criterion
from iosonde.explain.advise_effects import Effect, estimate_setting_effects, select_largest_effect
from iosonde.explain.advise_gain import (
    Crossed,
    Learner,
    cross_validate_choice,
    mark_settings_tied_with_best,
    pick_depth,
    select_best_setting_by_instance,
)
from iosonde.explain.advise_intervals import (
    bound_instance_share,
    bound_repeat_share,
    cut_share_to_range,
    estimate_absolute_gain,
    estimate_mean_from_noise,
    estimate_ratio_gain,
    estimate_share_gain,
    find_best_settings,
    to_one_hot,
)
from iosonde.explain.advise_needs import compute_deciding_needs, compute_sufficient_values
from iosonde.explain.advise_parts import estimate_grouped_mean, iter_splits, needs_split_by_repeat, partition_groups
from iosonde.explain.advise_tree import Node, Question, choose_settings_by_tree, grow_advice_tree
from iosonde.explain.advise_tree import cut_tree as cut_tree
from iosonde.explain.advise_trial import UNTOLD, validate_by_new_trials
from iosonde.explain.advise_words import describe_advice
from iosonde.explain.instances import Instances, build_instances
from iosonde.explain.rules import Rule, RuleCondition, build_rules
from iosonde.model.fit.features import Feature
from iosonde.stats.estimate.compare import build_group, compare_groups
from iosonde.stats.estimate.within_cells import compare_within_cells
from messages import assert_problem, codes, raises

# Instance → setting → trials.
SPEEDS = {
    1.0: {"a": [100.0, 110.0, 105.0], "b": [50.0, 52.0, 51.0], "c": [80.0, 84.0, 86.0]},
    8.0: {"a": [30.0, 33.0, 31.0], "b": [60.0, 66.0, 63.0], "c": [58.0, 64.0, 65.0]},
}


def build_speeds(trials: dict) -> Table:
    rows = [(size, name, value) for size, by_name in trials.items() for name, many in by_name.items() for value in many]
    return build_table(dict(zip(("size", "set", "v"), map(list, zip(*rows, strict=True)), strict=True)), "speeds")


def build_sample(trials: dict | None = None, lower: bool = False) -> Instances:
    return build_instances(build_speeds(trials or SPEEDS), "v", ["set"], ["size"], lower)


CELLS = [list(by_name.values()) for by_name in SPEEDS.values()]
MEANS = np.mean(CELLS, axis=2)
SS = ((np.log(CELLS) - np.log(CELLS).mean(axis=2, keepdims=True)) ** 2).sum(axis=2)
NOISE = np.sqrt(SS.sum() / 12)  # twelve degrees of freedom: six cells of three trials


def get_interval(estimate: Estimate) -> tuple:
    return estimate.value, estimate.low, estimate.high


def test_instances_have_the_sums_of_their_trials():
    data = build_sample()
    assert data.values == pytest.approx(MEANS) and data.log_ss == pytest.approx(SS)
    assert (data.slots, data.log_df.tolist(), data.trials.tolist()) == (3, [6.0, 6.0], [[3, 3, 3]] * 2)
    assert data.sums.sum(axis=2) == pytest.approx(np.sum(CELLS, axis=2)) and (data.counts == 1).all()
    assert data.names == ("a", "b", "c") and data.levels_of("b") == {"set": "b"}
    assert [data.key(row) for row in (0, 1)] == [{"size": 1}, {"size": 8}]
    assert data.noise() == pytest.approx([NOISE, NOISE])
    assert (data.incomplete, data.group.tolist(), data.warnings, data.renamed) == (0, [0, 1], (), ())


def test_an_instance_with_ten_degrees_of_freedom_has_its_own_noise():
    rng = np.random.default_rng(3)
    many = {name: rng.uniform(1, 2, 6).tolist() for name in "ab"}
    data = build_sample({1.0: many, 8.0: {"a": [1.0, 1.5], "b": [2.0, 2.6]}})
    own = np.sqrt(sum(6 * np.var(np.log(values)) for values in many.values()) / 10)
    pooled = np.sqrt(data.log_ss.sum() / 12)
    assert data.log_df.tolist() == [10.0, 2.0] and data.noise() == pytest.approx([own, pooled])
    assert data.slots == 2, "every cell has two"
    single = build_sample({1.0: {"a": [1.0], "b": [2.0]}})
    assert np.isnan(single.noise()).all() and single.slots == 1


@pytest.mark.parametrize("lower", [False, True])
def test_a_row_of_defaults(lower):
    values = np.array([[4.0, 2.0, 3.0], [1.0, 5.0, 4.0]])
    best = values.min(axis=1) if lower else values.max(axis=1)
    share = best[:, None] / values if lower else values / best[:, None]
    marks = np.array([[True, False, True], [False, True, True]])
    rows = build_defaults(values, ["a", "b", "c"], lower, marks)
    assert [asdict(row) for row in rows] == [
        pytest.approx(
            {
                "setting": name,
                "best": {"a": 1, "b": 1, "c": 0}[name],
                "worst": {"a": 1, "b": 1, "c": 0}[name],
                "rel_arith": share[:, at].mean(),
                "abs": values[:, at].mean(),
                "loss": np.abs(best - values[:, at]).mean(),
                "rel_harm": stats.hmean(share[:, at]),
                "abs_harm": stats.hmean(values[:, at]),
                "lowest": share[:, at].min(),
                "tied": {"a": 1, "b": 1, "c": 2}[name],
            }
        )
        for at, name in enumerate("abc")
    ]
    assert rows[0].to_json() == asdict(rows[0]) and build_defaults(values, list("abc"), lower)[0].tied is None


def test_each_criterion_has_its_winner_and_a_tie_goes_to_the_higher_mean():
    table = [
        Default("a", 3, 5, 0.5, 100.0, 9.0, 0.4, lowest=0.1),
        Default("b", 3, 1, 0.6, 90.0, 8.0, 0.3, lowest=0.3),
        Default("c", 1, 1, 0.4, 120.0, 7.0, 0.2, lowest=0.2),
    ]
    expected = {
        "rel_arith": "b",
        "rel_harm": "a",
        "abs": "c",
        "loss": "c",
        "best": "b",
        "worst": "b",
        "lowest": "b",
    }
    assert set(expected) == set(CRITERIA)
    assert find_best_default_by_criterion(table) == expected and find_best_default_by_criterion(
        table, lower=True
    ) == expected | {"abs": "b"}


def test_the_best_setting_of_an_instance_is_on_a_tie_that_of_all():
    share = np.array([[1.0, 1.0, 0.5], [0.2, 0.95, 1.0], [1.0, 0.3, 0.3]])
    assert select_best_setting_by_instance(share).tolist() == [1, 2, 0]


def test_settings_tie_without_repeats_only_when_equal():
    data = build_sample({1.0: {"a": [2.0], "b": [2.0], "c": [1.9]}, 2.0: {"a": [1.0], "b": [3.0], "c": [3.0]}})
    assert mark_settings_tied_with_best(data, 0.95).tolist() == [[True, True, False], [False, True, True]]


def test_settings_tie_within_the_noise_of_both():
    data = build_sample()
    limit = stats.t.ppf(1 - 0.05 / 2, 12) * NOISE * np.sqrt(2 / 3)
    gap = np.log(MEANS.max(axis=1, keepdims=True)) - np.log(MEANS)
    assert (
        mark_settings_tied_with_best(data, 0.95).tolist()
        == (gap <= limit).tolist()
        == [[True, False, False], [False, True, True]]
    )


TREE = Node(
    0,
    np.arange(8),
    Question(0, 4.0, False),
    Node(1, np.arange(4), Question(1, 1.0, True), Node(1, np.arange(2)), Node(2, np.arange(2, 4))),
    Node(3, np.arange(4, 8), Question(0, 9.0, False), Node(3, np.arange(4, 6)), Node(3, np.arange(6, 8))),
)


def test_a_tree_answers_and_is_cut():
    x = np.array([[4.0, 1.0], [4.0, 0.0], [4.1, 1.0], [9.1, 0.0]])
    assert choose_settings_by_tree(TREE, x).tolist() == [1, 2, 3, 3]
    assert [choose_settings_by_tree(TREE, x, depth).tolist() for depth in (0, 1)] == [[0] * 4, [1, 1, 3, 3]]
    assert (TREE.depth, TREE.leaf, [leaf.choice for leaf in TREE.leaves()]) == (2, False, [1, 2, 3, 3])
    whole = cut_tree(TREE, 2)
    assert (whole.depth, [leaf.choice for leaf in whole.leaves()]) == (2, [1, 2, 3]), "equal leaves become one"
    assert [leaf.choice for leaf in cut_tree(TREE, 1).leaves()] == [1, 3]
    assert cut_tree(TREE, 0).leaf and cut_tree(TREE, 0).choice == 0


@pytest.mark.parametrize(
    ("numbers", "at"), [((1, 2, 3, 4), 2.5), ((1, 10, 1000, 2000), 500.0), ((0.1, 0.123, 0.124, 0.2), 0.1235)]
)
def test_a_question_is_halfway_in_few_digits(numbers, at):
    share = np.array([[1.0, 0.5]] * 2 + [[0.5, 1.0]] * 2)
    tree = grow_advice_tree(
        [Feature("x", "", tuple(numbers), True)],
        np.array(numbers, float)[:, None],
        share,
        select_best_setting_by_instance(share),
        3,
    )
    assert (tree.question, tree.yes.choice, tree.no.choice) == (Question(0, at, False), 0, 1)
    assert (tree.yes.rows.tolist(), tree.no.rows.tolist()) == ([0, 1], [2, 3])


def test_a_question_about_text_is_one_level_against_the_rest():
    share = np.array([[1.0, 0.5]] * 2 + [[0.5, 1.0]] * 2 + [[0.9, 0.5]] * 2)
    tree = grow_advice_tree(
        [Feature("op", "", ("r", "s", "w"), False)],
        np.repeat([[0.0], [1.0], [2.0]], 2, 0),
        share,
        select_best_setting_by_instance(share),
        3,
    )
    assert (tree.question, tree.yes.choice, tree.no.choice) == (Question(0, 1.0, True), 1, 0)
    assert tree.yes.rows.tolist() == [2, 3] and tree.depth == 1


def test_no_tree_grows_without_questions_or_a_choice():
    share = np.array([[1.0, 0.9]] * 3 + [[0.5, 1.0]])
    feature, x = [Feature("x", "", (1, 2, 3, 4), True)], np.arange(4.0)[:, None]
    assert (
        grow_advice_tree(feature, x, share, select_best_setting_by_instance(share), 0).leaf
        and grow_advice_tree([], x, share, select_best_setting_by_instance(share), 3).leaf
    )
    assert grow_advice_tree(feature, x, share, np.zeros(4, int), 3).leaf
    assert grow_advice_tree(feature, x, share, select_best_setting_by_instance(share), 3).choice == 1, (
        "the highest mean, not the most frequent"
    )


@pytest.mark.parametrize(
    ("low", "high", "inside", "outside", "text"),
    [
        (None, 8.0, [8.0, -1.0], [8.5], "x <= 8"),
        (8.0, None, [8.5], [8.0, 1.0], "x > 8"),
        (2.0, 8.0, [2.5, 8.0], [2.0, 9.0], "2 < x <= 8"),
    ],
)
def test_a_condition_on_a_number_holds_above_its_low_end_and_up_to_its_high_one(low, high, inside, outside, text):
    condition = RuleCondition("x", low, high)
    assert all(map(condition.holds, inside)) and not any(map(condition.holds, outside))
    assert str(condition) == text and condition.to_base_units() == {"factor": "x", "above": low, "up_to": high}


def test_a_condition_on_text_holds_for_its_levels():
    condition = RuleCondition("op", levels=("r", "w"), other=("s", "t"))
    assert condition.holds("r") and condition.holds("w") and not condition.holds("s")
    assert str(condition) == "op is r or w" and condition.to_base_units() == {"factor": "op", "levels": ["r", "w"]}
    assert str(RuleCondition("op", levels=("r", "w"), other=("s",))) == "op is not s"
    assert str(RuleCondition("op", levels=("r",), other=("s",))) == "op is r"


def test_rules_merge_conditions_and_count_best_choices():
    data = build_sample(
        {
            float(size): {"a": [9.0 if size < 4 else 3.0], "b": [6.0], "c": [8.0 if size == 6 else 1.0]}
            for size in range(1, 9)
        }
    )
    share = advise_defaults.compute_shares_of_best(data.values, False)
    tree = Node(
        1,
        np.arange(8),
        Question(0, 6.5, False),
        Node(0, np.arange(6), Question(0, 3.5, False), Node(0, np.arange(3)), Node(1, np.arange(3, 6))),
        Node(1, np.array([6, 7])),
    )
    low, middle, high = build_rules(tree, data, share, select_best_setting_by_instance(share))
    assert [str(rule.conditions[0]) for rule in (low, middle, high)] == [
        "size <= 3.5",
        "3.5 < size <= 6.5",
        "size > 6.5",
    ]
    assert (middle.setting, middle.instances, middle.differ) == (("b",), 3, ("set",))
    assert middle.frequent == ((("b",), 2), (("c",), 1)) and middle.lowest_at == {"size": 6}
    assert (middle.share, middle.lowest) == pytest.approx(((1 + 1 + 0.75) / 3, 0.75))
    assert (low.share, low.lowest, low.frequent, low.differ) == (1.0, 1.0, ((("a",), 3),), ())
    assert middle.to_json() == {
        "sentence": middle.sentence(),
        "when": [{"factor": "size", "above": 3.5, "up_to": 6.5}],
        "set": {"set": "b"},
        "instances": 3,
        "share": middle.share,
        "lowest": 0.75,
        "lowest_at": {"size": 6},
        "best_choices": [{"set": {"set": "b"}, "n": 2}, {"set": {"set": "c"}, "n": 1}],
        "hamming_distance": 1,
        "differ": ["set"],
    }
    assert middle.holds({"size": 4}) and not middle.holds({"size": 3.5}) and not middle.holds({"size": 7})


def test_a_rule_has_levels_in_base_units():
    rule = Rule((), ("2", "128KiB"), ("servers", "stripe"), 1, 1.0, 1.0, {}, (), (), {"stripe": "bytes"})
    assert rule.levels == {"servers": "2", "stripe": 131072}
    assert (rule.when, rule.then, rule.sentence()) == (
        "always",
        "servers=2 stripe=128KiB",
        "always: servers=2 stripe=128KiB",
    )


@pytest.mark.parametrize("lower", [False, True])
def test_gains_over_another_setting_have_intervals_of_the_pooled_noise(lower):
    """The delta method: each log mean has the variance NOISE² / 3; two instances are averaged."""
    data, t = build_sample(lower=lower), stats.t.ppf(0.975, 12)
    what, over = np.array([0, 1]), np.array([2, 2])
    open_estimate = Estimate(0.0, None, None, 0.95, 2)
    sign = -1 if lower else 1

    def compute_half(slopes: np.ndarray) -> float:
        return t * NOISE / np.sqrt(3) * np.sqrt((slopes**2).sum()) / 2

    ratio = sign * np.log(MEANS[[0, 1], what] / MEANS[:, 2]).mean()
    half = compute_half(np.array([1.0, -1.0, 1.0, -1.0]))
    expected = (0.0, min(ratio - half, 0.0), max(ratio + half, 0.0))
    assert get_interval(estimate_ratio_gain(data, what, over, 0.95, open_estimate)) == pytest.approx(expected)

    gain = sign * (MEANS[[0, 1], what] - MEANS[:, 2]).mean()
    half = compute_half(np.concatenate([MEANS[[0, 1], what], MEANS[:, 2]]))
    expected = (0.0, min(gain - half, 0.0), max(gain + half, 0.0))
    assert get_interval(estimate_absolute_gain(data, what, over, 0.95, open_estimate)) == pytest.approx(expected)

    alone = estimate_mean_from_noise(data, np.array([1.0, 3.0]), to_one_hot(data, what), 0.95)
    half = compute_half(np.ones(2))
    assert get_interval(alone) == pytest.approx((2.0, 2.0 - half, 2.0 + half)) and alone.n == 6
    assert find_best_settings(data).tolist() == ([1, 0] if lower else [0, 1])


def test_what_a_setting_adds_to_the_share_of_the_best():
    """Setting c against a random one: the derivatives are taken numerically."""
    data, what, weights = build_sample(), np.array([2, 2]), np.full((2, 3), 1 / 3)

    def compute_gains(logs: np.ndarray) -> np.ndarray:
        share = np.exp(logs - logs.max(axis=1, keepdims=True))
        return share[:, 2] - share.mean(axis=1)

    logs = np.log(MEANS)
    steps = [np.where((np.arange(6) == cell).reshape(2, 3), 1e-6, 0.0) for cell in range(6)]
    slopes = [(compute_gains(logs + step).sum() - compute_gains(logs - step).sum()) / 2e-6 for step in steps]
    half = stats.t.ppf(0.975, 12) * NOISE / np.sqrt(3) * np.sqrt(np.square(slopes).sum()) / 2
    gain = compute_gains(logs).mean()
    result = estimate_share_gain(data, what, weights, 0.95, Estimate(gain, None, None, 0.95, 2))
    assert get_interval(result) == pytest.approx((gain, gain - half, gain + half), rel=1e-5)
    assert result.low > 0
    wide = estimate_share_gain(data, what, weights, 0.99999999, Estimate(gain, None, None, 0.95, 2))
    contrast = np.array([-1 / 3, -1 / 3, 2 / 3])
    by_logs = (logs @ contrast).mean() - stats.t.ppf(1 - 5e-9, 12) * NOISE / np.sqrt(3) * np.sqrt(2 * 2 / 3) / 2
    assert by_logs < 0 and wide.low == pytest.approx(min(by_logs, wide.low)) and wide.level == 0.99999999


def test_a_share_is_bounded_on_the_scale_of_log_odds():
    estimate = Estimate(0.9, 0.75, 1.05, 0.95, 4)
    odds, half = np.log(9), 0.15 / 0.09
    low, high = (1 / (1 + np.exp(-(odds + sign * half))) for sign in (-1, 1))
    inside = bound_instance_share(estimate, np.array([0.8, 1.0]))
    assert get_interval(inside) == pytest.approx((0.9, low, high)) and inside.level == 0.95
    beyond = bound_instance_share(estimate, np.array([0.8, 1.01]))
    assert get_interval(beyond) == pytest.approx((0.9, 0.75, 1.0))
    assert get_interval(bound_instance_share(Estimate(1.0, 1.0, 1.0, 0.95, 3), np.ones(3))) == (1.0, 1.0, 1.0)
    assert get_interval(bound_instance_share(Estimate(0.9, None, None, 0.95, 2), np.ones(2))) == (0.9, None, None)


def test_a_share_beyond_its_range_is_cut_with_a_warning():
    share = cut_share_to_range(Estimate(1.02, 0.9, 1.1, 0.95, 4))
    assert get_interval(share) == (1.0, 0.9, 1.0)
    [warning] = share.warnings
    assert_problem(warning, "cut-share", mean=1.02)
    assert get_interval(cut_share_to_range(Estimate(-0.1, -0.5, 0.2, 0.95, 4))) == (0.0, 0.0, 0.2)
    assert get_interval(cut_share_to_range(Estimate(0.5, -0.5, 1.2, 0.95, 4))) == (0.5, 0.0, 1.0)


@pytest.mark.parametrize("lower", [False, True])
def test_the_share_of_few_instances_is_compared_with_the_best_as_hsu_does(lower):
    data, logs = build_sample(lower=lower), np.log(MEANS) * (-1 if lower else 1)
    half = stats.t.ppf(1 - 0.05 / (2 * 2), 12) * NOISE * np.sqrt(2 / 3)
    chosen = [2, 2]
    ends = []
    for sign in (-1, 1):
        ahead = np.delete(logs[:, [2]] - logs, 2, axis=1) + sign * half
        ends.append(np.exp(np.minimum(ahead.min(axis=1), 0)).mean())
    share = np.exp(logs[:, 2] - logs.max(axis=1)).mean()
    result = bound_repeat_share(data, chosen, Estimate(share, None, None, 0.95, 3))
    assert get_interval(result) == pytest.approx((share, ends[0], ends[1]))
    single = build_sample({1.0: {"a": [1.0], "b": [2.0]}})
    assert get_interval(bound_repeat_share(single, [0], Estimate(0.5, None, None, 0.95, 1))) == (0.5, None, None)


def test_the_effect_of_a_column_is_a_ratio_of_pairs():
    """Three instances × (p, q): p=2 against p=1 with the same q, in six cells, as ``compare`` has it (jackknife)."""
    speed = {("1", "x"): [10.0, 20.0, 40.0], ("1", "y"): [11.0, 22.0, 30.0]}
    speed |= {("2", "x"): [20.0, 30.0, 100.0], ("2", "y"): [33.0, 22.0, 90.0], ("3", "x"): [5.0, 5.0, 6.0]}
    rows = [(size, p, q, many[size]) for (p, q), many in speed.items() for size in range(3)]
    table = build_table(dict(zip(("size", "p", "q", "v"), map(list, zip(*rows, strict=True)), strict=True)))
    result = {
        (e.column, e.other): e
        for e in estimate_setting_effects(build_instances(table, "v", ["p", "q"], ["size"], False), 0.95)
    }
    logs = {key: np.log(many) for key, many in speed.items()}
    one = np.concatenate([logs["2", "x"] - logs["1", "x"], logs["2", "y"] - logs["1", "y"]])
    three = logs["2", "x"] - logs["3", "x"]
    assert set(result) == {("p", "1"), ("p", "3"), ("q", "x")} and result["p", "1"].level == "2"
    for other, ratios in (("1", one), ("3", three)):
        effect = result["p", other]
        half = stats.t.ppf(0.975, ratios.size - 1) * ratios.std(ddof=1) / np.sqrt(ratios.size)
        expected = np.exp([ratios.mean(), ratios.mean() - half, ratios.mean() + half])
        assert get_interval(effect.ratio) == pytest.approx(tuple(expected))
        cases = ratios.reshape(-1, 3).mean(axis=0)
        assert (effect.low_case, effect.high_case) == pytest.approx((np.exp(cases.min()), np.exp(cases.max())))
    effect = result["p", "1"]
    assert effect.to_json() == {
        "column": "p",
        "level": "2",
        "other": "1",
        "ratio": effect.ratio.to_json(),
        "low_case": effect.low_case,
        "high_case": effect.high_case,
    }


def test_the_effect_in_few_instances_is_that_of_compare():
    pairs = [(np.array(by_name["a"]), np.array(by_name["c"])) for by_name in SPEEDS.values()]
    expected = compare_within_cells(("a", "c"), pairs, 0.95, 0.02, None).ratio
    for lower in (False, True):
        [effect] = estimate_setting_effects(
            build_sample({size: {n: SPEEDS[size][n] for n in "ac"} for size in SPEEDS}, lower), 0.95
        )
        ends = get_interval(expected)
        assert (effect.level, effect.other) == (("a", "c") if lower else ("c", "a"))
        assert get_interval(effect.ratio) == pytest.approx(ends)
        assert not effect.is_sure, "it turns from case to case"


def test_the_largest_effect_is_one_that_is_certain():
    values = {"a": (1.5, True), "b": (3.0, False), "c": (2.0, True), "d": (9.0, False)}
    candidates = [
        Effect(name, 1, 2, Estimate(value, 1.1, 99.0, 0.95, 5), 1.0, 1.0, is_sure)
        for name, (value, is_sure) in values.items()
    ]
    assert select_largest_effect(candidates).column == "c"
    assert select_largest_effect([candidates[1], candidates[3]]) is None


def test_a_mean_has_students_interval():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    low, high = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    estimate = estimate_grouped_mean(values, 0.9)
    assert get_interval(estimate) == pytest.approx((4.0, low, high)) and (estimate.n, estimate.level) == (4, 0.9)
    few = estimate_grouped_mean(values[:2], 0.9)
    assert get_interval(few) == (1.5, None, None) and few.n == 2 and codes(few.warnings) == ["too-few-values"]


def test_parts_are_whole_groups():
    group = np.array([0, 0, 1, 2, 2, 3, 4])
    parts = partition_groups(group, 3, 1)
    assert sorted(np.concatenate(parts).tolist()) == list(range(7)) and len(parts) == 3
    assert all(not set(group[part]) & set(np.delete(group, part)) for part in parts)
    assert sorted(len(set(group[part])) for part in parts) == [1, 2, 2] and len(partition_groups(group, 9, 0)) == 5


def compute_more(first: list[float], second: list[float], limit: float) -> int | None:
    """Return the trials that show a difference with a power of 80 %, by t at ``limit`` with the spread of both."""
    trials = len(first)
    gap = np.log(np.mean(first) / np.mean(second))
    spread = np.sqrt(np.var(np.log([first, second]), axis=1, ddof=1).mean())
    for count in range(trials + 1, 1001):
        df = 2 * count - 2
        if count * (gap / spread) ** 2 >= 2 * (stats.t.ppf(limit, df) + stats.t.ppf(0.8, df)) ** 2:
            return count - trials
    return None


def test_needs_name_the_widest_undecided_pairs():
    """Two instances with ties: two settings and two sides, and what ``compare`` asks for."""
    data = build_sample()
    ties = np.array([[True, False, True], [False, True, True]])
    result = compute_deciding_needs(data, {"rules": Estimate(0.1, -0.05, 0.25, 0.95, 6)}, ties, 0.95)
    cells = {1: ("a", SPEEDS[1.0]["a"], SPEEDS[1.0]["c"]), 8: ("b", SPEEDS[8.0]["b"], SPEEDS[8.0]["c"])}
    more = {size: compute_more(first, second, 1 - 0.05 / 4) for size, (_, first, second) in cells.items()}
    settle = [
        compare_groups(build_group("c", second), build_group(name, first), 0.95, 0.02).n_more
        for name, first, second in cells.values()
    ]
    assert result.to_json() == {
        "instances": None,
        "trials": 3 + more[1],
        "of": "a over c",
        "repeats": 0,
        "cells": [
            {
                "instance": {"size": size},
                "setting": name,
                "other": "c",
                "ratio": pytest.approx(np.mean(first) / np.mean(second)),
                "trials": 3,
                "more": more[size],
                "more_to_settle": None if each is None else max(each),
            }
            for (size, (name, first, second)), each in zip(cells.items(), settle, strict=True)
        ],
    }
    few = compute_deciding_needs(build_sample({1.0: {"a": [1.0], "b": [2.0]}}), {}, np.ones((1, 2), bool), 0.95)
    assert few.to_json() == {"instances": None, "trials": None, "of": None, "repeats": 3, "cells": []}
    many = build_sample({float(size): {"a": [1.0 + size], "b": [2.0]} for size in range(9)})
    gains = {"slow": Estimate(0.1, -0.3, 0.5, 0.95, 9), "quick": Estimate(0.2, -0.1, 0.5, 0.95, 9)}
    wanted = compute_deciding_needs(many, gains, np.zeros((9, 2), bool), 0.95)
    assert (wanted.of, wanted.trials, wanted.repeats) == (
        "quick",
        None,
        2,
    ) and wanted.instances == compute_sufficient_values(gains["quick"])


@pytest.mark.parametrize(
    "gain",
    [(0.0, -1.0, 1.0, 5), (None, None, None, 5), (0.5, None, None, 2), (0.5, 0.5, 0.5, 4), (1e-6, -1.0, 1.0, 5)],
)
def test_no_number_of_values_shows_no_gain(gain):
    value, low, high, n = gain
    assert compute_sufficient_values(Estimate(value, low, high, 0.95, n)) is None


def test_a_significant_gain_needs_one_more_value_at_least():
    assert compute_sufficient_values(Estimate(0.5, 0.4, 0.6, 0.95, 5)) == 6


ORIGINAL = np.array([0, 1, 2, 0, 1, 5])  # trials 3 and 4 copy 0 and 1


def test_cells_with_copies_of_the_same_trials_have_one_number():
    instance, setting = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 0])
    assert instance_twins.number_copied_cells(ORIGINAL, instance, setting).tolist() == [[0, -1], [1, 0]]


@pytest.mark.parametrize(
    ("same", "copies"),
    [
        ([[0, 0, 1], [2, 2, 3]], {1: 0}),
        ([[0, 0, 1], [2, -1, 3]], {}),
        ([[0, 0, 1], [2, 4, 3]], {}),
        ([[0, 0, 0], [2, 2, 2]], {1: 0, 2: 0}),
        ([[0, 1, 1], [2, 3, 3], [4, -1, 5]], {2: 1}),
    ],
)
def test_a_setting_is_a_copy_of_an_earlier_one_with_the_same_cells(same, copies):
    assert instance_twins.find_renamed_settings(np.array(same)) == copies


@pytest.mark.parametrize(
    ("same", "group"),
    [
        ([[0, 1, 2], [0, 1, 3], [4, 5, 6]], [0, 0, 1]),
        ([[0, 1], [0, 2], [3, 4]], [0, 1, 2]),
        ([[0, 1, 2], [3, 4, 5], [3, 4, 2]], [0, 1, 1]),
    ],
)
def test_instances_with_more_than_half_of_their_cells_alike_are_a_group(same, group):
    assert instance_twins.group_instances_with_copies(np.array(same)).tolist() == group


def test_a_copy_is_in_the_slot_of_its_original():
    cells = np.array([0, 0, 0, 1, 1, 1, 0])
    none = np.arange(7)
    everywhere = np.ones(2, bool)
    assert instance_twins.assign_slots(none, cells, everywhere, 32).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert instance_twins.assign_slots(none, cells, everywhere, 2).tolist() == [0, 1, 0, 0, 1, 0, 1]
    copied = np.array([0, 1, 1, 3, 4, 5, 6])  # the first cell has three distinct trials
    assert instance_twins.assign_slots(copied, cells, everywhere, 32).tolist() == [0, 1, 1, 0, 1, 2, 2]
    assert instance_twins.assign_slots(none[:4], cells[:4], everywhere, 32).tolist() == [0] * 4, "a cell has one trial"


def test_the_share_of_cross_fitted_advice_is_that_of_held_out_instances():
    """Without noise: above size 4 setting b is twice as fast, below it half as fast."""
    data = build_sample({float(size): {"a": [1.0], "b": [2.0 if size > 4 else 0.5]} for size in range(1, 17)})
    crossed = cross_validate_choice(data, Learner(2), 1, current=0)
    sizes = np.arange(1, 17)
    assert crossed.share["default"].tolist() == np.where(sizes > 4, 1.0, 0.5).tolist()
    assert crossed.share["current"].tolist() == np.where(sizes > 4, 0.5, 1.0).tolist()
    assert crossed.share["random"] == pytest.approx(0.75) and "possible" not in crossed.share
    assert crossed.values["current"].tolist() == [1.0] * 16
    assert crossed.logs["default"] == pytest.approx(np.log(np.where(sizes > 4, 2.0, 0.5)))
    assert crossed.lowest["default"] == 0.5 and crossed.lowest["chosen"] == 0.5
    assert crossed.by_depth.shape == (16, 3) and crossed.by_depth[:, 0].tolist() == crossed.share["default"].tolist()
    assert not crossed.by_repeat and crossed.group.tolist() == list(range(16))
    gain = crossed.gain("default", "current", 0.95)
    assert gain.value == pytest.approx(0.5 * (12 - 4) / 16)
    assert pick_depth(data, data.values, np.arange(16), Learner(3)) == 1
    assert pick_depth(data, data.values, np.arange(16), Learner(3, full=True)) == 3
    assert pick_depth(data, data.values[:7], np.arange(7), Learner(3)) == 0


def test_single_trials_of_few_instances_cannot_be_held_out():
    assert cross_validate_choice(build_sample({1.0: {"a": [1.0], "b": [2.0]}}), Learner(2), 0) is None


@pytest.mark.parametrize(
    ("trials", "code", "values"),
    [
        ({1.0: {"a": [1.0, -2.0], "b": [3.0]}}, "nonpositive-value", {"column": "v", "number": "-2"}),
        ({1.0: {"a": [1.0, 0.0], "b": [3.0]}}, "nonpositive-value", {"column": "v", "number": "0"}),
        ({1.0: {"a": [1.0]}, 2.0: {"a": [2.0]}}, "constant-column", {"column": "set"}),
        ({1.0: {"a": [1.0]}, 2.0: {"b": [2.0]}}, "no-shared-instance", {"source": "speeds"}),
        (
            {1.0: {"a": [1.0], "b": [2.0]}, 2.0: {"b": [2.0], "c": [4.0]}, 3.0: {"b": [2.0], "c": [4.5]}},
            "no-complete-instance",
            {"n_settings": 3, "setting": "a", "n_measured": 1, "n_instances": 3},
        ),
    ],
)
def test_data_that_cannot_be_compared_are_refused(trials, code, values):
    with raises(code, DataError, **values):
        build_sample(trials)


def test_a_factor_that_never_varies_is_left_out():
    table = build_table({"size": [1.0] * 4, "op": list("rrww"), "set": list("abab"), "v": [1.0, 2.0, 3.0, 4.0]})
    data = build_instances(table, "v", ["set"], ["size", "op"], False)
    assert [feature.name for feature in data.features] == ["op"]
    [warning] = data.warnings
    assert_problem(warning, "constant-column", columns="size")


def compute_speed(size: int, name: str) -> float:
    """Setting a is best below size 9 and b above it, each by a half or twice; c is always 40 % of the best."""
    best = 100.0 + size
    return best / {"a": 1.0 if size < 9 else 2.0, "b": 2.0 if size < 9 else 1.0, "c": 2.5}[name]


def build_crossing(repeats: int = 2, shift: float = 0.0) -> Table:
    """Sixteen sizes; two trials of each cell differ by 2 %."""
    return build_speeds(
        {
            float(size): {
                name: [compute_speed(size, name) * (1 + 0.01 * sign * (1 + shift)) for sign in (-1, 1)[:repeats]]
                for name in "abc"
            }
            for size in range(1, 17)
        }
    )


@pytest.fixture(scope="module")
def crossing():
    return advise_settings(build_crossing(), "v", ["set"], ["size"], wish=Wish(depth=3, unit="MiB/s"))


def test_an_advice_has_all_its_numbers(crossing):
    """The best default is right for one half of the sizes and has half of the best in the other."""
    json = crossing.to_json()
    speeds = [100.0 + size for size in range(1, 17)]
    plain = {name: value for name, value in json.items() if isinstance(value, (str, int, float, bool))}
    assert plain == {
        "response": "v",
        "unit": "MiB/s",
        "better": "higher",
        "level": 0.95,
        "instances": 16,
        "incomplete": 0,
        "settings": 3,
        "repeats": 2,
        "best_mean": pytest.approx(np.mean(speeds)),
        "criteria_agree": json["criteria_agree"],
        "best_default": "a",
        "depth": 1,
        "advised": "rules",
    }
    assert (json["choose"], json["given"], json["needs"], json["warnings"]) == (["set"], ["size"], None, [])
    assert [(depth["depth"], depth["loss"], depth["lowest"]) for depth in json["depths"][:2]] == [
        (0, pytest.approx(0.25), pytest.approx(0.5)),
        (1, pytest.approx(0.0), pytest.approx(1.0)),
    ]
    assert len(json["depths"]) == 4 and json["equal_defaults"] == ["b"]
    assert [(rule["sentence"], rule["instances"]) for rule in json["rules"]] == [
        ("if size <= 8.5: set=a", 8),
        ("if size > 8.5: set=b", 8),
    ]
    gain = json["gain"]
    assert (gain["over"], gain["reference_lowest"]) == ("a", pytest.approx(0.5, abs=0.02))
    assert gain["value"] == pytest.approx(0.25, abs=0.05) and gain["low"] > 0
    assert gain["ratio"]["value"] == pytest.approx(np.sqrt(2), rel=0.1)
    assert {name for name in gain if isinstance(gain[name], dict)} == {
        "ratio",
        "absolute",
        "advised",
        "reference",
        "possible",
    }
    assert crossing.find_rule_for({"size": 8.5}).setting == ("a",) and crossing.find_rule_for({"size": 9}).setting == (
        "b",
    )
    assert crossing.criteria_agree != (len(set(crossing.winners.values())) > 1)
    assert crossing.over_random.level == pytest.approx(1 - 0.05 / 2)


def test_new_trials_with_the_same_gain_keep_it_and_are_counted(crossing):
    """Twice as fast above size 9, the same setting below it; size 40 was never tried, size 12 lacks the reference."""
    new = build_speeds(
        {
            **{float(size): {name: [compute_speed(size, name)] for name in "ab"} for size in (2, 4, 10, 14)},
            40.0: {"a": [1.0], "b": [2.0]},
            12.0: {"b": [2.0]},
        }
    )
    result = validate_by_new_trials(crossing, new)
    logs = np.log([1.0, 1.0, 2.0, 2.0])
    low, high = stats.t.interval(0.95, 3, logs.mean(), stats.sem(logs))
    assert get_interval(result.obtained) == pytest.approx((np.exp(logs.mean()), np.exp(low), np.exp(high)))
    promised = np.array([crossing.gain.logs[size - 1] for size in (2, 4, 10, 14)])
    assert result.predicted.value == pytest.approx(np.exp(promised.mean()))
    assert result.difference.value == pytest.approx(np.exp((logs - promised).mean()))
    assert (result.instances, result.same, result.unused, result.over) == (4, 2, 2, "a")
    assert result.to_json() == {
        "predicted": result.predicted.to_json(),
        "obtained": result.obtained.to_json(),
        "difference": result.difference.to_json(),
        "over": "a",
        "instances": 4,
        "same": 2,
        "unused": 2,
        "verdict": result.verdict,
    }


def test_new_sizes_are_compared_with_the_mean_of_all(crossing):
    new = build_speeds(
        {size + 0.25: {name: [compute_speed(size, name) * size] for name in "ab"} for size in (2, 3, 10, 11)}
    )
    result = validate_by_new_trials(crossing, new)
    predicted, obtained = crossing.gain.ratio, result.obtained
    assert result.predicted == predicted and obtained.value == pytest.approx(np.sqrt(2))
    half = np.hypot(np.log(predicted.high / predicted.low), np.log(obtained.high / obtained.low)) / 2
    middle = obtained.value / predicted.value
    assert get_interval(result.difference) == pytest.approx(
        (middle, middle * np.exp(-half), middle * np.exp(half)), rel=1e-6
    )
    assert result.verdict == "kept"


def test_trials_that_differ_in_the_tenth_digit_or_are_partly_new_are_no_training_trials(crossing):
    old = {float(size): {name: [compute_speed(size, name)] for name in "ab"} for size in (10, 14)}
    with raises("training-data-reused", DataError):
        validate_by_new_trials(crossing, build_speeds(old))
    nearly = {size: {name: [value * (1 + 1e-10)] for name, (value,) in some.items()} for size, some in old.items()}
    assert validate_by_new_trials(crossing, build_speeds(nearly)).instances == 2
    partly = old | {14.0: {"a": old[14.0]["a"], "b": [value * 1.01 for value in old[14.0]["b"]]}}
    assert validate_by_new_trials(crossing, build_speeds(partly)).instances == 2


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "less"), (1.0, "kept"), (2.0, "more")])
def test_a_gain_is_kept_or_less_or_more(crossing, factor, verdict):
    """All sizes above the border: the promised ratio there is two."""
    sizes = range(10, 17)
    rows = {float(size): {"a": [1.0], "b": [2.0 * factor * (1 + 0.001 * (size % 3 - 1))]} for size in sizes}
    assert validate_by_new_trials(crossing, build_speeds(rows)).verdict == verdict
    two = validate_by_new_trials(crossing, build_speeds({size: rows[size] for size in (10.0, 11.0)}))
    assert (two.verdict, two.instances) == (UNTOLD, 2)


def test_new_trials_must_be_positive_and_an_advice_must_say_something(crossing):
    with raises("nonpositive-value", DataError, response="v"):
        validate_by_new_trials(crossing, build_speeds({2.0: {"a": [0.0], "b": [1.0]}}))
    with raises("no-advice", InputError):
        validate_by_new_trials(replace(crossing, kind="nothing"), build_crossing())
    with raises("missing-option", InputError):
        validate_by_new_trials(replace(crossing, kind="default"), build_crossing())
    with raises("training-data-reused", DataError):
        validate_by_new_trials(crossing, build_crossing())


def test_a_sentence_warns_of_a_gain_that_is_large_for_its_certainty(crossing):
    def count_sentences(low: float) -> int:
        gain = replace(crossing.gain, share=Estimate(0.2, low, 0.3, 0.95, 16))
        return len(re.findall(r"\.(?: |$)", describe_advice(replace(crossing, gain=gain))))

    assert count_sentences(0.1) + 1 == count_sentences(0.09)


def test_the_setting_in_use_is_found_by_its_levels_and_names():
    table = build_table(
        {"size (KiB)": [4, 4, 8, 8], "stripe (MiB)": [1, 2] * 2, "set": list("abab"), "v": [1.0, 2.0, 3.0, 4.0]}
    )
    choose = ["stripe (MiB)", "set"]

    def find(**current: str) -> str | None:
        return advise_settings(table, "v", choose, ["size (KiB)"], wish=Wish(current=current)).current

    assert find(stripe="1", set="a") == find(**{"stripe (MiB)": "1.0", "set": "a"}) == "1/a"
    for current, code in (({"set": "a"}, "incomplete-setting"), ({"stripe": "3", "set": "a"}, "unmeasured-setting")):
        with raises(code, InputError):
            find(**current)
    with raises("incomplete-setting", InputError, columns="stripe (MiB), set", example="stripe (MiB)=1"):
        find(stripe="1", set="a", size="4")


def test_a_gain_of_shares_is_from_minus_one_to_one():
    share = {"a": np.array([1.0, 0.0, 1.0]), "b": np.array([0.0, 1.0, 0.0])}
    crossed = Crossed(share, {}, {}, {}, np.zeros((3, 1)), False, np.arange(3))
    assert get_interval(crossed.gain("a", "b", 0.95)) == pytest.approx((1 / 3, -1.0, 1.0))
    wide = estimate_grouped_mean(share["a"] - share["b"], 0.95)
    assert wide.low < -1 and wide.high > 1 and crossed.mean(share["a"] - share["b"], 0.95) == wide


SIX = [1.0, 1.2, 1.1, 0.9, 1.05, 0.95]  # of two settings: ten degrees of freedom
OWN = {
    1.0: {"a": SIX, "b": [value * 1.02 for value in SIX]},
    8.0: {"a": [2.0, 2.1], "b": [1.9, 2.05]},
}


@pytest.mark.parametrize("lower", [False, True])
def test_an_instance_with_many_trials_has_its_own_noise_in_ties_and_needs(lower):
    data = build_sample(OWN, lower=lower)
    own = np.sqrt(2 * 6 * np.var(np.log(SIX)) / 10)
    pooled = np.sqrt(data.log_ss.sum() / 12)
    assert data.log_df.tolist() == [10.0, 2.0] and data.noise() == pytest.approx([own, pooled])
    result = compute_deciding_needs(data, {}, np.ones((2, 2), bool), 0.95)

    more = {size: compute_more(by_name["b"], by_name["a"], 0.975) for size, by_name in OWN.items()}
    best = {1: "a" if lower else "b", 8: "b" if lower else "a"}
    assert [(cell.instance, cell.setting, cell.trials, cell.more) for cell in result.cells] == [
        ({"size": size}, best[size], trials, more[size]) for size, trials in ((8, 2), (1, 6))
    ]
    limit = stats.t.ppf(0.95, 10) * own * np.sqrt(2 / 6)
    for gap, tied in ((0.98 * limit, True), (1.02 * limit, False)):
        worse = [value * np.exp(gap if lower else -gap) for value in SIX]
        pair = build_sample({1.0: {"a": SIX, "b": worse}, 8.0: OWN[8.0]}, lower=lower)
        assert mark_settings_tied_with_best(pair, 0.95)[0].tolist() == [True, tied]


def test_at_most_five_pairs_are_named_and_equal_settings_are_none():
    trials = {
        float(size): {"a": [1.0, 1.1], "b": [1.0 + 0.01 * size, 1.1 + 0.011 * size]} for size in (*range(1, 8), 0)
    }
    cells = compute_deciding_needs(build_sample(trials), {}, np.ones((8, 2), bool), 0.95).cells
    assert [cell.instance["size"] for cell in cells] == [7, 6, 5, 4, 3]


@pytest.mark.parametrize(
    ("n", "slots", "partitions", "per_partition"),
    [
        (7, 4, 1, 4),  # each slot is a fold
        (7, 5, 1, 5),
        (7, 6, 2, 5),
        (8, 1, 4, 8),
        (8, 2, 4, 16),
        (8, 3, 2, 24),
        (20, 6, 2, 40),
        (200, 1, 4, 8),
        (201, 1, 1, 8),
    ],
)
def test_partitions_by_the_number_of_instances_and_slots(n, slots, partitions, per_partition):
    data = build_sample(
        {
            float(size): {
                "a": [1.0 + size + 0.01 * k for k in range(slots)],
                "b": [2.0 + size + 0.013 * k for k in range(slots)],
            }
            for size in range(n)
        }
    )
    splits = list(iter_splits(data))
    assert needs_split_by_repeat(data) is (n < 8) and data.slots == slots
    assert np.bincount([split.partition for split in splits]).tolist() == [per_partition] * partitions
    assert all((split.slots is None) is (slots == 1) for split in splits)


def test_advice_on_times_is_for_the_least():
    made = advise_settings(build_speeds(SPEEDS), "v", ["set"], ["size"], wish=Wish(lower=True, current={"set": "c"}))
    document = made.to_json()
    assert (document["better"], document["best_mean"]) == ("lower", pytest.approx(MEANS.min(axis=1).mean()))
    share = (MEANS.min(axis=1, keepdims=True) / MEANS).mean(axis=0)
    assert (document["best_default"], document["advised"], document["depth"]) == ("b", "rules", 0)
    assert made.current == "c" and document["gain"]["over"] == "c" and document["gain"]["low"] > 0
    assert document["gain"]["value"] == pytest.approx(1 - share[2], abs=0.01)
    assert document["gain"]["level"] == pytest.approx(1 - 0.05 / 2) and document["gain"]["absolute"]["low"] > 0
    assert document["gain"]["ratio"]["value"] == pytest.approx(
        np.exp(np.log(MEANS[:, 2] / MEANS.min(axis=1)).mean()), rel=0.01
    )
    assert codes(made.warnings) == ["few-instances"] and document["repeats"] == 3 and len(document["depths"]) == 1
    assert [(rule.sentence(), rule.setting) for rule in made.rules] == [
        ("if size is 1: set=b", ("b",)),
        ("if size is 8: set=a", ("a",)),
    ]
    assert [(case["instance"], case["setting"], case["significant"]) for case in document["cases"]] == [
        ({"size": 1}, "b", True),
        ({"size": 8}, "a", True),
    ]


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"kind": "rules"}, {"advised", "reference", "share", "ratio", "possible"}),
        ({"kind": "default"}, {"reference", "over_random", "share", "possible"}),
        ({"kind": "default", "over_random": None}, {"reference", "share", "possible"}),
        ({"kind": "default", "current": "b"}, {"advised", "reference", "share", "ratio", "possible"}),
        ({"kind": "nothing"}, {"share", "over_random"}),
        ({"kind": "nothing", "over_random": None}, {"share"}),
        ({"kind": "nothing", "current": "b"}, {"share"}),
        ({"kind": "nothing", "current": "a"}, set()),
        ({"gain": None}, set()),
    ],
)
def test_the_sentence_of_an_advice_has_the_estimates_of_its_kind(crossing, changes, shown):
    estimates = {
        "advised": Estimate(0.91, 0.89, 0.93, 0.95, 16),
        "reference": Estimate(0.71, 0.69, 0.73, 0.95, 16),
        "share": Estimate(0.21, 0.19, 0.23, 0.95, 16),
        "ratio": Estimate(1.41, 1.38, 1.46, 0.95, 16),
        "possible": Estimate(0.96, 0.94, 0.98, 0.95, 16),
    }
    over_random = Estimate(0.31, 0.29, 0.33, 0.95, 16)
    advice = replace(crossing, gain=replace(crossing.gain, **estimates), over_random=over_random, effects=())
    text = describe_advice(replace(advice, **changes))
    formats = {"share": format_share_difference, "over_random": format_share_difference, "ratio": format_ratio_interval}
    every = {**estimates, "over_random": over_random}
    assert {name for name, value in every.items() if formats.get(name, format_share_interval)(value) in text} == shown
    without = replace(advice.gain, possible=None, share=Estimate(0.0, 0.0, 0.0, 0.95, 16))
    plain = describe_advice(replace(advice, **{"gain": without, **changes}))
    assert format_share_interval(estimates["possible"]) not in plain


def test_a_gain_of_nothing_is_not_told(crossing):
    nothing = replace(crossing.gain, share=Estimate(0.0, 0.0, 0.0, 0.95, 16), possible=None)
    for kind in ("default", "nothing"):
        with_gain, without = (
            describe_advice(replace(crossing, kind=kind, gain=gain)) for gain in (crossing.gain, nothing)
        )
        assert format_share_difference(crossing.gain.share) in with_gain
        assert format_share_difference(nothing.share) not in without


def build_compression_trials() -> Table:
    """``off`` is best for media everywhere and for text at 4, ``lz4`` for the rest; 3 % noise, four trials."""
    rng, rows = np.random.default_rng(1), []
    gains = {("text", 4): (1, 0.95), ("text", 64): (1, 1.3), ("text", 1024): (1, 1.3)}
    for block in (4, 64, 1024):
        for data in ("text", "media"):
            for name, gain in zip(("off", "lz4"), gains.get((data, block), (1, 0.95)), strict=True):
                rows += [(name, block, data, 300 * gain * np.exp(rng.normal(0, 0.03))) for _ in range(4)]
    return build_table(dict(zip(("set", "size", "data", "v"), map(list, zip(*rows, strict=True)), strict=True)))


def test_the_gain_is_of_the_very_rules_and_allows_for_their_choice():
    advice = advise_settings(build_compression_trials(), "v", ["set"], ["size", "data"])
    gain, n = advice.gain, len(advice.instances)
    assert advice.kind == "rules" and gain is not None
    # Some cases are left at the default, which is not their best: the best of each cell would be 1.
    assert gain.advised.value == pytest.approx(sum(rule.share * rule.instances for rule in advice.rules) / n)
    assert gain.advised.value < 1 and gain.lowest == min(rule.lowest for rule in advice.rules) < 1
    assert gain.share.value == pytest.approx(gain.advised.value - gain.reference.value)
    assert all(e.low < e.value < e.high for e in (gain.share, gain.ratio, gain.absolute))


def test_rules_of_cases_share_levels_and_each_case_has_one():
    advice = advise_settings(build_compression_trials(), "v", ["set"], ["size", "data"])
    keys = [advice.instances.key(row) for row in range(len(advice.instances))]
    assert [sum(rule.holds(key) for rule in advice.rules) for key in keys] == [1] * len(keys)
    assert len(advice.rules) < len(keys)
    usual, exceptions = advice.exceptions
    assert usual not in {rule.then for rule in exceptions}
    assert len(exceptions) + sum(rule.then == usual for rule in advice.rules) == len(advice.rules)
