"""What a file system has to say to stand in a lab: how its servers start, how a client mounts it, what is true of it.

A recipe gets hosts with their names, links and disks, and needs nothing of the machine. Add one: a file here with
`RECIPE`, a line in `__init__.py`, a row in `docs/lab.md`, a test in `tests/lab`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab
from iosonde.lab.profile import ServerProfile


@dataclass(frozen=True)
class Layout:
    """How data lies on the servers: what the bound needs to know.

    ``copies`` of every byte, sent by ``copied_by``: the client, or from server to server (chained). Or pieces:
    ``data_parts`` + ``parity_parts`` of an erasure code. A file lies on ``servers_of_a_file`` servers (its copies not
    counted).
    """

    copies: int = 1
    copied_by: str = "client"
    data_parts: int = 1
    parity_parts: int = 0
    servers_of_a_file: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


class Recipe(ABC):
    """One file system. Methods raise LabError where a host fails to do what it is told, InputError for wrong
    options."""

    title: str
    # Command → Debian package that has it.
    commands: Mapping[str, str] = {}
    # Option of ``--set`` → what it says.
    options: Mapping[str, str] = {}
    # Option that can be changed while it runs → what it says.
    live: Mapping[str, str] = {}
    # Roles of hosts besides servers and clients, one host each; a master, say.
    extra_hosts: Sequence[str] = ()
    # Directories that must be on the machine; those that are not are made, and removed with the lab.
    machine_directories: Sequence[str] = ()
    # How many servers it has where nobody says; whether it cannot have more than that.
    usual_servers: int = 3
    fixed_servers: bool = False
    # Whether servers keep data on disks of their own.
    has_disks: bool = True

    @property
    def can_be_killed(self) -> bool:
        """Whether what serves data on a server is known, so that it can be ended and started again."""
        return type(self).server_processes is not Recipe.server_processes

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Refuse what it cannot be; more than the names of options. Raises InputError."""
        if self.fixed_servers and n_servers != self.usual_servers:
            raise InputError(f"{self.title} has {self.usual_servers} server here, not {n_servers}",
                             f"--servers {self.usual_servers}")  # fmt: skip
        for name in options:
            if name not in self.options:
                known = ", ".join(self.options) or "it has none"
                raise InputError(
                    f"--set {name}: no option of {self.title}", f"one of {known}" if self.options else known
                )

    @abstractmethod
    def start(self, lab: Lab) -> None:
        """Start the servers; return when a client can mount and write."""

    @abstractmethod
    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount it at ``lab.mount_point`` on a client."""

    def unmount(self, lab: Lab, client: LabHost) -> None:
        """Unmount it there, so that the client forgets all that it has cached."""
        client.run("umount", str(lab.mount_point))

    @abstractmethod
    def layout(self, lab: Lab) -> Layout:
        """What is true of its data now."""

    def version(self, lab: Lab) -> str:
        """What it says of its version."""
        return ""

    def read(self, lab: Lab, option: str) -> str:
        """The value of a live option now."""
        raise InputError(f"{self.title} has no option that can be read: {option}")

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Change a live option; it is in force at the clients when this returns."""
        raise InputError(f"{self.title} has no option that can be changed live: {option}")

    def facts(self, lab: Lab) -> dict[str, str]:
        """What it says of itself now, name → value."""
        return {}

    def health(self, lab: Lab) -> list[str]:
        """What is wrong now, a sentence each: a server that is down, copies that do not agree. Empty: nothing."""
        return []

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """Bytes of a file below the mount point on each server, by name; None where it does not say."""
        return None

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """PIDs, as the server sees them, of what serves data there; for faults."""
        return []

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start again what served data there."""
        raise InputError(f"{self.title}: servers cannot be started again in the lab yet")

    def heal(self, lab: Lab) -> None:
        """Ask for copies to be made equal now, where it would take its time; what came of it is in ``health``."""
        return

    def count_operations(self, lab: Lab, on: bool) -> None:
        """Have servers count their operations from now on, or no more."""
        raise InputError(f"{self.title} does not count its operations")

    def profile(self, lab: Lab) -> tuple[ServerProfile, ...]:
        """What servers did since they count."""
        raise InputError(f"{self.title} does not count its operations")
