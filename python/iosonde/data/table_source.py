"""A table as a Source: a ``.csv``, a ``.parquet``, or one in memory, whose columns are guessed or named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from iosonde.core.data_profile import Profile
from iosonde.core.errors import InputError
from iosonde.core.table import Table
from iosonde.core.where import COMPLETE, has_incomplete_condition

from . import tables
from .abstract_source import Conditions, Source
from .profile import profile_table
from .repeats import fold_repeats


@dataclass(frozen=True, repr=False)
class TableSource(Source):
    """Rows of a table. Nothing is known about the runs behind them."""

    knows_factors: ClassVar[bool] = False
    has_response_columns: ClassVar[bool] = True

    def __repr__(self) -> str:
        """Return the origin and the amount of data."""
        return f"{self.name}: {len(self.table)} rows of {', '.join(self.table.names)}"

    @cached_property
    def profile(self) -> Profile:
        """What the columns are. Raises DataError for a spoilt cell."""
        return profile_table(self.table)

    def fold_repeats(self, question: Sequence[str]) -> Source:
        """Return the source with repetitions in columns as rows, except those that the question's texts name."""
        return replace(self, table=fold_repeats(self.table, question))

    def narrow(self, conditions: Conditions, experiment: str | None) -> Source:
        """Return the rows that fulfil further conditions. Raises InputError, DataError."""
        if not conditions:
            return self
        every = (*self.where, *conditions)
        return replace(self, table=tables.filter_rows(self.table, every), where=every)


def filter_table_source(table: Table, name: str, conditions: Conditions) -> TableSource:
    """Return the rows of a table that fulfil the conditions. Raises InputError, DataError."""
    if has_incomplete_condition(conditions) and COMPLETE not in table.columns:
        raise InputError(
            "not-a-store", "only a store has incomplete runs, but this is a table", "omit {spell.incomplete}"
        )
    return TableSource(tables.filter_rows(table, conditions), name, where=tuple(conditions))
