"""What one server does for a probe: ``python -m iosonde.measure.probe.server_program ASSIGNMENT``, started by ssh.

It measures its own disks, one after another, in a workspace of its own below each directory, and prints one line of
JSON: what it found, or what is wrong.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError, TargetError
from iosonde.core.filesystems import is_network
from iosonde.measure.target import space
from iosonde.measure.target.workspace import Workspace
from iosonde.ranks import machine

from . import local

PLACE = "rank-0"


@dataclass(frozen=True)
class ServerAssignment:
    """One repetition on a server: a directory on each of its disks, and the bytes to write and read there.
    ``only_clean``: nothing is measured, and what an ended one left is removed."""

    directories: tuple[str, ...]
    experiment: str
    size: int
    only_clean: bool = False

    def to_word(self) -> str:
        """One word that needs no quoting, whatever shells it passes through."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()

    @staticmethod
    def from_word(word: str) -> ServerAssignment:
        """The inverse of ``to_word``."""
        fields = json.loads(base64.urlsafe_b64decode(word))
        return ServerAssignment(**fields | {"directories": tuple(fields["directories"])})


def run(assignment: ServerAssignment) -> list[dict[str, Any]]:
    """What each disk does. Raises IosondeError for what is no disk, or cannot be measured."""
    places = [Path(directory) for directory in assignment.directories]
    devices: dict[int, Path] = {}
    for place in places:
        space.check(place, space.Need(assignment.size, 4), space.Limits())
        other = devices.setdefault(place.stat().st_dev, place)
        if other is not place:
            raise TargetError(
                "same-file-system",
                "{other_path} and {path} lie on one file system",
                "give one directory of each disk",
                other_path=other,
                path=place,
            )
    return [_measure_disk(place, assignment) for place in places]


def _measure_disk(place: Path, assignment: ServerAssignment) -> dict[str, Any]:
    kind = (machine.target_facts(place)["mount"] or {}).get("type")
    if is_network(kind or ""):
        raise TargetError(
            "not-on-disk",
            "{path} is {file_system}: it lies on no disk of this server",
            "give a directory on its own disk",
            path=place,
            file_system=kind,
        )
    workspace = Workspace.create(place, assignment.experiment)
    try:
        rates = local.disk(workspace.trial(PLACE), assignment.size)
        workspace.remove_trial(PLACE)
    finally:
        workspace.remove()
    return {"dir": str(place), "filesystem": kind, **rates}


def clean(assignment: ServerAssignment) -> None:
    """Remove what an ended repetition left, and nothing else."""
    for directory in assignment.directories:
        with suppress(IosondeError, OSError):
            Workspace(Path(directory) / f"iosonde-{assignment.experiment}", assignment.experiment).remove()


def main() -> None:
    """Entry point on a server."""
    assignment = ServerAssignment.from_word(sys.argv[1])
    if assignment.only_clean:
        clean(assignment)
        return
    try:
        answer: dict[str, Any] = {"disks": run(assignment)}
    except IosondeError as error:
        answer = {"error": error.message, "hint": error.hint}
    except OSError as error:
        answer = {"error": f"{error.filename}: {error.strerror}", "hint": "look at the directory and its permissions"}
    os.write(1, f"{json.dumps(answer)}\n".encode())


if __name__ == "__main__":
    main()
