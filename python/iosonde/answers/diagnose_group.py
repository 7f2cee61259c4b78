"""What is diagnosed together, and where its trials come from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from iosonde.core.types import FactorValue
from iosonde.explain.known_path import KnownPath, ServerTimes
from iosonde.explain.operations import Operations


@dataclass(frozen=True)
class OperationGroup:
    """What is diagnosed together: an operation, a kind, a size (bytes, 0: none are moved), a setting."""

    operation: str
    kind: str
    size: int
    setting: tuple[tuple[str, FactorValue], ...] = ()
    setting_words: str = ""

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        return {"operation": self.operation, "kind": self.kind, "size": self.size, "setting": dict(self.setting)}

    def flat(self) -> dict[str, Any]:
        """The form in tables."""
        return {"operation": self.operation, "kind": self.kind, "size": self.size, **dict(self.setting)}


@dataclass(frozen=True)
class TrialOperations:
    """Those of a group in one trial; how many more of their kind failed. ``path`` and ``servers``: what is known of the
    way to the servers, and of what these took themselves. ``asked_to_wait``: files were opened so that each has to."""

    name: str
    operations: Operations
    failed: int
    notes: tuple[str, ...] = ()
    path: KnownPath | None = None
    servers: ServerTimes | None = None
    asked_to_wait: bool = False


class OperationTrials(Protocol):
    """Where trials come from. ``notes`` are about all of them."""

    notes: list[str]

    def each(self) -> Iterator[tuple[OperationGroup, TrialOperations]]:
        """Every group of every trial; may be asked again."""

    def check(self, found: Collection[OperationGroup]) -> None:
        """Raises DataError where nothing was found."""
