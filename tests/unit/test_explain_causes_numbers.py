"""Finders of causes on a few operations: their evidence and agreement by hand, with NumPy or with SciPy."""

from __future__ import annotations

import importlib
import re
from dataclasses import astuple

import numpy as np
import pytest
from scipy import stats

from iosonde.core.stored import StoredPhase
from iosonde.core.types import Estimate, Severity
from iosonde.core.units import format_rate, format_size
from iosonde.core.words import format_share
from iosonde.explain import causes, folding
from iosonde.explain import operations as operations_of_phase
from iosonde.explain.causes import (
    s401_period,
    s405_first_touch,
    s406_place,
    s410_trials,
    s411_amount,
    s412_chance,
    s413_drift,
)
from iosonde.explain.causes import target as targets
from iosonde.explain.causes.target import Agreement, Suspect, Target, compute_agreement, select_groups_with_slow
from iosonde.explain.cost import Account
from iosonde.explain.folding import (
    PeriodFold,
    compute_phases,
    find_best_slots_of_period,
    find_shortest_period,
    list_candidate_periods,
)
from iosonde.explain.operations import Operations
from iosonde.explain.readings import Times, interpret_suspects

SIZE, UNIT = 65536, 1 << 20


def build_operations(n_per_rank: list[int], **columns) -> Operations:
    """Operations of so many per rank, 1 µs each, one every 10 µs of a rank; ``columns`` replace those."""
    n = sum(n_per_rank)
    number = np.concatenate([np.arange(many) for many in n_per_rank])
    rank = np.repeat(np.arange(len(n_per_rank)), n_per_rank)
    defaults = {
        "rank": rank,
        "file": rank,
        "offset": number * SIZE,
        "start_ns": number * 10_000,
        "duration_ns": np.full(n, 1000),
        "size": SIZE,
    }
    return Operations(**{**defaults, **columns})


def mark(n: int, *rows) -> np.ndarray:
    slow = np.zeros(n, bool)
    for row in rows:
        slow[row] = True
    return slow


def run_finder(name: str, operations: Operations, slow: np.ndarray) -> Suspect:
    [suspect] = importlib.import_module(f"iosonde.explain.causes.{name}").find(Target(operations, slow, 1))
    assert suspect.place == 1 and 0 < len(suspect.cause) < len(suspect.sentence) and suspect.confirm
    return suspect


def get_scores(score: Agreement) -> tuple[float, float]:
    return score.recall, score.precision


def test_agreement_is_cohens_kappa_with_a_one_sided_test_of_two_shares():
    """30 of 40 slow ones and 5 of 60 others are predicted: 85 of 100 agree, 53 by chance."""
    score = compute_agreement(30, 40, 5, 60, 0.4, tried=7)
    z = (30 / 40 - 5 / 60) / np.sqrt(0.35 * 0.65 * (1 / 40 + 1 / 60))
    expected = Agreement(0.75, 30 / 35, (0.85 - 0.53) / (1 - 0.53), 7 * float(stats.norm.sf(z)))
    assert astuple(score) == pytest.approx(astuple(expected))
    sample = compute_agreement(300, 400, 5, 60, 0.4)  # of samples, the share of all is given
    assert get_scores(sample) == pytest.approx((0.75, 30 / 35)) and sample.kappa == pytest.approx(score.kappa)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((5, 10, 0, 0, 1.0), (0.0, 0.0, 0.0, 1.0)),
        ((0, 0, 5, 10, 0.0), (0.0, 0.0, 0.0, 1.0)),
        ((0, 10, 0, 10, 0.5), (0.0, 0.0, 0.0, 0.5)),
        ((10, 10, 10, 10, 0.5), (1.0, 0.5, 0.0, 0.5)),
        ((0, 10, 10, 10, 0.5), (0.0, 0.0, -1.0, 1.0)),
    ],
)
def test_agreement_at_its_ends(counts, expected):
    assert astuple(compute_agreement(*counts)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("kappa", "p", "is_significant", "confidence"),
    [
        (0.3, 0.0, True, "low"),
        (0.29, 0.0, False, "low"),
        (0.5, 0.001, False, "medium"),
        (0.5, 0.0009, True, "medium"),
        (0.8, 0.0, True, "high"),
        (0.79, 0.0, True, "medium"),
    ],
)
def test_an_agreement_is_large_and_significant(kappa, p, is_significant, confidence):
    score = Agreement(1.0, 1.0, kappa, p)
    assert (score.is_significant, score.confidence) == (is_significant, confidence)


def test_the_groups_with_the_highest_share_are_taken_but_never_all():
    """``b`` (90 of 100) and ``d`` (40 of 50) agree most; with ``a`` (20 of 100) the rule predicts too much."""
    score, members = select_groups_with_slow(list("abcd"), np.array([20, 90, 0, 40]), np.array([100, 100, 100, 50]))
    assert members == ["b", "d"]
    assert astuple(score) == pytest.approx(astuple(compute_agreement(130, 150, 20, 200, 150 / 350, tried=4)))
    assert select_groups_with_slow(["x", "y"], np.array([50, 50]), np.array([50, 50]))[1] == ["x"]


