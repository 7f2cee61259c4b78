"""Read the results of a store as a table, with the facts of runs that can be queried like factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.core.schema import ROW_COLUMNS
from iosonde.core.stored import PLACES, StoredRun
from iosonde.core.table import Table

from . import experiments, stored, tables
from .abstract_source import Conditions
from .bindings import bind_table, find_bindings
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
    results = store.results(experiment=experiment, where=of_store, ranks=ranks)
    table = tables.table_from_arrow(results, str(store.path))
    table = stored.add_place_columns(table, runs, always=[column for column, _, _ in of_places])
    saved = store.experiments()
    table = bind_table(table, find_bindings(runs, saved))
    (table,) = name_single_processes([table], [runs])
    table = experiments.replace_ids_by_titles(
        stored.apply_declarations(table, saved, runs), experiments.build_titles(saved)
    )
    return tables.filter_rows(table, of_places)


def select_run_conditions(conditions: Conditions) -> list[tuple[str, str, Any]]:
    """Return the conditions on runs; those on columns of results (operation, metric) only select rows."""
    return [condition for condition in conditions if condition[0] not in (*ROW_COLUMNS, *PLACES)]
