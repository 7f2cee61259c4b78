"""File system layout from the runs of a cell: copies, parity, servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source

from .inputs import Inputs

THE_FILE_SYSTEM = "the file system"  # as a source of numbers
_REDUNDANCY = {"redundancy", "replicas", "data_chunks", "parity_chunks"}
_COPIERS = {"client": ("client", "sent by the client"), "servers": ("chained", "passed on by the servers")}


class OwnLayout:
    """Look up the layout of a source's runs, cell by cell; ``notes`` collects remarks."""

    def __init__(self, source: Source) -> None:
        self._runs = {run.id: run for run in source.runs}
        self.notes: dict[str, None] = {}

    def fields(self, runs: Sequence[str], inputs: Inputs) -> dict[str, Any]:
        """Return the unset fields of one cell's system on which its runs agree: who makes how many copies of each byte,
        and on how many servers they lie."""
        every = [_extract_layout(self._runs[name]) for name in runs if name in self._runs]
        if not every or any(layout != every[0] for layout in every):
            return {}
        explicit = {*inputs.origins, *inputs.columns}
        system_fields: dict[str, Any] = {}
        if not _REDUNDANCY & explicit and (detected := _parse_redundancy(every[0])):
            fields, description = detected
            system_fields |= fields
            template = "{redundancy}, as the file system reports ({spell.replicas} or {spell.erasure} says otherwise)"
            self.notes[Message("own-redundancy", template, redundancy=description)] = None
        servers = every[0].get("servers")
        if isinstance(servers, list) and servers and not {"servers", "disks"} & explicit:
            system_fields["servers"] = len(servers)
            template = "{n_servers} servers, as the file system reports ({spell.servers} says otherwise)"
            self.notes[Message("own-servers", template, n_servers=len(servers))] = None
        return system_fields


def _parse_redundancy(layout: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    copies, parts, parity = (_count(layout.get(key)) for key in ("copies", "data_parts", "parity_parts"))
    if parts and parity:
        return {"redundancy": "erasure", "data_chunks": parts, "parity_chunks": parity}, f"{parts} + {parity} parts"
    if copies > 1 and layout.get("copied_by") in _COPIERS:
        by, description = _COPIERS[layout["copied_by"]]
        return {"redundancy": by, "replicas": copies}, f"{copies} copies of each byte, {description}"
    return None


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 1000 else 0


def _extract_layout(run: StoredRun) -> Mapping[str, Any]:
    """Return the layout keys of the file system's report."""
    machine = run.facts.get("machine")
    file_system = machine.get("filesystem") if isinstance(machine, Mapping) else None
    keys = ("copies", "copied_by", "data_parts", "parity_parts", "servers")
    return {key: file_system.get(key) for key in keys} if isinstance(file_system, Mapping) else {}
