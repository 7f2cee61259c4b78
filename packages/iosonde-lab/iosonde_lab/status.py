"""Status of a lab: its hosts, what was emulated, the health of the file system."""

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
    """A host; ``cpu_seconds`` since its start, None if the kernel does not count them.
    ``serves`` is the state of its server processes as seen on the server; empty if there are none or it is unknown.
    """

    name: str
    role: str
    address: str
    running: bool
    cpu_seconds: float | None
    serves: str = ""


@dataclass(frozen=True)
class LabStatus:
    """Current state of a lab.
    ``emulated`` is the calibration (bytes/s), ``health`` lists current complaints of the file system. ``faults`` are
    those in force, ``facts`` what the file system reports of itself. ``capacity`` is None if unknown. ``not_asked``
    explains that servers cannot be queried without root.
    """

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
        """Return the shortest and longest round trip between hosts; None if none was measured."""
        round_trips = [link["rtt_s"] for link in self.emulated.get("links", []) if "rtt_s" in link]
        return (min(round_trips), max(round_trips)) if round_trips else None

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        return {
            "name": self.name,
            "state": self.state,
            "file_system": self.file_system,
            "version": self.version,
            "mount_point": self.mount_point,
            "asked": self.description.to_dict(),
            "layout": self.layout,
            "emulated": self.emulated,
            "hosts": [vars(host) for host in self.hosts],
            "health": list(self.health),
            "faults": [fault.to_dict() for fault in self.faults],
            "facts": self.facts,
            "not_asked": self.not_asked,
            "capacity": self.capacity.to_dict() if self.capacity else None,
        }

    @property
    def problem(self) -> bool:
        """Return whether anything is wrong."""
        return bool(self.health or self.faults) or not all(host.running for host in self.hosts)


@patience.answers_within()
def servers_now(lab: Lab) -> dict[str, ServerState]:
    """Return the state of the server processes on each host. Raises LabError."""
    return recipe_of(lab).states(lab)


@patience.answers_within()
def health_now(lab: Lab) -> list[str]:
    """Return current complaints of the file system, by the servers' own tools. Raises LabError."""
    return recipe_of(lab).health(lab)


@patience.answers_within()
def status(name: str | None) -> LabStatus:
    """Return the status of a lab; None: of the only one. Raises InputError, LabError."""
    lab = open_lab(name)
    document, state = lab.read(), state_of(lab.name)
    there, asks = hosts.running(lab.directory) if place.around() is None else _answering(lab), not os.geteuid()
    states, health, facts, lab_capacity = _ask_all(lab) if asks else ({}, (), {}, None)
    return LabStatus(
        lab.name,
        state,
        recipe_of(lab).title,
        document.get("version", ""),
        str(lab.mount_point),
        lab.description,
        document.get("layout", {}),
        document.get("emulated", {}),
        tuple(_build_host_status(lab, host, host.name in there, states.get(host.name)) for host in lab.hosts),
        (*_cut_short(lab, state), *health),
        tuple(in_force(lab)),
        facts,
        ""
        if asks
        else Message("root-required", "the state and health of the servers are unknown: querying them requires root"),
        lab_capacity,
    )


def _ask_all(lab: Lab) -> tuple[dict[str, ServerState], tuple[str, ...], dict[str, str], LabCapacity | None]:
    """Return states, complaints, facts and capacity, queried concurrently, as silent servers take long.
    Without complaints, unanswered queries are returned as such.
    """
    unanswered: list[str] = []
    states, health, facts, lab_capacity = patience.at_once(
        [
            lambda: _call_or_default(lambda: servers_now(lab), dict[str, ServerState](), unanswered),
            lambda: tuple(_health(lab)),
            lambda: _call_or_default(lambda: recipe_of(lab).facts(lab), dict[str, str](), unanswered),
            lambda: _call_or_default(lambda: capacity(lab), None, unanswered),
        ]
    )
    return states, health or tuple(unanswered), facts, lab_capacity


def _cut_short(lab: Lab, state: str) -> list[str]:
    if state != CUT_SHORT:
        return []
    return [
        Message(
            "interrupted-bring-up",
            "its bring-up was interrupted; remove it with iosonde lab down {lab}",
            lab=lab.name,
        )
    ]


def _build_host_status(lab: Lab, host: hosts.LabHost, running: bool, serves: ServerState | None) -> HostStatus:
    return HostStatus(
        host.name,
        host.role,
        host.address,
        running,
        cgroups.cpu_seconds(lab.directory, host.name),
        serves.says if serves else "",
    )


def _answering(lab: Lab) -> list[str]:
    """Return the hosts that let us in by ssh: from a host, the processes of other hosts are not visible."""
    names = lab.each(lab.hosts, lambda host: _call_or_default(lambda: host.run("hostname", limit_s=5).strip(), "", []))
    return [name for name in names if name]


def _health(lab: Lab) -> list[str]:
    try:
        return health_now(lab)
    except LabError as error:
        return [error.message]


def _call_or_default(ask: Callable[[], _T], otherwise: _T, unanswered: list[str]) -> _T:
    """Return the answer, or ``otherwise`` with the error noted in ``unanswered``."""
    try:
        return ask()
    except LabError as error:
        unanswered.append(error.message)
        return otherwise
