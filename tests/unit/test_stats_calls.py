"""Calls that servers counted for each operation of a phase: by hand, over trials, of shared bring-ups once."""

from __future__ import annotations

import pytest
import scipy.stats

from iosonde.core.stored import StoredRun
from iosonde.stats.overview.calls import estimate_phase_calls


def run(number, served, reads=10, **factors):
    phase = {
        "index": 1,
        "name": "read",
        "counted_kind": "read",
        "server_calls": served,
        "totals": {"open": {"count": reads}, "read": {"count": reads}},
    }
    return StoredRun(
        {
            "id": f"r{number}",
            "experiment": "e",
            "missing": [],
            "phases": [phase],
            "factors": {"repetition": number, "nodes": 1, **factors},
            "facts": {},
        }
    )


def test_calls_are_counted_for_each_operation_of_the_rate_over_trials():
    (one,) = estimate_phase_calls([run(i, {"lookup": n, "read": 10}) for i, n in enumerate((10, 12, 14))], 0.95)
    assert (one.operation, one.setting, one.per, one.in_all.n) == ("read", "", "read", 3)
    low, high = scipy.stats.t.interval(0.95, 2, 1.2, 0.2 / 3**0.5)
    assert (one.servers["lookup"].value, one.servers["lookup"].low) == pytest.approx((1.2, low))
    (wild,) = estimate_phase_calls([run(i, {"read": n}) for i, n in enumerate((1, 90))], 0.95)
    assert wild.in_all.low == wild.servers["read"].low == 0, "no operation costs less than no call"
    assert (one.in_all.value, one.in_all.high) == pytest.approx((2.2, 1 + high))
    assert {kind: each.value for kind, each in one.client.items()} == {"open": 1, "read": 1}


def test_what_the_client_did_in_all_has_its_interval_over_trials():
    """Two operations a read; the third trial opens half as often."""
    runs = [run(i, {"read": 10}) for i in range(3)]
    runs[2].phases[0].totals["open"]["count"] = 5
    (one,) = estimate_phase_calls(runs, 0.95)
    low, high = scipy.stats.t.interval(0.95, 2, 5.5 / 3, (1 / 12) ** 0.5 / 3**0.5)
    assert one.client_in_all.n == 3
    assert (one.client_in_all.value, one.client_in_all.low, one.client_in_all.high) == pytest.approx(
        (5.5 / 3, low, high)
    )
    assert one.to_json()["operations_low"] == pytest.approx(low)


def test_settings_are_apart_and_a_bring_up_counts_once():
    runs = [
        run(8 * at + i, {"read": 10 * (1 + i)}, quick=on, bring_up=2 * at + i // 2)
        for at, on in enumerate(("on", "off"))
        for i in range(4)
    ]
    made = estimate_phase_calls(runs, 0.95)
    assert [(one.setting, one.in_all.n, one.in_all.value) for one in made] == [
        ("quick=on", 2, 2.5),
        ("quick=off", 2, 2.5),
    ]
    seen = [
        run(0, {"read": 10}, client_cache="cold-verified", network_bandwidth=1e8, centre_trial=True),
        run(1, {"read": 20}, client_cache="served-by-cache", network_bandwidth=2e8),
    ]
    assert [(one.setting, one.in_all.n) for one in estimate_phase_calls(seen, 0.95)] == [("", 2)], (
        "what is observed splits no setting"
    )
    assert (
        estimate_phase_calls([run(0, None)], 0.95) == () == estimate_phase_calls([run(0, {"read": 1}, reads=0)], 0.95)
    )


def test_no_call_is_a_number():
    """A cache that answered in one trial of two halves the mean; it is not left out."""
    (one,) = estimate_phase_calls([run(0, {"read": 20}), run(1, {})], 0.95)
    assert (one.in_all.n, one.in_all.value, one.servers["read"].value) == (2, 1.0, 1.0)
