"""Reads that the page cache of the client may have served, by what the tool prints of its settings.

A node that reads what it has just written finds it in its memory, unless the tool opens the files without the cache
(O_DIRECT), or lets each task read what a task of another node wrote (``-C``). The bandwidths then show it: the reads
are several times as fast as the writes of the same data. On one node ``-C`` changes nothing. Random reads of 4 KiB are
not faster than sequential ones of the same files.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.units import format_rate, format_size
from iosonde.core.vocabulary import TOOLS
from iosonde.core.vocabulary.fio import CALLING_ENGINES

from ..parsed import Parsed
from ..reading import split_command
from .numbers import Numbers, sum_bytes

CODE = "S104"
_SPEEDS = ("bandwidth_last_done", "bandwidth", "bandwidth_sum_of_ranks")
# The fastest devices need about 8 µs for a random read or a write.
FASTEST_DEVICE_S = 3e-6
# Storage reads up to about this many times as fast as it writes.
_FASTER = 4.0
# As above, if ``-C`` was to keep the reads out of the cache of the only node.
_FASTER_SHIFTED = 1.5
# Rates of random and of sequential reads, each rounded, and measured once.
_FASTER_AT_RANDOM = 1.1
# IOR's word without ``-C``: each task reads what it wrote.
_IN_PLACE = "no tasks offsets"
_SHIFTED = "constant task offset"
# More than the memory of a large node cannot be in it.
LARGEST_MEMORY = 2.0**39
# Operations that read → those that wrote the same data before, of each tool that has both.
_READS = {
    "ior": {"read": "write"},
    "elbencho": {"read": "write"},
    "fio": {"read": "write"},
    "io500": {"ior_easy_read": "ior_easy_write", "ior_hard_read": "ior_hard_write"},
    "iozone": {
        **dict.fromkeys(("read", "reread", "random_read", "backward_read", "stride_read"), "write"),
        **dict.fromkeys(("fread", "refread"), "fwrite"),
        "pread": "pwrite",
    },
}
_RANDOM = ("random_read",)
# Random reads of 4 KiB → the sequential reads of the same files.
_RANDOM_READS = {"io500": {"ior_rnd4k_easy_read": "ior_easy_read"}}
# IOzone's option to unmount the file system between tests.
_UNMOUNTS = "-U"


def find_cached_reads(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the reads that are far faster than the writes before them, or read the same data again: one for each
    operation and setting, with one note for each operation."""
    reads = _READS.get(run.tool, {})
    totals = [group for group in groups if group.rank is None and reads]
    writes = {(group.operation, group.place): group for group in totals if group.operation in reads.values()}
    faster = _FASTER_SHIFTED if _is_shifted_on_single_node(run) else _FASTER
    opens_directly: bool | None = None
    contradictions: dict[str, Contradiction] = {}
    notes: dict[str, Message] = {}
    for group in totals:
        if group.operation not in reads:
            continue
        write = writes.get((reads[group.operation], group.place))
        times = _compare_speeds(group, write) if write else 0.0
        if times < faster and run.tool != "fio" and group.operation not in _RANDOM:
            continue  # nearly all cells of a table
        if opens_directly is None:
            opens_directly = _has_direct_flag(run)
        if opens_directly:
            break
        settings = group.get_settings(run)
        if _bypasses_cache(settings):
            continue
        sentence = (
            (write and times >= faster and _describe_times(run, group, write, settings))
            or _find_second_reading(sum_bytes(group, groups), settings)
            or _find_fast_random_reads(run, group, settings)
        )
        if sentence:
            note = notes.setdefault(
                group.operation,
                Message(
                    "cached-reads",
                    "cache may have served {operation}: {reason}",
                    operation=group.operation,
                    reason=sentence,
                ),
            )
            contradiction = Contradiction(
                CODE, group.operation, (), sentence, group.find_line(*_SPEEDS), group.factors, note
            )
            contradictions.setdefault(f"{group.operation} {group.factors}", contradiction)
    yield from contradictions.values()
    yield from _find_fast_small_reads(run, groups)


def _has_direct_flag(run: Parsed) -> bool:
    """Return whether the printed command opens the files with O_DIRECT, or unmounts them between operations."""
    tool = TOOLS.get(run.tool)
    words = split_command(str(run.facts.get("command", "")))
    if run.tool == "iozone" and _UNMOUNTS in words:
        return True
    options = tool.split(words) if tool else ()
    return any(word.option and word.option.setting == "direct" and word.value != "0" for word in options)


def _bypasses_cache(settings: Mapping[str, FactorValue]) -> bool:
    """Return whether the page cache is bypassed, or whether the read data were written on another node."""
    if str(settings.get("direct", 0)).lower() not in ("0", "false", "none", ""):
        return True
    return settings.get("nodes", settings.get("hosts", 1)) != 1 and settings.get("ordering_between_files") != _IN_PLACE


def _compare_speeds(group: Numbers, write: Numbers) -> float:
    """Return how many times as fast as the write a read is, 0 if it is not known."""
    return (group.get(*_SPEEDS) or 0.0) / (write.get(*_SPEEDS) or math.inf)


