"""Taking a lab down, whole or half made, by whomever: what belongs to it is found by its marks, not by a memory."""

from __future__ import annotations

import shutil

from iosonde.core.errors import InputError

from . import cgroups, disks, hosts, place
from .tools import LabError


def down(name: str) -> None:
    """End its hosts with all that runs there, free its disks and groups, remove its directory. Raises InputError where
    there is no such lab, LabError where something stayed."""
    if name not in place.names():
        raise InputError(f"{name}: no such lab", f"there is: {', '.join(place.names()) or 'none'}")
    directory = place.directory(name)
    hosts.end(directory)
    stayed = []
    if left := disks.detach(directory):
        stayed.append(f"{left} loop devices")
    if left := cgroups.remove(name):
        stayed.append(f"{left} control groups")
    if stayed:
        raise LabError(f"{name}: {' and '.join(stayed)} could not be freed", f"iosonde lab down {name} tries again")
    place.remove_directories(directory)
    shutil.rmtree(directory)
