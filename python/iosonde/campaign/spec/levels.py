"""Conversion of a factor's levels to base units: ``64KiB`` becomes bytes, ``30s`` seconds.

A unit of ``bytes`` or ``s`` selects it; without a unit, levels that all carry one of ours do (``64KiB``, ``4kB``,
``30s``, ``5min``). ``64k`` and ``5m`` stay text: tools interpret them differently.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import FactorValue
from iosonde.core.units import parse_seconds, parse_size

BYTES, SECONDS = "bytes", "s"
_SIZE = re.compile(r"\d+(\.\d+)?\s*([KMGTP]i?B|kB|B)")
_TIME = re.compile(r"\d+(\.\d+)?\s*(ns|us|µs|ms|s|sec|min|h)")


def read_levels(declaration: Any) -> tuple[tuple[FactorValue, ...], str]:
    """(levels, unit) of a factor: a value, a list, or a mapping with ``levels`` and ``unit``. Raises InputError."""
    unit = declaration.get("unit", "") if isinstance(declaration, dict) else ""
    levels = declaration["levels"] if isinstance(declaration, dict) else declaration
    levels = levels if isinstance(levels, (list, tuple)) else [levels]
    unit = unit or _detect_unit(levels)
    read: Callable[[Any], FactorValue] | None = {BYTES: parse_size, SECONDS: _parse_level_seconds}.get(unit)
    values = tuple(levels if read is None else [read(level) for level in levels])
    kinds = list(dict.fromkeys(_classify_level(level) for level in values))
    if len(kinds) > 1:
        raise InputError(
            "mixed-level-types",
            "the levels mix {kinds}",
            "make them all numbers, or put all of them in quotes",
            kinds=" and ".join(kinds),
        )
    if len(set(values)) < len(values):
        raise InputError("duplicate-level", "duplicate level", "keep one of them")
    return values, unit


def find_level(declaration: Any, level: Any) -> FactorValue:
    """Return the level of a factor that ``level`` means, as written or as converted. Raises InputError."""
    written = declaration["levels"] if isinstance(declaration, dict) else declaration
    written = written if isinstance(written, (list, tuple)) else [written]
    read, _ = read_levels(declaration)
    for raw, meant in zip(written, read, strict=True):
        if level in (raw, meant) and isinstance(level, bool) == isinstance(meant, bool):
            return meant
    raise InputError(
        "unknown-level",
        "'{level}' is not a level",
        "levels: {levels}",
        level=level,
        levels=", ".join(map(str, written)),
    )


def _detect_unit(levels: Sequence[Any]) -> str:
    units = ((_SIZE, BYTES), (_TIME, SECONDS))
    return next(
        (unit for pattern, unit in units if all(isinstance(v, str) and pattern.fullmatch(v) for v in levels)), ""
    )


def _parse_level_seconds(level: Any) -> float | int:
    seconds = parse_seconds(level)
    return int(seconds) if seconds.is_integer() else seconds


def _classify_level(level: FactorValue) -> str:
    if isinstance(level, bool):
        return "true or false"
    return "texts" if isinstance(level, str) else "numbers"
