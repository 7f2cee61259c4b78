"""The native core: runs workers and records. No statistics, no policy.

A *workload* is data: JSON text (see docs/workload.md; Python builds it with ``iosonde.core.workload``).
Everything it names lies below its ``root``; a path that would leave it is refused.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

KINDS: list[str]
"""Names of operation kinds; the index is the ``kind`` of a record."""

MACHINE_CLASSES: list[str]
"""Why an operation of a scripted machine took its time; the index is what ``PhaseRecord.truth`` holds."""

class EngineError(Exception):
    """The workload cannot be run as described; the text names the key, e.g. ``workers[0].phases[2].steps[1].size``."""

class Session:
    """All workers (threads) of one rank, with their open files and buffers, over the phases of one workload."""

    def __init__(self, workload: str, max_operations: int, record: bool = True) -> None:
        """Parse and check ``workload``. ``max_operations`` is the record budget of the whole session, 32 bytes each,
        shared by workers and phases; the phases to come keep their part.

        ``record=False`` keeps counts and first start/last end only (used to measure what recording costs).
        Raises EngineError; OSError if the root cannot be opened.
        """

    def prepare(self, phase: int) -> None:
        """Everything that must not be timed: resolve names, make missing directories, open what the phase wants
        opened before, allocate and pre-touch records and buffers, start the workers and park them.

        A prepared phase that is not run may be prepared again, or another one. Raises EngineError, OSError.
        """

    def run(self, phase: int, start_at_ns: int = 0) -> list[PhaseRecord]:
        """Run a prepared phase; one record per worker. The GIL is released. ``start_at_ns`` (CLOCK_MONOTONIC)
        is spun to; 0 starts as soon as all workers are awake. Never raises for a failed operation: it is in the
        records. Python's signal handlers go on running; if one raises (Ctrl-C), the workers are stopped, the
        records are lost, and the exception goes on. A panic of a worker is an EngineError and closes the session.
        """

    def wear_out(self, phase: int, count: int) -> list[PhaseRecord]:
        """Go on with the phase that ended last until each worker did ``count`` operations in all.

        The time limit no longer holds; passes that are complete are not begun again. The records are those of
        the continuation only. Raises as ``prepare`` and ``run`` do.
        """

    def operations_done(self) -> int:
        """Operations done so far in the running phase over all workers (for progress and the watchdog; any thread)."""

    def stop(self) -> None:
        """Ask running workers to stop after the operation in flight (any thread, also a signal handler's)."""

    def close(self) -> None:
        """Close every file that is open and free the buffers."""

class PhaseRecord:
    """What one worker did in one phase."""

    worker: int
    started_ns: int
    """Start of the first operation, CLOCK_MONOTONIC; 0 if there was none."""
    ended_ns: int
    """End of the last operation."""
    end_error_ns: int
    """By how much the end of an operation is late, on average at most: io_uring only (see docs/engine.md)."""
    extra_bytes: int
    """What system calls moved beyond the bytes of ``totals``: the holes of sieves, and what was read to be written
    back. 0 for all other kinds."""
    truth: bytes
    """Of a scripted machine (``backend/machine``): for each operation, in order, why it took its time, as a place in
    MACHINE_CLASSES; else empty."""
    operations: npt.NDArray[np.uint64]
    """Shape (n, 4), not copied: view it as ``schema.RECORD``. All operations in order of their end, or, beyond
    the budget, a uniform sample of them (seeded)."""
    complete: bool
    """False if ``operations`` is a sample."""
    stopped: str
    """Why the phase ended: ``count``, ``time_limit``, ``error``, ``stop``."""
    totals: list[dict[str, int]]
    """Exact, per kind that occurred: kind (index in KINDS), count, bytes (of data kinds), errors, first_start_ns,
    last_end_ns, sum_duration_ns. With ``record=False`` the times are 0."""
    histograms: dict[int, tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]]
    """Per kind: (bucket index, count) of durations, exact over all operations; empty when complete.
    Bucket edges by :func:`bucket_edges_ns`; two histograms are merged by adding."""
    errors: list[dict[str, int | str]]
    """The first 100 failures: kind (its name), path, offset (of the first wrong byte for a mismatch), errno (or a
    ``schema.STATUS_*``), text."""

def bucket_edges_ns() -> npt.NDArray[np.float64]:
    """Lower edges of the histogram's buckets (relative width < 2 %), and one last upper edge."""

def monotonic_ns() -> int:
    """CLOCK_MONOTONIC now."""

def clock_cost_ns() -> float:
    """Measured cost of one clock reading."""

def page_cache(path: str) -> tuple[int, int]:
    """(bytes of the file resident in this node's page cache, size of the file), by mincore. Raises OSError;
    PermissionError for who neither owns nor may write the file: the kernel would answer "everything"."""

