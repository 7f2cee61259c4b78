"""Systems of a corpus: the runs of each, covariates that several share, the year of each run, and the user's
own runs."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun
from iosonde.core.table import Column, Table
from iosonde.core.where import parse_where
from iosonde.data.source import Source, open_data

YEAR = "year"
_SYSTEM = (("institution", "system"), ("site", "system"), ("system",), ("institution",), ("site",))
_PER = ("nodes", "ranks")
_LEAST = 3  # systems that share a level
_MANY = 10  # systems from which a store is shown as a corpus by default
_REPEATED = 3  # runs per system, at most, for half of them


def split_off_own_runs(source: Source, mine: str) -> tuple[Source, Source | None]:
    """Return (the corpus, the user's own runs). Raises InputError, DataError."""
    if not mine:
        return source, None
    if Path(mine).is_dir():
        return source, open_data(mine, (), None, ranks=False)
    own = source.narrow(parse_where([mine]), None)
    if own is source or not own.runs:
        raise InputError(
            "not-a-store",
            "{spell.mine:{mine}} is neither a store nor a condition that selects a run of {name}",
            "write a store, or a condition such as submission=mine",
            mine=mine,
            name=source.name,
        )
    ids = {run.id for run in own.runs}
    mask = np.array([str(run) not in ids for run in source.table.columns["run"].values], dtype=bool)
    if not mask.any():
        raise DataError("no-other-runs", "no run remains besides your own", "a corpus needs results of others")
    return replace(source, table=source.table.take(mask)), own


def choose_system_columns(rows: Table, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that identify a system: ``columns``, else institution and system. Raises InputError."""
    if columns:
        return tuple(rows.column(name).name for name in columns)
    for names in _SYSTEM:
        if all(name in rows.columns for name in names):
            return names
    raise InputError(
        "missing-option",
        "no column identifies the system of a run",
        "name the columns, such as {spell.cluster} institution,system; the factors of an import come from "
        "paths where {spell.factors_from} says so",
    )


def has_many_systems(runs: Sequence[StoredRun]) -> bool:
    """Return whether these are results of many systems, not a campaign: imported runs with their system, few
    of each."""
    runs = [run for run in runs if run.counts]
    if len(runs) < _MANY or any("import" not in run.facts for run in runs):
        return False
    for names in (candidate for candidate in _SYSTEM if "system" in candidate):
        keys = [tuple(run.factors.get(name) for name in names) for run in runs]
        if not any(None in key for key in keys):
            sizes = sorted(Counter(keys).values())
            return len(sizes) >= _MANY and sizes[len(sizes) // 2] <= _REPEATED
    return False


def choose_per_unit(rows: Table, column: str | None) -> str:
    """Return the unit that rates are per: nodes or ranks, the first known one, or ''. Raises DataError."""
    if column is None:
        return next((name for name in _PER if name in rows.columns and rows.columns[name].numeric), "")
    if not column or column == "none":
        return ""
    rows.numbers(column)  # raises if it is not a number
    return rows.column(column).name


def list_covariates(source: Source, rows: Table, clusters: Sequence[str]) -> tuple[str, ...]:
    """Return the known factors that are numbers, or whose levels several systems share. A year is used only
    on request."""
    names = []
    for name in source.varying_factors.names:
        if name in clusters or name == YEAR or name not in rows.columns:
            continue
        column = rows.columns[name]
        codes, levels = column.codes()
        here = ~column.missing
        systems = [len(rows.take((codes == place) & here).groups(clusters)) for place in range(len(levels))]
        if column.numeric and len(levels) > 1 and sum(systems) >= 2 * _LEAST or sum(n >= _LEAST for n in systems) > 1:
            names.append(name)
    return tuple(names)


def add_year_column(rows: Table, source: Source) -> Table:
    """Add the year of each run's date as the column ``year``; a column from a path is kept only if it is a number."""
    if YEAR in rows.columns and rows.columns[YEAR].numeric:
        return rows
    by_run = {run.id: _parse_year(str(run.facts.get("date") or run.started_at or "")) for run in source.runs}
    values = np.array([by_run.get(str(run), np.nan) for run in rows.columns["run"].values], dtype=float)
    if np.isnan(values).all():
        return rows
    return replace(rows, columns={**rows.columns, YEAR: Column(YEAR, values, YEAR, "")})


def _parse_year(date: str) -> float:
    match = re.match(r"(19|20)\d\d(?=-)", date)
    return float(match[0]) if match else np.nan


def find_year_range(rows: Table) -> tuple[int, int] | None:
    """Return the first and the last year of these rows."""
    if YEAR not in rows.columns or not rows.columns[YEAR].numeric:
        return None
    values = rows.columns[YEAR].values.astype(float)
    years = values[np.isfinite(values)]
    return (int(years.min()), int(years.max())) if len(years) else None
