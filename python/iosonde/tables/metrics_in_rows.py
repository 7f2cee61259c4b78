"""Metrics in rows (``metric,value`` is ``write MB/s,99.7`` and ``lat us,1003``): a column for each, never one mean."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import ColumnRole
from iosonde.core.column_units import measure_unit, split_column_name, split_unit
from iosonde.core.column_values import is_consecutive
from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table, format_cell
from iosonde.core.words import shorten_list

from .dates import is_date
from .summary_rows import are_statistics
from .unit_columns import (
    UnitColumn,
    convert_to_common_unit,
    convert_unit_columns,
    find_unit_columns,
    find_value_columns,
    is_called_value,
    list_few_levels,
    list_statistics,
)

_METRIC_NAMES = frozenset(
    ("metric", "metrics", "metrik", "measure", "quantity", "messgröße", "kennzahl", "kenngröße", "indicator", "kpi")
    + ("mesure", "métrique", "grandeur")
)
_STATISTIC_NAMES = frozenset(
    ("stat", "stats", "statistic", "statistik", "percentile", "quantile", "perzentil", "quantil")
)
_OPERATION_NAMES = frozenset(("op", "operation", "operations", "rw", "vorgang"))
# Units of metrics that are named without one.
_KINDS = {
    **dict.fromkeys(("bandwidth", "bw", "throughput", "tput", "durchsatz", "bandbreite"), "bytes/s"),
    **dict.fromkeys(("latency", "lat", "clat", "slat", "latenz", "duration", "runtime", "laufzeit", "elapsed"), "s"),
    "iops": "operations/s",
}
_COMPARISON = re.compile(r"[<>=!]")


def split_metrics(table: Table, question: Sequence[str] = ()) -> Table:
    """Return the table with a column for each metric where its rows hold several, with a warning; rows that differ in
    their metric only become one. Values whose units are in a column of their own are converted to one unit.

    The metrics stay in rows where the texts of the ``question`` name their column. Raises InputError if they name the
    values of several metrics, or if several columns may hold the values."""
    table = convert_unit_columns(table)
    names = [text for text in question if not _COMPARISON.search(text)]
    units = next((pair for pair in find_unit_columns(table) if len(set(pair.kinds.values())) > 1), None)
    metric = _find_metric_column(table)
    by = metric.name if metric else units.name if units else ""
    values = list_statistics(table) or [units.value] if units else _list_values(table, by)
    if not by or not values:
        return table
    column, (value, *rivals) = table.columns[by], values
    operation = _find_operation(table, by, names)
    titles = _list_titles(column, units, table.columns[value], operation)
    is_mixed = len(set(titles)) > 1
    if is_mixed and (rivals or value in names or (by in names and (units or _has_several_kinds(column)))):
        raise _build_error(table, by, values)
    if rivals or by in names:
        return table
    if value in names:
        unit = table.columns[value].unit or split_unit(titles[0])[1]
        return replace(table, columns={**table.columns, value: replace(table.columns[value], unit=unit)})
    taken = [by, value, *([units.name] if units else []), *([operation.name] if operation else [])]
    return _split(table, taken, units, titles)


def _find_metric_column(table: Table) -> Column | None:
    """Return the column that is called a metric, or whose levels are statistics, or have several kinds of units."""
    columns = [column for column in table.columns.values() if not column.role and not column.missing.all()]
    texts = [column for column in columns if not column.numeric]
    by_name = [column for column in texts if _METRIC_NAMES.intersection(split_column_name(column.label)[-1:])]
    several = (*by_name, *filter(_has_several_kinds, texts), *filter(_has_statistics, columns))
    return next(iter(several), None)


def _has_statistics(column: Column) -> bool:
    is_called = _STATISTIC_NAMES.issuperset(split_column_name(column.label) or [""])
    if column.numeric:
        return is_called and all(0 <= float(level) <= 100 for level in column.levels)  # type: ignore[arg-type]  # numbers
    return is_called or are_statistics(list_few_levels(column))


def _find_operation(table: Table, by: str, names: Sequence[str]) -> Column | None:
    """Return the column of operations, which are part of a metric's name as in a store, if the question does not name
    it."""
    columns = [column for column in table.columns.values() if column.name not in (by, *names) and not column.numeric]
    operations = [column for column in columns if _OPERATION_NAMES.issuperset(split_column_name(column.label) or [""])]
    is_metric = not _has_statistics(table.columns[by]) and not any(column.role for column in operations)
    return operations[0] if is_metric and len(operations) == 1 and operations[0].is_varying else None


def _has_several_kinds(column: Column) -> bool:
    kinds = {kind for level in list_few_levels(column) if (kind := _find_kind(level))}
    return len(kinds) > 1


def _find_kind(level: str) -> str:
    """Return the base unit of a metric by its name: ``write MB/s``, ``read latency``; '' if the name is no metric's."""
    if not level[:1].isalpha():
        return ""
    words = split_column_name(level)
    return measure_unit(split_unit(level)[1])[0] or _KINDS.get(words[-1] if words else "", "")


