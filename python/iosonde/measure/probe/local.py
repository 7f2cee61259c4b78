"""Measurements of one node alone: its disk past the cache, memory copies, CPU time for each byte of the I/O path."""

import os
import resource
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from iosonde.core.errors import SystemFaultError
from iosonde.core.workload import Files, Phase, Step, Workload
from iosonde.measure.rank import cache
from iosonde.ranks.machine import reading

TRANSFER = 2**20
DEPTH = 8  # transfers in flight: with only one, most disks idle half of the time
COPIES = 3
_LEAST_COPY = 64 * 2**20
_POSIX = {"name": "posix"}
_RING = {"name": "io_uring", "queue_depth": DEPTH}


def measure_disk(root: Path, size: int) -> dict[str, Any]:
    """Write a file of ``size`` bytes and read it, past this node's page cache: {"write", "read"} in bytes/s, "way".

    Uses O_DIRECT, with several transfers in flight if io_uring is allowed. If O_DIRECT is refused: buffered with fsync,
    and the cache dropped before the read. The clock includes open, fsync and close. Raises SystemFaultError.
    """
    refused: list[str] = []
    ways = ((_RING, ("direct",), f"O_DIRECT, {DEPTH} at a time"), (_POSIX, ("direct",), "O_DIRECT"), (_POSIX, (), ""))
    for backend, flags, way in ways:
        try:
            with _Files(root, "disk-", size, backend, flags) as files:
                written = files.run(0)
                cold = "" if flags else files.drop()
                return {"write": size / written, "read": size / files.run(1), "way": way or cold}
        except _RefusedError as error:
            refused.append(str(error))
    raise SystemFaultError(
        "disk-not-measurable",
        "the disk below {root} cannot be measured: {reason}",
        "check it with: iosonde doctor",
        root=root,
        reason=refused[-1],
    )


def measure_cpu_per_byte(root: Path, size: int) -> dict[str, float]:
    """Return CPU seconds for each byte that this process writes (with fsync) and reads (cold) through the page cache.

    User and system time of the process, by getrusage(2), without the kernel threads that work for it (write-back, a
    network file system's daemons). Raises SystemFaultError.
    """
    try:
        with _Files(root, "cpu-", size, _POSIX, ()) as files:
            writing = _measure_cpu_s(files, 0)
            files.drop()
            return {"write": writing / size, "read": _measure_cpu_s(files, 1) / size}
    except _RefusedError as error:
        raise SystemFaultError(
            "io-error", "cannot write and read below {root}: {error}", "check its free space", root=root, error=error
        ) from error


def measure_memory_copy(threads: int, free_bytes: int) -> float:
    """Return the bytes/s that ``threads`` copy together between arrays larger than any cache; memory moves twice as
    much."""
    import numpy as np

    size = copy_bytes(sum_last_level_caches(), threads, free_bytes)
    sources = [np.ones(size, np.uint8) for _ in range(threads)]
    places = [np.zeros(size, np.uint8) for _ in range(threads)]
    ready, spans = threading.Barrier(threads), []

    def copy_array(index: int) -> None:
        np.copyto(places[index], sources[index])
        ready.wait()
        started = time.monotonic_ns()
        for _ in range(COPIES):
            np.copyto(places[index], sources[index])  # numpy releases the GIL meanwhile
        spans.append((started, time.monotonic_ns()))

    workers = [threading.Thread(target=copy_array, args=(index,)) for index in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = (max(end for _, end in spans) - min(start for start, _ in spans)) / 1e9
    return threads * COPIES * size / seconds


def copy_bytes(cache_bytes: int, threads: int, free_bytes: int) -> int:
    """Return the length of each thread's array: four times the cache in all, at most a quarter of the free memory."""
    thread_bytes = max(_LEAST_COPY, 4 * cache_bytes) // threads
    return max(1, min(thread_bytes, free_bytes // (8 * threads)))


def sum_last_level_caches(root: Path = Path("/sys/devices/system/cpu")) -> int:
    """Return the sum of this node's last-level caches; 0 if the kernel does not report them."""
    size_by_cache: dict[tuple[int, str], int] = {}
    for index in root.glob("cpu[0-9]*/cache/index*"):
        level, size = reading.read_number(index / "level"), reading.read_text(index / "size") or ""
        if level and size.endswith("K") and size[:-1].isdigit():
            size_by_cache[level, reading.read_text(index / "shared_cpu_list") or ""] = int(size[:-1]) * 1024
    last = max((level for level, _ in size_by_cache), default=0)
    return sum(size for (level, _), size in size_by_cache.items() if level == last)


class _RefusedError(Exception):
    """Refusal of this way of access by the engine or the file system."""


class _Files:
    """A file, written (phase 0) and read (phase 1) by the engine; removed at the end."""

    def __init__(self, root: Path, name: str, size: int, backend: dict[str, Any], flags: Sequence[str]) -> None:
        from iosonde.engine import _native

        self._path = root / f"{name}000000"
        begin = {"write": [Step("create")], "read": [Step("open")]}
        end = {"write": [Step("fsync"), Step("close")], "read": [Step("close")]}
        phases = tuple(
            Phase(
                kind,
                Files(name),
                (*begin[kind], Step(kind, transfer_size=TRANSFER, size=size), *end[kind]),
                open_flags=tuple(flags),
            )
            for kind in ("write", "read")
        )
        try:
            self._session = _native.Session(Workload(str(root), (phases,), backend=backend).to_json(), 0, record=False)
        except (_native.EngineError, OSError) as error:
            raise _RefusedError(str(error)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()
        self._path.unlink(missing_ok=True)

    def run(self, phase: int) -> float:
        """Run the phase and return its seconds. Raises _RefusedError for its first error."""
        from iosonde.engine import _native

        try:
            self._session.prepare(phase)
            (record,) = self._session.run(phase)
        except (_native.EngineError, OSError) as error:
            raise _RefusedError(str(error)) from error
        if record.stopped != "count":
            raise _RefusedError(str(record.errors[0]["text"]) if record.errors else record.stopped)
        return float((record.ended_ns - record.started_ns) / 1e9)

    def drop(self) -> str:
        """Drop the file from the page cache; return in words how far that was verified."""
        root, names = self._path.parent, [self._path.name]
        state = cache.check_after_drop(root, names, cache.drop_files(root, names))["state"]
        words = {cache.COLD_VERIFIED: "verified", cache.COLD_REQUESTED: "not verified", cache.WARM: "kept it"}
        return f"fsync, cache dropped ({words[str(state)]})"


def _measure_cpu_s(files: _Files, phase: int) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF)
    files.run(phase)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def count_cores() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))
