"""Rows of somebody's table that are parts of one trial: its ranks, or its own iterations. One row is made of each.

What the parts of a trial share is in all of them: three trials of eight ranks are three repetitions and not 24.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.table import Table

from . import roles
from .looks import last_word, names_ranks

# Names of trials, those that hold others first.
_TRIALS = ("run", "trial", "try", "attempt", "repetition", "repeat", "rep", "replicate", "iteration", "iter")
_BLOCK = "block"


@dataclass(frozen=True)
class TrialRows:
    """One row a trial, and what is to be said of it. ``are_parts``: rows are single ranks, and no column says of which
    trial, so that n counts too many."""

    rows: Table
    note: str = ""
    are_parts: bool = False


def average_trials(table: Table, responses: Sequence[str], factors: Sequence[str] = ()) -> TrialRows:
    """The rows of a table with the means of each trial's parts in the place of these, at one level of all that looks
    set and of the ``factors``."""
    ranks = [
        name for name, column in table.columns.items() if names_ranks(column) and name not in (*responses, *factors)
    ]
    trials = [name for word in _TRIALS for name, column in table.columns.items() if last_word(column) == word]
    if not ranks and not trials:
        return TrialRows(table)
    try:
        column_roles = roles.guess(table, responses)
    except DataError:  # of a column that nobody asked about: what is set is not known
        return TrialRows(table)
    cells = list(dict.fromkeys((*factors, *(name for name in column_roles.settings if name not in ranks))))
    trials = [name for name in trials if name not in (*cells, *ranks)]
    dated = [name for name in column_roles.numbering if name not in (*trials, *ranks)]
    groups = _group_trials(table, cells, trials, ranks, dated)
    if groups is None:
        message = Message(
            "missing-trial-column",
            "rows are single ranks ({column}), and no column says of which trial: n counts ranks, which are no "
            "repetitions; name the trial in a column trial",
            column=ranks[0],
        )
        return TrialRows(table, message, True)
    if len(groups) == len(table):
        return TrialRows(table)
    message = Message(
        "averaged-parts", "n counts trials: the {parts} of each are averaged first", parts="ranks" if ranks else "rows"
    )
    return TrialRows(_average_groups(table, responses, groups), message)


def _average_groups(table: Table, responses: Sequence[str], groups: Sequence[npt.NDArray[np.intp]]) -> Table:
    """The first row of each group, with the means of all of its rows."""
    columns = dict(table.columns)
    for response in responses:
        values = table.numbers(response).copy()
        for at in groups:
            present = values[at][~np.isnan(values[at])]
            values[at[0]] = present.mean() if present.size else np.nan
        column = table.column(response)
        columns[column.name] = replace(column, values=values)
    return replace(table, columns=columns).take(np.sort([at[0] for at in groups]))


def _group_trials(
    table: Table, cells: Sequence[str], trials: Sequence[str], ranks: Sequence[str], dated: Sequence[str]
) -> list[npt.NDArray[np.intp]] | None:
    """The rows of each trial; None where rows are ranks, and nothing tells whose."""
    blocks = [name for name, column in table.columns.items() if last_word(column) == _BLOCK and name not in cells]
    for name in trials:
        groups = [np.sort(at) for _, at in table.groups([*cells, *(blocks if ranks else ()), name])]
        if len(groups) <= len(table.groups(cells)):
            continue  # it tells no trials of a cell apart
        if len(groups) < len(table) and (ranks or not _are_apart(table, groups, dated)):
            return groups
        if not ranks:
            break  # the outermost one decides
    return _by_turns(table, cells, ranks[0]) if ranks else [np.array([row]) for row in range(len(table))]


def _are_apart(table: Table, groups: Sequence[npt.NDArray[np.intp]], names: Sequence[str]) -> bool:
    """Whether another number or date tells rows of one group apart, so that each is a trial."""
    columns = [table.column(name) for name in names]
    return any(
        len({str(value) for value in column.values[at]}) > 1 for at in groups if at.size > 1 for column in columns
    )


def _by_turns(table: Table, cells: Sequence[str], rank: str) -> list[npt.NDArray[np.intp]] | None:
    """Trials by the order of the rows: each turn of a cell names every rank once."""
    numbers, groups = table.column(rank).values, list[npt.NDArray[np.intp]]()
    for _, rows in table.groups(cells):
        rows = np.sort(rows)
        n = len(set(numbers[rows].tolist()))
        turns = [rows[start : start + n] for start in range(0, rows.size, n)]
        if any(len(set(numbers[turn].tolist())) < n for turn in turns):
            return None
        groups += turns
    return groups
