"""Columns of loads: how busy, full or warm a machine was, which nobody set."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from iosonde.core.column_roles import ColumnRole
from iosonde.core.column_units import TIME_UNITS, is_rate, split_column_name
from iosonde.core.column_values import has_integers, is_mostly_distinct
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

from .failed_rows import is_failure_count
from .raw_rows import parse_values

# Conditions that were there before, if the numbers look measured.
_CONDITIONS = frozenset(
    ("background", "ambient", "baseline", "uptime", "occupancy", "load", "loadavg", "load1", "load5", "load15")
)
_TEMPERATURES = frozenset(("temp", "temperature", "temperatur", "celsius", "°c"))
# Parts of a machine that a measurement keeps busy.
_PARTS = frozenset(("cpu", "cpus", "gpu", "mem", "memory", "ram", "swap", "host", "server", "client", "system"))
_SHARES = frozenset(("util", "utilization", "utilisation", "usage", "used", "busy", "percent", "pct", "auslastung"))
_LOADS = frozenset(("iowait", "util", "utilization", "utilisation"))
_BOUNDS = frozenset(("limit", "cap", "quota", "target", "max", "set", "nominal"))
# Counts of what went wrong.
_TROUBLES = frozenset(
    ("errors", "retries", "retransmits", "timeouts", "drops", "dropped", "lost", "warnings", "failures")
)
# Changes and shares that were computed from results.
_DERIVED = frozenset(
    ("diff", "difference", "delta", "change", "gain", "improvement", "speedup", "ratio", "relative", "vs", "baseline")
    + ("differenz", "änderung", "verbesserung", "verhältnis", "faktor")
)
_FEWEST_LEVELS = 8  # of numbers with decimals that no one sets
_ROUND = 5  # percent: whoever sets many shares takes multiples of it
_SHARES_IN_CELLS = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*(%|[x×])")
_RATIO = "×"  # unit of 1.01x, of two results


def guess_load_roles(
    columns: Sequence[Column], is_measured: bool, may_be_measured: Callable[[Column], bool]
) -> dict[str, ColumnRole]:
    """Return the roles of the columns of loads. If nothing else was measured, and no other column may have been, the
    outcomes are no loads but what was measured."""
    roles = {column.name: role for column in columns if (role := _guess_load_role(column)) is not None}
    if is_measured or any(may_be_measured(column) for column in columns if column.name not in roles):
        return roles
    return {name: role for name, role in roles.items() if role is ColumnRole.COVARIATE}


def _guess_load_role(column: Column) -> ColumnRole | None:
    """Return the role of a column of loads: an outcome if the measurement itself makes them, such as the utilization of
    a CPU, whose effect nothing may take out; a covariate if it finds them, such as a background load; None for any
    other column."""
    words = set(split_column_name(column.label or column.name))
    if not column.numeric or column.missing.all() or is_rate(column.unit):
        return None
    is_trouble = is_failure_count(column) or (bool(words & _TROUBLES) and has_integers(column))
    if is_trouble or _is_derived(column):
        return ColumnRole.OUTCOME
    if words & _BOUNDS:
        return None
    is_scattered = is_mostly_distinct(column) or (not has_integers(column) and len(column.levels) >= _FEWEST_LEVELS)
    if words & _TEMPERATURES or (is_scattered and words & _CONDITIONS and not column.unit):
        return ColumnRole.COVARIATE
    is_load = _is_share(column) or (is_scattered and words <= _PARTS | _LOADS)
    return ColumnRole.OUTCOME if is_load and column.unit not in TIME_UNITS else None


def convert_percentages(table: Table) -> Table:
    """Convert cells such as ``21%`` and ``1.01x`` to numbers where nobody set them, with a warning."""
    for column in table.columns.values():
        cells = [] if column.numeric else list(column.counts)
        matches = {cell: match for cell in cells if (match := _SHARES_IN_CELLS.fullmatch(cell.strip()))}
        marks = {"%" if match[2] == "%" else _RATIO for match in matches.values()}
        if len(marks) != 1 or len(matches) < len(cells):
            continue
        values = parse_values(["" if value is None else matches[str(value)][1] for value in column.values])
        numbers = replace(column, values=values, unit=column.unit or marks.pop())
        if _is_share(column) or _is_derived(numbers):
            what = "ratios" if numbers.unit == _RATIO else "percentages"
            message = Message("percentages", "the cells of column '{column}' are {what}", column=column.name, what=what)
            columns = {**table.columns, column.name: numbers}
            table = replace(table, columns=columns, warnings=(*table.warnings, message))
    return table


def _is_derived(column: Column) -> bool:
    """Return whether a column of percentages or ratios is named as a change, or has many that are not round: a share of
    another result."""
    levels = [float(level) for level in column.levels if isinstance(level, int | float)]
    n_round = sum(level % (1 if column.unit == _RATIO else _ROUND) == 0 for level in levels)
    is_scattered = len(levels) >= _FEWEST_LEVELS and 2 * n_round < len(levels)
    is_change = not _DERIVED.isdisjoint(split_column_name(column.label or column.name))
    return column.unit in ("%", "percent", _RATIO) and (is_scattered or is_change)


def _is_share(column: Column) -> bool:
    """Return whether the name is that of a share of a machine: ``cpu_util``, ``CPU %``, ``mem_used``."""
    words = set(split_column_name(column.label or column.name))
    return bool(words & _PARTS) and (bool(words & _SHARES) or column.unit in ("%", "percent") or "%" in column.name)
