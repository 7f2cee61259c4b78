"""How busy the node was between two moments, and how much of that was ours."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import reading

# The columns of the "cpu" line of /proc/stat, in clock ticks (proc_stat(5)); guest time is inside user
# already.
_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True)
class Load:
    """CPU seconds of the node over ``seconds``, and those of this process (``own_s``, all its threads).

    ``capacity_s`` is CPUs × seconds as the kernel counts them. ``busy_s`` leaves out idle, iowait and steal.
    ``load_average`` is the kernel's one-minute average at the end.
    """

    seconds: float
    capacity_s: float
    busy_s: float
    iowait_s: float
    steal_s: float
    own_s: float
    load_average: float


class LoadSampler:
    """``start()``, then ``stop()`` → Load; one for each rank: see `per_node`."""

    def start(self) -> LoadSampler:
        """Remember the counters now."""
        self._begin = self._read()
        return self

    def stop(self) -> Load:
        """What happened since `start`."""
        begin, end = self._begin, self._read()
        ticks = {name: end[1].get(name, 0.0) - begin[1].get(name, 0.0) for name in _COLUMNS}
        capacity_s = sum(ticks.values())
        return Load(
            seconds=end[0] - begin[0],
            capacity_s=capacity_s,
            busy_s=capacity_s - ticks["idle"] - ticks["iowait"] - ticks["steal"],
            iowait_s=ticks["iowait"],
            steal_s=ticks["steal"],
            own_s=end[2] - begin[2],
            load_average=os.getloadavg()[0],
        )

    @staticmethod
    def _read() -> tuple[float, dict[str, float], float]:
        return time.monotonic(), parse_stat(reading.text("/proc/stat") or ""), time.process_time()


def parse_stat(content: str) -> dict[str, float]:
    """CPU seconds of the whole node since boot, by kind, from /proc/stat."""
    words = content.partition("\n")[0].split()
    if not words or words[0] != "cpu":
        return {}
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    return {name: int(word) / ticks_per_s for name, word in zip(_COLUMNS, words[1:], strict=False)}


def per_node(loads: Sequence[Load], node_of: Sequence[int]) -> list[dict[str, Any]]:
    """For each node the shares of its CPUs' time (0 to 1): busy, iowait, steal, own (all its ranks),
    background.

    ``background`` is what was busy and not a rank: other programs, and the kernel's threads that write our
    dirty pages back or serve the network. None where the kernel counted no time.
    """
    nodes = []
    for node in sorted(set(node_of)):
        here = [load for load, where in zip(loads, node_of, strict=True) if where == node]
        widest = max(here, key=lambda load: load.seconds)
        own_s = sum(load.own_s for load in here)
        shares = {
            "busy": widest.busy_s,
            "iowait": widest.iowait_s,
            "steal": widest.steal_s,
            "own": own_s,
            "background": max(0.0, widest.busy_s - own_s),
        }
        capacity_s = widest.capacity_s
        nodes.append(
            {
                "node": node,
                "seconds": widest.seconds,
                **{name: value / capacity_s if capacity_s > 0 else None for name, value in shares.items()},
                "load_average": widest.load_average,
            }
        )
    return nodes
