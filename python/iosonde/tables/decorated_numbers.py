"""Numbers that are written with marks around them (``'99.7``, ``**99.7**``, ``="99.7"``, ``99.7*``), as bounds
(``<200``), or with a unit of rates that nothing else reads (``797.4 Mbps``)."""

import re
from dataclasses import replace

import numpy as np

from iosonde.core.column_units import is_rate, measure_unit, split_unit
from iosonde.core.column_values import is_mostly_distinct
from iosonde.core.message import Message
from iosonde.core.table import Column, Table, is_number

from .raw_rows import parse_values
from .unit_columns import convert_to_common_unit

_MARKS = " '’‘`\"*_=†‡"
_BEGINS_NUMBER = re.compile(r"[+-]?[.,]?\d")
_EMPHASIS = re.compile(r"(\*\*|__|`)(?P<text>[^*_`]+)\1")  # of Markdown
_REMARK = re.compile(r"(?P<number>\S*\d\S*)\s*[(\[](?P<text>[^()\[\]]+)[)\]]\s*")  # 98.2 (cache?)
_BOUND = re.compile(r"\s*(?:[<>]=?|[≤≥])\s*[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?\s*[^\d\s,.;]*")
_WITH_UNIT = re.compile(r"([+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?)\s*([^\W\d_][^\d\s]*)")


def strip_marks(table: Table) -> Table:
    """Return the table without marks around numbers in columns most of whose cells begin with a number, and around
    emphasized words, with a warning for each column of numbers."""
    for column in _list_texts(table):
        words = column.counts
        bare = {word: _strip(word) for word in words}
        n_numbers = sum(n for word, n in words.items() if _BEGINS_NUMBER.match(bare[word]))
        marked = [word for word in words if bare[word] != word and _BEGINS_NUMBER.match(bare[word])]
        if marked and 2 * n_numbers >= words.total():
            template = "the marks around numbers in {column} ({cell}) are left out"
            message = Message("marks-around-numbers", template, column=column.name, cell=marked[0])
            table = _replace_cells(table, column, {word: bare[word] for word in marked}, message)
        elif emphasized := {word: match["text"] for word in words if (match := _EMPHASIS.fullmatch(word))}:
            table = _replace_cells(table, column, emphasized, None)
    return table


def drop_bounds(table: Table) -> Table:
    """Return the table without bounds (``<200``) among numbers, which are missing values, with a warning."""
    for column in _list_texts(table):
        words = column.counts
        bounds = {word: "" for word in words if _BOUND.fullmatch(word)}
        n_bounds = sum(words[word] for word in bounds)
        others = [word for word in words if word not in bounds]
        if bounds and 2 * n_bounds < words.total() and all(map(_BEGINS_NUMBER.match, others)):
            message = Message(
                "bounds",
                "{n} of {n_rows} values of {column} are only bounds ({cell}): they are left out, so that means lack"
                " these extremes",
                n=n_bounds,
                n_rows=words.total(),
                column=column.name,
                cell=next(iter(bounds)),
            )
            table = _replace_cells(table, column, bounds, message)
    return table


def convert_rates(table: Table) -> Table:
    """Return the table with columns of numbers with hardly any duplicates, all with units of rates of one kind
    (``797.4 Mbps``, ``99.7 Mt/s``), as numbers in the most frequent of these units, with a warning."""
    for column in _list_texts(table):
        if not all(map(_WITH_UNIT.fullmatch, column.counts)) or not is_mostly_distinct(column):
            continue
        cells = [None if value is None else _WITH_UNIT.fullmatch(str(value)) for value in column.values]
        matches = [match for match in cells if match]
        units = [split_unit(f"x [{match[2]}]")[1] for match in matches]
        kinds = {measure_unit(unit)[0] or unit for unit in units}
        if len(kinds) != 1 or not all(map(is_rate, set(units))):
            continue
        numbers, unit = convert_to_common_unit(np.array([float(m[1].replace(",", ".")) for m in matches]), units)
        values = np.full(len(cells), np.nan)
        values[~column.missing] = numbers
        message = Message("rates-in-cells", "the values of {column} are in {unit}", column=column.name, unit=unit)
        columns = {**table.columns, column.name: replace(column, values=values, unit=unit)}
        table = replace(table, columns=columns, warnings=(*table.warnings, message))
    return table


def _strip(word: str) -> str:
    if is_number(word):
        return word
    remark = _REMARK.fullmatch(word)
    is_unit = remark is not None and bool(measure_unit(split_unit(f"x [{remark['text']}]")[1])[0])
    return (remark["number"] if remark and not is_unit else word).strip(_MARKS)


def _list_texts(table: Table) -> list[Column]:
    return [column for column in table.columns.values() if not column.numeric and not column.missing.all()]


def _replace_cells(table: Table, column: Column, texts: dict[str, str], message: Message | None) -> Table:
    cells = ["" if value is None else texts.get(str(value), str(value)) for value in column.values]
    columns = {**table.columns, column.name: replace(column, values=parse_values(cells))}
    return replace(table, columns=columns, warnings=(*table.warnings, *([message] if message else [])))
