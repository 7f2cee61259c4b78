"""Computed whole numbers: ``3 * 64MiB + 4096``. Only + - * // and brackets; nothing else is ever evaluated."""

from __future__ import annotations

import ast
import operator
import re

from iosonde.core.errors import InputError
from iosonde.core.units import parse_size

_SIZE = re.compile(r"\b\d+(?:\.\d+)?\s*[KMGTP]i?B?\b", re.IGNORECASE)
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
_MOST = 2**63


def parse_integer(value: int | float | str) -> int:
    """Return the number, or the value of the text, sizes in bytes. Raises InputError."""
    if isinstance(value, str):
        return _evaluate_text(value)
    if isinstance(value, bool) or value != int(value):
        raise InputError(
            "not-an-integer",
            "{setting} is not a whole number",
            "write it like 4096, 64KiB or ${{RANK}} * 64KiB",
            setting=value,
        )
    return int(value)


def _evaluate_text(text: str) -> int:
    wrong = InputError(
        "not-an-integer",
        "'{setting}' is not a whole number",
        "write it like 4096, 64KiB or ${{RANK}} * 64KiB",
        setting=text,
    )
    if len(text) > 1000:
        raise wrong
    try:
        plain = _SIZE.sub(lambda match: str(parse_size(match[0])), text)
        number = _evaluate_node(ast.parse(plain.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        raise wrong from error
    return number


def _evaluate_node(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        result = node.value
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        result = _OPERATORS[type(node.op)](_evaluate_node(node.left), _evaluate_node(node.right))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        result = -_evaluate_node(node.operand)
    else:
        raise ValueError
    if abs(result) >= _MOST:
        raise ValueError
    return result
