"""Average rows of a table that are parts of one trial: its ranks, or its own iterations.

Parts of a trial share its error: three trials of eight ranks are three repetitions, not 24.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import ColumnRole, Roles
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

from . import roles
from .looks import RANKS, TRIALS, get_last_word

AVERAGED = "averaged-parts"  # code of the note on trials whose parts were averaged
_WORDS = {*TRIALS, *RANKS}


@dataclass(frozen=True)
class TrialRows:
    """The rows, one per trial, with a note. ``are_parts``: rows are single ranks of unknown trials, so that n is too
    large."""

    rows: Table
    note: str = ""
    are_parts: bool = False


def average_trials(table: Table, responses: Sequence[str], factors: Sequence[str] = ()) -> TrialRows:
    """Replace the parts of each trial by their means, at one level of all columns that look set and of
    the ``factors``."""
    if not any(column.role or get_last_word(column) in _WORDS for column in table.columns.values()):
        return TrialRows(table)
    column_roles = roles.guess_roles_of_rows(table, responses)
    parts = column_roles.select(ColumnRole.PART)
    ranks = [name for name in parts if name not in factors and table.columns[name].is_varying]
    cells = list(dict.fromkeys((*factors, *column_roles.settings, *column_roles.select(ColumnRole.COVARIATE))))
    counters = [name for name in column_roles.select(ColumnRole.REPETITION) if name not in cells]
    trials = sorted(counters, key=lambda name: _find_depth(table.column(name)))
    groups = _group_trials(table, cells, trials, ranks, column_roles)
    if groups is None:
        message = Message(
            "missing-trial-column",
            "rows are single ranks ({column}) of unknown trials: n counts ranks, which are not repetitions; "
            "add a column trial with the number of the trial",
            column=ranks[0],
        )
        return TrialRows(table, message, True)
    if len(groups) == len(table):
        return TrialRows(table)
    message = Message(
        AVERAGED,
        "n counts trials: the {parts} of each are averaged first",
        parts="ranks" if set(RANKS).intersection(map(get_last_word, map(table.column, ranks))) else "rows",
    )
    return TrialRows(average_groups(table, responses, groups), message)


def average_groups(table: Table, responses: Sequence[str], groups: Sequence[npt.NDArray[np.intp]]) -> Table:
    """Return the first row of each group, with the means of all its rows."""
    columns = dict(table.columns)
    for response in responses:
        values = table.numbers(response).copy()
        for at in groups:
            present = values[at][~np.isnan(values[at])]
            values[at[0]] = present.mean() if present.size else np.nan
        column = table.column(response)
        columns[column.name] = replace(column, values=values)
    return replace(table, columns=columns).take(np.sort([at[0] for at in groups]))


def _find_depth(column: Column) -> int:
    """Return how deep its name is among those of trials; a column that the user states is the outermost."""
    word = get_last_word(column)
    return -1 if column.role or word not in TRIALS else TRIALS.index(word)


def _group_trials(
    table: Table, cells: Sequence[str], trials: Sequence[str], ranks: Sequence[str], column_roles: Roles
) -> list[npt.NDArray[np.intp]] | None:
    """Return the rows of each trial; None if rows are ranks of unknown trials."""
    blocks = [name for name in column_roles.select(ColumnRole.BLOCK) if ranks and name not in cells]
    dated = column_roles.select(ColumnRole.ORDER, ColumnRole.BLOCK)
    for name in trials:
        groups = [at for _, at in table.groups([*cells, *blocks, name])]
        if len(groups) <= len(table.groups(cells)):
            continue  # it does not distinguish trials of a cell
        if len(groups) < len(table) and (ranks or not _has_distinguishing_column(table, groups, dated)):
            return groups
        if not ranks:
            break  # the outermost one decides
    return _group_by_turns(table, cells, ranks[0]) if ranks else [np.array([row]) for row in range(len(table))]


def _has_distinguishing_column(table: Table, groups: Sequence[npt.NDArray[np.intp]], names: Sequence[str]) -> bool:
    """Return whether another number or date distinguishes rows of one group, so that each is a trial."""
    columns = [table.column(name) for name in names]
    return any(
        len({str(value) for value in column.values[at]}) > 1 for at in groups if at.size > 1 for column in columns
    )


def _group_by_turns(table: Table, cells: Sequence[str], rank: str) -> list[npt.NDArray[np.intp]] | None:
    """Group trials by the order of the rows: each turn of a cell has every rank once."""
    numbers, groups = table.column(rank).values, list[npt.NDArray[np.intp]]()
    for _, rows in table.groups(cells):
        n = len(set(numbers[rows].tolist()))
        turns = [rows[start : start + n] for start in range(0, rows.size, n)]
        if any(len(set(numbers[turn].tolist())) < n for turn in turns):
            return None
        groups += turns
    return groups
