"""A table as a Source: a ``.csv``, a ``.parquet``, or one in memory, whose columns are guessed or named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Experiment
from iosonde.core.where import COMPLETE, has_incomplete_condition

from . import roles, tables
from .abstract_source import Conditions, Source
from .factors import VaryingFactors
from .profile import Profile, profile_table
from .query import ALL, EVERY, MetricChoice
from .stored import Trials
from .subsamples import TrialRows, average_trials

if TYPE_CHECKING:
    from iosonde.store import Store


@dataclass(frozen=True, repr=False)
class TableSource(Source):
    """Rows of a table. Nothing is known about the runs behind them."""

    knows_factors: ClassVar[bool] = False
    has_operations: ClassVar[bool] = False
    has_response_columns: ClassVar[bool] = True

    def __repr__(self) -> str:
        """Return the origin and the amount of data."""
        return f"{self.name}: {len(self.table)} rows of {', '.join(self.table.names)}"

    # Runs and experiments

    @property
    def path(self) -> str:
        """Name of the file."""
        return self.name

    def experiment_of(self, run: StoredRun) -> Experiment:
        """Raise KeyError, as for any unknown run."""
        raise KeyError(run.id)

    def operations(self, run_id: str) -> np.ndarray:
        """Raise KeyError, as for any unknown run."""
        raise KeyError(run_id)

    # Factors and cells

    @cached_property
    def profile(self) -> Profile:
        """What the columns are. Raises DataError for a spoilt cell."""
        return profile_table(self.table)

    @property
    def varying_factors(self) -> VaryingFactors:
        """Return none: the user names them."""
        return VaryingFactors((), {})

    @property
    def factor_names(self) -> list[str]:
        """Names of all columns."""
        return self.table.names

    def settings_among(self, rows: Table, measured: Sequence[str]) -> Sequence[str]:
        """Return the columns of ``rows`` that look set. Raises DataError."""
        return roles.guess_roles(rows, measured).settings

    def apart(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the columns (or terms) that form cells."""
        return tuple(cells)

    def units(self) -> dict[str, str]:
        """Return column → unit of its levels, if any."""
        return self.table.level_units()

    # Rows

    def trials(self, choice: MetricChoice = EVERY) -> Trials:
        """Return every row, as it is."""
        return Trials(self.table, np.arange(len(self.table)), self.table.warnings)

    @property
    def run_rows(self) -> Table:
        """Every row."""
        return self.table

    @property
    def trial_rows(self) -> Table:
        """Every row."""
        return self.table

    def average_parts(self, rows: Table, measured: Sequence[str], factors: Sequence[str]) -> TrialRows:
        """Average rows that are ranks or iterations of one trial over it."""
        return average_trials(rows, measured, [rows.column(name).name for name in factors])

    # Operations and metrics

    def split_metrics(self, metrics: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all names as those of responses: a table has columns, but no metrics."""
        return tuple(name for name in metrics if name != ALL), ()

    # Requirements

    def require_campaign(self, problem: str, hint: str, **values: object) -> Store:
        """Raise InputError with this problem and hint."""
        raise InputError("not-a-store", problem, hint, **values)

    def require_trials(self, rows: Table) -> None:
        """Accept any rows: analyses say what they miss."""

    def require_single_kind(self, apart: Sequence[str]) -> None:
        """Accept any values: each column is of one kind."""

    # Choices

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
