"""Several ranks in one process, each a thread: a communicator as `ranks.mpi.Ranks` uses it, without MPI."""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

from iosonde.ranks import mpi
from iosonde.ranks.hosts import Host

LIMIT_S = 60.0  # nobody waits longer for a rank that has failed


class _Shared:
    def __init__(self, size: int) -> None:
        self.size, self.barrier, self.values = size, threading.Barrier(size, timeout=LIMIT_S), [None] * size
        self.mail: dict[tuple[int, int], queue.Queue[Any]] = defaultdict(queue.Queue)


class _Request:
    def __init__(self, finish: Callable[[], None]) -> None:
        self._finish = finish

    def Test(self) -> bool:  # noqa: N802
        self._finish()
        return True

    Wait = Test


class Communicator:
    """Messages arrive in order; a collective call waits for all."""

    def __init__(self, shared: _Shared, rank: int) -> None:
        self._shared, self._rank = shared, rank

    def Get_rank(self) -> int:  # noqa: N802
        return self._rank

    def Get_size(self) -> int:  # noqa: N802
        return self._shared.size

    def Barrier(self) -> None:  # noqa: N802
        self._shared.barrier.wait()

    def Ibarrier(self) -> _Request:  # noqa: N802
        return _Request(self.Barrier)

    def allgather(self, value: Any) -> list[Any]:
        self._shared.values[self._rank] = value
        self.Barrier()
        values = list(self._shared.values)
        self.Barrier()
        return values

    def gather(self, value: Any, root: int) -> list[Any] | None:
        values = self.allgather(value)
        return values if self._rank == root else None

    def bcast(self, value: Any, root: int) -> Any:
        return self.allgather(value)[root]

    def allreduce(self, value: Any, op: Callable[[Sequence[Any]], Any]) -> Any:
        return op(self.allgather(value))

    def send(self, value: Any, dest: int) -> None:
        self._shared.mail[self._rank, dest].put(value)

    def recv(self, source: int) -> Any:
        return self._shared.mail[source, self._rank].get(timeout=LIMIT_S)

    def Send(self, data: Any, peer: int) -> None:  # noqa: N802
        self.send(bytes(memoryview(data).cast("B")), peer)

    Ssend = Send

    def Recv(self, place: Any, peer: int) -> None:  # noqa: N802
        memoryview(place).cast("B")[:] = self.recv(peer)

    def Isend(self, data: Any, peer: int) -> _Request:  # noqa: N802
        self.Send(data, peer)
        return _Request(lambda: None)

    def Irecv(self, place: Any, peer: int) -> _Request:  # noqa: N802
        return _Request(lambda: self.Recv(place, peer))


def run_ranks(hosts: Sequence[Host], program: Callable[[mpi.Ranks], Any]) -> list[Any]:
    """What ``program`` returns on each rank; there are as many as ``hosts``. An exception is raised here."""
    shared, here = _Shared(len(hosts)), threading.local()

    def run(rank: int) -> Any:
        here.host = hosts[rank]
        try:
            return program(mpi.Ranks(Communicator(shared, rank)))
        except BaseException:
            shared.barrier.abort()
            raise

    with mock.patch.object(mpi, "get_this_host", lambda: here.host), ThreadPoolExecutor(len(hosts)) as pool:
        return list(pool.map(run, range(len(hosts))))


def on_hosts(*names: str) -> list[Host]:
    """A rank for each name, each host with its own clock."""
    return [Host(name, f"boot of {name}", "time:1") for name in names]
