"""An existing lab: its hosts by name and role, its description, and its calibration."""

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
CUT_SHORT = "cut short"  # the process that brought it up ended before it was finished
SERVER, CLIENT = "server", "client"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Lab:
    """A lab: its directory, its description, its hosts; servers and clients by number."""

    directory: Path
    description: LabDescription
    switch: LabHost
    hosts: tuple[LabHost, ...]

    @property
    def name(self) -> str:
        """Return the lab's name."""
        return self.directory.name

    @property
    def servers(self) -> tuple[LabHost, ...]:
        """Return the hosts that store data."""
        return self.select_hosts(SERVER)

    @property
    def clients(self) -> tuple[LabHost, ...]:
        """Return the hosts that mount the file system and run measurements; servers that do so come first."""
        return (*self.servers[: self.description.clients_on_servers], *self.select_hosts(CLIENT))

    @property
    def mount_point(self) -> Path:
        """Return where clients mount the file system, the same path on all."""
        return target_of(self.name)

    @property
    def file(self) -> Path:
        """Return the path of the lab's own JSON file; each host has a copy (``place.FACTS``)."""
        return self.directory / place.FILE

    def select_hosts(self, role: str) -> tuple[LabHost, ...]:
        """Return the hosts of a role."""
        return tuple(host for host in self.hosts if host.role == role)

    def host(self, name: str) -> LabHost:
        """Return a host by name. Raises InputError."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise InputError(
            "unknown-host",
            "{host}: not a host of the lab {lab}",
            "use one of {hosts}",
            host=name,
            lab=self.name,
            hosts=", ".join(h.name for h in self.hosts),
        )

    def each(self, some: tuple[LabHost, ...], task: Callable[[LabHost], _T]) -> list[_T]:
        """Run a task on several hosts concurrently; return results in their order. Raises the first error."""
        return patience.at_once([partial(task, host) for host in some])

    def is_mounted(self, client: LabHost) -> bool:
        """Return whether a client has the file system mounted; False if the client does not answer."""
        try:
            table = client.run("cat", "/proc/self/mountinfo", limit_s=10)
        except LabError:
            return False
        return any(line.split()[4:5] == [str(self.mount_point)] for line in table.splitlines())

    def wait(self, what: str, there: Callable[[], bool], limit_s: float = 30.0) -> None:
        """Wait until ``there`` is true. Raises LabError after ``limit_s``, naming ``what``."""
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
        """Write the lab's own file: its state, description and hosts, and the ``details``."""
        document = {
            "state": state,
            "directory": str(self.directory),
            "description": self.description.to_dict(),
            **details,
            "hosts": [{"name": host.name, "role": host.role, "address": host.address} for host in self.hosts],
        }
        self.file.write_text(json.dumps(document, indent=1) + "\n")

    def read(self) -> dict[str, Any]:
        """Read the lab's own file."""
        document: dict[str, Any] = json.loads(self.file.read_text())
        return document


def planned(description: LabDescription, extra_hosts: Sequence[str]) -> Lab:
    """Return the lab of a description, its hosts with their addresses, without creating anything."""
    directory = place.directory(description.name)
    roles = [(role, role) for role in extra_hosts]
    roles += [(f"{SERVER}{n + 1}", SERVER) for n in range(description.servers)]
    roles += [(f"{CLIENT}{n + 1}", CLIENT) for n in range(description.clients - description.clients_on_servers)]
    lab_hosts = [LabHost(name, role, f"{SUBNET}.{n + 1}", directory) for n, (name, role) in enumerate(roles)]
    return _lab(directory, description, lab_hosts)


def _lab(directory: Path, description: LabDescription, lab_hosts: Iterable[LabHost]) -> Lab:
    return Lab(directory, description, LabHost(links.SWITCH, "switch", "", directory), tuple(lab_hosts))


def target_of(name: str) -> Path:
    """Return where clients of a lab of this name mount the file system, even if it does not exist."""
    return place.directory(name) / "mnt"


def only() -> str:
    """Return the name of the only lab; on a host, that of its lab. Raises InputError."""
    if (here := place.around()) is not None:
        return here.name
    there = place.names()
    if len(there) != 1:
        if not there:
            raise InputError("no-lab", "no lab is up", "bring one up: iosonde lab up glusterfs")
        raise InputError(
            "ambiguous-lab",
            "several labs are up: {labs}",
            "choose one with {spell.lab:{first}}, or remove it with iosonde lab down {first}",
            labs=", ".join(there),
            first=there[0],
        )
    return there[0]


def inside() -> bool:
    """Return whether we are on a host of a lab."""
    return place.around() is not None


def open_lab(name: str | None = None) -> Lab:
    """Open a lab by name, or the only one. Raises InputError."""
    name, there = name or only(), place.names()
    if name not in there:
        raise InputError(
            "unknown-lab", "{lab}: no such lab", "existing labs: {labs}", lab=name, labs=", ".join(there) or "none"
        )
    try:
        directory = place.directory(name)
        document = json.loads((directory / place.FILE).read_text())
        lab_hosts = [LabHost(row["name"], row["role"], row["address"], directory) for row in document["hosts"]]
        return _lab(directory, description_from_dict(document["description"]), lab_hosts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "incomplete-lab", "{lab}: this lab was never finished", "remove it with iosonde lab down {lab}", lab=name
        ) from error


def setting_of(name: str) -> dict[str, Any]:
    """Return the purpose of a lab (``setting`` of ``up``), finished or not; empty if none is stored."""
    with suppress(OSError, ValueError, KeyError):
        setting: dict[str, Any] = json.loads((place.directory(name) / place.FILE).read_text())["setting"]
        return setting
    return {}


def state_of(name: str) -> str:
    """Return STARTING, CUT_SHORT or UP."""
    try:
        state = str(json.loads((place.directory(name) / place.FILE).read_text())["state"])
    except (OSError, ValueError, KeyError, TypeError):
        state = STARTING
    return CUT_SHORT if state == STARTING and not claim.is_locked(name) else state


def labs() -> list[tuple[str, str, list[str]]]:
    """Return (name, state, running hosts) of each lab, finished or not."""
    rows = []
    for name in place.names():
        running = hosts.running(place.directory(name))
        rows.append((name, state_of(name), [host for host in running if host != links.SWITCH]))
    return rows
