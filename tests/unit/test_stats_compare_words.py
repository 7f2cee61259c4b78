"""The sentence of a comparison: which words and numbers it takes from which field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from iosonde.core.types import Better, Estimate, Metric
from iosonde.core.verdict import VerdictState
from iosonde.stats.estimate import compare_words
from iosonde.stats.estimate.compare import (
    CANNOT_TELL,
    DIFFERENT,
    EQUAL,
    NEGLIGIBLE,
    Comparison,
    build_group,
    compare_groups,
)
from iosonde.stats.estimate.compare_words import (
    Wording,
    describe_comparison,
    describe_inseparable_factors,
    describe_overridden_verdict,
    format_side_name,
)
from iosonde.stats.overview import words
from iosonde.stats.overview.types import Efficiency, OverviewRow

OLD, NEW = [190.0, 200.0, 210.0], [230.0, 240.0, 250.0, 240.0]
RATIO, DIFFERENCE = Estimate(1.2, 1.1, 1.3, 0.95, 3), Estimate(40.0, 20.0, 60.0, 0.95, 3)
TIME = Wording(Metric("real", "s", Better.LOWER), "s")
RATE = Wording(Metric("rate", "operations/s"), "operations/s")


def compared(verdict: str = DIFFERENT, **more: Any) -> Comparison:
    """200 s against 240 s."""
    made = compare_groups(build_group("old", OLD), build_group("new", NEW), 0.95, 0.02)
    known = {"ratio": RATIO, "difference": DIFFERENCE, "verdict": verdict, "n_needed": None, "difference_margin": 5.0}
    return replace(made, **known | more)


@pytest.mark.parametrize(
    ("name", "factor", "unit", "text"),
    [
        ("before", "version", "", "before"),
        ("1", "replicas", "", "replicas=1"),
        ("-1.5", "t", "", "t=-1.5"),
        ("1.5.2", "version", "", "1.5.2"),
        ("1", None, "", "1"),
        ("65536", "t", "bytes", "t=64 KiB"),
    ],
)
def test_a_side_that_is_a_number_is_named_by_its_factor(name, factor, unit, text):
    assert format_side_name(name, factor, unit) == text
    assert Wording(factor=factor, level_unit=unit).called(name) == text


def test_a_verdict_is_a_word_for_the_metric():
    assert [TIME.describe_verdict(compared(verdict)) for verdict in (EQUAL, CANNOT_TELL)] == [EQUAL, CANNOT_TELL]
    below = compared(ratio=Estimate(0.8, 0.7, 0.9, 0.95, 3))
    assert [TIME.way(compared()), TIME.way(below), RATE.way(compared()), RATE.way(below)] == [
        "slower",
        "faster",
        "faster",
        "slower",
    ]
    expected = ["slower", "slower by less than the margin", "slower (not significant)"]
    verdicts = [compared(), compared(NEGLIGIBLE), compared(by_chance=True)]
    assert [TIME.describe_verdict(verdict) for verdict in verdicts] == expected


def test_every_sentence_of_a_comparison_has_its_numbers():
    numbers = "1.200 (1.100 to 1.300) times the time"
    trials = "200 → 240 s, n = 3 and 4"
    unclear = "Inconclusive: new may be slower or faster than old (the base): "
    expected = [
        f"new is slower than old (the base): {numbers}; {trials}.",
        f"new is slower than old (the base), but by less than the margin of ± 2.0 %: {numbers}; {trials}.",
        f"new and old (the base) are practically equal: {numbers}, within ± 2.0 %; {trials}.",
        f"{unclear}{numbers}, which includes 1 and extends beyond ± 2.0 %; {trials}.",
        f"new is not significantly slower than old (the base): {numbers}; {trials}, p = 0.012 after Holm's correction.",
        f"Inconclusive: new may differ from old (the base) or not: why; {trials}.",
        f"Inconclusive: new may differ from old (the base) or not: no interval; {trials}.",
        "new is slower than old (the base): by 40.0 (20.0 to 60.0) s; 200 → 240 s, n = 3 and 4.",
        f"{unclear}by 40.0 (20.0 to 60.0) s, which includes 0 and extends beyond ± 5.00 s; {trials}.",
        "new is slower than old (the base): 1.200 (1.100 to 1.300) times the time; 200 → 240 s, n = 3 pairs.",
    ]
    open_ = Estimate(1.2, None, None, 0.95, 3, ("why",))
    comparisons = [
        compared(),
        compared(NEGLIGIBLE),
        compared(EQUAL),
        compared(CANNOT_TELL),
        compared(by_chance=True, p_holm=0.0123),
        compared(ratio=open_),
        compared(ratio=replace(open_, warnings=())),
        compared(ratio=None),
        compared(CANNOT_TELL, ratio=None),
        compared(paired=True),
    ]
    assert [describe_comparison(comparison, TIME) for comparison in comparisons] == expected


def test_trials_of_cells_are_counted_and_not_averaged():
    def trials(wording: Wording, **more: Any) -> str:
        return compare_words._describe_trials(compared(**more), wording)

    adjusted = replace(TIME, adjusted=("nodes", "size"))
    assert trials(TIME, cells=3) == "within 3 cells, n = 3 and 4"
    assert trials(adjusted, cells=3) == "within 3 cells of nodes and size, n = 3 and 4"
    assert trials(adjusted) == "within 1 cell of nodes and size, n = 3 and 4"


def test_what_would_decide_is_suggested():
    def suggestion(**more: Any) -> str:
        return compare_words._suggest_trials_needed(compared(CANNOT_TELL, **more), "± 2.0 %")

    needed = "About 9 trials per side are needed to find a difference of this size (power 80 %)"
    assert suggestion() == ""
    assert suggestion(n_needed=3) == " More trials are needed."
    assert suggestion(n_needed=9) == f" {needed}: 6 more of A and 5 more of B."
    near = {"ratio": Estimate(1.01, 0.9, 1.3, 0.95, 3)}
    assert suggestion(n_needed=9, **near) not in ("", suggestion(n_needed=9))
    assert {"1000", "More"} <= set(suggestion(n_needed=1001).split())
    shown = [
        Wording.format_more_trials(compared(CANNOT_TELL, n_needed=n, **ratio))
        for n in (3, 9, 1100)
        for ratio in ({}, near)
    ]
    assert shown == ["", "", "+6", "=+6", ">1000", "=>1000"]
    same = compared(CANNOT_TELL, n_needed=9)
    same = replace(same, b=same.a)
    assert compare_words._suggest_trials_needed(same, "± 2.0 %") == f" {needed}: 6 more."


def test_cells_that_differ_have_no_common_verdict():
    turned = compared(EQUAL, p_depends=0.001, cells=2)
    words = replace(TIME, adjusted=("nodes",))
    assert words.describe_verdict(turned) == "depends on nodes"
    sentence = describe_comparison(turned, words)
    assert "depends on nodes" in sentence and "equal" not in sentence


def test_amounts_are_in_words_of_the_metric():
    def amount(wording: Wording, **more: Any) -> str:
        return compare_words._format_amount(compared(**more), wording)

    assert amount(RATE) == "1.200 (1.100 to 1.300) times the rate"
    assert amount(Wording(Metric("count", ""))) == "1.200 (1.100 to 1.300) times as much"
    assert amount(Wording(), ratio=None) == "by 40.0 (20.0 to 60.0)"
    assert compare_words._format_margin(compared(ratio=None), TIME) == "5.00 s"
    assert compare_words._format_margin(compared(margin=0.25), TIME) == "25 %"
    big = compared(a=build_group("a", [2 * 2.0**20] * 2), b=build_group("b", [3 * 2.0**20] * 2))
    bandwidth = Wording(Metric("bandwidth", "bytes/s"), "bytes/s")
    assert compare_words._format_means(big, bandwidth) == "2.00 → 3.00 MiB/s"


def test_a_verdict_that_does_not_follow_says_why():
    numbers = "1.200 (1.100 to 1.300) times the time; 200 → 240 s, n = 3 and 4"
    wording = replace(TIME, factor="version")
    apart = describe_overridden_verdict(compared(), wording, "day", VerdictState.NOT_SEPARABLE)
    expected = f"version and day cannot be separated; one or both make new slower than old (the base): {numbers}."
    assert apart == expected
    expected = f"Inconclusive: new may be slower or faster than old (the base): why; {numbers}."
    for state in (None, VerdictState.INCONCLUSIVE):
        assert describe_overridden_verdict(compared(), wording, "why", state) == expected
    expected = "the sides and day cannot be separated; one or both make b faster than a"
    assert describe_inseparable_factors(None, "day", "faster", "a", "b") == expected


def row(low: float | None, high: float | None, name: str = "read", **by: Any) -> OverviewRow:
    mean = Estimate(10.0, low, high, 0.95, 6)
    return OverviewRow(name, "rate", "", by, 6, mean, mean, None, None, None)


def test_precision_is_that_of_the_widest_interval():
    expected = [
        "Means are known to ± 10 % or better (widest: read, x=2).",
        "The widest interval is ± 30 % of its mean (read, x=2): more trials are needed.",
        "Means are known to ± 5.0 % or better.",
        "Means are known to ± 5.0 % or better; 1 of 2 have no interval.",
        "Means are known to ± 25 % or better.",
    ]
    rows = [
        [row(9.5, 10.5, x=1), row(9, 11, x=2)],
        [row(9.5, 10.5, x=1), row(7, 13, x=2)],
        [row(9.5, 10.5)],
        [row(9.5, 10.5), row(None, None)],
        [row(7.5, 12.5)],
    ]
    assert [words.describe_precision_and_scaling(some, [], {}) for some in rows] == expected
    unknown = words.describe_precision_and_scaling([row(None, None)], [], {})
    assert unknown and unknown != words.describe_precision_and_scaling([], [], {})


def gain(value: float, low: float | None, high: float | None, operation: str = "read", **more: Any) -> Efficiency:
    known: dict[str, Any] = {"metric": "rate_last_done", "by": {}, "factor": "nodes", "base": 1.0, "size": 4.0}
    return Efficiency(operation, **known | more, efficiency=Estimate(value, low, high, 0.95, 6))


def test_scaling_is_that_of_the_best_and_the_worst_on_most_nodes():
    good, bad, none = gain(0.9, 0.8, 1.0), gain(0.5, 0.4, 0.6, "write"), gain(0.25, 0.2, 0.27, "open")
    unsure = gain(0.5, None, None, "stat")
    expected = [
        "",
        "On 4 nodes read has an efficiency of 0.90, 0.80 to 1.00: linear.",
        "On 4 nodes read scales best (efficiency 0.90, 0.80 to 1.00), write worst (0.50, 0.40 to 0.60: "
        "less than linear); 1 other is inconclusive.",
        "On 4 nodes nothing gains; the lowest efficiency is that of unlink (0.10, 0.050 to 0.20: slower than on "
        "fewer); 2 others are inconclusive.",
        "The gain from 4 nodes is inconclusive.",
        "On 4 nodes read has an efficiency of 0.90, 0.80 to 1.00: linear.",
    ]
    worse = gain(0.1, 0.05, 0.2, "unlink")
    several = [
        [],
        [good],
        [bad, good, unsure],
        [none, worse, unsure, unsure],
        [unsure],
        [good, gain(0.1, 0.05, 0.2, size=2.0)],
    ]
    assert [words._describe_scaling(some, {}) for some in several] == expected


def test_what_scales_is_named_by_what_differs():
    one, other = gain(0.9, 0.8, 1.0, by={"size": 65536}), gain(0.8, 0.7, 0.9, by={"size": 1024})
    assert words._name_item(one, [one, other], {"size": "bytes"}) == "read at size=64 KiB"
    assert words._name_item(one, [one], {}) == "read"
    bandwidth = gain(0.9, 0.8, 1.0, metric="bandwidth_last_done")
    both = [gain(0.9, 0.8, 1.0), bandwidth]
    assert words._name_item(bandwidth, both, {}).startswith("read bandwidth")
    assert words._name_item(gain(0.9, 0.8, 1.0, "", metric="my_rate"), [], {}) == "my_rate"
    assert [words._format_number(x) for x in (0.0, 0.1, 0.05, -0.5, 1.234)] == [
        "0.00",
        "0.10",
        "0.050",
        "-0.50",
        "1.23",
    ]
    assert words._format_estimate(gain(0.5, None, 0.6)) == "0.50"


def test_a_setting_that_is_best_and_worst_by_two_metrics_is_named_once():
    wide, same = gain(0.9, 0.8, 1.0), gain(0.7, 0.6, 0.8, metric="bandwidth_last_done")
    alone = words._describe_scaling([wide], {})
    assert ("worst" in words._describe_scaling([wide, same], {})) is ("worst" in alone) is False
