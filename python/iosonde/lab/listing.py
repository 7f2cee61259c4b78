"""What labs there are, and what a lab could hold on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import lab, tools
from .filesystems import MODULES, recipe


@dataclass(frozen=True)
class Possible:
    """A file system that a lab can hold; ``missing`` are the packages that are not here."""

    name: str
    title: str
    options: dict[str, str]
    missing: tuple[str, ...]

    @property
    def how_to_install(self) -> str:
        """The commands that bring what is missing."""
        return tools.installing(self.missing)


@dataclass(frozen=True)
class LabListing:
    """Labs as (name, state, hosts that run), and what is possible."""

    labs: tuple[tuple[str, str, int], ...]
    possible: tuple[Possible, ...]

    def to_dict(self) -> dict[str, Any]:
        """Stable JSON."""
        return {
            "labs": [{"name": name, "state": state, "hosts": hosts} for name, state, hosts in self.labs],
            "file_systems": [vars(one) | {"missing": list(one.missing)} for one in self.possible],
        }


def listing() -> LabListing:
    """All labs, finished or not, and all file systems."""
    there = tuple((name, state, len(hosts)) for name, state, hosts in lab.labs())
    return LabListing(there, tuple(_possible(name) for name in MODULES))


def _possible(name: str) -> Possible:
    how = recipe(name)
    missing = dict.fromkeys(package for command, package in how.commands.items() if not tools.found(command))
    return Possible(name, how.title, dict(how.options), tuple(missing))
