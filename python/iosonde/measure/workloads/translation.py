"""Command lines of other tools as workloads of our own engine: each a workload with ``translate``.

A translator reports all options that it cannot do, with a message each, and those that it ignores, with the reason. Its
workload is run and recorded like any native one; numbers by the tool's own definitions come from ``stats.definitions``.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import spell
from iosonde.core.plugins import build_missing_error, find_entry_points
from iosonde.measure import workloads

_LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "srun", "orterun", "prterun")


@dataclass(frozen=True)
class Translation:
    """``workload`` is the name that ``workloads.find_producer`` knows, ``settings`` its Settings.

    ``repetitions``, ``target`` (a directory) and ``ranks`` are those of the command; None if it leaves them open.
    ``ignored``: option → why it changes nothing here. ``notes``: differences from the tool, in words.
    """

    workload: str
    settings: Any
    repetitions: int | None = None
    target: str | None = None
    ranks: int | None = None
    ignored: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def translate(command: str) -> Translation:
    """Return the workload of a command line such as ``ior -w -t 1m -b 1g -F``.

    Raises InputError for an unsupported tool or option, or if no workload of another tool is installed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(
            "invalid-command-line",
            "'{command}' is not a command line: {error}",
            "close the quotes",
            command=command,
            error=error,
        ) from error
    tool = PurePath(words[0]).name if words else ""
    if tool in _LAUNCHERS:
        raise InputError(
            "launcher-not-allowed",
            "'{tool}' starts processes, which iosonde does itself",
            "give the tool's part of the line, and {spell.nodes} and {spell.ranks_per_node}",
            tool=tool,
        )
    translators = _find_translators()
    if not translators:
        raise build_missing_error(f"{spell.native}")
    if tool not in translators:
        raise InputError(
            "unsupported-tool",
            "'{tool}' cannot be run natively",
            "supported: {tools}; without {spell.native} it runs",
            tool=tool,
            tools=", ".join(translators),
        )
    return translators[tool](words[1:])


def _find_translators() -> dict[str, Callable[[list[str]], Translation]]:
    """Return name of a tool → translator of its options, of those workloads that have one."""
    modules = {name: workloads.find_producer(name) for name in find_entry_points(workloads.GROUP)}
    return {name: module.translate for name, module in modules.items() if hasattr(module, "translate")}
