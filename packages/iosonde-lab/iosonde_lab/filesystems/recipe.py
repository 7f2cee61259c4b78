"""Interface of a file system in a lab: how its servers start, how a client mounts it, its properties.
A recipe gets hosts with names, links and disks, and needs nothing of the machine. To add one: a module here with
`RECIPE`, a line in `__init__.py`, a row in `docs/lab.md`, a test in `packages/iosonde-lab/tests/lab`.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.profile import ServerProfile
from iosonde_lab.tools import LabError

from . import mount_options


@dataclass(frozen=True)
class Layout:
    """Data layout on the servers, as the bound needs it.
    ``copies`` of every byte, sent by ``copied_by``: the client, or from server to server (chained). Or an erasure code
    of ``data_parts`` + ``parity_parts``. A file is on ``servers_of_a_file`` servers, not counting copies.
    """

    copies: int = 1
    copied_by: str = "client"
    data_parts: int = 1
    parity_parts: int = 0
    servers_of_a_file: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True)
class ServerState:
    """State of the server processes of a host in a few words (``brick up``), and whether it is healthy."""

    says: str
    well: bool


class Recipe(ABC):
    """A file system. Methods raise LabError if a host fails, InputError for wrong options."""

    title: str
    # Command → its Debian package.
    commands: Mapping[str, str] = {}
    # Option of ``--set`` → its meaning.
    options: Mapping[str, str] = {}
    # Option that can be changed live → its meaning.
    live: Mapping[str, str] = {}
    # Option of clients' mounts → its default; changed live by a remount.
    mount_defaults: Mapping[str, str] = {}
    # Process that serves a client's mount, as the kernel names it (at most 15 characters); empty: the kernel itself.
    client_process: str = ""
    # True if a client caches data outside the page cache: only a new mount is cold.
    client_keeps_data: bool = False
    # Roles of hosts besides servers and clients, one host each; for example a master.
    extra_hosts: Sequence[str] = ()
    # Role of the host with the metadata, whose process can be killed and restarted too.
    metadata_role: str = ""
    # Directories that must exist on the machine; missing ones are created, and removed with the lab.
    machine_directories: Sequence[str] = ()
    # Default number of servers; whether it is fixed.
    usual_servers: int = 3
    fixed_servers: bool = False
    # True if servers store data on their own disks.
    has_disks: bool = True
    # True if a mount reports the disks' capacity less copies and parity, False if all of it, None if neither.
    deducts_copies: bool | None = None

    @property
    def can_be_killed(self) -> bool:
        """Return whether the server processes are known, so that they can be killed and restarted."""
        return type(self).server_processes is not Recipe.server_processes

    def killable(self, lab: Lab) -> tuple[LabHost, ...]:
        """Return hosts whose server process can be killed and restarted: servers, and that of the metadata."""
        return (*lab.servers, *lab.select_hosts(self.metadata_role)) if self.can_be_killed else ()

    def knows(self, option: str) -> bool:
        """Return whether ``--set`` accepts this option."""
        return option in self.options

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Refuse invalid settings; overridden for more than the names of options. Raises InputError."""
        if self.fixed_servers and n_servers != self.usual_servers:
            raise InputError(
                "unsupported-server-count",
                "{file_system} supports only {required_servers} server here, not {n_servers}",
                "use {spell.servers:{required_servers}}",
                file_system=self.title,
                required_servers=self.usual_servers,
                n_servers=n_servers,
            )
        for name in options:
            if name not in self.options:
                raise InputError(
                    "unknown-option",
                    "{spell.set:{option}}: not an option of {file_system}",
                    _choose_hint(self.options),
                    option=name,
                    file_system=self.title,
                    options=", ".join(self.options),
                )

    @abstractmethod
    def start(self, lab: Lab) -> None:
        """Start the servers; return when a client can mount and write."""

    @abstractmethod
    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount the file system at ``lab.mount_point`` on a client."""

    def unmount(self, lab: Lab, client: LabHost) -> None:
        """Unmount on a client, so that nothing remains cached.
        A daemon that serves the mount may have data to flush; it has ended on return.
        """
        client.run("umount", str(lab.mount_point))
        self.client_has_ended(lab, client)

    def client_has_ended(self, lab: Lab, client: LabHost) -> None:
        """Wait until no process serves the mount on a client."""
        if name := self.client_process:
            lab.wait(f"{name} of {client.name} has ended", lambda: not client.processes(name))

    def layout(self, lab: Lab) -> Layout:
        """Return the current data layout; by default each file is one copy on one server, or on the client."""
        return Layout()

    def version(self, lab: Lab) -> str:
        """Return the version."""
        return ""

    def read(self, lab: Lab, option: str) -> str:
        """Return the current value of a live option."""
        if option in self.mount_defaults:
            return self.get_mount_option(lab, option)
        raise InputError(
            "unknown-option",
            "{option} is not a readable option of {file_system}",
            _choose_hint(self.live),
            file_system=self.title,
            option=option,
            options=", ".join(self.live),
        )

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Change a live option; it is in force at the clients on return."""
        if option not in self.mount_defaults:
            raise InputError(
                "immutable-option",
                "cannot change {option} of {file_system} live",
                _choose_hint(self.live),
                file_system=self.title,
                option=option,
                options=", ".join(self.live),
            )
        self.check(len(lab.servers), {**lab.description.options, option: value})
        mount_options.keep(lab, option, value)
        lab.each(
            tuple(client for client in lab.clients if lab.is_mounted(client)), lambda client: self.remount(lab, client)
        )

    def read_all(self, lab: Lab, options: Collection[str]) -> dict[str, str]:
        """Return the values of several options; overridden to use one query."""
        return {option: self.read(lab, option) for option in options}

    def change_all(self, lab: Lab, options: Mapping[str, str]) -> None:
        """Change several options; overridden to change them at once."""
        for option, value in options.items():
            self.change(lab, option, value)

    def remount(self, lab: Lab, client: LabHost) -> None:
        """Unmount and mount again on a client."""
        self.unmount(lab, client)
        self.mount(lab, client)

    def get_mount_option(self, lab: Lab, option: str) -> str:
        """Return the value of a mount option: as last changed, as requested, or the default."""
        initial_value = lab.description.options.get(option, self.mount_defaults[option])
        return mount_options.changed(lab).get(option, initial_value)

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return current properties, name → value."""
        return {}

    def health(self, lab: Lab) -> list[str]:
        """Return current complaints, a sentence each: a server down, copies that differ."""
        return []

    def states(self, lab: Lab) -> dict[str, ServerState]:
        """Return the state of the server processes by host name, as seen on the hosts; empty if there are none."""
        if type(self).server_processes is Recipe.server_processes:
            return {}
        return dict(
            zip(
                (server.name for server in lab.servers),
                lab.each(lab.servers, lambda server: self._state(lab, server)),
                strict=True,
            )
        )

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """Return the bytes of a file below the mount point on each server, by name; None if it is not reported."""
        return None

    def placements(self, lab: Lab, directory: Path) -> dict[str, dict[str, int]] | None:
        """Return the same for every file below a directory, by its relative path."""
        listing = lab.clients[0].run("find", str(directory), "-type", "f", "-printf", r"%P\0")
        bytes_by_file: dict[str, dict[str, int]] = {}
        for name in sorted(filter(None, listing.split("\0"))):
            if (placed := self.placement(lab, directory / name)) is None:
                return None
            bytes_by_file[name] = placed
        return bytes_by_file

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs, as the host numbers them, of data (or metadata) server processes; for faults."""
        return []

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Restart the server processes of a host."""
        raise InputError(
            "unsupported-operation",
            "cannot restart servers of {file_system} in a lab yet",
            file_system=self.title,
        )

    def heal(self, lab: Lab) -> None:
        """Start to heal copies now, instead of later; the outcome is in ``health``."""
        return

    def used_bytes(self, lab: Lab) -> Callable[[], int | None]:
        """Return a function of the bytes in use on the servers' disks, to be called ten times a second.
        It returns None if a server does not answer.
        """
        disks = [server.resolve_path(server.disk) for server in lab.servers] if self.has_disks else []
        return lambda: sum(map(_used, disks))

    def count_operations(self, lab: Lab, on: bool) -> None:
        """Have servers count their operations from now on, or stop counting."""
        raise self._not_counted

    def profile(self, lab: Lab) -> tuple[ServerProfile, ...]:
        """Return the operations of servers since they count."""
        raise self._not_counted

    @property
    def profiled(self) -> bool:
        """Return whether its servers count operations."""
        return type(self).profile is not Recipe.profile

    @property
    def placed(self) -> bool:
        """Return whether it reports where a file's bytes are."""
        return type(self).placement is not Recipe.placement

    @property
    def _not_counted(self) -> InputError:
        return InputError(
            "unsupported-operation",
            "{file_system}: its servers do not count their operations",
            "iosonde lab list shows file systems that do",
            file_system=self.title,
        )

    def _state(self, lab: Lab, server: LabHost) -> ServerState:
        try:
            there = bool(self.server_processes(lab, server))
        except LabError:
            return ServerState("no answer", False)
        return ServerState("up", True) if there else ServerState("down", False)


def _used(directory: Path) -> int:
    stats = os.statvfs(directory)
    return (stats.f_blocks - stats.f_bfree) * stats.f_frsize


def _choose_hint(options: Mapping[str, str]) -> str:
    return "use one of {options}" if options else "it has no options"
