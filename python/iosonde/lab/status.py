"""What a lab is now: its hosts, what was emulated, what the file system says of its health."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from iosonde.core.message import Message

from . import cgroups, hosts, patience, place
from .capacity import LabCapacity, capacity
from .description import LabDescription
from .faults import LabFault, in_force
from .filesystems import recipe_of
from .filesystems.recipe import ServerState
from .lab import CUT_SHORT, Lab, open_lab, state_of
from .tools import LabError

_T = TypeVar("_T")


@dataclass(frozen=True)
class HostStatus:
    """One host; ``cpu_seconds`` since it was started, None where the kernel does not count them. ``serves``: the state
    of what serves data there, seen on the servers themselves; empty where nothing does, or where it is not known."""

    name: str
    role: str
    address: str
    running: bool
    cpu_seconds: float | None
    serves: str = ""


@dataclass(frozen=True)
class LabStatus:
    """A lab as it is. ``emulated`` is what was measured when it was brought up (bytes/s); ``health`` what the file
    system complains of now, ``faults`` what was inflicted and not undone, ``facts`` what the file system says of
    itself, ``capacity`` how much its mount says that it holds, None where that is not known. Without root servers
    cannot be asked: ``not_asked`` says so."""

    name: str
    state: str
    file_system: str
    version: str
    mount_point: str
    description: LabDescription
    layout: dict[str, Any]
    emulated: dict[str, Any]
    hosts: tuple[HostStatus, ...]
    health: tuple[str, ...]
    faults: tuple[LabFault, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    not_asked: str = ""
    capacity: LabCapacity | None = None

    @property
    def round_trips_s(self) -> tuple[float, float] | None:
        """The shortest and the longest between hosts; None where none was measured."""
        round_trips = [link["rtt_s"] for link in self.emulated.get("links", []) if "rtt_s" in link]
        return (min(round_trips), max(round_trips)) if round_trips else None

    def to_dict(self) -> dict[str, Any]:
        """Stable JSON."""
        return {
            "name": self.name, "state": self.state, "file_system": self.file_system, "version": self.version,
            "mount_point": self.mount_point, "asked": self.description.to_dict(), "layout": self.layout,
            "emulated": self.emulated, "hosts": [vars(host) for host in self.hosts], "health": list(self.health),
            "faults": [fault.to_dict() for fault in self.faults], "facts": self.facts,
            "not_asked": self.not_asked, "capacity": self.capacity.to_dict() if self.capacity else None,
        }  # fmt: skip

    @property
    def problem(self) -> bool:
        """Whether something is not as it should be."""
        return bool(self.health or self.faults) or not all(host.running for host in self.hosts)


@patience.answers_within()
def servers_now(lab: Lab) -> dict[str, ServerState]:
    """What serves on each host, seen there. Raises LabError."""
    return recipe_of(lab).states(lab)


@patience.answers_within()
def health_now(lab: Lab) -> list[str]:
    """What the file system complains of now, asked by the servers' own tools. Raises LabError."""
    return recipe_of(lab).health(lab)


@patience.answers_within()
def status(name: str | None) -> LabStatus:
    """Of a lab; None: of the only one. Raises InputError, LabError."""
    lab = open_lab(name)
    document, state = lab.read(), state_of(lab.name)
    there, asks = hosts.running(lab.directory) if place.around() is None else _answering(lab), not os.geteuid()
    states, health, facts, lab_capacity = _ask_all(lab) if asks else ({}, (), {}, None)
    return LabStatus(
        lab.name, state, recipe_of(lab).title, document.get("version", ""), str(lab.mount_point),
        lab.description, document.get("layout", {}), document.get("emulated", {}),
        tuple(_build_host_status(lab, host, host.name in there, states.get(host.name)) for host in lab.hosts),
        (*_cut_short(lab, state), *health), tuple(in_force(lab)), facts,
        "" if asks else Message(
            "root-required", "what serves, and whether it is well, is not known: asking the servers needs root"
        ),
        lab_capacity,
    )  # fmt: skip


def _ask_all(lab: Lab) -> tuple[dict[str, ServerState], tuple[str, ...], dict[str, str], LabCapacity | None]:
    """States, complaints, facts and capacity, all at once: where servers are silent each of them waits.

    Where nothing is complained of, questions without an answer are."""
    unanswered: list[str] = []
    states, health, facts, lab_capacity = patience.at_once([
        lambda: _call_or_default(lambda: servers_now(lab), dict[str, ServerState](), unanswered),
        lambda: tuple(_health(lab)),
        lambda: _call_or_default(lambda: recipe_of(lab).facts(lab), dict[str, str](), unanswered),
        lambda: _call_or_default(lambda: capacity(lab), None, unanswered),
    ])  # fmt: skip
    return states, health or tuple(unanswered), facts, lab_capacity


def _cut_short(lab: Lab, state: str) -> list[str]:
    if state != CUT_SHORT:
        return []
    return [
        Message(
            "interrupted-bring-up",
            "its bring-up was cut short: iosonde lab down {lab} removes what is left of it",
            lab=lab.name,
        )
    ]


def _build_host_status(lab: Lab, host: hosts.LabHost, running: bool, serves: ServerState | None) -> HostStatus:
    return HostStatus(host.name, host.role, host.address, running, cgroups.cpu_seconds(lab.directory, host.name),
                      serves.says if serves else "")  # fmt: skip


def _answering(lab: Lab) -> list[str]:
    """From a host the processes that hold the others are not seen: those that let us in."""
    names = lab.each(lab.hosts, lambda host: _call_or_default(lambda: host.run("hostname", limit_s=5).strip(), "", []))
    return [name for name in names if name]


def _health(lab: Lab) -> list[str]:
    try:
        return health_now(lab)
    except LabError as error:
        return [error.message]


def _call_or_default(ask: Callable[[], _T], otherwise: _T, unanswered: list[str]) -> _T:
    """The answer; ``otherwise`` where there is none, which is noted among the ``unanswered``."""
    try:
        return ask()
    except LabError as error:
        unanswered.append(error.message)
        return otherwise
