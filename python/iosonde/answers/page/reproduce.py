"""How to do it again: command lines, seed, versions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from iosonde.core.stored import StoredRun

from .content.words import Reproduce
from .machine import flat


def reproduce_of(runs: Sequence[StoredRun], seed: int | None, store: str, command: Sequence[str]) -> Reproduce:
    """The command lines (of a page of a table in memory none makes it again), the seed, the versions."""
    last = runs[-1] if runs else StoredRun({})
    measured = [str(word) for word in last.facts.get("command") or []][1:]
    if measured and seed is not None and "--seed" not in measured:
        measured += ["--seed", str(seed)]
    commands = [("Measure the same again, in the same order", shlex.join(["iosonde", *measured]))] if measured else []
    commands += [("Make this page", shlex.join(command))] if command else []
    versions = dict(flat(last.versions)) | dict(flat(last.facts.get("software") or {}))
    facts = [("seed of the order", str(seed))] if seed is not None else []
    facts += versions.items()
    ids = dict.fromkeys(run.experiment for run in runs)
    return Reproduce(tuple(commands), (*facts, ("experiment", ", ".join(ids) or "none"), ("store", store)))
