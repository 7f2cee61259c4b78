"""Faults of a trial, run on the machine that hosts the lab: injected when the ranks request them, undone, healed.
Ranks run on hosts of the lab; only the process that brought it up reaches all hosts, even behind a cut link. A thread
there polls for orders (``core.faults.Exchange``) and serves one trial after another.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from iosonde.core import faults as words
from iosonde.core.errors import IosondeError
from iosonde.core.faults import BEGUN, ENDED, SERVERS, Exchange, FaultDone, PhaseMark, PlannedFault, Settled
from iosonde.core.message import Message

from . import cgroups
from .faults import LabFault, ask, inflict, undo_fault
from .filesystems import recipe_of
from .lab import CLIENT, Lab
from .settling import Settling

LOOK_S = 0.01
HEALED_S = 300.0
_ASK_AGAIN_S = 5.0
_LEAST_BREAK_S = 0.1  # between two health checks
_NEAR_S = 1.0  # before a fault, in which no health check starts: it may take long


@dataclass(frozen=True)
class FaultHands:
    """Operations on a lab, replaceable by a test."""

    inflict: Callable[[PlannedFault, str], LabFault]
    undo: Callable[[LabFault], None]
    ask: Callable[[], None]
    health: Callable[[], list[str]]
    cpu_s: Callable[[], Mapping[str, float]]
    used: Callable[[], int | None]
    servers: tuple[str, ...]


def hands_of(lab: Lab) -> FaultHands:
    """Return the operations on a lab that is up."""
    how = recipe_of(lab)

    def cpu_s() -> dict[str, float]:
        cpu_seconds = {
            lab_host.name: cgroups.cpu_seconds(lab.directory, lab_host.name)
            for lab_host in lab.hosts
            if lab_host.role != CLIENT
        }
        return {name: seconds for name, seconds in cpu_seconds.items() if seconds is not None}

    return FaultHands(
        inflict=lambda planned, host: inflict(lab, planned.kind, lab.host(host), planned.rate or None),
        undo=lambda fault: undo_fault(lab, fault),
        ask=lambda: ask(lab),
        health=lambda: how.health(lab),
        cpu_s=cpu_s,
        used=how.used_bytes(lab),
        servers=tuple(server.name for server in lab.servers),
    )


class FaultService:
    """Context manager that serves the fault orders of a lab's trials."""

    def __init__(self, directory: Path, hands: FaultHands) -> None:
        self._directory, self._hands = directory / words.DIRECTORY, hands
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._attend, name="faults", daemon=True)
        self._lock_fd, self._handled_names = -1, set[str]()

    def __enter__(self) -> FaultService:
        self._directory.mkdir(exist_ok=True)
        self._handled_names = {
            folder.name for folder in self._directory.iterdir()
        }  # left by trials of a previous service
        self._lock_fd = words.register_injector(self._directory)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(
            2 * LOOK_S if kind else None
        )  # do not wait for healing after an interrupt: the lab is removed anyway
        os.close(self._lock_fd)

    def _attend(self) -> None:
        while not self._stop.wait(LOOK_S):
            for folder in sorted(
                entry for entry in self._directory.iterdir() if entry.is_dir() and entry.name not in self._handled_names
            ):
                exchange = Exchange(folder)
                if (order := exchange.ordered()) is None:
                    continue
                self._handled_names.add(folder.name)
                attend(exchange, *order, self._hands, self._stop)


def attend(
    exchange: Exchange, planned: list[PlannedFault], settle_s: float | None, hands: FaultHands, stop: threading.Event
) -> None:
    """Serve one trial, from its order to the answer."""
    settling = Settling(hands.used, hands.cpu_s) if settle_s is not None else None
    trial = _Trial(planned, hands)
    exchange.take()
    while not stop.wait(LOOK_S):
        over, marks = exchange.over, exchange.marks()
        trial.look(marks, over)
        if settling:
            settling.sample()
        if over and trial.ended:
            break
    settled: Settled | None = None
    if settling and settle_s is not None and not stop.is_set():
        ends = [mark.at_ns for mark in exchange.marks() if mark.what == ENDED]
        settled = settling.until_quiet(max(ends, default=time.monotonic_ns()), settle_s, trial.well, stop)
    if not stop.is_set():
        exchange.answer([host_fault.done for host_fault in trial.every], settled)


@dataclass
class _HostFault:
    """A fault on one host; ``fault`` is set while it is in force."""

    done: FaultDone
    fault: LabFault | None = None
    over: bool = False  # undone, or never injected

    def update_done(self, **changes: Any) -> None:
        self.done = replace(self.done, **changes)


