"""Interface of opened DATA. The defaults are those of a table: what only a stored campaign knows is empty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from iosonde.core.data_profile import Profile
from iosonde.core.errors import InputError
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Experiment, Finding

from .factors import VaryingFactors
from .query import ALL, EVERY, MetricChoice
from .roles import guess_roles
from .stated_roles import STATED_ROLES, STATED_ROLES_OF_STORES, state_roles
from .stored import Trials
from .subsamples import TrialRows, average_trials

if TYPE_CHECKING:
    from iosonde.store import Store

Conditions = Sequence[tuple[str, str, Any]]


@dataclass(frozen=True, repr=False)
class Source(ABC):
    """DATA with its conditions applied. ``table`` has every remaining row; of a campaign also those of single ranks.

    ``experiment`` is the id of the only one, None in a table. ``damage`` are the findings about the files of a store.
    ``knows_factors``: experiments declare the factors, else they are guessed from columns or named by the user.
    ``has_operations``: runs keep their operations, else a row may be one. ``has_response_columns``: any column may be
    a response, else ``value`` holds those of every operation and metric.
    """

    knows_factors: ClassVar[bool]
    has_operations: ClassVar[bool]
    has_response_columns: ClassVar[bool]

    table: Table
    name: str = ""
    experiment: str | None = None
    where: tuple[tuple[str, str, Any], ...] = ()
    damage: tuple[Finding, ...] = ()
    stated_roles: tuple[tuple[str, str], ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Damages, as sentences."""
        return tuple(finding.sentence for finding in self.damage)

    # Runs and experiments; a table has none

    @property
    def path(self) -> str:
        """Place of the data, also if they have another name."""
        return self.name

    @property
    def runs(self) -> tuple[StoredRun, ...]:
        """Runs that fulfil the conditions, oldest first, including incomplete ones."""
        return ()

    @property
    def all_runs(self) -> tuple[StoredRun, ...]:
        """Runs of all experiments, whatever the conditions."""
        return ()

    @property
    def trial_runs(self) -> tuple[StoredRun, ...]:
        """Runs without the repetitions of probes, which are not trials."""
        return ()

    @property
    def probes(self) -> tuple[StoredRun, ...]:
        """Repetitions of all probes, in any experiment."""
        return ()

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """Experiments of these runs, oldest first."""
        return ()

    @property
    def all_experiments(self) -> tuple[Experiment, ...]:
        """Experiments that were saved, whatever the conditions, oldest first."""
        return ()

    def experiment_of(self, run: StoredRun) -> Experiment:
        """Return the experiment of one of these runs. Raises InputError if it is unreadable."""
        raise KeyError(run.id)

    def find_problems(self) -> list[Finding]:
        """Examine the files and their contents."""
        return []

    def operations(self, run_id: str) -> np.ndarray:
        """Return the recorded operations of a run."""
        raise KeyError(run_id)

    # Factors and cells

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """What the columns are, which go together, the cells, and what counts as one trial. Raises InputError,
        DataError."""

    @property
    def varying_factors(self) -> VaryingFactors:
        """Known factors that vary over the complete runs, and the experiment if several would share a cell."""
        return VaryingFactors((), {})

    @property
    def factor_names(self) -> list[str]:
        """Names that a user may mean by a factor."""
        return self.table.names

    @property
    def client_column(self) -> str:
        """Column with the number of client nodes of each trial; '' if unknown."""
        return ""

    def settings_among(self, rows: Table, measured: Sequence[str]) -> Sequence[str]:
        """Return the known factors, else the columns of ``rows`` that look set besides the ``measured`` ones. Raises
        DataError."""
        return guess_roles(rows, measured).settings

    def apart(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the columns (or terms) that form cells, and the experiment if several would share one."""
        return tuple(cells)

    def units(self) -> dict[str, str]:
        """Return factor → unit of its levels, if any: from the experiments, or a column."""
        return self.table.level_units()

    @property
    def declared_units(self) -> dict[str, str]:
        """Units of factors that experiments declare."""
        return {}

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

    def selects_ranks(self, columns: Sequence[str]) -> bool:
        """Return whether the columns of cells, or the conditions, select rows of single ranks."""
        return False

    def average_parts(self, rows: Table, measured: Sequence[str], factors: Sequence[str]) -> TrialRows:
        """Average rows that are parts of one trial over it; each row of a run is a trial already."""
        return average_trials(rows, measured, [rows.column(name).name for name in factors])

    def describe_concurrency(self, ids: Collection[str]) -> list[str]:
        """Return a sentence with the number of these runs that were measured concurrently with others on the same
        machine."""
        return []

    # Operations and metrics

    @property
    def foreign(self) -> frozenset[str]:
        """Operations that another tool measured."""
        return frozenset()

    def own_clock(self, choice: MetricChoice) -> str:
        """Return the clock of our engine's rates; '' if there are none."""
        return ""

    def split_metrics(self, metrics: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split names among the metrics into those of responses, such as operations or columns, and of metrics."""
        return tuple(name for name in metrics if name != ALL), ()

    # Requirements

    def require_campaign(self, problem: str, hint: str, **values: object) -> Store:
        """Return the store with the runs and their files. Raises InputError with this problem and hint for a table."""
        raise InputError("not-a-store", problem, hint, **values)

    def require_trials(self, rows: Table) -> None:  # noqa: B027
        """Check that rows remain of a campaign. Raises DataError with the option that includes others."""

    def require_single_kind(self, apart: Sequence[str]) -> None:  # noqa: B027
        """Check that values are of one operation and metric, unless columns ``apart`` distinguish them. Raises
        InputError."""

    # Choices

    def resolve_single_experiment(self, word: str | None) -> str | None:
        """Return the id of the named experiment, else of the last one of several; None for all. Raises InputError for
        an unknown one."""
        return None

    def with_roles(self, roles: Mapping[str, str]) -> Self:
        """Return the source with stated roles of columns. Raises InputError, DataError."""
        if not roles:
            return self
        accepted = STATED_ROLES if self.has_response_columns else STATED_ROLES_OF_STORES
        table = state_roles(self.table, roles, accepted)
        return replace(self, table=table, stated_roles=(*self.stated_roles, *roles.items()))

    @abstractmethod
    def narrow(self, conditions: Conditions, experiment: str | None) -> Source:
        """Return the source with further conditions. Raises InputError, DataError."""

    def separate_last(self, cells: Sequence[str], alike: bool) -> tuple[Source, str]:
        """Return only the last experiment, with a note, if none was chosen and several would share a cell.

        ``cells``: the columns that form them, or terms over them; by default the known factors. ``alike``: also if the
        experiments differ in their factors, for an analysis that needs the same ones.
        """
        return self, ""
