"""Opened DATA: the rows of a table. What only the store of a campaign knows is empty."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from iosonde.core.data_profile import Profile
from iosonde.core.errors import DataError, InputError
from iosonde.core.hardware import SOURCE as PROBE_SOURCE
from iosonde.core.message import Message
from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Experiment, Finding
from iosonde.core.where import COMPLETE, has_incomplete_condition
from iosonde.core.words import format_count
from iosonde.tables.levels_in_columns import fold_levels
from iosonde.tables.metrics_in_rows import split_metrics

from . import stored, tables
from .factors import VaryingFactors
from .profile import profile_table
from .query import EVERY, MetricChoice
from .repeats import fold_repeats
from .stated_roles import STATED_ROLES, STATED_ROLES_OF_STORES, state_roles
from .stored import Trials

if TYPE_CHECKING:
    from iosonde.store import Store

Conditions = Sequence[tuple[str, str, Any]]


@dataclass(frozen=True, repr=False)
class Source:
    """DATA with its conditions applied: a table, or a ``StoredSource``. ``table`` has every remaining row, also
    those of single ranks.

    ``store`` has the runs behind the rows, ``damage`` are the findings about its files, and ``experiment`` is the id of
    the only one; a table has none of them.
    ``knows_factors``: experiments declare the factors, and ``value`` holds every operation and metric; else factors are
    guessed from columns or named by the user, and any column may be a response.
    """

    knows_factors: ClassVar[bool] = False

    table: Table
    name: str = ""
    experiment: str | None = None
    where: tuple[tuple[str, str, Any], ...] = ()
    damage: tuple[Finding, ...] = ()
    stated_roles: tuple[tuple[str, str], ...] = ()
    store: Store | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        """Return the origin and the amount of data."""
        return f"{self.name}: {len(self.table)} rows of {', '.join(self.table.names)}"

    # Runs and experiments; a table has none

    @property
    def path(self) -> str:
        """Place of the data, also if they have another name."""
        return self.name if self.store is None else str(self.store.path)

    @property
    def runs(self) -> tuple[StoredRun, ...]:
        """Runs that fulfil the conditions, oldest first, including incomplete ones."""
        return ()

    @property
    def all_runs(self) -> tuple[StoredRun, ...]:
        """Runs of all experiments, whatever the conditions."""
        return () if self.store is None else tuple(map(StoredRun, self.store.runs()))

    @property
    def trial_runs(self) -> tuple[StoredRun, ...]:
        """Runs without the repetitions of probes, which are not trials."""
        return tuple(run for run in self.runs if run.source != PROBE_SOURCE)

    @property
    def probes(self) -> tuple[StoredRun, ...]:
        """Repetitions of all probes, in any experiment."""
        return tuple(run for run in self.all_runs if run.source == PROBE_SOURCE)

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """Experiments of these runs, oldest first."""
        return ()

    @property
    def all_experiments(self) -> tuple[Experiment, ...]:
        """Experiments that were saved, whatever the conditions, oldest first."""
        return () if self.store is None else tuple(self.store.experiments())

    def find_problems(self) -> list[Finding]:
        """Examine the files and their contents."""
        return [] if self.store is None else self.store.problems()

    def operations(self, run_id: str) -> np.ndarray:
        """Return the recorded operations of a run, by rank and start; there may be none."""
        return np.empty(0, OPERATION) if self.store is None else self.store.operations(run_id)

    # Factors and cells

    @cached_property
    def profile(self) -> Profile:
        """What the columns are, which go together, the cells, and what counts as one trial. Raises InputError,
        DataError."""
        return profile_table(self.table)

    @property
    def varying_factors(self) -> VaryingFactors:
        """Known factors that vary over the complete runs, and the experiment if several would share a cell."""
        return VaryingFactors()

    def apart(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the columns (or terms) that form cells, and the experiment if several would share one."""
        return tuple(cells)

    def units(self) -> dict[str, str]:
        """Return factor → unit of its levels, if any: from the experiments, or a column."""
        return self.table.level_units()

    # Rows

    def trials(self, choice: MetricChoice = EVERY) -> Trials:
        """Return one row per trial; of a campaign per trial, operation and metric of the choice, by time.

        Raises InputError if only rows of single ranks remain, DataError for an unknown clock or metric.
        """
        return Trials(self.table, np.arange(len(self.table)), self.table.warnings)

    @property
    def run_rows(self) -> Table:
        """Rows of whole runs, with a tool's own iterations. Raises InputError if only single ranks remain."""
        return self.table

    @property
    def trial_rows(self) -> Table:
        """Rows that are trials, without those of single ranks; may be empty."""
        return self.table

    def describe_concurrency(self, ids: Collection[str]) -> list[str]:
        """Return a sentence with the number of these runs that were measured concurrently with others on the same
        machine."""
        n_concurrent = sum(bool(run.concurrent_pids) for run in self.runs if run.id in ids)
        message = Message(
            "concurrent-measurements",
            "{n_concurrent} of {n_runs} runs were measured concurrently with another measurement [S132]",
            n_concurrent=n_concurrent,
            n_runs=len(ids),
        )
        return [message] if n_concurrent else []

    @property
    def foreign(self) -> frozenset[str]:
        """Operations that another tool measured."""
        return frozenset()

    # Requirements

    def require_campaign(self, problem: str, hint: str, **values: object) -> Store:
        """Return the store with the runs and their files. Raises InputError with this problem and hint for a table."""
        if self.store is None:
            raise InputError("not-a-store", problem, hint, **values)
        return self.store

    def require_trials(self, rows: Table) -> None:
        """Check that rows remain of a campaign. Raises DataError with the option that includes incomplete runs."""
        if self.store is not None and not len(rows):
            n_excluded = sum(not run.counts for run in self.runs)
            no_trials = n_excluded or not self.runs
            raise DataError(
                "no-complete-trials" if no_trials else "no-results",
                "{source} has no complete trials" if no_trials else "{source} has no results",
                "list its content with iosonde show; {spell.incomplete} includes its {incomplete}"
                if n_excluded
                else "list its content with iosonde show",
                source=self.name,
                incomplete=format_count(n_excluded, "incomplete run"),
            )

    def require_single_kind(self, apart: Sequence[str]) -> None:
        """Check that values of a campaign are of one operation and metric, unless columns ``apart`` distinguish them.
        Raises InputError with an example of a choice."""
        if self.store is not None:
            stored.check_single_kind(self.trials().rows, [name for name in stored.KIND if name not in apart])

    # Choices

    def with_roles(self, roles: Mapping[str, str]) -> Self:
        """Return the source with stated roles of columns. Raises InputError, DataError."""
        if not roles:
            return self
        accepted = STATED_ROLES_OF_STORES if self.knows_factors else STATED_ROLES
        table = state_roles(self.table, roles, accepted)
        return replace(self, table=table, stated_roles=(*self.stated_roles, *roles.items()))

    def fold_repeats(self, question: Sequence[str]) -> Source:
        """Return the source with repetitions in columns as rows, and metrics in rows as columns, except those that the
        question's texts name. Raises InputError."""
        if self.knows_factors:
            return self
        return replace(self, table=split_metrics(fold_levels(fold_repeats(self.table, question), question), question))

    def narrow(self, conditions: Conditions, experiment: str | None) -> Source:
        """Return the source with further conditions. Raises InputError, DataError."""
        if has_incomplete_condition(conditions) and COMPLETE not in self.table.columns:
            raise InputError(
                "not-a-store", "only a store has incomplete runs, but this is a table", "omit {spell.incomplete}"
            )
        every = (*self.where, *conditions)
        return replace(self, table=tables.filter_rows(self.table, every), where=every) if conditions else self

    def separate_last(self, cells: Sequence[str] = (), alike: bool = False) -> tuple[Source, str]:
        """Return only the last experiment, with a note, if none was chosen and several would share a cell.

        ``cells``: the columns that form them, or terms over them; by default the known factors. ``alike``: also if the
        experiments differ in their factors, for an analysis that needs the same ones.
        """
        return self, ""
