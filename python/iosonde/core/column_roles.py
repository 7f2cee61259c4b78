"""The roles that columns play in an analysis: what a table, its file or its user says of them, and the rest guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from .column_units import split_column_name
from .table import Column


class ColumnRole(StrEnum):
    """The part that a column plays in an analysis."""

    RESPONSE = "response"
    SETTING = "setting"
    BLOCK = "block"
    COVARIATE = "covariate"  # looks set, but is no factor of the question
    OUTCOME = "outcome"  # measured, but not the response
    PART = "part"  # numbers the parts of a trial
    REPETITION = "repetition"
    ORDER = "order"  # numbers or dates the rows
    FACT = "fact"
    CONSTANT = "constant"


ROLE_MEANINGS = {
    ColumnRole.RESPONSE: "measured, and analysed",
    ColumnRole.SETTING: "set: a factor",
    ColumnRole.BLOCK: "no factor, but its effect is taken out",
    ColumnRole.COVARIATE: "as block, but a number",
    ColumnRole.OUTCOME: "measured, not analysed",
    ColumnRole.PART: "numbers parts of a trial, which are averaged",
    ColumnRole.REPETITION: "numbers trials",
    ColumnRole.ORDER: "numbers or dates rows",
    ColumnRole.FACT: "nothing of these: left out",
}
SET_ROLES = (ColumnRole.SETTING, ColumnRole.CONSTANT)
REMARK_NAMES = frozenset(
    ("comment", "comments", "note", "notes", "remark", "remarks", "kommentar", "bemerkung", "anmerkung")
)
# Names of trials, outer ones first.
TRIALS = (
    "run",
    "trial",
    "try",
    "attempt",
    "repetition",
    "repeat",
    "repeats",
    "rep",
    "reps",
    "replicate",
    "iteration",
    "iter",
    "lauf",
    "durchlauf",
    "messung",
    "wiederholung",
    "versuch",
    "essai",
    "répétition",
    "repetición",
)
COMMIT_NAMES = frozenset(("commit", "revision", "rev", "sha", "changeset", "hash"))
_MANY_COMMITS = 10  # a history; fewer may be the builds that are compared
_COUNTERS = (ColumnRole.PART, ColumnRole.REPETITION, ColumnRole.ORDER, ColumnRole.BLOCK)


@dataclass(frozen=True)
class Roles:
    """Column → role; responses come first, in the order in which they were named. ``stated`` are not guessed.
    ``computed``: fact that follows from settings → its formula."""

    by_column: Mapping[str, ColumnRole]
    stated: frozenset[str] = frozenset()
    computed: Mapping[str, str] = field(default_factory=dict)

    def select(self, *roles: ColumnRole) -> tuple[str, ...]:
        """Return the columns that have one of these roles."""
        return tuple(name for name, role in self.by_column.items() if role in roles)

    @property
    def responses(self) -> tuple[str, ...]:
        """Columns to analyse."""
        return self.select(ColumnRole.RESPONSE)

    @property
    def settings(self) -> tuple[str, ...]:
        """Columns that were set, also constant ones."""
        return self.select(*SET_ROLES)

    @property
    def adjustable(self) -> tuple[str, ...]:
        """Columns whose effect a comparison of others takes out: those that were set, covariates, and stated blocks."""
        return tuple(
            name
            for name, role in self.by_column.items()
            if role in (*SET_ROLES, ColumnRole.COVARIATE) or (role is ColumnRole.BLOCK and name in self.stated)
        )

    @property
    def numbering(self) -> tuple[str, ...]:
        """Columns that count or date the rows."""
        return self.select(*_COUNTERS)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Facts about single rows."""
        return self.select(ColumnRole.FACT)

    @property
    def others(self) -> tuple[str, ...]:
        """Columns that look measured, but were not requested."""
        return self.select(ColumnRole.OUTCOME)

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that are neither requested nor settings."""
        return (*self.numbering, *self.remarks, *self.others)

    def without_constants(self) -> Roles:
        """Return the roles without constant columns, where another column was set."""
        varying = {name: role for name, role in self.by_column.items() if role is not ColumnRole.CONSTANT}
        return replace(self, by_column=varying) if ColumnRole.SETTING in varying.values() else self

    def with_responses(self, responses: Sequence[str], sources: Sequence[str]) -> Roles:
        """Return the roles with only these responses; the ``sources`` that they are computed from have no role."""
        rest = {name: role for name, role in self.by_column.items() if name not in (*responses, *sources)}
        return replace(self, by_column=dict.fromkeys(responses, ColumnRole.RESPONSE) | rest)


def list_commits_of_nights(columns: Sequence[Column], roles: Mapping[str, ColumnRole]) -> list[str]:
    """Return the columns without a role that hold the commit of each date of a history: a fact of a night, no
    setting."""
    if ColumnRole.ORDER not in roles.values():
        return []
    commits = (column for column in columns if column.name not in roles and not column.numeric)
    candidates = (column for column in commits if not COMMIT_NAMES.isdisjoint(split_column_name(column.label)[-1:]))
    return [column.name for column in candidates if len(column.levels) >= _MANY_COMMITS]
