"""A stored campaign as a Source: its runs, experiments and factors are known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from iosonde.core.data_profile import Profile
from iosonde.core.errors import InputError
from iosonde.core.hardware import SOURCE as PROBE_SOURCE
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Experiment, Finding

from . import experiments, factors, headlines, stored
from .abstract_source import Conditions, Source
from .choice import column_to_texts
from .query import EVERY, LAST_DONE, MetricChoice
from .stored_profile import profile_campaign
from .stored_results import read_results, read_runs
from .subsamples import TrialRows

if TYPE_CHECKING:
    from iosonde.store import Store

_KIND = ("operation", "metric")
_RANK = "rank"


@dataclass(frozen=True, repr=False)
class StoredSource(Source):
    """Results of a store. ``every``: all experiments were requested. ``ranks``: include the single ranks of runs with
    very many."""

    knows_factors: ClassVar[bool] = True
    has_operations: ClassVar[bool] = True
    has_response_columns: ClassVar[bool] = False

    store: Store = field(kw_only=True)
    every: bool = False
    ranks: bool = True
    _trials_by_choice: dict[MetricChoice, stored.Trials] = field(default_factory=dict, init=False, compare=False)
    _foreign_by_clock: dict[str, headlines.Foreign] = field(default_factory=dict, init=False, compare=False)

    def __repr__(self) -> str:
        """Return the origin and the amount of data."""
        return f"{self.name}: {len(self.runs)} runs, {len(self.table)} results"

    # Runs and experiments

    @property
    def path(self) -> str:
        """Directory of the store."""
        return str(self.store.path)

    @cached_property
    def runs(self) -> tuple[StoredRun, ...]:
        """Runs that fulfil the conditions, oldest first, including incomplete ones."""
        return read_runs(self.store, self.where, self.experiment)

    @property
    def all_runs(self) -> tuple[StoredRun, ...]:
        """Runs of all experiments, whatever the conditions."""
        return tuple(map(StoredRun, self.store.runs()))

    @property
    def trial_runs(self) -> tuple[StoredRun, ...]:
        """Runs without the repetitions of probes, which are not trials."""
        return tuple(run for run in self.runs if run.source != PROBE_SOURCE)

    @property
    def probes(self) -> tuple[StoredRun, ...]:
        """Repetitions of all probes in the store, in any experiment."""
        return tuple(run for run in self.all_runs if run.source == PROBE_SOURCE)

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        """Experiments of these runs, oldest first."""
        ids = {run.experiment for run in self.runs}
        return tuple(experiment for experiment in self.store.experiments() if experiment.id in ids)

    @property
    def all_experiments(self) -> tuple[Experiment, ...]:
        """Experiments that were saved, whatever the conditions, oldest first."""
        return tuple(self.store.experiments())

    def experiment_of(self, run: StoredRun) -> Experiment:
        """Return the experiment of a run. Raises InputError if it is unreadable."""
        return self.store.experiment(run.experiment)

    def find_problems(self) -> list[Finding]:
        """Examine the files of the store and their contents."""
        return self.store.problems()

    def operations(self, run_id: str) -> np.ndarray:
        """Return the recorded operations of a run, by rank and start; there may be none."""
        return self.store.operations(run_id)

    # Factors and cells

    @cached_property
    def varying_factors(self) -> factors.VaryingFactors:
        """Factors that vary over the complete runs, and the experiment if several would share a cell."""
        # A run with only rows of single ranks, such as a probe, is not a trial, and its factors do not distinguish any.
        rows = self.trial_rows if len(self.trial_rows) else self.table
        run_ids = set(rows.columns["run"].values) if "run" in rows.columns else set()
        varying = factors.find_factors(rows, [run for run in self.runs if run.id in run_ids], self.experiments)
        return (
            varying.with_column(rows, experiments.EXPERIMENT)
            if experiments.has_mixed_cells(rows, varying.names)
            else varying
        )

    @cached_property
    def profile(self) -> Profile:
        """What the columns are, as the experiments and importers declare them. Raises InputError."""
        declared = factors.collect_declared(self.runs, self.experiments)
        return profile_campaign(self.run_rows, self.trials(MetricChoice()).rows, self.varying_factors, declared)

    @property
    def factor_names(self) -> list[str]:
        """Names of the varying factors, and of all that are declared."""
        declared = (
            self.table.aliases.get(factor.name, factor.name)
            for experiment in self.experiments
            for factor in experiment.factors
        )
        return list(dict.fromkeys((*self.varying_factors.names, *declared)))

    @property
    def client_column(self) -> str:
        """Column ``nodes``, if there is one."""
        return "nodes" if "nodes" in self.table.columns else ""

    def settings_among(self, rows: Table, measured: Sequence[str]) -> Sequence[str]:
        """Return the varying factors."""
        return self.varying_factors.names

    def apart(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the columns (or terms) that form cells, and the experiment if several would share one."""
        shared = bool(cells) and experiments.has_mixed_cells(self.table, cells)
        return (*cells, experiments.EXPERIMENT) if shared else tuple(cells)

    def units(self) -> dict[str, str]:
        """Return factor → unit of its levels, if any: sizes in bytes, and units that experiments declare."""
        declared = {
            factor.name: factor.unit for experiment in self.experiments for factor in experiment.factors if factor.unit
        }
        return {name: unit for name, unit in self.table.level_units().items() if unit == "bytes"} | declared

    @property
    def declared_units(self) -> dict[str, str]:
        """Units of the factors."""
        return self.units()

    # Rows

    def trials(self, choice: MetricChoice = EVERY) -> stored.Trials:
        """Return one row per trial, operation and metric of the choice, by time.

        Raises InputError if only rows of single ranks remain, DataError for an unknown clock or metric.
        """
        if choice not in self._trials_by_choice:
            trials = stored.select_trials(self.run_rows, choice, self._classify_rows(choice.clock))
            notes = self.describe_concurrency(set(trials.rows.columns["run"].values))
            self._trials_by_choice[choice] = replace(trials, warnings=(*trials.warnings, *notes))
        return self._trials_by_choice[choice]

    def describe_concurrency(self, ids: Collection[str]) -> list[str]:
        """Return a sentence with the number of these runs that were measured concurrently with others on the same
        machine."""
        return stored.describe_concurrency([run for run in self.runs if run.id in ids], len(ids))

    def iterations(self, choice: MetricChoice) -> Table:
        """Return the rows of ``trials``, with a row for each of a tool's own iterations."""
        return stored.select_iterations(self.run_rows, choice, self._classify_rows(choice.clock))

    @cached_property
    def run_rows(self) -> Table:
        """Rows of whole runs, with a tool's own iterations. Raises InputError if only single ranks remain."""
        if len(self.table) and not len(self.trial_rows):
            raise InputError(
                "no-trials",
                "all remaining rows are of single ranks, which are parts of a trial, not trials",
                "iosonde show {name} --export csv writes them as a table with a column rank",
                name=self.name,
            )
        return self.trial_rows

    @cached_property
    def trial_rows(self) -> Table:
        """Rows that are trials, without those of single ranks; may be empty."""
        return self.table.take(stored.mask_run_rows(self.table))

    def selects_ranks(self, columns: Sequence[str]) -> bool:
        """Return whether the columns of cells, or the conditions, select rows of single ranks."""
        return _RANK in columns or any(condition[0] == _RANK for condition in self.where)

    def average_parts(self, rows: Table, measured: Sequence[str], factors: Sequence[str]) -> TrialRows:
        """Return the rows: each is of a whole run."""
        return TrialRows(rows)

    # Operations and metrics

    @cached_property
    def foreign(self) -> frozenset[str]:
        """Operations that another tool measured."""
        rows = self.run_rows.take(self._classify_rows("").rows)
        return frozenset(str(value) for value in rows.columns["operation"].values) if len(rows) else frozenset()

    def own_clock(self, choice: MetricChoice) -> str:
        """Return the clock of our engine's rates; '' if only other tools measured."""
        operations = set(column_to_texts(self.trials(choice).rows, "operation"))
        return choice.clock if operations - self.foreign or not operations else ""

    def split_metrics(self, metrics: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split names into operations, also with their metrics, and metrics."""
        operations = set(column_to_texts(self.table, "operation"))
        of_responses = tuple(name for name in metrics if name in operations or " " in name)
        return of_responses, tuple(name for name in metrics if name not in of_responses)

    def _classify_rows(self, clock: str) -> headlines.Foreign:
        key = "" if clock == LAST_DONE or "," in clock else clock
        if key not in self._foreign_by_clock:
            self._foreign_by_clock[key] = headlines.classify_rows(self.run_rows, self.runs, key)
        return self._foreign_by_clock[key]

    def require_campaign(self, problem: str, hint: str, **values: object) -> Store:
        """Return the store."""
        return self.store

    def require_trials(self, rows: Table) -> None:
        """Check that rows remain. Raises DataError with the option that would include incomplete runs."""
        if not len(rows):
            raise stored.build_no_trial_error(self.name, self.runs)

    def require_single_kind(self, apart: Sequence[str]) -> None:
        """Check that values are of one operation and metric, unless columns ``apart`` distinguish them. Raises
        InputError with an example of a choice."""
        stored.check_single_kind(self.trials().rows, [name for name in _KIND if name not in apart])

    def resolve_single_experiment(self, word: str | None) -> str | None:
        """Return the id of the named experiment, else of the last one of several; None for all. Raises InputError for
        an unknown one."""
        return experiments.resolve_single_experiment(self.store, word)

    def narrow(self, conditions: Conditions, experiment: str | None) -> Source:
        """Return the source with further conditions. Raises InputError, DataError."""
        word, experiment = experiment, experiments.resolve_experiment(self.store, experiment)
        every = self.every or word == experiments.ALL
        if not conditions and experiment in (None, self.experiment):
            return replace(self, every=every)
        if self.experiment not in (None, experiment) and experiment is not None:
            raise InputError(
                "experiment-mismatch",
                "{name} was opened for experiment {experiment}, not {requested_experiment}",
                "open it again",
                name=self.name,
                experiment=self.experiment,
                requested_experiment=experiment,
            )
        conditions = (*self.where, *conditions)
        narrower = open_campaign(self.store, conditions, experiment or self.experiment, self.ranks)
        return replace(narrower, name=self.name, every=every).with_roles(dict(self.stated_roles))

    def separate_last(self, cells: Sequence[str], alike: bool) -> tuple[Source, str]:
        """Return only the last experiment, with a note, if none was chosen and several would share a cell."""
        if self.every or self.experiment is not None:
            return self, ""
        ids = experiments.list_measured_experiments(self.runs)
        shared = len(ids) > 1 and self._has_shared_cells(cells)
        other = len(ids) > 1 and not shared and alike and self._has_missing_cells(cells or self.varying_factors.names)
        if not shared and not other:
            return self, ""
        why = ", as the others have other factors" if other else ""
        return self.narrow((), ids[-1]), experiments.build_choice_note(ids, ids[-1], why)

    def _has_shared_cells(self, cells: Sequence[str]) -> bool:
        return (
            experiments.has_mixed_cells(self.table, cells)
            if cells
            else experiments.EXPERIMENT in self.varying_factors.names
        )

    def _has_missing_cells(self, names: Sequence[str]) -> bool:
        """Return whether some trials have no value in one of these columns."""
        columns = self.trial_rows.columns
        return any(columns[name].missing.any() for name in names if name in columns)


def open_campaign(
    store: Store, conditions: Conditions, word: str | None, ranks: bool = True, name: str = ""
) -> StoredSource:
    """Open the results of a store that fulfil the conditions, of the experiment ``word``; ``name`` instead of its path.
    Raises InputError, DataError."""
    experiment = experiments.resolve_experiment(store, word)
    every = experiment is None and word == experiments.ALL
    conditions = experiments.replace_titles_by_ids(conditions, experiments.build_titles(store.experiments()))
    table = read_results(store, conditions, experiment, ranks)
    damage = tuple(store.problems(contents=False))
    return StoredSource(
        table, name or str(store.path), experiment, tuple(conditions), damage, store=store, every=every, ranks=ranks
    )
