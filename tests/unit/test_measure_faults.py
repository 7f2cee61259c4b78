"""The trial's side of faults: what is planned at its levels, the order and the answer, what its run keeps."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest

from iosonde.core import faults as words
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.faults import Exchange, FaultDone, PlannedFault, Settled
from iosonde.core.stored import StoredRun
from iosonde.measure.faults import LabAnswer, LabOrders, TrialFaults, plan_faults
from messages import assert_problem, codes, raises

WRITTEN = {"fault": "${fault}", "on": "server2", "at": "5s", "for": "${lasts}", "during": "write"}
DONE = FaultDone(
    PlannedFault("stop", "server2", 5.0, 4.0),
    "server2",
    0,
    100,
    200,
    300,
    400,
    10**9,
    3 * 10**9,
    cpu_s={"server1": 0.5, "server2": 1.0},
)


def test_values_of_factors_are_filled_in_and_none_is_no_fault():
    found = plan_faults([WRITTEN], {"fault": "kill-server", "lasts": 4})
    assert found == [PlannedFault("kill-server", "server2", 5.0, 4.0, "", "write")]
    assert plan_faults([WRITTEN], {"fault": "none", "lasts": 4}) == []
    assert plan_faults([{"fault": "slow-link", "on": "servers", "rate": "1mbit"}], {})[0].rate == "1mbit"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"fault": "kill-servr"}, "unknown-fault"),
        ({"rate": "5MB/s"}, "rate-mismatch"),
        ({"fault": "slow-disk"}, "rate-mismatch"),
        ({"at": "soon"}, "invalid-duration"),
        ({"for": 0}, "invalid-time"),
        ({"at": -1}, "invalid-time"),
    ],
)
def test_what_no_lab_could_do_is_refused(change, code):
    with raises(code, InputError):
        plan_faults([WRITTEN | {"fault": "stop"} | change], {"lasts": "1s"})


def test_without_faults_nobody_is_asked(tmp_path):
    for orders in (None, LabOrders((WRITTEN,), None, tmp_path)):
        told = TrialFaults(orders, "trial-0000", {"fault": "none", "lasts": 1})
        told.over()
        assert told.marks == "" and told.answer() == LabAnswer()


def test_where_nobody_inflicts_faults_no_trial_is_begun(tmp_path):
    with raises("lab-not-running", SystemFaultError):
        TrialFaults(LabOrders((WRITTEN,), None, tmp_path), "trial-0000", {"fault": "stop", "lasts": 1})


def test_the_answer_is_kept_and_one_who_ends_before_costs_the_trial_only_that(tmp_path):
    held = words.register_injector(tmp_path)

    def take():
        while not (found := list(tmp_path.glob("trial-*/order.json"))):
            time.sleep(0.005)
        Exchange(found[0].parent).take()

    threading.Thread(target=take).start()
    told = TrialFaults(LabOrders((WRITTEN,), None, tmp_path), "trial-0000", {"fault": "stop", "lasts": 1})
    exchange = Exchange(next(tmp_path.glob("trial-*")))
    assert told.marks == str(exchange.folder / "marks") and not exchange.over
    told.over()
    assert exchange.over
    exchange.answer([DONE], None)
    answer = told.answer()
    assert answer.done == (DONE,) and 0 <= answer.facts["waited_for_lab_s"] < 5
    (exchange.folder / "done.json").unlink()
    os.close(held)
    assert codes(told.answer().missing) == ["lab-not-running"]


def test_a_run_keeps_what_was_done_and_can_be_read_again():
    settled = Settled(1, 9.0, 10, 20, 20, 10, 1.5, None, 2.5, 0.01, ("copies differ",))
    answer = LabAnswer((DONE,), settled)
    run = StoredRun(json.loads(json.dumps({"facts": answer.facts})))
    assert run.faults == (DONE,) and Settled.from_dict(run.facts["settled"]) == settled
    rows = {(row.operation, row.metric): row.value for row in answer.observations(0)}
    assert rows == {
        (DONE.name, "heal"): pytest.approx(2.0),
        (DONE.name, "heal_cpu"): 1.5,
        ("settling", "space_back"): 1.5,
        ("settling", "cpu"): 2.5,
    }
    assert answer.missing == []
    never = FaultDone(DONE.planned, "server2", why="write never began")
    (missing,) = LabAnswer((never,)).missing
    assert_problem(missing, "fault-not-active", fault=never.name, reason=never.why)
