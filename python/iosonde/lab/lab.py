"""A lab that is there: its hosts by name and role, what was asked for and what was measured of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from iosonde.core.errors import InputError

from . import claim, hosts, links, patience, place
from .description import LabDescription, description_from_dict
from .hosts import SUBNET, LabHost
from .tools import LabError

STARTING, UP = "starting", "up"
CUT_SHORT = "cut short"  # whoever brought it up ended before it was
SERVER, CLIENT = "server", "client"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Lab:
    """A lab: its directory, what was asked for, its hosts; servers and clients by number."""

    directory: Path
    description: LabDescription
    switch: LabHost
    hosts: tuple[LabHost, ...]

    @property
    def name(self) -> str:
        """As people call it."""
        return self.directory.name

    @property
    def servers(self) -> tuple[LabHost, ...]:
        """Those that keep data."""
        return self.select_hosts(SERVER)

    @property
    def clients(self) -> tuple[LabHost, ...]:
        """Those that mount it, and run what measures; servers that do so come first."""
        return (*self.servers[: self.description.clients_on_servers], *self.select_hosts(CLIENT))

    @property
    def mount_point(self) -> Path:
        """Where clients have the file system, the same path on all."""
        return target_of(self.name)

    @property
    def file(self) -> Path:
        """What it is, as JSON; a copy is on each host (``place.FACTS``)."""
        return self.directory / place.FILE

    def select_hosts(self, role: str) -> tuple[LabHost, ...]:
        """The hosts of a role."""
        return tuple(host for host in self.hosts if host.role == role)

    def host(self, name: str) -> LabHost:
        """A host by name. Raises InputError."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise InputError(
            "unknown-host",
            "{host}: no host of the lab {lab}",
            "one of {hosts}",
            host=name,
            lab=self.name,
            hosts=", ".join(h.name for h in self.hosts),
        )

    def each(self, some: tuple[LabHost, ...], task: Callable[[LabHost], _T]) -> list[_T]:
        """Do something with several hosts at once; results in their order. Raises the first error."""
        return patience.at_once([partial(task, host) for host in some])

    def is_mounted(self, client: LabHost) -> bool:
        """Whether a client has the file system mounted; one that does not answer has not."""
        try:
            table = client.run("cat", "/proc/self/mountinfo", limit_s=10)
        except LabError:
            return False
        return any(line.split()[4:5] == [str(self.mount_point)] for line in table.splitlines())

    def wait(self, what: str, there: Callable[[], bool], limit_s: float = 30.0) -> None:
        """Wait until something is true. Raises LabError after ``limit_s``, naming ``what``."""
        begin = time.monotonic()
        while not there():
            patience.say_waiting(what, time.monotonic() - begin)
            if time.monotonic() - begin > limit_s:
                raise LabError(
                    "timeout",
                    "{lab}: {condition}: not within {limit_s:g} s",
                    "logs: {directory}/hosts/*/log",
                    lab=self.name,
                    condition=what,
                    limit_s=limit_s,
                    directory=self.directory,
                )
            time.sleep(0.05)

    def write(self, state: str, details: dict[str, Any]) -> None:
        """Keep the lab's own file: what it is, and the ``details``."""
        document = {
            "state": state, "directory": str(self.directory), "description": self.description.to_dict(), **details,
            "hosts": [{"name": host.name, "role": host.role, "address": host.address} for host in self.hosts],
        }  # fmt: skip
        self.file.write_text(json.dumps(document, indent=1) + "\n")

    def read(self) -> dict[str, Any]:
        """That file."""
        document: dict[str, Any] = json.loads(self.file.read_text())
        return document


def planned(description: LabDescription, extra_hosts: Sequence[str]) -> Lab:
    """The lab that a description stands for, its hosts with their addresses; nothing is made."""
    directory = place.directory(description.name)
    roles = [(role, role) for role in extra_hosts]
    roles += [(f"{SERVER}{n + 1}", SERVER) for n in range(description.servers)]
    roles += [(f"{CLIENT}{n + 1}", CLIENT) for n in range(description.clients - description.clients_on_servers)]
    lab_hosts = [LabHost(name, role, f"{SUBNET}.{n + 1}", directory) for n, (name, role) in enumerate(roles)]
    return _lab(directory, description, lab_hosts)


def _lab(directory: Path, description: LabDescription, lab_hosts: Iterable[LabHost]) -> Lab:
    return Lab(directory, description, LabHost(links.SWITCH, "switch", "", directory), tuple(lab_hosts))


def target_of(name: str) -> Path:
    """Where the clients of a lab of this name have the file system, whether or not it is there."""
    return place.directory(name) / "mnt"


def only() -> str:
    """The name of the only lab there is; on a host, of its lab. Raises InputError."""
    if (here := place.around()) is not None:
        return here.name
    there = place.names()
    if len(there) != 1:
        if not there:
            raise InputError("no-lab", "there is no lab", "bring one up: iosonde lab up glusterfs")
        raise InputError(
            "ambiguous-lab",
            "which lab? {labs}",
            "say which: {spell.lab:{first}}, or iosonde lab down {first}",
            labs=", ".join(there),
            first=there[0],
        )
    return there[0]


def inside() -> bool:
    """Whether we are on a host of a lab."""
    return place.around() is not None


def open_lab(name: str | None = None) -> Lab:
    """A lab by name; None: the only one there is. Raises InputError."""
    name, there = name or only(), place.names()
    if name not in there:
        raise InputError(
            "unknown-lab", "{lab}: no such lab", "there is: {labs}", lab=name, labs=", ".join(there) or "none"
        )
    try:
        directory = place.directory(name)
        document = json.loads((directory / place.FILE).read_text())
        lab_hosts = [LabHost(row["name"], row["role"], row["address"], directory) for row in document["hosts"]]
        return _lab(directory, description_from_dict(document["description"]), lab_hosts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "incomplete-lab", "{lab}: this lab was never finished", "remove it: iosonde lab down {lab}", lab=name
        ) from error


def setting_of(name: str) -> dict[str, Any]:
    """What a lab was brought up for, finished or not; empty where that was nothing or is not known."""
    with suppress(OSError, ValueError, KeyError):
        setting: dict[str, Any] = json.loads((place.directory(name) / place.FILE).read_text())["setting"]
        return setting
    return {}


def state_of(name: str) -> str:
    """STARTING, CUT_SHORT or UP."""
    try:
        state = str(json.loads((place.directory(name) / place.FILE).read_text())["state"])
    except (OSError, ValueError, KeyError, TypeError):
        state = STARTING
    return CUT_SHORT if state == STARTING and not claim.is_locked(name) else state


def labs() -> list[tuple[str, str, list[str]]]:
    """(name, state, hosts that run) of each lab that is there, finished or not."""
    rows = []
    for name in place.names():
        running = hosts.running(place.directory(name))
        rows.append((name, state_of(name), [host for host in running if host != links.SWITCH]))
    return rows
