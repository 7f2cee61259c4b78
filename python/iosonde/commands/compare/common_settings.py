"""Settings that two DATA have in common, what varies in one of them only, and the nearest settings if none is equal."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from iosonde.answers.caveats import format_some_texts
from iosonde.core.errors import DataError
from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_assignments, format_level
from iosonde.core.message import Message
from iosonde.core.table import Cell, Column, Table, build_column, convert_sizes
from iosonde.core.types import FactorValue
from iosonde.core.verdict import VerdictState
from iosonde.core.vocabulary.defaults import list_default_settings
from iosonde.core.words import join_names
from iosonde.data import factors, roles
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source, StoredSource
from iosonde.data.varying import NAMES
from iosonde.stats.assumptions import doubtful, fails

from .caveat import Caveat
from .parts import DATA, ROW

_MOST_CELLS = 200  # of each DATA, among which the nearest settings are looked for


@dataclass(frozen=True)
class CellColumns:
    """The columns of the cells: ``settings`` that both DATA state, and ``lone`` ones by the DATA in which they vary,
    which the other lacks."""

    settings: list[str]
    lone: Mapping[str, Sequence[str]]
    caveats: tuple[Caveat, ...]


def find_cell_columns(
    a: Source, b: Source, names: tuple[str, str], query: ResponseQuery, compared_runs: Sequence[Collection[str]]
) -> CellColumns:
    """Find the columns of cells: factors that vary in one of the two. What one of them lacks cannot be matched: there
    it is a fact where it is constant, as the name of the tool. In stores only the settings of the ``compared_runs``
    count: those of another tool match nothing."""
    every = list(zip((a, b), compared_runs, strict=True))
    table = stack_tables([_select_rows(source, ids) for source, ids in every], names)
    if a.knows_factors and b.knows_factors:
        runs = [run for source, ids in every for run in source.runs if run.id in ids]
        run_factors = factors.find_factors(table, runs, [*a.experiments, *b.experiments])
        candidates = [*run_factors.names, *run_factors.confounded]
        twins = set(run_factors.confounded)
    else:
        candidates, twins = (
            list(dict.fromkeys(name for source in (a, b) for name in _list_setting_columns(source, query))),
            set(),
        )
    levels = {name: _list_levels(table, name) for name in candidates if name in table.columns}
    shared = {name: by_side for name, by_side in levels.items() if _is_shared(by_side)}
    between = [name for name, by_side in shared.items() if all(len(own) == 1 for own in by_side.values())]
    settings = [name for name in shared if name not in between and name not in twins]
    alone = {
        name: side
        for name, by_side in levels.items()
        for side, own in by_side.items()
        if name not in shared and len(own) > 1 and not _follows_from(table, name, settings)
    }
    if not settings and len(set(alone.values())) == 2:
        raise _build_lone_error(names, alone)
    units = table.level_units()
    differing = [name for name in between if len({level for own in shared[name].values() for level in own}) > 1]
    caveats = [
        Caveat(
            Message(
                "factor-differs",
                "{factor} differs, too: {levels}",
                factor=name,
                levels=_format_levels(shared[name], units.get(name, "")),
            ),
            doubtful("goes-together"),
        )
        for name in differing
    ]
    alone_by_side = group_by_key((side, name) for name, side in alone.items())
    lone_caveats = (_build_lone_caveat(*each, names) for each in alone_by_side.items())
    return CellColumns(settings, alone_by_side, (*caveats, *lone_caveats))


def add_path_levels(a: Source, b: Source) -> tuple[Source, Source]:
    """Return two stores, each with the factors from paths that only the other has, if its own paths give a level of
    them to each of its runs: a directory that all of them share is no factor there."""
    return _add_path_levels(a, b), _add_path_levels(b, a)


def _add_path_levels(source: Source, other: Source) -> Source:
    if not (isinstance(source, StoredSource) and isinstance(other, StoredSource)):
        return source
    from iosonde.ingest.common_levels import read_common_levels  # not needed for a table

    lacking = [f for f in other.store.added_factors.read().factors if f.name not in source.table.columns]
    by_name = {factor.name: read_common_levels(factor, source.runs) for factor in lacking}
    return _add_run_columns(source, {name: levels for name, levels in by_name.items() if levels})


def expand_to_lone_levels(table: Table, other: Table, lone: Sequence[str]) -> Table:
    """Return the rows of DATA that lacks these columns, once for each combination that the other has: its own levels
    are unknown, so each of the other's is compared with all of them."""
    names = [name for name in lone if name in other.columns]
    levels = [key for key, _ in other.groups(names)] if names else []
    if not levels:
        return table
    rows = table.take(np.tile(np.arange(len(table)), len(levels)))
    columns = {
        name: replace(other.columns[name], values=np.repeat([key[place] for key in levels], len(table)))
        for place, name in enumerate(names)
    }
    return replace(rows, columns={**rows.columns, **columns})


