"""Interpretation of a number of bytes: a unit that the file system reports, or a common one."""

from collections.abc import Mapping
from typing import Any

from iosonde.core.stored import StoredRun
from iosonde.core.units import parse_suffixed_size

KIB, MIB = 1024, 1024**2
# Common units if the file system reports none.
_USUAL = {
    4 * KIB: "a page",
    64 * KIB: "a request of SMB, or a chunk of a RAID",
    128 * KIB: "Linux's read-ahead window, or GlusterFS's request",
    256 * KIB: "a block of a parallel file system",
    512 * KIB: "a request of a block device, or a RAID stripe",
    1 * MIB: "an RPC of NFS or Lustre, or a stripe",
    2 * MIB: "a huge page",
    4 * MIB: "an object of Ceph, or an RPC of Lustre",
    64 * MIB: "a chunk of MooseFS, or a shard of GlusterFS",
    128 * MIB: "the longest extent of ext4",
}
# Units in the facts of a run: (keys below its machine, name).
_FACT_UNITS = (
    (("filesystem", "rsize"), "the mount's rsize"),
    (("filesystem", "wsize"), "the mount's wsize"),
    (("filesystem", "striping", "stripe_size"), "the stripe of the directory"),
    (("filesystem", "layout", "stripe_unit"), "the stripe unit"),
    (("filesystem", "layout", "object_size"), "the object size"),
)


def get_reported_units(run: StoredRun) -> dict[str, int]:
    """Return the units that the target's file system and devices report: name → bytes."""
    machine = run.facts.get("machine") or {}
    units = {name: size for keys, name in _FACT_UNITS if (size := _parse_bytes(_get_nested(machine, keys)))}
    for device in machine.get("devices") or ():
        if isinstance(device, Mapping) and (ahead := _parse_bytes(device.get("read_ahead_bytes"))):
            units["the device's read-ahead window"] = ahead
    return units


def describe_size(n_bytes: int, units: Mapping[str, int]) -> str:
    """Return `` (the mount's rsize)``, to append to the number; '' if nothing is known about the size."""
    text = next((name for name, size in units.items() if size == n_bytes), None) or _USUAL.get(n_bytes)
    return f" ({text})" if text else ""


def _get_nested(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _parse_bytes(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value > 0 else None
    return (int(value) if value.isdigit() else parse_suffixed_size(value)) if isinstance(value, str) else None
