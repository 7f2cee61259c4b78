"""How busy the node was between two moments, and how much of that was ours."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from iosonde.ranks.processes import WATCHDOG_VARIABLE, cpu_seconds, family

from . import reading

# The columns of the "cpu" line of /proc/stat, in clock ticks (proc_stat(5)); guest time is inside user already.
_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


# The kernel counts in ticks of 10 ms: over less than this a share is chance.
SHORTEST_S = 0.2


class LoadSampler:
    """Samples the node when it is made and again at `result`: one for each node of a trial. ``after``: as of
    `family`."""

    def __init__(self, after: int = 0) -> None:
        self._after = after
        self._begin = _sample(after)

    def result(self) -> dict[str, float | None]:
        """What happened since: shares (0 to 1) of the CPU time that all CPUs had."""
        return shares(self._begin, _sample(self._after))


@dataclass(frozen=True)
class Sample:
    """Counters of CPU seconds: of the node by kind, and of the trial's processes on it."""

    at_s: float
    cpu_s: dict[str, float]
    own_s: float


def shares(begin: Sample, end: Sample) -> dict[str, float | None]:
    """``busy_share`` (all but idle, iowait, steal), ``iowait_share``, ``steal_share``; ``own_share`` (the trial's
    ranks, their launcher and the commands that they waited for) and ``background_share`` (what was busy and not ours:
    other programs, and the kernel's threads that write our dirty pages back); ``load_average`` over a minute. Shares
    are None over less than SHORTEST_S.
    """
    spent_s = {name: end.cpu_s.get(name, 0.0) - begin.cpu_s.get(name, 0.0) for name in _COLUMNS}
    capacity_s = sum(spent_s.values())
    busy_s = capacity_s - spent_s["idle"] - spent_s["iowait"] - spent_s["steal"]
    own_s = end.own_s - begin.own_s
    parts = {
        "busy_share": busy_s,
        "iowait_share": spent_s["iowait"],
        "steal_share": spent_s["steal"],
        "own_share": own_s,
        "background_share": max(0.0, busy_s - own_s),
    }
    seconds = end.at_s - begin.at_s
    enough = seconds >= SHORTEST_S and capacity_s > 0
    return {
        "seconds": seconds,
        **{name: part_s / capacity_s if enough else None for name, part_s in parts.items()},
        "load_average": os.getloadavg()[0],
    }


def parse_stat(content: str) -> dict[str, float]:
    """CPU seconds of the whole node since boot, by kind, from /proc/stat."""
    words = content.partition("\n")[0].split()
    if not words or words[0] != "cpu":
        return {}
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    return {name: int(word) / ticks_per_s for name, word in zip(_COLUMNS, words[1:], strict=False)}


def _sample(after: int) -> Sample:
    token = os.environ.get(WATCHDOG_VARIABLE)
    own = family(token, after=after) if token else [os.getpid()]
    return Sample(time.monotonic(), parse_stat(reading.text("/proc/stat") or ""), cpu_seconds(own))
