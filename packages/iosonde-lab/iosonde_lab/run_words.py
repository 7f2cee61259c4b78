"""Arguments of ``iosonde run`` in a lab: defaults come from the lab."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from iosonde.core.errors import InputError

from .hosts import PRIVATE
from .lab import Lab

_HOSTS_FILE = "client-hosts"


def run_words(lab: Lab, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the full command: ``iosonde run`` with ``--target`` and ``--hosts`` of the lab unless given.
    Raises InputError if results would vanish with the host.
    """
    for option in ("--store", "--page"):
        check_shared(Path(_value(arguments, option) or "."))
    words = [sys.executable, "-m", "iosonde.cli.main", "run", *arguments]
    if not _has(arguments, "--target"):
        words += ["--target", str(lab.mount_point)]
    if not _has(arguments, "--hosts") and len(lab.clients) > 1:
        file = lab.directory / _HOSTS_FILE
        file.write_text("".join(f"{client.name}\n" for client in lab.clients))
        words += ["--hosts", str(file)]
    return tuple(words)


def check_shared(place: Path) -> None:
    """Refuse a path private to each host, which vanishes with it. Raises InputError."""
    real_path = Path(os.path.realpath(place))
    if any(real_path.is_relative_to(os.path.realpath(own)) for own in PRIVATE):
        raise InputError(
            "host-local-path",
            "cannot store results in {path}: it is private to each host and vanishes with it",
            "store them elsewhere with {spell.store:DIR}",
            path=place,
        )


def _value(arguments: Sequence[str], option: str) -> str:
    """Return the last value of an option, or ''."""
    values = [after for word, after in zip(arguments, arguments[1:], strict=False) if word == option]
    values += [word.removeprefix(f"{option}=") for word in arguments if word.startswith(f"{option}=")]
    return values[-1] if values else ""


def _has(arguments: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in arguments)
