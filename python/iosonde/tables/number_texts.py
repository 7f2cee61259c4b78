"""Columns of text whose cells are numbers in another form: ``1,007.3``, ``97.6 ± 2.9``, ``58.4k``, or a failed trial.

Whatever is converted is a warning of the table. A column in which another cell is no such number stays text.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from iosonde.core.column_units import split_column_name
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

from .raw_rows import convert_decimal_commas, parse_values

_FAILURES = re.compile(
    r"time[ds]?[ -]?out|fail(?:ed|ure)?|err(?:or)?|killed|crash(?:ed)?|abort(?:ed)?|cancell?ed|oom|hung|dnf",
    re.IGNORECASE,
)
_BEGINS_NUMBER = re.compile(r"[+-]?\d")
_NUMBER = r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?"
_SPREAD = re.compile(rf"({_NUMBER})\s*(?:±|\+/-|\+-)\s*{_NUMBER}(\s*[^\d\s,.;]*)")
_GROUPED = re.compile(r"([+-]?\d{1,3}(?:,\d{3})*(?:\.\d+)?)(\s*[^\d\s,.;]*)")
_SURELY_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)|[+-]?\d{1,3}(?:,\d{3}){2,}")
_PREFIXED = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([kKM]?)")
_POWERS = {"": "", "k": "e3", "K": "e3", "M": "e6"}
_OPERATION_WORDS = frozenset(("iops", "ops", "requests", "transactions", "tps", "qps"))
_UNPREFIXED = ("", "iops", "op/s", "ops/s", "req/s", "requests/s")


def convert_number_texts(table: Table) -> Table:
    """Return the table with such columns as numbers, or as numbers with units, each with a warning."""
    return _convert_prefixed(convert_decimal_commas(_convert_grouped(_drop_spreads(_clear_failures(table)))))


def _clear_failures(table: Table) -> Table:
    """Leave cells such as ``timeout`` empty, where at least half of the column begin with a digit and none is other
    text."""
    for column in _list_texts(table):
        words = Counter(str(value) for value in column.values if value is not None)
        failures = {word: n for word, n in words.items() if _FAILURES.fullmatch(word.strip(" !."))}
        n_failed = sum(failures.values())
        numbers = [word for word in words if word not in failures]
        if failures and all(map(_BEGINS_NUMBER.match, numbers)) and 2 * n_failed <= words.total():
            message = Message(
                "failed-trials",
                "{n} of {n_rows} trials have no {column} ({failures}): they count as failed, and are left out",
                n=n_failed,
                n_rows=words.total(),
                column=column.name,
                failures=", ".join(failures),
            )
            table = _replace_cells(table, [column], dict.fromkeys(failures, ""), message)
    return table


def _drop_spreads(table: Table) -> Table:
    for column in _list_texts(table):
        matches = _match_all(_SPREAD, column)
        if matches:
            cell = next(iter(matches))
            template = (
                "the spreads in {column} ({cell}) are not used, because their kind and number of trials are unknown"
            )
            message = Message("spreads-in-cells", template, column=column.name, cell=cell)
            table = _replace_cells(table, [column], {cell: m[1] + m[2] for cell, m in matches.items()}, message)
    return table


def _convert_grouped(table: Table) -> Table:
    """Drop the commas of thousands, if a cell shows by its decimal point, or by two commas, that they are such."""
    matches = {column.name: _match_all(_GROUPED, column) for column in _list_texts(table)}
    grouped = {name: cells for name, cells in matches.items() if any("," in cell for cell in cells)}
    sure = [name for name, cells in grouped.items() if any(_SURELY_GROUPED.fullmatch(m[1]) for m in cells.values())]
    if not sure:
        return table
    columns = [table.columns[name] for name in grouped]
    template = "the commas in {columns} separate thousands"
    message = Message("grouped-digits", template, columns=", ".join(grouped))
    texts = {cell: m[1].replace(",", "") + m[2] for cells in grouped.values() for cell, m in cells.items()}
    return _replace_cells(table, columns, texts, message)


def _convert_prefixed(table: Table) -> Table:
    """Convert ``58.4k`` in columns that are named as numbers of operations; elsewhere it may be a size."""
    for column in _list_texts(table):
        matches = _match_all(_PREFIXED, column)
        if (
            matches
            and column.unit.lower() in _UNPREFIXED
            and _OPERATION_WORDS.intersection(split_column_name(column.label))
        ):
            texts = {cell: m[1] + _POWERS[m[2]] for cell, m in matches.items()}
            message = Message("decimal-prefixes", "in {column}, k is 1000 and M a million", column=column.name)
            table = _replace_cells(table, [column], texts, message)
    return table


def _list_texts(table: Table) -> list[Column]:
    return [column for column in table.columns.values() if not column.numeric and not column.missing.all()]


def _match_all(pattern: re.Pattern[str], column: Column) -> dict[str, re.Match[str]]:
    """Return the match of each cell; none if one does not match."""
    cells = {str(value) for value in column.values if value is not None}
    matches = {cell: match for cell in sorted(cells) if (match := pattern.fullmatch(cell))}
    return matches if len(matches) == len(cells) else {}


def _replace_cells(table: Table, columns: list[Column], texts: Mapping[str, str], message: Message) -> Table:
    converted = {
        column.name: replace(
            column,
            values=parse_values(
                ["" if value is None else texts.get(str(value), str(value)) for value in column.values]
            ),
        )
        for column in columns
    }
    return replace(table, columns={**table.columns, **converted}, warnings=(*table.warnings, message))
