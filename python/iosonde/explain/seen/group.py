"""What is diagnosed together, and where its trials come from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from iosonde.core.types import FactorValue
from iosonde.core.units import format_size
from iosonde.explain.causes.target import Suspect
from iosonde.explain.classes import DensityClasses
from iosonde.explain.cost import Account
from iosonde.explain.known_path import NetworkPath, ServerTimes
from iosonde.explain.operations import Operations
from iosonde.explain.places import PlaceCounts
from iosonde.explain.readings import Pass
from iosonde.stats.density.histogram import LogHistogram

from .drawn import DrawnOperations


@dataclass(frozen=True)
class OperationGroup:
    """What is diagnosed together: an operation, a kind, a size (bytes, 0: none are moved), a setting."""

    operation: str
    kind: str
    size: int
    setting: tuple[tuple[str, FactorValue], ...] = ()
    setting_words: str = ""

    @property
    def name(self) -> str:
        """The operation, its kind where that is another word, its size: ``read of 64 KiB``."""
        kind = "" if self.kind == self.operation else f" {self.kind}"
        return f"{self.operation}{kind}" + (f" of {format_size(self.size)}" if self.size else "")

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        return {"operation": self.operation, "kind": self.kind, "size": self.size, "setting": dict(self.setting)}

    def flat(self) -> dict[str, Any]:
        """The form in tables."""
        return {"operation": self.operation, "kind": self.kind, "size": self.size, **dict(self.setting)}


@dataclass(frozen=True)
class TrialOperations:
    """Those of a group in one trial; how many more of their kind failed. ``exact``: the durations of all, where only a
    sample was recorded and a histogram of the rest kept. ``path`` and ``servers``: what is known of the way to the
    servers, and of what these took themselves. ``is_synchronous``: files were opened so that each has to."""

    name: str
    operations: Operations
    failed: int
    notes: tuple[str, ...] = ()
    exact: LogHistogram | None = None
    path: NetworkPath | None = None
    servers: ServerTimes | None = None
    is_synchronous: bool = False


@dataclass(frozen=True)
class TrialLook:
    """One trial: its sums, where each class is, what the operations of each have in common (by class), what is drawn of
    it. ``step_s``: of the clock's ticks in its durations. ``path``, ``servers``: as of the operations;
    ``all_operations``: all of them against both; ``local``: as of the operations."""

    trial: str
    account: Account
    places: PlaceCounts
    suspects: dict[int, list[Suspect]]
    drawn: DrawnOperations
    failed: int
    step_s: float
    notes: tuple[str, ...]
    path: NetworkPath | None = None
    servers: ServerTimes | None = None
    all_operations: Pass | None = None
    local: bool = False


class OperationTrials(Protocol):
    """Where trials come from. ``notes`` are about all of them. First all durations are asked for, then, with the
    classes that were made of them, for what the operations are."""

    notes: list[str]

    def histograms(self) -> Iterator[tuple[OperationGroup, LogHistogram]]:
        """The durations of every group of every trial."""

    def looks(self, classes: Mapping[OperationGroup, DensityClasses]) -> Iterator[tuple[OperationGroup, TrialLook]]:
        """What is seen of every trial of these groups."""

    def check(self, groups: Collection[OperationGroup]) -> None:
        """Raises DataError where nothing was found."""
