"""The native workloads by name: each is a module that turns settings into the phases of every rank.

A producer has ``Settings`` (a frozen dataclass, checked, sizes in bytes, with ``to_json``), ``plan(settings, rank,
ranks, shift)``, ``bytes_needed``, ``files_needed`` and ``bytes_moved`` (of settings and ranks). Pure functions: the
parent and every rank compute the same plan.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from iosonde.core.errors import InputError

_MODULES = {"envelope": "envelope", "noncontiguous": "noncontiguous"}


def find(name: str) -> ModuleType:
    """The producer of this workload. Raises InputError for a name that nobody knows."""
    if name not in _MODULES:
        raise InputError(f"there is no native workload '{name}'", f"choose one of: {', '.join(sorted(_MODULES))}")
    return import_module(f"iosonde.measure.{_MODULES[name]}")
