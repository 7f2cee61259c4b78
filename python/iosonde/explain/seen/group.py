"""Groups of operations for a diagnosis, and the sources of their trials."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
    """Unit of diagnosis: an operation, a kind, a size (bytes, 0: moves no data), a setting."""

    operation: str
    kind: str
    size: int
    setting: tuple[tuple[str, FactorValue], ...] = ()
    setting_words: str = ""

    @property
    def name(self) -> str:
        """The operation, its kind if different, its size: ``read of 64 KiB``."""
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
    """The operations of a group in one trial; ``failed``: how many more of their kind failed.

    ``exact``: the durations of all, if only a sample was recorded together with a histogram. ``path`` and ``servers``:
    known properties of the path to the servers, and their own times. ``is_synchronous``: files were opened so that
    every operation waits."""

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
    """Summary of one trial: sums, places of each class, common properties of each class's operations, data for plots.

    ``step_s``: clock tick of the durations. ``path``, ``servers``, ``local``: as in the operations; ``all_operations``:
    all of them compared with both."""

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
    """Source of trials. The first pass reads all durations, the second one uses the classes built from these."""

    @property
    def notes(self) -> Sequence[str]:
        """What is said of all trials that were read so far."""

    def histograms(self) -> Iterator[tuple[OperationGroup, LogHistogram]]:
        """The durations of every group of every trial."""

    def looks(self, classes: Mapping[OperationGroup, DensityClasses]) -> Iterator[tuple[OperationGroup, TrialLook]]:
        """Summarise every trial of these groups."""

    def check(self, groups: Collection[OperationGroup]) -> None:
        """Raise DataError if nothing was found."""
