"""Roles of columns that the user states with ``--roles``, or that are in the metadata of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from iosonde.core.column_roles import ROLE_MEANINGS, ColumnRole
from iosonde.core.errors import InputError
from iosonde.core.table import Column, Table, build_column, format_cell

from .repeats import gather_columns

_TOGETHER = "one"  # A+B=one: two columns are one factor
_PLUS = "+"
_IGNORE = "ignore"
STATED_ROLES = tuple(role for role in ColumnRole if role is not ColumnRole.CONSTANT)
# Operations and metrics are the responses of a store, and its rows are whole runs.
STATED_ROLES_OF_STORES = (ColumnRole.SETTING, ColumnRole.BLOCK, ColumnRole.COVARIATE, ColumnRole.FACT)


def state_roles(table: Table, roles: Mapping[str, str], accepted: Sequence[ColumnRole] = STATED_ROLES) -> Table:
    """Return the table with stated roles: ``bw`` → ``response``, ``a+b`` → ``one``. ``accepted``: the roles that these
    data can have. Raises InputError, DataError."""
    for text in map("=".join, roles.items()):
        names, _, word = text.rpartition("=")  # a name may hold one: c=1
        joined = [names] if table.has_column(names) else names.split(_PLUS)
        columns = [table.column(name.strip()) for name in joined]  # raises, with the known columns
        role = ColumnRole.FACT if word == _IGNORE else word
        if word == _TOGETHER and len(columns) > 1:
            table = _join_columns(table, columns)
        elif word == ColumnRole.REPETITION in accepted and len(columns) > 1:
            table = gather_columns(table, columns)
        elif role in accepted:
            stated = {column.name: replace(column, role=role) for column in columns}
            table = replace(table, columns={**table.columns, **stated})
        else:
            raise InputError(
                "unknown-role",
                "{spell.roles}: {columns} cannot be '{role}'",
                "known: {roles}; ignore (as fact); A+B=one (joined to one factor)",
                columns=names,
                role=word,
                roles=", ".join(f"{role} ({ROLE_MEANINGS[role]})" for role in accepted),
            )
    return table


def restore_roles(table: Table, document: str | bytes) -> Table:
    """Return the table with the roles and units in a file's metadata, if they are readable."""
    try:
        roles = {
            name: (str(entry["role"]), str(entry["unit"])) for name, entry in json.loads(document)["columns"].items()
        }
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
    texts = ["/".join(map(format_cell, key)) for key in table.row_keys([column.name for column in columns])]
    joined = replace(build_column(name, texts), role=ColumnRole.SETTING)
    facts = {column.name: replace(column, role=ColumnRole.FACT) for column in columns}
    return replace(table, columns={**table.columns, **facts, name: joined})
