"""Command lines of other tools as workloads of our own engine: one file for each tool.

A translator reports all options that it cannot do, with a message each, and those that it ignores, with the reason. Its
workload is run and recorded like any native one; numbers by the tool's own definitions come from ``stats.definitions``.
Each module is also the workload's producer (see ``workloads``).
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import PurePath
from typing import Any

from iosonde.core.errors import InputError
from iosonde.measure.workloads.settings import SettingError, read_count

TOOLS = ("ior", "mdtest", "iozone")
_LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "srun", "orterun", "prterun")


@dataclass(frozen=True)
class Translation:
    """``workload`` is the name that ``workloads.find`` knows, ``settings`` its Settings.

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


def read_settings(settings: Any) -> None:
    """Check the types of a Settings from an experiment file, and convert them: sizes as ``1MiB`` to bytes, lists to
    tuples.

    Raises SettingError.
    """
    for field in fields(settings):
        name, value = field.name, getattr(settings, field.name)
        if field.type == "int":
            object.__setattr__(settings, name, read_count(name, value, size=True, least=0))
        elif field.type == "bool" and not isinstance(value, bool):
            raise SettingError(
                (name,), "not-a-boolean", "{name} is {setting!r}", "write true or false", name=name, setting=value
            )
        elif field.type == "str" and not isinstance(value, str):
            raise SettingError(
                (name,), "not-a-string", "{name} is {setting!r}", "write a word", name=name, setting=value
            )
        elif field.type == "tuple[str, ...]":
            if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) for word in value):
                raise SettingError(
                    (name,), "not-a-list", "{name} is {setting!r}", "write a list of words", name=name, setting=value
                )
            object.__setattr__(settings, name, tuple(value))
    if settings.cache not in ("cold", "warm"):
        raise SettingError(
            ("cache",),
            "unknown-cache-regime",
            "cache regime '{cache}' is unknown",
            "use cold or warm",
            cache=settings.cache,
        )


def check_words(name: str, words: tuple[str, ...], choices: tuple[str, ...]) -> None:
    """Raise SettingError for a word that is not in ``choices``."""
    for word in words:
        if word not in choices:
            raise SettingError(
                (name,),
                "unknown-option-value",
                "{name}: '{choice}' is unknown",
                "use one of: {choices}",
                name=name,
                choice=word,
                choices=", ".join(choices),
            )


def translate(command: str) -> Translation:
    """Return the workload of a command line such as ``ior -w -t 1m -b 1g -F``.

    Raises InputError for an unsupported tool or option.
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
    if tool not in TOOLS:
        raise InputError(
            "unsupported-tool",
            "'{tool}' cannot be run natively",
            "supported: {tools}; without {spell.native} it runs",
            tool=tool,
            tools=", ".join(TOOLS),
        )
    translation: Translation = import_module(f"{__name__}.{tool}").translate(words[1:])
    return translation
