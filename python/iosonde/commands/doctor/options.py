"""``iosonde doctor``: what this machine can do, and what to install for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.errors import IncompleteError
from iosonde.core.front_end import get_front_end
from iosonde.core.options import Text

if TYPE_CHECKING:
    from .answer import Doctor


@dataclass
class DoctorOptions:
    """Options of ``iosonde doctor``."""

    target: Text[str | None] = Text(
        "DIR",
        "Also try what works in this directory: a file of 1 MiB is made there, in a directory of its own, and removed.",
    )


@command("doctor", DoctorOptions, "doctor --target /mnt/x")
def doctor(options: DoctorOptions) -> Result[Doctor]:
    """Diagnose what this machine can do, and what to install for the rest.

    Everything is tried, not guessed: two ranks are really started. In the target a directory with one file of
    1 MiB is made and removed. Exit code 1 if something is missing that everything needs.

    Returns
    -------
    Result[Doctor]
        One row a check; ``.answer.missing`` names what everything needs and is missing.
    """
    from .answer import doctor as answer
    from .text import lines

    diagnosis = answer(None if options.target is None else Path(options.target), get_front_end().waiting())
    return Result(diagnosis, lines, error=_build_missing_error(diagnosis))


def _build_missing_error(diagnosis: Doctor) -> IncompleteError | None:
    if not diagnosis.missing:
        return None
    return IncompleteError(
        "requirements-missing",
        "iosonde cannot work here yet: {missing}",
        "see the lines marked MISSING",
        missing=", ".join(diagnosis.missing),
    )
