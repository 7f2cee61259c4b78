"""``--where 'fs=nfs'``: conditions on the columns of a store or any other table.

A condition is (column, op, value); several are joined by *and*. Numbers are compared as numbers; the value may have a
unit (``transfer_size=4KiB``), as may a written size (``64k`` is ``64KiB``). Everything else is compared as text, so
that ``started_at>=2026-11`` works. Two texts that are numbers have the order of the numbers. An empty value (``fs=``)
selects missing values. Incomplete runs of a store are left out unless a condition names them: ``complete=any`` takes
all runs, ``complete=no`` only these.
"""

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .errors import InputError
from .units import parse_size, parse_suffixed_size

_CONDITION = re.compile(r"^\s*([^=!<>]+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*$", re.DOTALL)
_OPS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPLETE, _ANY = "complete", "any"
ALSO_INCOMPLETE = f"{COMPLETE}={_ANY}"  # the meaning of --incomplete
_BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Condition(NamedTuple):
    """A condition ``column op value``; op is one of = != < <= > >=."""

    column: str
    op: str
    value: Any


def parse_where(texts: Iterable[str]) -> list[Condition]:
    """Parse conditions such as ``fs=nfs``, ``nodes>=2``. Raises InputError."""
    conditions = []
    for text in texts:
        match = _CONDITION.match(text)
        if not match:
            raise InputError(
                "invalid-condition",
                "'{condition}' is not a condition",
                "write it like 'fs=nfs', 'nodes>=2' or 'fs!=ext4'",
                condition=text,
            )
        conditions.append(Condition(*match.groups()))
    return conditions


def has_incomplete_condition(conditions: Iterable[tuple[str, str, Any]]) -> bool:
    """Return whether a condition names incomplete runs, which are otherwise left out."""
    return any(column == COMPLETE for column, _, _ in conditions)


def check_columns(conditions: Iterable[tuple[str, str, Any]], columns: Iterable[str]) -> None:
    """Check that every column exists. Raises InputError, naming the nearest columns."""
    names = list(columns)
    for column, op, _ in conditions:
        if op not in _OPS:
            raise InputError(
                "unknown-operator", "'{operator}' is not a comparison", "use =, !=, <, <=, > or >=", operator=op
            )
        if column not in names:
            near = difflib.get_close_matches(column, names, n=3, cutoff=0.5)
            raise InputError(
                "unknown-column",
                "unknown column '{column}'",
                "did you mean {nearest}?" if near else "known: {columns}",
                column=column,
                nearest=" or ".join(near),
                columns=", ".join(names),
            )


def find_matching_rows(columns: Mapping[str, Sequence[Any]], conditions: Sequence[tuple[str, str, Any]]) -> list[int]:
    """Return the row numbers of a table (column → values, all of one length) for which all conditions hold.

    Raises InputError for an unknown column, or an order between a number and a word.
    """
    check_columns(conditions, columns)
    rows: Iterable[int] = range(len(next(iter(columns.values()), ())))
    for condition in conditions:
        cells = columns[condition[0]]
        rows = [row for row in rows if is_fulfilled(cells[row], condition)]
    return list(rows)


def is_fulfilled(cell: Any, condition: tuple[str, str, Any]) -> bool:
    """Return whether one cell fulfils a condition. A list fulfils ``=`` if it contains the value."""
    column, op, operand = condition
    if isinstance(cell, (list, tuple)):
        contained = operand in cell or (operand == "" and not cell)
        return contained == (op == "=") if op in ("=", "!=") else _raise_not_comparable(column, op, operand)
    if cell is None or operand is None or operand == "":
        return _OPS[op](cell in (None, ""), operand in (None, "")) if op in ("=", "!=") else False
    if isinstance(cell, bool) and op == "=" and str(operand).lower() == _ANY:
        return True
    if isinstance(cell, str) and op in ("=", "!="):
        return _OPS[op](True, cell == str(operand) or _same_size(cell, str(operand)))
    lhs, right = _align_types(cell, operand)
    if isinstance(lhs, str) != isinstance(right, str):
        return op == "!=" if op in ("=", "!=") else _raise_not_comparable(column, op, operand)
    return _OPS[op](lhs, right)


def _same_size(cell: str, operand: str) -> bool:
    """Return whether two texts are one size: ``64k`` and ``64 KiB``. A plain number counts in bytes next to a size."""
    if not (cell[:1].isdigit() and operand[:1].isdigit()):
        return False
    sizes = parse_suffixed_size(cell), parse_suffixed_size(operand)
    if None not in sizes:
        return sizes[0] == sizes[1]
    return sizes != (None, None) and number_of(cell) == number_of(operand)


def _align_types(cell: Any, operand: Any) -> tuple[Any, Any]:
    """Convert both to numbers if both are numbers, both to text if the cell is text."""
    if isinstance(cell, bool):
        return cell, _BOOLS.get(str(operand).lower(), operand)
    if isinstance(cell, str):
        lhs, right = number_of(cell), number_of(operand)
        return (cell, str(operand)) if lhs is None or right is None else (lhs, right)
    right = number_of(operand)
    return cell, operand if right is None else right


def number_of(value: Any) -> Any:
    """Convert a text to a number, None if it is not one; other values stay."""
    if not isinstance(value, str):
        return value
    for read in (int, float, parse_size):
        try:
            return read(value)
        except (ValueError, InputError):
            continue
    return None


def _raise_not_comparable(column: str, op: str, operand: Any) -> bool:
    raise InputError(
        "not-comparable",
        "'{column}{operator}{operand}': {column} cannot be compared with '{operand}'",
        "use = or != there",
        column=column,
        operator=op,
        operand=operand,
    )
