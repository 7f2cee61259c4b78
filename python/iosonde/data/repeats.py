"""Repetitions in columns (``run1``, ``run2``, ``run3``): rows of one response, with a column that numbers them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.column_roles import ColumnRole
from iosonde.core.column_units import split_column_name
from iosonde.core.errors import DataError, InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

from .looks import METRICS, TRIALS, is_statistic
from .roles import guess_roles

REPETITION = "repetition"
_VALUE = "value"
_OTHER_WORDS = ("measurement", "sample", "test", "r", "#", "messung")  # may also number other things
_TOKEN = re.compile(r"[^\W\d_]+(?:\d+(?=[\W_]))?|\d+|#")  # ext4 of ext4_run1 is a word
_MAX_RATIO, _MAX_CLOSE_RATIO = 10.0, 3.0  # of the columns' medians
_MIN_PLAIN = 3  # columns without such a word: bw_1, bw_2, bw_3
_MOST_NAMES = 3
_ROWS_ARE_MEANS = "each row is a mean: {statistics} stand for its trials, and n counts these"


@dataclass(frozen=True)
class _Group:
    """Columns that repeat one response, in order. ``word``: of its repetitions, such as ``run``."""

    title: str
    word: str
    columns: tuple[Column, ...]


def fold_repeats(table: Table, question: Iterable[str] = ()) -> Table:
    """Return the table with its repetitions in rows, where columns are alike in name and magnitude. Those with a stated
    role, or in the texts of the ``question``, stay."""
    tokens = [(column, _TOKEN.findall(column.label or column.name) or [""]) for column in table.columns.values()]
    numbered = group_by_key(
        ((*map(str.lower, stem), column.unit), (int(number), column))
        for column, (*stem, number) in tokens
        if stem and number.isdecimal()
    )
    groups = [
        _build_group([columns[number] for number in sorted(columns)])
        for columns in map(dict, numbered.values())
        if min(columns) in (0, 1) and max(columns) - min(columns) == len(columns) - 1
    ]
    return _fold(table, [group for group in groups if _is_repeated(group, table, tuple(question))])


def gather_columns(table: Table, columns: Sequence[Column]) -> Table:
    """Return the table with columns that the user states as repetitions in rows. Raises DataError."""
    for column in columns:
        table.numbers(column.name)  # raises, with the place
    return _fold(table, [_build_group(columns)])


def describe_repeats(table: Table) -> tuple[Message, ...]:
    """Return the messages about columns that are now rows: ``run1 to run9 are repetitions``, and about rows that stand
    for the trials of means, if any are."""
    names, statistics = table.repeats, table.row_statistics
    joined = ", ".join(names) if len(names) <= _MOST_NAMES else f"{names[0]} to {names[-1]}"
    return (
        *([Message("repeats-in-columns", "{columns} are repetitions", columns=joined)] if names else []),
        *([Message("rows-are-means", _ROWS_ARE_MEANS, statistics=" and ".join(statistics))] if statistics else []),
    )


def _build_group(columns: Sequence[Column]) -> _Group:
    stems = [_TOKEN.findall(column.label or column.name)[:-1] for column in columns]
    stem = stems[0] if all(stem == stems[0] for stem in stems) else []
    word = stem[-1].lower() if stem and stem[-1].lower() in (*TRIALS, *_OTHER_WORDS) else ""
    return _Group(" ".join(stem[:-1] if word else stem) or _VALUE, word, tuple(columns))


def _is_repeated(group: _Group, table: Table, question: Sequence[str]) -> bool:
    """Return whether numbered columns are repetitions: by their word, or their metric; and alike in magnitude."""
    columns = group.columns
    is_queried = any(name in text for text in question for column in columns for name in (column.name, column.label))
    if is_queried or any(column.role or not column.numeric or column.missing.all() for column in columns):
        return False
    names = {name for column in table.columns.values() for name in split_column_name(column.label)}
    is_metric = METRICS.intersection(split_column_name(group.title)) and names.isdisjoint(TRIALS)
    if len(columns) < 2 or not (group.word or (is_metric and len(columns) >= _MIN_PLAIN)):
        return False
    medians = [float(np.nanmedian(np.abs(column.values.astype(float)))) for column in columns]
    return 0 < max(medians) <= min(medians) * (_MAX_RATIO if group.word in TRIALS else _MAX_CLOSE_RATIO)


def _fold(table: Table, groups: Sequence[_Group]) -> Table:
    if not groups:
        return table
    folded = {column.name: column for group in groups for column in group.columns}
    n_most = max(len(group.columns) for group in groups)
    words = {word for group in groups for word in (group.word, *split_column_name(group.title))}
    rows = table.take(np.tile(np.arange(len(table)), n_most))
    columns = {
        name: replace(column, role=column.role or ColumnRole.FACT) if is_statistic(column, words) else column
        for name, column in rows.columns.items()
        if name not in folded
    }
    counter = next((group.word for group in groups if group.word in TRIALS and group.word not in columns), REPETITION)
    columns[counter] = Column(counter, np.repeat(np.arange(1.0, n_most + 1), len(table)), counter)
    for group in groups:
        values = np.full((len(table), n_most), np.nan)
        values[:, : len(group.columns)] = np.column_stack([column.values for column in group.columns])
        title = group.title if group.title not in columns else f"{group.title} of {counter}"
        columns[title] = Column(title, values.ravel(order="F"), title, group.columns[0].unit)
    return _number_repeated_rows(replace(rows, columns=columns, repeats=(*table.repeats, *folded)), counter)


def _number_repeated_rows(table: Table, counter: str) -> Table:
    """Return the table with unique numbers in each cell, where several rows of the file have the same settings."""
    try:
        settings = guess_roles(table).settings
    except (InputError, DataError):  # a command that needs roles says why
        return table
    numbers = table.columns[counter].values.astype(float)
    n_most = numbers.max()
    for _, at in table.groups(list({*settings, counter})):
        numbers[at] += n_most * np.arange(at.size)
    return replace(table, columns={**table.columns, counter: replace(table.columns[counter], values=numbers)})
