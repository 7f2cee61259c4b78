"""Emulated clusters as runs know them: the requested rates of links and disks, and how far the real ones deviate."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

BUSY = "the machine was busy when this was measured"
GOODPUT = 0.956  # of Ethernet's bits, TCP at an MTU of 1500: 1448 of 1514 bytes
# Bucket size of a shaped link: smaller bursts slow fast links down (128 kB gave 4.8 of 5.8 Gbit/s).
_BURSTS_PER_S, _LEAST_BURST = 4000, 16_384


class EmulatedRates:
    """Rates of each link and disk, from the requested ones of a cluster; None: not limited.
    Rates are in bytes/s except ``net_bits_per_s`` (Ethernet bits, as vendors count). ``scale`` divides all rates.
    """

    file_system: str
    servers: int
    net_bits_per_s: float | None
    disk_read: float | None
    disk_write: float | None
    scale: float

    @property
    def link_bits_per_s(self) -> float | None:
        """Return the rate to which each link is shaped."""
        return self.net_bits_per_s and self.net_bits_per_s / self.scale

    @property
    def goodput(self) -> float | None:
        """Return the goodput of TCP on each link, in bytes/s."""
        return self.link_bits_per_s and self.link_bits_per_s / 8 * GOODPUT

    @property
    def read_rate(self) -> float | None:
        """Return the read rate of each disk, in bytes/s."""
        return self.disk_read and self.disk_read / self.scale

    @property
    def write_rate(self) -> float | None:
        """Return the write rate of each disk, in bytes/s."""
        return self.disk_write and self.disk_write / self.scale


@dataclass(frozen=True)
class StoredRates(EmulatedRates):
    """Requested rates of the cluster that a stored run was measured in."""

    file_system: str
    servers: int = 3
    net_bits_per_s: float | None = None
    disk_read: float | None = None
    disk_write: float | None = None
    scale: float = 1.0


def read_rates(description: Mapping[str, Any]) -> StoredRates:
    """Read the rates from the description that a lab leaves in the facts of its runs; other keys are ignored."""
    names = {rate.name for rate in fields(StoredRates)}
    return StoredRates(**{name: value for name, value in description.items() if name in names})


def compute_burst_bytes(bits_per_s: float) -> int:
    """Return the burst size of a shaped link of this rate."""
    return max(int(bits_per_s / _BURSTS_PER_S), _LEAST_BURST)


def describe_off_rates(lab: Mapping[str, Any]) -> list[str]:
    """Return warnings about links and disks whose measured speed differs from the requested one. A busy machine at
    bring-up is not reported, though older stores list it: each trial measures its own load."""
    warnings = (lab.get("emulated") or {}).get("warnings") or ()
    return [str(warning) for warning in warnings if not str(warning).startswith(BUSY)]
