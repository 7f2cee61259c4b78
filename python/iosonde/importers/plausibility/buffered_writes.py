"""Writes of fio that may have ended in memory: without O_DIRECT and never flushed, and of the same data several times,
or faster than any device."""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.units import format_rate, format_size
from iosonde.core.vocabulary.fio import CALLING_ENGINES

from ..parsed import Parsed
from .caches import FASTEST_DEVICE_S, LARGEST_MEMORY, get_job_size
from .numbers import Numbers, sum_bytes

CODE = "S142"
# Data that is written once may be flushed by the kernel in time.
_FEWEST_TIMES = 2.0


def find_buffered_writes(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the writes that no option flushes, if they show that most of them did not reach a device."""
    if run.tool != "fio" or run.is_unflushed is False:
        return
    for group in groups:
        if group.operation != "write" or group.rank is not None:
            continue
        settings = group.get_settings(run)
        sentence = _find_rewriting(run, group, sum_bytes(group, groups)) or _find_fast_writes(group, settings)
        if sentence:
            yield Contradiction(CODE, "write", (), sentence, group.find_line("bytes", "latency_mean"), group.factors)


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


def _find_fast_writes(group: Numbers, settings: Mapping[str, FactorValue]) -> Message | None:
    latency = group.get("latency_mean")
    if not latency or latency >= FASTEST_DEVICE_S or settings.get("engine", "") not in CALLING_ENGINES:
        return None
    return Message(
        "faster-than-devices",
        "write may have ended in memory: a write took {latency} on average, less than any device needs",
        latency=format_rate(latency, "s"),
    )
