"""Read the results of a store as a table, with the facts of runs that can be queried like factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.schema import ROW_COLUMNS
from iosonde.core.stored import PLACES, StoredRun
from iosonde.core.table import Table
from iosonde.core.where import has_incomplete_condition

from . import experiments, stored, tables
from .abstract_source import Conditions
from .bindings import bind_table, find_bindings
from .row_settings import apply_row_settings, select_runs, split_conditions
from .single_process import name_single_processes

if TYPE_CHECKING:
    from iosonde.store import Store


def read_results(store: Store, conditions: Conditions, experiment: str | None, ranks: bool) -> Table:
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


def read_runs(store: Store, conditions: Conditions, experiment: str | None) -> tuple[StoredRun, ...]:
    """Return the runs that fulfil the conditions; those on columns of results (operation, metric) only select rows."""
    on_runs = [condition for condition in conditions if condition[0] not in (*ROW_COLUMNS, *PLACES)]
    every = [StoredRun(document) for document in store.runs(experiment=experiment)]
    of_store, of_rows = split_conditions(on_runs, every)
    is_requested = has_incomplete_condition(conditions)
    runs = [StoredRun(document, is_requested) for document in store.runs(experiment=experiment, where=of_store)]
    return tuple(select_runs(runs, of_rows))
