"""The trial's side of faults: what is planned at its levels, the order and the answer, what its run keeps."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import replace

import pytest

from iosonde.core import faults as words
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.faults import Exchange, FaultDone, PlannedFault, Settled
from iosonde.core.stored import StoredRun
from iosonde.measure import faults as measure_faults
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


@pytest.mark.parametrize(
    ("fault", "planned"),
    [
        ({"fault": "stop", "on": "s"}, PlannedFault("stop", "s", 0.0, None, "", "")),
        ({"fault": "stop", "on": 2, "at": 0, "for": "1ms"}, PlannedFault("stop", "2", 0.0, 0.001, "", "")),
        (
            {"fault": "slow-link", "on": "s", "rate": "${r}", "at": "1min"},
            PlannedFault("slow-link", "s", 60.0, None, "1mbit", ""),
        ),
        ({"fault": "${f}", "on": "s", "rate": "1mbit"}, PlannedFault("stop", "s", 0.0, None, "", "")),
        ({"fault": "${g}", "on": "s", "rate": "1mbit"}, PlannedFault("slow-link", "s", 0.0, None, "1mbit", "")),
    ],
)
def test_a_fault_is_planned_with_its_defaults(fault, planned):
    assert plan_faults([fault, {"fault": "none", "on": "s"}], {"r": "1mbit", "f": "stop", "g": "slow-link"}) == [
        planned
    ]


@pytest.mark.parametrize(
    ("fault", "code", "values"),
    [
        ({"fault": "stop", "rate": "1mbit"}, "rate-mismatch", {"kind": "stop"}),
        ({"fault": "slow-link"}, "rate-mismatch", {"kind": "slow-link"}),
        ({"fault": "${x}", "rate": "1mbit"}, "unknown-fault", {"kind": "what"}),
        ({"fault": "stop", "at": -0.1}, "invalid-time", {"kind": "stop"}),
        ({"fault": "stop", "for": 0}, "invalid-time", {"kind": "stop"}),
    ],
)
def test_the_kind_of_a_wrong_fault_is_named(fault, code, values):
    with raises(code, InputError, **values):
        plan_faults([{"on": "s"} | fault], {"x": "what"})


def test_servers_may_be_observed_without_faults(tmp_path, monkeypatch):
    ordered = []

    class Taken:
        def __init__(self, folder):
            self.folder, self.marks_file, self.taken = folder, folder / "marks", True

        def order(self, *of):
            ordered.append(of)

    monkeypatch.setattr(measure_faults, "Exchange", Taken)
    told = TrialFaults(LabOrders((), 5.0, tmp_path), "trial-0003", {})
    assert ordered == [([], 5.0)] and told.marks.startswith(f"{tmp_path}/trial-0003-")


def test_a_lab_that_does_not_take_the_order_in_time_is_not_running(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(words, "has_injector", lambda _: True)
    monkeypatch.setattr(measure_faults.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(measure_faults.time, "sleep", lambda _: clock.__setitem__(0, clock[0] + 4.0))
    with raises("lab-not-running", SystemFaultError):
        TrialFaults(LabOrders((WRITTEN,), None, tmp_path), "trial-0000", {"fault": "stop", "lasts": 1})
    assert clock == [12.0]


@pytest.mark.parametrize(
    ("cpu_s", "heals", "metrics"),
    [({"a": 1.0}, True, {"heal", "heal_cpu"}), ({}, True, {"heal"}), ({"a": 1.0}, False, set())],
)
def test_a_healed_fault_is_a_row(cpu_s, heals, metrics):
    done = replace(DONE, cpu_s=cpu_s, **({} if heals else {"healed_ns": None}))
    rows = LabAnswer((done,)).observations(7)
    assert {row.metric for row in rows} == metrics
    assert {(row.unit, row.repetition, row.rank) for row in rows} <= {("s", 7, None)}


def test_an_answer_of_nothing_has_no_facts_and_a_lost_one_its_reason():
    assert (LabAnswer().facts, LabAnswer().missing, LabAnswer().observations(0)) == ({}, [], [])
    assert LabAnswer(why="gone", waited_s=0.0).missing == ["gone"]
    assert LabAnswer(waited_s=0.0).facts == {"waited_for_lab_s": 0.0}
