"""The native workloads by name: each is a module that turns settings into the phases of every rank.

Pure functions: the parent and every rank compute the same plan.
"""

from importlib import import_module
from typing import Any, Protocol

from iosonde.core.errors import InputError

from .phase_plan import PhasePlan

_MODULES = {
    "envelope": "envelope",
    "ior": "foreign.ior",
    "iozone": "foreign.iozone",
    "mdtest": "foreign.mdtest",
    "noncontiguous": "noncontiguous",
    "path-study": "path_study",
    "phases": "phases",
}


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


def names() -> list[str]:
    """List the names of all workloads."""
    return sorted(_MODULES)


def find(name: str) -> Producer:
    """Return the producer of this workload. Raises InputError for an unknown name."""
    if name not in _MODULES:
        raise InputError(
            "unknown-workload",
            "unknown native workload '{workload}'",
            "choose one of: {workloads}",
            workload=name,
            workloads=", ".join(names()),
        )
    return import_module(f"{__name__}.{_MODULES[name]}")


def own_names(name: str) -> dict[str, str]:
    """Return the placeholders that this workload fills in itself, each standing for itself."""
    return {own: f"${{{own}}}" for own in getattr(find(name), "OWN_NAMES", ())}
