"""Barrier, gather and streams over the ranks: for a single rank, or by MPI. The only file that imports mpi4py.

mpi4py is imported only when a rank connects, because importing it starts MPI. A single rank needs no MPI: `_SingleRank`
replaces the few methods of a communicator used here.
"""

import os
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from iosonde.core.errors import LaunchError, SystemFaultError
from iosonde.ranks.hosts import Host, get_this_host, number_nodes

_T = TypeVar("_T")

PIECE_BYTES = 4 << 20  # one message of a stream: 64 MiB was less than half as fast (MPICH, one host)
POLL_S = 0.000_2  # polling interval of a sleeping rank
_END_OF_STREAM, _STREAM_FAILED = -1, -2
# Set by the launchers of MPICH and Intel (Hydra), of Open MPI, and of PMIx servers.
_OPEN_MPI = "OMPI_COMM_WORLD_SIZE"
_SIZE_VARIABLES = ("PMI_SIZE", _OPEN_MPI, "MPI_LOCALNRANKS")
SHARED_MEMORY = Path("/dev/shm")


def get_library_version() -> str:
    """Return the first line of the MPI library's version, without starting MPI. Raises LaunchError."""
    return str(_import_mpi(initialize=False).Get_library_version()).strip("\0 \n").splitlines()[0]


