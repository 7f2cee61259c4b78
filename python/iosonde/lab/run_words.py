"""The words of ``iosonde run`` in a lab: what the lab knows is filled in, where the user does not say it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .lab import Lab

_HOSTS_FILE = "client-hosts"


def run_words(lab: Lab, given: Sequence[str]) -> tuple[str, ...]:
    """The whole command: ``iosonde run`` with ``--target`` and ``--hosts`` of the lab unless they are given."""
    words = [sys.executable, "-m", "iosonde.cli.main", "run", *given]
    if not _has(given, "--target"):
        words += ["--target", str(lab.mount_point)]
    if not _has(given, "--hosts") and len(lab.clients) > 1:
        file = lab.directory / _HOSTS_FILE
        file.write_text("".join(f"{one.name}\n" for one in lab.clients))
        words += ["--hosts", str(file)]
    return tuple(words)


def _has(given: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in given)
