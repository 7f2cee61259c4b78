"""The native workloads by name: each is a module that turns settings into the phases of every rank.

A producer has ``Settings`` (a frozen dataclass, checked, sizes in bytes, with ``to_json``), ``plan(settings, rank,
ranks, shift)``, ``bytes_needed``, ``files_needed`` and ``bytes_moved`` (of settings and ranks). Pure functions: the
parent and every rank compute the same plan. ``OWN_NAMES``, where it has it, are the ``${NAME}`` in its settings that
it fills in itself, because they differ between ranks.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.units import parse_size

Key = tuple[str | int, ...]

_MODULES = {
    "envelope": "envelope",
    "ior": "foreign.ior",
    "iozone": "foreign.iozone",
    "mdtest": "foreign.mdtest",
    "noncontiguous": "noncontiguous",
    "phases": "phases",
}


def names() -> list[str]:
    """Of all workloads."""
    return sorted(_MODULES)


def find(name: str) -> ModuleType:
    """The producer of this workload. Raises InputError for a name that nobody knows."""
    if name not in _MODULES:
        raise InputError(f"there is no native workload '{name}'", f"choose one of: {', '.join(names())}")
    return import_module(f"iosonde.measure.{_MODULES[name]}")


def own_names(name: str) -> dict[str, str]:
    """The placeholders that this workload fills in itself, each standing for itself."""
    return {own: f"${{{own}}}" for own in getattr(find(name), "OWN_NAMES", ())}


class SettingError(InputError):
    """A setting that a workload refuses; ``path`` leads to it."""

    def __init__(self, path: Key, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.path = path


def read_count(name: str, value: Any, size: bool = False, least: int = 1) -> int:
    """A whole number, or with ``size`` also a size as ``64KiB``, in bytes. Raises SettingError."""
    try:
        number = parse_size(value) if isinstance(value, str) and (size or value.isdecimal()) else value
    except InputError as error:
        raise SettingError((name,), f"{name}: {error.message}", error.hint) from None
    if isinstance(number, bool) or not isinstance(number, int):
        raise SettingError((name,), f"{name} is {value!r}", "give a size as 64KiB" if size else "give a whole number")
    if number < least:
        raise SettingError((name,), f"{name} is {number}", f"it must be at least {least}")
    return number
