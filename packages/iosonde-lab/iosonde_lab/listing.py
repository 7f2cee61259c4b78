"""Existing labs, and the file systems that a lab can run on this machine."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core.message import Message

from . import disks, hosts, lab, secure_shell, tools
from .filesystems import MODULES, recipe

# With the default file system of servers' disks, and ssh between hosts.
_OF_EVERY_LAB = {
    **tools.ALWAYS,
    "mkfs.xfs": disks.PACKAGES["xfs"],
    secure_shell.SSHD: "openssh-server",
    "ssh-keygen": "openssh-client",
    "ssh": "openssh-client",
}


@dataclass(frozen=True)
class Possible:
    """A file system that a lab can run, with its bring-up options and its live options.
    ``missing`` are missing packages. ``profiled``: its servers count operations. ``placed``: it reports where a file's
    bytes are. ``keeps_data``: its client caches data outside the page cache, so that only a new mount is cold.
    """

    name: str
    title: str
    options: dict[str, str]
    live: dict[str, str]
    missing: tuple[str, ...]
    profiled: bool = False
    placed: bool = False
    keeps_data: bool = False

    @property
    def how_to_install(self) -> str:
        """Return the commands that install what is missing."""
        return tools.installing(self.missing)


@dataclass(frozen=True)
class LabListing:
    """Labs as (name, state, number of running hosts), and possible file systems.
    ``missing`` are packages that every lab needs; ``why_not`` is another reason why this machine cannot run a lab, or
    empty.
    """

    labs: tuple[tuple[str, str, int], ...]
    possible: tuple[Possible, ...]
    missing: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def packages(self) -> tuple[str, ...]:
        """Return missing Debian packages, of every lab and of file systems that need only packages."""
        package_sets = (
            file_system.missing for file_system in self.possible if not tools.UNPACKAGED.keys() & file_system.missing
        )
        return tuple(dict.fromkeys([*self.missing, *(name for names in package_sets for name in names)]))

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        return {
            "labs": [{"name": name, "state": state, "hosts": hosts} for name, state, hosts in self.labs],
            "missing": list(self.missing),
            "why_not": self.why_not,
            "file_systems": [
                vars(file_system) | {"missing": list(file_system.missing)} for file_system in self.possible
            ],
        }


def listing() -> LabListing:
    """List all labs, finished or not, and all file systems."""
    there = tuple((name, state, len(hosts)) for name, state, hosts in lab.labs())
    return LabListing(there, tuple(_possible(name) for name in MODULES), _missing(_OF_EVERY_LAB), _why_not())


def keeps_data(name: str) -> bool:
    """Return whether clients of a file system cache data outside the page cache. Raises InputError."""
    return recipe(name).client_keeps_data


def _possible(name: str) -> Possible:
    how = recipe(name)
    return Possible(
        name,
        how.title,
        dict(how.options),
        dict(how.live),
        _missing(how.commands),
        how.profiled,
        how.placed,
        how.client_keeps_data,
    )


def _missing(commands: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(package for command, package in commands.items() if not tools.has_command(command)))


def _why_not() -> str:
    """Return why this user cannot create the name spaces of a host, by trying; empty if it works."""
    if os.geteuid():
        return Message("root-required", "root is required")
    try:
        tools.run(["unshare", *hosts.NAME_SPACES, "--fork", "true"], limit_s=10)
    except tools.LabError as error:
        return error.message
    return "" if disks.LOOPS.exists() else f"{disks.LOOPS} is missing: modprobe loop"