def list_loaded_libraries() -> list[str]:
    """Return the files of the MPI libraries mapped into this process."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    files = {line.split(maxsplit=5)[5] for line in maps if line.count("/") and "libmpi" in line.rpartition("/")[2]}
    return sorted(files)


class Ranks:
    """The ranks of a trial, as seen by one of them.

    ``rank`` of ``size``; ``node`` (0-based, hosts counted in order of their first rank) of ``nodes``; ``local_rank``
    counts the ranks on one node. ``hosts`` and ``node_of`` have one entry for every rank.
    """

    def __init__(self, communicator: Any) -> None:
        self._comm = communicator
        self.rank: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self.hosts: tuple[Host, ...] = tuple(self.all_gather(get_this_host()))
        self.node_of = number_nodes([(host.name, host.boot_id) for host in self.hosts])
        self.node = self.node_of[self.rank]
        self.nodes = max(self.node_of) + 1
        self.local_rank = self.node_of[: self.rank].count(self.node)
        shared_clock = len({host.clock for host in self.hosts}) == 1
        # This rank's CLOCK_MONOTONIC minus rank 0's; None until clocks.estimate_clocks() has measured it.
        self.clock_offset_ns: int | None = 0 if shared_clock else None

    def library(self) -> tuple[Any, Any]:
        """Return mpi4py's ``MPI`` and the communicator of these ranks, for other MPI calls. A single rank starts MPI by
        this. Raises LaunchError if MPI cannot be loaded."""
        library = _import_mpi(initialize=True)
        return library, library.COMM_SELF if isinstance(self._comm, _SingleRank) else self._comm

    def barrier(self) -> None:
        """Wait for all ranks, spinning: they leave as simultaneously as the MPI library allows."""
        self._comm.Barrier()

    def wait_for_all(self, look_s: float = POLL_S) -> None:
        """Wait for all ranks, sleeping: a rank that finishes early leaves its core to those that still measure. It
        polls every ``look_s``."""
        request = self._comm.Ibarrier()
        while not request.Test():
            time.sleep(look_s)

    def broadcast(self, value: _T, root: int = 0) -> _T:
        """Return ``root``'s value on every rank (pickled)."""
        return cast("_T", self._comm.bcast(value, root))

    def gather(self, value: _T) -> list[_T] | None:
        """Return every rank's value, in order of rank, on rank 0; None elsewhere. Use stream_to_root for
        large values."""
        return cast("list[_T] | None", self._comm.gather(value, 0))

    def all_gather(self, value: _T) -> list[_T]:
        """Return every rank's value, in order of rank, on every rank."""
        return cast("list[_T]", self._comm.allgather(value))

    def all_max(self, value: int) -> int:
        """Return the largest value of all ranks, on every rank."""
        return int(self._comm.allreduce(value, max))

    def abort(self, code: int) -> None:
        """End all ranks at once: a rank that left alone would let the others wait forever. A single rank returns."""
        self._comm.Abort(code)
        if self.size > 1:
            os._exit(code)  # some libraries return, and let the launcher end the process a little later

    def agree_start(self, delay_ns: int) -> int:
        """Return the common start time, rank 0's now + ``delay_ns``, in the caller's own CLOCK_MONOTONIC.

        All ranks must call it. Returns 0 ("at once", after a barrier) if the clocks of the hosts differ and
        clocks.estimate_clocks() has not been called.
        """
        start_ns = int(self.broadcast(time.monotonic_ns() + delay_ns if self.rank == 0 else 0))
        if self.all_max(self.clock_offset_ns is None):
            self.barrier()
            return 0
        return start_ns + (self.clock_offset_ns or 0)

    def stream_to_root(self, chunks: Iterable[bytes], receive: Callable[[int, bytes | bytearray], None]) -> None:
        """Pass every rank's chunks to ``receive(rank, chunk)`` on rank 0: one rank after the other, in order.

        Chunks arrive whole and may be of any size; rank 0 holds one at a time. Raises SystemFaultError on rank 0 if
        another rank's ``chunks`` raised; that rank gets its own exception.
        """
        if self.rank == 0:
            for chunk in chunks:
                receive(0, chunk)
            for source in range(1, self.size):
                self._receive_stream(source, receive)
        else:
            self._comm.recv(source=0)  # wait for this rank's turn, so that nothing piles up at rank 0
            self._send_stream(chunks)

    def ping(self, peer: int, count: int) -> list[tuple[int, int, int]]:
        """Query the clock of ``peer`` (who calls `pong`) ``count`` times; return (sent_ns, peer_ns, received_ns) of
        each."""
        samples, answer = [], array("q", [0])
        for _ in range(count):
            sent_ns = time.monotonic_ns()
            self._comm.Send(answer, peer)
            self._comm.Recv(answer, peer)
            samples.append((sent_ns, answer[0], time.monotonic_ns()))
        return samples

    def pong(self, peer: int, count: int) -> None:
        """Answer the queries of `ping`."""
        question = array("q", [0])
        for _ in range(count):
            self._comm.Recv(question, peer)
            question[0] = time.monotonic_ns()
            self._comm.Send(question, peer)

    def send(self, data: bytearray, peer: int) -> None:
        """Send ``data`` to ``peer``, who calls `receive`."""
        self._comm.Send(data, peer)

    def receive(self, data: bytearray, peer: int) -> None:
        """Fill ``data`` with the message of ``peer``, which has that length."""
        self._comm.Recv(data, peer)

    def send_at_once(self, data: bytearray, peer: int, count: int) -> None:
        """Send ``count`` messages of ``data`` to ``peer`` (who calls `receive_at_once`) concurrently."""
        for request in [self._comm.Isend(data, peer) for _ in range(count)]:
            request.Wait()

    def receive_at_once(self, places: Sequence[bytearray], peer: int) -> None:
        """Receive concurrently into all of ``places``."""
        for request in [self._comm.Irecv(place, peer) for place in places]:
            request.Wait()

    def _send_stream(self, chunks: Iterable[bytes]) -> None:
        try:
            for chunk in chunks:
                view = memoryview(chunk).cast("B")
                # Synchronous, so that small chunks do not pile up in rank 0's receive buffers either.
                self._comm.Ssend(array("q", [len(view)]), 0)
                for at in range(0, len(view), PIECE_BYTES):
                    self._comm.Send(view[at : at + PIECE_BYTES], 0)
        except BaseException:
            self._comm.Ssend(array("q", [_STREAM_FAILED]), 0)
            raise
        self._comm.Ssend(array("q", [_END_OF_STREAM]), 0)

    def _receive_stream(self, source: int, receive: Callable[[int, bytes | bytearray], None]) -> None:
        self._comm.send(None, dest=source)
        length = array("q", [0])
        while True:
            self._comm.Recv(length, source)
            if length[0] == _STREAM_FAILED:
                raise SystemFaultError(
                    "rank-failed", "rank {rank} could not send its results", "see its own message", rank=source
                )
            if length[0] == _END_OF_STREAM:
                return
            chunk = bytearray(length[0])
            view = memoryview(chunk)
            for at in range(0, len(view), PIECE_BYTES):
                self._comm.Recv(view[at : at + PIECE_BYTES], source)
            receive(source, chunk)


