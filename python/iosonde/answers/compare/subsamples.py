"""Rows of somebody's table that are parts of one trial: its ranks, or its own iterations. One row is made of each.

What the parts of a trial share is in all of them: three trials of eight ranks are three repetitions and not 24.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError
from iosonde.core.table import Column, Table
from iosonde.core.verdict import VerdictState
from iosonde.data import roles

from .caveat import Caveat

# Names of trials, those that hold others first.
_TRIALS = ("run", "trial", "try", "attempt", "repetition", "repeat", "rep", "replicate", "iteration", "iter")
_RANKS = ("rank", "process", "proc", "pid", "worker", "thread")  # singular: `ranks` says how many
_BLOCK = "block"


def names_ranks(column: Column) -> bool:
    """Whether a column numbers the ranks of a trial: whole numbers from 0 or 1 on, each of them there."""
    if _last_word(column) not in _RANKS or not column.numeric:
        return False
    there = np.unique(column.values[~column.missing].astype(float))
    counts = there.size > 1 and bool(np.all(np.diff(there) == 1)) and there[0] in (0, 1)
    return counts and (_last_word(column) == _RANKS[0] or there[0] == 0)


def one_row_a_trial(rows: Table, title: str, cells: Sequence[str]) -> tuple[Table, Caveat | None]:
    """The rows with the mean of each trial's parts in the place of these, within ``cells`` (the sides, and all that was
    set), and what is to be said of it."""
    ranks = [name for name, column in rows.columns.items() if names_ranks(column) and name not in (title, *cells)]
    groups = _trials(rows, title, cells, ranks)
    if groups is None:
        return rows, _of_ranks(ranks[0]) if ranks else None
    if len(groups) == len(rows):
        return rows, None
    values = rows.numbers(title).copy()
    for at in groups:
        there = values[at][~np.isnan(values[at])]
        values[at[0]] = there.mean() if there.size else np.nan
    column = replace(rows.column(title), values=values)
    first = np.sort([at[0] for at in groups])
    kept = replace(rows, columns={**rows.columns, column.name: column}).take(first)
    return kept, Caveat(f"n counts trials: the {'ranks' if ranks else 'rows'} of each are averaged first")


def settings(table: Table, measured: Sequence[str]) -> tuple[str, ...]:
    """The columns that look set, without those that number ranks. Raises DataError for a column that is spoilt."""
    seen = roles.guess(table, measured).settings
    return tuple(name for name in seen if not names_ranks(table.column(name)))


def _trials(rows: Table, title: str, cells: Sequence[str], ranks: Sequence[str]) -> list[npt.NDArray[np.intp]] | None:
    """The rows of each trial; None where rows are ranks, and nothing tells whose."""
    names = [name for word in _TRIALS for name, column in rows.columns.items()
             if _last_word(column) == word and name not in (*cells, *ranks)]  # fmt: skip
    blocks = [name for name, column in rows.columns.items() if _last_word(column) == _BLOCK and name not in cells]
    for name in names:
        unit = [*cells, *(blocks if ranks else ()), name]
        groups = [np.sort(at) for _, at in rows.groups(unit)]
        if not _several_a_side(rows, cells, groups):
            continue
        if len(groups) < len(rows) and (ranks or not _apart(rows, title, groups, names)):
            return groups
        if not ranks:
            break  # the outermost one decides
    return _by_turns(rows, cells, ranks[0]) if ranks else [np.array([place]) for place in range(len(rows))]


def _several_a_side(rows: Table, cells: Sequence[str], groups: Sequence[npt.NDArray[np.intp]]) -> bool:
    """Whether some cell has two trials: else the column tells none apart."""
    return len(groups) > len(rows.groups(cells) if cells else [()])


def _apart(rows: Table, title: str, groups: Sequence[npt.NDArray[np.intp]], trials: Sequence[str]) -> bool:
    """Whether another number or date tells rows of one group apart, so that each is a trial."""
    try:
        numbering = [name for name in roles.guess(rows, [title]).numbering if name not in trials]
    except DataError:  # of a column that nobody asked about
        return True
    return any(_differs(rows.column(name), at) for at in groups if at.size > 1 for name in numbering)


def _differs(column: Column, at: npt.NDArray[np.intp]) -> bool:
    return len({str(value) for value in column.values[at]}) > 1


def _by_turns(rows: Table, cells: Sequence[str], rank: str) -> list[npt.NDArray[np.intp]] | None:
    """Trials by the order of the rows: each turn of a cell names every rank once."""
    found: list[npt.NDArray[np.intp]] = []
    for _, at in rows.groups(cells) if cells else [((), np.arange(len(rows)))]:
        at = np.sort(at)
        ranks = rows.column(rank).values[at]
        n = len(set(ranks.tolist()))
        turns = [at[start : start + n] for start in range(0, at.size, n)]
        if any(len(set(rows.column(rank).values[turn].tolist())) < n for turn in turns):
            return None
        found += turns
    return found


def _of_ranks(rank: str) -> Caveat:
    why = f"rows are single ranks ({rank}), and no column says of which trial"
    return Caveat(f"{why}: name it trial", "subsamples", VerdictState.INCONCLUSIVE, why)


def _last_word(column: Column) -> str:
    words = [word for word in re.split(r"[\W_]+", column.label.lower()) if word]
    return words[-1] if words and not column.unit else ""
