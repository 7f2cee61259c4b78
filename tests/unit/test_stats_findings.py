"""Findings about data: each speaks on one side of its edge only, with all the numbers that it rests on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.core.stored import CONCURRENT_PROCESSES, StoredRun
from iosonde.core.table import Column, Table, build_table
from iosonde.core.types import Finding, Severity
from iosonde.stats import checks
from iosonde.stats.checks import s121_copied_values, s126_mixed_units
from iosonde.stats.checks.runs import group_phases_by_setting, iterate_read_facts
from iosonde.stats.checks.s104_cache import list_cache_suspicions
from iosonde.stats.checks.s129_first_trial import compute_p_at_least
from iosonde.stats.estimate.copies import Copies, Pattern
from iosonde.stats.overview.cells import TrialCell
from messages import assert_problem


def cell(values, operation="read", metric="rate_last_done", unit="operations/s", places=(), **by) -> TrialCell:
    return TrialCell(by, metric, unit, np.asarray(values, float), operation, None, places)


def find(code: str, *cells: TrialCell, runs=(), level=0.95, **rest) -> list[Finding]:
    return checks.run_checks(checks.Subject(cells, level, [StoredRun(run) for run in runs], **rest), [code])


def tell(code: str, *cells: TrialCell, **rest) -> list[tuple[Severity, dict]]:
    """Severity and evidence of each finding."""
    return [(finding.severity, finding.evidence) for finding in find(code, *cells, **rest)]


def warning(**evidence) -> list[tuple[Severity, dict]]:
    return [(Severity.WARNING, evidence)]


def test_cells_with_too_few_trials_are_counted():
    """Five trials give the median no interval at 95 % (1 - 2/2⁵ = 93.75 %), six do (96.9 %); at 90 % five do."""
    cells = [cell(range(n), nodes=n) for n in (5, 6, 7)]
    assert tell("S101", *cells) == warning(needed=6, fewest=5, cells=["read, nodes=5"], n_cells=1)
    assert tell("S101", *cells, level=0.9) == []
    many = [cell(range(4), nodes=n) for n in range(12)]
    assert tell("S101", *many) == warning(needed=6, fewest=4, cells=[f"read, nodes={n}" for n in range(10)], n_cells=12)


def test_incomplete_runs_are_listed_with_all_that_they_miss():
    runs = [{"id": str(i), "missing": ["a", "b"] if i else []} for i in range(12)]
    assert tell("S102", runs=runs) == warning(runs={str(i): ["a", "b"] for i in range(1, 11)}, n_runs=11)
    assert tell("S102", runs=runs[:1]) == []


def test_a_drift_is_kendalls_tau_and_the_median_slope():
    """SciPy has both for one cell: 10 trials, one pair of neighbours exchanged."""
    values = [100.0, 103, 101, 106, 108, 110, 113, 114, 117, 119]
    tau, p = scipy_stats.kendalltau(range(10), values, method="exact")
    slope = scipy_stats.theilslopes(values).slope
    (finding,) = find("S103", cell(values))
    assert finding.severity == Severity.WARNING
    assert finding.evidence == {
        "operation": "read",
        "metric": "rate_last_done",
        "relative_change": pytest.approx(9 * slope / np.mean(values)),
        "tau": pytest.approx(tau),
        "p": pytest.approx(p),
        "n": 10,
        "cells": ["read"],
    }
    assert_problem(finding.sentence, "drift", direction="rises", unit="trial")
    (finding,) = find("S103", TrialCell({}, "m", "", -np.asarray(values), "read", within_run=True))
    assert_problem(finding.sentence, "drift", direction="falls", unit="iteration of one run")


def test_drifts_of_several_metrics_share_the_chance_of_a_false_alarm():
    """Six rising values: p = 2/720 = 0.0028, below 0.01 ÷ 3, and not below 0.01 ÷ 4."""
    rising, still = cell(range(1, 7)), [cell([1, 1, 1], metric=f"m{i}") for i in range(3)]
    assert len(find("S103", rising, *still[:2])) == 1
    assert find("S103", rising, *still) == []


@pytest.mark.parametrize(
    ("facts", "reasons"),
    [
        ({"resident_bytes": 1, "bytes": 4}, {"resident": {"percent": 25.0}}),
        ({"resident_bytes": 1, "bytes": 0}, {}),
        ({"state": "cold-requested", "bytes": 1024, "memory_bytes": 1024}, {}),
        (
            {"state": "cold-requested", "bytes": 1024, "memory_bytes": 2048},
            {"unverified": {"size": "1 KiB", "memory": "2 KiB"}},
        ),
        ({"state": "cold-verified", "bytes": 1024, "memory_bytes": 2048}, {}),
        ({"rate_bytes_per_s": 10.0, "limit_bytes_per_s": 10.0}, {}),
        ({"rate_bytes_per_s": 11.0, "limit_bytes_per_s": 10.0}, {"too_fast": {"limit_of": "limit"}}),
        (
            {"resident_bytes": 4, "bytes": 4, "rate_bytes_per_s": 11.0, "limit_bytes_per_s": 10.0, "limit": "disk"},
            {"resident": {"percent": 100.0}, "too_fast": {"limit_of": "disk"}},
        ),
        ({"in_memory": True, "resident_bytes": 4, "bytes": 4}, {"in_memory": {}}),
    ],
)
def test_each_reason_for_a_cache_holds_on_one_side_of_its_edge(facts, reasons):
    suspicions = list_cache_suspicions(facts)
    assert suspicions.keys() == reasons.keys()
    for name, values in reasons.items():
        assert suspicions[name].values.items() >= values.items()


def reading(machine, bytes_by_rank=((0, 600), (1, 500), (0, 400)), **phase) -> StoredRun:
    ranks = [{"node": node, "bytes": size} for node, size in bytes_by_rank]
    step = {"operation": "r", "totals": {"mmap_read": {"bytes": 9}}, "duration_ns": 2 * 10**9, "ranks": ranks}
    return StoredRun({"id": "r", "facts": {"machine": machine}, "phases": [step | phase]})


def test_the_rate_of_a_read_is_that_of_the_fastest_node_against_all_its_interfaces():
    up = {"state": "up", "bits_per_s": 800.0}
    machine = {
        "mount": {"type": "nfs4", "server": "a"},
        "memory": {"usable_bytes": 7},
        "network": [up, up, {"state": "down", "bits_per_s": 1e9}],
    }
    plain = {"in_memory": False, "memory_bytes": 7, "state": "warm"}
    network = {"rate_bytes_per_s": 500.0, "limit_bytes_per_s": 200.0, "limit": "node's network"}

    def facts(**changes):
        return list(iterate_read_facts(reading(machine | changes, cache={"state": "warm"})))

    assert facts() == [("r", plain | network)]
    assert facts(infiniband=["mlx5"]) == facts(network=[]) == facts(network=[up, {"state": "up"}]) == [("r", plain)]
    assert facts(mount={"type": "tmpfs"}) == [("r", plain | {"in_memory": True})]
    for here in ("localhost", "127.0.0.2", "::1", "[::1]"):
        assert facts(mount={"type": "nfs4", "server": here}) == [("r", plain)]
    assert list(iterate_read_facts(reading(machine, totals={"write": {"bytes": 9}}))) == []
    assert [facts.get("limit") for _, facts in iterate_read_facts(reading(machine, duration_ns=0))] == [None]


def test_phases_are_grouped_by_operation_and_nodes_without_those_of_incomplete_runs():
    step, other = {"operation": "a"}, [{"operation": "b", "on": "each"}, {"operation": "c", "stage": "set_up"}]
    runs = [
        {"factors": {"nodes": 2}, "phases": [step, *other]},
        {"factors": {"nodes": 2}, "phases": [step]},
        {"factors": {}, "phases": [step]},
        {"factors": {"nodes": 3}, "phases": [step], "missing": ["x"]},
    ]
    grouped = group_phases_by_setting([StoredRun(run) for run in runs])
    assert {name: len(phases) for name, phases in grouped.items()} == {"a, nodes=2": 2, "a": 1}


def starting(spread: float, operation="open") -> dict:
    return {"phases": [{"operation": operation, "start_spread_ns": spread, "duration_ns": 1000, "ranks": []}]}


def test_starts_are_late_above_one_percent_of_the_phase_the_latest_first():
    assert tell("S105", runs=[starting(10)]) == []
    runs = [starting(11), starting(50, "b"), starting(30, "b"), starting(20, "b"), starting(None, "c")]
    ((severity, evidence),) = tell("S105", runs=runs)
    assert (severity, list(evidence["share_of_phase"].items())) == (Severity.WARNING, [("b", 0.03), ("open", 0.011)])


def ranks(*times: int, work=None, started=0, **phase) -> dict:
    rows = [{"rank": r, "host": f"h{r}", "started_ns": started, "ended_ns": started + t} for r, t in enumerate(times)]
    for row, amount in zip(rows, work or (), strict=False):
        row["operations"] = amount
    return {"phases": [{"operation": "open", "ranks": rows} | phase]}


def test_ranks_are_uneven_above_a_tenth_of_the_mean():
    """Times 110 and 90: the slowest takes 1.1 times the mean."""
    assert tell("S106", runs=[ranks(90, 110, started=5)]) == []
    ((severity, evidence),) = tell("S106", runs=[ranks(88, 112, started=5, work=(1, 3))])
    assert severity == Severity.INFO
    assert evidence == {
        "tasks": [
            {
                "phase": "open",
                "index": pytest.approx(1.12),
                "index_low": None,
                "index_high": None,
                "n": 1,
                "work": pytest.approx(1.5),
                "work_low": None,
                "work_high": None,
                "work_n": 1,
                "confidence": 0.95,
            }
        ],
        "always_last": {},
    }


def test_a_rank_that_did_not_run_or_ran_alone_is_no_imbalance():
    assert tell("S106", runs=[ranks(100, 0)]) == tell("S106", runs=[ranks(100)]) == []


@pytest.mark.parametrize(("last", "trials", "named"), [(4, 4, False), (5, 5, True), (6, 9, False), (7, 8, True)])
def test_the_same_rank_is_last_too_often_only_beyond_chance(last, trials, named):
    """4 ranks: 4 · P(X ≥ last) for X binomial(trials, 1/4), below 0.01."""
    assert bool(4 * scipy_stats.binom.sf(last - 1, trials, 0.25) < 0.01) is named
    runs = [ranks(10, 10, 10, 40) if i < last else ranks(40, 10, 10, 10) for i in range(trials)]
    ((_, evidence),) = tell("S106", runs=runs)
    assert list(evidence["always_last"]) == (["open"] if named else [])


def test_load_of_others_and_of_the_machines_host_are_reported_apart_above_five_percent():
    loads = [
        [{"host": "a", "background_share": 0.05, "steal_share": 0.06}, {"node": 3, "background_share": 0.2}],
        [{"host": "b", "background_share": 0.1}, {"host": "c", "background_share": 0.15}],
        [],
    ]
    runs = [{"id": f"r{i}", "facts": {"loads": of}} for i, of in enumerate(loads)]
    found = find("S107", runs=runs)
    assert [finding.evidence for finding in found] == [
        {"share": 0.06, "host": "a", "runs": ["r0"], "kind": "steal_share"},
        {"share": 0.2, "host": "node 3", "runs": ["r0", "r1"], "kind": "background_share"},
    ]
    assert [(finding.sentence.values["n"], finding.sentence.values["n_trials"]) for finding in found] == [
        (1, 3),
        (2, 3),
    ]


def test_an_outlier_is_reported_with_the_median_of_its_cell():
    values = [100.0, 101, 99, 100.5, 99.5, 100.2, 60, 100.1]
    assert tell("S108", cell(values, nodes=1), cell([1.0], nodes=2)) == warning(
        trials=[
            {
                "cell": "read, nodes=1",
                "metric": "rate_last_done",
                "trial": "trial 7",
                "value": 60.0,
                "median": 100.1,
                "unit": "operations/s",
            }
        ],
        n=1,
    )


def test_two_groups_are_reported_with_their_means():
    values = np.array([*np.linspace(98, 102, 8), *np.linspace(148, 152, 12)])
    ((severity, evidence),) = tell("S109", cell(values[::-1]))
    (split,) = evidence["cells"].values()
    assert severity == Severity.WARNING and split["p"] < 1e-4
    assert split == {
        "low_mean": pytest.approx(100),
        "high_mean": pytest.approx(150),
        "n_low": 8,
        "p": split["p"],
        "groups": [{"mean": pytest.approx(100), "n": 8}, {"mean": pytest.approx(150), "n": 12}],
    }


def test_three_groups_of_many_trials_are_counted_without_a_p():
    values = np.concatenate([np.linspace(0.98, 1.02, 50) * level for level in (10, 100, 1000)])
    ((_, evidence),) = tell("S109", cell(values))
    (split,) = evidence["cells"].values()
    assert split == {
        "low_mean": pytest.approx(10),
        "high_mean": pytest.approx(1000),
        "n_low": 50,
        "p": None,
        "groups": [{"mean": pytest.approx(level), "n": 50} for level in (10, 100, 1000)],
    }


def test_a_small_hill_is_a_group_of_outliers_and_no_mode():
    values = np.concatenate([np.linspace(0.98, 1.02, 200) * 10, np.linspace(0.98, 1.02, 8) * 1000])
    assert tell("S109", cell(values)) == []  # 8 of 208 are below 5 %


def test_hints_that_have_no_effect_are_listed():
    ufs = {"romio_filesystem_type": "UFS: x", "striping_unit": "4", "a": "1", "b": 2}

    def of(took, **asked):
        return {"phases": [{"hints": {"asked": asked, "took": took}}]}

    assert (
        tell("S111", runs=[of(ufs, a="1", b="2"), of({}, c="1"), of(ufs | {"romio_filesystem_type": "Lustre"})]) == []
    )
    ((severity, evidence),) = tell("S111", runs=[of(ufs, a="2", c="1"), of(ufs, striping_unit="4", b="2")])
    assert (severity, list(evidence["hints"])) == (Severity.WARNING, ["a=2", "c=1", "striping_unit=4"])
    assert tell("S111", runs=[of(ufs | {"romio_filesystem_type": "LUSTRE: y"}, striping_unit="4")]) == []


def test_steps_without_a_reading_are_counted_and_the_one_that_others_read_is_named():
    def trial(**unread):
        return {"phases": [{"operation": name, "unread": why} for name, why in unread.items()]}

    runs = [trial(a="x", b="y"), trial(a="z", b=None), trial(a="x", b=None, c="")]
    (finding,) = find("S112", runs=runs)
    assert (finding.severity, finding.evidence) == (Severity.WARNING, {"trials": {"a": 3, "b": 1}})
    assert_problem(finding.sentence, "unread-output", operation="b", n=1, n_trials=3, reason="y")
    (finding,) = find("S112", runs=[trial(a="x"), trial(a="z")])
    assert (finding.severity, finding.evidence) == (Severity.INFO, {"trials": {"a": 2}})
    assert_problem(finding.sentence, "unread-output", operation="a", n=2, n_trials=2, reason="x", more="")


def test_jobs_with_other_tasks_are_counted_by_step():
    def step(name, tasks, expected=2, on="mpi", **more):
        return {"name": name, "on": on, "mpi": {"tool": "ior", "tasks": tasks, "expected": expected}} | more

    def trial(*steps, **more):
        return {"factors": {"ranks": 2}, "phases": list(steps), **more}

    well = trial(step("a", [2]), step("b", [2, None]), step("c", [1, 1], expected=1), step("d", [1, 1], stage="set_up"))
    assert tell("S113", runs=[well, trial(step("a", []))]) == []
    wrong = trial(step("a", [3]), step("b", [2, 3]))
    found = find("S113", runs=[well, wrong, wrong, trial(step("a", [3]), missing=["x"])])
    assert [(finding.severity, finding.evidence) for finding in found] == warning(trials={"a": 2, "b": 2})
    assert_problem(found[0].sentence, "wrong-tasks", n=2, n_trials=3, more="; 2 such steps")
    (alone,) = find("S113", runs=[trial(step("a", [3])), trial(step("a", [3]))])
    assert_problem(alone.sentence, "wrong-tasks", n=2, n_trials=2, more="")
    (finding,) = find("S113", runs=[trial(step("a", [1, None], expected=None))])
    assert_problem(finding.sentence.values["reason"], "separate-jobs", n_tasks=2, expected=2)


def test_metrics_of_single_ranks_are_counted_once_a_trial():
    alone = {"phases": [{"of_ranks_alone": [["r", "p99"], ["r", "p50"]]}, {"of_ranks_alone": [["r", "p99"]]}]}
    runs = [alone, {"phases": [{"of_ranks_alone": [["r", "p99"]]}]}, {"phases": [{}]}]
    (finding,) = find("S114", runs=runs)
    assert (finding.severity, finding.evidence) == (Severity.INFO, {"trials": {"r p50": 1, "r p99": 2}})
    assert_problem(finding.sentence, "single-ranks", n=2, n_trials=3, metrics="r p50, r p99")


def faulty(name: str, *missing: str, why="", in_force=1, kind="stop") -> dict:
    fault = {"planned": {"kind": kind, "on": "n"}, "host": "n1", "in_force_ns": in_force, "why": why}
    return {"id": name, "missing": list(missing), "facts": {"faults": [fault]}}


def test_lost_data_failures_and_damage_after_a_fault_are_three_findings():
    lost, failed = "s: rank 1: 3 of 8 bytes (read", "s: rank 0: it failed"
    runs = [
        faulty("a", "the fault itself", lost, failed),
        faulty("b", failed, why="still down"),
        faulty("c", "s: rank 2: not what was written"),
        faulty("d", "the fault itself", why="not injected", in_force=None),
        {"id": "e", "missing": [failed], "facts": {}},
    ]
    assert tell("S116", runs=runs) == [
        (Severity.WARNING, {"runs": {"a": lost, "c": "s: rank 2: not what was written"}}),
        (Severity.WARNING, {"runs": {"b": failed}}),
        (Severity.WARNING, {"runs": {"b": "still down"}}),
    ]
    assert tell("S116", runs=runs[3:]) == []


def test_an_emulated_cluster_limits_rates_only_above_its_share_of_busy_cpus():
    def trial(name, busy, lab=True):
        machine = {"lab": {"emulated": {"warnings": []}} if lab else None}
        return {"id": name, "facts": {"machine": machine, "loads": [{"busy_share": 0.2}, {"busy_share": busy}]}}

    assert tell("S118", runs=[trial("a", 0.85), trial("b", 0.99, lab=False)]) == []
    runs = [trial("a", 0.86), trial("b", 0.9), trial("c", 0.1)]
    assert tell("S118", runs=runs) == warning(share=0.9, runs=["a", "b"])
    (finding,) = find("S118", runs=runs)
    assert_problem(finding.sentence, "busy-cpus", share=0.9, n=2, n_trials=3)


def test_missing_values_are_counted_by_column():
    table = build_table({"x": [1, 2, 3], "y": [1.0, float("nan"), 3.0], "z": [1.0, 2.0, 3.0]})
    cells = [TrialCell({}, name, "", table.numbers(name)) for name in ("y", "z")]
    found = [evidence for _, evidence in tell("S123", *cells, table=table)]
    assert [(each["column"], each["n_missing"], len(each["places"])) for each in found] == [("y", 1, 1)]


def test_a_grid_with_holes_lists_them_and_one_that_is_mostly_holes_is_none():
    def grid(*pairs):
        return [cell([1.0, 2.0], a=a, b=b) for a, b in pairs]

    whole = [(a, b) for a in (1, 2) for b in (1, 2, 3)]
    assert tell("S123", *grid(*whole)) == []
    assert tell("S123", *grid(*whole[:-1])) == warning(metric="read", n_cells=5, n_combinations=6, missing=["a=2, b=3"])
    half = [(1, 1), (2, 2), (1, 3)]
    ((severity, evidence),) = tell("S123", *grid(*half))
    assert severity == Severity.WARNING and evidence["missing"] == ["a=1, b=2", "a=2, b=1", "a=2, b=3"]
    diagonal = [(i, i) for i in range(3)]
    assert tell("S123", *grid(*diagonal)) == [(Severity.INFO, {"metric": "read", "n_cells": 3, "n_combinations": 9})]


def test_cells_are_unbalanced_if_one_has_no_more_than_half_of_another():
    assert tell("S123", cell(range(3), x=1), cell(range(5), x=2)) == []
    assert tell("S123", cell(range(3), x=1), cell(range(6), x=2)) == warning(
        metric="read", fewest={"x=1": 3}, most={"x=2": 6}
    )


def test_what_several_metrics_lack_is_one_finding_with_their_names():
    cells = [cell([1.0], metric=m, a=a, b=b) for m in ("m", "n") for a, b in ((1, 1), (1, 2), (2, 1))]
    ((_, evidence),) = tell("S123", *cells)
    assert (evidence["missing"], evidence["metrics"]) == (["a=2, b=2"], ["read m", "read n"])


def test_a_coarse_clock_is_reported_with_its_step_and_the_flat_cells():
    flat, spread = [100.0, 101, 102, 101], [500.0, 503, 510, 520]
    assert tell("S125", cell(flat, x=1), cell(spread, x=2)) == warning(
        operation="read",
        metric="rate_last_done",
        step=1.0,
        relative_error=pytest.approx(0.5 / 101),
        cells_within_two_steps=["read, x=1"],
        n_cells_within_two_steps=1,
    )
    assert tell("S125", cell([100.0, 101, 103, 101], x=1), cell(spread, x=2)) == []
    ((_, evidence),) = tell("S125", cell([40.0, 41, 47, 60], x=1), cell(spread, x=2))
    assert evidence["relative_error"] == pytest.approx(0.5 / 44) and evidence["n_cells_within_two_steps"] == 0
    assert tell("S125", cell(flat)) == []  # 4 values have a common step by chance


def test_values_that_never_vary_are_reported():
    assert tell("S125", cell([7.0] * 3, x=1), cell([7.0] * 3, x=2)) == warning(
        operation="read", metric="rate_last_done", value=7.0, n=6
    )
    assert tell("S125", cell([7.0] * 3, x=1), cell([7.0] * 2, x=2)) == []


def test_values_above_a_bound_are_counted_and_named():
    a = cell([1.0, 3.0, 2.0], unit="MB/s", places=("p", "q", "r"), x=1)
    b = cell([4.0], unit="MB/s", x=2)
    assert tell("S127", a, b, limit=2.0) == [
        (
            Severity.ERROR,
            {"metric": "read", "bound": 2.0, "highest": 4.0, "times": 2.0, "n": 2, "places": ["q", "read, x=2"]},
        )
    ]
    assert tell("S127", a, b, limit=4.0) == tell("S127", a, b, bound=4.2e6) == []
    assert tell("S127", a, b, limit=3.97) == tell("S127", b, bound=4.16e6) == []  # three digits each
    assert tell("S127", a, b, limit=3.95) and tell("S127", b, bound=3.9e6)
    certain = {"operation": "read", "metric": "rate_last_done", "unit": "MB/s", "bound": 2e6, "highest": 4e6}
    assert tell("S127", a, b, bound=2e6) == [
        (Severity.ERROR, certain | {"times": 2.0, "n": 3, "places": ["q", "r", "read, x=2"]})
    ]
    doubtful = certain | {"bound": 4e6, "highest": 4 * 2**20, "times": pytest.approx(1.048576)}
    assert tell("S127", a, b, bound=4e6) == [(Severity.WARNING, doubtful | {"n": 1, "places": ["read, x=2"]})]


def test_rates_above_the_links_of_a_lab_are_counted_and_the_worst_is_named():
    lab = {"emulated": {"links": [{"bytes_per_s": 10.0}]}, "description": {"file_system": "nfs"}}
    runs = [{"id": name, "facts": {"hosts": ["h"], "machine": {"lab": lab}}} for name in "abc"]
    rates = cell([15.0, 16.0, 40.0], unit="bytes/s", metric="bandwidth", places=("run a", "run b", "run c"))
    evidence = {"operation": "read", "metric": "bandwidth", "unit": "bytes/s", "bound": 10.0}
    assert tell("S127", rates, runs=runs) == warning(
        **evidence, highest=40.0, times=4.0, n=2, places=["run b", "run c"]
    )
    assert tell("S127", rates, runs=runs, bound=99.0) == []


def test_means_are_recognised_by_their_name_by_a_spread_beside_them_and_by_their_decimals():
    x, whole = list(range(24)), [float(place) for place in range(24)]

    def look(columns, metric, cells=None):
        table = build_table({"x": x} | columns)
        singles = cells or [TrialCell({"x": i}, metric, "", np.array([v])) for i, v in enumerate(table.numbers(metric))]
        found = [evidence for _, evidence in tell("S128", *singles, table=table)]
        return [(each["metric"], each["mean_of"], each["one_row_a_cell"], len(each["reasons"])) for each in found]

    assert look({"y": whole}, "y") == []
    assert look({"mean_y": whole}, "mean_y") == [("mean_y", None, True, 1)]
    assert look({"y": whole, "y_sd": whole}, "y") == [("y", None, True, 1)]
    assert look({"y": whole, "y_sd": whole}, "y_sd") == []
    assert look({"y": whole, "y_sd": whole}, "y", [TrialCell({}, "y", "", np.array([1.0, 2.0]))]) == []
    assert look({"y": [v + 0.5 for v in whole]}, "y") == [("y", 2, True, 1)]
    assert look({"mean_y": [v + 0.5 for v in whole], "sd": whole}, "mean_y") == [("mean_y", 2, True, 3)]


def test_a_first_trial_that_is_extreme_too_often_is_reported():
    """Four cells of 4 trials: (1/4)⁴ = 0.0039, below 0.01 ÷ 2; three cells are not enough."""
    cells = [cell([50.0 - i, 100, 101, 99], x=i) for i in range(4)]
    assert tell("S129", *cells[:3], cell([1.0, 0], x=9), cell([0.0, 0, 1], x=10)) == []
    assert tell("S129", *cells) == warning(
        operation="read",
        metric="rate_last_done",
        way="lowest",
        n_cells=4,
        of_cells=4,
        p=pytest.approx(0.25**4),
        relative_change=pytest.approx(0.485 - 1),
        cells=[f"read, x={i}" for i in range(4)],
    )
    uncounted = cell([50.0, 100, 100], x=9), cell([1.0, 2], x=10)  # ties, and too few trials
    six = [cell([50.0, 100, 101, 99], x=i) for i in range(6)]
    ((_, evidence),) = tell("S129", *six, *uncounted, cell([100.0, 101, 99], x=11))
    assert (evidence["n_cells"], evidence["of_cells"], evidence["cells"][-1]) == (6, 7, "read, x=5")
    ((_, evidence),) = tell("S129", *[cell([200.0, 100, 101, 99], x=i) for i in range(4)])
    assert (evidence["way"], evidence["relative_change"]) == ("highest", pytest.approx(1.0))


def test_the_chance_of_at_least_so_many_is_the_binomial_one():
    for count in range(6):
        assert compute_p_at_least(count, [0.3] * 5) == pytest.approx(scipy_stats.binom.sf(count - 1, 5, 0.3))
    assert compute_p_at_least(2, [0.5, 0.2]) == pytest.approx(0.1)


def test_concurrent_runs_are_listed():
    runs = [{"id": name, "facts": {CONCURRENT_PROCESSES: pids}} for name, pids in (("a", []), ("b", [7]), ("c", [8]))]
    assert tell("S132", runs=runs) == warning(runs=["b", "c"], n_runs=2)
    assert tell("S132", runs=runs[:1]) == []


def test_repeated_columns_are_errors():
    table = build_table({"a": [1.0, 2, 3, 4, 5], "b": [1.0, 2, 3, 4, 5], "c": [1.0, 2, 3, 4, 6]})
    cells = [TrialCell({}, name, "", table.numbers(name)) for name in ("a", "b", "c")]
    copies = [each for each in tell("S121", *cells, table=table) if "columns" in each[1]]
    assert copies == [(Severity.ERROR, {"columns": ["a", "b"], "n_rows": 5})]


def test_findings_are_sorted_by_severity_and_names_are_cut():
    found = [Finding(str(i), severity, "", {}, "") for i, severity in enumerate((*Severity, *Severity))]
    assert [each.severity for each in checks.sort_by_severity(found)] == [
        severity for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO) for _ in range(2)
    ]
    assert checks.format_some_names(["a", "b", "c"]) == "a, b, c"
    assert checks.format_some_names(["a", "b", "c", "d"]) == "a, b and 2 more"


def test_the_checks_of_a_summary_and_of_data_and_those_that_read_runs():
    codes = list(checks.list_check_modules())
    assert codes == sorted(codes) and set(checks.CHECK) == {code for code in codes if code[1] == "1"}
    assert set(checks.SUMMARY) == {f"S{n}" for n in (*range(101, 121), 127, 130, 131, *range(134, 146))}
    assert [code for code in ("S101", "S102", "S103", "S104", "S123", "S132") if checks.needs_runs(code)] == [
        "S102",
        "S104",
        "S132",
    ]


def test_of_several_uneven_phases_the_worst_is_named_with_its_work():
    runs = [
        {"phases": [ranks(80, 120)["phases"][0], ranks(60, 140, work=(1, 3))["phases"][0] | {"operation": "z"}]},
        {"phases": [ranks(80, 120)["phases"][0] | {"operation": "even"}, ranks(100, 104)["phases"][0]]},
    ]
    (finding,) = find("S106", runs=runs[:1])
    assert [task["phase"] for task in finding.evidence["tasks"]] == ["open", "z"]
    assert [task["index"] for task in finding.evidence["tasks"]] == pytest.approx([1.2, 1.4])
    assert_problem(finding.sentence, "slow-rank", phase="z", more=" (2 phases in all)")
    (finding,) = find("S106", runs=runs)
    tasks = {task["phase"]: task["index"] for task in finding.evidence["tasks"]}
    assert tasks == pytest.approx({"open": (1.2 + 104 / 102) / 2, "z": 1.4, "even": 1.2})
    reverse = {"phases": [ranks(60, 140)["phases"][0], ranks(80, 120)["phases"][0] | {"operation": "z"}]}
    (finding,) = find("S106", runs=[reverse])
    assert_problem(finding.sentence, "slow-rank", phase="open", rank="", work="")


@pytest.mark.parametrize(
    ("values", "gap"),
    [
        ([1.0, 1.1, 1000.0], ("1000", 2)),
        ([1000.0, 1.0, 1010.0], ("1000", 1)),
        ([1.0, 1.0, 1048576.0], ("1024²", 2)),
        ([1.0, 1.1, 99.0 * 1.1], None),  # a gap below 100
        ([1.0, 1.9, 1800.0], ("1024", 2)),
        ([1.0, 2.1, 1500.0], None),  # the group itself spreads twofold
        ([1.0, 1.1, 300.0], None),  # no factor between units
        ([1.0, 1.0, 1340.0], ("1024", 2)),  # 1.31 times 1024, within a third
        ([1.0, 1.0, 1400.0], None),
        ([0.0, 1.0, 1000.0], None),
        ([1.0, 1000.0], None),
        ([1.0, 1.001, 1.002, 8.0, 8.01, 8.02], ("8", 3)),
        ([1.0, 1.001, 8.0, 8.01, 8.02], None),  # a group of two
        ([1.0, 1.001, 1.002, 8.0, 8.01], None),
        ([1.0, 1.0, 1.0, 1.024, 1.024, 1.024], ("1.024", 3)),
        ([1.0, 1.0, 1.0, 1.03, 1.03, 1.03], None),
        ([1.0, 1.05, 1.1, 8.0, 8.4, 9.6], ("8", 3)),
        ([1.0, 1.15, 1.3, 8.0, 8.4, 10.0], None),  # a gap of less than ten times the spread
    ],
)
def test_two_groups_are_in_two_units_by_their_factor_and_their_gap(values, gap):
    made = s126_mixed_units._find_unit_gap(np.array(values))
    assert made == gap


def test_trials_in_another_unit_are_listed_with_their_places():
    a = cell([1.0, 1000.0, 1.1, 1.2], places=("p", "q", "r", "s"), x=1)
    b = cell([1024.0, 1.0, 1024.0], places=("t", "u", "v"), x=2)
    evidence = {"metric": "read", "factor": "1000", "cells": {"read, x=1": "1000"}, "places": ["q"]}
    assert tell("S126", a, cell([1.0, 1.1, 1.2], x=3)) == warning(**evidence)
    assert tell("S126", a, b) == warning(**evidence | {"cells": {"read, x=1": "1000", "read, x=2": "1024"}})
    assert tell("S126", b) == warning(metric="read", factor="1024", cells={"read, x=2": "1024"}, places=["u"])
    unnamed = [cell([1.0, 1000.0, 1.1], x=i) for i in range(12)]
    ((_, found),) = tell("S126", *unnamed)
    assert (len(found["cells"]), found["places"]) == (10, [])


def test_levels_of_a_text_in_another_unit_are_found_at_three_settings_that_both_have():
    def at(host: str, factor: float, settings=(1, 2, 3)) -> list[TrialCell]:
        return [cell([factor * n * 1.01**n], host=host, n=n) for n in settings]

    found = {"metric": "read", "setting": "host", "levels": ["a", "b"], "factor": "1000", "n": 3}
    assert tell("S126", *at("a", 1), *at("b", 1000)) == warning(**found, ratio=pytest.approx(1000))
    assert tell("S126", *at("a", 1000), *at("b", 1)) == warning(**found, ratio=pytest.approx(1000))
    assert tell("S126", *at("a", 1), *at("b", 1000, (1, 2))) == []
    assert tell("S126", *at("a", 1), *at("b", 300)) == tell("S126", *at("a", 0), *at("b", 1000)) == []
    mixed = [*at("a", 1), *at("b", 1000, (1, 2, 3))[:2], cell([3.0], host="b", n=3)]
    assert tell("S126", *mixed) == []  # not in all settings
    turned = [cell([v], host=h, n=n) for n in (1, 2, 3) for h, v in (("a", 1), ("b", 1000 if n < 3 else 0.001))]
    assert tell("S126", *turned) == []
    numbers = [cell([size], size=size, n=n) for n in (1, 2, 3) for size in (1, 1000)]
    assert tell("S126", *numbers) == []


@pytest.mark.parametrize(
    ("factor", "mistaken"), [(1.0, False), (1.004, False), (8.0, True), (1 / 8, True), (8.05, False), (1.3, False)]
)
def test_a_ratio_of_two_columns_is_a_mistake_if_it_is_a_factor_between_units_off(factor, mistaken):
    assert s126_mixed_units._is_unit_mistake(1.5 * factor, [1.5, 1.5 * 77]) is mistaken


def test_columns_in_other_units_than_their_names_are_errors():
    rate = np.array([100.0, 110.0, 90.0])

    def look(other, unit="MB/s", rate=rate):
        columns = {"x": Column("x", rate, "x", "MB/s"), "y": Column("y", np.asarray(other), "y", unit)}
        cells = [TrialCell({}, name, "", np.array([1.0])) for name in ("x", "y")]
        return tell("S126", *cells, table=Table(columns))

    def error(ratio):
        return [(Severity.ERROR, {"columns": ["x", "y"], "ratio": pytest.approx(ratio), "expected": expected})]

    expected = [p / q for p in (1e6, 2.0**20) for q in (1e6, 2.0**20)]
    assert look(8 * rate) == error(8)
    assert look(8 * rate * [1, 1.0019, 1]) == error(8)
    assert look(8 * rate * [1, 1.0021, 1]) == look(rate) == look(1.3 * rate) == []
    assert look(8 * rate, "s") == look([*8 * rate[:2], np.nan]) == []
    assert look([*8 * rate[:2], 0.0]) == look(8 * np.full(3, 5.0), rate=np.full(3, 5.0)) == []


def test_copied_cells_are_errors_if_no_clock_can_explain_them():
    rng = np.random.default_rng(2)
    fresh = [cell(rng.normal(100, 5, 3), a=a, b=b) for a in (1, 2) for b in range(6)]
    copied = [*fresh[:6], cell(fresh[0].values[::-1], a=2, b=0), cell(fresh[1].values, a=2, b=1), *fresh[8:]]
    (finding,) = find("S121", *copied)
    evidence = dict(finding.evidence)
    assert evidence.pop("expected_by_chance") < 0.001
    assert (finding.severity, evidence) == (
        Severity.ERROR,
        {
            "metric": "read rate_last_done",
            "n_cells": 2,
            "n_trials": 6,
            "pairs": [
                {"original": f"read, a=1, b={b}", "copy": f"read, a=2, b={b}", "original_places": [], "copy_places": []}
                for b in (0, 1)
            ],
            "pattern": {
                "changed": [{"setting": "a", "original": 1, "copy": 2}],
                "fixed": {},
                "n_cells": 2,
                "of_cells": 6,
            },
        },
    )
    assert tell("S122", *copied) == warning(
        metric="read rate_last_done",
        rows_with_twin=12,
        n_rows=36,
        leaked_share_by_folds={"2": pytest.approx(1 / 6), "4": pytest.approx(1 / 4), "8": pytest.approx(7 / 24)},
    )
    trials = [*fresh[:11], cell([*fresh[0].values[:2], 7.0], a=9, b=9)]
    (finding,) = find("S121", *trials)
    assert (finding.severity, finding.evidence["n_trials"], finding.evidence["places"]) == (
        Severity.WARNING,
        2,
        [[f"read, a=1, b=0, trial {n}", f"read, a=9, b=9, trial {n}"] for n in (1, 2)],
    )


@pytest.mark.parametrize(
    ("n", "of", "trials", "sure"), [(4, 7, 1, True), (4, 8, 1, False), (3, 3, 1, False), (2, 9, 2, True)]
)
def test_single_equal_values_are_copies_if_they_are_four_and_most_of_their_settings(n, of, trials, sure):
    pair = cell([1.0], x=1), cell([1.0] * trials, x=2)
    pattern = Pattern((("x", 1, 2),), {}, n, of)
    assert s121_copied_values._is_sure(Copies((pair,), (), n, 0.0, pattern)) is sure
    assert s121_copied_values._is_sure(Copies((pair,), (), n, 0.0, None)) is (trials > 1)


def test_columns_that_vary_inside_cells_are_listed_with_these():
    hidden = {f"c{i}": [f"cell {n}" for n in range(12)] if i == 0 else ["cell 3", "more"] for i in range(11)}
    (finding,) = find("S110", hidden=hidden)
    assert finding.evidence["columns"] == [f"c{i}" for i in range(10)]
    assert finding.evidence["cells"]["c0"] == [f"cell {n}" for n in range(10)]
    assert finding.evidence["cells"]["c10"] == ["cell 3", "more"]
    assert_problem(finding.sentence, "hidden-factors", cells="cell 0, cell 1 and 11 more")
    assert find("S110") == []


def test_neighbours_that_resemble_each_other_are_worth_fewer_trials():
    values = np.repeat(np.arange(12.0), 2) + np.tile([0, 0.1], 12)
    (finding,) = find("S124", cell(values))
    evidence = finding.evidence
    assert (evidence["operation"], evidence["metric"], evidence["n"]) == ("read", "rate_last_done", 24)
    assert evidence["effective_n"] == pytest.approx(24 * (1 - evidence["lag1"]) / (1 + evidence["lag1"]))
    assert evidence["p"] < 0.001 and 0.5 < evidence["lag1"] < 1


TWELVE = range(12)
RISING, FLAT = [100.0 + x for x in range(12)], [100.0, 101, 102, 101]
DOUBLE = [*np.linspace(98, 102, 8), *np.linspace(148, 152, 12)]
FAR = [100.0, 101, 99, 100.5, 99.5, 100.2, 60, 100.1]
LATE = [{"phases": [starting(100)["phases"][0] | {"operation": f"o{i}"}]} for i in TWELVE]
LOADS = [{"id": f"r{i}", "facts": {"loads": [{"host": "a", "background_share": 0.5}]}} for i in TWELVE]
HINTS = [{"phases": [{"hints": {"asked": {f"h{i}": 1 for i in TWELVE}, "took": {"x": 1}}}]}]
PIDS = [{"id": f"r{i}", "facts": {CONCURRENT_PROCESSES: [7]}} for i in TWELVE]
UNREAD = [{"phases": [{"operation": f"o{i}", "unread": "x"} for i in TWELVE]}]
ALONE = [{"phases": [{"of_ranks_alone": [[f"o{i}", "p99"] for i in TWELVE]}]}]
TASKS = {"name": "s", "on": "mpi", "mpi": {"tool": "ior", "tasks": [3], "expected": 2}}
JOBS = [{"factors": {"ranks": 2}, "phases": [TASKS | {"name": f"s{i}"} for i in TWELVE]}]
LOST = [faulty(f"r{i}", "the fault itself", "s: rank 1: 3 of 8 bytes (read") for i in TWELVE]
BUSY = [
    {"id": f"r{i}", "facts": {"machine": {"lab": {"emulated": {"warnings": []}}}, "loads": [{"busy_share": 0.9}]}}
    for i in TWELVE
]
UNEVEN = [{"phases": [ranks(60, 140)["phases"][0] | {"operation": f"o{i}"} for i in TWELVE]}]


@pytest.mark.parametrize(
    ("code", "cells", "more", "key"),
    [
        ("S103", [cell(RISING, x=i) for i in TWELVE], {}, "cells"),
        ("S105", [], {"runs": LATE}, "share_of_phase"),
        ("S106", [], {"runs": UNEVEN}, "tasks"),
        ("S107", [], {"runs": LOADS}, "runs"),
        ("S108", [cell(FAR, x=i) for i in TWELVE], {}, "trials"),
        ("S109", [cell(DOUBLE, x=i) for i in TWELVE], {}, "cells"),
        ("S111", [], {"runs": HINTS}, "hints"),
        ("S112", [], {"runs": UNREAD}, "trials"),
        ("S113", [], {"runs": JOBS}, "trials"),
        ("S114", [], {"runs": ALONE}, "trials"),
        ("S116", [], {"runs": LOST}, "runs"),
        ("S118", [], {"runs": BUSY}, "runs"),
        ("S125", [cell(FLAT, x=i) for i in TWELVE], {}, "cells_within_two_steps"),
        ("S127", [cell(TWELVE, unit="MB/s")], {"limit": -1.0}, "places"),
        ("S127", [cell(TWELVE, unit="MB/s")], {"bound": 1e-9}, "places"),
        ("S129", [cell([50.0 - i, 100, 101, 99], x=i) for i in TWELVE], {}, "cells"),
        ("S132", [], {"runs": PIDS}, "runs"),
    ],
)
def test_ten_of_many_are_listed(code, cells, more, key):
    (finding,) = find(code, *cells, **more)
    assert len(finding.evidence[key]) == 10


def test_ten_of_many_holes_copies_and_metrics_are_listed():
    grid = [cell([1.0, 2.0], a=a, b=b) for a in range(6) for b in range(6) if (a, b) not in [(a, a) for a in range(6)]]
    holes = [c for c in grid if (c.by["a"], c.by["b"]) not in [(a, a + 1) for a in range(5)]]
    ((_, evidence),) = tell("S123", *holes)
    assert (evidence["n_cells"], evidence["n_combinations"], len(evidence["missing"])) == (25, 36, 10)
    metrics = [cell([1.0], metric=f"m{i}", a=a, b=b) for i in TWELVE for a, b in ((1, 1), (1, 2), (2, 1))]
    ((_, evidence),) = tell("S123", *metrics)
    assert len(evidence["metrics"]) == 10
    table = build_table({"y": [float("nan")] * 12 + [1.0]})
    ((_, evidence),) = tell("S123", TrialCell({}, "y", "", np.array([1.0])), table=table)
    assert (evidence["n_missing"], len(evidence["places"])) == (12, 10)
    rng = np.random.default_rng(6)
    values = rng.normal(100, 5, (12, 12))
    places = [f"p{i}" for i in TWELVE]
    twins = [cell(row, a=a, b=b, places=places) for a in (1, 2) for b, row in enumerate(values)]
    (finding,) = find("S121", *twins)
    assert (finding.evidence["n_cells"], len(finding.evidence["pairs"])) == (12, 10)
    assert {len(finding.evidence["pairs"][0][key]) for key in ("original_places", "copy_places")} == {10}
    mixed = [cell([*values[0], 5.5], x=1), cell([*values[0], 7.5], x=2)]
    (finding,) = find("S121", *mixed)
    assert (finding.evidence["n_trials"], len(finding.evidence["places"])) == (12, 10)


def contradiction(code: str, operation: str, *metrics: str, sentence: str = "it cannot be") -> dict:
    return {"code": code, "operation": operation, "metrics": list(metrics), "sentence": sentence}


@pytest.mark.parametrize("code", ["S134", "S135", "S136"])
def test_contradictory_numbers_of_an_operation_are_one_finding_about_all_its_runs(code):
    few, many = contradiction(code, "write", "latency_max"), contradiction(code, "write", "a", "b", sentence="both")
    runs = [
        {"id": "r0", "facts": {"contradictions": [few, many]}},
        {"id": "r1", "phases": [{"contradictions": [few, contradiction(code, "x.read")]}]},
        {"id": "r2", "facts": {}},
    ]
    write, read = find(code, runs=runs)
    assert (write.severity, write.evidence["operation"], write.evidence["n_runs"]) == (Severity.WARNING, "write", 2)
    assert write.evidence["metrics"] == ["latency_max", "a", "b"]
    assert write.evidence["runs"] == {"r0": ["it cannot be", "both"], "r1": ["it cannot be"]}
    assert_problem(write.sentence, "contradiction", sentence="both", more=" (2 of 3 runs)")
    assert read.evidence["operation"] == "x.read"
    assert not find(code, runs=runs[2:])


def test_a_depth_has_no_effect_with_a_synchronous_engine():
    settings = [("psync", 8), ("sync", 4), ("libaio", 8), ("psync", 1), ("psync", None), ("psync", "1, 8"), (None, 8)]
    runs = [{"id": f"r{i}", "factors": {"engine": e, "io_depth": depth}} for i, (e, depth) in enumerate(settings)]
    (finding,) = find("S137", runs=runs)
    assert finding.evidence == {"runs": ["r0", "r1"], "n_runs": 2}
    assert_problem(finding.sentence, "depth-without-effect", depths="4, 8", engines="psync, sync", n=2, n_runs=7)
    assert not find("S137", runs=runs[2:])


def test_reads_that_an_import_shows_to_be_cached_are_one_reason():
    runs = [
        {"id": f"r{i}", "facts": {"contradictions": [contradiction("S104", "read", sentence=f"{i} times")]}}
        for i in range(2)
    ]
    (finding,) = find("S104", runs=runs)
    assert finding.evidence == {"reason": "printed_settings", "operations": {"read": "0 times"}}


@pytest.mark.parametrize(
    ("machine", "severity"),
    [({}, Severity.INFO), ({"memory": {"usable_bytes": 9}}, Severity.WARNING), ({"memory": {"usable_bytes": 8}}, None)],
)
def test_writes_that_may_be_in_memory_are_held_against_the_memory_that_is_known(machine, severity):
    entry = contradiction("S142", "write") | {"memory_bytes": 8}
    runs = [{"id": "r", "facts": {"machine": machine, "contradictions": [entry]}}]
    assert [finding.severity for finding in find("S142", runs=runs)] == ([severity] if severity else [])
