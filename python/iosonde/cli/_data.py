"""DATA of every analysis command → Table: a store, a ``.csv`` or a ``.parquet``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from iosonde.core.errors import DataError, InputError

from ._output import talk

if TYPE_CHECKING:
    from iosonde.stats.percentiles import TrialPercentiles
    from iosonde.stats.table import Table
    from iosonde.store import Store

_MANY_ROWS = 100_000  # more may take seconds
_LARGE_BYTES = 16 * 2**20
_F = TypeVar("_F", bound=Callable[..., Any])


def options(command: _F) -> _F:
    """The options that every analysis command has: ``--where``, ``--level``, ``--json``."""
    command = click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")(command)
    command = click.option(
        "--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval."
    )(command)
    return click.option(
        "--where",
        multiple=True,
        metavar="COND",
        help="Only rows where it holds, as 'fs=nfs' or 'nodes>=2'. Repeatable.",
    )(command)


def tell(what: str, table: Table) -> None:
    """Say on stderr what begins, where it may take a while."""
    if len(table) >= _MANY_ROWS:
        talk(f"{what} of {len(table)} rows by {len(table.columns)} columns …")


def split_names(text: str | None) -> list[str]:
    """``a, b`` → ["a", "b"]; a name that holds a comma cannot be given."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def check_level(level: float) -> float:
    """The confidence level; one below 0.9 is used and warned about on stderr."""
    from iosonde.stats.distributions import check_level as check

    check(level)
    if level < 0.9:
        click.echo(
            f"warning: at level {level:g} one interval in {1 / (1 - level):.2g} misses; 0.9 or more is usual", err=True
        )
    return level


@dataclass(frozen=True)
class Source:
    """DATA, opened: the rows, and for a store the store itself."""

    table: Table
    store: Store | None = None
    experiment: str | None = None
    where: tuple[Any, ...] = ()

    def trials(self, response: str | None = None, named: Sequence[str] = ()) -> Table:
        """The rows that are trials: of a store those of the whole run, in the order they were made.

        A store's ``value`` is of many operations and metrics; where ``response`` names it, the columns
        ``named`` or --where must tell them apart. Raises InputError.
        """
        if self.store is None:
            return self.table
        from iosonde.stats import overview

        table, _ = overview.trials(self.table, "all")
        if len(self.table) and not len(table):
            raise InputError(
                "all rows that are left are of single ranks, which are parts of a trial and no trials",
                "add rank to --by",
            )
        if response == "value" and len(table):
            _refuse_many_kinds(table, [name for name in ("operation", "metric") if name not in named])
        return table

    def factor_units(self) -> dict[str, str]:
        """Factor → base unit, of a store's experiments; a table's columns say it themselves."""
        if self.store is None:
            return {}
        return {factor.name: factor.unit for one in self.store.experiments() for factor in one.factors}

    def runs(self) -> list[dict[str, Any]]:
        """The run.json of every run that fulfils the conditions (incomplete ones too), the oldest first."""
        return [] if self.store is None else self.store.runs(experiment=self.experiment, where=_of_runs(self))

    def latencies(self, level: float) -> dict[str, list[TrialPercentiles]]:
        """Percentiles of each complete run's operations by run id; one run in memory at a time."""
        if self.store is None:
            return {}
        shown = set(self.table.columns["run"].values) if "run" in self.table.columns else set()
        found = {}
        for run in self.runs():
            if run["id"] in shown:
                found[run["id"]] = _percentiles(self.store, run, level)
        return found


def _refuse_many_kinds(table: Table, columns: Sequence[str]) -> None:
    """Raises InputError where a store's values are of several operations or metrics, with a choice to make."""
    kinds = [key for key, _ in table.groups(columns)]
    kinds.sort(key=lambda key: not any(str(part).endswith("_last_done") for part in key))
    if len(kinds) > 1:
        choice = " ".join(f"--where '{name}={value}'" for name, value in zip(columns, kinds[0], strict=True))
        raise InputError(f"the values are of {len(kinds)} operations and metrics", f"choose one, as {choice}")


