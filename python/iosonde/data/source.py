"""Opened DATA: a store, a table in a file or in memory, or a tool's output, with one interface."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.where import parse_where
from iosonde.foreign.reach import check_reachable
from iosonde.tables.content import JSON_SUFFIXES, TABLE_SUFFIXES, TEXT_SUFFIXES, get_suffix, is_pipe

from . import tables
from .stored_source import StoredSource, open_campaign
from .table_source import Source

if TYPE_CHECKING:
    from iosonde.store import Store

__all__ = [
    "Source",
    "StoredSource",
    "find_store",
    "is_table",
    "open_data",
]

_TOOL_HEADERS = (
    b"ISO date,label,path type,",  # elbencho
    b"Label,Phase,RuntimeMS,",  # elbencho, live
    b"access,rank,runtime-with-openclose,",  # IOR, each rank
    b"access,bw(MiB/s),",  # IOR
    b"rank,items,rate-",  # mdtest, each rank
    b"Stage,Op-",  # COSBench, a workload
    b"Timestamp,Op-Count,",  # COSBench, a stage
)
_names: dict[str, str] = {}  # path of a store → the tool's file that was read into it


def open_data(data: Any, where: Sequence[str] = (), experiment: str | None = None, ranks: bool = True) -> Source:
    """Open DATA (also an open Store) with the conditions applied; without ``ranks`` the single ranks of runs with very
    many are dropped (``Store.results``). Raises InputError, DataError."""
    conditions = tuple(parse_where(where))
    if isinstance(data, (str, Path)) or is_list_of_files(data):
        store = find_store(data)
        if store is None:
            return Source(tables.read_file(str(data)), str(data)).narrow(conditions, None)
    else:
        from iosonde.store import Store  # not needed for a table

        store = data if isinstance(data, Store) else None
    if store is not None:
        return open_campaign(store, conditions, experiment, ranks, _names.get(str(store.path), ""))
    table = tables.table_from_memory(data)
    return Source(table, table.source or "the table").narrow(conditions, None)


def is_list_of_files(data: Any) -> bool:
    """Return whether DATA are the paths of several files, and no table."""
    return isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(name, (str, Path)) for name in data)


def find_store(data: Any) -> Store | None:
    """Return the store that is at a path, or the one into which a tool's output there, in a directory or in a list of
    files was read; None for a table. Raises InputError, DataError."""
    names = [str(name) for name in (data if is_list_of_files(data) else [data])]
    for name in names:
        check_reachable(Path(name))
    if len(names) > 1 or Path(names[0]).is_dir():
        from iosonde.ingest.temporary_stores import open_files  # loads every importer

        store, title = open_files(names)
    elif not _may_be_tool_output(names[0]):
        return None
    else:
        from iosonde.ingest.temporary_stores import store_tool_output

        if (output := store_tool_output(names[0])) is None:
            return None
        store, title = output, names[0]
    _names[str(store.path)] = title
    return store


def is_table(name: str) -> bool:
    """Return whether a table is at ``name``, neither a store nor a tool's output. Raises InputError, DataError."""
    suffixes = (*TABLE_SUFFIXES, *TEXT_SUFFIXES, *JSON_SUFFIXES, ".zip")
    is_file = is_pipe(name) or (get_suffix(name) in suffixes and not Path(name).is_dir())
    return is_file and find_store(name) is None


def _may_be_tool_output(name: str) -> bool:
    """Return whether importers, which are not loaded yet, are to look at the file: not at tables of other programs."""
    if (suffix := get_suffix(name)) not in TABLE_SUFFIXES:
        return is_pipe(name) or Path(name).is_file()
    if suffix != ".csv" or not Path(name).is_file():
        return False
    with Path(name).open("rb") as file:
        return file.read(64).startswith(_TOOL_HEADERS)
