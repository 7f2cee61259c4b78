"""Reads that the page cache of the client may have served, by what the tool prints of its settings.

A node that reads what it has just written finds it in its memory, unless the tool opens the files without the cache
(O_DIRECT), or lets each task read what a task of another node wrote (``-C``). The bandwidths then show it: the reads
are several times as fast as the writes of the same data.
"""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.units import format_rate, format_size
from iosonde.core.vocabulary import TOOLS
from iosonde.core.vocabulary.fio import CALLING_ENGINES

from ..parsed import Parsed
from ..reading import split_command
from .numbers import Numbers

CODE = "S104"
_SPEEDS = ("bandwidth_last_done", "bandwidth", "bandwidth_sum_of_ranks")
# The fastest devices need about 8 µs for a random read.
_FASTEST_DEVICE_S = 3e-6
# Storage reads up to about this many times as fast as it writes.
_FASTER = 4.0
# IOR's word without ``-C``: each task reads what it wrote.
_IN_PLACE = "no tasks offsets"
# More than the memory of a large node cannot be in it.
_LARGEST_MEMORY = 2.0**39
_READS = {"read": "write"}
_TOOLS = ("ior", "elbencho", "fio")


def find_cached_reads(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the reads that are far faster than the writes before them, or read the same data again."""
    if run.tool not in _TOOLS:
        return
    totals = [group for group in groups if group.rank is None]
    writes = {_build_key(group): group for group in totals if group.operation in _READS.values()}
    opens_directly = _has_direct_flag(run)
    reasons: dict[str, Contradiction] = {}
    for group in totals:
        if group.operation not in _READS:
            continue
        settings = group.get_settings(run)
        if _bypasses_cache(settings) or opens_directly:
            continue
        write = writes.get((_READS[group.operation], *_build_key(group)[1:]))
        sentence = (
            (write and _compare_with_write(group, write, settings))
            or _find_second_reading(group, settings)
            or _find_fast_random_reads(group, settings)
        )
        if sentence:
            note = Message(
                "cached-reads",
                "cache may have served {operation}: {reason}",
                operation=group.operation,
                reason=sentence,
            )
            contradiction = Contradiction(
                CODE, group.operation, (), sentence, group.find_line(*_SPEEDS), group.factors, note
            )
            reasons.setdefault(f"{group.operation} {group.factors}", contradiction)
    yield from reasons.values()


def _build_key(group: Numbers) -> tuple[str, int | None, str]:
    return group.operation, group.iteration, repr(sorted((group.factors or {}).items()))


def _has_direct_flag(run: Parsed) -> bool:
    """Return whether the printed command opens the files with O_DIRECT."""
    tool = TOOLS.get(run.tool)
    words = split_command(str(run.facts.get("command", "")))
    return tool is not None and any(word.option and word.option.setting == "direct" for word in tool.split(words))


def _bypasses_cache(settings: Mapping[str, FactorValue]) -> bool:
    """Return whether the page cache is bypassed, or whether the read data were written on another node."""
    if str(settings.get("direct", 0)).lower() not in ("0", "false", "none", ""):
        return True
    return settings.get("nodes", settings.get("hosts", 1)) != 1 and settings.get("ordering_between_files") != _IN_PLACE


def _compare_with_write(group: Numbers, write: Numbers, settings: Mapping[str, FactorValue]) -> Message | None:
    read_speed, write_speed, size = group.get(*_SPEEDS), write.get(*_SPEEDS), _get_size(settings)
    if not read_speed or not write_speed or read_speed < _FASTER * write_speed:
        return None
    nodes = settings.get("nodes", settings.get("hosts"))
    if not isinstance(nodes, int) or nodes < 1 or (size is not None and size / nodes > _LARGEST_MEMORY):
        return None
    return Message(
        "read-after-write",
        "{operation} is {times:.3g} times as fast as {write}, and {nodes} read {size} just written there, without "
        "O_DIRECT",
        nodes=f"each of {nodes} nodes" if nodes > 1 else "one node",
        operation=group.operation,
        times=read_speed / write_speed,
        write=write.operation,
        size="the data" if size is None else format_size(size / nodes),
    )


def _find_second_reading(group: Numbers, settings: Mapping[str, FactorValue]) -> Message | None:
    """Return a message if fio read its files several times: all but the first reading may be from memory."""
    n_bytes, size, jobs = group.get("bytes"), settings.get("size"), settings.get("ranks", 1)
    if not n_bytes or settings.get("engine", "psync") not in CALLING_ENGINES or not isinstance(size, int):
        return None
    if not isinstance(jobs, int) or size <= 0 or jobs <= 0:
        return None
    times = n_bytes / (size * jobs)
    if times < 2 or size * jobs > _LARGEST_MEMORY:
        return None
    return Message(
        "read-again",
        "its {size} were read {times:.3g} times, without O_DIRECT (direct=1)",
        size=format_size(size * jobs),
        times=times,
    )


def _find_fast_random_reads(group: Numbers, settings: Mapping[str, FactorValue]) -> Message | None:
    """Return a message if fio's random reads took less time than any device needs; sequential ones are read ahead."""
    latency = group.get("latency_mean")
    if not latency or latency >= _FASTEST_DEVICE_S or not str(settings.get("rw", "")).startswith("rand"):
        return None
    if settings.get("engine", "") not in CALLING_ENGINES:
        return None
    return Message(
        "faster-than-devices",
        "its random reads took {latency} on average, less than any device needs",
        latency=format_rate(latency, "s"),
    )


def _get_size(settings: Mapping[str, FactorValue]) -> float | None:
    """Return the bytes of all files, if the settings give it."""
    block, segments, ranks = (settings.get(name, 1) for name in ("block_size", "segments", "ranks"))
    if "transfer_size" in settings and isinstance(block, int) and isinstance(segments, int) and isinstance(ranks, int):
        return block * segments * ranks
    return None
