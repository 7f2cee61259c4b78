"""What is known of a stored run and of its phases, as types: nobody above reads run.json by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from iosonde.core.types import FactorValue


@dataclass(frozen=True)
class Phase:
    """One phase of the engine, or one step of commands. ``document`` is its entry in run.json (docs/store.md)."""

    document: Mapping[str, Any]

    @property
    def index(self) -> int:
        """Its number in the run; operations carry it."""
        return int(self.document["index"])

    @property
    def name(self) -> str:
        """What it is called in the experiment."""
        return str(self.document["name"])

    @property
    def operation(self) -> str:
        """What it is called in the results."""
        return str(self.document.get("operation") or self.name)

    @property
    def recorded_all(self) -> bool:
        """Whether every operation was kept. Where nothing says so, they may be a sample."""
        return bool(self.document.get("recorded_all", False))

    @property
    def is_step(self) -> bool:
        """Whether it is measured: set-up and tear-down are not."""
        return self.document.get("stage", "step") == "step"

    @property
    def is_command(self) -> bool:
        """Whether commands did it, and not the engine."""
        return "command" in self.document

    @property
    def measures(self) -> str | None:
        """``rate``, ``bandwidth``, or None for what has no rate of its own."""
        return self.document.get("measures")

    @property
    def shared(self) -> bool:
        """Whether all ranks worked on one file."""
        return bool(self.document.get("shared"))

    @property
    def comparable(self) -> bool:
        """Whether the clocks of the nodes agree well enough to compare times of ranks."""
        return bool(self.document.get("comparable", True))

    @property
    def duration_ns(self) -> int | None:
        """First start to last end; None where the clocks cannot be compared."""
        return self.document.get("duration_ns")

    @property
    def ranks(self) -> tuple[Mapping[str, Any], ...]:
        """What each rank did, in order of rank; empty for imported runs."""
        return tuple(self.document.get("ranks") or ())

    @property
    def histograms(self) -> Mapping[str, Any]:
        """Kind of operation → (bucket, count) pairs, where not all operations were kept."""
        return self.document.get("histograms") or {}


@dataclass(frozen=True)
class StoredRun:
    """One stored run without its tables. ``document`` is the content of run.json (docs/store.md)."""

    document: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Unique in its store."""
        return str(self.document["id"])

    @property
    def experiment(self) -> str:
        """The experiment that it belongs to."""
        return str(self.document["experiment"])

    @property
    def source(self) -> str:
        """What measured it: our workloads by name, or a tool with its version."""
        return str(self.document["source"])

    @property
    def started_at(self) -> str:
        """ISO 8601, UTC where we measured; '' where a tool does not say."""
        return str(self.document["started_at"])

    @property
    def seconds(self) -> float:
        """How long it took, from the first command to the last result."""
        return float(self.document["seconds"])

    @property
    def factors(self) -> Mapping[str, FactorValue]:
        """Its setting, with what was only observed."""
        return self.document.get("factors") or {}

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the machine was like, and how it was measured."""
        return self.document.get("facts") or {}

    @property
    def missing(self) -> tuple[str, ...]:
        """In words, what it lacks; empty for a complete run."""
        return tuple(self.document.get("missing") or ())

    @property
    def complete(self) -> bool:
        """Whether every rank did everything that was asked."""
        return not self.missing

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """What was done, in order."""
        return tuple(Phase(one) for one in self.document.get("phases") or ())

    @property
    def imported(self) -> bool:
        """Whether another tool measured it and we read its output."""
        return "import" in self.facts

    @property
    def target(self) -> str | None:
        """The directory that was measured; None where nobody says."""
        found = self.facts.get("target")
        return None if found is None else str(found)

    @property
    def filesystem(self) -> str | None:
        """The type of the target's file system as its mount table names it; None where nobody says."""
        if self.target is None:
            return None
        kind = ((self.facts.get("machine") or {}).get("mount") or {}).get("type")
        return None if kind is None else str(kind)