def _list_values(table: Table, by: str) -> list[str]:
    """Return the columns that may hold the values of the metrics in column ``by``; statistics may have a unit."""
    others = [column for column in table.columns.values() if column.name != by and not column.role and column.numeric]
    measured = [column for column in others if column.unit and is_speed(build_metric(column.label, column.unit))]
    values = [column for column in others if is_called_value(column)]
    if not values and by and _has_statistics(table.columns[by]):
        values = measured
    return list_statistics(table) or [column.name for column in values or find_value_columns(others)]


def _list_titles(column: Column, units: UnitColumn | None, value: Column, operation: Column | None) -> list[str]:
    """Return the metric of each row: the level of its ``column``, after its operation; of statistics after the name of
    the ``value``; with the unit where the level, or the column of ``units``, has several kinds."""
    levels = [format_cell(level) for (level,) in Table({column.name: column}).row_keys([column.name])]
    if _has_statistics(column):
        levels = [f"{value.label} {'p' * column.numeric}{level}" for level in levels]
    if units is not None:
        levels = _add_units([value.name] * len(levels) if column.name == units.name else levels, units)
    return (
        levels
        if operation is None
        else [f"{format_cell(word)} {level}" for word, level in zip(operation.values, levels, strict=True)]
    )


def _add_units(levels: Sequence[str], units: UnitColumn) -> list[str]:
    common = {kind: _choose_common(units, kind) for kind in units.kinds.values()}
    kinds = [units.kinds[unit] for unit in units.units]
    by_level = {level: set(several) for level, several in group_by_key(zip(levels, kinds, strict=True)).items()}
    return [
        level if len(by_level[level]) == 1 or not common[kind] else f"{level} [{common[kind]}]"
        for level, kind in zip(levels, kinds, strict=True)
    ]


def _choose_common(units: UnitColumn, kind: str) -> str:
    return Counter(unit for unit in units.units if units.kinds[unit] == kind).most_common(1)[0][0]


def _split(table: Table, taken: Sequence[str], units: UnitColumn | None, titles: Sequence[str]) -> Table:
    """Return the table with a column for each title, without the ``taken`` columns: the metrics, the values, …"""
    by, value = taken[:2]
    rest = [column.name for column in table.columns.values() if column.name not in taken and not _is_counter(column)]
    rows, firsts = _join_rows(table.number_groups(rest), titles)
    joined = table.take(firsts)
    columns = {name: column for name, column in joined.columns.items() if name not in taken}
    numbers = table.columns[value].values.astype(float)
    for title, places in group_by_key((title, place) for place, title in enumerate(titles)).items():
        own, (label, unit) = numbers[places], split_unit(title)
        unit = unit or table.columns[value].unit
        if units:
            own, unit = convert_to_common_unit(own, [units.units[place] for place in places])
        cells = np.full(len(firsts), np.nan)
        cells[rows[places]] = own
        name = f"{by}={title}" if title in columns else title
        columns[name] = Column(name, cells, label, unit, role=ColumnRole.RESPONSE)
    template = "the values in column '{column}' are of {n} metrics, each of which is analysed by itself: {metrics}"
    metrics = {"n": len(set(titles)), "metrics": shorten_list(dict.fromkeys(titles))}
    message = Message("metrics-in-rows", template, column=value, **metrics)
    return replace(joined, columns=columns, warnings=(*table.warnings, *([message] if len(set(titles)) > 1 else [])))


def _join_rows(cells: npt.NDArray[np.intp], titles: Sequence[str]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the number of each row's joined row, and the first row of each: rows of one cell that are the first of
    their metrics are one, and so are the second ones."""
    turns: Counter[tuple[int, str]] = Counter()
    numbers: dict[tuple[int, int], int] = {}
    rows = np.empty(len(titles), dtype=np.intp)
    for place, key in enumerate(zip(cells.tolist(), titles, strict=True)):
        rows[place] = numbers.setdefault((key[0], turns[key]), len(numbers))
        turns[key] += 1
    return rows, np.unique(rows, return_index=True)[1]


def _is_counter(column: Column) -> bool:
    """Return whether a column numbers or dates the rows of the file, which says nothing of a joined row."""
    present = column.values[~column.missing]
    if column.numeric:
        return is_consecutive(present.astype(float))
    return present.size > 0 and all(is_date(str(value)) for value in present[:20])


def _build_error(table: Table, by: str, values: Sequence[str]) -> InputError:
    hint = "choose one, such as {spell.where:'{by}={level}'}"
    is_single = len(values) == 1
    return InputError(
        "several-metrics",
        "{table}: the numbers of {columns} are of several metrics, one for each {by}: {levels}",
        hint + (", or name none" if is_single else ", or call the column of the numbers 'value'"),
        table=table.source or "the table",
        columns=", ".join(values),
        by=by,
        levels=shorten_list(table.columns[by].levels),
        level=next(str(level) for level in table.columns[by].levels),
    )
