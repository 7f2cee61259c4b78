"""What a file system has to say to stand in a lab: how its servers start, how a client mounts it, what is true of it.

A recipe gets hosts with their names, links and disks, and needs nothing of the machine. Add one: a file here with
`RECIPE`, a line in `__init__.py`, a row in `docs/lab.md`, a test in `tests/lab`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab
from iosonde.lab.profile import ServerProfile
from iosonde.lab.tools import LabError

from . import mount_options


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


@dataclass(frozen=True)
class ServerState:
    """What serves on a host, in a few words (``brick up``), and whether that is as it should be."""

    says: str
    well: bool


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
    # Option of clients' mounts → its value where nobody gives one; changed live by mounting anew.
    mount_defaults: Mapping[str, str] = {}
    # What serves a client's mount, as the kernel names it (15 characters at most); empty: the kernel does.
    client_process: str = ""
    # Whether a client keeps data where dropping the kernel's pages does not reach it: only a new mount is cold.
    client_keeps_data: bool = False
    # Roles of hosts besides servers and clients, one host each; a master, say.
    extra_hosts: Sequence[str] = ()
    # Of these, the role of the one that keeps metadata, whose process can be ended and started again, too.
    metadata_role: str = ""
    # Directories that must be on the machine; those that are not are made, and removed with the lab.
    machine_directories: Sequence[str] = ()
    # How many servers it has where nobody says; whether it cannot have more than that.
    usual_servers: int = 3
    fixed_servers: bool = False
    # Whether servers keep data on disks of their own.
    has_disks: bool = True
    # Whether a mount says that it holds what all disks do less copies and parity, or all of it; None: neither of them.
    deducts_copies: bool | None = None

    @property
    def can_be_killed(self) -> bool:
        """Whether what serves data on a server is known, so that it can be ended and started again."""
        return type(self).server_processes is not Recipe.server_processes

    def killable(self, lab: Lab) -> tuple[LabHost, ...]:
        """Hosts on which what serves can be ended and started again: servers, and the one with the metadata."""
        return (*lab.servers, *lab.select_hosts(self.metadata_role)) if self.can_be_killed else ()

    def knows(self, option: str) -> bool:
        """Whether ``--set`` may say this option."""
        return option in self.options

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Refuse what it cannot be; more than the names of options. Raises InputError."""
        if self.fixed_servers and n_servers != self.usual_servers:
            raise InputError(
                "unsupported-server-count",
                "{file_system} has {required_servers} server here, not {n_servers}",
                "{spell.servers:{required_servers}}",
                file_system=self.title,
                required_servers=self.usual_servers,
                n_servers=n_servers,
            )
        for name in options:
            if name not in self.options:
                raise InputError(
                    "unknown-option",
                    "{spell.set:{option}}: no option of {file_system}",
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
        """Mount it at ``lab.mount_point`` on a client."""

    def unmount(self, lab: Lab, client: LabHost) -> None:
        """Unmount it there, so that the client forgets all that it has cached; a daemon that serves the mount may
        have something to write out, and has ended when this returns."""
        client.run("umount", str(lab.mount_point))
        self.client_has_ended(lab, client)

    def client_has_ended(self, lab: Lab, client: LabHost) -> None:
        """Wait until no process serves the mount there."""
        if name := self.client_process:
            lab.wait(f"{name} of {client.name} has ended", lambda: not client.processes(name))

    @abstractmethod
    def layout(self, lab: Lab) -> Layout:
        """What is true of its data now."""

    def version(self, lab: Lab) -> str:
        """What it says of its version."""
        return ""

    def read(self, lab: Lab, option: str) -> str:
        """The value of a live option now."""
        if option in self.mount_defaults:
            return self.get_mount_option(lab, option)
        raise InputError(
            "unknown-option",
            "{file_system} has no option that can be read: {option}",
            _choose_hint(self.live),
            file_system=self.title,
            option=option,
            options=", ".join(self.live),
        )

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Change a live option; it is in force at the clients when this returns."""
        if option not in self.mount_defaults:
            raise InputError(
                "immutable-option",
                "{file_system} has no option that can be changed live: {option}",
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
        """The values of several; by one question where a recipe can ask so."""
        return {option: self.read(lab, option) for option in options}

    def change_all(self, lab: Lab, options: Mapping[str, str]) -> None:
        """Change several; at once where a recipe can."""
        for option, value in options.items():
            self.change(lab, option, value)

    def remount(self, lab: Lab, client: LabHost) -> None:
        """Mount it anew there."""
        self.unmount(lab, client)
        self.mount(lab, client)

    def get_mount_option(self, lab: Lab, option: str) -> str:
        """What mounts are made with: as it was changed last, as was asked for, or as usual."""
        initial_value = lab.description.options.get(option, self.mount_defaults[option])
        return mount_options.changed(lab).get(option, initial_value)

    def facts(self, lab: Lab) -> dict[str, str]:
        """What it says of itself now, name → value."""
        return {}

    def health(self, lab: Lab) -> list[str]:
        """What is wrong now, a sentence each: a server that is down, copies that do not agree. Empty: nothing."""
        return []

    def states(self, lab: Lab) -> dict[str, ServerState]:
        """What serves on each host, seen there, by the host's name; empty where nothing serves."""
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
        """Bytes of a file below the mount point on each server, by name; None where it does not say."""
        return None

    def placements(self, lab: Lab, directory: Path) -> dict[str, dict[str, int]] | None:
        """The same of every file below a directory there, by its name in it."""
        listing = lab.clients[0].run("find", str(directory), "-type", "f", "-printf", r"%P\0")
        bytes_by_file: dict[str, dict[str, int]] = {}
        for name in sorted(filter(None, listing.split("\0"))):
            if (placed := self.placement(lab, directory / name)) is None:
                return None
            bytes_by_file[name] = placed
        return bytes_by_file

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """PIDs, as the host sees them, of what serves data (or metadata) there; for faults."""
        return []

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start again what served there."""
        raise InputError(
            "unsupported-operation",
            "{file_system}: servers cannot be started again in the lab yet",
            file_system=self.title,
        )

    def heal(self, lab: Lab) -> None:
        """Ask for copies to be made equal now, where it would take its time; what came of it is in ``health``."""
        return

    def used_bytes(self, lab: Lab) -> Callable[[], int | None]:
        """Who tells, ten times a second, the bytes in use on the servers' disks; None where one does not say."""
        disks = [server.resolve_path(server.disk) for server in lab.servers] if self.has_disks else []
        return lambda: sum(map(_used, disks))

    def count_operations(self, lab: Lab, on: bool) -> None:
        """Have servers count their operations from now on, or no more."""
        raise self._not_counted

    def profile(self, lab: Lab) -> tuple[ServerProfile, ...]:
        """What servers did since they count."""
        raise self._not_counted

    @property
    def profiled(self) -> bool:
        """Whether its servers count their operations."""
        return type(self).profile is not Recipe.profile

    @property
    def placed(self) -> bool:
        """Whether it can be said where a file's bytes are."""
        return type(self).placement is not Recipe.placement

    @property
    def _not_counted(self) -> InputError:
        return InputError(
            "unsupported-operation",
            "{file_system}: its servers do not count their operations",
            "iosonde lab list says which ones do",
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
    return "one of {options}" if options else "it has none"
