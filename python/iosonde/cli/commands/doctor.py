"""``iosonde doctor``: what this machine can do, and what to install for the rest."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from iosonde.core.errors import IncompleteError

from ..progress import Waiting

if TYPE_CHECKING:
    from iosonde.ranks.abilities import Ability

JSON_VERSION = 1
_WIDTH = 79
_NAMES = 20  # columns
_FOR_RANKS = ("mpi library", "mpiexec", "2 ranks")


@click.command(epilog="Example: iosonde doctor --target /mnt/x")
@click.option("--target", type=click.Path(path_type=Path), help="Also try what works in this directory.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(target: Path | None, as_json: bool) -> None:
    """What this machine can do, and what to install for the rest.

    Everything is tried, not guessed: two ranks are really started. In the target a directory with one file of
    1 MiB is made and removed. Exit code 1 if something is missing that everything needs.
    """
    from iosonde.ranks import abilities

    found = abilities.check_all(target, Waiting())
    if as_json:
        click.echo(json.dumps({"version": JSON_VERSION, "checks": [ability.to_json() for ability in found]}, indent=2))
    else:
        click.echo(as_text(found))
    missing = [ability.name for ability in found if ability.required and not ability.ok]
    if missing:
        raise IncompleteError(f"iosonde cannot work here yet: {', '.join(missing)}", "see the lines marked MISSING")


def as_text(found: Sequence[Ability]) -> str:
    """What works; what does not, with its cure; one sentence."""
    good = [ability for ability in found if ability.ok]
    bad = [ability for ability in found if not ability.ok]
    lines = [_fill(f"ok      {ability.name:<{_NAMES}}", ability.detail) for ability in good]
    for (detail, needed_for, required), group in groupby(bad, lambda one: (one.detail, one.needed_for, one.required)):
        lines += ["", *_missing(list(group), detail, needed_for, required)]
    return "\n".join([*lines, "", f"{len(good)} of {len(found)} things are there. {_closing(bad)}"])


def _missing(group: list[Ability], detail: str, needed_for: str, required: bool) -> list[str]:
    """Abilities that are missed for the same reason and purpose: these once, then every cure."""
    names = ", ".join(ability.name for ability in group)
    lines = [_fill("MISSING " if required else "no      ", f"{names}: {detail}")]
    if needed_for:
        lines.append(_fill(" " * 8, f"for {needed_for}"))
    cures: dict[str, list[str]] = {}
    for ability in group:
        cures.setdefault(ability.cure, []).append(ability.name)
    for cure, whose in cures.items():
        if cure:
            lines.append(_fill(" " * 8 + "→ ", cure if len(cures) == 1 else f"{', '.join(whose)}: {cure}"))
    return lines


def _closing(bad: list[Ability]) -> str:
    if any(ability.required for ability in bad):
        return "This machine cannot measure yet."
    if any(ability.name in _FOR_RANKS for ability in bad):
        return "This machine can measure with one rank."
    return "This machine can measure, with many ranks."


def _fill(head: str, text: str) -> str:
    from iosonde.report.text import escape

    return textwrap.fill(escape(text), _WIDTH, initial_indent=head, subsequent_indent=" " * len(head),
                         break_on_hyphens=False, break_long_words=False)  # fmt: skip
