"""Program of one server in a probe: ``python -m iosonde.measure.probe.server_program ASSIGNMENT``, started by ssh.

It measures its own disks, one after another, in a workspace of its own below each directory. It prints one line of
JSON: the results or the error.
"""

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError, TargetError
from iosonde.core.filesystems import is_network
from iosonde.measure.target import space
from iosonde.measure.target.workspace import Workspace
from iosonde.measure.task_words import TaskWord
from iosonde.ranks import machine

from . import local

PLACE = "rank-0"


@dataclass(frozen=True)
class ServerAssignment(TaskWord):
    """Assignment of one repetition on a server: a directory on each of its disks, and the bytes to write and read
    there. ``only_clean``: measure nothing, and remove the files of an ended repetition."""

    directories: tuple[str, ...]
    experiment: str
    size: int
    only_clean: bool = False


def run(assignment: ServerAssignment) -> list[dict[str, Any]]:
    """Measure each disk. Raises IosondeError for a directory that is on no disk or cannot be measured."""
    places = [Path(directory) for directory in assignment.directories]
    devices: dict[int, Path] = {}
    for place in places:
        space.check_space(place, space.Need(assignment.size, 4), space.Limits())
        other = devices.setdefault(place.stat().st_dev, place)
        if other is not place:
            raise TargetError(
                "same-file-system",
                "{other_path} and {path} are on the same file system",
                "give one directory of each disk",
                other_path=other,
                path=place,
            )
    return [_measure_disk(place, assignment) for place in places]


def _measure_disk(place: Path, assignment: ServerAssignment) -> dict[str, Any]:
    kind = (machine.collect_target_facts(place)["mount"] or {}).get("type")
    if is_network(kind or ""):
        raise TargetError(
            "not-on-disk",
            "{path} is {file_system}, which is not a disk of this server",
            "give a directory on its own disk",
            path=place,
            file_system=kind,
        )
    workspace = Workspace.create(place, assignment.experiment)
    try:
        rates = local.measure_disk(workspace.trial(PLACE), assignment.size)
        workspace.remove_trial(PLACE)
    finally:
        workspace.remove()
    return {"dir": str(place), "filesystem": kind, **rates}


def clean(assignment: ServerAssignment) -> None:
    """Remove the files of an ended repetition, and nothing else."""
    for directory in assignment.directories:
        with suppress(IosondeError, OSError):
            Workspace(Path(directory) / f"iosonde-{assignment.experiment}", assignment.experiment).remove()


def main() -> None:
    """Run the entry point on a server."""
    assignment = ServerAssignment.from_word(sys.argv[1])
    if assignment.only_clean:
        clean(assignment)
        return
    try:
        answer: dict[str, Any] = {"disks": run(assignment)}
    except IosondeError as error:
        answer = {"error": error.message, "hint": error.hint}
    except OSError as error:
        answer = {"error": f"{error.filename}: {error.strerror}", "hint": "check the directory and its permissions"}
    os.write(1, f"{json.dumps(answer)}\n".encode())


if __name__ == "__main__":
    main()
