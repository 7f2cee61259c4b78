"""Rates recomputed from operations, and their comparison with stored numbers, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.stats.overview import recompute, verify
from iosonde.stats.overview.verify import ChangedNumber, Verified

KINDS = ("open", "write", "read", "close", "fsync")
Row = tuple[int, str, int, int, int, int]  # rank, kind, start, duration, size, status

# Rank 1's clock is 100 ns ahead.
WRITES: list[Row] = [
    (0, "write", 1000, 100, 1000, 0),
    (0, "write", 1100, 100, 1000, 0),
    (1, "write", 1150, 200, 500, 0),
    (1, "fsync", 1350, 50, 0, 0),
]


def build_phase(**changes) -> dict:
    ranks = [{"rank": 0}, {"rank": 1, "clock_offset_ns": 100}, {"rank": 2}]
    return {"index": 1, "name": "write", "measures": "bandwidth", "recorded_all": True, "ranks": ranks, **changes}


def recompute_rows(rows: list[Row], nodes: tuple[int, ...] = (), **changes) -> dict:
    """Rows of phase 1, among one of another phase."""
    operations = np.zeros(len(rows) + 1, OPERATION)
    for at, (rank, kind, start, duration, size, status) in enumerate(rows):
        operations[at] = (rank, 1, KINDS.index(kind), status, size, 0, 0, start, duration)
    operations[-1] = (0, 2, KINDS.index("write"), 0, 10**6, 0, 0, 0, 10**6)
    run = StoredRun({"id": "r", "phases": [build_phase(**changes)], "facts": {"nodes": list(nodes)}})
    return recompute.recompute_rates(run, operations, KINDS)


OWN = {
    ("write", "bandwidth_own", 0): 2000 / 200 * 1e9,
    ("write", "bandwidth_own", 1): 500 / 250 * 1e9,
    ("write", "bandwidth_sum_of_ranks", None): 12e9,
}
ALL = OWN | {
    ("write", "bandwidth_last_done", None): 2500 / 300 * 1e9,
    ("write", "bandwidth_first_done", None): (2000 + 500 * 150 / 200) / 200 * 1e9,
    ("write", "bandwidth_overlap", None): (500 + 1000 + 500 * 150 / 200) / 150 * 1e9,
    ("write_buffered", "bandwidth_last_done", None): 2500 / 250 * 1e9,
}


def test_every_clock_of_a_phase_has_its_rate():
    assert recompute_rows(WRITES) == pytest.approx(ALL)
    named = recompute_rows(WRITES, operation="large", counted_kind="write")
    assert named["large_buffered", "bandwidth_last_done", None] == pytest.approx(1e10)
    assert named["large", "bandwidth_overlap", None] == pytest.approx(12.5e9)


@pytest.mark.parametrize(("error_ns", "expected"), [(3, ALL), (4, OWN)])
def test_times_of_ranks_are_compared_up_to_an_error_of_one_percent_of_the_phase(error_ns, expected):
    assert recompute_rows(WRITES, clock_error_ns=error_ns) == pytest.approx(expected)


def test_ranks_one_after_the_other_have_no_common_window():
    one_by_one: list[Row] = [(0, "write", 0, 100, 1000, 0), (2, "write", 100, 100, 3000, 0)]
    assert recompute_rows(one_by_one) == pytest.approx(
        {
            ("write", "bandwidth_own", 0): 1e10,
            ("write", "bandwidth_own", 2): 3e10,
            ("write", "bandwidth_sum_of_ranks", None): 4e10,
            ("write", "bandwidth_last_done", None): 2e10,
            ("write", "bandwidth_first_done", None): 1e10,
        }
    )


def test_a_rate_counts_operations_that_succeeded_over_the_time_of_all():
    rows: list[Row] = [
        (0, "open", 0, 10, 0, 0),
        (0, "close", 10, 10, 7, 0),
        (0, "open", 20, 10, 0, 0),
        (0, "close", 30, 10, 7, 5),
        (0, "close", 40, 10, 7, 0),
    ]
    rates = recompute_rows(rows, measures="rate", name="create")
    assert rates == {
        ("create", "rate_own", 0): pytest.approx(2 / 50 * 1e9),
        ("create", "rate_sum_of_ranks", None): pytest.approx(2 / 50 * 1e9),
        **{("create", f"rate_{clock}", None): pytest.approx(4e7) for clock in ("last_done", "first_done", "overlap")},
    }
    assert recompute_rows(rows, measures="rate", name="open")["open", "rate_own", 0] == pytest.approx(2 / 50 * 1e9)
    opened = recompute_rows(rows, measures="rate", name="create", counted_kind="open")
    assert opened["create", "rate_own", 0] == pytest.approx(2 / 50 * 1e9)


READS: list[Row] = [(rank, "read", 1000, 100 * (rank + 1), 600, 0) for rank in range(3)]
APART = {"read": {2}, "read_writer_node": {0, 1}}


@pytest.mark.parametrize(
    ("nodes", "kind", "changes", "expected"),
    [
        ((0, 0, 1), "read", {"shared": True}, APART),
        ((0, 0, 1), "read", {"shared": True, "writer_counted": True}, {"read": {0, 1, 2}}),
        ((0, 0, 1), "read", {"shared": False}, {"read": {0, 1, 2}}),
        ((0, 0, 0), "read", {"shared": True}, {"read": {0, 1, 2}}),
        ((0, 1), "read", {"shared": True}, {"read": {1}, "read_writer_node": {0, 2}}),
        ((), "read", {"shared": True}, {"read": {0, 1, 2}}),
        ((0, 0, 1), "write", {"shared": True}, {"read": {0, 1, 2}}),
    ],
)
def test_a_shared_read_is_that_of_nodes_that_did_not_write(nodes, kind, changes, expected):
    rows = [(rank, kind, *rest) for rank, _, *rest in READS]
    rates = recompute_rows(rows, nodes, operation="read", **changes)
    ranks: dict[str, set[int]] = {}
    for name, metric, rank in rates:
        if metric == "bandwidth_own":
            ranks.setdefault(name, set()).add(rank)
    assert ranks == expected
    for name, members in expected.items():
        assert rates[name, "bandwidth_sum_of_ranks", None] == pytest.approx(
            sum(rates[name, "bandwidth_own", rank] for rank in members)
        )


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        (WRITES, {"recorded_all": False}),
        (WRITES, {"measures": None}),
        (WRITES, {"index": 3}),
        (WRITES[-1:], {}),
        ([(*row[:5], 5) for row in WRITES], {}),
        ([*WRITES, (2, "write", 1000, 0, 10, 0)], {}),
    ],
)
def test_nothing_is_recomputed_without_all_operations_and_some_work(rows, changes):
    assert recompute_rows(rows, **changes) == {}


@pytest.mark.parametrize(
    ("measures", "operation", "present", "kind"),
    [
        ("bandwidth", "close", ["read", "write", "close"], "write"),
        ("bandwidth", "close", ["close", "read"], "read"),
        ("bandwidth", "close", ["close"], None),
        ("rate", "open", ["open", "close", "write"], "open"),
        ("rate", "create", ["open", "close", "write"], "close"),
        ("rate", "create", ["open", "write"], None),
    ],
)
def test_the_counted_kind_is_of_data_or_named_like_the_phase_or_close(measures, operation, present, kind):
    rows = np.array([(at, 0) for at in range(len(present))], [("kind", "u1"), ("rank", "u4")])
    phase = StoredPhase(build_phase(measures=measures, operation=operation, counted_kind=None))
    series = list(recompute._split_series(phase, rows, StoredRun({"id": "r"}), present))
    assert [present[counted] for _, _, counted in series] == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("stored", "recomputed", "scale", "agree"),
    [
        (100.0, 100.0 + 0.9e-7, None, True),
        (100.0, 100.0 - 0.9e-7, None, True),
        (100.0, 100.0 + 1.1e-7, None, False),
        (100.0, 100.0 - 1.1e-7, None, False),
        (1.0, 1.0 + 0.9e-7, 100.0, True),
        (100.0, 100.0 + 0.9e-7, 1.0, True),
        (-100.0, -100.0 - 0.9e-7, None, True),
        (0.0, 0.0, None, True),
        (None, 1.0, None, False),
        (float("nan"), 1.0, None, False),
    ],
)
def test_numbers_agree_to_nine_digits_of_the_larger_scale(stored, recomputed, scale, agree):
    verified = Verified()
    verify._compare_numbers(verified, "x", stored, recomputed, scale)
    assert len(verified.different) == (0 if agree else 1)
    if stored is None:
        assert verified.different == [ChangedNumber("x", None, 1.0)]


@pytest.mark.parametrize(
    ("operation", "phase", "code"),
    [
        ("write", {}, "rates-without-operations"),
        ("write", {"recorded_all": False}, "sampled-operations"),
        ("write_buffered", {}, "rates-without-operations"),
        ("large_buffered", {"operation": "large", "recorded_all": False}, "sampled-operations"),
        ("read", {}, "foreign-numbers"),
        ("write", {"command": "dd"}, "foreign-numbers"),
    ],
)
def test_a_number_without_recomputation_has_its_reason(operation, phase, code):
    run = StoredRun({"id": "r", "phases": [build_phase(**phase)]})
    assert verify._explain_unverified(run, (operation, "bandwidth_own", 0)).code == code


@pytest.mark.parametrize(
    ("changes", "good", "n_broken"),
    [
        ({}, True, 0),
        ({"n_results": 0}, False, 0),
        ({"different": [ChangedNumber("x", 1.0, 2.0)]}, False, 0),
        ({"decisions": {"e": "", "f": "changed"}}, False, 1),
        ({"decisions": {"e": ""}}, True, 0),
    ],
)
def test_a_store_is_good_if_something_agrees_and_nothing_differs(changes, good, n_broken):
    verified = Verified(**{"n_runs": 2, "n_results": 3, "n_summary": 4, "untold": {"why": 5}, **changes})
    assert verified.n_broken == n_broken
    assert verified.to_json() == {
        "good": good,
        "n_runs": 2,
        "n_results": verified.n_results,
        "n_summary": 4,
        "different": [{"what": item.what, "stored": 1.0, "recomputed": 2.0} for item in verified.different],
        "untold": {"why": 5},
        "decisions": {name: {"holds": not why, "why": why} for name, why in verified.decisions.items()},
    }


def test_unverified_numbers_are_counted_by_their_reason():
    verified = Verified()
    verified.untold.update("aabaab")
    assert verified.to_json()["untold"] == {"a": 4, "b": 2}
    keys = (("write", "rate", None), ("write", "rate", 0))
    assert [verify._format_key(key) for key in keys] == ["write rate", "write rate of rank 0"]
