"""The faults of a trial are inflicted, undone and healed at their times, by hands that are no lab's."""

import threading
import time
from dataclasses import replace

import pytest

from iosonde.core import faults as words
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.faults import BEGUN, ENDED, Exchange, PhaseMark, PlannedFault
from iosonde_lab import attend, faults
from iosonde_lab.api import LabDescription
from iosonde_lab.faults import LabFault
from iosonde_lab.settling import Settling
from messages import raises

KILL = PlannedFault("kill-server", "server2", 0.05, 0.1, during="write")


class FakeLab:
    """What was done to it, and its health: not well until ``ill_s`` after the last fault was undone."""

    def __init__(self, ill_s: float = 0.1) -> None:
        self.done, self.ill_s, self.undone_at = [], ill_s, -1e9

    def inflict(self, planned, host):
        self.done.append(("inflict", planned.kind, host, time.monotonic_ns()))
        return LabFault(planned.kind, host, time.time())

    def undo(self, fault):
        self.done.append(("undo", fault.kind, fault.host, time.monotonic_ns()))
        self.undone_at = time.monotonic()

    def health(self):
        return ["server2: down"] if time.monotonic() < self.undone_at + self.ill_s else []

    def hands(self):
        return attend.FaultHands(
            self.inflict, self.undo, lambda: None, self.health, self.cpu_s, lambda: 0, ("server1", "server2")
        )

    def cpu_s(self):
        return {"server1": time.monotonic()}


@pytest.fixture
def served(tmp_path):
    """Begins a trial with faults on a lab, whose orders are attended to."""
    held = []

    def begin(lab, *planned, settle_s=None):
        service = attend.FaultService(tmp_path, lab.hands())
        held.append(service.__enter__())
        exchange = Exchange(tmp_path / words.DIRECTORY / "trial-0000")
        exchange.order(list(planned), settle_s)
        wait(lambda: exchange.taken)
        return exchange

    yield begin
    for one in held:
        one.__exit__(None, None, None)


def wait(there, limit_s=60.0):
    deadline = time.monotonic() + limit_s
    while not there():
        assert time.monotonic() < deadline, "nothing came"
        time.sleep(0.005)


def mark(exchange, what, phase, operation):
    words.append_mark(str(exchange.marks_file), PhaseMark(what, phase, operation, time.monotonic_ns()))


def test_a_fault_comes_after_its_phase_began_lasts_as_asked_and_is_healed(served):
    lab = FakeLab()
    exchange = served(lab, KILL)
    mark(exchange, BEGUN, 0, "make")
    time.sleep(0.1)
    assert lab.done == []  # another phase
    mark(exchange, BEGUN, 1, "write")
    wait(lambda: len(lab.done) == 2)
    exchange.end_steps()
    wait(lambda: exchange.answered() is not None)
    (done,), settled = exchange.answered()
    assert (done.host, done.phase, done.why, settled) == ("server2", 1, "", None)
    assert done.phase_ns + 0.05e9 <= done.inflicting_ns <= done.in_force_ns
    assert done.in_force_ns + 0.1e9 <= done.undoing_ns <= done.undone_ns
    assert 0.1 <= done.heal_s < 60 and done.cpu_s["server1"] == pytest.approx(done.heal_s, abs=30)


def test_what_was_well_for_a_moment_only_is_healed_when_it_is_well_for_good(served):
    lab = FakeLab(0.05)
    exchange = served(lab, KILL)
    mark(exchange, BEGUN, 1, "write")
    wait(lambda: len(lab.done) == 2)
    time.sleep(0.4)  # well: then the client writes what it had held back
    well_at, lab.undone_at, lab.ill_s = time.monotonic_ns(), time.monotonic(), 0.5
    exchange.end_steps()
    wait(lambda: exchange.answered() is not None)
    (done,), _ = exchange.answered()
    assert done.healed_ns - well_at > 0.5e9 and done.cpu_s["server1"] == pytest.approx(done.heal_s, abs=30)


def test_what_was_not_well_before_is_not_waited_for(served):
    lab = FakeLab(0.0)
    usual, lab.health = lab.health, lambda: ["client7: not mounted", *usual()]
    exchange = served(lab, KILL)
    mark(exchange, BEGUN, 1, "write")
    wait(lambda: len(lab.done) == 2)
    exchange.end_steps()
    wait(lambda: exchange.answered() is not None)
    assert exchange.answered()[0][0].healed_ns


def test_on_servers_is_all_of_them_and_without_an_end_until_the_steps_are_done(served):
    lab = FakeLab(0.0)
    exchange = served(lab, PlannedFault("stop", "servers"))
    mark(exchange, BEGUN, 3, "anything")
    wait(lambda: len(lab.done) == 2)
    mark(exchange, ENDED, 3, "anything")
    time.sleep(0.1)
    assert [(what, host) for what, _, host, _ in lab.done] == [("inflict", "server1"), ("inflict", "server2")]
    exchange.end_steps()
    wait(lambda: exchange.answered() is not None)
    assert sorted((what, host) for what, _, host, _ in lab.done[2:]) == [("undo", "server1"), ("undo", "server2")]
    assert all(one.healed_ns for one in exchange.answered()[0])


