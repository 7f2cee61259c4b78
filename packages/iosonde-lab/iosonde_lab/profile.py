"""Operations of servers and their durations, as counted by the file system."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class ProfiledOperation:
    """A kind of operation on one server: count, durations (seconds) and ``share`` of all operation time there.
    ``min_s`` and ``max_s`` are None if the server keeps only sums.
    """

    operation: str
    count: int
    mean_s: float
    min_s: float | None
    max_s: float | None
    share: float = 0.0


@dataclass(frozen=True)
class ServerProfile:
    """A server over the last ``seconds``: bytes read and written by clients, and its operations.
    Operations are ordered by total time. ``holds_data`` is False for a pure metadata server.
    """

    server: str
    seconds: float
    read_bytes: int
    written_bytes: int
    operations: tuple[ProfiledOperation, ...]
    holds_data: bool = True


@dataclass(frozen=True)
class LabProfile:
    """Profiles of all servers of a lab."""

    lab: str
    servers: tuple[ServerProfile, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        servers = [
            vars(profile) | {"operations": [vars(each) for each in profile.operations]} for profile in self.servers
        ]
        return {"lab": self.lab, "servers": servers, "together": summed(self.servers)}


def summed(servers: Iterable[ServerProfile]) -> dict[str, Any]:
    """Sum bytes and operations over all servers.
    ``by_server`` has the bytes of each that holds data, ``most_time`` the most expensive operation of each.
    """
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
    """Return the operations with their shares, ordered by total time."""
    ordered = sorted(operations, key=lambda operation: -operation.count * operation.mean_s)
    total = sum(operation.count * operation.mean_s for operation in ordered) or 1.0
    return tuple(replace(operation, share=operation.count * operation.mean_s / total) for operation in ordered)