class _SingleRank:
    """The communicator of a single rank, as far as `Ranks` uses it."""

    def Get_rank(self) -> int:  # noqa: N802
        return 0

    def Get_size(self) -> int:  # noqa: N802
        return 1

    def Barrier(self) -> None:  # noqa: N802
        return None

    def Ibarrier(self) -> Self:  # noqa: N802
        return self

    def Test(self) -> bool:  # noqa: N802
        return True

    def Abort(self, code: int) -> None:  # noqa: N802
        return None

    def bcast(self, value: _T, root: int) -> _T:
        return value

    def gather(self, value: _T, root: int) -> list[_T]:
        return [value]

    def allgather(self, value: _T) -> list[_T]:
        return [value]

    def allreduce(self, value: int, op: Callable[[int, int], int]) -> int:
        return value


def connect_ranks(expected: int) -> Ranks:
    """Join the other ranks; ``expected`` is the number of processes requested from the launcher.

    Raises LaunchError if the communicator has another size. Most often the launcher belongs to another MPI than the
    library that mpi4py loads, and every process runs alone.
    """
    if expected < 1:
        raise ValueError(f"expected {expected} ranks")
    if expected == 1:
        _refuse_being_launched_as_many()
        return Ranks(_SingleRank())
    communicator = _get_world()
    if communicator.Get_size() != expected:
        raise _create_size_mismatch_error(expected, communicator.Get_size())
    return Ranks(communicator)


def _import_mpi(initialize: bool) -> Any:
    try:
        import mpi4py

        mpi4py.rc.initialize = initialize
        mpi4py.rc.thread_level = "funneled"  # only the main thread calls MPI; "multiple" costs a lock per call
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LaunchError(
            "mpi-not-loadable",
            "MPI cannot be loaded ({reason})",
            "load your site's MPI module, or: pip install 'iosonde[mpich]'; one rank needs no MPI",
            reason=reason,
        ) from error
    return MPI


def _get_world() -> Any:
    _check_shared_memory()
    return _import_mpi(initialize=True).COMM_WORLD


def _check_shared_memory() -> None:
    """Check shared memory. Raises LaunchError, because MPICH and its derivatives would report a lack of memory, or
    hang."""
    if _OPEN_MPI not in os.environ and not os.access(SHARED_MEMORY, os.W_OK | os.X_OK):
        raise LaunchError(
            "shared-memory-unavailable",
            "{host}: {path} is not writable, where MPI keeps the shared memory of ranks"
            if SHARED_MEMORY.exists()
            else "{host}: {path} is missing, where MPI keeps the shared memory of ranks",
            "mount -t tmpfs -o mode=1777 tmpfs {path}",
            host=get_this_host().name,
            path=SHARED_MEMORY,
        )


def count_launched_processes() -> int:
    """Return the number of processes that an MPI launcher started together with this one; 1 without a launcher."""
    return max([int(size) for name in _SIZE_VARIABLES if (size := os.environ.get(name, "")).isdigit()], default=1)


def _refuse_being_launched_as_many() -> None:
    for variable in _SIZE_VARIABLES:
        size = os.environ.get(variable, "")
        if size.isdigit() and int(size) > 1:
            raise LaunchError(
                "unexpected-launcher",
                "expected one rank, but a launcher started {n_ranks} ({variable}={n_ranks})",
                "start iosonde without mpiexec or srun: it starts its own ranks",
                n_ranks=size,
                variable=variable,
            )


def _create_size_mismatch_error(expected: int, size: int) -> LaunchError:
    library = get_library_version()
    if size == 1:
        return LaunchError(
            "mpi-mismatch",
            "{expected} ranks requested, but MPI connects 1: each process runs alone",
            "the launcher does not match the MPI library ({library}), or no launcher was used; use the mpiexec "
            "of that library, or with srun another --mpi",
            expected=expected,
            library=library,
        )
    return LaunchError(
        "mpi-size-mismatch",
        "{expected} ranks requested, but MPI connects {size}: the launcher started another number of processes "
        "than requested",
        "check the launcher's options and the size of the allocation; the MPI library is {library}",
        expected=expected,
        size=size,
        library=library,
    )
