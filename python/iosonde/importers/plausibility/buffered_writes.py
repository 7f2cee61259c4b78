"""Writes that may have ended in memory: without O_DIRECT and never flushed.

fio's show it if they wrote the same data several times, those of fio, IOR and dd if they were faster than any device.
What IOR and dd wrote once is in memory if it fits there: this memory is known to those who measure, not to an output.
"""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.units import format_rate, format_size
from iosonde.core.vocabulary.fio import CALLING_ENGINES

from ..parsed import Parsed
from .caches import FASTEST_DEVICE_S, LARGEST_MEMORY, count_nodes, get_job_size, get_size
from .numbers import Numbers, sum_bytes

CODE = "S142"
# Data that is written once may be flushed by the kernel in time.
_FEWEST_TIMES = 2.0
# Operations that write, and the setting with the size of a write, of tools that write their data once.
_WRITES_ONCE = {"ior": ("write", "transfer_size"), "dd": ("copy", "block_size")}
_SPEEDS = ("bandwidth_last_done", "bandwidth_max")


def find_buffered_writes(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the writes that no option flushes, if they show that most of them did not reach a device, or if all of them
    may fit into memory."""
    if run.tool in _WRITES_ONCE and run.is_unflushed:
        yield from _find_unflushed_writes(run, groups)
    if run.tool != "fio" or run.is_unflushed is False:
        return
    for group in groups:
        if group.operation != "write" or group.rank is not None:
            continue
        settings = group.get_settings(run)
        sentence = _find_rewriting(run, group, sum_bytes(group, groups)) or _find_fast_writes(
            group.get("latency_mean"), settings
        )
        if sentence:
            yield Contradiction(CODE, "write", (), sentence, group.find_line("bytes", "latency_mean"), group.factors)


def _find_unflushed_writes(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the first writes of each setting, which its iterations share."""
    operation, transfer = _WRITES_ONCE[run.tool]
    settings_before: set[str] = set()
    for group in groups:
        if group.operation != operation or group.rank is not None or repr(group.factors) in settings_before:
            continue
        settings_before.add(repr(group.factors))
        settings, line = group.get_settings(run), group.find_line(*_SPEEDS)
        if sentence := _find_fast_writes(_compute_latency(group, settings, transfer)):
            yield Contradiction(CODE, operation, (), sentence, line, group.factors)
        elif node_bytes := _count_bytes_of_node(run, group, settings):
            sentence = Message(
                "unflushed-writes",
                "{operation}: {size} were written{place} without O_DIRECT and without fsync: memory larger than that "
                "may hold all of it, and the rate be that of memory",
                operation=operation,
                size=format_size(node_bytes),
                place=" on each node" if settings.get("nodes", 1) != 1 else "",
            )
            yield Contradiction(CODE, operation, (), sentence, line, group.factors, memory_bytes=node_bytes)


def _compute_latency(group: Numbers, settings: Mapping[str, FactorValue], transfer: str) -> float | None:
    """Return the mean time of a write, each rank waiting for its own; None if it is not known."""
    speed, size, n_ranks = group.get(*_SPEEDS), settings.get(transfer), settings.get("ranks", 1)
    if not speed or not isinstance(size, int) or not isinstance(n_ranks, int):
        return None
    return size * n_ranks / speed


def _count_bytes_of_node(run: Parsed, group: Numbers, settings: Mapping[str, FactorValue]) -> float | None:
    """Return the bytes that a node wrote, None if they are not known or are more than the memory of a large node."""
    nodes = 1 if run.tool == "dd" else count_nodes(run, settings)
    size = group.get("bytes") if run.tool == "dd" else get_size(settings)
    if not size or not isinstance(nodes, int) or nodes < 1 or size / nodes > LARGEST_MEMORY:
        return None
    return size / nodes


def _find_rewriting(run: Parsed, group: Numbers, n_bytes: float | None) -> Message | None:
    """Return a message about files that were written several times, None if the options are not printed."""
    settings = group.get_settings(run)
    size, jobs = get_job_size(settings), settings.get("ranks", 1)
    if not run.is_unflushed or not n_bytes or settings.get("engine", "psync") not in CALLING_ENGINES:
        return None
    if not isinstance(size, int) or not isinstance(jobs, int) or size <= 0 or jobs <= 0:
        return None
    times = n_bytes / (size * jobs)
    if times < _FEWEST_TIMES or size * jobs > LARGEST_MEMORY:
        return None
    return Message(
        "written-again",
        "write may have ended in memory: its {size} were written {times:.3g} times, without O_DIRECT (direct=1) and "
        "without fsync",
        size=format_size(size * jobs),
        times=times,
    )


def _find_fast_writes(latency: float | None, settings: Mapping[str, FactorValue] | None = None) -> Message | None:
    """Return a message about writes that took less time than any device needs. ``settings``: those of fio, whose engine
    is to be a system call for each write."""
    if not latency or latency >= FASTEST_DEVICE_S:
        return None
    if settings is not None and settings.get("engine", "") not in CALLING_ENGINES:
        return None
    return Message(
        "faster-than-devices",
        "write may have ended in memory: a write took {latency} on average, less than any device needs",
        latency=format_rate(latency, "s"),
    )