def add_default_settings(a: Source, b: Source) -> tuple[Source, Source]:
    """Return two stores, each with the settings that only the other states and its own command lines leave at the
    default of the tool."""
    defaults = iter(list_default_settings([*a.runs, *b.runs]))
    return _add_columns(a, defaults), _add_columns(b, defaults)


def _add_columns(source: Source, defaults: Iterator[Mapping[str, FactorValue]]) -> Source:
    """Add a column for each setting that this DATA lacks wholly; a store knows the defaults of its own settings."""
    by_run = {run.id: next(defaults) for run in source.runs}
    names = dict.fromkeys(name for settings in by_run.values() for name in settings)
    added = [name for name in names if name not in source.table.columns]
    if not added or "run" not in source.table.columns:
        return source
    return _add_run_columns(source, {name: {run: levels.get(name) for run, levels in by_run.items()} for name in added})


def _add_run_columns(source: Source, levels: Mapping[str, Mapping[str, Cell]]) -> Source:
    """Add columns, each by the levels of the runs."""
    runs = [str(run) for run in source.table.columns["run"].values] if levels else []
    columns = {name: build_column(name, [by_run.get(run) for run in runs]) for name, by_run in levels.items()}
    return replace(source, table=replace(source.table, columns={**source.table.columns, **columns}))


def _select_rows(source: Source, run_ids: Collection[str]) -> Table:
    """Return the rows of these runs of a store; all rows of a table."""
    rows = source.trial_rows
    if not source.knows_factors or "run" not in rows.columns:
        return rows
    return rows.take(np.array([str(run) in run_ids for run in rows.columns["run"].values], dtype=bool))


def _build_lone_error(names: tuple[str, str], alone: Mapping[str, str]) -> DataError:
    """Return the error for two DATA that have no setting in common, though both vary some."""
    own = [join_names([column for column, side in alone.items() if side == name]) for name in names]
    return DataError(
        "no-common-setting",
        "{name_a} and {name_b} have no setting in common",
        "{columns_a} varies in {name_a} only, {columns_b} in {name_b} only: one name for both would match them; "
        "{spell.where} chooses a level of each",
        name_a=names[0],
        name_b=names[1],
        columns_a=own[0],
        columns_b=own[1],
    )