def test_a_target_judges_rows_among_all_operations():
    target = Target(build_operations([40]), mark(40, slice(0, 10)), 1)
    assert target.prevalence == 0.25 and target.some_slow.tolist() == list(range(10))
    assert target.some_others.tolist() == list(range(10, 40))
    expected = compute_agreement(8, 10, 4, 30, 0.25, 3)
    assert target.judge_rows(np.arange(2, 14), 3) == expected
    assert target.judge(np.arange(10) >= 2, np.arange(30) < 4, 3) == expected


def test_a_finding_has_the_numbers_of_its_agreement_and_a_key():
    score = Agreement(0.9, 0.8, 0.7, 1e-5)
    suspect = Suspect("S406", 2, "cause", "sentence", score, "confirm", {"of": 9, "unit_bytes": 4096})
    assert suspect.key == 4096 and Suspect("S403", 1, "", "", score, "", {"episodes": 3}).key is None
    finding = suspect.finding
    assert (finding.code, finding.severity, finding.action) == ("S406", Severity.INFO, "confirm")
    assert finding.evidence == {"of": 9, "unit_bytes": 4096, "recall": 0.9, "precision": 0.8, "kappa": 0.7, "p": 1e-5}


def test_episodes_end_with_their_rank():
    """Ten at the end of one rank and ten at the beginning of the next are two episodes, with 18 after a slow one."""
    suspect = run_finder("s403_episodes", build_operations([100, 100]), mark(200, slice(90, 110)))
    assert suspect.evidence == {"episodes": 2, "mean_length": 10.0}
    assert get_scores(suspect.agreement) == pytest.approx((18 / 20, 18 / 19))
    last = run_finder("s403_episodes", build_operations([100]), mark(100, slice(5, 15), slice(90, 100)))
    assert last.evidence["episodes"] == 2 and get_scores(last.agreement) == pytest.approx((18 / 20, 18 / 19))


def test_the_first_operation_of_a_rank_and_that_on_a_file():
    starts = np.arange(12) * 20
    suspect = run_finder("s405_first_touch", build_operations([20] * 12), mark(240, starts, 7, 8, 9))
    assert suspect.evidence == {"first": "of its rank"}
    assert get_scores(suspect.agreement) == pytest.approx((12 / 15, 1.0))

    files = np.tile(np.repeat(np.arange(15), 10), 2)
    both = build_operations([150, 150], file=files)
    every = np.arange(0, 300, 10)
    suspect = run_finder("s405_first_touch", both, mark(300, every))
    assert suspect.evidence == {"first": "on its file"} and get_scores(suspect.agreement) == (1.0, 1.0)
    late = np.concatenate([np.arange(150) * 10_000, np.arange(150) * 10_000 + 5])
    shared = build_operations([150, 150], file=files, start_ns=late, shared=True)
    assert get_scores(run_finder("s405_first_touch", shared, mark(300, every)).agreement) == (0.5, 1.0)
    assert get_scores(run_finder("s405_first_touch", shared, mark(300, every[:15])).agreement) == (1.0, 1.0)


def test_the_first_touch_of_a_place_is_that_of_any_rank_on_a_shared_file():
    offsets = np.tile(np.random.default_rng(1).permutation(np.repeat(np.arange(50), 2)), 2) * SIZE
    first = np.unique(offsets[:100], return_index=True)[1]
    late = np.concatenate([np.arange(100) * 10_000, np.arange(100) * 10_000 + 10**7])
    columns = {"offset": offsets, "start_ns": late, "file": np.zeros(200, int)}
    for shared, rows in ((True, first), (False, np.append(first, 100 + first))):
        suspect = run_finder(
            "s405_first_touch", build_operations([100, 100], shared=shared, **columns), mark(200, rows)
        )
        assert suspect.evidence == {"first": "on its place in the file"}
        assert get_scores(suspect.agreement) == (1.0, 1.0)


def build_jumps(gaps: np.ndarray) -> np.ndarray:
    """Offsets of which each begins this many bytes after the end of the one before."""
    return 2**40 + np.cumsum(gaps + SIZE) - SIZE


@pytest.mark.parametrize(
    ("gaps", "slow", "evidence"),
    [
        ({2**20: range(5, 195, 10), 2**14: range(8, 195, 10)}, 2**20, {"least_bytes": 2**16, "backwards": False}),
        ({-4096: range(5, 195, 10), 4096: range(8, 195, 10)}, -4096, {"least_bytes": None, "backwards": True}),
        ({512: range(5, 195, 10)}, 512, {"least_bytes": None, "backwards": False}),
    ],
)
def test_a_jump_is_backwards_or_far_or_any(gaps, slow, evidence):
    jumps = np.zeros(200, int)
    for gap, rows in gaps.items():
        jumps[list(rows)] = gap
    suspect = run_finder("s407_distance", build_operations([200], offset=build_jumps(jumps)), jumps == slow)
    assert suspect.evidence == evidence and get_scores(suspect.agreement) == (1.0, 1.0)


def test_there_is_no_jump_to_another_file_or_rank():
    files = np.repeat(np.arange(20), 10)
    restart = build_operations([100, 100], file=files, offset=np.tile(np.arange(10), 20) * SIZE)
    slow = mark(200, np.arange(0, 200, 10))
    assert not importlib.import_module("iosonde.explain.causes.s407_distance").find(Target(restart, slow, 1))


HOST_NAMES = {0: "a", 1: "a", 2: "b", 3: "b"}


