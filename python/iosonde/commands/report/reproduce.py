"""How to reproduce a page: command lines, seed, versions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from iosonde.core.stored import StoredRun
from iosonde.page.tables import Reproduce

from .machine import flat

_MOST_COMMANDS = 10


def reproduce_of(runs: Sequence[StoredRun], seed: int | None, store: str, command: Sequence[str]) -> Reproduce:
    """Return the command lines (none for a table in memory), the seed, the versions."""
    last = runs[-1] if runs else StoredRun({})
    if runs and all(run.imported for run in runs):
        seed = None  # imported runs have no drawn order
        commands = _as_printed(runs)
    else:
        commands = _build_repeat_command(last, seed)
    commands += [("Make this page", shlex.join(command))] if command else []
    versions = dict(flat(last.versions)) | dict(flat(last.facts.get("software") or {}))
    facts = [("seed of the order", str(seed))] if seed is not None else []
    facts += versions.items()
    ids = dict.fromkeys(run.experiment for run in runs)
    return Reproduce(tuple(commands), (*facts, ("experiment", ", ".join(ids) or "none"), ("store", store)))


def _build_repeat_command(last: StoredRun, seed: int | None) -> list[tuple[str, str]]:
    """Return our command line of the last run, with its seed."""
    if last.imported:
        return []
    measured = [str(word) for word in last.facts.get("command") or []][1:]
    if measured and seed is not None and "--seed" not in measured:
        measured += ["--seed", str(seed)]
    return [("Measure the same again, in the same order", shlex.join(["iosonde", *measured]))] if measured else []


def _as_printed(runs: Sequence[StoredRun]) -> list[tuple[str, str]]:
    """Return the other tools' command lines, as their outputs print them."""
    commands = list(dict.fromkeys(str(run.facts["command"]) for run in runs if run.facts.get("command")))
    which = [f" {place} of {len(commands)}" if len(commands) > 1 else "" for place in range(1, len(commands) + 1)]
    pairs = zip(which[:_MOST_COMMANDS], commands[:_MOST_COMMANDS], strict=True)
    return [(f"Command{place}, as the tool printed it", text) for place, text in pairs]