def read_timed(fd: int, offset: int, length: int) -> tuple[bytes, int, bool | None]:
    """(up to ``length`` bytes, the ns that it took, whether all came from this node's page cache; None where the file
    system does not tell). Raises OSError."""

def drop_page_cache(path: str) -> None:
    """fdatasync, then posix_fadvise(DONTNEED) over the whole file. Raises OSError."""

def sync_file_system(path: str) -> None:
    """Write all dirty pages of the file system that holds ``path`` to it (syncfs). Raises OSError."""

def fill_content(buffer: npt.NDArray[np.uint8], seed: int, name: str, offset: int, piece: int, hole: int) -> None:
    """Fill ``buffer`` with what a workload with ``verify`` and this seed writes into the file of this name: pieces of
    ``piece`` bytes, packed, that lie ``hole`` bytes apart in the file from ``offset`` on. Raises ValueError."""

def content_mismatch(
    buffer: npt.NDArray[np.uint8], seed: int, name: str, offset: int, piece: int, hole: int
) -> int | None:
    """The offset in the file of the first byte of ``buffer`` that is not what ``fill_content`` puts there."""

def remove_tree(path: str, threads: int = 4) -> tuple[int, int]:
    """Remove a directory tree in parallel, never following a symbolic link: (files, directories) removed.

    Works with openat/unlinkat on directory handles only, so a link planted meanwhile cannot lead out.
    Nothing below a mount point is removed, also not of a bind mount of the same device (EXDEV). Raises OSError for the
    first entry that cannot be removed, after having removed the rest.
    """

def remove_tree_at(
    directory: int, name: str, identity: tuple[int, int] | None = None, threads: int = 4
) -> tuple[int, int]:
    """The same for the directory ``name`` in the one that is open as ``directory``: by no path at all.

    ``identity``: the (st_dev, st_ino) that it must have; another one is left as it is (OSError, ESTALE).
    """

def removed() -> int:
    """How many files and directories this process has removed by now, also in a tree that is being removed."""

AGE_EDGES_DAYS: list[int]
"""Upper ends of the rows of ages in :func:`walk_tree`, in days; one row more holds what is older."""

def give_way() -> bool:
    """Let all others go first: this thread, and those that it starts from now on, have the least priority for CPU (nice
    19) and for disks (the idle class). Whether the kernel agreed."""

def walk_tree(
    path: bytes,
    *,
    threads: int,
    seed: int,
    by_count: int,
    by_size: int,
    now_s: int,
    allocated: bool = False,
    other_file_systems: bool = False,
    snapshots: bool = False,
    by_owner: bool = False,
    by_depth: int | None = None,
    rate: int = 0,
    share: tuple[int, int] = (0, 1),
    on_progress: Callable[[int, int, list[tuple[int, int, bytes]]], object] | None = None,
) -> dict[str, Any]:
    """Walk a tree by several threads, count every regular file once, and draw two samples in the same pass.

    No symbolic link is followed; other file systems, and directories called as snapshots are, are entered only where
    asked. Memory does not grow with the number of files. ``rate``: at most so many looks at entries a second; 0: no
    limit. ``share``: which part of the tree, of how many; what lies above the directories that are shared out is the
    first's.

    Numbers: files, bytes, allocated_bytes, empty, released (files with a size and no block; released_bytes),
    directories, links, others, hard_links (further names), links_unchecked, linked_elsewhere (with names outside),
    vanished, unreadable_directories, unknown_entries, mounts (not entered), deepest. Tables of (files, bytes, allocated
    bytes): sizes by binary digits, modified and accessed by AGE_EDGES_DAYS before ``now_s``, depths; owners: by uid.
    snapshots: name → directories not entered; errors: errno → how often.

    strata: by owner, or by directories down to ``by_depth``, in the order of their names, those with a file: name
    (bytes; the number of the owner, ``.`` for the root), files, bytes, allocated_bytes and samples as below; None if
    there are more than 10,000.

    by_count: the files with the smallest random numbers (0, 1), one more than asked; by_size: with the smallest
    number ÷ size (or allocated bytes). Each has the columns path (bytes, from the root on), key, size, allocated,
    device, inode, owner, modified_ns, accessed_s, in the order of the key. The same seed draws the same inodes.

    The GIL is released; about ten times a second signals are heard and ``on_progress`` is called: files seen; a number
    that grows as long as anything gets on; and of each thread that waits for the tree its number, a count that changes
    when it gets on, and the path, from the root on, that it looks at.
    Raises OSError where the root cannot be opened, and what ``on_progress`` raises.
    """
