"""What servers counted in a phase, of what they say before and after it."""

from __future__ import annotations

import json

from iosonde.core.faults import BEGUN, ENDED
from iosonde.measure import spool
from iosonde.measure.collect import phase_entry


def counted(folder, when, **calls_of):
    servers = [{"operations": [{"operation": kind, "count": n} for kind, n in calls_of.items()]}] * 2
    spool.build_server_counts_path(folder, 1, when).write_text(json.dumps({"servers": servers}))


def test_a_phase_has_what_was_counted_after_it_less_what_was_before(tmp_path):
    assert phase_entry.count_calls(tmp_path, 1) is None
    counted(tmp_path, BEGUN, lookup=5, read=1)
    counted(tmp_path, ENDED, lookup=5, read=8, open=2)
    assert phase_entry.count_calls(tmp_path, 1) == {"open": 4, "read": 14}
    entry = {
        "operation": "read",
        "counted_kind": "read",
        "server_calls": {"open": 4, "read": 14},
        "totals": {"read": {"count": 6}},
    }
    (row,) = phase_entry.observe_server_calls(entry, 2)
    assert (row.metric, row.value, row.unit, row.repetition) == ("server_calls_per_operation", 3.0, "calls", 2)
    (none,) = phase_entry.observe_server_calls(entry | {"server_calls": {}}, 2)
    assert none.value == 0.0, "a client's cache answered: that is a number, and no gap"
    assert (
        phase_entry.observe_server_calls(
            {"operation": "read", "counted_kind": "read", "totals": {"read": {"count": 6}}}, 2
        )
        == []
    )
    counted(tmp_path, ENDED, lookup=4, read=8)  # they began to count anew
    assert phase_entry.count_calls(tmp_path, 1) is None
    spool.build_server_counts_path(tmp_path, 1, ENDED).write_text("no answer")
    assert phase_entry.count_calls(tmp_path, 1) is None
