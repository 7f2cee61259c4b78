"""Removal of a lab, complete or not, by any process: its resources are found by their marks, not by a record."""

import time
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.foreign.removal import check_unmounted, remove_tree

from . import cgroups, disks, hosts, place
from .tools import LabError, need_root

_LIMIT_S = 10.0


def down(name: str) -> None:
    """End its hosts with all their processes, free its disks and groups, remove its directory.
    Raises InputError if the lab does not exist, or if something is mounted in its directory; then nothing is removed.
    Raises LabError if something remains.
    """
    need_root()
    if name not in place.names():
        raise InputError(
            "unknown-lab",
            "{lab}: no such lab",
            "existing labs: {labs}",
            lab=name,
            labs=", ".join(place.names()) or "none",
        )
    if place.around() is not None:
        raise InputError(
            "inside-lab", "cannot take down a lab from one of its own hosts", "do it on the machine itself"
        )
    directory = place.directory(name)
    check_unmounted(directory, f"iosonde lab down {name}")  # the lab's own mounts are in the name spaces of its hosts
    # Repeat: a command still running when the bring-up was ended may have finished since.
    while _freed(name, directory):
        pass
    place.remove_directories(directory)
    _remove(name, directory)
    _freed(name, directory)


def _freed(name: str, directory: Path) -> bool:
    """End and free what exists now; return whether there was anything. Raises LabError if something remains."""
    ended = hosts.end(directory)
    n_devices, n_remaining = disks.detach(directory)
    stayed = [f"{n_remaining} loop devices"] if n_remaining else []
    if groups := cgroups.remove(directory):
        stayed.append(f"{groups} control groups")
    if stayed:
        raise LabError(
            "resources-not-freed",
            "{lab}: cannot free {resources}",
            "try again with iosonde lab down {lab}",
            lab=name,
            resources=" and ".join(stayed),
        )
    return bool(ended or n_devices)


def _remove(name: str, directory: Path) -> None:
    """Remove the directory, and last the file that identifies it as ours. Raises LabError."""
    deadline = time.monotonic() + _LIMIT_S
    while True:
        try:
            remove_tree(directory, keep=(place.FILE,))
            with suppress(FileNotFoundError):
                (directory / place.FILE).unlink()
            return directory.rmdir()
        except FileNotFoundError:  # another process removes it too
            if not directory.exists():
                return None
        except OSError as error:
            if time.monotonic() > deadline:
                raise LabError(
                    "io-error",
                    "{lab}: {path}: {reason}",
                    "try again with iosonde lab down {lab}",
                    lab=name,
                    path=error.filename,
                    reason=error.strerror,
                ) from error
        time.sleep(0.02)
