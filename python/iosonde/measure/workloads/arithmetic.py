"""Computed whole numbers: ``3 * 64MiB + 4096``. Only + - * // and brackets; nothing else is ever evaluated."""

from __future__ import annotations

import ast
import operator
import re

from iosonde.core.errors import InputError
from iosonde.core.expression import ARITHMETIC, Grammar
from iosonde.core.units import parse_size

_SIZE = re.compile(r"\b\d+(?:\.\d+)?\s*[KMGTP]i?B?\b", re.IGNORECASE)


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
    plain = _SIZE.sub(lambda match: str(parse_size(match[0])), text)
    try:
        return int(_GRAMMAR.read(plain, (), "").number({}))
    except InputError as error:
        raise InputError(
            "not-an-integer",
            "'{setting}' is not a whole number",
            "write it like 4096, 64KiB or ${{RANK}} * 64KiB",
            setting=text,
        ) from error


def _check_range(number: int) -> int:
    """Return the number. Raises ValueError if it exceeds 64 bits."""
    if abs(number) >= 2**63:
        raise ValueError
    return number


_GRAMMAR = Grammar({**ARITHMETIC, ast.FloorDiv: operator.floordiv}, lambda value: type(value) is int, _check_range)
