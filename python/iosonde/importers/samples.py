"""Samples of a system's counters over time, as logs of disks, CPUs and network interfaces have them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import mul
from typing import NamedTuple

from iosonde.core.device_loads import UNITS

# Means of these are over requests, whose number is that of a rate.
_PER_REQUEST = {"latency": "request_rate", "read_latency": "read_rate", "write_latency": "write_rate"}


class DeviceSample(NamedTuple):
    """What a device did until ``end_s``, for ``seconds``; both are 0 if the tool printed no times."""

    end_s: float
    seconds: float
    kind: str
    device: str
    values: Mapping[str, float]
    line: int = 0


@dataclass
class Samples:
    """The samples of one host. ``is_utc``: its times are UTC; else of an unknown zone. ``untimed``: why no sample has a
    time, '' if they have."""

    host: str = ""
    is_utc: bool = False
    untimed: str = ""
    entries: list[DeviceSample] = field(default_factory=list)

    @property
    def begin_s(self) -> float:
        """Return the begin of the first interval."""
        return min(sample.end_s - sample.seconds for sample in self.entries)

    @property
    def end_s(self) -> float:
        """Return the end of the last interval."""
        return max(sample.end_s for sample in self.entries)


def format_moment(seconds: float) -> str:
    """Format the seconds since 1970 as ISO 8601, without a zone."""
    return (datetime(1970, 1, 1) + timedelta(seconds=seconds)).isoformat(timespec="seconds")


def average(samples: Sequence[DeviceSample]) -> dict[str, float]:
    """Return the means over time, those of latencies over requests, and ``utilisation_sample_max``."""
    means: dict[str, float] = {}
    names = {name for sample in samples for name in sample.values}
    for name in (name for name in UNITS if name in names):
        having = [sample for sample in samples if name in sample.values]
        counted = _PER_REQUEST.get(name, "")
        weights = [sample.seconds * sample.values.get(counted, 1.0) if sample.seconds else 1.0 for sample in having]
        if (total := sum(weights)) > 0:
            values = [sample.values[name] for sample in having]
            means[name] = sum(map(mul, weights, values)) / total
    if "utilisation" in means:
        means["utilisation_sample_max"] = max(sample.values.get("utilisation", 0.0) for sample in samples)
    return means
