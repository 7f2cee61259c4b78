"""Queries and changes of a lab's file system while it runs: options, counts, placement, mounts."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from iosonde.core.errors import InputError

from . import patience, place
from .filesystems import recipe_of
from .hosts import LabHost
from .lab import Lab
from .profile import LabProfile
from .tools import need_root

_T = TypeVar("_T")


@dataclass(frozen=True)
class LiveOptions:
    """Options in force; ``was`` holds the previous values of changed ones."""

    values: Mapping[str, str]
    was: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        return {"options": dict(self.values), "was": dict(self.was)}


@dataclass(frozen=True)
class Placement:
    """Bytes of one file on each server, by name."""

    file: str
    n_bytes: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        return {"file": self.file, "bytes": dict(self.n_bytes)}


@patience.answers_within()
def get_options(lab: Lab, names: Sequence[str] = ()) -> LiveOptions:
    """Return the named options, or all live options of the recipe. Raises InputError, LabError."""
    need_root()
    how = recipe_of(lab)
    if not names and not how.live:
        raise InputError(
            "missing-argument",
            "{file_system} needs the name of an option",
            "iosonde lab list names them",
            file_system=how.title,
        )
    return LiveOptions(how.read_all(lab, names or tuple(how.live)), {})


def set_options(lab: Lab, options: Mapping[str, str]) -> LiveOptions:
    """Change options and read them back; they are in force at the clients on return.
    Raises InputError, LabError.
    """
    need_root()
    how = recipe_of(lab)
    was = how.read_all(lab, options)
    how.change_all(lab, options)
    _tell_layout(lab)
    return LiveOptions(how.read_all(lab, options), was)


def _tell_layout(lab: Lab) -> None:
    """Update the data layout in the lab's file, and on each host: the bound depends on it."""
    document, layout = lab.read(), recipe_of(lab).layout(lab).to_dict()
    if document.get("layout") != layout:
        temporary_file = lab.file.with_name(f".{lab.file.name}")
        temporary_file.write_text(json.dumps(document | {"layout": layout}, indent=1) + "\n")
        temporary_file.replace(lab.file)
        lab.each(lab.hosts, lambda host: host.run("cp", str(lab.file), place.FACTS))


@patience.answers_within()
def placement(lab: Lab, file: Path) -> Placement:
    """Return where the bytes of a file below the mount are. Raises InputError, LabError."""
    below = _below(lab, file)
    return Placement(
        str(below.relative_to(lab.mount_point)), _require_placement(lab, recipe_of(lab).placement(lab, below))
    )


@patience.answers_within()
def placements(lab: Lab, directory: Path) -> list[Placement]:
    """Return where the bytes of every file below a directory are. Raises InputError, LabError."""
    below = _below(lab, directory)
    bytes_by_file = _require_placement(lab, recipe_of(lab).placements(lab, below))
    return [Placement(name, n_bytes) for name, n_bytes in bytes_by_file.items()]


@patience.answers_within()
def is_directory(lab: Lab, path: Path) -> bool:
    """Return whether a path on the lab's file system is a directory. Raises InputError, LabError."""
    below = str(_below(lab, path))
    return lab.clients[0].run("sh", "-c", '[ ! -d "$0" ] || echo yes', below, label=f"looking at {below}") != ""


def _below(lab: Lab, path: Path) -> Path:
    need_root()
    below = Path(os.path.normpath(lab.mount_point / path))
    if not below.is_relative_to(lab.mount_point):
        raise InputError(
            "outside-mount",
            "{path} is not on the lab's file system",
            "use a path below {mount_point}",
            path=path,
            mount_point=lab.mount_point,
        )
    return below


def _require_placement(lab: Lab, answer: _T | None) -> _T:
    if answer is None:
        raise InputError(
            "unsupported-operation",
            "{file_system} does not report where a file's bytes are",
            file_system=recipe_of(lab).title,
        )
    return answer


def count_operations(lab: Lab, on: bool) -> None:
    """Have servers count their operations from zero, or stop counting. Raises InputError, LabError."""
    need_root()
    recipe_of(lab).count_operations(lab, on)


@patience.answers_within()
def profile(lab: Lab) -> LabProfile:
    """Return the operations of the servers since they count. Raises InputError, LabError."""
    need_root()
    return LabProfile(lab.name, recipe_of(lab).profile(lab))


def mount(lab: Lab, names: Sequence[str] = ()) -> None:
    """Mount the file system on the named clients, or on all; on a client, there. Existing mounts remain.
    Raises InputError, LabError.
    """
    need_root()

    def there(client: LabHost) -> None:
        if not lab.is_mounted(client):
            recipe_of(lab).mount(lab, client)

    lab.each(_clients(lab, names), there)


def remount(lab: Lab, names: Sequence[str] = ()) -> None:
    """Unmount and mount again, so that the next reads come from the servers. Raises InputError, LabError."""
    need_root()
    lab.each(_clients(lab, names), lambda client: recipe_of(lab).remount(lab, client))


def unmount(lab: Lab, names: Sequence[str] = ()) -> None:
    """Unmount the file system on clients, so that nothing remains cached. Clients without a mount are skipped.
    Raises InputError, LabError.
    """
    need_root()

    def gone(client: LabHost) -> None:
        if lab.is_mounted(client):
            recipe_of(lab).unmount(lab, client)

    lab.each(_clients(lab, names), gone)


def _clients(lab: Lab, names: Sequence[str]) -> tuple[LabHost, ...]:
    client_names = set(names) or ({os.uname().nodename} if place.around() is not None else set())
    for name in client_names - {client.name for client in lab.clients}:
        raise InputError(
            "unknown-client",
            "{client}: not a client of the lab {lab}",
            "use one of {clients}",
            client=name,
            lab=lab.name,
            clients=", ".join(client.name for client in lab.clients),
        )
    return tuple(client for client in lab.clients if not client_names or client.name in client_names)
