"""What the command line of an IO500 phase says, which ``result.txt`` keeps as ``exe = ./ior … --posix.odirect``.

The settings of a run are those of its easy phase: ior-hard's 47,008 bytes stand in its own command alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iosonde.core.types import Run
from iosonde.importers.reading import option, size_of_option, words_of
from iosonde.stats.definitions.clock import CLOSE, FSYNC, OPEN

_EASY = ("record size", "O_DIRECT")  # of the easy phase, where they are the run's


def settings(run: Run, operation: str, run_settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of one phase: those of the run, and in their place what its own command says. Bytes are not: the
    clock ends a phase, and ``-b`` is only what it would have written at most."""
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
    return phase_settings | {"O_DIRECT": direct, "shared file": "-F" not in words,
                    "record order": "random" if "-z" in words else "sequential"}  # fmt: skip


def inside(run: Run, operation: str) -> frozenset[str] | None:
    """What is inside the clock of an IOR phase: open and close, and the fsync of a write that was asked for; None where
    no command is known."""
    words = _words(run, operation)
    if not words or not operation.startswith("ior"):
        return None
    return frozenset({OPEN, CLOSE} | ({FSYNC} if "-e" in words and operation.endswith("write") else set()))


def _words(run: Run, operation: str) -> list[str]:
    commands = run.facts.get("commands")
    if not isinstance(commands, Mapping):
        return []
    return words_of(str(commands.get(operation) or commands.get(operation.replace("_", "-")) or ""))
