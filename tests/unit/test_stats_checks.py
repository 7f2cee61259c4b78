"""Each finding speaks when it must, stays silent on clean data, and has its page."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.core.stored import StoredRun
from iosonde.stats import checks
from iosonde.stats.checks import s104_cache
from iosonde.stats.estimate import modes
from iosonde.stats.estimate.modes import detect_two_modes
from iosonde.stats.estimate.outliers import find_outliers
from iosonde.stats.estimate.trend import estimate_trend
from iosonde.stats.overview.cells import TrialCell
from messages import assert_problem


def cell(values, operation="read", **by) -> TrialCell:
    return TrialCell(by, "rate_last_done", "operations/s", np.asarray(values, float), operation)


def subject_of(cells, runs=(), **rest) -> checks.Subject:
    return checks.Subject(cells, 0.95, [StoredRun(run) for run in runs], **rest)


def found(*cells, runs=(), codes=None, **rest) -> list[str]:
    return [f.code for f in checks.run_checks(subject_of(cells, runs, **rest), codes or checks.SUMMARY)]


@pytest.mark.parametrize("code", checks.list_check_modules())
def test_every_finding_has_a_page_that_fits_a_terminal(code):
    page = checks.find_manual_page(code)
    assert page.startswith(f"{code}: ")
    for heading in ("What it says", "How we know", "When it is wrong", "What to do"):
        assert f"\n{heading}\n" in page
    assert max(map(len, page.splitlines())) < 80


def test_codes_are_known_by_their_file_names_and_an_unknown_one_has_no_page():
    assert "S101" in checks.list_check_modules()
    assert checks.find_manual_page("s101") == checks.find_manual_page("S101")
    assert checks.find_manual_page("S999") is None


def test_too_few_repetitions_names_the_cells():
    (finding,) = checks.run_checks(checks.Subject([cell([1, 2, 3], nodes=1), cell(range(9), nodes=2)], 0.95), ["S101"])
    assert finding.evidence == {"needed": 6, "fewest": 3, "cells": ["read, nodes=1"], "n_cells": 1}


def test_an_mpi_program_with_another_number_of_tasks_is_said():
    def trial(on, tasks, expected, **more):
        mpi = {"tool": "ior", "tasks": tasks, "expected": expected}
        return {"factors": {"ranks": 2}, "phases": [{"name": "s", "command": "x", "on": on, "mpi": mpi}], **more}

    def said(*runs):
        return [finding.sentence for finding in checks.run_checks(subject_of([], runs), ["S113"])]

    assert (
        said(trial("mpi", [2], 2), trial("single", [2], None), trial("all", [2, 2], 2), {"phases": [{"name": "s"}]})
        == []
    )
    (one,) = said(trial("single", [1, 1], None), trial("single", [2], None))
    assert_problem(one, "wrong-tasks", n=1, n_trials=2)
    reason = one.values["reason"]
    assert_problem(reason, "separate-jobs", operation="s", n_tasks=2, tool="ior", expected=2)
    reason = said(trial("all", [1, 1], 2))[0].values["reason"]
    assert_problem(reason, "copies-of-tool", operation="s", n_tasks=2, tool="ior", ranks=2)
    assert_problem(said(trial("mpi", [4], 2))[0].values["reason"], "wrong-task-count", n_tasks=4, ranks=2)
    assert said(trial("mpi", [1, 1], 2, missing=["2 jobs"])) == []  # S102 says it


def test_an_emulated_cluster_that_is_not_as_asked_for_or_too_busy_is_said():
    def trial(warnings, busy):
        lab = {"emulated": {"warnings": warnings}}
        return {
            "id": str(busy),
            "facts": {"machine": {"lab": lab}, "loads": [{"busy_share": 0.1}, {"busy_share": busy}]},
        }

    def said(*runs):
        return checks.run_checks(subject_of([], runs), ["S118"])

    half = "link a to b: 50% of what was asked for"
    at_bring_up = "the machine was busy when this was measured: load 3.5 on 2 CPUs"
    assert said(trial([], 0.84), {"facts": {"machine": {"lab": None}, "loads": [{"busy_share": 0.99}]}}) == []
    slow, full = said(trial([half], 0.2), trial([], 0.9))
    assert slow.evidence == {"warnings": [half]} and slow.sentence.endswith(half)
    assert said(trial([at_bring_up], 0.2)) == []
    assert_problem(full.sentence, "busy-cpus", share=0.9, n=1, n_trials=2)


def test_incomplete_runs_are_said_with_what_they_lack():
    runs = [{"id": "a", "missing": ["rank 3 hung"]}, {"id": "b", "missing": []}]
    (finding,) = checks.run_checks(subject_of([], runs), ["S102"])
    assert "1 of 2 runs" in finding.sentence and "rank 3 hung" in finding.sentence


def test_a_drift_shared_by_cells_is_seen_and_measured():
    rng = np.random.default_rng(1)
    cells = [cell(level * (1 - 0.02 * np.arange(6) + 0.003 * rng.standard_normal(6)), nodes=level) for level in (1, 9)]
    (finding,) = checks.run_checks(checks.Subject(cells, 0.95), ["S103"])
    assert finding.evidence["relative_change"] == pytest.approx(-0.1, abs=0.02)
    assert "falls" in finding.sentence


def test_a_drift_of_one_number_by_two_names_is_said_once_and_of_two_by_their_names():
    values = 100 * (1 - 0.02 * np.arange(8) + 0.003 * np.random.default_rng(1).standard_normal(8))
    metrics = {"rate_last_done": values, "bandwidth_last_done": 4096 * values, "real": 1 / values}
    cells = [TrialCell({}, metric, "", of, "write") for metric, of in metrics.items()]
    drifts = [one.sentence.values for one in checks.run_checks(checks.Subject(cells, 0.95), ["S103"])]
    assert [(drift["metric"].split()[-1], drift["direction"]) for drift in drifts] == [
        ("IOPS", "falls"),
        ("real", "rises"),
    ]


def test_the_exact_null_of_the_trend_is_counted_right():
    for x in ([1.0, 2, 3, 4, 5], [2.0, 1, 3, 5, 4], [5.0, 1, 4, 2, 3]):
        assert estimate_trend([np.array(x)]).p == pytest.approx(
            scipy_stats.kendalltau(range(5), x, method="exact").pvalue
        )


def test_the_null_of_two_series_together_is_that_of_all_orders():
    a, b = np.array([1.0, 2, 3]), np.array([1.0, 3, 2, 4])
    score = estimate_trend([a, b]).s
    scores = [
        estimate_trend([np.array(x, float), np.array(y, float)]).s
        for x in itertools.permutations(range(3))
        for y in itertools.permutations(range(4))
    ]
    assert estimate_trend([a, b]).p == pytest.approx(np.mean(np.abs(scores) >= abs(score)))


def test_ties_and_long_series_use_the_normal_approximation():
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=100), 1)
    expected = scipy_stats.kendalltau(np.arange(100), x, method="asymptotic").pvalue
    assert estimate_trend([x]).p == pytest.approx(expected, rel=0.05)
    assert estimate_trend([np.ones(9)]) is None


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"state": "warm", "resident_bytes": 5, "bytes": 10}, "resident"),
        ({"state": "cold-requested", "resident_bytes": 0, "bytes": 10, "memory_bytes": 100}, "unverified"),
        ({"rate_bytes_per_s": 2e9, "limit_bytes_per_s": 1e9, "limit": "network"}, "too_fast"),
        ({"in_memory": True, "state": "cold-verified"}, "in_memory"),
    ],
)
def test_cache_suspicion_says_why(facts, reason):
    assert list(s104_cache.list_cache_suspicions(facts)) == [reason]


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"state": "cold-verified", "resident_bytes": 0, "bytes": 10, "memory_bytes": 100},
        {"state": "cold-requested", "bytes": 1000, "memory_bytes": 100},
        {"rate_bytes_per_s": 1e9, "limit_bytes_per_s": 2e9},
    ],
)
def test_no_cache_suspicion_without_a_reason(facts):
    assert s104_cache.list_cache_suspicions(facts) == {}


def read_run(**cache) -> dict:
    phase = {"operation": "read_large", "totals": {"read": {"bytes": 10}}, "cache": cache}
    write = {"operation": "write_large", "totals": {"write": {"bytes": 10}}, "cache": {"resident_bytes": 9, "bytes": 9}}
    return {"id": "r", "factors": {"nodes": 1}, "phases": [phase, write], "facts": {}, "missing": []}


def test_cache_suspicion_is_about_reads_only():
    runs = [read_run(state="warm", resident_bytes=10, bytes=10)]
    (finding,) = checks.run_checks(subject_of([], runs), ["S104"])
    assert_problem(finding.sentence, "cached-reads", operations="read_large")
    assert_problem(finding.sentence.values["reason"], "in-page-cache", percent=100.0)


@pytest.mark.parametrize(
    ("bits_per_s", "kind", "server", "speaks"),
    [
        (1e9, "nfs4", "10.0.0.1", True),
        (1e10, "nfs4", "10.0.0.1", False),
        (None, "nfs4", "10.0.0.1", False),
        (1e9, "nfs4", "127.0.0.1", False),
        (1e9, "xfs", None, False),
        (1e9, "fuse.ceph-fuse", None, True),
    ],
)
def test_a_read_faster_than_the_network_is_suspicious(bits_per_s, kind, server, speaks):
    run = read_run(state="cold-verified", resident_bytes=0, bytes=10)
    run["phases"][0] |= {"duration_ns": 10**9, "ranks": [{"node": 0, "bytes": 2 * 10**8}]}
    run["facts"] = {
        "machine": {
            "network": [{"state": "up", "bits_per_s": bits_per_s}, {"state": "down"}],
            "mount": {"type": kind, "server": server},
        }
    }
    found = checks.run_checks(subject_of([], [run]), ["S104"])
    assert bool(found) == speaks
    if speaks:
        assert_problem(
            found[0].sentence.values["reason"],
            "too-fast",
            rate="191 MiB/s",
            limit="119 MiB/s",
            limit_of="node's network",
        )


def phases(spread_ns=1000, times=(1000, 1000), host="h") -> dict:
    ranks = [{"rank": r, "host": f"{host}{r}", "started_ns": 0, "ended_ns": t} for r, t in enumerate(times)]
    phase = {"operation": "open", "start_spread_ns": spread_ns, "duration_ns": 10**6, "ranks": ranks}
    return {"id": "r", "factors": {"nodes": 2}, "phases": [phase], "missing": []}


def test_late_starts_are_judged_by_the_median_trial():
    assert found(runs=[phases(30_000), phases(50_000), phases(10)]) == ["S105"]
    assert found(runs=[phases(30_000), phases(10), phases(10)]) == []


def test_incomparable_clocks_tell_nothing_about_starts():
    assert found(runs=[phases(None)] * 3) == []


def test_imbalance_names_the_rank_only_if_it_is_always_the_same():
    always = [phases(times=(1000, 1000, 1000, 1500))] * 6
    (finding,) = checks.run_checks(subject_of([], always), ["S106"])
    assert "33.3 (33.3 to 33.3) % longer" in finding.sentence and "rank 3 on h3 in 6 of 6 trials" in finding.sentence
    turns = [phases(times=np.roll((1000, 1000, 1000, 1500), k).tolist()) for k in range(6)]
    (finding,) = checks.run_checks(subject_of([], turns), ["S106"])
    assert finding.sentence.values["rank"] == "" and finding.evidence["always_last"] == {}


def test_the_index_of_the_client_tasks_has_an_interval_and_says_who_had_more_to_do():
    """4 ranks, the last takes 1.2, 1.3 and 1.4 times the mean; with twice the bytes of the others."""
    slow = [phases(times=(1000, 1000, 1000, 1000 * 3 * x / (4 - x))) for x in (1.2, 1.3, 1.4)]
    (finding,) = checks.run_checks(subject_of([], slow), ["S106"])
    (task,) = finding.evidence["tasks"]
    assert task["index"] == pytest.approx(1.3) and task["n"] == 3 and task["work"] is None
    half = scipy_stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
    assert (task["index_low"], task["index_high"]) == pytest.approx((1.3 - half, 1.3 + half))
    assert finding.sentence.values["work"] == ""
    for run in slow:
        for rank in run["phases"][0]["ranks"]:
            rank["bytes"] = 200 if rank["rank"] == 3 else 100
    (finding,) = checks.run_checks(subject_of([], slow), ["S106"])
    assert finding.evidence["tasks"][0]["work"] == 1.6
    assert finding.sentence.values["excess"] == "30.0 (5.2 to 54.8) %"
    assert "60.0 (60.0 to 60.0) %" in finding.sentence.values["work"]


@pytest.mark.parametrize(
    ("trials", "said", "ends"),
    [
        ([200], ": it has 60.0 (~) % more work in a single trial: inconclusive", False),
        ([110, 300, 120], "% more work: not significant", True),
        ([190, 200, 210], "% more work", True),
    ],
)
def test_how_much_more_the_slowest_has_to_do_is_known_over_trials_and_never_over_ranks(trials, said, ends):
    runs = [phases(times=(1000, 1000, 1000, 1500)) for _ in trials]
    for run, work in zip(runs, trials, strict=True):
        for rank in run["phases"][0]["ranks"]:
            rank["bytes"] = work if rank["rank"] == 3 else 100
    (finding,) = checks.run_checks(subject_of([], runs), ["S106"])
    (task,) = finding.evidence["tasks"]
    assert task["work_n"] == len(trials) and finding.sentence.endswith(said)
    indices = [4 * work / (300 + work) for work in trials]
    assert task["work"] == pytest.approx(np.mean(indices)) and task["confidence"] == 0.95
    if ends:
        half = scipy_stats.t.ppf(0.975, 2) * np.std(indices, ddof=1) / np.sqrt(3)
        assert (task["work_low"], task["work_high"]) == pytest.approx((task["work"] - half, task["work"] + half))
    else:
        assert (task["work_low"], task["work_high"], task["index_low"]) == (None, None, None)


def test_background_load_is_said_with_host_and_share():
    run = {
        "id": "a",
        "facts": {"loads": [{"host": "h1", "background_share": 0.2}, {"node": 1, "background_share": 0.01}]},
    }
    (finding,) = checks.run_checks(subject_of([], [run]), ["S107"])
    assert_problem(finding.sentence, "background-load", percent=20.0, host="h1")


def test_an_outlier_is_named_with_its_place_and_kept():
    values = [100.0, 101, 99, 100.5, 99.5, 100.2, 60, 100.1]
    one = TrialCell({}, "rate", "", np.array(values), "read", None, tuple(f"run {i}" for i in range(8)))
    (finding,) = checks.run_checks(checks.Subject([one], 0.95), ["S108"])
    assert "run 6" in finding.sentence and finding.sentence.endswith("kept")


def test_outliers_agree_with_grubbs_for_one_candidate():
    x = np.array([100.0, 101, 99, 100.5, 99.5, 108])
    g = np.max(np.abs(x - x.mean())) / x.std(ddof=1)
    t = scipy_stats.t.ppf(1 - 0.05 / 12, 4)
    assert bool(find_outliers(x, 0.05)) == (g > 5 / np.sqrt(6) * np.sqrt(t**2 / (4 + t**2)))


@pytest.mark.parametrize("n", [modes.LEAST, 30, 100])
def test_where_no_population_is_drawn_no_level_could_tell_two_modes(n):
    even = (np.arange(n) + 0.5) / n
    assert float(modes._find_best_split(even[None, :])[0][0]) == pytest.approx(modes.UNIMODAL_SHARE, abs=0.01)
    assert np.mean(modes._simulate_null(n) >= modes.UNIMODAL_SHARE) > 0.5


def test_two_modes_are_seen_and_one_is_not():
    rng = np.random.default_rng(6)
    split = detect_two_modes(np.concatenate([rng.normal(100, 3, 8), rng.normal(150, 3, 12)]))
    assert split.p < 0.001 and split.n_low == 8
    assert (split.low_mean, split.high_mean) == (pytest.approx(100, abs=3), pytest.approx(150, abs=3))
    assert detect_two_modes(rng.normal(100, 3, 20)).p > 0.01
    assert detect_two_modes(rng.normal(100, 3, 9)) is None


def test_hidden_factors_become_one_finding():
    (finding,) = checks.run_checks(
        checks.Subject([], 0.95, hidden={"version": ["a=1"], "fs": ["a=1", "a=2"]}), ["S110"]
    )
    assert_problem(finding.sentence, "hidden-factors", columns="version, fs", cells="a=1, a=2")


@pytest.mark.slow
@pytest.mark.parametrize("draw", ["normal", "lognormal"])
def test_false_alarms_on_clean_data_are_rare(draw):
    rng = np.random.default_rng(8)
    alarms = 0
    for _ in range(200):
        cells = []
        for nodes in (1, 2, 4):
            z = rng.standard_normal(12)
            cells.append(cell(100 * nodes * np.exp(0.05 * z) if draw == "lognormal" else 100 + z, nodes=nodes))
        alarms += bool(found(*cells, codes=["S103", "S108", "S109"]))
    assert alarms <= 200 * 0.06


def hints(asked, took):
    return {"id": "a", "missing": [], "phases": [{"operation": "read", "hints": {"asked": asked, "took": took}}]}


def test_a_hint_that_did_not_take_is_said():
    ufs = {"romio_filesystem_type": "UFS: Generic ROMIO driver", "romio_ds_read": "enable", "striping_unit": "131072"}
    asked = {"romio_ds_read": "enable"}
    assert checks.run_checks(subject_of([], [hints(asked, ufs), {"id": "b", "phases": [{}]}]), ["S111"]) == []
    for more, why in (
        ({"no_such": "1"}, "the MPI-IO hint no_such=1 is not in force: the library does not know it"),
        ({"romio_ds_read": "disable"}, "romio_ds_read=disable is not in force: the library uses enable"),
        ({"striping_unit": "131072"}, "ROMIO does not stripe on this file system (UFS)"),
    ):
        (finding,) = checks.run_checks(subject_of([], [hints(asked | more, ufs)]), ["S111"])
        assert why in finding.sentence and len(finding.evidence["hints"]) == 1


def test_single_equal_values_without_a_pattern_may_come_from_a_coarse_clock():
    sizes = [64 * 1024 * 2**i for i in range(8)]
    rates = {"read": 9e9, "reread": 11e9, "write": 2e9, "rewrite": 8e9, "random": 7e9}

    def found(as_level):
        cells = [
            cell([size / (round(size / rate / 2e-6) * 2e-6)], size=as_level(size), op=op)
            for size in sizes
            for op, rate in rates.items()
        ]
        return checks.run_checks(checks.Subject(cells, 0.95), ["S121"])

    (finding,) = found(str)
    assert finding.severity == "warning" and "clock" in finding.sentence
    # Where the work is known to grow with the size, the clock's own step is seen.
    assert found(float) == []


def test_single_values_that_all_come_again_at_one_level_are_copies():
    rng = np.random.default_rng(4)
    values = rng.lognormal(size=12)
    cells = [cell([value], size=i, buffer=buffer) for buffer in (1, 2) for i, value in enumerate(values)]
    (finding,) = checks.run_checks(checks.Subject(cells, 0.95), ["S121"])
    assert finding.severity == "error" and "all 12 cells" in finding.sentence


def test_output_that_nobody_reads_is_said_and_a_warning_where_other_trials_were_read():
    def trial(unread, **more):
        return {"phases": [{"operation": "copy", "unread": unread}], **more}

    never = [trial("no tool's output"), trial("no tool's output"), trial("", missing=["it died"])]
    (finding,) = checks.run_checks(subject_of([], never), ["S112"])
    assert finding.severity == "info"
    assert_problem(finding.sentence, "unread-output", operation="copy", n=2, n_trials=2, reason="no tool's output")
    (finding,) = checks.run_checks(subject_of([], [*never, trial(None)]), ["S112"])
    assert finding.severity == "warning"
    assert_problem(finding.sentence, "unread-output", n=2, n_trials=3)
    assert checks.run_checks(subject_of([], [trial(None)]), ["S112"]) == []


def test_percentiles_of_single_ranks_are_said_to_be_theirs():
    alone = {"phases": [{"of_ranks_alone": [["read", "latency_p99"]]}]}
    (finding,) = checks.run_checks(subject_of([], [{"id": "a", **alone}, {"id": "b", "phases": [{}]}]), ["S114"])
    assert finding.severity == "info"
    assert_problem(finding.sentence, "single-ranks", metrics="read latency_p99", n=1, n_trials=2)
    assert checks.run_checks(subject_of([], [{"phases": [{}]}, {"missing": ["x"], **alone}]), ["S114"]) == []


@pytest.mark.parametrize("apart", [{"on": "each"}, {"on": "all", "stage": "set_up"}])
def test_what_ranks_do_in_turn_or_before_is_no_late_start_and_no_imbalance(apart):
    ranks = [{"rank": 0, "started_ns": 1, "ended_ns": 10}, {"rank": 1, "started_ns": 50, "ended_ns": 100}]
    phase = {"operation": "look", "start_spread_ns": 49, "duration_ns": 99, "ranks": ranks}
    subject = [subject_of([], [{"phases": [phase | more]} for _ in range(6)]) for more in (apart, {})]
    assert checks.run_checks(subject[0], ["S105", "S106"]) == []
    assert [finding.code for finding in checks.run_checks(subject[1], ["S105", "S106"])] == ["S105", "S106"]


def looked(number: int, health: str | None, before=(), after=()) -> dict:
    looks = {"before": {"at": f"T{number}a", "health": list(before)}, "after": {"at": f"T{number}b", "health": after}}
    factors = {} if health is None else {"health": health}
    return {"id": f"r{number}", "factors": factors, "facts": {"conditions": looks}, "started_at": "T", "missing": []}


def test_servers_that_were_down_are_named_with_trial_and_time():
    later = "ok, then n2 down"
    runs = [
        looked(0, "ok"),
        looked(1, later, (), ["n2 down"]),
        looked(2, "n2 down", ["n2 down"], ["n2 down"]),
        looked(3, "n2 down", ["n2 down"], ["n2 down"]),
        looked(4, None),
    ]
    (finding,) = checks.run_checks(subject_of([], runs), ["S117"])
    assert_problem(finding.sentence, "unhealthy", n=3, n_trials=4)
    first, second = finding.sentence.values["trials"].split("; ")
    assert first.startswith(later) and "r1 (T1b)" in first and "r2 (T2a)" in second and second.split()[-2] == "1"
    assert finding.evidence["health"] == {later: ["r1"], "n2 down": ["r2", "r3"]}
    assert finding.evidence["at"]["r2"] == {"before": "T2a", "after": "T2b"}


def on(file_system: str, *phases: dict) -> dict:
    facts = {"target": "/t", "machine": {"mount": {"type": file_system}}}
    return {"id": "r", "factors": {}, "facts": facts, "phases": list(phases), "missing": []}


def test_writes_that_hdfs_may_have_dropped_are_named():
    shared = {"operation": "write", "shared": True, "counted_kind": "write"}
    (finding,) = checks.run_checks(
        subject_of([], [on("fuse.hdfs", shared, {"operation": "ior", "command": "ior -w"})]), ["S120"]
    )
    assert_problem(finding.sentence, "written-once", operations="write, ior")
    for other in (
        on("fuse.hdfs", shared | {"shared": False}),
        on("fuse.hdfs", shared | {"counted_kind": "read"}),
        on("xfs", shared),
    ):
        assert checks.run_checks(subject_of([], [other]), ["S120"]) == []


@pytest.mark.parametrize("runs", [[], [looked(0, "ok")], [looked(0, None), looked(1, None)]])
def test_nothing_is_said_of_servers_that_are_well_or_of_which_nobody_knows(runs):
    assert not checks.run_checks(subject_of([], runs), ["S117"])