class _Trial:
    """State of the faults of one trial."""

    def __init__(self, planned: list[PlannedFault], hands: FaultHands) -> None:
        self._hands = hands
        self.every = [
            _HostFault(FaultDone(planned_fault, host))
            for planned_fault in planned
            for host in (hands.servers if planned_fault.on == SERVERS else (planned_fault.on,))
        ]
        self._look_at = self._ask_at = 0.0
        self._cpu_s: Mapping[str, float] = {}
        self._undone_at = 0.0
        self._health: list[str] = []
        self._usual: frozenset[str] = frozenset()
        self._confirmed = False
        self._usual = frozenset(self._list_complaints())  # complaints that exist without a fault never end

    @property
    def ended(self) -> bool:
        """Return whether nothing remains to be done or waited for."""
        return self._confirmed and not self._list_healing()

    def look(self, marks: list[PhaseMark], over: bool) -> None:
        """Do what is due now."""
        due = [host_fault for host_fault in self.every if not host_fault.over]
        for host_fault in due:
            if host_fault.fault is None:
                self._before(host_fault, marks, over)
        ready = [
            host_fault for host_fault in due if host_fault.fault is not None and (over or _lasted(host_fault.done))
        ]
        for host_fault in ready:
            self._undo(host_fault)
        if self._list_healing() and not any(host_fault.fault for host_fault in self.every) and not self._soon(marks):
            self._look_at_health()
        elif over and not self._confirmed and all(host_fault.over for host_fault in self.every):
            self._confirm()

    def well(self) -> list[str]:
        """Return current complaints; frequent calls get the last result."""
        if time.monotonic() >= self._look_at:
            self._health = self._list_complaints()
        return self._health

    def _before(self, host_fault: _HostFault, marks: list[PhaseMark], over: bool) -> None:
        planned = host_fault.done.planned
        begun = next((mark for mark in marks if mark.what == BEGUN and planned.during in ("", mark.operation)), None)
        ended = begun and any(mark.what == ENDED and mark.phase == begun.phase for mark in marks)
        if begun is None:
            if over:
                host_fault.over = True
                host_fault.update_done(
                    why=Message(
                        "phase-not-reached",
                        ("{phase}" if planned.during else "the measured phase") + " never began",
                        phase=planned.during,
                    )
                )
            return
        host_fault.update_done(phase=begun.phase, phase_ns=begun.at_ns)
        if ended or over:
            host_fault.over = True
            host_fault.update_done(
                why=Message(
                    "phase-too-short",
                    "{phase} ended before {at_s:g} s had passed",
                    phase=begun.operation,
                    at_s=planned.at_s,
                )
            )
        elif time.monotonic_ns() >= begun.at_ns + planned.at_s * 1e9:
            self._inflict(host_fault)

    def _inflict(self, host_fault: _HostFault) -> None:
        host_fault.update_done(inflicting_ns=time.monotonic_ns())
        try:
            host_fault.fault = self._hands.inflict(host_fault.done.planned, host_fault.done.host)
            host_fault.update_done(in_force_ns=time.monotonic_ns())
        except IosondeError as error:
            host_fault.over = True
            host_fault.update_done(why=error.message)

    def _undo(self, host_fault: _HostFault) -> None:
        assert host_fault.fault is not None
        host_fault.update_done(undoing_ns=time.monotonic_ns())
        try:
            self._hands.undo(host_fault.fault)
            host_fault.update_done(undone_ns=time.monotonic_ns())
        except IosondeError as error:
            host_fault.update_done(why=Message("not-undone", "cannot undo the fault: {reason}", reason=error.message))
        host_fault.fault, host_fault.over = None, True
        self._cpu_s, self._undone_at = self._hands.cpu_s(), time.monotonic()
        self._ask()

    def _list_healing(self) -> list[_HostFault]:
        return [
            host_fault
            for host_fault in self.every
            if host_fault.done.undone_ns and not host_fault.done.healed_ns and not host_fault.done.why
        ]

    def _soon(self, marks: list[PhaseMark]) -> bool:
        """Return whether a fault is about to be injected."""
        now = time.monotonic_ns()
        waiting = [
            host_fault.done for host_fault in self.every if not host_fault.over and host_fault.done.phase_ns is not None
        ]
        return any(
            (fault_done.phase_ns or 0) + fault_done.planned.at_s * 1e9 - now < _NEAR_S * 1e9 for fault_done in waiting
        )

    def _look_at_health(self) -> None:
        if time.monotonic() < self._look_at:
            return
        if time.monotonic() > self._ask_at:
            self._ask()
        self._health = self._list_complaints()
        if not self._health:
            now, cpu_s = time.monotonic_ns(), self._hands.cpu_s()
            used = {name: cpu_s[name] - before for name, before in self._cpu_s.items() if name in cpu_s}
            for host_fault in self._list_healing():
                host_fault.update_done(healed_ns=now, cpu_s=used)
        elif time.monotonic() - self._undone_at > HEALED_S:
            for host_fault in self._list_healing():
                host_fault.update_done(
                    why=Message(
                        "not-healed",
                        "not healthy within {limit_s:g} s: {complaints}",
                        limit_s=HEALED_S,
                        complaints="; ".join(self._health),
                    )
                )

    def _confirm(self) -> None:
        """Check health once more when the steps are done.
        Data that a client held back until a server returned may be on one server only, although all was healthy for a
        moment.
        """
        self._confirmed = True
        healed = [host_fault for host_fault in self.every if host_fault.done.healed_ns]
        if not healed:
            return
        self._health, self._undone_at = self._list_complaints(), time.monotonic()
        for host_fault in healed if self._health else ():
            host_fault.update_done(healed_ns=None, cpu_s={})

    def _list_complaints(self) -> list[str]:
        """Return the complaints of the file system.
        Checks cost the servers CPU, so they take at most a third of the time.
        """
        begun = time.monotonic()
        try:
            complaints = self._hands.health()
        except IosondeError as error:
            complaints = [error.message]
        complaints = [complaint for complaint in complaints if complaint not in self._usual]
        self._look_at = time.monotonic() + max(_LEAST_BREAK_S, 2 * (time.monotonic() - begun))
        return complaints

    def _ask(self) -> None:
        with suppress(IosondeError):
            self._hands.ask()
        self._ask_at = time.monotonic() + _ASK_AGAIN_S


def _lasted(done: FaultDone) -> bool:
    for_s, since = done.planned.for_s, done.in_force_ns
    return for_s is not None and since is not None and time.monotonic_ns() >= since + for_s * 1e9
