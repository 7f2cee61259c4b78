"""Faults of an emulated cluster as data: what a trial plans, and what was done when.

A trial and who inflicts its faults speak by files of one directory (``Exchange``): the ranks measure on hosts of the
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

# Kind → whether it takes a rate.
KINDS = {"kill-server": False, "stop": False, "cut-link": False, "partition": False, "slow-link": True,
         "slow-disk": True, "fill-disk": False}  # fmt: skip
NONE = "none"  # a level of a factor that is no fault
SERVERS = "servers"  # on all of them at once
DIRECTORY = "faults"  # below the lab's own
BEGUN, ENDED = "begun", "ended"


@dataclass(frozen=True)
class PlannedFault:
    """One of a trial: ``at_s`` after the phase (or step) ``during`` begins, '' for the first that is measured;
    for ``for_s`` seconds, None: until the trial's steps are done. ``on`` is a host, or SERVERS."""

    kind: str
    on: str
    at_s: float = 0.0
    for_s: float | None = None
    rate: str = ""
    during: str = ""


@dataclass(frozen=True)
class FaultDone:
    """A planned fault on one host, and when what happened: the phase's begin, the order given and in force, its undoing
    and undone, the file system well again; None: it never was. ``phase`` is that phase's number. ``why`` says what
    was not done, or is not well. ``cpu_s`` is what the servers used from ``undone_ns`` to ``healed_ns``."""

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
        """As people call it."""
        rate = f" {self.planned.rate}" if self.planned.rate else ""
        return f"{self.planned.kind}{rate} on {self.host}"

    @property
    def heal_s(self) -> float | None:
        """From when it was undone until the file system was well."""
        if self.healed_ns is None or self.undone_ns is None:
            return None
        return (self.healed_ns - self.undone_ns) / 1e9

    def to_dict(self) -> dict[str, Any]:
        """Stable JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> FaultDone:
        """The inverse."""
        return FaultDone(**{**document, "planned": PlannedFault(**document["planned"])})


@dataclass(frozen=True)
class Settled:
    """What the servers still did after the last step, whose end is ``from_ns``. Bytes are those in use on all their
    disks: before the trial, at most, after the last step, and in the end.

    ``space_back_s`` until they are as before; ``agree_s`` until the file system was well (its copies agree); None:
    not within ``looked_s``. ``cpu_s``: all CPU that the servers used until then, ``idle_cpu`` what they use by the
    second when nothing is left to do.
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
        """Stable JSON."""
        return asdict(self) | {"health": list(self.health)}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Settled:
        """The inverse."""
        return Settled(**{**document, "health": tuple(document["health"])})


@dataclass(frozen=True)
class PhaseMark:
    """A phase or step of a trial has BEGUN or ENDED: its number, its name in the results."""

    what: str
    phase: int
    operation: str
    at_ns: int


@dataclass(frozen=True)
class Exchange:
    """The files of one trial: its order, the marks that rank 0 leaves, that the steps are over, and the answer."""

    folder: Path

    @property
    def marks_file(self) -> Path:
        """What rank 0 appends to."""
        return self.folder / "marks"

    def order(self, faults: list[PlannedFault], settle_s: float | None) -> None:
        """Say what is to be done; the trial's side."""
        self.folder.mkdir(parents=True)
        self.marks_file.touch()
        put(self.folder / "order.json", {"faults": [asdict(fault) for fault in faults], "settle_s": settle_s})

    def ordered(self) -> tuple[list[PlannedFault], float | None] | None:
        """The order, once it is whole."""
        order = get(self.folder / "order.json")
        return None if order is None else ([PlannedFault(**fault) for fault in order["faults"]], order["settle_s"])

    def take(self) -> None:
        """Say that the order is being attended to."""
        (self.folder / "taken").touch()

    @property
    def taken(self) -> bool:
        """Whether somebody attends to it."""
        return (self.folder / "taken").exists()

    def marks(self) -> list[PhaseMark]:
        """What the ranks have begun and ended so far."""
        lines = self.marks_file.read_text().splitlines(keepends=True)
        return [PhaseMark(**json.loads(line)) for line in lines if line.endswith("\n")]

    def end_steps(self) -> None:
        """Say that nothing is measured any more."""
        (self.folder / "over").touch()

    @property
    def over(self) -> bool:
        """Whether the steps are done."""
        return (self.folder / "over").exists()

    def answer(self, done: list[FaultDone], settled: Settled | None) -> None:
        """Say what was done."""
        put(self.folder / "done.json", {"faults": [fault.to_dict() for fault in done],
                                        "settled": settled.to_dict() if settled else None})  # fmt: skip

    def answered(self) -> tuple[list[FaultDone], Settled | None] | None:
        """What was done, once it is said."""
        answer = get(self.folder / "done.json")
        if answer is None:
            return None
        settled = Settled.from_dict(answer["settled"]) if answer["settled"] else None
        return [FaultDone.from_dict(fault) for fault in answer["faults"]], settled


def note(file: str, mark: PhaseMark) -> None:
    """Append a mark; a line at once, so that no half of it is read."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(handle, (json.dumps(asdict(mark)) + "\n").encode())
    finally:
        os.close(handle)


def hold(directory: Path) -> int:
    """Take the place of who attends to orders below ``directory``, until the descriptor is closed or this process
    ends."""
    handle = os.open(directory / "attended", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def attended(directory: Path) -> bool:
    """Whether somebody attends to orders there."""
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


def put(path: Path, content: Any) -> None:
    """Write a file that is there whole, or not at all."""
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(json.dumps(content))
    temporary.replace(path)


def get(path: Path) -> Any:
    """What it holds; None where there is none yet."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