def build_nearest_error(tables: Sequence[Table], names: Sequence[str], settings: Sequence[str]) -> DataError:
    """Return the error for two DATA without an equal setting, with the settings that differ least."""
    table = stack_tables(tables, names)
    cells = group_by_key((key[0], key[1:]) for key, _ in table.groups([DATA, *settings]))
    both = product(*(cells[name][:_MOST_CELLS] for name in names))
    a, b = min(both, key=lambda pair: sum(x != y for x, y in zip(*pair, strict=True)))
    places = [place for place, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    columns = [settings[place] for place in places]
    units = table.level_units()
    of_a, of_b = (
        ", ".join(format_assignments({settings[place]: cell[place] for place in places}, units)) for cell in (a, b)
    )
    return DataError(
        "no-common-setting",
        "{name_a} and {name_b} have no setting in common",
        "the nearest differ in {columns}: {setting_a} in {name_a}, {setting_b} in {name_b}; {spell.by} names the "
        "columns to match",
        name_a=names[0],
        name_b=names[1],
        columns=join_names(columns),
        setting_a=of_a,
        setting_b=of_b,
    )


def _list_levels(table: Table, name: str) -> dict[str, list[Cell]]:
    """Return DATA → its levels of a column."""
    return group_by_key((str(side), level) for (side, level), _ in table.groups([DATA, name]))


def _is_shared(levels_by_side: Mapping[str, Sequence[Cell]]) -> bool:
    """Return whether both DATA have a column. One that lacks it can be matched with rows that lack its value."""
    lacking = [side for side, levels in levels_by_side.items() if list(levels) == [None]]
    return not lacking or all(None in levels for levels in levels_by_side.values())


def _follows_from(table: Table, name: str, settings: Sequence[str]) -> bool:
    """Return whether the settings separate the levels of a column that one DATA lacks, as those of a placeholder."""
    rows = table.take(np.flatnonzero(~table.columns[name].missing))
    return len(rows.groups(settings)) == len(rows.groups([*settings, name]))


def _build_lone_caveat(side: str, columns: Sequence[str], sides: Sequence[str]) -> Caveat:
    """Build the caveat of columns that vary in one DATA and are missing in the other, whose levels are unknown."""
    verb = "varies" if len(columns) == 1 else "vary"
    template = "{columns} {verb} in {side} only: each level is compared with all of {other}, which states none"
    names, (other,) = join_names(columns), [name for name in sides if name != side]
    text = Message("one-sided-setting", template, columns=names, verb=verb, side=side, other=other)
    return Caveat(text, fails("goes-together", VerdictState.INCONCLUSIVE, text))


def _list_setting_columns(source: Source, query: ResponseQuery) -> list[str]:
    """Return the factors of a store, or the columns of a table that look set."""
    if source.knows_factors:
        return source.varying_factors.names
    measured = [response.measured or response.title for response in build_responses(source, query)]
    return [name for name in roles.guess_roles(source.table, measured).settings if name not in NAMES]


def _format_levels(levels_by_side: Mapping[str, Sequence[Cell]], unit: str) -> str:
    return ", ".join(
        f"{format_some_texts([format_level(level, unit) for level in levels])} in {side}"
        for side, levels in levels_by_side.items()
    )


def stack_tables(tables: Sequence[Table], names: Sequence[str]) -> Table:
    """Stack the rows of all tables, with the column DATA naming their origin; columns absent from a table are missing
    there."""
    columns: dict[str, Column] = {}
    for name in dict.fromkeys(name for table in tables for name in table.columns):
        parts = _unify_sizes([table.columns.get(name) for table in tables])
        first = next(part for part in parts if part is not None)
        if all(part is not None and part.numeric for part in parts):
            values: Any = np.concatenate([part.values for part in parts if part is not None])
            columns[name] = replace(first, values=values)
            continue
        cells = [cell for part, table in zip(parts, tables, strict=True) for cell in _list_values(part, len(table))]
        columns[name] = replace(build_column(name, cells, first.label, first.unit), role=first.role)
    if ROW in columns and "run" in columns:  # a store and a table: only one of them identifies its trials
        del columns[ROW]
    whose = [name for name, table in zip(names, tables, strict=True) for _ in range(len(table))]
    inside = tuple(dict.fromkeys(name for table in tables for name in table.inside))
    return Table({**columns, DATA: build_column(DATA, whose)}, " and ".join(names), inside=inside)


def _unify_sizes(parts: Sequence[Column | None]) -> list[Column | None]:
    """Return the columns with written sizes (``64k``) in bytes, if one of them has numbers."""
    if not any(part is not None and part.numeric for part in parts):
        return list(parts)
    return [part if part is None or part.numeric else convert_sizes(part) for part in parts]


def _list_values(column: Column | None, n: int) -> list[Any]:
    values = [None] * n if column is None else column.values.tolist()
    return [None if value != value else value for value in values]
