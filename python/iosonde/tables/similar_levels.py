"""Levels that differ in spelling only, such as ``BeeGFS`` and ``beegfs``: named, never merged."""

import re
from collections.abc import Iterator
from dataclasses import replace

from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.table import Column, Table
from iosonde.core.words import join_names

_MOST_LEVELS = 50  # of a column; more are names or free texts
_SEPARATORS = re.compile(r"[\s_-]+|\.+$")


def warn_similar_levels(table: Table) -> Table:
    """Return the table with a warning about each text column in which a level has several spellings."""
    warnings = [
        Message(
            "similar-levels",
            "column '{column}': {levels} differ in spelling only, and are {n_levels} levels",
            column=column.name,
            levels=join_names(spellings),
            n_levels=len(spellings),
        )
        for column in table.columns.values()
        if not column.numeric
        for spellings in _iter_similar(column)
    ]
    return replace(table, warnings=(*table.warnings, *warnings)) if warnings else table


def _iter_similar(column: Column) -> Iterator[list[str]]:
    levels = [level for level in dict.fromkeys(column.values.tolist()) if isinstance(level, str)]
    if len(levels) > _MOST_LEVELS:
        return
    for spellings in group_by_key((_SEPARATORS.sub("", level).casefold(), level) for level in levels).values():
        if len(spellings) > 1:
            yield spellings
