"""Columns of exported results beside those of the store: the commit of the run, and which numbers are headlines."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.stored import StoredRun
from iosonde.data.factors import collect_declared
from iosonde.data.profile import assign_roles
from iosonde.data.query import MetricChoice
from iosonde.data.source import Source
from iosonde.store import arrays
from iosonde.store.row_columns import add_row_settings

if TYPE_CHECKING:
    import pyarrow as pa

COMMIT, HEADLINE = "commit", "headline"
_KEYS = ("run", "operation", "metric")


def add_export_columns(results: "pa.Table", source: Source, runs: Sequence[StoredRun]) -> "pa.Table":
    """Return the results with the settings of their rows, the commit of each run, and whether ``summary`` shows the
    number: of the several bandwidths of one complete trial (last_done, min, max, mean) one is a headline."""
    results = add_row_settings(results, runs)
    commits = {run.id: run.subject_commit or None for run in runs}
    headlines = _list_headlines(source)
    keys = list(zip(*(results[name].to_pylist() for name in (*_KEYS, "rank")), strict=True))
    columns = {
        COMMIT: arrays.string([commits.get(run) for run, *_ in keys]),
        HEADLINE: arrays.boolean([rank is None and tuple(key) in headlines for *key, rank in keys]),
    }
    for name, column in columns.items():
        results = results if name in results.column_names else results.append_column(name, column)
    return results


def describe_roles(source: Source) -> dict[bytes, str]:
    """Return the metadata of a table of exported results. Raises InputError, DataError."""
    varying = source.varying_factors
    roles = assign_roles(source.table, varying, collect_declared(source.runs, source.experiments)).by_column
    units = {factor.name: factor.unit for factor in (*varying.factors, *varying.twins)}
    columns = {name: {"role": str(role), "unit": units.get(name, "")} for name, role in roles.items()}
    added = {name: {"role": "fact", "unit": ""} for name in (COMMIT, HEADLINE)}
    return {arrays.PROFILE_KEY: json.dumps({"columns": added | columns})}


def _list_headlines(source: Source) -> set[tuple[object, ...]]:
    """Return (run, operation, metric) of the numbers that are shown."""
    if not len(source.table):
        return set()
    rows = source.trials(MetricChoice()).rows
    return set(zip(*(map(str, rows.columns[name].values) for name in _KEYS), strict=True))
