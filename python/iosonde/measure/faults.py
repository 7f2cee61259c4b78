"""The faults of a trial in a lab, from the trial's side: what is planned at its levels, the order, and the answer.

Who brought the lab up inflicts them (``core.faults``); without anybody there no trial is begun.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core import faults as words
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.faults import KINDS, NONE, Exchange, FaultDone, PlannedFault, Settled
from iosonde.core.message import Message
from iosonde.core.problems import nearest
from iosonde.core.types import FactorValue, Observation
from iosonde.core.units import parse_seconds

from . import placeholders

_TAKEN_S = 10.0
_LOOK_S = 0.02
# Rows of the results: what was not the ranks' own time.
HEAL, HEAL_CPU, SPACE_BACK, AGREE, SETTLE_CPU = "heal", "heal_cpu", "space_back", "copies_agree", "cpu"
SETTLING = "settling"
WAITED = "waited_for_lab_s"  # key of a run's facts


@dataclass(frozen=True)
class LabOrders:
    """What is asked of the lab in every trial: ``faults`` as they are written, whose values may say ``${factor}``;
    ``settle_s`` is how long the servers are looked at after the last step, None: not at all. ``directory`` is where
    orders are put."""

    faults: tuple[Mapping[str, Any], ...]
    settle_s: float | None
    directory: Path


@dataclass(frozen=True)
class LabAnswer:
    """What became of them; ``waited_s`` after the last step, until all was healed and settled."""

    done: tuple[FaultDone, ...] = ()
    settled: Settled | None = None
    why: str = ""  # nobody said what was done
    waited_s: float | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What a run keeps."""
        settled = {"settled": self.settled.to_dict()} if self.settled else {}
        waited = {} if self.waited_s is None else {WAITED: self.waited_s}
        return ({"faults": [fault.to_dict() for fault in self.done]} if self.done else {}) | settled | waited

    @property
    def missing(self) -> list[str]:
        """Faults that were never in force: the trial is not what was asked for."""
        never = [
            Message("fault-not-active", "the fault {fault}: {reason}", fault=fault.name, reason=fault.why)
            for fault in self.done
            if fault.in_force_ns is None
        ]
        return [*never, *([self.why] if self.why else [])]

    def observations(self, repetition: int) -> list[Observation]:
        """What can be counted of it; of several faults each under its name."""
        rows = []
        for fault in self.done:
            cpu = sum(fault.cpu_s.values()) if fault.heal_s is not None and fault.cpu_s else None
            rows += _build_rows(fault.name, {HEAL: fault.heal_s, HEAL_CPU: cpu}, repetition)
        if self.settled:
            settled = self.settled
            values = {SPACE_BACK: settled.space_back_s, AGREE: settled.agree_s, SETTLE_CPU: settled.cpu_s}
            rows += _build_rows(SETTLING, values, repetition)
        return rows


def planned(faults: Sequence[Mapping[str, Any]], values: Mapping[str, FactorValue]) -> list[PlannedFault]:
    """The faults of a trial at these levels of its factors. Raises InputError."""
    planned_faults = []
    for fault in faults:
        filled = placeholders.fill_typed(dict(fault), values)
        kind = str(filled["fault"])
        if kind != fault["fault"] and not KINDS.get(
            kind, True
        ):  # a factor of kinds: the rate is for those that take one
            filled.pop("rate", None)
        if kind != NONE:
            planned_faults.append(_plan_fault(filled))
    return planned_faults


def _plan_fault(filled: Mapping[str, Any]) -> PlannedFault:
    kind, rate = str(filled["fault"]), str(filled.get("rate", ""))
    if kind not in KINDS:
        raise InputError(
            "unknown-fault",
            "'{kind}' is no fault that a lab knows",
            "{suggestion}",
            kind=kind,
            suggestion=nearest(kind, [NONE, *KINDS]),
        )
    if KINDS[kind] is not bool(rate):
        raise InputError(
            "rate-mismatch",
            "{kind} takes a rate" if KINDS[kind] else "{kind} takes no rate",
            "rate: 10MB/s, or 10mbit of a link" if KINDS[kind] else "leave rate out",
            kind=kind,
        )
    at_s = parse_seconds(filled.get("at", 0))
    for_s = None if filled.get("for") is None else parse_seconds(filled["for"])
    if at_s < 0 or (for_s is not None and for_s <= 0):
        raise InputError(
            "invalid-time",
            "{kind}: a time cannot be less than nothing" if at_s < 0 else "{kind}: a time cannot be nothing",
            "at: 5s, for: 4s",
            kind=kind,
        )
    return PlannedFault(kind, str(filled["on"]), at_s, for_s, rate, str(filled.get("during", "")))


class TrialFaults:
    """The faults of one trial; nothing where none are asked for."""

    def __init__(self, orders: LabOrders | None, name: str, values: Mapping[str, FactorValue]) -> None:
        """Have them attended to. Raises SystemFaultError where nobody is there."""
        self._exchange: Exchange | None = None
        planned_faults = planned(orders.faults, values) if orders else []
        if orders is None or not (planned_faults or orders.settle_s):
            return
        exchange = Exchange(orders.directory / f"{name}-{time.monotonic_ns()}")
        self._orders = orders
        exchange.order(planned_faults, orders.settle_s)
        self._wait_until(lambda: exchange.taken, time.monotonic() + _TAKEN_S)
        self._exchange = exchange

    @property
    def marks(self) -> str:
        """Where rank 0 says what it begins; '' where nobody wants to know."""
        return str(self._exchange.marks_file) if self._exchange else ""

    def over(self) -> None:
        """The ranks have ended: what is in force is undone now."""
        if self._exchange:
            self._exchange.end_steps()

    def answer(self) -> LabAnswer:
        """What was done, once all is healed, or as much as will be."""
        exchange = self._exchange
        if exchange is None:
            return LabAnswer()
        begin = time.monotonic()
        try:
            self._wait_until(lambda: exchange.answered() is not None)
        except SystemFaultError as error:
            return LabAnswer(why=error.message)
        done, settled = exchange.answered() or ([], None)
        return LabAnswer(tuple(done), settled, waited_s=time.monotonic() - begin)

    def _wait_until(self, there: Callable[[], bool], deadline: float = float("inf")) -> None:
        while not there():
            if not words.attended(self._orders.directory) or time.monotonic() > deadline:
                raise SystemFaultError(
                    "lab-not-running",
                    "nobody inflicts the faults of the experiment: who brought the lab up has ended",
                    "iosonde lab run FILE begins it, and goes on",
                )
            time.sleep(_LOOK_S)


def _build_rows(operation: str, values: Mapping[str, float | None], repetition: int) -> list[Observation]:
    return [
        Observation(operation, metric, value, "s", None, repetition)
        for metric, value in values.items()
        if value is not None
    ]
