"""Open two DATA with the conditions of one command: a column that one of them lacks does not concern its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.where import parse_where
from iosonde.data.options import DataOptions
from iosonde.data.source import Source

_UNKNOWN = "unknown-column"


@dataclass(frozen=True)
class OpenedData:
    """DATA with the conditions on its columns applied. ``lacking``: each condition on a column that it lacks, with the
    error about it."""

    source: Source
    lacking: Mapping[str, InputError]

    def check_columns(self) -> None:
        """Raise the first error about a column that it lacks."""
        for error in self.lacking.values():
            raise error

    def apply_aliases(self, other: OpenedData) -> tuple[OpenedData, list[Message]]:
        """Apply the conditions on columns that only the other DATA has where they are settings under other names, such
        as placeholders. Return notes about the rest. Raises InputError for a column that both lack."""
        opened, notes = self, []
        for text, error in self.lacking.items():
            if text in other.lacking:
                raise error
            ((column, op, value),) = parse_where([text])
            setting = other.source.table.aliases.get(column, "")
            if setting and self.source.table.has_column(setting):
                opened = replace(opened, source=opened.source.narrow([(setting, op, value)], None))
            else:
                template = "{name} has no column {column}: {spell.where} selects rows of {other} only"
                names = {"name": opened.source.name, "other": other.source.name}
                notes.append(Message("one-sided-condition", template, **names, column=column))
        return opened, notes


def open_filtered(options: DataOptions, data: Any = None) -> OpenedData:
    """Open DATA, or ``data``, with the conditions on columns that it has. Raises InputError, DataError."""
    lacking: dict[str, InputError] = {}
    where = tuple(options.where or ())
    while True:
        applicable = tuple(text for text in where if text not in lacking)
        try:
            return OpenedData(replace(options, where=applicable).open_data(data), lacking)
        except InputError as error:
            column = error.values.get("column") if error.code == _UNKNOWN else None
            own = [text for text in applicable if parse_where([text])[0].column == column]
            if not own:
                raise
            lacking |= dict.fromkeys(own, error)
