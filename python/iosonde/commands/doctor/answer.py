"""Abilities of this machine, tried and not guessed, and what to install for the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.commands import labs
from iosonde.ranks import abilities
from iosonde.ranks.abilities.ability import Ability

_FOR_RANKS = ("mpi library", "mpiexec", "2 ranks")


@dataclass(frozen=True)
class Doctor(Answer):
    """All abilities that were tried."""

    abilities: tuple[Ability, ...]

    @property
    def good(self) -> list[Ability]:
        """Return the abilities that work."""
        return [ability for ability in self.abilities if ability.ok]

    @property
    def bad(self) -> list[Ability]:
        """Return the abilities that do not work."""
        return [ability for ability in self.abilities if not ability.ok]

    @property
    def missing(self) -> list[str]:
        """Return the names of missing abilities that every measurement needs."""
        return [ability.name for ability in self.bad if ability.required]

    @property
    def sentence(self) -> str:
        """Describe what this machine can measure."""
        if self.missing:
            return "This machine cannot measure yet."
        if any(ability.name in _FOR_RANKS for ability in self.bad):
            return "This machine can measure with one rank."
        return "This machine can measure, with many ranks."

    def to_dict(self) -> dict[str, Any]:
        """As ``iosonde doctor --json``, which calls its version ``version``."""
        return {"version": self.schema, **self.content()}

    def content(self) -> dict[str, Any]:
        """The checks in order."""
        return {"checks": self.records()}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per check."""
        return [ability.to_json() for ability in self.abilities]


def doctor(target: Path | None = None, on_wait: Callable[[str, float], None] | None = None) -> Doctor:
    """Try everything; what needs a directory only with ``target``. ``on_wait`` is called while waiting for an answer.
    Raises TargetError, TargetFaultError."""
    return Doctor((*abilities.check_all(target, on_wait), *labs.check_abilities()))
