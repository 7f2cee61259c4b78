"""Columns that identify the process, job or socket of a trial (``pid``, ``port``, a UUID): facts, no settings."""

import re
from dataclasses import replace

from iosonde.core.column_roles import ColumnRole
from iosonde.core.column_units import split_column_name
from iosonde.core.column_values import has_integers, is_mostly_distinct
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

_NAMES = frozenset(("port", "pid", "ppid", "tid", "jobid", "uid", "slurmid", "sessionid"))
_LEAST_NUMBER = 1000  # smaller ones are ports of a switch, and ranks
_LEAST_LEVELS = 3
_CODE = re.compile(r"(?=[^a-f-]*[a-f])(?=\D*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}", re.IGNORECASE)


def mark_identifiers(table: Table) -> Table:
    """Return the table with such columns as facts, with a warning."""
    columns = [column for column in table.columns.values() if not column.role and _is_identifier(column)]
    if not columns:
        return table
    template = (
        "{columns} identify processes or jobs and are no settings; {spell.roles:'{column}=setting'} makes them such"
    )
    names = ", ".join(column.name for column in columns)
    message = Message("identifiers", template, columns=names, column=columns[0].name)
    facts = {column.name: replace(column, role=ColumnRole.FACT) for column in columns}
    return replace(table, columns={**table.columns, **facts}, warnings=(*table.warnings, message))


def _is_identifier(column: Column) -> bool:
    present = column.values[~column.missing]
    if column.unit or not present.size:
        return False
    if not column.numeric:
        first = str(present[0])  # most columns need no more
        is_code = _CODE.fullmatch(first) is not None and is_mostly_distinct(column)
        return is_code and all(_CODE.fullmatch(str(value)) for value in present)
    is_identifier = "".join(split_column_name(column.label or column.name)) in _NAMES
    return (
        is_identifier and has_integers(column) and min(present) >= _LEAST_NUMBER and len(column.levels) >= _LEAST_LEVELS
    )
