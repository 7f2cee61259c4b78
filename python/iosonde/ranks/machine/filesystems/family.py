"""The interface of a family of file systems. Unknown facts are None."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from iosonde.core.timestamps import format_now

from ..fact_types import TargetCondition
from ..mount import Mount


class Redundancy(TypedDict):
    """The redundancy of data: ``copies`` of each byte, sent by the ``client`` to each server or forwarded among the
    ``servers``. Erasure-coded data has ``data_parts`` and ``parity_parts``. ``servers`` are the hosts that hold data.
    """

    copies: int | None
    copied_by: Literal["client", "servers"] | None
    data_parts: int | None
    parity_parts: int | None
    servers: list[str] | None


UNKNOWN_REDUNDANCY: Redundancy = {
    "copies": None,
    "copied_by": None,
    "data_parts": None,
    "parity_parts": None,
    "servers": None,
}


@dataclass(frozen=True)
class FileSystemFamily:
    """A family of file systems, recognised by mount type, or by the beginning of the source if FUSE gives no type.
    ``identity`` returns its facts (keys of run.json), ``condition`` the state that may change between trials; None if
    it reports none."""

    name: str
    identity: Callable[[Path, Mount], dict[str, Any]]
    types: tuple[str, ...] = ()
    source: str = ""
    condition: Callable[[Path, Mount], TargetCondition | None] | None = None

    def holds(self, mount_entry: Mount) -> bool:
        """Return whether a mount belongs to this family."""
        return mount_entry.type in self.types or bool(self.source and mount_entry.source.startswith(self.source))


def build_condition(health: Sequence[str] | None, options: dict[str, str] | None = None) -> TargetCondition:
    """Build the current state: problems (empty: healthy; None: unknown), and the options in effect."""
    return {"at": format_now(), "health": None if health is None else list(health), "options": options or {}}