def open_data(data: str, where: Sequence[str] = (), experiment: str | None = None) -> Source:
    """DATA as a table with the conditions applied. Raises InputError, DataError."""
    from iosonde.core.where import parse_where

    path, conditions = Path(data), tuple(parse_where(where))
    if not path.exists():
        raise InputError(f"{data} does not exist", "give a store, a .csv or a .parquet file")
    if path.is_dir():
        return _open_store(data, conditions, experiment)
    if not path.is_file():
        raise InputError(f"{data} is a pipe or a device and not a file", "write the table to a file first")
    suffix = path.suffix.lower()
    if path.stat().st_size >= _LARGE_BYTES:
        talk(f"reading {data}, {path.stat().st_size / 2**20:.0f} MiB …")
    if suffix in (".csv", ".tsv", ".txt"):
        from ._csv import read_csv

        return Source(_filtered(read_csv(path), conditions))
    if suffix in (".parquet", ".pq"):
        from iosonde.store.foreign import read_parquet

        return Source(_filtered(of_arrow(read_parquet(path), data), conditions))
    raise InputError(f"{data} is neither a store nor a .csv nor a .parquet file", "rename or convert it")


def of_arrow(table: Any, source: str = "") -> Table:
    """A pyarrow.Table as a Table. A NaN that is not null is kept as text, so that nothing computes with it
    unseen."""
    import numpy as np

    from iosonde.stats.column_units import split_unit
    from iosonde.stats.table import Column, Table, column_of

    columns = {}
    for name in table.column_names:
        label, unit = split_unit(name)
        column, kind = table.column(name), str(table.schema.field(name).type)
        if kind.startswith(("int", "uint", "float", "double", "half", "decimal")):
            values = column.cast("float64", safe=False).to_numpy()
            absent = np.asarray(column.is_null())
            if np.isfinite(values[~absent]).all() and not absent.all():
                columns[name] = Column(name, values, label, unit)
                continue
        cells = [
            None if cell is None else str(cell) if isinstance(cell, float) else cell for cell in column.to_pylist()
        ]
        columns[name] = column_of(name, cells, label, unit)
    return Table(columns, source)


def _open_store(data: str, conditions: tuple[Any, ...], experiment: str | None) -> Source:
    from iosonde.store import Store

    store = Store.open(data)
    results = of_arrow(store.results(experiment=experiment, where=conditions), data)
    for problem in store.problems(contents=False):
        talk(f"warning: {problem.sentence}")
    return Source(results, store, experiment, conditions)


def _of_runs(source: Source) -> list[Any]:
    """The conditions that are about runs; those on columns of results (operation, metric) choose rows only."""
    from iosonde.core.schema import RESULT_COLUMNS

    return [condition for condition in source.where if condition[0] not in RESULT_COLUMNS]


def _percentiles(store: Store, run: Mapping[str, Any], level: float) -> list[TrialPercentiles]:
    from iosonde import _native
    from iosonde.stats import percentiles

    phases = run.get("phases") or []
    exact = {p["index"]: str(p.get("operation") or p["name"]) for p in phases if p.get("recorded_all", True)}
    found: list[TrialPercentiles] = []
    if exact:
        found += percentiles.of_trial(store.operations(run["id"]), exact, _native.KINDS, level)
    edges = None
    for phase in phases:
        if phase["index"] in exact:
            continue
        edges = _native.bucket_edges_ns() if edges is None else edges
        for kind, pairs in (phase.get("histograms") or {}).items():
            name = str(phase.get("operation") or phase["name"])
            found.append(percentiles.of_buckets(name, kind, edges, pairs, level))
    return found


def _filtered(table: Table, conditions: Sequence[Any]) -> Table:
    import numpy as np

    from iosonde.core.where import matching_rows

    if not conditions:
        return table
    resolved = [(table.column(column).name, op, value) for column, op, value in conditions]
    cells = {name: _cells(table, name) for name in {column for column, _, _ in resolved}}
    kept = table.take(np.array(matching_rows(cells, resolved), dtype=np.intp))
    if len(kept) == 0:
        said = " and ".join(f"{column}{op}{value}" for column, op, value in conditions)
        raise DataError(f"{table.source}: no row fulfils {said}", "look at the values of these columns")
    return kept


def _cells(table: Table, name: str) -> list[Any]:
    from iosonde.stats.table import tidy

    column = table.column(name)
    if not column.numeric:
        return list(column.values)
    return [None if value != value else tidy(value) for value in column.values]
