"""``iosonde doctor``: what this machine can do, and what to install for the rest."""

from __future__ import annotations

from pathlib import Path

import click

from iosonde import answers, report
from iosonde.cli.output import emit
from iosonde.cli.progress import Waiting
from iosonde.core.errors import IncompleteError


@click.command(epilog="Example: iosonde doctor --target /mnt/x")
@click.option("--target", metavar="DIR", help="Also try what works in this directory.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(target: str | None, as_json: bool) -> None:
    """What this machine can do, and what to install for the rest.

    Everything is tried, not guessed: two ranks are really started. In the target a directory with one file of
    1 MiB is made and removed. Exit code 1 if something is missing that everything needs.
    """
    diagnosis = answers.doctor.doctor(None if target is None else Path(target), Waiting())
    emit(diagnosis, report.text.doctor.lines(diagnosis), as_json)
    if diagnosis.missing:
        raise IncompleteError("requirements-missing", "iosonde cannot work here yet: {missing}",
                              "see the lines marked MISSING", missing=", ".join(diagnosis.missing))  # fmt: skip
