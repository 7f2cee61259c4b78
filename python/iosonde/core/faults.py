"""Faults of an emulated cluster as data: those a trial plans, and those that were injected, with times.

A trial and its fault injector communicate through files in one directory (``Exchange``): the ranks run on hosts of the
lab, and only the machine itself reaches all of them. Times are ns of CLOCK_MONOTONIC, which all hosts of a lab share.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

# Kind → True if it takes a rate.
KINDS = {
    "kill-server": False,
    "stop": False,
    "cut-link": False,
    "partition": False,
    "slow-link": True,
    "slow-disk": True,
    "fill-disk": False,
}
NONE = "none"  # level of a factor without a fault
SERVERS = "servers"  # on all servers at once
DIRECTORY = "faults"  # in the lab's directory
BEGUN, ENDED = "begun", "ended"


@dataclass(frozen=True)
class PlannedFault:
    """A fault that a trial plans: ``at_s`` seconds after the start of the phase or step ``during`` ('': the first
    measured one). It lasts ``for_s`` seconds; None: until the steps of the trial are done. ``on`` is a host, or
    SERVERS."""

    kind: str
    on: str
    at_s: float = 0.0
    for_s: float | None = None
    rate: str = ""
    during: str = ""


@dataclass(frozen=True)
class FaultDone:
    """A planned fault on one host, with its times; None: it never happened.

    Times are the start of the phase, of the injection and of its effect, of the repair and its end, and the return to
    health. ``phase`` is the number of that phase. ``why`` names a failed injection or remaining damage. ``cpu_s`` is
    the CPU time of the servers from ``undone_ns`` to ``healed_ns``.
    """

    planned: PlannedFault
    host: str
    phase: int | None = None
    phase_ns: int | None = None
    inflicting_ns: int | None = None
    in_force_ns: int | None = None
    undoing_ns: int | None = None
    undone_ns: int | None = None
    healed_ns: int | None = None
    why: str = ""
    cpu_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name for people."""
        rate = f" {self.planned.rate}" if self.planned.rate else ""
        return f"{self.planned.kind}{rate} on {self.host}"

    @property
    def heal_s(self) -> float | None:
        """Seconds from the end of the repair until the file system was healthy."""
        if self.healed_ns is None or self.undone_ns is None:
            return None
        return (self.healed_ns - self.undone_ns) / 1e9

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return asdict(self)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> FaultDone:
        """Rebuild from ``to_dict``."""
        return FaultDone(**{**document, "planned": PlannedFault(**document["planned"])})


@dataclass(frozen=True)
class Settled:
    """Activity of the servers after the last step, which ended at ``from_ns``.

    Bytes are those in use on all server disks: before the trial, at most, after the last step, and at the end.
    ``space_back_s`` counts until the space is back to its initial value, ``agree_s`` until all copies agree. Both are
    None if that took longer than ``looked_s``. ``cpu_s`` is the CPU time of the servers until then, ``idle_cpu`` their
    CPU use per second when idle.
    """

    from_ns: int
    looked_s: float
    bytes_before: int
    bytes_most: int
    bytes_after: int
    bytes_end: int
    space_back_s: float | None
    agree_s: float | None
    cpu_s: float | None
    idle_cpu: float | None
    health: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return asdict(self) | {"health": list(self.health)}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Settled:
        """Rebuild from ``to_dict``."""
        return Settled(**{**document, "health": tuple(document["health"])})


@dataclass(frozen=True)
class PhaseMark:
    """The start (BEGUN) or end (ENDED) of a phase or step: its number and its name in the results."""

    what: str
    phase: int
    operation: str
    at_ns: int


@dataclass(frozen=True)
class Exchange:
    """The files of one trial: its order, the marks of rank 0, the end of the steps, and the answer."""

    folder: Path

    @property
    def marks_file(self) -> Path:
        """File to which rank 0 appends its marks."""
        return self.folder / "marks"

    def order(self, faults: list[PlannedFault], settle_s: float | None) -> None:
        """Write the order; called by the trial."""
        self.folder.mkdir(parents=True)
        self.marks_file.touch()
        write_json(self.folder / "order.json", {"faults": [asdict(fault) for fault in faults], "settle_s": settle_s})

    def ordered(self) -> tuple[list[PlannedFault], float | None] | None:
        """Return the order once it is complete, else None."""
        order = read_json(self.folder / "order.json")
        return None if order is None else ([PlannedFault(**fault) for fault in order["faults"]], order["settle_s"])

    def take(self) -> None:
        """Mark the order as taken."""
        (self.folder / "taken").touch()

    @property
    def taken(self) -> bool:
        """Return whether an injector has taken the order."""
        return (self.folder / "taken").exists()

    def marks(self) -> list[PhaseMark]:
        """Return the phases that the ranks have begun and ended so far."""
        lines = self.marks_file.read_text().splitlines(keepends=True)
        return [PhaseMark(**json.loads(line)) for line in lines if line.endswith("\n")]

    def end_steps(self) -> None:
        """Mark the end of all measurements."""
        (self.folder / "over").touch()

    @property
    def over(self) -> bool:
        """Return whether the steps are done."""
        return (self.folder / "over").exists()

    def answer(self, done: list[FaultDone], settled: Settled | None) -> None:
        """Write the answer: the faults injected."""
        write_json(
            self.folder / "done.json",
            {"faults": [fault.to_dict() for fault in done], "settled": settled.to_dict() if settled else None},
        )

    def answered(self) -> tuple[list[FaultDone], Settled | None] | None:
        """Return the answer once it is written, else None."""
        answer = read_json(self.folder / "done.json")
        if answer is None:
            return None
        settled = Settled.from_dict(answer["settled"]) if answer["settled"] else None
        return [FaultDone.from_dict(fault) for fault in answer["faults"]], settled


def append_mark(file: str, mark: PhaseMark) -> None:
    """Append a mark in one write, so that no partial line is read."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(handle, (json.dumps(asdict(mark)) + "\n").encode())
    finally:
        os.close(handle)


def register_injector(directory: Path) -> int:
    """Register as the injector for orders below ``directory``, until the descriptor is closed or this process ends."""
    handle = os.open(directory / "attended", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def has_injector(directory: Path) -> bool:
    """Return whether an injector is registered for this directory."""
    try:
        handle = os.open(directory / "attended", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def write_json(path: Path, content: Any) -> None:
    """Write a file atomically."""
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(json.dumps(content))
    temporary.replace(path)


def read_json(path: Path) -> Any:
    """Read a JSON file; None if it does not exist yet."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
