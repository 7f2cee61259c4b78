"""Another tool's command line as a workload of our own engine: one file for each tool.

A translator says all that it cannot do, one sentence for each option, and lists what it ignores with the reason. What
it gives is run and recorded like any native workload; its numbers by the tool's own definitions come from
``stats.definitions``. Each module is also the workload's producer (see ``workloads``).
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any

from iosonde.core.errors import InputError

TOOLS = ("ior", "mdtest", "iozone")
_LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "srun", "orterun", "prterun")


@dataclass(frozen=True)
class Translation:
    """``workload`` is the name that ``workloads.find`` knows, ``settings`` its Settings.

    ``repetitions``, ``target`` (a directory) and ``ranks`` are what the command itself asks for; None if it leaves
    them open. ``ignored``: option → why it changes nothing here. ``notes``: what differs from the tool, in words.
    """

    workload: str
    settings: Any
    repetitions: int | None = None
    target: str | None = None
    ranks: int | None = None
    ignored: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def translate(command: str) -> Translation:
    """The workload of a command line as ``ior -w -t 1m -b 1g -F``.

    Raises InputError for a tool or an option that cannot be done.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"'{command}' is no command line: {error}", "close its quotes") from error
    tool = PurePath(words[0]).name if words else ""
    if tool in _LAUNCHERS:
        raise InputError(
            f"'{tool}' starts processes, which iosonde does itself",
            "give the tool's part of the line, and --nodes and --ranks-per-node",
        )
    if tool not in TOOLS:
        raise InputError(f"'{tool}' cannot be run natively", f"there are: {', '.join(TOOLS)}; without --native it runs")
    translation: Translation = import_module(f"{__name__}.{tool}").translate(words[1:])
    return translation
