"""Abilities of a machine as text: what works; what is missing, with its cure; a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from iosonde.layout.text import wrapped

if TYPE_CHECKING:
    from iosonde.ranks.abilities.ability import Ability

    from .answer import Doctor

_NAMES = 20  # columns


def lines(doctor: Doctor) -> Iterator[str]:
    """The lines of the text."""
    for ability in doctor.good:
        yield from _wrap_hanging(f"ok      {ability.name:<{_NAMES}}", ability.detail)
    by_reason = groupby(doctor.bad, lambda item: (item.detail, item.needed_for, item.required))
    for (detail, needed_for, required), group in by_reason:
        yield ""
        yield from _format_missing(list(group), detail, needed_for, required)
    yield ""
    yield f"{len(doctor.good)} of {len(doctor.abilities)} checks passed. {doctor.sentence}"


def _format_missing(group: Sequence[Ability], detail: str, needed_for: str, required: bool) -> Iterator[str]:
    """Format abilities missing for the same reason and purpose: these once, then every cure."""
    names = ", ".join(ability.name for ability in group)
    yield from _wrap_hanging("MISSING " if required else "no      ", f"{names}: {detail}")
    if needed_for:
        yield from _wrap_hanging(" " * 8, f"for {needed_for}")
    cures: dict[str, list[str]] = {}
    for ability in group:
        cures.setdefault(ability.cure, []).append(ability.name)
    for cure, whose in cures.items():
        if cure:
            yield from _wrap_hanging(" " * 8 + "→ ", cure if len(cures) == 1 else f"{', '.join(whose)}: {cure}")


def _wrap_hanging(head: str, text: str) -> list[str]:
    return wrapped(text, " " * len(head), head)
