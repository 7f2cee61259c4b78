"""A diagnosis from the store, and from a table, to its numbers: shares, seconds, rates, whose truth is known."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import cast

import diagnose_sample as sample
import numpy as np
import pytest

from iosonde.commands.diagnose.answer import diagnose
from iosonde.commands.diagnose.bandwidth import parse_bandwidth
from iosonde.core.errors import DataError
from iosonde.data.source import open_data
from iosonde.explain import cost
from iosonde.explain.classes import DensityClasses
from messages import assert_problem, codes, raises

N = 4000


def every_16th(rank, number, offset):
    return number % 16 == 0


def trials(count: int, ranks: int = 2, rule=every_16th) -> list[np.ndarray]:
    rng = np.random.default_rng(11)
    return [sample.rows(N, ranks, rule, rng) for _ in range(count)]


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    made = trials(3)
    sample.store(path := tmp_path_factory.mktemp("three") / "s", made)
    return made, diagnose(open_data(path), 0.95)


def test_shares_times_and_cost_are_those_of_the_rule(three):
    made, answer = three
    [group] = answer.groups
    assert (group.trials, group.n, [one.label for one in group.classes]) == (3, 3 * 2 * N, ["fast", "slow"])
    slow = group.classes[1]
    assert slow.shares.share.value == 1 / 16 and slow.shares.share.n == 3
    part = [float(one["duration_ns"][one["duration_ns"] > 1e5].sum() / one["duration_ns"].sum()) for one in made]
    assert slow.shares.time_share.value == pytest.approx(np.mean(part))
    assert slow.shares.time_share.low < np.mean(part) < slow.shares.time_share.high
    slowest = [float(np.sort(one["duration_ns"])[-one.size // 100 :].sum() / one["duration_ns"].sum()) for one in made]
    assert group.tail.value == pytest.approx(np.mean(slowest), rel=0.01)
    usual = [one["duration_ns"][one["duration_ns"] < 1e5].mean() for one in made]
    lost = [
        float((one["duration_ns"][one["duration_ns"] > 1e5] - mean).sum() / 2e9)
        for one, mean in zip(made, usual, strict=True)
    ]
    assert group.cost.cost_s.value == pytest.approx(np.mean(lost))
    assert slow.shares.cost_s.value == pytest.approx(np.mean(lost))
    assert group.cost.rate_if_fast.value / group.cost.rate.value == pytest.approx(
        group.cost.elapsed_s.value / (group.cost.elapsed_s.value - np.mean(lost)), rel=0.01
    )


def test_the_cause_is_named_with_its_trials(three):
    _, answer = three
    reason = answer.groups[0].classes[1].reasons[0]
    assert (reason.suspect.code, reason.n_matching, reason.of) == ("S401", 3, 3)
    row = answer.records()[1]
    assert (row["class"], row["code"], row["cause"]) == ("slow", "S401", "every 16 operations = 1 MiB")
    told = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert {"low", "high", "share", "time_share", "cause"} <= set(told["classes"][0])
    assert told["classes"][1]["findings"][0]["confidence"] == "high"


def test_of_one_trial_blocks_are_resampled_and_that_is_said(tmp_path):
    sample.store(tmp_path / "s", trials(1))
    [group] = diagnose(open_data(tmp_path / "s"), 0.95).groups
    share = group.classes[1].shares.time_share
    assert share.n == 1 and share.warnings == (cost.SINGLE_TRIAL,)
    assert 0.45 < share.low < share.value < share.high < 0.55


def test_intervals_of_one_trial_know_that_slow_operations_come_together(tmp_path):
    sample.store(tmp_path / "e", trials(1, 1, lambda r, i, o: np.isin(i // 100, [3, 17, 30])))
    sample.store(tmp_path / "s", trials(1, 1, lambda r, i, o: np.isin(i % 40, [3, 17, 30])))
    widths = []
    for name in "es":
        share = diagnose(open_data(tmp_path / name), 0.95).groups[0].classes[1].shares.share
        widths.append(share.high - share.low)
    assert widths[0] > 4 * widths[1]


@pytest.mark.parametrize("growth", [0.3, -0.2, 0.0])
def test_fast_operations_that_take_longer_and_longer_are_told(tmp_path, growth):
    made = trials(3)
    for one in made:
        after = np.arange(one.size) % N / N
        one["duration_ns"] = one["duration_ns"] * (1 + growth * after)
    sample.store(tmp_path / "s", made)
    [group] = diagnose(open_data(tmp_path / "s"), 0.95).groups
    if not growth:
        assert group.drift is None
    else:
        assert group.drift.change.value == pytest.approx(growth, abs=0.05) and group.drift.p < 0.001


def test_places_say_when_and_on_which_rank(tmp_path):
    sample.store(tmp_path / "s", trials(2, 8, lambda r, i, o: (r == 3) & (i >= N // 2)))
    [group] = diagnose(open_data(tmp_path / "s"), 0.95).groups
    assert "rank 3" in group.classes[1].where.words and sum(group.classes[1].where.run) == pytest.approx(1)


def test_a_sample_is_said_to_be_one(tmp_path):
    sample.store(tmp_path / "s", trials(1), recorded_all=False)
    [group] = diagnose(open_data(tmp_path / "s"), 0.95).groups
    assert_problem(group.notes[0], "sampled-operations", n_operations=8000)


def test_a_table_is_read_by_the_names_of_its_columns(tmp_path, three):
    made = three[0][0]
    lines = [
        f"{o['rank']},read,{o['size'] // 1024},{o['offset']},{o['start_ns']},{o['duration_ns'] / 1000}" for o in made
    ]
    (tmp_path / "ops.csv").write_text("\n".join(["rank,op,size_KiB,offset,start_ns,latency_us", *lines]))
    [group] = diagnose(open_data(tmp_path / "ops.csv"), 0.95).groups
    assert (group.group.kind, group.group.size) == ("read", sample.SIZE)
    assert group.classes[1].reasons[0].suspect.evidence["period_bytes"] == 1 << 20
    assert group.classes[1].shares.share.value == 1 / 16


def test_a_table_of_durations_alone(tmp_path):
    values = sample.rows(N, 1, lambda r, i, o: i % 16 == 0, np.random.default_rng(1))["duration_ns"]
    (tmp_path / "d.csv").write_text("\n".join(["x_ns", *map(str, values)]))
    answer = diagnose(open_data(tmp_path / "d.csv"), 0.95)
    assert answer.groups[0].classes[1].reasons[0].suspect.code == "S401"
    assert codes(answer.notes)[1] == "missing-start-times"
    (tmp_path / "two.csv").write_text("a,b\n" + "1,2\n" * 60)
    with raises("no-time-column"):
        diagnose(open_data(tmp_path / "two.csv"), 0.95)
    (tmp_path / "bad.csv").write_text("time_us\n" + "1\n-2\n" * 60)
    with raises("invalid-number", DataError):
        diagnose(open_data(tmp_path / "bad.csv"), 0.95)
    (tmp_path / "few.csv").write_text("time_us\n" + "1\n2\n" * 6)
    with raises("too-few-operations", DataError, minimum=50):
        diagnose(open_data(tmp_path / "few.csv"), 0.95)


def test_what_cannot_be_asked(tmp_path):
    sample.store(tmp_path / "s", trials(1))
    with raises("too-few-operations", DataError):
        diagnose(open_data(tmp_path / "s"), 0.95, ["writes"])
    sample.store(tmp_path / "none", [one[:0] for one in []])
    with raises("no-recorded-operations", DataError):
        diagnose(open_data(tmp_path / "none"), 0.95)
    for wrong in ("wide", "0", "7"):
        with raises("invalid-option-value"):
            parse_bandwidth(wrong)
    assert parse_bandwidth("isj") == "isj" and parse_bandwidth("0.05") == 0.05


def test_equal_durations_are_one_class(tmp_path):
    made = trials(1)
    made[0]["duration_ns"] = 20_000
    sample.store(tmp_path / "s", made)
    [group] = diagnose(open_data(tmp_path / "s"), 0.95).groups
    assert len(group.classes) == 1 and group.cost.cost_s.value == 0


def test_the_rate_without_slow_operations_is_not_known_where_nearly_all_of_the_time_is_theirs():
    counts, seconds = np.zeros((2, cost.BLOCKS, 2))
    counts[:, 0], seconds[:, 0] = 100, 1e-4
    slow = slice(0, cost.BLOCKS, 3)
    counts[slow, 1], seconds[slow, 1] = 10, 1.0
    made = cost.estimate_slow_class_cost(
        [cost.Account(counts, seconds, 1, float(seconds.sum()), 4096)],
        cast(DensityClasses, SimpleNamespace(count=2, fast=0)),
        0.95,
    )
    assert made.rate_if_fast.value > 1000 * made.rate.value
    assert (made.rate_if_fast.low, made.rate_if_fast.high) == (None, None)
