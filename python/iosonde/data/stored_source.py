"""A stored campaign as a Source: its runs, experiments and factors are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from iosonde.core.data_profile import Profile
from iosonde.core.errors import InputError
from iosonde.core.schema import ROW_COLUMNS
from iosonde.core.stored import PLACES, StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Experiment
from iosonde.core.where import has_incomplete_condition

from . import experiments, factors, stored, tables
from .bindings import bind_table, find_bindings
from .choice import Foreign, classify_rows
from .profile import profile_campaign
from .query import EVERY, LAST_DONE, MetricChoice
from .response import factor_from_column
from .row_settings import apply_row_settings, select_runs, split_conditions
from .single_process import name_single_processes
from .table_source import Conditions, Source

if TYPE_CHECKING:
    from iosonde.store import Store


@dataclass(frozen=True, repr=False)
class StoredSource(Source):
    """Results of a store. ``every``: all experiments were requested. ``ranks``: include the single ranks of runs with
    very many."""

    knows_factors: ClassVar[bool] = True

    store: Store = field(kw_only=True)
    every: bool = False
    ranks: bool = True
    _trials_by_choice: dict[MetricChoice, stored.Trials] = field(default_factory=dict, init=False, compare=False)
    _foreign_by_clock: dict[str, Foreign] = field(default_factory=dict, init=False, compare=False)

    def __repr__(self) -> str:
        """Return the origin and the amount of data."""
        return f"{self.name}: {len(self.runs)} runs, {len(self.table)} results"

    # Runs and experiments

    @cached_property
    def runs(self) -> tuple[StoredRun, ...]:
        """Runs that fulfil the conditions, oldest first, including incomplete ones."""
        return _read_runs(self.store, self.where, self.experiment)

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        """Experiments of these runs, oldest first."""
        ids = {run.experiment for run in self.runs}
        return tuple(experiment for experiment in self.store.experiments() if experiment.id in ids)

    # Factors and cells

    @cached_property
    def varying_factors(self) -> factors.VaryingFactors:
        """Factors that vary over the complete runs, and the experiment if several would share a cell."""
        # A run with only rows of single ranks, such as a probe, is not a trial, and its factors do not distinguish any.
        rows = self.trial_rows if len(self.trial_rows) else self.table
        run_ids = set(rows.columns["run"].values)
        varying = factors.find_factors(rows, [run for run in self.runs if run.id in run_ids], self.experiments)
        if not experiments.has_mixed_cells(rows, varying.names):
            return varying
        experiment = rows.columns[experiments.EXPERIMENT]
        return replace(varying, factors=(*varying.factors, factor_from_column(experiment)))

    @cached_property
    def profile(self) -> Profile:
        """What the columns are, as the experiments and importers declare them. Raises InputError."""
        declared = factors.collect_declared(self.runs, self.experiments)
        return profile_campaign(self.run_rows, self.trials(MetricChoice()).rows, self.varying_factors, declared)

    def apart(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the columns (or terms) that form cells, and the experiment if several would share one."""
        shared = bool(cells) and experiments.has_mixed_cells(self.table, cells)
        return (*cells, experiments.EXPERIMENT) if shared else tuple(cells)

    def units(self) -> dict[str, str]:
        """Return factor → unit of its levels, if any: sizes in bytes, and units that experiments declare."""
        sizes = {name: unit for name, unit in self.table.level_units().items() if unit == "bytes"}
        return sizes | stored.map_declared_units(self.experiments)

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

    @cached_property
    def foreign(self) -> frozenset[str]:
        """Operations that another tool measured."""
        operations = self.run_rows.columns["operation"].values
        return frozenset(map(str, operations[self._classify_rows("").rows]))

    def _classify_rows(self, clock: str) -> Foreign:
        key = "" if clock == LAST_DONE or "," in clock else clock
        if key not in self._foreign_by_clock:
            self._foreign_by_clock[key] = classify_rows(self.run_rows, self.runs, key)
        return self._foreign_by_clock[key]

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

    def separate_last(self, cells: Sequence[str] = (), alike: bool = False) -> tuple[Source, str]:
        """Return only the last experiment, with a note, if none was chosen and several would share a cell."""
        ids = experiments.list_measured_experiments(self.runs)
        if self.every or self.experiment is not None or len(ids) < 2:
            return self, ""
        names = self.apart(cells) or self.varying_factors.names
        shared = experiments.EXPERIMENT in names and experiments.EXPERIMENT not in cells
        columns = self.trial_rows.columns
        other = not shared and alike and any(columns[name].missing.any() for name in names if name in columns)
        if not shared and not other:
            return self, ""
        note = experiments.build_choice_note(ids, ids[-1], ", as the others have other factors" if other else "")
        return self.narrow((), ids[-1]), note


def open_campaign(
    store: Store, conditions: Conditions, word: str | None, ranks: bool = True, name: str = ""
) -> StoredSource:
    """Open the results of a store that fulfil the conditions, of the experiment ``word``; ``name`` instead of its path.
    Raises InputError, DataError."""
    experiment = experiments.resolve_experiment(store, word)
    every = experiment is None and word == experiments.ALL
    conditions = experiments.replace_titles_by_ids(conditions, experiments.build_titles(store.experiments()))
    table = _read_results(store, conditions, experiment, ranks)
    return StoredSource(
        table,
        name or str(store.path),
        experiment,
        tuple(conditions),
        tuple(store.problems(contents=False)),
        store=store,
        every=every,
        ranks=ranks,
    )


def _read_results(store: Store, conditions: Conditions, experiment: str | None, ranks: bool) -> Table:
    """Return the results that fulfil the conditions, of one ``experiment`` or all; without ``ranks`` the single ranks
    of runs with very many are dropped. Raises InputError, DataError."""
    runs = [StoredRun(document) for document in store.runs(experiment=experiment)]
    declared = {name for run in runs for name in run.factors}
    of_places = [condition for condition in conditions if condition[0] in PLACES and condition[0] not in declared]
    of_store = [condition for condition in conditions if condition not in of_places]
    of_store, of_rows = split_conditions(of_store, runs)
    results = store.results(experiment=experiment, where=of_store, ranks=ranks)
    table = apply_row_settings(tables.table_from_arrow(results, str(store.path)), runs)
    table = stored.add_place_columns(table, runs, always=[column for column, _, _ in of_places])
    saved = store.experiments()
    table = bind_table(table, find_bindings(runs, saved))
    (table,) = name_single_processes([table], [runs])
    table = experiments.replace_ids_by_titles(
        stored.apply_declarations(table, saved, runs), experiments.build_titles(saved)
    )
    return tables.filter_rows(table, [*of_places, *of_rows])


def _read_runs(store: Store, conditions: Conditions, experiment: str | None) -> tuple[StoredRun, ...]:
    """Return the runs that fulfil the conditions; those on columns of results (operation, metric) only select rows."""
    on_runs = [condition for condition in conditions if condition[0] not in (*ROW_COLUMNS, *PLACES)]
    every = [StoredRun(document) for document in store.runs(experiment=experiment)]
    of_store, of_rows = split_conditions(on_runs, every)
    documents = store.runs(experiment=experiment, where=of_store)
    is_requested = has_incomplete_condition(conditions)
    return tuple(select_runs([StoredRun(document, is_requested) for document in documents], of_rows))
