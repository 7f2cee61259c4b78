"""Settings from the command line of an IO500 phase, which ``result.txt`` keeps as ``exe = ./ior … --posix.odirect``. A
run's settings are those of its easy phase: ior-hard's 47,008 bytes are in its own command only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iosonde.core.types import Run
from iosonde.importers.reading import option, size_of_option, words_of
from iosonde.stats.definitions.clock import CLOSE, FSYNC, OPEN

_EASY = ("record size", "O_DIRECT")  # of the easy phase, as settings of the run


def settings(run: Run, operation: str, run_settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of one phase: those of the run, overridden by its own command. Bytes are excluded: the clock
    ends a phase, and ``-b`` is only an upper bound of what it writes."""
    phase_settings = dict(run_settings)
    if not operation.startswith("ior_easy"):
        for name in _EASY:
            phase_settings.pop(name, None)
    words = _words(run, operation)
    if not words or not operation.startswith("ior"):
        return phase_settings
    size = size_of_option(option(words, "-t") or "")
    if size is not None:
        phase_settings["record size"] = size
    direct = any(word.endswith(".odirect") or word in ("-B", "useO_DIRECT=1") for word in words)
    return phase_settings | {
        "O_DIRECT": direct,
        "shared file": "-F" not in words,
        "record order": "random" if "-z" in words else "sequential",
    }


def inside(run: Run, operation: str) -> frozenset[str] | None:
    """Return what is inside the clock of an IOR phase: open and close, and a requested fsync of a write. None if no
    command is known."""
    words = _words(run, operation)
    if not words or not operation.startswith("ior"):
        return None
    return frozenset({OPEN, CLOSE} | ({FSYNC} if "-e" in words and operation.endswith("write") else set()))


def _words(run: Run, operation: str) -> list[str]:
    commands = run.facts.get("commands")
    if not isinstance(commands, Mapping):
        return []
    return words_of(str(commands.get(operation) or commands.get(operation.replace("_", "-")) or ""))
