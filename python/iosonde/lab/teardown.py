"""Taking a lab down, whole or half made, by whomever: what belongs to it is found by its marks, not by a memory."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.foreign.removal import check_unmounted, remove_tree

from . import cgroups, disks, hosts, place
from .tools import LabError, need_root

_LIMIT_S = 10.0


def down(name: str) -> None:
    """End its hosts with all that runs there, free its disks and groups, remove its directory.

    Raises InputError where there is no such lab, or where somebody mounted something in its directory: nothing is ended
    or removed then. LabError where something stayed."""
    need_root()
    if name not in place.names():
        raise InputError(
            "unknown-lab", "{lab}: no such lab", "there is: {labs}", lab=name, labs=", ".join(place.names()) or "none"
        )
    if place.around() is not None:
        raise InputError(
            "inside-lab", "a lab cannot be taken down from one of its own hosts", "do it on the machine itself"
        )
    directory = place.directory(name)
    check_unmounted(directory, f"iosonde lab down {name}")  # the lab's own mounts are all in name spaces of its hosts
    # A command that was under way when the one who brought it up was ended may have done its work since: once more.
    while _freed(name, directory):
        pass
    place.remove_directories(directory)
    _remove(name, directory)
    _freed(name, directory)


def _freed(name: str, directory: Path) -> bool:
    """End and free what is there now; whether anything was. Raises LabError where something stayed."""
    ended = hosts.end(directory)
    n_devices, n_remaining = disks.detach(directory)
    stayed = [f"{n_remaining} loop devices"] if n_remaining else []
    if groups := cgroups.remove(directory):
        stayed.append(f"{groups} control groups")
    if stayed:
        raise LabError(
            "resources-not-freed",
            "{lab}: {resources} could not be freed",
            "iosonde lab down {lab} tries again",
            lab=name,
            resources=" and ".join(stayed),
        )
    return bool(ended or n_devices)


def _remove(name: str, directory: Path) -> None:
    """The directory, last of it what makes it known as ours. Raises LabError."""
    deadline = time.monotonic() + _LIMIT_S
    while True:
        try:
            remove_tree(directory, keep=(place.FILE,))
            with suppress(FileNotFoundError):
                (directory / place.FILE).unlink()
            return directory.rmdir()
        except FileNotFoundError:  # somebody else removes it, too
            if not directory.exists():
                return None
        except OSError as error:
            if time.monotonic() > deadline:
                raise LabError(
                    "io-error",
                    "{lab}: {path}: {reason}",
                    "iosonde lab down {lab} tries again",
                    lab=name,
                    path=error.filename,
                    reason=error.strerror,
                ) from error
        time.sleep(0.02)
