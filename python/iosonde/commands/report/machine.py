"""Facts of the machine in the last trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.units import format_seconds, format_size
from iosonde.core.words import counted
from iosonde.page.tables import FactGroup, Section

_MACHINE_TITLES = {
    "host": "Host",
    "cpu": "Processor",
    "memory": "Memory",
    "vm": "Write-back of the kernel",
    "network": "Network",
    "infiniband": "InfiniBand",
    "job": "Batch job",
    "mount": "Mount",
    "filesystem": "File system",
    "quota": "Quota",
    "devices": "Devices",
    "scheduler": "Batch system",
    "lab": "Emulated cluster",
}


def facts_of(runs: Sequence[StoredRun]) -> Section[FactGroup]:
    """Collect the facts of the machine in the last trial."""
    machine = runs[-1].facts.get("machine") if runs else None
    if not isinstance(machine, dict):
        return Section(missing=(Message("no-facts", "No facts of the machine are stored with these runs."),))
    if structure := runs[-1].structure:
        machine = {**machine, "filesystem": {**(machine.get("filesystem") or {}), "structure": structure}}
    groups = [
        FactGroup(_MACHINE_TITLES.get(name, str(name)), tuple(flat(value)))
        for name, value in sorted(machine.items(), key=lambda item: _find_position(item[0]))
        if value
    ]
    differing = sum(deep(run.facts, "machine", "host", "boot_id") != deep(machine, "host", "boot_id") for run in runs)
    why = (f"Last trial; {counted(differing, 'trial')} ran after another boot or on another machine.",)
    return Section(tuple(group for group in groups if group.rows), why if differing else ())


def _find_position(name: str) -> int:
    return list(_MACHINE_TITLES).index(name) if name in _MACHINE_TITLES else len(_MACHINE_TITLES)


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested facts as (name, text), sizes with units; unknown ones are omitted."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flat(item, f"{name} {key}".strip())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            label = str(item.get("name", number)) if isinstance(item, dict) else str(number)
            rest = {key: entry for key, entry in item.items() if key != "name"} if isinstance(item, dict) else item
            yield from flat(rest, f"{name} {label}".strip())
    elif value not in (None, "", []):
        yield _format_fact(name, value)


def _format_fact(name: str, value: Any) -> tuple[str, str]:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and name.endswith("_bytes") and not name.endswith("mtu_bytes"):
        name, value = name.removesuffix("_bytes"), format_size(value)
    elif number and name.endswith("_s") and not name.endswith("_per_s"):
        name, value = name.removesuffix("_s"), format_seconds(value)
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    return name.replace("_", " "), str(value)


def deep(value: Any, *keys: str) -> Any:
    """Return value[a][b]…, None if a key is absent."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
