"""Capacity that a lab's file system reports, against that of its servers' disks divided by the number of copies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .filesystems import recipe_of
from .filesystems.recipe import Layout
from .hosts import LabHost
from .lab import Lab

_ANSWERS_S = 10.0
TOLERANCE = 0.02  # of the expected capacity: different block sizes, reserved space


@dataclass(frozen=True)
class LabCapacity:
    """Capacity in bytes: of each server's disk, as a client's mount reports it, and as expected.
    ``should_bytes`` is the sum of the disks, less copies and parity if ``deducted``; None if the file system reports a
    number of its own.
    """

    servers: Mapping[str, int]
    mount_bytes: int
    should_bytes: int | None
    deducted: bool = True

    @property
    def as_should(self) -> bool | None:
        """Return whether the mount reports the expected capacity within TOLERANCE; None if none is expected."""
        if self.should_bytes is None:
            return None
        return abs(self.mount_bytes - self.should_bytes) <= TOLERANCE * self.should_bytes

    @property
    def disks_bytes(self) -> int:
        """Return the capacity of all servers' disks."""
        return sum(self.servers.values())

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        of = {"servers": dict(self.servers), "disks_bytes": self.disks_bytes}
        return {**vars(self), **of, "as_should": self.as_should}


def capacity(lab: Lab) -> LabCapacity | None:
    """Return the current capacity; None if servers have no disks of their own, or no client has it mounted.
    Raises LabError.
    """
    how = recipe_of(lab)
    client = next((candidate for candidate in lab.clients if lab.is_mounted(candidate)), None)
    if not how.has_disks or client is None:
        return None
    sizes = lab.each(lab.servers, lambda server: _bytes(server, str(server.disk)))
    each = stored_per_byte(how.layout(lab)) if how.deducts_copies else 1.0
    should = None if how.deducts_copies is None else round(sum(sizes) / each)
    by_name = dict(zip((server.name for server in lab.servers), sizes, strict=True))
    return LabCapacity(by_name, _bytes(client, str(lab.mount_point)), should, bool(how.deducts_copies))


def stored_per_byte(layout: Layout) -> float:
    """Return bytes on all servers per byte of a file."""
    return layout.copies * (layout.data_parts + layout.parity_parts) / layout.data_parts


def _bytes(host: LabHost, there: str) -> int:
    return host.ask(_product, "stat", "--file-system", "--format=%b %S", there, limit_s=_ANSWERS_S)


def _product(text: str) -> int:
    blocks, size = map(int, text.split())
    return blocks * size
