"""Pairs of A and B: who is paired with whom, which metric decides, and every number of a verdict."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from iosonde.core.pair_rule import PairRule
from iosonde.core.types import Estimate, Factor
from iosonde.core.verdict import Direction, VerdictState
from iosonde.stats.estimate import pair_words, sequential
from iosonde.stats.estimate.compare import CANNOT_TELL
from iosonde.stats.estimate.pair_words import (
    describe_pair_verdict,
    format_gate_name,
    format_metric_name,
    format_side_names,
)
from iosonde.stats.estimate.pairs import PairedRun, PairVerdict, build_paired_run, judge_pairs, list_cell_factors
from messages import codes

RULE = PairRule("v", "old", "new", "", 0.02, 0.95, 20)
TIME, RATE = ("s", "seconds", "s"), ("s", "rate", "files/s")
OLD = np.array([10.0, 11, 9, 10.5, 9.5, 10.2, 10.1])
NOISE = np.array([0.01, -0.02, 0.015, -0.01, 0.005, 0.02, -0.015])


def runs(ratio=2.0, n=7, cell=(), names=(TIME,)):
    """Pairs whose logarithms of B ÷ A lie around that of ``ratio``."""
    for block in range(n):
        old = float(OLD[block])
        yield PairedRun(cell, block, "old", dict.fromkeys(names, old))
        yield PairedRun(cell, block, "new", {name: old * ratio * math.exp(NOISE[block]) for name in names})


def test_the_metrics_of_a_run_are_means_of_its_iterations():
    factors = {"v": "new", "nodes": 2, "block": 3}
    rows = [("s", "seconds", "s", 1.0), ("s", "seconds", "s", 2.0), ("s", "rate", "files/s", 5.0)]
    assert build_paired_run(RULE, ["nodes"], factors, rows) == PairedRun(
        (("nodes", 2),), 3, "new", {TIME: 1.5, RATE: 5.0}
    )


def test_every_number_of_a_verdict_is_that_of_a_second_computation():
    (made,) = judge_pairs(runs(), RULE)
    logs = math.log(2) + NOISE
    critical = sequential.compute_critical_t(7, 0.95, 20)
    half = critical * logs.std(ddof=1) / math.sqrt(7)
    ends = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    assert made.to_json() == {
        "by": {"operation": "s", "metric": "seconds", "unit": "s"},
        "primary": True,
        "a": {"name": "old", "n": 7, "geometric_mean": pytest.approx(np.exp(np.log(OLD).mean()))},
        "b": {"name": "new", "n": 7, "geometric_mean": pytest.approx(ends[0] * np.exp(np.log(OLD).mean()))},
        "paired": True,
        "anytime_valid": True,
        "pairs": 7,
        "without_partner": 0,
        "most_pairs": 20,
        "n_needed": None,
        "ratio": made.ratio.to_json()
        | {"value": pytest.approx(ends[0]), "low": pytest.approx(ends[1]), "high": pytest.approx(ends[2])},
        "margin": 0.02,
        "verdict": "different",
        "state": str(VerdictState.DIFFERENT),
        "overlap": None,
        "t": None,
        "df": None,
        "p": None,
        "warnings": [],
    }
    assert (made.ratio.level, made.ratio.n, made.is_decided, made.lower_is_better) == (0.95, 7, True, True)


def test_an_undecided_cell_needs_as_many_pairs_as_halve_the_margin():
    (made,) = judge_pairs(runs(1.0), RULE)
    assert made.state is VerdictState.INCONCLUSIVE and not made.is_decided
    critical = sequential.compute_critical_t(20, 0.95, 20)
    needed = math.ceil((critical * NOISE.std(ddof=1) / (math.log(1.02) / 2)) ** 2)
    assert made.n_needed() == needed == made.to_json()["n_needed"]
    (few,) = judge_pairs(runs(1.0, 5), RULE)
    assert few.n_needed() is None and codes(few.ratio.warnings) == ["too-few-pairs"]


@pytest.mark.parametrize(("ratio", "direction"), [(2.0, Direction.UP), (0.5, Direction.DOWN), (1.0, None)])
def test_the_claim_has_the_direction_of_b(ratio, direction):
    (made,) = judge_pairs(runs(ratio, cell=(("nodes", 2), ("fs", "x"))), RULE)
    claim = made.claim(3)
    assert (claim.state is VerdictState.DIFFERENT, claim.direction) == (direction is not None, direction)
    assert (claim.question, claim.response, claim.subject) == ("difference", "s seconds", ("old", "new"))
    assert (claim.claim, claim.estimate, claim.family) == ("nodes=2, fs=x", made.ratio, 3)


def test_runs_without_a_partner_are_counted_and_blocks_keep_their_order():
    made_of = list(runs())
    (made,) = judge_pairs([made_of[1], *made_of[:1:-1]], RULE)  # the run of A in block 0 is missing
    assert (made.n, made.alone) == (6, 1)
    assert made.a.tolist() == OLD[1:].tolist()
    assert judge_pairs(made_of[:1], RULE) == []


def test_cells_are_sorted_by_numbers_before_texts_and_metrics_share_alpha():
    cells = [(("n", level),) for level in ("x", 10, 9, None)]
    several = [run for cell in cells for run in runs(cell=cell, names=(TIME, RATE))]
    made = judge_pairs(several, PairRule("v", "old", "new", "s seconds", 0.02, 0.95, 20, cells=4), [TIME, RATE])
    assert [one.name for one in made] == [TIME] * 4 + [RATE] * 4
    assert [one.cell["n"] for one in made[:4]] == [9, 10, None, "x"]
    assert [one.primary for one in made] == [True] * 4 + [False] * 4
    assert [one.ratio.level for one in made] == pytest.approx([1 - 0.05 / 4] * 8)
    assert [one.lower_is_better for one in made[::4]] == [True, False]


def test_values_of_zero_have_no_ratio():
    of = [*runs(), PairedRun((), 9, "old", {TIME: 0.0}), PairedRun((), 9, "new", {TIME: 1.0})]
    (made,) = judge_pairs(of, RULE)
    assert (made.n, made.ratio.value, made.typical()) == (8, None, None)
    assert codes(made.ratio.warnings) == ["nonpositive-value"]


@pytest.mark.parametrize(("ratio", "decided", "open_limits"), [(2.0, True, 0), (1.05, False, 1), (1.0, True, 0)])
def test_with_a_gate_pairs_stop_when_its_conditions_are_decided(ratio, decided, open_limits):
    """The interval of a ratio is ± 2.6 %; the limit is 5 % slower, and 100 % more holds for no time."""
    rule = PairRule("v", "old", "new", "", 0.02, 0.95, 20, fail_if=("slower>5%",))
    (made,) = judge_pairs(runs(ratio), rule)
    assert (made.is_decided, len(made.limits), len(made.untold)) == (decided, 1, open_limits)


def test_the_sentence_of_pairs_names_both_sides_and_differs_by_verdict():
    sentences = []
    for ratio, n in ((2.0, 7), (0.5, 7), (1.0, 7), (1.0, 5)):
        (made,) = judge_pairs(runs(ratio, n), RULE)
        sentences.append(describe_pair_verdict(made))
        assert RULE.a in sentences[-1] and RULE.b in sentences[-1] and str(n) in sentences[-1]
    assert len(set(sentences)) == 4
    wide = dataclasses.replace(RULE, margin=0.5)
    equal, negligible = (describe_pair_verdict(judge_pairs(runs(ratio), wide)[0]) for ratio in (1.0, 1.2))
    assert not {equal, negligible} & set(sentences) and equal != negligible


def shown(ratio=1.2, low=1.1, high=1.3, n=7, cell=None, name=TIME, alone=0, rule=RULE, **more) -> PairVerdict:
    """A verdict of n pairs of 10 s against 12 s."""
    sides = np.full(n, 10.0), np.full(n, 10.0 * (ratio or 1))
    return PairVerdict(cell or {}, name, True, rule, *sides, Estimate(ratio, low, high, 0.95, n, **more), alone)


BANDWIDTH = ("write", "bandwidth_last_done", "bytes/s")
LATENCY = ("write", "p99", "s")


@pytest.mark.parametrize(
    ("name", "cell", "plain", "gate"),
    [
        (TIME, {}, "time", "s time"),
        (BANDWIDTH, {"nodes": 2}, "write bandwidth", "write bandwidth, nodes=2"),
        (("read", "rate_sum_of_ranks", ""), {"a": 1, "b": "x"}, "read IOPS", "read IOPS, a=1, b=x"),
    ],
)
def test_a_metric_is_named_without_its_clock(name, cell, plain, gate):
    assert (format_metric_name(shown(name=name)), format_gate_name(name, cell)) == (plain, gate)
    assert format_gate_name(name) == format_gate_name(name, {}) == gate.split(",")[0]


def test_sides_are_named_with_the_setting_of_b():
    assert format_side_names(shown()) == ("old", "new")
    assert format_side_names(shown(cell={"nodes": 2, "fs": "x"})) == ("old", "new (at nodes=2, fs=x)")
    numbers = dataclasses.replace(RULE, a="1", b="2")
    assert format_side_names(shown(rule=numbers)) == ("v=1", "v=2")


@pytest.mark.parametrize(
    ("name", "ratio", "direction"),
    [
        (BANDWIDTH, 1.12, "is 12 % faster than"),
        (BANDWIDTH, 0.88, "is 12 % slower than"),
        (BANDWIDTH, 2.0, "is 2.00 times as fast as"),
        (BANDWIDTH, 1.99, "is 99 % faster than"),
        (TIME, 1.12, "is slower: it takes 12 % more time than"),
        (TIME, 0.88, "is faster: it takes 12 % less time than"),
        (TIME, 2.5, "is slower: it takes 2.50 times the time of"),
        (LATENCY, 0.88, "has 12 % less write p99 than"),
        (LATENCY, 3.0, "has 3.00 times the write p99 of"),
    ],
)
def test_the_direction_is_in_words_of_the_metric(name, ratio, direction):
    assert pair_words._describe_direction(shown(name=name), ratio) == direction


def test_typical_values_pairs_and_runs_without_a_partner_are_counted():
    assert pair_words._format_typical(shown()) == "12.0 s against 10.0 s"
    empty = dataclasses.replace(shown(), a=np.zeros(7))
    assert pair_words._format_typical(empty) == ""
    big = dataclasses.replace(shown(name=BANDWIDTH), a=np.full(7, 2 * 2.0**20), b=np.full(7, 3 * 2.0**20))
    assert pair_words._format_typical(big) == "3.00 MiB/s against 2.00 MiB/s"
    assert [pair_words._format_pairs(shown(n=n)) for n in (0, 1, 2)] == ["0 pairs", "1 pair", "2 pairs"]
    ends = ["", "; 1 run without a complete partner left out", "; 2 runs without a complete partner left out"]
    assert [pair_words._describe_unpaired(shown(alone=alone)) for alone in (0, 1, 2)] == ends


def test_why_there_are_no_more_pairs_is_said_from_the_planned_maximum_on():
    noisy = dataclasses.replace(shown(), a=OLD, b=OLD * np.exp(NOISE))
    needed = noisy.n_needed()
    assert pair_words._describe_stop_reason(noisy) == f"; about {needed} are needed"
    last = dataclasses.replace(noisy, alone=13)
    assert pair_words._describe_stop_reason(last) == f", the planned maximum; about {needed} are needed"
    assert pair_words._describe_stop_reason(dataclasses.replace(shown(low=None), alone=13)) == ", the planned maximum"
    assert pair_words._describe_stop_reason(dataclasses.replace(shown(low=None), alone=12)) == ""


def test_every_sentence_of_pairs_has_its_numbers():
    wide = dataclasses.replace(RULE, margin=0.5)
    gate = dataclasses.replace(RULE, fail_if=("slower>5%",))
    basis = "95 %, anytime-valid, 7 pairs"
    expected = [
        "Inconclusive: new may differ from old or not: 5 pairs, and at least 6 are needed; "
        "1 run without a complete partner left out.",
        "Inconclusive: new may differ from old or not: why (7 pairs).",
        "new is slower: it takes 20 % more time than old: time 12.0 s against 10.0 s "
        f"(ratio 1.200, 1.100 to 1.300; {basis}).",
        "new is slower: it takes 20 % more time than old, which is within the margin of ± 50 %: time 12.0 s against "
        f"10.0 s (ratio 1.200, 1.100 to 1.300; {basis}).",
        f"new and old are practically equal in time, within ± 50 % (ratio 1.200, 0.900 to 1.300; {basis}).",
        "Inconclusive: new may differ from old or not: the ratio of time may be 0.900 to 1.300, which includes 1 and "
        f"extends beyond ± 2.0 % ({basis}, the planned maximum).",
        "Inconclusive: new may differ from old or not: the ratio of time may be 0.900 to 1.300, which includes 1 and "
        f"extends beyond ± 2.0 % ({basis}).",
    ]
    full = dataclasses.replace(RULE, most=7)
    verdicts = [
        shown(n=5, alone=1),
        shown(low=None, warnings=("why",)),
        shown(),
        shown(rule=wide),
        shown(low=0.9, rule=wide),
        shown(low=0.9, rule=full),
        shown(low=0.9, rule=gate),
    ]
    assert [describe_pair_verdict(verdict) for verdict in verdicts] == expected


def test_an_open_condition_needs_as_many_pairs_as_exclude_its_limit():
    rule = PairRule("v", "old", "new", "", 0.02, 0.95, 20, fail_if=("slower>5%",))
    (made,) = judge_pairs(runs(1.06), rule)
    apart = abs(math.log(1.06) + NOISE.mean() - math.log(1.05))
    critical = sequential.compute_critical_t(20, 0.95, 20)
    assert made.n_needed() == math.ceil((critical * NOISE.std(ddof=1) / apart) ** 2)


@pytest.mark.parametrize(
    ("limit", "is_decided"), [("seconds>15s", True), ("seconds>20s", False), ("seconds>99s", True)]
)
def test_an_absolute_limit_ends_the_pairs_when_the_mean_of_b_is_clear_of_it(limit, is_decided):
    rule = PairRule("v", "old", "new", "", 0.02, 0.95, 20, fail_if=(limit,))
    (made,) = judge_pairs(runs(), rule)
    logs = np.log(2 * OLD) + NOISE
    half = sequential.compute_critical_t(7, 0.95, 20) * logs.std(ddof=1) / math.sqrt(7)
    value = made.value_at(None)
    assert (value.value, value.high) == pytest.approx(np.exp([logs.mean(), logs.mean() + half]))
    assert made.is_decided == is_decided and bool(made.untold) != is_decided
    if not is_decided:
        apart = abs(logs.mean() - math.log(20))
        critical = sequential.compute_critical_t(20, 0.95, 20)
        assert made.n_needed() == math.ceil((critical * logs.std(ddof=1) / apart) ** 2)


def test_a_limit_of_another_metric_ends_no_pairs():
    rule = PairRule("v", "old", "new", "", 0.02, 0.95, 20, fail_if=("rate<5", "seconds<5GiB/s"))
    (made,) = judge_pairs(runs(), rule)
    assert made.limits == ()


def test_the_factors_of_cells_vary_and_do_not_separate_the_sides():
    levels = {"v": ("old", "new"), "nodes": (1, 2), "size": (4,), "fs": ("x", "y")}
    factors = [Factor(name, levels=each) for name, each in levels.items()]
    assert list_cell_factors(RULE, factors) == ["nodes", "fs"]


def test_only_the_deciding_metric_has_an_interval_that_holds_at_every_look():
    primary, other = judge_pairs(runs(names=(TIME, RATE)), dataclasses.replace(RULE, metric="s seconds"), [TIME, RATE])
    logs = math.log(2) + NOISE
    usual = stats.t.interval(0.9, 6, logs.mean(), logs.std(ddof=1) / math.sqrt(7))
    wide = sequential.compute_critical_t(7, 0.9, 20) * logs.std(ddof=1) / math.sqrt(7)
    at_other_level = other.ratio_at(0.9)
    assert (at_other_level.low, at_other_level.high) == pytest.approx(np.exp(usual))
    assert primary.ratio_at(0.9).low == pytest.approx(math.exp(logs.mean() - wide))
    assert primary.gated_ratio is primary.ratio
    assert other.gated_ratio == other.ratio_at(0.95) != other.ratio
    assert (primary.ratio_at(0.9).level, other.ratio_at(0.9).level, other.gated_ratio.level) == (0.9, 0.9, 0.95)
    few = dataclasses.replace(other, a=other.a[:5], b=other.b[:5])
    assert few.ratio_at(0.9) is other.ratio
    six = dataclasses.replace(other, a=other.a[:6], b=other.b[:6])
    assert six.ratio_at(0.9).n == 6


def test_pairs_are_those_in_which_both_sides_have_the_metric():
    several = list(runs(names=(TIME, RATE)))
    several[0] = dataclasses.replace(several[0], values={RATE: 10.0})
    several[3] = dataclasses.replace(several[3], values={RATE: 10.0})
    primary, other = judge_pairs(several, RULE, [TIME])
    assert (primary.name, primary.n, other.name, other.n) == (RATE, 7, TIME, 5)
    assert (other.a.tolist(), other.b[0]) == (OLD[2:].tolist(), pytest.approx(OLD[2] * 2 * math.exp(NOISE[2])))
    query = dataclasses.replace(RULE, metric="s seconds")
    assert judge_pairs(several, query) == [], "one side of the first pair lacks it"


def test_no_number_of_pairs_is_enough_without_a_margin_or_a_spread_that_is_known():
    (made,) = judge_pairs(runs(1.0), dataclasses.replace(RULE, margin=0.0))
    assert (made.verdict, made.n_needed()) == (CANNOT_TELL, None)
    assert shown(low=None).n_needed() is None
    assert not made.claim(1).direction and made.typical() is not None
    assert dataclasses.replace(made, b=np.append(made.b[1:], 0.0)).typical() is None
    assert dataclasses.replace(made, a=np.zeros(0), b=np.zeros(0)).typical() is None
