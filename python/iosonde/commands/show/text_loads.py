"""What devices did in the time of a run, as text: a table of disks and interfaces, a line for each CPU total."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.device_loads import CPU, DISK, DeviceLoad, read_device_loads
from iosonde.core.message import spell
from iosonde.core.units import format_percent, format_rate
from iosonde.core.words import format_count
from iosonde.layout.text import WIDTH, table, wrapped

_MAX_DEVICES = 20
_DISK_COLUMNS = {
    "busy": "utilisation",
    "latency": "latency",
    "queue": "queue",
    "read": "read_bandwidth",
    "write": "write_bandwidth",
}
_INTERFACE_COLUMNS = {"used": "utilisation", "received": "receive_bandwidth", "sent": "send_bandwidth"}
_UNITS = {"latency": "s", **dict.fromkeys(("read", "write", "received", "sent"), "bytes/s")}


def format_loads(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the loads in the facts of a run, the busiest device first; nothing without any."""
    sampled = sorted(read_device_loads(facts), key=lambda load: -load.during.get("utilisation", 0.0))
    if not sampled:
        return
    loads = [load for load in sampled if any(load.during.values())]
    yield ""
    files = ", ".join(dict.fromkeys(load.file for load in sampled))
    yield from wrapped(f"devices in the time of the run, by {files}; before, after: busy without a run", "  ", "  ")
    for kind, columns in ((DISK, _DISK_COLUMNS), ("network", _INTERFACE_COLUMNS)):
        yield from _format_table(kind, columns, [load for load in loads if load.kind == kind])
    for load in loads:
        if load.kind == CPU:
            shares = ", ".join(f"{name} {format_percent(share)}" for name, share in load.during.items())
            yield from wrapped(f"CPUs of {load.host}: {shares}" if load.host else f"CPUs: {shares}", "    ", "  ")
    if n_idle := len(sampled) - len(loads):
        yield f"  and {format_count(n_idle, 'idle device')} ({spell.json})"


def _format_table(kind: str, columns: Mapping[str, str], loads: Sequence[DeviceLoad]) -> Iterator[str]:
    if not loads:
        return
    rows = [
        [
            load.name,
            *(_format_cell(title, load.during.get(name)) for title, name in columns.items()),
            *(_format_cell("busy", place.get("utilisation")) for place in (load.before, load.after)),
        ]
        for load in loads[:_MAX_DEVICES]
    ]
    yield from table([kind, *columns, "before", "after"], rows, "l" + "r" * (len(columns) + 2), WIDTH).split("\n")
    if len(loads) > _MAX_DEVICES:
        yield f"  and {len(loads) - _MAX_DEVICES} more ({spell.json})"


def _format_cell(title: str, value: float | None) -> str:
    if value is None:
        return "~"
    if title in _UNITS:
        return format_rate(value, _UNITS[title])
    return f"{value:.1f}" if title == "queue" else format_percent(value)