@pytest.mark.parametrize(
    ("slow", "columns", "evidence", "scores"),
    [
        (mark(200, slice(50, 90)), {}, {"ranks": [1], "of": 4}, (1.0, 0.8)),
        (mark(200, slice(100, 200)), {"hosts": HOST_NAMES}, {"hosts": ["b"], "of": 2}, (1.0, 1.0)),
        (mark(200, slice(100, 200)), {"hosts": dict.fromkeys(range(4), "a")}, {"ranks": [2, 3], "of": 4}, (1.0, 1.0)),
        (
            mark(200, np.arange(0, 200, 5), np.arange(3, 200, 5)),
            {"file": np.arange(200) % 5},
            {"files": [0, 3], "of": 5},
            (1.0, 1.0),
        ),
    ],
)
def test_slow_ranks_hosts_and_files_are_listed(slow, columns, evidence, scores):
    suspect = run_finder("s408_ranks", build_operations([50] * 4, **columns), slow)
    assert suspect.evidence == evidence and get_scores(suspect.agreement) == pytest.approx(scores)


@pytest.mark.parametrize(("moments", "columns", "is_seen"), [(6, {}, True), (4, {}, False), (6, {"ranks": 1}, False)])
def test_stalls_of_all_ranks_need_five_moments_and_two_ranks(moments, columns, is_seen):
    ranks = columns.get("ranks", 3)
    rows = np.arange(moments) * 10 + 5
    took = np.full(ranks * 100, 1000)
    slow = mark(ranks * 100, *[rank * 100 + rows for rank in range(ranks)])
    took[slow] = 8000
    target = Target(build_operations([100] * ranks, duration_ns=took), slow, 1)
    suspects = importlib.import_module("iosonde.explain.causes.s409_stalls").find(target)
    assert [suspect.evidence for suspect in suspects] == ([{"moments": moments, "ranks": 3}] if is_seen else [])
    assert all(get_scores(suspect.agreement) == (1.0, 1.0) for suspect in suspects)


def test_equal_gaps_between_slow_ones_are_an_amount():
    """15 gaps of 21 operations and 14 of 20 on each of two ranks; a gap to the next rank is none."""
    rows = np.cumsum(np.tile([20, 21], 15))
    suspect = run_finder("s411_amount", build_operations([700, 700]), mark(1400, rows, 700 + rows))
    assert suspect.evidence == {"gap_operations": 21, "gap_bytes": 21 * SIZE, "gaps": 58}
    rate = 58 / (np.diff(rows).sum() * 2)
    chance = stats.geom.cdf(23, rate) - stats.geom.cdf(18, rate)
    assert suspect.agreement.recall == 1.0 and suspect.agreement.kappa == pytest.approx(1.0)
    assert suspect.agreement.p == pytest.approx(
        stats.norm.sf((1 - chance) / np.sqrt(chance * (1 - chance) / 29)), rel=1e-6
    )


def test_what_changes_at_a_moment_has_its_operations_and_bytes():
    operations = build_operations([200, 200])
    late = run_finder("s404_from_when_on", operations, mark(400, slice(150, 200), slice(350, 400)))
    assert late.evidence["late"] and late.evidence["moment_s"] == pytest.approx(1.5e-3, rel=0.01)
    assert (late.evidence["operations_before"], late.evidence["bytes_before"]) == (300, 300 * SIZE)
    assert get_scores(late.agreement) == (1.0, 1.0)
    early = run_finder("s404_from_when_on", build_operations([200], stand_for=2.5), mark(200, slice(0, 50)))
    assert not early.evidence["late"] and early.evidence["operations_before"] == 125
    assert early.evidence["bytes_before"] == 125 * SIZE


def test_trials_are_listed_with_the_highest_share_first():
    [suspect] = s410_trials.find_suspect_trials(2, list("abcd"), [10, 950, 990, 12], [1000] * 4)
    assert suspect.evidence == {"trials": ["c", "b"]} and suspect.place == 2
    assert astuple(suspect.agreement) == pytest.approx(astuple(compute_agreement(1940, 1962, 60, 2038, 1962 / 4000, 4)))
    assert not s410_trials.find_suspect_trials(1, ["a", "b"], [9, 0], [1000, 1000]), "fewer than ten slow ones"
    assert not s410_trials.find_suspect_trials(1, ["a", "b"], [10, 10], [10, 10]), "no others"


@pytest.mark.parametrize(
    ("kappas", "expected"),
    [
        ({"S401": 0.85, "S403": 1.0}, ["S401"]),
        ({"S401": 0.84, "S403": 1.0}, ["S403", "S401"]),
        ({"S402": 0.6, "S411": 1.0}, ["S402"]),
        ({"S402": 0.59, "S411": 1.0}, ["S411", "S402"]),
        ({"S403": 1.0, "S409": 0.9}, ["S409"]),
        ({"S405": 0.5, "S407": 0.7, "S408": 0.9, "S411": 0.6}, ["S408", "S407", "S411"]),
    ],
)
def test_what_follows_from_another_finding_is_left_out(kappas, expected):
    suspects = [Suspect(code, 1, "", "", Agreement(1, 1, kappa, 0), "") for code, kappa in kappas.items()]
    assert [suspect.code for suspect in causes.select_suspects(suspects)] == expected


