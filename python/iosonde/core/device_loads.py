"""What disks, CPUs and network interfaces did during a run, and shortly before and after it, by a log of its time.

The log is of another tool (iostat, sar). ``DEVICE_LOADS`` of a run's facts has them; the rows that follow from them are
computed where they are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .types import Observation

DEVICE_LOADS = "device_loads"  # in the facts of a run
DISKS = "disks"  # the operation of a run's rows about them
CLOCK_S = 1.0  # other tools print whole seconds: a sample may begin or end that much later than it says
DISK, CPU, NETWORK = "disk", "cpu", "network"
# Values of samples and their means. Latencies are over requests; ``queue`` are requests in flight.
UNITS: Mapping[str, str] = {
    "utilisation": "",
    **dict.fromkeys(("latency", "read_latency", "write_latency"), "s"),
    "queue": "operations",
    **dict.fromkeys(("request_rate", "read_rate", "write_rate"), "operations/s"),
    **dict.fromkeys(("read_bandwidth", "write_bandwidth", "receive_bandwidth", "send_bandwidth"), "bytes/s"),
    **dict.fromkeys(("busy", "iowait", "steal"), ""),
}
_SUMS = ("request_rate", "read_rate", "write_rate", "read_bandwidth", "write_bandwidth", "queue")
_METRIC = "disk_"  # begin of the metrics of a run's rows
METRICS = tuple(f"{_METRIC}{name}" for name in (*_SUMS, "utilisation", "utilisation_busiest", "latency"))
# Devices made of others, whose traffic is counted there, and those without a disk.
_STACKED = re.compile(r"(?:dm-|md\d|loop|ram|zram|sr\d|fd\d|drbd)")
_PARTITION = re.compile(r"p?\d+")


@dataclass(frozen=True)
class DeviceLoad:
    """A device in the time of a run: the means of its samples ``during`` the run; and of those of the time without a
    run, ``before`` it, in the half minute (``flush``) in which its data may still be written, and ``after`` that.

    They are empty without samples. ``seconds``: how long each of these was sampled. ``file``: the log."""

    host: str
    kind: str
    device: str
    file: str = ""
    during: Mapping[str, float] = field(default_factory=dict)
    before: Mapping[str, float] = field(default_factory=dict)
    flush: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def count_bytes_written(self, place: str) -> float:
        """Return the bytes written in ``during`` or another place."""
        return float(getattr(self, place).get("write_bandwidth", 0.0) * self.seconds.get(place, 0.0))

    @property
    def name(self) -> str:
        """Return the device with its host, ``sdb of oss1``."""
        return f"{self.device} of {self.host}" if self.host else self.device

    def to_json(self) -> dict[str, Any]:
        """Return the form in facts."""
        return {key: dict(value) if isinstance(value, Mapping) else value for key, value in vars(self).items()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> DeviceLoad:
        """Return the load of ``to_json``."""
        host, kind, device, file = (str(content.get(name) or "") for name in ("host", "kind", "device", "file"))
        places = ("during", "before", "flush", "after", "seconds")
        return cls(host, kind, device, file, *(content.get(name) or {} for name in places))


def read_device_loads(facts: Mapping[str, Any]) -> list[DeviceLoad]:
    """Return the loads in the facts of a run."""
    return [DeviceLoad.from_json(content) for content in facts.get(DEVICE_LOADS) or ()]


def select_disks(loads: Iterable[DeviceLoad]) -> list[DeviceLoad]:
    """Return the disks that are neither parts of others nor made of others; of a host with no other, all."""
    by_host: dict[str, list[DeviceLoad]] = {}
    for load in loads:
        if load.kind == DISK:
            by_host.setdefault(load.host, []).append(load)
    return [load for disks in by_host.values() for load in _select_undivided(disks)]


def _select_undivided(disks: Sequence[DeviceLoad]) -> Sequence[DeviceLoad]:
    names = {load.device for load in disks}
    undivided = [load for load in disks if not _STACKED.match(load.device) and not _is_partition(load.device, names)]
    return undivided or disks


def _is_partition(name: str, others: set[str]) -> bool:
    return any(
        name.startswith(other) and _PARTITION.fullmatch(name[len(other) :])
        for other in others
        if len(other) < len(name)
    )


def summarise_loads(facts: Mapping[str, Any]) -> list[Observation]:
    """Return the rows of a run's loads, ``disks disk_utilisation`` …: sums over its disks, their mean utilisation and
    that of the busiest one, and the latency over all their requests."""
    disks = [load.during for load in select_disks(read_device_loads(facts)) if load.during]
    values = {name: sum(disk.get(name, 0.0) for disk in disks) for name in _SUMS if any(name in disk for disk in disks)}
    shares = [disk["utilisation"] for disk in disks if "utilisation" in disk]
    if shares:
        values["utilisation"] = sum(shares) / len(shares)
        values["utilisation_busiest"] = max(shares)
    pairs = [(disk["latency"], disk.get("request_rate", 0.0)) for disk in disks if "latency" in disk]
    if (requests := sum(rate for _, rate in pairs)) > 0:
        values["latency"] = sum(latency * rate for latency, rate in pairs) / requests
    return [Observation(DISKS, f"{_METRIC}{name}", value, UNITS.get(name, "")) for name, value in values.items()]
