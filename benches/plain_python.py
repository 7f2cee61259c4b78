"""A plain Python loop as a contender: what one writes in a minute. Several workers are processes."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import random
import time
from collections.abc import Callable

from cases import Job

Work = Callable[[Job, int], Callable[[], None]]


def measure(job: Job) -> dict[str, float]:
    """The rate of each operation of the case."""
    rates = {}
    for operation in job.case.operations:
        spans = _in_processes(job, _WORK[operation])
        seconds = (max(end for _, end in spans) - min(begin for begin, _ in spans)) / 1e9
        rates[operation] = job.case.rate(job.case.count * job.case.passes * job.workers, seconds)
    return rates


def _in_processes(job: Job, work: Work) -> list[tuple[int, int]]:
    """(begin, end) of each worker in ns; all start together, with what is not timed done before."""
    context = multiprocessing.get_context("fork")
    barrier, spans = context.Barrier(job.workers), context.Queue()

    def one(worker: int) -> None:
        loop = work(job, worker)
        barrier.wait()
        begin = time.monotonic_ns()
        loop()
        spans.put((begin, time.monotonic_ns()))

    processes = [context.Process(target=one, args=(worker,)) for worker in range(job.workers)]
    for process in processes:
        process.start()
    found = [spans.get(timeout=300) for _ in processes]
    for process in processes:
        process.join()
    return found


def _offsets(job: Job, worker: int) -> list[int]:
    blocks = range(job.case.count)
    chosen = random.Random(worker).choices(blocks, k=len(blocks)) if job.case.random else blocks
    return [block * job.case.transfer_size for block in chosen]


def _read(job: Job, worker: int) -> Callable[[], None]:
    descriptor, size, offsets = os.open(job.file(worker), os.O_RDONLY), job.case.transfer_size, _offsets(job, worker)

    def loop() -> None:
        for _ in range(job.case.passes):
            for offset in offsets:
                os.pread(descriptor, size, offset)

    return loop


def _write(job: Job, worker: int) -> Callable[[], None]:
    descriptor, offsets = os.open(job.file(worker), os.O_WRONLY), _offsets(job, worker)
    buffer = mmap.mmap(-1, job.case.transfer_size)  # anonymous memory: page-aligned
    buffer.write(os.urandom(job.case.transfer_size))

    def loop() -> None:
        for _ in range(job.case.passes):
            for offset in offsets:
                os.pwrite(descriptor, buffer, offset)

    return loop


def _names(job: Job, worker: int) -> list[str]:
    directory = job.directory / f"p{worker}"
    directory.mkdir(exist_ok=True)
    return [f"{directory}/f{number:06d}" for number in range(job.case.files)]


def _create(job: Job, worker: int) -> Callable[[], None]:
    names = _names(job, worker)

    def loop() -> None:
        for name in names:
            os.close(os.open(name, os.O_CREAT | os.O_RDWR))

    return loop


def _each_name(call: Callable[[str], object]) -> Work:
    def work(job: Job, worker: int) -> Callable[[], None]:
        names = _names(job, worker)

        def loop() -> None:
            for name in names:
                call(name)

        return loop

    return work


_WORK: dict[str, Work] = {
    "read": _read,
    "write": _write,
    "create": _create,
    "stat": _each_name(os.stat),
    "unlink": _each_name(os.unlink),
}