def test_a_drift_is_theils_and_sens_slope_with_kendalls_test():
    rng = np.random.default_rng(11)
    counts = np.full((40, 2), 10.0)
    counts[3, 0] = 4.0  # too few in this part
    usual = 1e-3 * np.exp(0.01 * np.arange(40) + 0.02 * rng.standard_normal(40))
    trial = Account(counts, counts * np.stack([usual, 9 * usual], axis=1), 1, 40.0, 0)
    at = np.delete(np.arange(40), 3)
    slope = stats.theilslopes(np.log(usual[at]), at, 0.95)
    drift = s413_drift.estimate_fast_class_drift([trial], 0, 0.95)
    assert drift.change.value == pytest.approx(np.expm1(39 * slope.slope))
    assert drift.change.low == pytest.approx(np.expm1(39 * slope.low_slope), rel=0.02)
    assert drift.change.high == pytest.approx(np.expm1(39 * slope.high_slope), rel=0.02)
    score = np.sign(usual[at][None, :] - usual[at][:, None])[np.triu_indices(39, 1)].sum()
    assert drift.p == pytest.approx(2 * stats.norm.sf((score - 1) / np.sqrt(39 * 38 * 83 / 18)))
    assert s413_drift.estimate_fast_class_drift([trial, trial], 0, 0.95).change.value == pytest.approx(
        drift.change.value
    )

    flat = Account(counts, counts * 1e-3, 1, 40.0, 0)
    few = Account(np.full((40, 2), 4.0), np.full((40, 2), 4e-3), 1, 40.0, 0)
    assert s413_drift.estimate_fast_class_drift([flat], 0, 0.95) is None
    assert (
        s413_drift.estimate_fast_class_drift([trial, few], 0, 0.95) is not None
        and s413_drift.estimate_fast_class_drift([trial, few, few], 0, 0.95) is None
    )


@pytest.mark.parametrize("change", [-0.3, -0.04, 0.04, 0.3])
def test_a_drift_below_five_percent_is_none(change):
    counts = np.full((40, 1), 100.0)
    trial = Account(counts, counts * 1e-3 * np.exp(np.log1p(change) * np.arange(40) / 39)[:, None], 1, 40.0, 0)
    drift = s413_drift.estimate_fast_class_drift([trial], 0, 0.95)
    assert (drift and drift.change.value) == (None if abs(change) < 0.05 else pytest.approx(change))


def test_a_fold_learns_its_slots_from_one_half_and_is_judged_on_the_other():
    """Slots 1 and 2 are slow in the first half; in the second half slot 2 is not, and slot 5 is."""
    slow = np.array([1, 2] * 20 + [1, 5] * 20)
    others = np.array([0, 3, 4, 5] * 20 + [0, 3, 4, 2] * 20)
    result = find_best_slots_of_period(slow, others, 6, 1 / 3, 6)
    assert (result.slots, result.of) == ((1, 2), 6)
    assert result.agreement == compute_agreement(20, 40, 20, 80, 1 / 3, 6)


@pytest.mark.parametrize(
    ("slots", "of", "run"),
    [((1, 2, 5), 8, 2), ((0, 1, 7), 8, 3), ((3,), 8, 1), (range(8), 8, 8), ((0, 2, 4, 5, 6), 8, 3)],
)
def test_the_longest_run_of_slots_goes_around_the_end(slots, of, run):
    assert PeriodFold(tuple(slots), of, Agreement(1, 1, 1, 0)).runs == run


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        (np.arange(700) % 7 == 3, 7),
        (np.isin(np.arange(120) % 12, [0, 4]), 12),
        (np.arange(32) % 7 == 3, 7),
        (np.arange(27) % 7 == 3, None),
        (np.ones(100), None),
        (np.arange(11) % 2, None),
    ],
)
def test_the_shortest_period_occurs_four_times(values, steps):
    assert find_shortest_period(np.asarray(values, float)) == steps


def test_the_length_of_a_period_is_found_with_its_half_and_third():
    at = np.round((np.arange(300) + 0.25) * 1234.5)
    candidates = list_candidate_periods(at, 300 * 1234.5)
    assert [length / 1234.5 for length in candidates] == pytest.approx([1, 1 / 2, 1 / 3], rel=1e-3)
    found = compute_phases(np.append(at[:99], at[99] + 600), 1234.5)
    assert found[:99] == pytest.approx(np.full(99, 0.25), abs=1e-3) and np.isnan(found[99])


CLEAR = {
    "s401_period": (mark(400, np.arange(0, 400, 16)), {}),
    "s403_episodes": (mark(400, slice(90, 110), slice(300, 320)), {}),
    "s404_from_when_on": (mark(400, slice(380, 400)), {}),
    "s406_place": (mark(400, np.arange(0, 400, 16)), {}),
    "s407_distance": (
        mark(400, np.arange(8, 400, 16)),
        {"offset": build_jumps(np.where(np.arange(400) % 16 == 8, 4096, 0))},
    ),
    "s408_ranks": (mark(400, slice(200, 220)), {"rank": np.arange(400) // 20, "file": np.zeros(400, int)}),
}


@pytest.mark.parametrize("name", CLEAR)
def test_fewer_than_ten_slow_operations_have_nothing_in_common(name):
    slow, columns = CLEAR[name]
    operations = build_operations([400], **columns)
    assert run_finder(name, operations, slow).code == name[:4].upper()
    rows = np.flatnonzero(slow)
    find = importlib.import_module(f"iosonde.explain.causes.{name}").find
    assert find(Target(operations, mark(400, rows[-9:]), 1)) == []


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("s401_period", "in_order"),
        ("s403_episodes", "in_order"),
        ("s406_place", "placed"),
        ("s407_distance", "placed"),
        ("s407_distance", "in_order"),
    ],
)
def test_a_finder_needs_order_or_places(name, missing):
    slow, columns = CLEAR[name]
    find = importlib.import_module(f"iosonde.explain.causes.{name}").find
    assert find(Target(build_operations([400], **columns, **{missing: False}), slow, 1)) == []


