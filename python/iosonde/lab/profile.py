"""What servers did for how long, operation by operation, as the file system counts it itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class ProfiledOperation:
    """One kind of operation on one server: how many, how long they took there (seconds; None where it keeps sums only),
    and the ``share`` that they have of the time of all operations there."""

    operation: str
    count: int
    mean_s: float
    min_s: float | None
    max_s: float | None
    share: float = 0.0


@dataclass(frozen=True)
class ServerProfile:
    """One server since ``seconds``: bytes that it read and wrote for clients, and its operations, those that took
    longest first. ``holds_data``: a server of metadata alone does not."""

    server: str
    seconds: float
    read_bytes: int
    written_bytes: int
    operations: tuple[ProfiledOperation, ...]
    holds_data: bool = True


@dataclass(frozen=True)
class LabProfile:
    """That of every server of a lab."""

    lab: str
    servers: tuple[ServerProfile, ...]

    def to_dict(self) -> dict[str, Any]:
        """Stable JSON."""
        servers = [
            vars(profile) | {"operations": [vars(each) for each in profile.operations]} for profile in self.servers
        ]
        return {"lab": self.lab, "servers": servers, "together": summed(self.servers)}


def summed(servers: Iterable[ServerProfile]) -> dict[str, Any]:
    """Of all servers together: bytes that they read and wrote, how many operations; for each that holds data its bytes,
    and for each the operation that took most of its time."""
    them = list(servers)
    busiest = {profile.server: profile.operations[0] for profile in them if profile.operations}
    return {
        "read_bytes": sum(profile.read_bytes for profile in them),
        "written_bytes": sum(profile.written_bytes for profile in them),
        "operations": sum(each.count for profile in them for each in profile.operations),
        "by_server": {
            profile.server: {"read_bytes": profile.read_bytes, "written_bytes": profile.written_bytes}
            for profile in them
            if profile.holds_data
        },
        "most_time": {
            server: {"operation": operation.operation, "share": operation.share}
            for server, operation in busiest.items()
        },
    }


def with_shares(operations: Iterable[ProfiledOperation]) -> tuple[ProfiledOperation, ...]:
    """The same with their shares, those that took longest first."""
    ordered = sorted(operations, key=lambda operation: -operation.count * operation.mean_s)
    total = sum(operation.count * operation.mean_s for operation in ordered) or 1.0
    return tuple(replace(operation, share=operation.count * operation.mean_s / total) for operation in ordered)
