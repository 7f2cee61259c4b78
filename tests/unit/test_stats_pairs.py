"""Pairs of A and B: who is paired with whom, which metric decides, and every number of a verdict."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from iosonde.core.pair_rule import PairRule
from iosonde.core.verdict import Direction, VerdictState
from iosonde.stats.estimate import sequential
from iosonde.stats.estimate.pair_words import describe_pair_verdict
from iosonde.stats.estimate.pairs import PairedRun, build_paired_run, judge_pairs
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