def test_places_and_periods_have_all_their_numbers():
    slow = mark(400, np.arange(4, 400, 16), np.arange(5, 400, 16))
    operations = build_operations([400])
    place = run_finder("s406_place", operations, slow)
    assert place.evidence == {"unit_bytes": UNIT, "from_bytes": 4 * SIZE, "width_bytes": 2 * SIZE, "crosses": False}
    period_ = run_finder("s401_period", operations, slow)
    assert period_.evidence == {
        "period_operations": 16,
        "slow_operations": 2,
        "ranks_seen": 1,
        "period_bytes": UNIT,
        "slow_bytes": 2 * SIZE,
    }
    assert get_scores(place.agreement) == get_scores(period_.agreement) == (1.0, 1.0)
    anyhow = run_finder("s401_period", build_operations([400, 400], offset=np.zeros(800, int)), np.tile(slow, 2))
    assert anyhow.evidence == {"period_operations": 16, "slow_operations": 2, "ranks_seen": 2}


def test_a_border_that_is_crossed_has_its_unit():
    offsets = np.arange(400) * 3 * 4096
    slow = (offsets % UNIT) + SIZE > UNIT
    suspect = run_finder("s406_place", build_operations([400], offset=offsets), slow)
    assert suspect.evidence == {"unit_bytes": UNIT, "crosses": True} and get_scores(suspect.agreement) == (1.0, 1.0)


def test_a_clock_is_found_with_its_period():
    """The first operation of two ranks after every 970 µs is slow; operations take 8 to 12 µs."""
    moments = np.arange(1, 41) * 970_000
    ranks = np.cumsum(np.random.default_rng(4).integers(8_000, 12_000, (2, 4000)), axis=1)
    slow = mark(8000, *[place * 4000 + np.searchsorted(starts, moments) for place, starts in enumerate(ranks)])
    times = {"start_ns": ranks.ravel() - ranks.min(), "duration_ns": np.full(8000, 8_000)}
    suspect = run_finder("s402_clock", build_operations([4000, 4000], **times), slow)
    assert suspect.evidence["period_s"] == pytest.approx(970e-6, rel=0.01) and suspect.agreement.kappa > 0.8
    apart = build_operations([4000, 4000], comparable=False, **times)
    assert importlib.import_module("iosonde.explain.causes.s402_clock").find(Target(apart, slow, 1)) == []


def build_logged_in_whole_ms(durations: np.ndarray) -> tuple[Operations, np.ndarray]:
    """Operations of one rank as fio logs them, by the whole millisecond in which they ended; and their order."""
    starts = np.cumsum(durations) // 1_000_000 * 1_000_000 - durations
    order = np.argsort(starts, kind="stable")
    ordered = {"start_ns": starts[order] - starts.min(), "duration_ns": durations[order]}
    return build_operations([durations.size], **ordered), order


def test_the_steps_of_the_clock_of_a_log_are_no_cause():
    durations = np.where(np.random.default_rng(5).random(8000) < 0.3, 400_000, 20_000)
    operations, order = build_logged_in_whole_ms(durations)
    assert operations.clock_step_ns == 1_000_000 and operations.is_coarser_than_operations
    target = Target(operations, durations[order] > 100_000, 1)
    assert importlib.import_module("iosonde.explain.causes.s402_clock").find(target) == []
    assert build_operations([100, 100], start_ns=np.arange(200) * 10_007).clock_step_ns == 0


def test_a_period_of_many_steps_of_a_coarse_clock_is_found():
    """The operation at every 100 ms takes 20 ms, others 0.1 ms."""
    durations = np.tile(np.concatenate([[20_000_000], np.full(800, 100_000)]), 40)
    operations, order = build_logged_in_whole_ms(durations)
    suspect = run_finder("s402_clock", operations, durations[order] > 1_000_000)
    assert suspect.evidence["period_s"] == pytest.approx(0.1, rel=0.01)


