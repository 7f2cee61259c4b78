"""Columns of two tables that are one, but for the unit in their header: ``write (MB/s)`` and ``write (GB/s)``."""

from collections.abc import Iterator
from dataclasses import replace

from iosonde.core.column_units import measure_unit
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

from .caveat import Caveat


def unify_units(a: Table, b: Table, name: str) -> tuple[Table, tuple[Caveat, ...]]:
    """Return B with the names and units of A for columns of the same label in another unit of its kind, and a caveat
    for each; ``name`` is that of B."""
    pairs = {column.name: twin for column, twin in _iter_pairs(a, b)}
    columns = {}
    for column in b.columns.values():
        twin = pairs.get(column.name)
        unified = column if twin is None else _convert(column, twin)
        columns[unified.name] = unified
    template = "{column} of {name} is converted from {from_unit} to {unit}"
    caveats = (
        Caveat(
            Message(
                "converted-unit", template, column=twin.label, name=name, from_unit=b.columns[own].unit, unit=twin.unit
            )
        )
        for own, twin in pairs.items()
    )
    return replace(b, columns=columns), tuple(caveats)


def _iter_pairs(a: Table, b: Table) -> Iterator[tuple[Column, Column]]:
    for column in b.columns.values():
        twins = [other for other in a.columns.values() if other.label == column.label != ""]
        if len(twins) == 1 and column.name not in a.columns and column.numeric and twins[0].numeric:
            kinds = measure_unit(column.unit)[0], measure_unit(twins[0].unit)[0]
            if kinds[0] and kinds[0] == kinds[1] and twins[0].name not in b.columns:
                yield column, twins[0]


def _convert(column: Column, twin: Column) -> Column:
    factor = measure_unit(column.unit)[1] / measure_unit(twin.unit)[1]
    return replace(column, name=twin.name, label=twin.label, unit=twin.unit, values=column.values * factor)
