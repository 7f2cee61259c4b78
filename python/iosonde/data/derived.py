"""Responses computed from columns, such as ``log(Y)``, ``value/nodes``, ``1e6 * size / seconds``; parsed by a
whitelist.

Column names are matched first, so that ``write_MiB/s`` is not a division if there is such a column. Nothing is
executed.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.transforms import TRANSFORMS, apply

Array = npt.NDArray[np.float64]

_LONGEST = 500
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_HINT = f"use column names, numbers, + - * / **, brackets and {', '.join(TRANSFORMS)}"


@dataclass(frozen=True)
class Derived:
    """A checked expression. ``names`` are its columns. ``transform`` is its outermost function, if it is only that
    function of one column."""

    text: str
    tree: ast.expr
    names: tuple[str, ...]
    transform: str

    def values(self, columns: Mapping[str, Array]) -> Array:
        """Return its value for each row; NaN if a column has none. Raises DataError if it is undefined."""
        with np.errstate(all="ignore"):
            values = np.asarray(self._evaluate(self.tree, columns), dtype=float)
        present = ~np.any([np.isnan(columns[name]) for name in self.names], axis=0)
        if not np.all(np.isfinite(values[present])):
            row = int(np.flatnonzero(present & ~np.isfinite(values))[0])
            at = ", ".join(f"{name}={columns[name][row]:g}" for name in self.names)
            raise DataError(
                "undefined-transform",
                "{expression} is undefined for {values}",
                "exclude such rows with {spell.where}",
                expression=self.text,
                values=at,
            )
        return values

    def scales(self, name: str) -> bool:
        """Return whether it only multiplies or divides the column ``name``, so that its unit stays of that kind."""
        return _is_scaled(self.tree, self.names.index(name))

    def falls(self, name: str) -> bool:
        """Return whether it decreases as the column ``name`` increases, such as ``1 / seconds``, if all others are
        above 0."""
        return _is_decreasing(self.tree, f"v{self.names.index(name)}")

    def _evaluate(self, node: ast.expr, columns: Mapping[str, Array]) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return columns[self.names[int(node.id[1:])]]
        if isinstance(node, ast.UnaryOp):
            return -self._evaluate(node.operand, columns)
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](self._evaluate(node.left, columns), self._evaluate(node.right, columns))
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        inner = np.asarray(self._evaluate(node.args[0], columns), dtype=float)
        written = re.sub(r"\bv(\d+)\b", lambda match: self.names[int(match[1])], ast.unparse(node.args[0]))
        return apply(node.func.id, inner, written)


def parse(text: str, columns: Sequence[str]) -> Derived | None:
    """Parse an expression over names of ``columns``; None if it has none of them. Raises InputError for a forbidden
    part."""
    if len(text) > _LONGEST:
        raise InputError(
            "expression-too-long",
            "an expression of {n_characters} characters is too long",
            _HINT,
            n_characters=len(text),
        )
    names: list[str] = []

    def replace_name(match: re.Match[str]) -> str:
        if match[0] not in names:
            names.append(match[0])
        return f"v{names.index(match[0])}"

    # Longest names first: `write_MiB/s` before `write_MiB`.
    ordered = sorted((re.escape(name) for name in columns if name), key=len, reverse=True)
    if not ordered:
        return None
    written = re.sub(rf"(?<![\w.])(?:{'|'.join(ordered)})(?![\w(])", replace_name, text)
    if not names:
        return None
    try:
        tree = ast.parse(written.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError("invalid-expression", "cannot parse '{expression}'", _HINT, expression=text) from None
    _check_node(tree, text, len(names))
    outer = tree.func.id if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else ""
    plain = isinstance(tree, ast.Call) and isinstance(tree.args[0], ast.Name)
    return Derived(text, tree, tuple(names), outer if plain else "")


def _check_node(node: ast.AST, text: str, n_names: int) -> None:
    """Check an expression against the whitelist. Raises InputError."""
    if isinstance(node, ast.Constant):
        number = node.value
        good = isinstance(number, (int, float)) and not isinstance(number, bool) and abs(number) < 1e100
    elif isinstance(node, ast.Name):
        good = bool(re.fullmatch(r"v\d+", node.id)) and int(node.id[1:]) < n_names
        if not good:
            raise InputError(
                "unknown-column",
                "'{expression}': unknown column '{column}'",
                _HINT,
                expression=text,
                column=node.id,
            )
    elif isinstance(node, ast.UnaryOp):
        good = isinstance(node.op, ast.USub)
        _check_node(node.operand, text, n_names)
    elif isinstance(node, ast.BinOp):
        good = type(node.op) in _OPERATORS
        _check_node(node.left, text, n_names)
        _check_node(node.right, text, n_names)
    elif isinstance(node, ast.Call):
        function = node.func.id if isinstance(node.func, ast.Name) else ""
        if function not in TRANSFORMS:
            raise InputError(
                "unknown-transform",
                "'{expression}': unknown transform '{transform}'",
                _HINT,
                expression=text,
                transform=function or ast.unparse(node.func),
            )
        good = len(node.args) == 1 and not node.keywords
        for argument in node.args:
            _check_node(argument, text, n_names)
    else:
        good = False
    if not good:
        raise InputError("invalid-expression", "cannot parse '{expression}'", _HINT, expression=text)


def _is_scaled(node: ast.expr, index: int) -> bool:
    if isinstance(node, ast.Name):
        return node.id == f"v{index}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        lhs = _is_scaled(node.left, index)
        return lhs or (isinstance(node.op, ast.Mult) and _is_scaled(node.right, index))
    return False


def _is_decreasing(node: ast.expr, name: str) -> bool:
    """Return whether it decreases: each division by ``name``, subtraction of it, inverse and minus sign reverses the
    direction."""
    if isinstance(node, ast.UnaryOp):
        return not _is_decreasing(node.operand, name)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _is_decreasing(node.args[0], name) != (node.func.id == "inverse")
    if isinstance(node, ast.BinOp):
        if _has_name(node.left, name):
            power = isinstance(node.op, ast.Pow) and isinstance(node.right, ast.UnaryOp)
            return _is_decreasing(node.left, name) != power
        return _is_decreasing(node.right, name) != isinstance(node.op, (ast.Div, ast.Sub))
    return False


def _has_name(node: ast.expr, name: str) -> bool:
    return any(isinstance(child, ast.Name) and child.id == name for child in ast.walk(node))
