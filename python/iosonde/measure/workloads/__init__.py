"""The native workloads by name: each is a module that turns settings into the phases of every rank.

Pure functions: the parent and every rank compute the same plan. A package adds a workload with an entry point in the
group ``iosonde.workloads``; one that stands for another tool has ``translate`` (``translation.py``), too.
"""

from importlib import import_module
from typing import Any, Protocol

from iosonde.core.errors import InputError
from iosonde.core.plugins import build_missing_error, find_entry_points, load_plugin

from .phase_plan import PhasePlan

_MODULES = {
    "envelope": "envelope",
    "noncontiguous": "noncontiguous",
    "phases": "phases",
}
GROUP = "iosonde.workloads"
# Workloads that the package of extras adds.
_EXTRAS = ("ior", "iozone", "mdtest", "path-study")


class Producer(Protocol):
    """Interface of such a module. Optional ``OWN_NAMES`` are the ``${NAME}`` in its settings that it fills in itself,
    because they differ between ranks."""

    @property
    def Settings(self) -> Any:  # noqa: N802
        """Frozen dataclass, checked, sizes in bytes, with ``to_json``."""

    def plan(self, settings: Any, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
        """Return the phases of one rank, in order; every rank has the same number of them."""

    def bytes_needed(self, settings: Any, ranks: int) -> int:
        """Return the maximum bytes of one trial on the target at once."""

    def files_needed(self, settings: Any, ranks: int) -> int:
        """Return the maximum files and directories at once."""

    def bytes_moved(self, settings: Any, ranks: int) -> int:
        """Return the bytes written and read by one trial."""

    def bytes_written(self, settings: Any, ranks: int) -> int:
        """Return the bytes written by one trial."""

    def files_touched(self, settings: Any, ranks: int) -> int:
        """Return how often a trial visits a file, removal included."""


def list_workloads() -> list[str]:
    """List the names of all workloads."""
    return sorted({*_MODULES, *find_entry_points(GROUP)})


def find_missing(name: str) -> InputError | None:
    """Return the error for a workload of a package that is not installed; None for all others."""
    return build_missing_error(f"workload '{name}'") if name in _EXTRAS and name not in list_workloads() else None


def find_producer(name: str) -> Producer:
    """Return the producer of this workload. Raises InputError for an unknown name or a missing package."""
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    if error := find_missing(name):
        raise error
    if name not in list_workloads():
        raise InputError(
            "unknown-workload",
            "unknown native workload '{workload}'",
            "choose one of: {workloads}",
            workload=name,
            workloads=", ".join(list_workloads()),
        )
    producer: Producer = load_plugin(GROUP, name)
    return producer


def list_own_placeholders(name: str) -> dict[str, str]:
    """Return the placeholders that this workload fills in itself, each standing for itself."""
    return {own: f"${{{own}}}" for own in getattr(find_producer(name), "OWN_NAMES", ())}
