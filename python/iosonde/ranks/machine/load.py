"""Load of the node between two moments, and the shares of the trial and the file-system client."""

import os
import time
from dataclasses import dataclass, field
from typing import Any

from iosonde.ranks.processes import WATCHDOG_VARIABLE, find_family, sum_cpu_seconds

from . import daemon, emulated, mount, reading
from .daemon import Daemon

# The columns of the "cpu" line of /proc/stat, in clock ticks (proc_stat(5)); guest time is part of user.
_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


# The kernel counts in ticks of 10 ms: shares over shorter times are random.
SHORTEST_S = 0.2


class LoadSampler:
    """Sample the node on creation and again at `result`, once per node of a trial. ``target``: a resolved path, whose
    file system may have a daemon here; it is not accessed. ``after``: as in `family`."""

    def __init__(self, target: str = "", after: int = 0) -> None:
        self._target, self._after = target, after
        self._begin = _take_sample(target, after)

    def result(self) -> dict[str, Any]:
        """Return shares (0 to 1) of the total CPU time since creation."""
        return compute_shares(self._begin, _take_sample(self._target, self._after))


@dataclass(frozen=True)
class Sample:
    """Counters of CPU seconds: of the node by kind, of the trial's processes, of each daemon that serves the target,
    and of all hosts of a lab on the same CPUs. Also the memory of the daemons."""

    at_s: float
    cpu_s: dict[str, float]
    own_s: float
    daemons: dict[Daemon, float] = field(default_factory=dict)
    daemons_bytes: int = 0
    lab_s: float | None = None


def compute_shares(begin: Sample, end: Sample) -> dict[str, Any]:
    """Return the shares between two samples; they are None over less than SHORTEST_S.

    ``busy_share`` is all but idle, iowait, steal; ``iowait_share`` and ``steal_share`` are these. ``own_share`` covers
    the trial's ranks, their launcher and finished commands. ``background_share`` is the busy rest that belongs neither
    to the trial nor to the client: other programs, and kernel threads that write back dirty pages. ``load_average`` is
    over a minute.

    If a daemon serves the target on this node: ``client_daemon`` (its name), ``client_daemon_cpu_s``,
    ``client_daemon_share``, ``client_daemon_rss_bytes`` at the end. A daemon that ended meanwhile is not counted. In a
    lab ``other_hosts_share`` covers its servers and other clients, which are not background.
    """
    spent_s = {name: end.cpu_s.get(name, 0.0) - begin.cpu_s.get(name, 0.0) for name in _COLUMNS}
    capacity_s = sum(spent_s.values())
    busy_s = capacity_s - spent_s["idle"] - spent_s["iowait"] - spent_s["steal"]
    own_s = end.own_s - begin.own_s
    # A daemon missing in the first sample was started meanwhile by a remount of the target.
    client_s = sum(cpu_s - begin.daemons.get(process, 0.0) for process, cpu_s in end.daemons.items())
    lab_s = None if begin.lab_s is None or end.lab_s is None else max(0.0, end.lab_s - begin.lab_s - own_s - client_s)
    parts = {
        "busy_share": busy_s,
        "iowait_share": spent_s["iowait"],
        "steal_share": spent_s["steal"],
        "own_share": own_s,
        "background_share": max(0.0, busy_s - own_s - client_s - (lab_s or 0.0)),
        **({"client_daemon_share": client_s} if end.daemons else {}),
        **({} if lab_s is None else {"other_hosts_share": lab_s}),
    }
    seconds = end.at_s - begin.at_s
    enough = seconds >= SHORTEST_S and capacity_s > 0
    return {
        "seconds": seconds,
        **{name: part_s / capacity_s if enough else None for name, part_s in parts.items()},
        **_describe_client(end, client_s),
        "load_average": os.getloadavg()[0],
    }


def parse_stat(content: str) -> dict[str, float]:
    """Parse the CPU seconds of the whole node since boot, by kind, from /proc/stat."""
    words = content.partition("\n")[0].split()
    if not words or words[0] != "cpu":
        return {}
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    return {name: int(word) / ticks_per_s for name, word in zip(_COLUMNS, words[1:], strict=False)}


def _describe_client(end: Sample, client_s: float) -> dict[str, Any]:
    if not end.daemons:
        return {}
    return {
        "client_daemon": ", ".join(dict.fromkeys(process.name for process in end.daemons)),
        "client_daemon_cpu_s": client_s,
        "client_daemon_rss_bytes": end.daemons_bytes,
    }


def _take_sample(target: str, after: int) -> Sample:
    daemons = daemon.find_serving_processes(mount.find_mount_entry(target)) if target else []
    serving = {process.pid for process in daemons}
    token = os.environ.get(WATCHDOG_VARIABLE)
    # A command of the trial may have mounted the target: that daemon inherited the token, but belongs to the client.
    own = [pid for pid in (find_family(token, after=after) if token else [os.getpid()]) if pid not in serving]
    return Sample(
        time.monotonic(),
        parse_stat(reading.read_text("/proc/stat") or ""),
        sum_cpu_seconds(own),
        {process: process.cpu_s for process in daemons},
        sum(process.rss_bytes for process in daemons),
        emulated.read_lab_cpu_seconds(),
    )
