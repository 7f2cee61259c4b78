"""Roles of a table's columns: those that the user states with ``--roles``, and the guessed ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from iosonde.core.errors import InputError
from iosonde.core.table import Column, Table, build_column, format_cell

_TOGETHER = "one"  # A+B=one: two columns are one factor
_PLUS = "+"


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


SET_ROLES = (ColumnRole.SETTING, ColumnRole.CONSTANT)
_COUNTERS = (ColumnRole.PART, ColumnRole.REPETITION, ColumnRole.ORDER, ColumnRole.BLOCK)
STATED_ROLES = tuple(role for role in ColumnRole if role is not ColumnRole.CONSTANT)
# Operations and metrics are the responses of a store, and its rows are whole runs.
STATED_ROLES_OF_STORES = (ColumnRole.SETTING, ColumnRole.BLOCK, ColumnRole.COVARIATE, ColumnRole.FACT)


@dataclass(frozen=True)
class Roles:
    """Column → role; responses come first, in the order in which they were named. ``stated`` are not guessed."""

    by_column: Mapping[str, ColumnRole]
    stated: frozenset[str] = frozenset()

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

    def with_responses(self, responses: Sequence[str], sources: Sequence[str]) -> Roles:
        """Return the roles with only these responses; the ``sources`` that they are computed from have no role."""
        rest = {name: role for name, role in self.by_column.items() if name not in (*responses, *sources)}
        return replace(self, by_column=dict.fromkeys(responses, ColumnRole.RESPONSE) | rest)


def state_roles(table: Table, roles: Mapping[str, str], known: Sequence[str] = STATED_ROLES) -> Table:
    """Return the table with stated roles, of those that are ``known``: ``bw`` → ``response``, ``a+b`` → ``one``. Raises
    InputError, DataError."""
    for names, word in roles.items():
        joined = [names] if table.has_column(names) else names.split(_PLUS)
        columns = [table.column(name.strip()) for name in joined]  # raises, with the known columns
        if word == _TOGETHER and len(columns) > 1:
            table = _join_columns(table, columns)
        elif word in known:
            stated = {column.name: replace(column, role=word) for column in columns}
            table = replace(table, columns={**table.columns, **stated})
        else:
            raise InputError(
                "unknown-role",
                "{spell.roles}: {columns} cannot be '{role}'",
                "known: {known}; A+B=one joins two columns",
                columns=names,
                role=word,
                known=", ".join(known),
            )
    return table


def restore_roles(table: Table, document: str | bytes) -> Table:
    """Return the table with the roles and units in a file's metadata, if they are readable."""
    try:
        entries = json.loads(document)["columns"]
        roles = {name: (str(entry["role"]), str(entry["unit"])) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return table
    restored = {
        name: replace(column, role=roles[name][0], unit=column.unit or roles[name][1])
        for name, column in table.columns.items()
        if name in roles and roles[name][0] in STATED_ROLES
    }
    return replace(table, columns={**table.columns, **restored})


def _join_columns(table: Table, columns: Sequence[Column]) -> Table:
    """Add a setting whose levels are the combinations of these columns, which become facts."""
    name = _PLUS.join(column.name for column in columns)
    codes = [(levels, codes) for codes, levels in (column.codes() for column in columns)]
    texts = ["/".join(format_cell(levels[code[row]]) for levels, code in codes) for row in range(len(table))]
    joined = replace(build_column(name, texts), role=ColumnRole.SETTING)
    facts = {column.name: replace(column, role=ColumnRole.FACT) for column in columns}
    return replace(table, columns={**table.columns, **facts, name: joined})
