"""What a store says of a campaign: which run id is free, what its rule needs, when more pairs cannot help."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from iosonde.campaign import resume
from iosonde.core.pair_rule import PairRule
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.stats.estimate.distributions import t_critical
from messages import assert_problem

NODES = Factor("nodes", "nodes", (1, 2))


def experiment(repetitions=1, **settings):
    trials = [Trial(i, {"nodes": 1}, i, i, 0) for i in range(repetitions)]
    return Experiment("e", "e", [NODES], settings, trials, 1, "2026-01-01T00:00:00Z")


def row(operation, metric, value, unit="bytes/s", rank=None, nodes=1):
    values = {"operation": operation, "metric": metric, "value": value, "unit": unit, "rank": rank, "nodes": nodes}
    return values | {"includes": "", "run": "r"}


def store_of(rows=(), runs=()):
    return SimpleNamespace(
        results=lambda experiment: SimpleNamespace(to_pylist=lambda: list(rows)), runs=lambda experiment: list(runs)
    )


def test_a_retry_gets_the_next_free_number(tmp_path):
    (tmp_path / "runs").mkdir()
    store = SimpleNamespace(path=tmp_path)
    for name in ("e-0003", "e-0003-2", "e-0003-3", "e-0004"):
        assert resume.find_free_run_id(store, "e", int(name[2:6])) == name
        (tmp_path / "runs" / name).mkdir()
    assert resume.find_free_run_id(store, "f", 3) == "f-0003"


@pytest.mark.parametrize(("accepted", "done"), [(False, {0}), (True, {0, 3})])
def test_an_incomplete_trial_is_measured_again_unless_it_is_accepted(accepted, done):
    runs = [{"facts": {"order": 0}, "missing": []}, {"facts": {"order": 3}, "missing": ["the score is marked invalid"]}]
    wanted = SimpleNamespace(terms=SimpleNamespace(incomplete=accepted))
    assert resume.find_finished_trials(store_of(runs=runs), wanted, experiment()) == done


def test_sets_of_nodes_are_numbered_as_they_first_appear():
    store = store_of(runs=[{"facts": {"allocation": name}} for name in ("b", "a", "b")])
    assert [resume.number_of(name, store, "e") for name in ("b", "a", "c")] == [0, 1, 2]
    assert resume.number_of("x", store_of(), "e") == 0


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (
            [
                row("read", "bandwidth_last_done", 1.0),
                row("read", "bandwidth_sum_of_ranks", 2.0),  # the same operation by another clock
                row("read", "bandwidth_last_done", 9.0, rank=0),
                row("read", "bandwidth_last_done", 3.0),
                row("read", "bandwidth_last_done", 5.0, nodes=2),
                row("stat", "rate_mean", 7.0, "operations/s"),
                row("stat", "latency", 8.0, "s"),
                row("step", "seconds", 4.0, "s"),
            ],
            {"read at nodes=1": [1.0, 3.0], "read at nodes=2": [5.0], "stat rate_mean at nodes=1": [7.0]},
        ),
        ([row("step", "seconds", 4.0, "s"), row("step", "latency", 5.0, "s")], {"step seconds at nodes=1": [4.0]}),
        (  # one rank has the tool's own clock, two have a sum
            [
                row("read", "bandwidth_last_done", 1.0),
                row("read", "bandwidth_sum_of_ranks", 2.0, nodes=2) | {"run": "s"},
            ],
            {"read at nodes=1": [1.0], "read bandwidth_sum_of_ranks at nodes=2": [2.0]},
        ),
        ([], {}),
    ],
)
def test_the_rule_looks_at_rates_until_the_last_rank_else_at_the_tools_else_at_durations(rows, wanted):
    assert resume.group_values_by_metric(store_of(rows), experiment()) == wanted


@pytest.mark.parametrize(
    ("until", "asked", "planned", "more"),
    [(None, 6, 6, False), (0.5, 6, 6, False), (0.01, 6, 6, True), (0.01, 6, 7, False)],
)
def test_a_killed_pilot_goes_on_where_its_interval_is_too_wide(until, asked, planned, more):
    values = [90.0, 110.0, 90.0, 110.0, 90.0, 110.0]
    store = store_of([row("read", "bandwidth_last_done", value) for value in values])
    campaign = SimpleNamespace(spec=SimpleNamespace(until=until, repetitions=asked))
    assert resume.count_repetitions(experiment(planned)) == planned
    assert resume.needs_more_trials(store, campaign, experiment(planned), 0.95) is more
    if until:  # Stein: (t · s / d)², with s² = 120 and d = until · 100
        needed = (t_critical(0.95, 5) ** 2) * 120 / (until * 100) ** 2
        count = resume.compute_repetitions_needed(store, campaign, experiment(planned), 0.95)
        assert count == max(6, -int(-needed // 1))


RULE = PairRule("side", "a", "b", "", 0.05, 0.95, 20)


def pairs_of(n, rows, rule=RULE, cells=(1,), missing=()):
    """The pairs of so many blocks; ``rows``: side, block → observations."""
    pairs = resume.Pairs(rule, experiment())
    for nodes in cells:
        for block in range(n):
            for side in ("a", "b"):
                factors = {"nodes": nodes, "side": side, "block": block}
                pairs.add(Run("r", "e", "t", "", 0.0, factors, rows(side, block), missing=list(missing)))
    return pairs


def rate(values):
    return lambda side, block: [
        Observation("read", "bandwidth_last_done", values[side](block), "bytes/s"),
        Observation("read", "bandwidth_last_done", 1.0, "bytes/s", rank=0),
    ]


CLEAR = rate({"a": lambda block: 100.0 + block, "b": lambda block: 200.0 + 2 * block + block % 2})
SAME = rate({"a": lambda block: 100.0 + 40 * (block % 2), "b": lambda block: 140.0 - 40 * (block % 2)})


def test_pairs_end_when_every_cell_has_its_verdict():
    assert not pairs_of(5, CLEAR).finished()
    assert pairs_of(8, CLEAR).finished()
    two = PairRule(**{**RULE.sealed(), "cells": 2})
    assert not pairs_of(8, CLEAR, two).finished()
    assert pairs_of(8, CLEAR, two, cells=(1, 2)).finished()
    assert not pairs_of(8, SAME).finished()


def test_one_pair_more_is_needed_up_to_the_most():
    assert pairs_of(8, SAME).needed(experiment(8)) == 9
    assert pairs_of(8, SAME).needed(experiment(20)) == 20
    assert pairs_of(8, CLEAR).needed(experiment(8)) == 8


def test_incomplete_runs_make_no_pair():
    assert pairs_of(8, CLEAR, missing=["a rank"]).verdicts() == []
    (verdict,) = pairs_of(8, CLEAR).verdicts()
    assert (verdict.n, verdict.a.tolist()) == (8, [100.0 + block for block in range(8)])


def test_more_pairs_cannot_help_where_both_sides_lack_the_metric():
    def nothing(side, block):
        return [Observation("read", "bandwidth_last_done", 1.0, "bytes/s", rank=0)]

    named = PairRule(**{**RULE.sealed(), "metric": "write"})
    for rule, rows, metric in (
        (named, CLEAR, "'write'"),
        (RULE, nothing, "a bandwidth, a rate or a time"),
    ):
        assert pairs_of(5, rows, rule).hopeless() == ""
        assert_problem(pairs_of(6, rows, rule).hopeless(), "missing-metric", metric=metric)
        assert pairs_of(6, rows, rule).finished()
    assert pairs_of(8, CLEAR).hopeless() == "" == pairs_of(8, SAME).hopeless()
    one_side = resume.Pairs(RULE, experiment())
    for block in range(12):
        factors = {"nodes": 1, "side": "a", "block": block}
        one_side.add(Run("r", "e", "t", "", 0.0, factors, nothing("a", block)))
    assert one_side.hopeless() == "", "the other side may have it"