def test_the_order_of_operations_in_one_step_of_the_clock_is_unknown():
    columns = {name: np.zeros(4000, int) for name in ("rank", "file", "offset")}
    phase = StoredPhase({"index": 0, "name": "read", "recorded_all": True, "ranks": []})
    for step_ns, is_known in ((1_000_000, False), (100_000, True)):
        times = {"start_ns": np.arange(4000) * 200_000 // step_ns * step_ns, "duration_ns": np.full(4000, 1000)}
        assert operations_of_phase.build_operations({**columns, **times}, phase, SIZE).in_order is is_known


def test_chance_has_the_relation_with_the_operation_before():
    slow = np.random.default_rng(8).random(4000) < 0.2
    suspect = run_finder("s412_chance", build_operations([4000]), slow)
    phi = np.corrcoef(slow[:-1], slow[1:])[0, 1]
    assert suspect.evidence["probability"] == slow.mean()
    assert suspect.evidence["relation"] == pytest.approx(phi, abs=2e-3)
    assert suspect.agreement.kappa == pytest.approx(1 - abs(suspect.evidence["relation"]) - 1.96 / np.sqrt(3999))
    find = importlib.import_module("iosonde.explain.causes.s412_chance").find
    for other in (mark(4000, np.arange(0, 4000, 7)), mark(4000, slice(0, 800)), mark(4000, slice(0, 19))):
        assert find(Target(build_operations([4000]), other, 1)) == []


def test_coarse_offsets_divide_a_unit_into_as_many_parts_as_it_has():
    """Offsets are multiples of 256 KiB, of which a MiB has four."""
    offsets = np.random.default_rng(2).integers(0, 400, 400) * 4 * SIZE
    slow = offsets % UNIT == 8 * SIZE
    suspect = run_finder("s406_place", build_operations([400], offset=offsets), slow)
    assert suspect.evidence == {
        "unit_bytes": UNIT,
        "from_bytes": 8 * SIZE,
        "width_bytes": 4 * SIZE,
        "crosses": False,
    }
    assert get_scores(suspect.agreement) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("evidence", "key"),
    [
        ({"period_operations": 16, "unit_bytes": 4096}, 16),
        ({"unit_bytes": 4096, "crosses": True}, 4096),
        ({"first": "on its file"}, "on its file"),
        ({"ranks": [1], "of": 4}, [1]),
        ({"hosts": ["a"], "of": 4}, ["a"]),
        ({"late": False, "moment_s": 1.0}, False),
        ({"files": [1], "of": 4}, None),
    ],
)
def test_the_key_of_a_cause_is_what_stays_the_same_in_the_next_trial(evidence, key):
    assert Suspect("S401", 1, "", "", Agreement(1, 1, 1, 0), "", evidence).key == key


def test_chance_is_tested_by_gaps_and_by_counts_as_scipy_does():
    slow = np.random.default_rng(8).random(2000) < 0.1
    target = Target(build_operations([1200, 800]), slow, 1)
    gaps = np.concatenate([np.diff(np.flatnonzero(part)) for part in (slow[:1200], slow[1200:])])
    levels = np.unique(gaps)
    distance = np.abs((gaps[:, None] <= levels).mean(axis=0) - stats.geom.cdf(levels, slow.mean())).max()
    root = np.sqrt(gaps.size)
    expected = stats.kstwobign.sf((root + 0.12 + 0.11 / root) * distance)
    assert s412_chance._compute_gaps_p(target) == pytest.approx(expected)
    counts, share = slow.reshape(20, 100).sum(axis=1), slow.mean()
    chi2 = ((counts - 100 * share) ** 2).sum() / (100 * share * (1 - share))
    assert s412_chance._compute_dispersion_p(target) == pytest.approx(stats.chi2.sf(chi2, 19), rel=0.02)


@pytest.mark.parametrize(("n_slow", "is_seen"), [(10, False), (11, True)])
def test_ten_gaps_are_needed_to_exclude_chance(n_slow, is_seen):
    target = Target(build_operations([400]), mark(400, slice(0, n_slow)), 1)
    p = s412_chance._compute_gaps_p(target)
    assert p < 1e-6 if is_seen else p == 1.0


def test_trials_that_are_not_alike():
    [found] = s410_trials.find_suspect_trials(1, ["a", "b", "c"], [10, 990, 12], [1000, 1000, 1000])
    assert found.evidence["trials"] == ["b"] and found.agreement.kappa > 0.9
    assert not s410_trials.find_suspect_trials(1, ["a", "b"], [100, 110], [1000, 1000])
    assert not s410_trials.find_suspect_trials(1, ["a"], [100], [1000])


def test_every_finder_has_its_page_and_code():
    for code, name in causes.map_codes_to_modules().items():
        module = importlib.import_module(name)
        assert code == module.CODE and module.__doc__.startswith(f"{code}: ")
        for part in ("What it says", "How we know", "When it is wrong", "What to do"):
            assert f"\n{part}\n" in module.__doc__


def test_a_jump_of_writes_reads_like_no_read_ahead():
    found = Suspect("S407", 1, "jump", "", Agreement(1.0, 1.0, 1.0, 0.0), "", {"backwards": False})
    words = {kind: interpret_suspects([found], Times(kind, 4096, 1e-5, 1e-3)).words for kind in ("read", "write")}
    assert "read-ahead" in words["read"] and "read-ahead" not in words["write"] and "seek" in words["write"]


@pytest.mark.parametrize(
    ("n", "n_slow", "least_others", "most_others"),
    [(40, 10, 10, 10), (40, 30, 10, 10), (41, 10, 5, 10), (1000, 100, 7, 10), (1000, 950, 4, 16)],
)
def test_of_many_operations_a_sample_is_compared(monkeypatch, n, n_slow, least_others, most_others):
    """Ten of either kind; of more than forty operations about ten others are drawn from all, one in twenty at least."""
    monkeypatch.setattr(targets, "_SAMPLE", 10)
    target = Target(build_operations([n]), mark(n, slice(0, n_slow)), 1)
    some, others = target.some_slow, target.some_others
    assert some.size == 10 and (np.diff(some) > 0).all() and some.max() < n_slow
    assert least_others <= others.size <= most_others and (np.diff(others) > 0).all() and others.min() >= n_slow


def test_causes_have_fourteen_codes_with_pages():
    codes = [f"S{number}" for number in range(401, 415)]
    assert list(causes.map_codes_to_modules()) == codes
    assert causes.map_codes_to_modules()["S401"] == "iosonde.explain.causes.s401_period"
    assert causes.read_manual_page("s413").startswith("S413: ") and causes.read_manual_page("S415") is None


