"""Opened DATA: a store, a ``.csv``, a ``.parquet``, or a table in memory, with one interface."""

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.where import parse_where
from iosonde.foreign.reach import check_reachable

from . import tables
from .abstract_source import Conditions, Source
from .stored_source import StoredSource, open_campaign
from .table_source import TableSource, filter_table_source

__all__ = ["Source", "StoredSource", "TableSource", "narrow_source", "open_data", "separate_last_experiment"]


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
        return open_campaign(Store.open(path), conditions, experiment, ranks)
    if isinstance(data, Store):
        return open_campaign(data, conditions, experiment, ranks)
    table = tables.table_from_memory(data)
    return filter_table_source(table, table.source or "the table", conditions)


def _open_file(path: Path, name: str, conditions: Conditions) -> TableSource:
    if not path.exists():
        raise InputError("no-such-file", "{path} does not exist", "use a store, a .csv or a .parquet file", path=name)
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError(
            "not-a-regular-file",
            "{path} is a pipe or a device, not a file",
            "write the table to a file first",
            path=name,
        )
    return filter_table_source(tables.read_file(path), name, conditions)


def narrow_source(source: Source, where: Sequence[str] = (), experiment: str | None = None) -> Source:
    """Return the source with further conditions, of one experiment. Raises InputError, DataError."""
    return source.narrow(parse_where(where), experiment)


def separate_last_experiment(source: Source, cells: Sequence[str] = (), alike: bool = False) -> tuple[Source, str]:
    """Return only the last experiment, with a note, if several would share a cell (``Source.separate_last``)."""
    return source.separate_last(cells, alike)
