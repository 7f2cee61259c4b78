"""The native workloads by name: each is a module that turns settings into the phases of every rank.

A producer has ``Settings`` (a frozen dataclass, checked, sizes in bytes, with ``to_json``), ``plan(settings, rank,
ranks, shift)``, ``bytes_needed``, ``files_needed`` and ``bytes_moved`` (of settings and ranks). Pure functions: the
parent and every rank compute the same plan. ``OWN_NAMES``, where it has it, are the ``${NAME}`` in its settings that
it fills in itself, because they differ between ranks.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from iosonde.core.errors import InputError

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
    return import_module(f"{__name__}.{_MODULES[name]}")


def own_names(name: str) -> dict[str, str]:
    """The placeholders that this workload fills in itself, each standing for itself."""
    return {own: f"${{{own}}}" for own in getattr(find(name), "OWN_NAMES", ())}
