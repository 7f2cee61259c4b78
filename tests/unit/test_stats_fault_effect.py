"""What a fault did to a phase: against a trial whose rates and pauses are known, operation by operation."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.faults import FaultDone, PlannedFault
from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredRun
from iosonde.stats.overview.fault_effect import FaultMark, list_fault_marks, measure_fault_effects
from iosonde.stats.overview.over_time import select_phase_rows

KINDS = ("write",)
ZERO, S = 10**12, 10**9


def operations(lengths_ms) -> np.ndarray:
    """Writes of 1 MB back to back on one rank."""
    rows = np.zeros(len(lengths_ms), OPERATION)
    took = np.array(lengths_ms, float) * 1e6
    rows["size"], rows["duration_ns"] = 10**6, took
    rows["start_ns"] = ZERO + np.cumsum(took) - took
    return rows


def trial(*done: FaultDone, comparable=True, **facts) -> StoredRun:
    ranks = [{"rank": 0, "host": "n0", "operations": 0, "clock_offset_ns": 0}]
    phase = {
        "index": 0,
        "name": "write",
        "measures": "bandwidth",
        "counted_kind": "write",
        "recorded_all": True,
        "comparable": comparable,
        "ranks": ranks,
    }
    return StoredRun({"id": "r", "phases": [phase], "facts": {"faults": [one.to_dict() for one in done], **facts}})


def done(begun_s, undone_s, healed_s, host="server2", kind="stop") -> FaultDone:
    at = [None if s is None else ZERO + int(s * S) for s in (begun_s, begun_s, undone_s, undone_s, healed_s)]
    return FaultDone(PlannedFault(kind, host), host, 0, ZERO, *at)


# 10 ms each for 2 s, one that hangs for 3 s, 20 ms each for 2 s, 10 ms each for 1 s.
HUNG = operations([10] * 200 + [3000] + [20] * 100 + [10] * 100)


def test_parts_are_cut_at_what_was_measured_and_work_across_a_cut_is_shared():
    (made,) = measure_fault_effects(trial(done(2.0, 5.0, 7.0)), HUNG, KINDS, 0.95)
    assert [part.name for part in made.parts] == ["before", "during", "healing", "after"]
    assert [part.seconds for part in made.parts] == pytest.approx([2, 3, 2, 1])
    assert [part.rate for part in made.parts] == pytest.approx([1e8, 1e6 / 3, 5e7, 1e8])
    assert sum(part.rate * part.seconds for part in made.parts) == pytest.approx(1e6 * len(HUNG))
    assert made.parts[2].p50 == pytest.approx(0.02) and made.parts[1].p50 is None  # one operation began in it
    (cut,) = measure_fault_effects(trial(done(3.5, 4.25, 4.25)), HUNG, KINDS, 0.95)
    assert cut.parts[1].rate == pytest.approx(1e6 / 3) and cut.parts[1].seconds == pytest.approx(0.75)
    assert [part.name for part in cut.parts] == ["before", "during", "after"]


def test_the_longest_pause_is_that_of_the_fault_though_its_operation_began_before():
    (made,) = measure_fault_effects(trial(done(2.5, 5.0, 7.0)), HUNG, KINDS, 0.95)
    assert made.stall_s == pytest.approx(3.0) and made.stall_at_s == pytest.approx(2.0)
    assert made.usual_s == pytest.approx(0.01) and made.heal_s == pytest.approx(2.0)


def test_a_fault_that_was_never_undone_or_lies_elsewhere():
    (made,) = measure_fault_effects(trial(done(2.0, None, None)), HUNG, KINDS, 0.95)
    assert [part.name for part in made.parts] == ["before", "during"] and made.heal_s is None
    assert list(measure_fault_effects(trial(done(60, 61, 62)), HUNG, KINDS, 0.95)) == []
    assert list(measure_fault_effects(trial(done(-9, -5, -1)), HUNG, KINDS, 0.95)) == []
    (late,) = measure_fault_effects(trial(done(-9, -5, 2.0)), HUNG, KINDS, 0.95)
    assert [part.name for part in late.parts] == ["healing", "after"] and late.usual_s is None


def test_on_several_servers_at_once_it_is_one_fault_from_the_first_to_the_last():
    one, two = (
        FaultDone(PlannedFault("stop", "servers"), host, 0, ZERO, *(ZERO + int(s * S) for s in moments))
        for host, moments in (("server1", (2, 2, 5, 5, 6)), ("server2", (2.1, 2.1, 5.1, 5.1, 7)))
    )
    (made,) = measure_fault_effects(trial(one, two), HUNG, KINDS, 0.95)
    assert made.fault == "stop on 2 servers"
    assert [part.seconds for part in made.parts] == pytest.approx([2, 3.1, 1.9, 1])


def test_where_clocks_cannot_be_compared_nothing_is_told():
    assert list(measure_fault_effects(trial(done(2.0, 5.0, 7.0), comparable=False), HUNG, KINDS, 0.95)) == []


def test_marks_are_the_moments_within_the_phase():
    run = trial(done(2.0, 5.0, 70.0))
    assert list_fault_marks(run, select_phase_rows(run.phases[0], HUNG, KINDS)) == (
        FaultMark(2.0, "stop on server2"),
        FaultMark(5.0, "undone"),
    )