def _describe_times(run: Parsed, group: Numbers, write: Numbers, settings: Mapping[str, FactorValue]) -> Message | None:
    """Return a message about a read that is so many times as fast as its write, if one node's memory may hold it."""
    nodes, size = count_nodes(run, settings), get_size(settings) or write.get("bytes") or _count_bytes(write)
    if not isinstance(nodes, int) or nodes < 1 or (size is not None and size / nodes > LARGEST_MEMORY):
        return None
    if _is_shifted_on_single_node(run):
        return Message(
            "shifted-on-one-node",
            "{operation} is {times:.3g} times as fast as {write}, and one node read {size} just written there, without "
            "O_DIRECT: on one node -C changes nothing, as all tasks share its cache",
            operation=group.operation,
            times=_compare_speeds(group, write),
            write=write.operation,
            size="the data" if size is None else format_size(size),
        )
    return Message(
        "read-after-write",
        "{operation} is {times:.3g} times as fast as {write}, and {nodes} read {size} just written there, without "
        "O_DIRECT",
        nodes=f"each of {nodes} nodes" if nodes > 1 else "one node",
        operation=group.operation,
        times=_compare_speeds(group, write),
        write=write.operation,
        size="the data" if size is None else format_size(size / nodes),
    )


def _is_shifted_on_single_node(run: Parsed) -> bool:
    """Return whether each task reads what another one wrote, and all are on one node."""
    order = run.factors.get("ordering_between_files")
    return run.factors.get("nodes") == 1 and isinstance(order, str) and order.startswith(_SHIFTED)


def _find_fast_small_reads(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield random reads of 4 KiB that are faster than the sequential reads of the same files."""
    if run.tool not in _RANDOM_READS:
        return
    speeds = {(group.operation, group.place): group.get(*_SPEEDS) for group in groups if group.rank is None}
    for random, sequential in _RANDOM_READS[run.tool].items():
        for group in groups:
            speed, other = speeds.get((random, group.place)), speeds.get((sequential, group.place))
            if group.operation == random and speed and other and speed > _FASTER_AT_RANDOM * other:
                sentence = Message(
                    "random-above-sequential",
                    "{operation} is {times:.3g} times as fast as {sequential} of the same files, although it reads 4 "
                    "KiB at random",
                    operation=random,
                    times=speed / other,
                    sequential=sequential,
                )
                yield Contradiction(CODE, random, (), sentence, group.find_line(*_SPEEDS), group.factors)


def count_nodes(run: Parsed, settings: Mapping[str, FactorValue]) -> FactorValue | None:
    """Return the number of nodes, None if it is not printed. IOzone has one, except in its cluster mode."""
    is_single = run.tool == "iozone" and "command" in run.facts and settings.get("mode") != "cluster"
    is_single = is_single or (run.tool == "io500" and settings.get("ranks") == 1)
    return settings.get("nodes", settings.get("hosts", 1 if is_single else None))


def _count_bytes(group: Numbers) -> float | None:
    speed, time = group.get(*_SPEEDS), group.get("time")
    return speed * time if speed and time else None


def _find_second_reading(n_bytes: float | None, settings: Mapping[str, FactorValue]) -> Message | None:
    """Return a message if fio read its files several times: all but the first reading may be from memory."""
    size, jobs = get_job_size(settings), settings.get("ranks", 1)
    if not n_bytes or settings.get("engine", "psync") not in CALLING_ENGINES or not isinstance(size, int):
        return None
    if not isinstance(jobs, int) or size <= 0 or jobs <= 0:
        return None
    times = n_bytes / (size * jobs)
    if times < 2 or size * jobs > LARGEST_MEMORY:
        return None
    return Message(
        "read-again",
        "its {size} were read {times:.3g} times, without O_DIRECT (direct=1)",
        size=format_size(size * jobs),
        times=times,
    )


def get_job_size(settings: Mapping[str, FactorValue]) -> FactorValue | None:
    """Return the bytes of the files of one of fio's jobs, None if its options do not say it."""
    file_size, files = settings.get("file_size"), settings.get("files", 1)
    of_files = file_size * files if isinstance(file_size, int) and isinstance(files, int) else None
    return settings.get("size", of_files)


def _find_fast_random_reads(run: Parsed, group: Numbers, settings: Mapping[str, FactorValue]) -> Message | None:
    """Return a message if fio's or IOzone's random reads took less time than any device needs; sequential ones are read
    ahead."""
    latency = _get_random_latency(run, group, settings)
    if not latency or latency >= FASTEST_DEVICE_S:
        return None
    return Message(
        "faster-than-devices",
        "its random reads took {latency} on average, less than any device needs",
        latency=format_rate(latency, "s"),
    )


def _get_random_latency(run: Parsed, group: Numbers, settings: Mapping[str, FactorValue]) -> float | None:
    """Return the mean time of a random read, None if it is not known. Each process of IOzone waits for its read."""
    if run.tool == "fio":
        is_random = str(settings.get("rw", "")).startswith("rand") and settings.get("engine", "") in CALLING_ENGINES
        return group.get("latency_mean") if is_random else None
    speed, record, n_ranks = group.get(*_SPEEDS), settings.get("record_size"), settings.get("ranks", 1)
    if group.operation != "random_read" or not speed or not isinstance(record, int) or not isinstance(n_ranks, int):
        return None
    return record * n_ranks / speed


def get_size(settings: Mapping[str, FactorValue]) -> float | None:
    """Return the bytes of all files, if the settings give it."""
    block, segments, ranks, file = (settings.get(name, 1) for name in ("block_size", "segments", "ranks", "file_size"))
    if not isinstance(ranks, int):
        return None
    if "record_size" in settings and isinstance(file, int):
        return file * ranks
    if "transfer_size" in settings and isinstance(block, int) and isinstance(segments, int):
        return block * segments * ranks
    return None
