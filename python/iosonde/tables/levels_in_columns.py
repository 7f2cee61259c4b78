"""Levels of a factor in columns (``1 client``, ``4 clients``; ``c=1``, ``c=4``; ``1``, ``4``), and trials in columns of
their dates (``2026-03-01``): rows of one response."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from iosonde.core.column_units import TIME_UNITS
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

from .dates import is_date
from .joined_names import split_joined_names
from .raw_rows import parse_values

_LEVEL = r"\d+(?:\.\d+)?"
_FORMS = (
    re.compile(rf"(?P<level>{_LEVEL})[ _-]?(?P<factor>[^\W\d_]{{2,}})"),  # 4 clients
    re.compile(r"(?P<factor>[^\W\d]\w*)\s*=\s*(?P<level>[\w.+-]+)"),  # c=4
    re.compile(r"[\w:]*\{(?P<factor>\w+)=\"?(?P<level>[^\",{}]+)\"?\}"),  # bw{fs="ext4"}, of Prometheus and Grafana
    re.compile(rf"(?P<level>{_LEVEL}(?:\s*[kKMG](?:i?B)?)?)(?P<factor>)"),  # 4, 64k
)
_UNNAMED = "level"
_DATE, _DATES = "date", len(_FORMS)  # the factor and the form of dates
# Words after a number that is no level: statistics, trials and units.
_NO_FACTORS = frozenset(
    ("th", "st", "nd", "rd", "pct", "percentile", "quantile", "run", "trial", "rep", "test", "sample", "iteration")
) | {*TIME_UNITS, "kb", "kib", "mb", "mib", "gb", "gib", "iops", "op", "mbp"}
_MOST_NAMES = 3


@dataclass(frozen=True)
class _Place:
    column: Column
    factor: str
    level: str
    form: int


def fold_levels(table: Table, question: Sequence[str] = ()) -> Table:
    """Return the table with such columns as rows of one response, ``value``, and a factor, with a warning. They stay
    where one of them has a stated role, or is in the texts of the ``question``."""
    table = split_joined_names(table, question)
    places = [place for column in table.columns.values() if (place := _find_place(column))]
    groups = group_by_key(((place.form, _strip_plural(place.factor)), place) for place in places)
    foldable = [group for group in groups.values() if _is_foldable(group, table, question)]
    return _fold(table, foldable[0]) if len(foldable) == 1 else table


def _find_place(column: Column) -> _Place | None:
    date = column.label or column.name
    if is_date(date) and not date.isdecimal():
        return _Place(column, _DATE, date, _DATES)
    for form, pattern in enumerate(_FORMS):
        match = pattern.fullmatch(column.label if _has_unit_in_brackets(column) else column.name)
        if match and _strip_plural(match["factor"]) not in _NO_FACTORS:
            return _Place(column, match["factor"], match["level"], form)
    return None


def _has_unit_in_brackets(column: Column) -> bool:
    return bool(column.unit) and column.name.endswith((")", "]"))


def _strip_plural(word: str) -> str:
    return word.lower().removesuffix("s")


def _is_foldable(group: Sequence[_Place], table: Table, question: Sequence[str]) -> bool:
    """Return whether these are all columns of numbers, no column is named as the factor, and those without a name of
    their factor are beside a column of text."""
    columns = [place.column for place in group]
    is_bound = any(column.role for column in columns) or any(column.name in question for column in columns)
    if len(columns) < 2 or is_bound or not all(column.numeric for column in columns):
        return False
    others = [column for column in table.columns.values() if column not in columns]
    has_text = any(not column.numeric for column in others)
    return (bool(group[0].factor) or has_text) and not any(table.has_column(name) for name in _list_new_names(group))


def _list_new_names(group: Sequence[_Place]) -> tuple[str, str]:
    return max((place.factor for place in group), key=len) or _UNNAMED, "value"


def _fold(table: Table, group: Sequence[_Place]) -> Table:
    factor, response = _list_new_names(group)
    names = [place.column.name for place in group]
    order = np.argsort(np.tile(np.arange(len(table)), len(group)), kind="stable")  # levels of one row together
    rows = table.take(np.repeat(np.arange(len(table)), len(group)))
    columns = {name: column for name, column in rows.columns.items() if name not in names}
    levels = parse_values([place.level for place in group] * len(table))
    columns[factor] = Column(factor, levels, factor)
    values = np.concatenate([column.values for column in map(attrgetter("column"), group)])[order]
    units = {place.column.unit for place in group if place.form or _has_unit_in_brackets(place.column)}
    columns[response] = Column(response, values, response, units.pop() if len(units) == 1 else "")
    if group[0].form == _DATES:  # a trial of each date
        return replace(rows, columns=columns, repeats=(*table.repeats, *names))
    message = Message(
        "levels-in-columns",
        "{columns} are levels of {factor}, in rows now; {spell.roles:'{name}=response'} keeps the columns",
        columns=", ".join(names) if len(names) <= _MOST_NAMES else f"{names[0]} to {names[-1]}",
        factor=factor,
        name=names[0],
    )
    return replace(rows, columns=columns, warnings=(*table.warnings, message))
