"""Opened DATA: a store, a ``.csv``, a ``.parquet``, or a table in memory, with one interface."""

from __future__ import annotations

import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import InputError
from iosonde.core.hardware import SOURCE as PROBE_SOURCE
from iosonde.core.message import Message
from iosonde.core.schema import ROW_COLUMNS
from iosonde.core.stored import PLACES, StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Experiment, Finding
from iosonde.core.where import COMPLETE, parse_where, takes_incomplete
from iosonde.foreign.reach import check_reachable

from . import experiments, factors, headlines, stored, tables
from .query import EVERY, LAST_DONE, MetricChoice

if TYPE_CHECKING:
    from iosonde.store import Store

Conditions = Sequence[tuple[str, str, Any]]


@dataclass(frozen=True, repr=False)
class Source:
    """DATA with its conditions applied. ``table`` has every remaining row; for a store also those of single ranks.

    ``store`` is None for a table. ``experiment`` is the id of the only one; ``every``: all of them were requested.
    ``damage`` are the store's findings about its files. ``ranks``: include the single ranks of runs with very many.
    """

    table: Table
    name: str = ""
    store: Store | None = None
    experiment: str | None = None
    where: tuple[tuple[str, str, Any], ...] = ()
    damage: tuple[Finding, ...] = ()
    every: bool = False
    ranks: bool = True

    @property
    def problems(self) -> tuple[str, ...]:
        """Damages, as sentences."""
        return tuple(finding.sentence for finding in self.damage)

    def __repr__(self) -> str:
        """Return the origin and the amount of data."""
        rows = f"{self.name}: {len(self.table)} rows of {', '.join(self.table.names)}"
        return rows if self.store is None else f"{self.name}: {len(self.runs)} runs, {len(self.table)} results"

    @cached_property
    def runs(self) -> tuple[StoredRun, ...]:
        """Runs that fulfil the conditions, oldest first, including incomplete ones. Empty for a table."""
        if self.store is None:
            return ()
        return tuple(
            StoredRun(document, takes_incomplete(self.where))
            for document in self.store.runs(experiment=self.experiment, where=_select_run_conditions(self.where))
        )

    @property
    def trial_runs(self) -> tuple[StoredRun, ...]:
        """Runs without the repetitions of probes, which are not trials."""
        return tuple(run for run in self.runs if run.source != PROBE_SOURCE)

    @property
    def probes(self) -> tuple[StoredRun, ...]:
        """Repetitions of all probes in the store, in any experiment."""
        runs = [] if self.store is None else map(StoredRun, self.store.runs())
        return tuple(run for run in runs if run.source == PROBE_SOURCE)

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        """Experiments of these runs, oldest first."""
        if self.store is None:
            return ()
        ids = {run.experiment for run in self.runs}
        return tuple(experiment for experiment in self.store.experiments() if experiment.id in ids)

    @cached_property
    def varying_factors(self) -> factors.VaryingFactors:
        """Factors of a store that vary over its complete runs, and the experiment if several would share a cell. Empty
        for a table, whose user names them."""
        if self.store is None:
            return factors.VaryingFactors((), {})
        # A run with only rows of single ranks, such as a probe, is not a trial, and its factors do not distinguish any.
        run_rows = self.table.take(stored.mask_run_rows(self.table))
        rows = run_rows if len(run_rows) else self.table
        run_ids = set(rows.columns["run"].values) if "run" in rows.columns else set()
        varying = factors.find_factors(rows, [run for run in self.runs if run.id in run_ids], self.experiments)
        return varying.with_column(rows, experiments.EXPERIMENT) if experiments.mixed(rows, varying.names) else varying

    def apart(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the columns (or terms) that form cells, and the experiment if several would share one."""
        apart = self.store is None or not cells or not experiments.mixed(self.table, cells)
        return tuple(cells) if apart else (*cells, experiments.EXPERIMENT)

    def trials(self, choice: MetricChoice = EVERY) -> stored.Trials:
        """Return one row per trial; for a store per trial, operation and metric of the choice, by time.

        Raises InputError if only rows of single ranks remain, DataError for an unknown clock or metric.
        """
        if self.store is None:
            return stored.Trials(self.table, np.arange(len(self.table)), self.table.warnings)
        if choice not in self._trials_by_choice:
            trials = stored.trials(self.run_rows, choice, self._classify_rows(choice.clock))
            notes = self.describe_concurrency(set(trials.rows.columns["run"].values))
            self._trials_by_choice[choice] = replace(trials, warnings=(*trials.warnings, *notes))
        return self._trials_by_choice[choice]

    def describe_concurrency(self, ids: Collection[str]) -> list[str]:
        """Return a sentence with the number of these runs that were measured concurrently with others on the same
        machine."""
        count = sum(bool(run.concurrent_pids) for run in self.runs if run.id in ids)
        if not count:
            return []
        template = "{n_concurrent} of {n_runs} runs were measured concurrently with another measurement [S132]"
        return [Message("concurrent-measurements", template, n_concurrent=count, n_runs=len(ids))]

    def iterations(self, choice: MetricChoice) -> Table:
        """Return the rows of ``trials`` of a store, with a row for each of a tool's own iterations."""
        return stored.iterations(self.run_rows, choice, self._classify_rows(choice.clock))

    @cached_property
    def foreign(self) -> frozenset[str]:
        """Operations of a store that another tool measured."""
        if self.store is None:
            return frozenset()
        rows = self.run_rows.take(self._classify_rows("").rows)
        return frozenset(str(value) for value in rows.columns["operation"].values) if len(rows) else frozenset()

    def _classify_rows(self, clock: str) -> headlines.Foreign:
        key = "" if clock == LAST_DONE or "," in clock else clock
        if key not in self._foreign_by_clock:
            self._foreign_by_clock[key] = headlines.classify_rows(self.run_rows, self.runs, key)
        return self._foreign_by_clock[key]

    @cached_property
    def run_rows(self) -> Table:
        """Rows of whole runs, with a tool's own iterations. Raises InputError if only single ranks remain."""
        rows = self.table.take(stored.mask_run_rows(self.table)) if self.store is not None else self.table
        if len(self.table) and not len(rows):
            raise InputError(
                "no-trials",
                "all remaining rows are of single ranks, which are parts of a trial, not trials",
                "iosonde show {name} --export csv writes them as a table with a column rank",
                name=self.name,
            )
        return rows

    @cached_property
    def _trials_by_choice(self) -> dict[MetricChoice, stored.Trials]:
        return {}

    @cached_property
    def _foreign_by_clock(self) -> dict[str, headlines.Foreign]:
        return {}

    def units(self) -> dict[str, str]:
        """Return factor → unit of its levels, if any: from the experiments, or a column."""
        units = self.table.level_units()
        if self.store is None:
            return units
        declared = {
            factor.name: factor.unit for experiment in self.experiments for factor in experiment.factors if factor.unit
        }
        return {name: unit for name, unit in units.items() if unit == "bytes"} | declared


def open_data(data: Any, where: Sequence[str] = (), experiment: str | None = None, ranks: bool = True) -> Source:
    """Open DATA (also an open Store) with the conditions applied; without ``ranks`` the single ranks of runs with very
    many are dropped (``Store.results``). Raises InputError, DataError."""
    conditions = tuple(parse_where(where))
    path = Path(data) if isinstance(data, (str, Path)) else None
    if path is not None:
        check_reachable(path)
    if path is not None and not path.is_dir():
        return _open_file(path, str(data), conditions)
    from iosonde.store import Store  # not needed for a table

    if path is not None:
        return _open_store(Store.open(path), conditions, experiment, ranks)
    if isinstance(data, Store):
        return _open_store(data, conditions, experiment, ranks)
    table = tables.table_from_memory(data)
    return Source(_filter_rows(table, conditions), table.source or "the table", where=conditions)


def _open_file(path: Path, name: str, conditions: Conditions) -> Source:
    if not path.exists():
        raise InputError("no-such-file", "{path} does not exist", "use a store, a .csv or a .parquet file", path=name)
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError(
            "not-a-regular-file",
            "{path} is a pipe or a device, not a file",
            "write the table to a file first",
            path=name,
        )
    return Source(_filter_rows(tables.read_file(path), conditions), name, where=tuple(conditions))


def _filter_rows(table: Table, conditions: Sequence[tuple[str, str, Any]]) -> Table:
    """Return a table's rows that fulfil the conditions. Raises InputError."""
    if takes_incomplete(conditions) and COMPLETE not in table.columns:
        raise InputError(
            "not-a-store", "only a store has incomplete runs, but this is a table", "omit {spell.incomplete}"
        )
    return tables.filtered(table, conditions)


def narrowed(source: Source, where: Sequence[str] = (), experiment: str | None = None) -> Source:
    """Return the source with further conditions. Raises InputError, DataError."""
    word = experiment
    if source.store is not None:
        experiment = experiments.resolve_experiment(source.store, word)
    every = source.every or word == experiments.ALL
    if not where and experiment in (None, source.experiment):
        return replace(source, every=every)
    conditions = (*source.where, *parse_where(where))
    if source.store is None:
        return replace(source, table=tables.filtered(source.table, conditions), where=conditions)
    if source.experiment not in (None, experiment) and experiment is not None:
        raise InputError(
            "experiment-mismatch",
            "{name} was opened for experiment {experiment}, not {requested_experiment}",
            "open it again",
            name=source.name,
            experiment=source.experiment,
            requested_experiment=experiment,
        )
    return replace(
        _open_store(source.store, conditions, experiment or source.experiment, source.ranks),
        name=source.name,
        every=every,
    )


def by_itself(source: Source, cells: Sequence[str] = (), alike: bool = False) -> tuple[Source, str]:
    """Return only the last experiment of a store, with a note, if none was chosen and several would share a cell.

    ``cells``: the columns that form them, or terms over them; by default the known factors. ``alike``: also if the
    experiments differ in their factors, for an analysis that needs the same ones.
    """
    if source.store is None or source.every or source.experiment is not None:
        return source, ""
    ids = experiments.measured(source.runs)
    shared = len(ids) > 1 and _has_shared_cells(source, cells)
    other = len(ids) > 1 and not shared and alike and _has_missing_cells(source, cells or source.varying_factors.names)
    if not shared and not other:
        return source, ""
    why = ", as the others have other factors" if other else ""
    return narrowed(source, (), ids[-1]), experiments.note(ids, ids[-1], why)


def _has_shared_cells(source: Source, cells: Sequence[str]) -> bool:
    """Return whether several experiments share a cell."""
    return experiments.mixed(source.table, cells) if cells else experiments.EXPERIMENT in source.varying_factors.names


def _has_missing_cells(source: Source, names: Sequence[str]) -> bool:
    """Return whether some trials have no value in one of these columns."""
    rows = source.table.take(stored.mask_run_rows(source.table))
    return any(rows.columns[name].missing.any() for name in names if name in rows.columns)


def _open_store(store: Store, conditions: Conditions, word: str | None, ranks: bool = True) -> Source:
    data, experiment = str(store.path), experiments.resolve_experiment(store, word)
    called = experiments.titles(store.experiments())
    conditions = experiments.with_ids(conditions, called)
    # File system and target are facts of runs, and can be queried like factors.
    runs = [StoredRun(document) for document in store.runs(experiment=experiment)]
    declared = {name for run in runs for name in run.factors}
    ours = [condition for condition in conditions if condition[0] in PLACES and condition[0] not in declared]
    store_conditions = [condition for condition in conditions if condition not in ours]
    results = tables.table_from_arrow(store.results(experiment=experiment, where=store_conditions, ranks=ranks), data)
    table = stored.with_places(results, runs, always=[column for column, _, _ in ours])
    table = experiments.entitled(stored.as_declared(table, store.experiments(), runs), called)
    damage = tuple(store.problems(contents=False))
    every = experiment is None and word == experiments.ALL
    return Source(tables.filtered(table, ours), data, store, experiment, tuple(conditions), damage, every, ranks)


def _select_run_conditions(where: Conditions) -> list[tuple[str, str, Any]]:
    """Return the conditions on runs; those on columns of results (operation, metric) only select rows."""
    return [condition for condition in where if condition[0] not in (*ROW_COLUMNS, *PLACES)]


def label_of(column: str) -> str:
    """Return the name of a column without its unit."""
    return split_unit(column)[0]
