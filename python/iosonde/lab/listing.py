"""What labs there are, and what a lab could hold on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core.message import Message

from . import disks, hosts, lab, secure_shell, tools
from .filesystems import MODULES, recipe

# Of servers' disks the usual file system; of secure shell what reaches hosts from hosts.
_OF_EVERY_LAB = {
    **tools.ALWAYS,
    "mkfs.xfs": disks.PACKAGES["xfs"],
    secure_shell.SSHD: "openssh-server",
    "ssh-keygen": "openssh-client",
    "ssh": "openssh-client",
}


@dataclass(frozen=True)
class Possible:
    """A file system that a lab can hold, with options to bring it up with, and those that can be changed while it runs;
    ``missing`` are the packages that are not here. ``profiled``: its servers count their operations; ``placed``: it
    can be said where a file's bytes are; ``keeps_data``: its client does, so that only a new mount is cold."""

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
        """The commands that bring what is missing."""
        return tools.installing(self.missing)


@dataclass(frozen=True)
class LabListing:
    """Labs as (name, state, hosts that run), and what is possible; ``missing`` are packages of which every lab is made,
    and ``why_not`` says what else keeps this machine from having one, or nothing."""

    labs: tuple[tuple[str, str, int], ...]
    possible: tuple[Possible, ...]
    missing: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def packages(self) -> tuple[str, ...]:
        """Debian's packages that are not here, of every lab and of the file systems that come from packages alone."""
        package_sets = (
            file_system.missing for file_system in self.possible if not tools.UNPACKAGED.keys() & file_system.missing
        )
        return tuple(dict.fromkeys([*self.missing, *(name for names in package_sets for name in names)]))

    def to_dict(self) -> dict[str, Any]:
        """Stable JSON."""
        return {
            "labs": [{"name": name, "state": state, "hosts": hosts} for name, state, hosts in self.labs],
            "missing": list(self.missing),
            "why_not": self.why_not,
            "file_systems": [
                vars(file_system) | {"missing": list(file_system.missing)} for file_system in self.possible
            ],
        }


def listing() -> LabListing:
    """All labs, finished or not, and all file systems."""
    there = tuple((name, state, len(hosts)) for name, state, hosts in lab.labs())
    return LabListing(there, tuple(_possible(name) for name in MODULES), _missing(_OF_EVERY_LAB), _why_not())


def keeps_data(name: str) -> bool:
    """Whether clients of a file system keep data where dropping the kernel's pages does not reach it. Raises
    InputError."""
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
    """Tried: this user makes the name spaces that a host has."""
    if os.geteuid():
        return Message("root-required", "it needs root")
    try:
        tools.run(["unshare", *hosts.NAME_SPACES, "--fork", "true"], limit_s=10)
    except tools.LabError as error:
        return error.message
    return "" if disks.LOOPS.exists() else f"there is no {disks.LOOPS}: modprobe loop"
