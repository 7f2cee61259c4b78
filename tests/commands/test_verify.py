"""A store's numbers come out again from its operations, and a changed one does not."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime

import numpy as np
import pytest

from iosonde.core.decision import KEY, Decision, explain_broken_seal, seal_decision
from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Experiment
from iosonde.data import stored
from iosonde.data.choice import classify_rows
from iosonde.data.query import EVERY
from iosonde.stats.overview import verify
from iosonde.stats.overview.cells import MeasuredCells, TrialCell
from iosonde.stats.overview.recompute import recompute_rates

KINDS = ["open", "create", "read", "write", "close", "fsync"]
MS = 10**6


def operations(rows: list[tuple]) -> np.ndarray:
    """(rank, phase, kind, size, start ms, duration ms) each."""
    made = np.zeros(len(rows), OPERATION)
    for i, (rank, phase, kind, size, start, duration) in enumerate(rows):
        made[i] = (rank, phase, KINDS.index(kind), 0, size, 0, 0, int(start * MS), int(duration * MS))
    return made


def document(**changes) -> dict:
    phase = {
        "index": 0,
        "operation": "write_large",
        "measures": "bandwidth",
        "recorded_all": True,
        "shared": False,
        "clock_error_ns": 0,
        "ranks": [{"rank": 0, "clock_offset_ns": 0}, {"rank": 1, "clock_offset_ns": 500 * MS}],
    }
    facts = {"nodes": [0, 1]}
    run = {
        "id": "a",
        "experiment": "x",
        "started_at": "2026-11-21T10:00:00Z",
        "missing": [],
        "phases": [phase],
        "facts": facts,
        "factors": {},
    }
    return run | changes


# Rank 1's clock is 500 ms ahead. On rank 0's: rank 0 writes 10 bytes in [0, 10] ms and closes until 20; rank 1
# writes 30 in [5, 35].
WRITES = [(0, 0, "write", 10, 0, 10), (0, 0, "close", 0, 10, 10), (1, 0, "write", 30, 505, 30)]
TRUE = {
    ("write_large", "bandwidth_own", 0): 10 / 0.020,
    ("write_large", "bandwidth_own", 1): 30 / 0.030,
    ("write_large", "bandwidth_sum_of_ranks", None): 1500.0,
    ("write_large", "bandwidth_last_done", None): 40 / 0.035,
    ("write_large", "bandwidth_first_done", None): (10 + 15) / 0.020,
    ("write_large", "bandwidth_overlap", None): (5 + 15) / 0.015,
    ("write_buffered_large", "bandwidth_last_done", None): 40 / 0.035,
}


def test_the_rates_of_two_ranks_by_hand():
    assert recompute_rates(StoredRun(document()), operations(WRITES), KINDS) == pytest.approx(TRUE)


def test_clocks_that_cannot_be_compared_leave_only_the_ranks_own_rates():
    run = document()
    run["phases"][0]["clock_error_ns"] = MS
    found = recompute_rates(StoredRun(run), operations(WRITES), KINDS)
    assert {metric for _, metric, _ in found} == {"bandwidth_own", "bandwidth_sum_of_ranks"}


def test_a_shared_read_is_that_of_the_other_nodes_and_failed_operations_do_not_count():
    run = document()
    run["phases"][0] |= {"operation": "read_nto1_large", "shared": True}
    rows = operations([(0, 0, "read", 10, 0, 10), (1, 0, "read", 30, 505, 30), (1, 0, "read", 30, 535, 15)])
    rows["status"][2] = 5
    found = recompute_rates(StoredRun(run), rows, KINDS)
    assert found["read_nto1_large", "bandwidth_last_done", None] == pytest.approx(30 / 0.045)
    assert found["read_nto1_large_writer_node", "bandwidth_last_done", None] == pytest.approx(1000.0)


def test_a_shared_read_is_of_all_nodes_where_the_writer_was_verified_to_be_cold():
    run = document()
    run["phases"][0] |= {"operation": "read_nto1_large", "shared": True, "writer_counted": True}
    found = recompute_rates(StoredRun(run), operations([(0, 0, "read", 10, 0, 10), (1, 0, "read", 30, 505, 30)]), KINDS)
    assert found["read_nto1_large", "bandwidth_last_done", None] == pytest.approx(40 / 0.035)
    assert not any("writer_node" in operation for operation, _, _ in found)


def test_whole_files_are_counted_by_their_close_and_metadata_by_its_own_kind():
    run = document()
    rows = operations([(0, 0, "create", 0, 0, 1), (0, 0, "close", 0, 1, 1), (0, 0, "create", 0, 2, 2)])
    run["phases"][0] |= {"operation": "create", "measures": "rate"}
    assert recompute_rates(StoredRun(run), rows, KINDS)["create", "rate_last_done", None] == pytest.approx(2 / 0.004)
    run["phases"][0] |= {"operation": "write_small"}
    assert recompute_rates(StoredRun(run), rows, KINDS)["write_small", "rate_last_done", None] == pytest.approx(
        1 / 0.004
    )


def measured_of(table) -> MeasuredCells:
    """All trials of a table of results, every operation and metric a cell."""
    whole = table.take(stored.mask_run_rows(table))
    rows = stored.select_trials(whole, EVERY, classify_rows(whole, ())).rows
    cells = tuple(
        TrialCell({}, str(key[1]), "bytes/s", rows.numbers("value")[at], str(key[0]), at)
        for key, at in rows.groups(["operation", "metric"])
    )
    return MeasuredCells(cells, rows, ())


def verified(values: dict, run: dict | None = None, experiments=()) -> verify.Verified:
    run = run or document()
    keys = list(values)
    table = build_table(
        {
            "run": ["a"] * len(keys),
            "experiment": ["x"] * len(keys),
            "started_at": [run["started_at"]] * len(keys),
            "operation": [k[0] for k in keys],
            "metric": [k[1] for k in keys],
            "rank": [k[2] for k in keys],
            "value": [float(values[k]) for k in keys],
            "unit": ["bytes/s"] * len(keys),
            "repetition": [0] * len(keys),
        }
    )
    return verify.verify_store(
        table, measured_of(table), [(StoredRun(run), operations(WRITES))], KINDS, experiments, 0.95
    )


def test_an_honest_store_is_good():
    made = verified(TRUE)
    assert made.good and made.n_results == len(TRUE) and made.n_runs == 1 and made.n_summary > 0
    assert json.loads(json.dumps(made.to_json()))["different"] == []


@pytest.mark.parametrize("key", TRUE, ids=str)
def test_every_changed_number_is_found(key):
    made = verified(TRUE | {key: TRUE[key] * (1 + 1e-6)})
    assert [item.recomputed for item in made.different][0] == pytest.approx(TRUE[key])
    assert not made.good


def test_a_number_that_was_left_out_is_found():
    left = {key: value for key, value in TRUE.items() if key[2] != 1}
    assert [d.stored for d in verified(left).different] == [None]


def test_what_has_no_operations_cannot_be_told():
    run = document()
    run["phases"][0]["recorded_all"] = False
    made = verified(TRUE, run)
    assert not made.good and not made.different and made.n_results == 0
    assert list(made.untold.values()) == [len(TRUE)] and "sample" in next(iter(made.untold))


DECISION = Decision("write_large bandwidth_last_done", 0.02, 0.95, "6 trials")
BEFORE = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def test_a_sealed_decision_holds_and_every_change_breaks_it():
    sealed = seal_decision(DECISION, "x", BEFORE)
    assert explain_broken_seal(sealed, "x", "2026-11-21T10:00:00Z") == ""
    for key, value in {"margin": 0.05, "metric": "other", "level": 0.9, "stopping": "ci<5%"}.items():
        assert "changed" in explain_broken_seal(sealed | {key: value}, "x", None)
    assert "experiment" in explain_broken_seal(sealed, "y", None)
    assert explain_broken_seal(sealed, "x", "2026-11-21T08:59:59Z") not in (
        "",
        explain_broken_seal(sealed | {"margin": 0.05}, "x", None),
    )


def test_verify_looks_at_the_seals():
    settings = {KEY: seal_decision(DECISION, "x", BEFORE)}
    experiment = Experiment("x", "n", [], settings, [], 1, "2026-11-21T09:00:00Z")
    assert verified(TRUE, experiments=[experiment]).decisions == {"x": ""}
    changed = copy.deepcopy(experiment)
    changed.settings[KEY]["margin"] = 0.5
    made = verified(TRUE, experiments=[changed])
    assert made.decisions["x"] and not made.good


@pytest.mark.parametrize("second", [2.0, 1.05])
@pytest.mark.parametrize("unit", ["operations/s", "s", "bytes", "operations", "mW"])
def test_the_summarys_interval_is_that_of_the_recomputed_trials(second, unit):
    """Also where it reaches below 0, which neither a rate nor a time nor an amount can."""
    rows = {
        "run": ["a", "b"],
        "experiment": ["x"] * 2,
        "started_at": ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z"],
        "operation": ["create"] * 2,
        "metric": ["rate_last_done"] * 2,
        "rank": [None] * 2,
        "repetition": [0, 1],
        "unit": [unit] * 2,
        "value": [1.0, second],
    }
    table = build_table(rows)
    made = verify.verify_store(table, measured_of(table), [], KINDS, [], 0.95)
    assert made.n_summary == 5 and not made.different