def test_chance_is_named_where_no_other_finder_has_a_result():
    operations = build_operations([2000])
    by_chance = Target(operations, np.random.default_rng(3).random(2000) < 0.2, 1)
    assert [suspect.code for suspect in causes.find_suspects(by_chance)] == ["S412"]
    by_period = Target(operations, mark(2000, np.arange(0, 2000, 16)), 1)
    assert [suspect.code for suspect in causes.find_suspects(by_period)] == ["S401"]


@pytest.mark.parametrize(
    ("periods", "expected"),
    [
        ([16, 16, 10, 10], (10, 2)),  # the rank with most slow operations decides; half of them are enough
        ([16, 16, 16, 10], None),
        ([16, 16, 16, 16], (16, 4)),
        ([16, 16, 1, 16], (16, 3)),  # a rank of slow operations alone has no period
        ([16, 16, 16, 16, 16], (16, 4)),  # four ranks are folded
        ([16, 50, 50], (16, 1)),  # eight slow operations show none
    ],
)
def test_a_period_is_that_of_half_of_the_ranks(periods, expected):
    slow = np.concatenate([np.arange(400) % period == 0 for period in periods])
    suspects = s401_period.find(Target(build_operations([400] * len(periods)), slow, 1))
    found = [(suspect.evidence["period_operations"], suspect.evidence["ranks_seen"]) for suspect in suspects]
    assert found == ([] if expected is None else [expected])


@pytest.mark.parametrize(("step", "n_slow", "gap"), [(20, 20, None), (20, 21, 20), (2, 150, None), (3, 100, 3)])
def test_an_amount_needs_twenty_gaps_of_three_operations(step, n_slow, gap):
    suspects = s411_amount.find(Target(build_operations([500]), mark(500, np.arange(n_slow) * step), 1))
    assert [suspect.evidence["gap_operations"] for suspect in suspects] == ([] if gap is None else [gap])


@pytest.mark.parametrize(("distinct", "is_known"), [(89, True), (90, False)])
def test_places_that_nearly_all_occur_once_have_no_first_touch(distinct, is_known):
    places = np.concatenate([np.random.default_rng(4).permutation(distinct), np.arange(100 - distinct)])
    target = Target(build_operations([100], offset=places * 4096), mark(100, slice(0, 10)), 1)
    first = s405_first_touch._find_first_on_place(target)
    assert (None if first is None else first.tolist()) == (list(range(distinct)) if is_known else None)


def test_units_of_places_are_one_three_five_and_seven_times_a_power_of_two():
    """Each occurs four times within reach; those of the file system come last."""
    wanted = [512, 1536, 2560, 3584, 1024, 3072, 2048, 4096, 5000]
    assert list(s406_place._iter_units(20_000, [5000, 5001])) == wanted
    every = list(s406_place._iter_units(2**40, []))
    assert (min(every), max(every), len(every)) == (512, 7 << 30, 4 * 22)


def test_the_period_of_places_is_at_the_roundest_near_number():
    nine = 9 * 65536
    slow = np.arange(60) * nine + 17
    found = list(s406_place._detect_periods(slow, 60 * nine))
    assert found[0] == nine and all(4 * unit <= 60 * nine for unit in found)
    assert nine not in s406_place._detect_periods(slow[:4], 4 * nine - 1)


@pytest.mark.parametrize(
    ("turns", "length"), [([0.25, 0.25, 5.25], 3.0), ([0.0, 0.5], 0.0), ([0.0, 0.25, 1.5], 1.0), ([-0.25, 0.0], 2**0.5)]
)
def test_the_alignment_is_the_length_of_the_sum_of_unit_vectors(turns, length):
    assert folding._measure_alignment(np.array(turns)) == pytest.approx(length, abs=1e-6)


def test_the_length_of_a_period_is_refined_to_its_line():
    at = np.round((np.arange(300) + 0.25) * 1234.5)
    assert list_candidate_periods(at, 300 * 1234.5)[0] == pytest.approx(1234.5, rel=1e-5)
    assert folding._refine_length(at, 1230.0, 15.0, 300 * 1234.5) == pytest.approx(1234.5, rel=1e-5)
    assert list_candidate_periods(np.random.default_rng(1).uniform(0, 1e6, 50), 1e6) == []


@pytest.mark.parametrize(("n_slow", "is_seen"), [(19, False), (20, True), (380, True), (381, False)])
def test_chance_needs_twenty_operations_of_either_kind(n_slow, is_seen):
    slow = mark(400, np.random.default_rng(6).permutation(400)[:n_slow])
    suspects = s412_chance.find(Target(build_operations([400]), slow, 1))
    assert [suspect.evidence["probability"] for suspect in suspects] == ([n_slow / 400] if is_seen else [])


def says(text: str, *values: str) -> bool:
    return all(value in text for value in values)


