"""The work of each worker as data: the dataclasses behind docs/workload.md, and their JSON.

The engine checks them (``_native.EngineError`` names the key); this module only serialises them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

Pattern = str | dict[str, Any]


@dataclass(frozen=True)
class Files:
    """The files that a phase visits: ``count`` names made from ``template``, relative to the root.

    A name is ``template``, the number in six digits, and ``suffix``.
    """

    template: str
    count: int = 1
    first: int = 0
    suffix: str | None = None


@dataclass(frozen=True)
class FileNames:
    """The files that a phase visits, by name, relative to the root."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Device:
    """A device in place of files: ``zero`` (reads of /dev/zero) or ``null`` (writes to /dev/null)."""

    device: str


@dataclass(frozen=True)
class Step:
    """An operation on the current file, or ``count`` of them for data kinds. Sizes in bytes."""

    kind: str
    transfer_size: int | None = None
    base: int | None = None
    size: int | None = None
    count: int | None = None
    offsets: Pattern | None = None
    memory: Pattern | None = None
    to: str | int | None = None
    ns: int | None = None
    ns_per_byte: float | None = None
    of: tuple[MixPart, ...] | None = None
    sieve: dict[str, int] | None = None

    @property
    def operations(self) -> int:
        """Number of operations on one file, as the engine counts a sweep (``positions`` in ``pattern.rs``)."""
        if self.count is not None or not self.transfer_size:
            return self.count if self.count is not None else 1
        size = self.transfer_size if self.size is None else self.size
        if self.offsets in (None, "seq", "reverse"):
            return -(-size // self.transfer_size)
        if isinstance(self.offsets, dict) and "stride" in self.offsets:
            return (size - self.transfer_size) // (self.transfer_size + int(self.offsets["stride"].get("hole", 0))) + 1
        return size // self.transfer_size

    @property
    def moved_bytes(self) -> int:
        """Bytes that these operations request; the last block of a sweep in order may be shorter."""
        if not self.transfer_size:
            return 0
        total_bytes = self.operations * self.transfer_size
        return min(total_bytes, self.size) if self.count is None and self.size is not None else total_bytes


@dataclass(frozen=True)
class MixPart:
    """A part of a mix: an operation and its relative frequency."""

    weight: int
    step: Step


@dataclass(frozen=True)
class Phase:
    """The steps for each file, and the rules that end them. Times in ns."""

    name: str
    files: Files | FileNames | Device
    steps: tuple[Step, ...]
    order: str = "listed"
    passes: int = 1
    time_limit_ns: int | None = None
    max_operations: int | None = None
    on_error: str = "stop"
    arrival: dict[str, Any] | None = None
    open_flags: tuple[str, ...] = ()
    content: Any = "incompressible"
    verify: bool = False
    memory_size: int | None = None
    alignment: int = 4096


@dataclass(frozen=True)
class MpiIo:
    """A phase through MPI-IO instead of the engine: this rank's pieces of one file, below the root.

    ``count`` pieces of ``piece`` bytes start at ``base``, with ``hole`` bytes between them; one library call moves
    ``per_call`` of them. ``kind`` is ``read`` or ``write``. ``collective``: all ranks call together, and must then have
    the same number of calls. ``hints`` are passed to the library when the file is opened.
    """

    name: str
    file: str
    kind: str
    base: int
    piece: int
    hole: int
    count: int
    per_call: int
    collective: bool = False
    hints: dict[str, str] = field(default_factory=dict)
    verify: bool = False


@dataclass(frozen=True)
class Workload:
    """All the work of one rank below ``root``: one list of phases per worker (thread).

    ``seed`` is the same for all ranks, so that one can verify another's writes; ``rank`` makes their offsets and orders
    differ.
    """

    root: str
    workers: tuple[tuple[Phase, ...], ...]
    seed: int = 0
    backend: dict[str, Any] = field(default_factory=lambda: {"name": "posix"})
    rank: int = 0

    def to_json(self) -> str:
        """Serialise for ``_native.Session``; omitted keys are absent."""
        workers = [{"phases": [_without_none(asdict(phase)) for phase in phases]} for phases in self.workers]
        document = {"root": self.root, "seed": self.seed, "rank": self.rank, "backend": self.backend}
        return json.dumps({**document, "workers": workers})


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, (list, tuple)) else value
