"""Units in a column of their own (``value,unit`` is ``99.7,MB/s`` and ``0.532,GB/s``): the values in one unit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.column_roles import ColumnRole
from iosonde.core.column_units import measure_unit, split_column_name, split_unit
from iosonde.core.column_values import has_integers, is_consecutive, is_mostly_distinct
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table

VALUE_NAMES = frozenset(("value", "values", "val", "result", "results", "measurement", "measured", "wert", "messwert"))
_UNIT_NAMES = frozenset(("unit", "units", "einheit", "einheiten", "unité", "unidad", "uom"))
# Columns of a table of means that have the unit of the mean.
_STATISTICS = frozenset(
    ("mean", "avg", "average", "median", "sd", "std", "stdev", "stddev", "stderr", "sem", "min", "max", "low", "high")
)
_FIRST_ROWS = 1000
_MOST_LEVELS = 50
_MEASURED_KINDS = ("bytes/s", "operations/s", "s")


@dataclass(frozen=True)
class UnitColumn:
    """A column of ``units`` and the name of the column ``value`` that they belong to; ``units`` has one for each row,
    '' where the cell is empty."""

    name: str
    value: str
    units: tuple[str, ...]

    @property
    def kinds(self) -> dict[str, str]:
        """Unit → its base unit, or itself if that is unknown."""
        return {unit: measure_unit(unit)[0] or unit for unit in dict.fromkeys(self.units)}


def find_unit_columns(table: Table) -> list[UnitColumn]:
    """Return the columns whose name says that they hold units, or whose cells are units of rates and times."""
    pairs = [(column, _find_value(table, column)) for column in table.columns.values() if _has_units(column)]
    return [UnitColumn(column.name, value.name, _list_units(column)) for column, value in pairs if value is not None]


def convert_unit_columns(table: Table) -> Table:
    """Return the table with values in one unit where all units in the column beside them are of one kind, with a
    warning if some are converted. The column of units is no factor."""
    for pair in find_unit_columns(table):
        if len(set(pair.kinds.values())) == 1:
            table = _convert(table, pair)
    return table


def find_value_columns(columns: Sequence[Column]) -> list[Column]:
    """Return those ``columns`` that are called a value, else rates or times, else those with decimals or hardly any
    duplicates; only the first beside a column with the unit of a rate or time. Columns of text and with a unit of their
    own are no candidates."""
    has_rival = any(column.unit and is_speed(build_metric(column.label, column.unit)) for column in columns)
    candidates = [column for column in columns if _is_bare(column) and not column.missing.all()]
    rules = [is_called_value, *([] if has_rival else [_is_called_speed, _is_scattered])]
    for is_value in rules:
        if matches := [column for column in candidates if is_value(column)]:
            return matches
    return []


def list_few_levels(column: Column) -> list[str]:
    """Return the levels in the first rows of a column of text; none if they are many, as of names."""
    levels = [str(level) for level in dict.fromkeys(column.values[:_FIRST_ROWS]) if level is not None]
    return levels if len(levels) <= _MOST_LEVELS else []


def list_statistics(table: Table) -> list[str]:
    """Return the columns of a table of means that have the same unit: ``mean``, ``sd``; none if it is no such table."""
    columns = [column for column in table.columns.values() if _is_bare(column)]
    names = [column.name for column in columns if _STATISTICS.issuperset(_list_words(column))]
    return names if len(names) > 1 else []


def _find_value(table: Table, column: Column) -> Column | None:
    """Return the column whose units ``column`` holds: ``bw`` for ``bw_unit``, else the only one of the values, else the
    one before it; None without such."""
    columns, stem = list(table.columns.values()), _list_words(column)[:-1]
    if stem and _list_words(column)[-1] in _UNIT_NAMES:
        return next((other for other in columns if _is_bare(other) and _list_words(other) == stem), None)
    values, before = find_value_columns(columns), columns[: columns.index(column)][-1:]
    if statistics := list_statistics(table):
        return table.columns[statistics[0]]
    return values[0] if len(values) == 1 else next(filter(_is_bare, before), None)


def convert_to_common_unit(values: np.ndarray, units: Sequence[str]) -> tuple[np.ndarray, str]:
    """Return the values, whose ``units`` are of one kind, in the most frequent of these; and that unit."""
    common = Counter(units).most_common(1)[0][0]
    sizes = {unit: measure_unit(unit)[1] for unit in dict.fromkeys(units)}
    factors = [sizes[unit] / sizes[common] if sizes[common] else 1.0 for unit in units]
    return values * np.array(factors), common


def _convert(table: Table, pair: UnitColumn) -> Table:
    statistics, units = list_statistics(table), table.columns[pair.name]
    columns = {pair.name: replace(units, role=units.role or ColumnRole.FACT)}
    for name in statistics if pair.value in statistics else [pair.value]:
        values, unit = convert_to_common_unit(table.columns[name].values.astype(float), pair.units)
        columns[name] = replace(table.columns[name], values=values, unit=unit)
    template = "the values of {column} are converted to {unit}, from the units in column '{name}'"
    unit = columns[pair.value].unit
    message = Message("units-in-column", template, column=pair.value, unit=unit, name=pair.name)
    warnings = (*table.warnings, *([message] if len(pair.kinds) > 1 else []))
    return replace(table, columns=table.columns | columns, warnings=warnings)


def _has_units(column: Column) -> bool:
    if column.numeric or column.role or column.missing.all():
        return False
    if _UNIT_NAMES.intersection(_list_words(column)[-1:]):
        return True
    kinds = {measure_unit(_parse_unit(level))[0] for level in list_few_levels(column)}
    return bool(kinds) and kinds.issubset(_MEASURED_KINDS) and kinds != {"s"}


def _list_units(column: Column) -> tuple[str, ...]:
    units = {value: "" if value is None else _parse_unit(str(value)) for value in column.values}
    return tuple(units[value] for value in column.values)


def _parse_unit(text: str) -> str:
    """Return a unit as it is written elsewhere; a text that is more than a unit as it is."""
    text = text.strip()
    unit = text[1:-1] if text[:1] + text[-1:] in ("[]", "()") else text
    return text if set("[]()").intersection(unit) else split_unit(f"x [{unit}]")[1] or text


def _list_words(column: Column) -> list[str]:
    return split_column_name(column.label or column.name)


def is_called_value(column: Column) -> bool:
    """Return whether the name says only that the column holds values."""
    return VALUE_NAMES.issuperset(_list_words(column))


def _is_called_speed(column: Column) -> bool:
    return is_speed(build_metric(column.label or column.name, ""))


def _is_scattered(column: Column) -> bool:
    """Return whether it has decimals, or hardly any duplicates and does not number the rows."""
    is_number_of_row = is_consecutive(column.values.astype(float))
    return not has_integers(column) or (is_mostly_distinct(column) and not is_number_of_row)


def _is_bare(column: Column) -> bool:
    return column.numeric and not column.unit