@pytest.mark.parametrize("name", ["s401_period", "s404_from_when_on", "s406_place", "s408_ranks"])
def test_a_sentence_has_the_shares_of_its_agreement(name):
    """Some of the expected operations are fast, and some others slow."""
    slow, columns = CLEAR[name]
    slow = np.tile(slow, 2)
    columns = {key: np.concatenate([values, values + (key == "rank") * 20]) for key, values in columns.items()}
    if name == "s404_from_when_on":
        slow = mark(800, slice(700, 800))
    expected = np.flatnonzero(slow)
    slow[expected[::7]], slow[np.flatnonzero(~slow)[40::250]] = False, True
    suspect = run_finder(name, build_operations([800], **columns), slow)
    recall, precision = get_scores(suspect.agreement)
    assert recall != precision and says(suspect.sentence, format_share(recall), format_share(precision))


@pytest.mark.parametrize(
    ("name", "slow", "n_bytes"),
    [
        ("s401_period", mark(400, np.arange(0, 400, 12)), 12 * SIZE),
        ("s406_place", mark(400, np.arange(0, 400, 12)), 12 * SIZE),
        ("s411_amount", mark(400, np.cumsum(np.tile([11, 12, 12], 11))), 12 * SIZE),
    ],
)
def test_an_amount_is_named_with_the_unit_of_the_file_system(name, slow, n_bytes):
    suspect = run_finder(name, build_operations([400], units={"own unit": n_bytes}), slow)
    assert says(suspect.sentence, format_size(n_bytes), "(own unit)") and format_size(n_bytes) in suspect.cause
    if name != "s406_place":
        calls = run_finder(name, build_operations([400], size=0, placed=False), slow)
        assert format_size(n_bytes) not in calls.cause + calls.sentence and calls.confirm


def test_several_slow_operations_in_a_row_have_their_bytes():
    rows = np.arange(0, 400, 16)
    operations = build_operations([400], units={"own unit": 3 * SIZE})
    suspect = run_finder("s401_period", operations, mark(400, rows, rows + 1, rows + 2))
    assert says(suspect.sentence, format_size(3 * SIZE), "(own unit)", format_size(16 * SIZE))
    assert format_size(SIZE) not in run_finder("s401_period", build_operations([400]), mark(400, rows)).sentence


def test_moments_and_periods_are_named():
    late = run_finder("s404_from_when_on", build_operations([400]), CLEAR["s404_from_when_on"][0])
    assert says(late.cause, format_rate(late.evidence["moment_s"], "s"), format_size(late.evidence["bytes_before"]))
    calls = run_finder("s404_from_when_on", build_operations([400], size=0), CLEAR["s404_from_when_on"][0])
    early = run_finder("s404_from_when_on", build_operations([400]), mark(400, slice(0, 20)))
    assert len({late.confirm, calls.confirm, early.confirm}) == 3 and late.cause.split()[0] != early.cause.split()[0]
    assert calls.evidence["bytes_before"] == 0 and format_rate(calls.evidence["moment_s"], "s") in calls.cause
    episodes = run_finder("s403_episodes", build_operations([400]), CLEAR["s403_episodes"][0])
    assert says(episodes.sentence, format_share(episodes.agreement.precision), "20", "2 ")


def test_jumps_and_first_touches_have_causes_of_their_own():
    found = []
    for gap, far in ((2**20, 2**14), (-4096, 4096), (512, 512)):
        jumps = np.zeros(200, int)
        jumps[range(8, 195, 10)], jumps[range(5, 195, 10)] = far, gap
        slow = jumps == gap
        found.append(run_finder("s407_distance", build_operations([200], offset=build_jumps(jumps)), slow).cause)
    assert len(set(found)) == 3 and format_size(2**16) in found[0] and format_size(2**16) not in found[1] + found[2]


def test_at_most_four_ranks_and_three_trials_are_listed():
    slow = mark(14 * 50, slice(0, 6 * 50))
    suspect = run_finder("s408_ranks", build_operations([50] * 14, file=np.zeros(700, int)), slow)
    listed = re.findall(r"\d+", suspect.cause)
    assert (listed, suspect.evidence["ranks"]) == (["0", "1", "2", "3", "2"], list(range(6)))
    four = run_finder("s408_ranks", build_operations([50] * 14, file=np.zeros(700, int)), mark(700, slice(0, 200)))
    assert re.findall(r"\d+", four.cause) == ["0", "1", "2", "3"]
    local = run_finder("s408_ranks", build_operations([50] * 14, file=np.zeros(700, int), local=True), slow)
    assert local.confirm != suspect.confirm
    names = [f"t{number}" for number in range(9)]
    [trials] = s410_trials.find_suspect_trials(1, names, [900] * 5 + [0] * 4, [1000] * 9)
    assert re.findall(r"t\d|\b\d\b", trials.cause) == ["t0", "t1", "t2", "2"]
    [three] = s410_trials.find_suspect_trials(1, names, [900] * 3 + [0] * 6, [1000] * 9)
    assert re.findall(r"t\d|\b\d\b", three.cause) == ["t0", "t1", "t2"]
    assert says(three.sentence, format_share(three.agreement.recall), format_share(three.agreement.precision))


def test_a_drift_is_told_with_both_ends_and_its_direction():
    slower, faster = (
        s413_drift.FastDrift(Estimate(0.3 * sign, *sorted((0.2 * sign, 0.45 * sign)), 0.95, 1), 0.0).sentence
        for sign in (1, -1)
    )
    assert re.findall(r"\d\d", slower) == re.findall(r"\d\d", faster) == ["30", "20", "45"] and slower != faster
    alone = s413_drift.FastDrift(Estimate(0.3, None, None, 0.95, 1), 0.0).sentence
    assert re.findall(r"\d\d", alone) == ["30"]
