"""Faults of a trial in a lab, from the trial's side: the plan at its levels, the order, and the answer.

The process that started the lab inflicts them (``core.faults``); without it no trial begins.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core import faults as words
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.faults import KINDS, NONE, Exchange, FaultDone, PlannedFault, Settled
from iosonde.core.message import Message
from iosonde.core.problems import suggest_replacement
from iosonde.core.types import FactorValue, Observation
from iosonde.core.units import parse_seconds

from . import placeholders

_TAKEN_S = 10.0
_LOOK_S = 0.02
# Rows of the results: time that is not the ranks' own.
HEAL, HEAL_CPU, SPACE_BACK, AGREE, SETTLE_CPU = "heal", "heal_cpu", "space_back", "copies_agree", "cpu"
SETTLING = "settling"
WAITED = "waited_for_lab_s"  # key of a run's facts


@dataclass(frozen=True)
class LabOrders:
    """The orders to the lab in every trial. ``faults`` are as written; their values may contain ``${factor}``. The
    servers are observed for ``settle_s`` after the last step (None: not at all). ``directory`` holds the orders."""

    faults: tuple[Mapping[str, Any], ...]
    settle_s: float | None
    directory: Path


@dataclass(frozen=True)
class LabAnswer:
    """The outcome of the faults; ``waited_s`` is the time after the last step until all was healed and settled."""

    done: tuple[FaultDone, ...] = ()
    settled: Settled | None = None
    why: str = ""  # the lab did not answer
    waited_s: float | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The facts stored in a run."""
        return {
            **({"faults": [fault.to_dict() for fault in self.done]} if self.done else {}),
            **({"settled": self.settled.to_dict()} if self.settled else {}),
            **({} if self.waited_s is None else {WAITED: self.waited_s}),
        }

    @property
    def missing(self) -> list[str]:
        """Faults that were never in force: the trial is incomplete."""
        return [
            *(
                Message("fault-not-active", "the fault {fault}: {reason}", fault=fault.name, reason=fault.why)
                for fault in self.done
                if fault.in_force_ns is None
            ),
            *filter(None, [self.why]),
        ]

    def observations(self, repetition: int) -> list[Observation]:
        """Return the measurable outcomes; with several faults, each under its name."""
        rows = []
        for fault in self.done:
            cpu = sum(fault.cpu_s.values()) if fault.heal_s is not None and fault.cpu_s else None
            rows += _build_rows(fault.name, {HEAL: fault.heal_s, HEAL_CPU: cpu}, repetition)
        if settled := self.settled:
            values = {SPACE_BACK: settled.space_back_s, AGREE: settled.agree_s, SETTLE_CPU: settled.cpu_s}
            rows += _build_rows(SETTLING, values, repetition)
        return rows


def plan_faults(faults: Sequence[Mapping[str, Any]], values: Mapping[str, FactorValue]) -> list[PlannedFault]:
    """Return the faults of a trial at these levels of its factors. Raises InputError."""
    planned_faults = []
    for fault in faults:
        filled = placeholders.fill_typed(dict(fault), values)
        kind = str(filled["fault"])
        if kind != fault["fault"] and not KINDS.get(
            kind, True
        ):  # for a factor of fault kinds: the rate applies to those that take one
            filled.pop("rate", None)
        if kind != NONE:
            planned_faults.append(_plan_fault(filled))
    return planned_faults


def _plan_fault(filled: Mapping[str, Any]) -> PlannedFault:
    kind, rate = str(filled["fault"]), str(filled.get("rate", ""))
    if kind not in KINDS:
        raise InputError(
            "unknown-fault",
            "'{kind}' is not a fault that the lab supports",
            "{suggestion}",
            kind=kind,
            suggestion=suggest_replacement(kind, [NONE, *KINDS]),
        )
    if KINDS[kind] is not bool(rate):
        raise InputError(
            "rate-mismatch",
            "{kind} takes a rate" if KINDS[kind] else "{kind} takes no rate",
            "write rate: 10MB/s, or 10mbit for a link" if KINDS[kind] else "leave rate out",
            kind=kind,
        )
    at_s = parse_seconds(filled.get("at", 0))
    for_s = None if filled.get("for") is None else parse_seconds(filled["for"])
    if at_s < 0 or (for_s is not None and for_s <= 0):
        raise InputError(
            "invalid-time",
            "{kind}: a time cannot be negative" if at_s < 0 else "{kind}: a time cannot be 0",
            "write for example at: 5s, for: 4s",
            kind=kind,
        )
    return PlannedFault(kind, str(filled["on"]), at_s, for_s, rate, str(filled.get("during", "")))


class TrialFaults:
    """The faults of one trial; empty without orders."""

    def __init__(self, orders: LabOrders | None, name: str, values: Mapping[str, FactorValue]) -> None:
        """Order the faults. Raises SystemFaultError if the lab does not take them."""
        self._exchange: Exchange | None = None
        planned_faults = plan_faults(orders.faults, values) if orders else []
        if orders is None or not (planned_faults or orders.settle_s):
            return
        exchange = Exchange(orders.directory / f"{name}-{time.monotonic_ns()}")
        self._orders = orders
        exchange.order(planned_faults, orders.settle_s)
        self._wait_until(lambda: exchange.taken, time.monotonic() + _TAKEN_S)
        self._exchange = exchange

    @property
    def marks(self) -> str:
        """The file in which rank 0 notes the begin of phases; '' if not needed."""
        return str(self._exchange.marks_file) if self._exchange else ""

    def over(self) -> None:
        """Report that the ranks have ended, so that active faults are undone now."""
        if self._exchange:
            self._exchange.end_steps()

    def answer(self) -> LabAnswer:
        """Return the outcome once all is healed, as far as possible."""
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
            if not words.has_injector(self._orders.directory) or time.monotonic() > deadline:
                raise SystemFaultError(
                    "lab-not-running",
                    "nobody inflicts the faults of the experiment: the process that started the lab has ended",
                    "resume it with: iosonde lab run FILE",
                )
            time.sleep(_LOOK_S)


def _build_rows(operation: str, values: Mapping[str, float | None], repetition: int) -> list[Observation]:
    return [
        Observation(operation, metric, value, "s", None, repetition)
        for metric, value in values.items()
        if value is not None
    ]
