"""An interval of the run that nearly all slow operations share and few others do: found where it was planted, in
nothing that came by chance, and with the share that is expected of it."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.explain.causes.s414_interval import CommonInterval, find_common_interval
from iosonde.explain.classes import classify_by_density
from iosonde.explain.operations import Operations
from iosonde.explain.seen.group import OperationGroup, TrialOperations
from iosonde.explain.seen.in_memory import collect_reasons, iter_histograms, iter_trial_looks
from iosonde.stats.density.histogram import merge_histograms

PARTS = 40
GROUP = OperationGroup("read", "read", 4096)


def count_by_part(slow: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Moments, as shares of the run, of slow and of other operations → (part, class), slow ones last."""
    return np.column_stack([np.histogram(moments, PARTS, (0, 1))[0] for moments in (others, slow)])


def find(runs: list[np.ndarray]) -> CommonInterval | None:
    return find_common_interval(1, runs, [5.0] * len(runs))


@pytest.mark.parametrize(("n_trials", "n_slow"), [(4, 7), (1, 12), (6, 3)])
def test_rare_slow_operations_of_one_interval_are_found(n_trials, n_slow):
    rng = np.random.default_rng(n_slow)
    interval = find([count_by_part(rng.uniform(0.4, 0.5, n_slow), rng.random(12_000)) for _ in range(n_trials)])
    assert interval is not None and (interval.n_matching, interval.of) == (n_trials, n_trials)
    evidence, agreement = interval.suspect.evidence, interval.suspect.agreement
    assert 0.4 <= evidence["from_share"] < evidence["to_share"] <= 0.5 + 1e-9
    assert (evidence["from_s"], evidence["to_s"]) == (5 * evidence["from_share"], 5 * evidence["to_share"])
    assert agreement.recall == 1 and agreement.confidence == "high"
    assert evidence["share_of_others"] == pytest.approx(1 - agreement.kappa) and agreement.precision < 0.02


def test_an_interval_by_chance_is_none():
    rng = np.random.default_rng(1)
    intervals = [
        find([count_by_part(rng.random(n_slow), rng.random(1000)) for _ in range(n_trials)])
        for n_trials, n_slow in [(1, 10), (1, 14), (4, 3), (4, 20)] * 250
    ]
    assert sum(interval is not None for interval in intervals) <= 3


def test_an_interval_of_its_own_in_each_trial_is_not_common():
    rng = np.random.default_rng(2)
    runs = [count_by_part(rng.uniform(at, at + 0.05, 10), rng.random(5000)) for at in (0.1, 0.4, 0.7, 0.9)]
    assert find(runs) is None
    alone = [
        count_by_part(rng.uniform(0.4, 0.45, 100), rng.random(5000)),
        *[count_by_part(np.array([0.9]), rng.random(5000))] * 3,
    ]
    assert find(alone) is None, "one trial of four has it"


def test_many_others_in_it_or_few_slow_ones_are_no_interval():
    rng = np.random.default_rng(3)
    assert find([count_by_part(rng.uniform(0.4, 0.8, 100), rng.random(5000))]) is None
    assert find([count_by_part(rng.uniform(0.4, 0.5, 9), rng.random(5000))]) is None
    assert find([count_by_part(rng.uniform(0.4, 0.5, 50), np.array([]))]) is None


def build_trial(name: str, rng: np.random.Generator, is_slow) -> TrialOperations:
    """One rank, one operation after the other, of 400 µs; of 50 ms where ``is_slow`` (of its number)."""
    n = 6000
    took = 4e5 * np.exp(0.1 * rng.standard_normal(n))
    took[is_slow(np.arange(n), rng)] *= 125
    nothing = np.zeros(n, np.int64)
    start = np.concatenate([[0], np.cumsum(took)[:-1]]).astype(np.int64)
    return TrialOperations(name, Operations(nothing, nothing, nothing, start, took.astype(np.int64), 4096), 0)


@pytest.mark.parametrize(
    ("is_slow", "code"),
    [
        (lambda number, rng: (number // 1000 == 2) & (rng.random(number.size) < 0.01), "S414"),
        (lambda number, rng: number >= 4800, "S404"),  # explained already
        (lambda number, rng: rng.random(number.size) < 0.01, "S412"),
    ],
)
def test_an_interval_is_a_reason_where_no_other_explains_the_class(is_slow, code):
    rng = np.random.default_rng(4)
    trials = [(GROUP, build_trial(f"trial-{number}", rng, is_slow)) for number in range(4)]
    classes = classify_by_density(merge_histograms([histogram for _, histogram in iter_histograms(trials)]))
    looks = [look for _, look in iter_trial_looks(trials, {GROUP: classes})]
    slow = classes.count - 1
    [reason] = collect_reasons(looks, slow, True)
    assert (reason.suspect.code, reason.of) == (code, 4) and reason.n_matching >= 3
    assert not collect_reasons(looks, classes.fast, False)
