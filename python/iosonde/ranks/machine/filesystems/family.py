"""What a family of file systems is asked, and what its answers are called. What cannot be known is None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypedDict

from ..fact_types import TargetCondition
from ..mount import Mount


class Redundancy(TypedDict):
    """How data is spread: ``copies`` of each byte, which the ``client`` sends to each server or the ``servers`` pass on
    among them; of erasure-coded data so many ``data_parts`` and ``parity_parts``; ``servers`` are the hosts that hold
    data."""

    copies: int | None
    copied_by: Literal["client", "servers"] | None
    data_parts: int | None
    parity_parts: int | None
    servers: list[str] | None


UNKNOWN_REDUNDANCY: Redundancy = {
    "copies": None, "copied_by": None, "data_parts": None, "parity_parts": None, "servers": None,
}  # fmt: skip


@dataclass(frozen=True)
class FileSystemFamily:
    """A mount is of it by its type, or by how its source begins where FUSE gives no type. ``identity`` says what it is
    like (its keys are those of run.json), ``condition`` what may change between two trials: None where it says nothing
    of that."""

    name: str
    identity: Callable[[Path, Mount], dict[str, Any]]
    types: tuple[str, ...] = ()
    source: str = ""
    condition: Callable[[Path, Mount], TargetCondition | None] | None = None

    def holds(self, mount_entry: Mount) -> bool:
        """Whether a mount is of this family."""
        return mount_entry.type in self.types or bool(self.source and mount_entry.source.startswith(self.source))


def condition(health: Sequence[str] | None, options: dict[str, str] | None = None) -> TargetCondition:
    """What is wrong with it now (nothing: it is well; None: not known), and the options that are in effect."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {"at": now, "health": None if health is None else list(health), "options": options or {}}
