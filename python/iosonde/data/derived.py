"""Responses computed from columns, such as ``log(Y)``, ``value/nodes``, ``1e6 * size / seconds``; parsed by a
whitelist.

Column names are matched first, so that ``write_MiB/s`` is not a division if there is such a column. Nothing is
executed.
"""

import ast
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.expression import ARITHMETIC, Expression, Grammar
from iosonde.core.table import Table
from iosonde.core.transforms import TRANSFORMS, apply_transform

Array = npt.NDArray[np.float64]

_HINT = f"use column names, numbers, + - * / **, brackets and {', '.join(TRANSFORMS)}"


@dataclass(frozen=True)
class Derived:
    """A checked expression. ``names`` are its columns. ``transform`` is its outermost function, if it is only that
    function of one column."""

    text: str
    expression: Expression
    names: tuple[str, ...]
    transform: str

    def values(self, columns: Mapping[str, Array]) -> Array:
        """Return its value for each row; NaN if a column has none. Raises DataError if it is undefined."""
        with np.errstate(all="ignore"):
            values = np.asarray(self.expression.number(columns), dtype=float)
        present = ~np.any([np.isnan(columns[name]) for name in self.names], axis=0)
        if not np.all(np.isfinite(values[present])):
            row = int(np.flatnonzero(present & ~np.isfinite(values))[0])
            raise DataError(
                "undefined-transform",
                "{expression} is undefined for {values}",
                "exclude such rows with {spell.where}",
                expression=self.text,
                values=", ".join(f"{name}={columns[name][row]:g}" for name in self.names),
            )
        return values


def parse_expression(text: str, columns: Sequence[str]) -> Derived | None:
    """Parse an expression over names of ``columns``; None if it has none of them. Raises InputError for a forbidden
    part."""
    if len(text) > _GRAMMAR.max_characters:
        raise InputError(
            "expression-too-long",
            "an expression of {n_characters} characters is too long",
            _HINT,
            n_characters=len(text),
        )
    aliases: dict[str, str] = {}
    # Longest names first: `write_MiB/s` before `write_MiB`.
    ordered = sorted((re.escape(name) for name in columns if name), key=len, reverse=True)
    pattern = rf"(?<![\w.])(?:{'|'.join(ordered)})(?![\w(])"
    written = re.sub(pattern, lambda match: aliases.setdefault(match[0], f"v{len(aliases)}"), text) if ordered else text
    if not aliases:
        return None
    try:
        expression = _GRAMMAR.read(written, aliases.values(), "")
    except InputError as error:
        raise _translate_error(text, error) from None
    tree = expression.replace_names({alias: name for name, alias in aliases.items()})
    expression = replace(expression, tree=tree)
    match expression.tree:
        case ast.Call(ast.Name(function), [ast.Name()]):
            return Derived(text, expression, tuple(aliases), function)
    return Derived(text, expression, tuple(aliases), "")


def parse_over_table(text: str, table: Table) -> Derived | None:
    """Parse an expression over the columns of a table and their labels; None for a plain column. Raises InputError,
    DataError."""
    if table.has_column(text):
        return None
    expression = parse_expression(text, [*table.columns, *(column.label for column in table.columns.values())])
    if expression is None:
        table.column(text)  # raises, with the nearest names
    return expression


def _translate_error(text: str, error: InputError) -> InputError:
    if error.code == "unknown-factor":
        column = error.values["factor"]
        return InputError(
            "unknown-column", "'{expression}': unknown column '{column}'", _HINT, expression=text, column=column
        )
    transform = error.values.get("function")
    if error.code == "unsupported-syntax" and transform and transform not in TRANSFORMS:
        return InputError(
            "unknown-transform",
            "'{expression}': unknown transform '{transform}'",
            _HINT,
            expression=text,
            transform=transform,
        )
    return InputError("invalid-expression", "cannot parse '{expression}'", _HINT, expression=text)


def is_scaled(node: ast.expr, name: str) -> bool:
    """Return whether it only multiplies or divides the column ``name``, so that its unit stays of that kind."""
    match node:
        case ast.BinOp(lhs, ast.Mult(), rhs):
            return is_scaled(lhs, name) or is_scaled(rhs, name)
        case ast.BinOp(lhs, ast.Div()):
            return is_scaled(lhs, name)
    return isinstance(node, ast.Name) and node.id == name


def is_decreasing(node: ast.expr, name: str) -> bool:
    """Return whether it decreases as the column ``name`` increases, such as ``1 / seconds``, if all others are above 0:
    each division by it, subtraction of it, inverse and minus sign reverses the direction."""
    match node:
        case ast.UnaryOp(_, operand):
            return not is_decreasing(operand, name)
        case ast.Call(ast.Name(function), [argument]):
            return is_decreasing(argument, name) != (function == "inverse")
        case ast.BinOp(lhs, op, rhs):
            if any(isinstance(child, ast.Name) and child.id == name for child in ast.walk(lhs)):
                return is_decreasing(lhs, name) != (isinstance(op, ast.Pow) and isinstance(rhs, ast.UnaryOp))
            return is_decreasing(rhs, name) != isinstance(op, (ast.Div, ast.Sub))
    return False


def _apply_transform(transform: str, arguments: Sequence[ast.expr], values: Array) -> Array:
    return apply_transform(transform, np.asarray(values), ast.unparse(arguments[0]))


_GRAMMAR = Grammar(
    operators={**ARITHMETIC, ast.Div: operator.truediv, ast.Pow: operator.pow},
    is_constant=lambda value: type(value) in (int, float) and abs(value) < 1e100,
    to_number=lambda value: value if isinstance(value, np.ndarray) else np.float64(value),
    functions={transform: partial(_apply_transform, transform) for transform in TRANSFORMS},
    n_arguments=range(1, 2),
    max_characters=500,
)