@pytest.mark.parametrize(
    ("planned", "why"),
    [
        (replace(KILL, at_s=60.0), "write ended before 60 s had passed"),
        (replace(KILL, during="read"), "read never began"),
    ],
)
def test_what_never_came_to_be_says_why(served, planned, why):
    lab = FakeLab()
    exchange = served(lab, planned)
    mark(exchange, BEGUN, 0, "write")
    mark(exchange, ENDED, 0, "write")
    exchange.end_steps()
    wait(lambda: exchange.answered() is not None)
    (done,), _ = exchange.answered()
    assert done.in_force_ns is None and done.why == why and lab.done == []


def test_what_cannot_be_inflicted_or_undone_is_said_and_the_trial_goes_on(served):
    lab = FakeLab(0.0)

    def fail(*_):
        raise failure

    failure = SystemFaultError("no-such-process", "no such process")
    lab.undo = fail
    exchange = served(lab, KILL, replace(KILL, kind="cut-link", on="server1"))
    mark(exchange, BEGUN, 0, "write")
    wait(lambda: len(lab.done) == 2)
    exchange.end_steps()
    wait(lambda: exchange.answered() is not None)
    assert all(one.why.endswith(failure.message) and one.why != failure.message for one in exchange.answered()[0])


def test_the_order_of_a_trial_that_was_killed_keeps_nobody_from_the_next(served, tmp_path):
    left = Exchange(tmp_path / words.DIRECTORY / "killed")
    left.order([KILL], None)  # its steps will never be over
    lab = FakeLab(0.0)
    exchange = served(lab, KILL)
    exchange.end_steps()
    wait(lambda: exchange.answered() is not None)
    assert not left.taken


def test_nobody_attends_once_the_service_has_ended(tmp_path):
    with attend.FaultService(tmp_path, FakeLab().hands()):
        assert words.has_injector(tmp_path / words.DIRECTORY)
    assert not words.has_injector(tmp_path / words.DIRECTORY) and not words.has_injector(tmp_path)


def test_space_that_comes_back_later_and_copies_that_agree_later_are_timed(monkeypatch):
    monkeypatch.setattr("iosonde_lab.settling.QUIET_S", 0.4)
    monkeypatch.setattr("iosonde_lab.settling.SAMPLE_S", 0.02)
    used, worked = [10**8], [1.0]
    made = Settling(lambda: used[0], lambda: {"s1": worked[0]})
    used[0] = 5 * 10**8
    made.sample()
    time.sleep(0.1)
    from_ns = time.monotonic_ns()

    def health():
        since = (time.monotonic_ns() - from_ns) / 1e9
        used[0] = 5 * 10**8 if since < 0.5 else 10**8
        worked[0] = 1.0 if since < 0.3 else 4.0
        return ["copies differ"] if since < 0.15 else []

    found = made.until_quiet(from_ns, 60, health, threading.Event())
    assert 0.15 <= found.agree_s <= found.space_back_s >= 0.5
    assert (found.bytes_before, found.bytes_most, found.bytes_end) == (10**8, 5 * 10**8, 10**8)
    assert found.cpu_s == pytest.approx(3.0) and found.idle_cpu == 0.0


def test_space_that_does_not_come_back_is_not_known_to_take_any_time(monkeypatch):
    monkeypatch.setattr("iosonde_lab.settling.QUIET_S", 0.1)
    used, complaints = [0], ["copies differ"]
    made = Settling(lambda: used[0], dict)
    used[0] = 10**9
    found = made.until_quiet(time.monotonic_ns(), 0.5, lambda: complaints, threading.Event())
    assert found.space_back_s is None and found.agree_s is None and found.health == tuple(complaints)
    assert found.looked_s >= 0.5


@pytest.mark.parametrize(
    ("file_system", "fault", "code"),
    [
        ("local", PlannedFault("kill-server", "server1"), "no-server-process"),
        ("glusterfs", PlannedFault("kill-server", "client1"), "no-server-process"),
        ("glusterfs", PlannedFault("stop", "server9"), "unknown-host"),
        ("glusterfs", PlannedFault("fill-disk", "client1"), "host-without-disk"),
        ("glusterfs", PlannedFault("slow-link", "server1", rate="fast"), "invalid-rate"),
    ],
)
def test_a_fault_that_this_lab_cannot_have_is_refused_before_there_is_one(file_system, fault, code):
    with raises(code, InputError):
        faults.check(LabDescription(file_system, name="x", servers=1, clients=1), fault)


def test_a_fault_that_it_can_have_is_not_refused():
    lab = LabDescription("glusterfs", name="x", servers=2, clients=1)
    for fault in (KILL, PlannedFault("cut-link", "client1"), PlannedFault("slow-disk", "servers", rate="5MB/s")):
        faults.check(lab, fault)
    with raises("conflicting-options"):
        faults.check(replace(lab, base_fs="tmpfs"), PlannedFault("slow-disk", "servers", rate="5MB/s"))


def test_experiments_and_the_lab_know_the_same_faults():
    assert {name: bool(kind.parse) for name, kind in faults.KINDS.items()} == words.KINDS
