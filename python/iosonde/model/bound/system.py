"""Inputs of the bound: numbers of nodes and disks, their rates, and how the file system spreads its data."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from iosonde.core.errors import InputError

READ, WRITE = "read", "write"
REDUNDANCIES = ("none", "client", "chained", "erasure")
PLACEMENTS = ("round_robin", "random", "groups")
PATHS = ("network", "local")


@dataclass(frozen=True)
class System:
    """A cluster in base units (bytes, s, bytes/s, s/byte, operations/s); None: unknown, and its term is left out.

    ``network`` is one link of a client and of a server, unless ``client_network`` or ``server_network`` overrides it;
    ``fabric`` is the total rate of all links. ``disk`` is one disk, ``disk_read`` and ``disk_write`` by direction.
    ``cpu`` is the time that a client computes per byte, ``server_cpu`` a server. ``memory_copy`` is the copy rate of
    one client, ``copies`` the number of copies of each byte. ``queue_depth`` requests of ``request_size`` are under way
    at each client, and each takes ``latency``. All metadata servers together do ``metadata_rate`` operations/s; every
    file of ``file_size`` needs ``metadata_operations``.

    ``redundancy``: ``none``; ``client`` sends ``replicas`` copies itself; ``chained``: servers pass them on;
    ``erasure``: the client makes ``parity_chunks`` for every ``data_chunks`` chunks of ``chunk_size``.
    ``stripe_count``: servers per file; there are ``files`` files (by default one per client). Every copy of a file has
    that many; an erasure code's parity is included. ``placement``: dealt out in turn, at random, or at random to one of
    the fixed ``groups`` of servers with the same copies. ``path`` is ``local`` if the disks are the client's own.
    """

    operation: str = WRITE
    clients: float = 1
    servers: float = 1
    disks: float | None = None
    network: float | None = None
    client_network: float | None = None
    server_network: float | None = None
    fabric: float | None = None
    disk: float | None = None
    disk_read: float | None = None
    disk_write: float | None = None
    cpu: float | None = None
    server_cpu: float | None = None
    memory_copy: float | None = None
    copies: float = 1
    queue_depth: float = 1
    request_size: float | None = None
    latency: float | None = None
    metadata_rate: float | None = None
    metadata_operations: float = 1
    file_size: float | None = None
    redundancy: str = "none"
    replicas: int = 1
    data_chunks: int = 1
    parity_chunks: int = 0
    chunk_size: float | None = None
    stripe_count: int | None = None
    files: int | None = None
    placement: str = "round_robin"
    path: str = "network"

    def get_disk_rate(self, operation: str) -> float | None:
        """R of one disk when it reads or writes."""
        own = self.disk_read if operation == READ else self.disk_write
        return own if own is not None else self.disk


FIELDS = tuple(field.name for field in fields(System))
_WORDS = {"operation": (READ, WRITE), "redundancy": REDUNDANCIES, "placement": PLACEMENTS, "path": PATHS}
_MAY_BE_ZERO = ("cpu", "server_cpu", "parity_chunks", "latency")
LESS_IS_BETTER = ("cpu", "server_cpu", "latency", "copies", "metadata_operations")
# Field → the fields of which at least one must be set for it to matter.
_NEEDS = {
    "latency": "request_size",
    "queue_depth": "latency",
    "copies": "memory_copy",
    "metadata_rate": "file_size",
    "metadata_operations": "metadata_rate",
    "file_size": "metadata_rate",
    "files": "stripe_count",
    "placement": "stripe_count",
    "chunk_size": "data_chunks",
}


def find_unused_field(names: Collection[str], available: Collection[str]) -> tuple[str, str] | None:
    """Return the first of the fields ``names`` that no term uses, and the field it lacks among ``available``."""
    return next(((name, _NEEDS[name]) for name in names if name in _NEEDS and _NEEDS[name] not in available), None)


def replace_fields(system: System, settings: Mapping[str, Any]) -> System:
    """Return the system with some fields replaced. Raises InputError for an unknown field."""
    for name in settings:
        if name not in FIELDS:
            near = get_close_matches(name, FIELDS, 1)
            raise InputError(
                "unknown-system-field",
                "a system has no '{field}'",
                "did you mean {fields}?" if near else "{fields}",
                field=name,
                fields=near[0] if near else ", ".join(FIELDS),
            )
    return replace(system, **settings) if settings else system


def raise_if_invalid_system(system: System) -> System:
    """Return the system if it is valid. Raises InputError with the fault."""
    for name in FIELDS:
        value = getattr(system, name)
        if name in _WORDS:
            if value not in _WORDS[name]:
                raise InputError(
                    "unknown-option-value",
                    "{name} '{choice}' is unknown",
                    "one of {choices}",
                    name=name,
                    choice=value,
                    choices=", ".join(_WORDS[name]),
                )
        elif value is not None and not (value > 0 or (value == 0 and name in _MAY_BE_ZERO)):
            raise InputError(
                "not-positive",
                "{name} {number:g} must be above 0",
                "leave out what you do not know",
                name=name,
                number=value,
            )
        elif value is not None and not math.isfinite(value):
            raise InputError("not-finite", "{name} must be finite", "leave out what you do not know", name=name)
    if system.disks is not None and system.disks < system.servers:
        raise InputError(
            "too-few-disks",
            "{disks:g} disks for {servers:g} servers: every server needs one (P/M must be >= 1)",
            "count the disks of all servers together",
            disks=system.disks,
            servers=system.servers,
        )
    if system.stripe_count is not None and system.stripe_count > system.servers:
        raise InputError(
            "stripe-too-wide",
            "a stripe over {stripe_count:g} of {servers:g} servers",
            "stripe over as many as there are",
            stripe_count=system.stripe_count,
            servers=system.servers,
        )
    for name in ("servers", "stripe_count", "files", "replicas", "data_chunks", "parity_chunks"):
        value = getattr(system, name)
        if system.stripe_count is not None and value is not None and value != int(value):
            raise InputError(
                "not-an-integer",
                "{name} {number:g} is not a whole number",
                "stripes lie on whole servers",
                name=name,
                number=value,
            )
    _raise_if_invalid_redundancy(system)
    return system


def _raise_if_invalid_redundancy(system: System) -> None:
    """Raise InputError for copies without a redundancy scheme, or more copies than disks."""
    if system.replicas > 1 and system.redundancy not in ("client", "chained"):
        raise InputError(
            "conflicting-options",
            "{replicas:g} replicas, but redundancy is {redundancy}",
            "set redundancy to client or chained",
            replicas=system.replicas,
            redundancy=system.redundancy,
        )
    if (system.data_chunks > 1 or system.parity_chunks) and system.redundancy != "erasure":
        raise InputError(
            "conflicting-options",
            "an erasure code, but redundancy is {redundancy}",
            "set redundancy to erasure",
            redundancy=system.redundancy,
        )
    pieces = system.data_chunks + system.parity_chunks if system.redundancy == "erasure" else system.replicas
    if system.disks is not None and pieces > system.disks:
        raise InputError(
            "too-few-disks",
            "{pieces:g} {piece_kind} on {disks:g} disks: each needs a disk of its own",
            "count the disks of all servers together",
            pieces=pieces,
            piece_kind="chunks" if system.redundancy == "erasure" else "copies",
            disks=system.disks,
        )
