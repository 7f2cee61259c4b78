"""Inputs of a bound from the store itself: its own probe, used if no other is given, and the file system's layout from
the runs of a cell (copies, parity, servers)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from iosonde.core.errors import DataError
from iosonde.core.hardware import SOURCE
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.stats.overview import hardware
from iosonde.stats.overview.probed_limits import is_within

from .inputs import Inputs, SystemDescription, read_inputs
from .lab_truth import LabTruths

THE_FILE_SYSTEM = "the file system"  # as a source of numbers
_REDUNDANCY = {"redundancy", "replicas", "data_chunks", "parity_chunks"}
_COPIERS = {"client": ("client", "sent by the client"), "servers": ("chained", "passed on by the servers")}
OWN_PROBE = "the probe in this store"
_DISKS = ("disk", "disk_read", "disk_write", "disks")


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
    copies, parts, parity = (_to_valid_count(layout.get(key)) for key in ("copies", "data_parts", "parity_parts"))
    if parts and parity:
        return {"redundancy": "erasure", "data_chunks": parts, "parity_chunks": parity}, f"{parts} + {parity} parts"
    if copies > 1 and layout.get("copied_by") in _COPIERS:
        by, description = _COPIERS[layout["copied_by"]]
        return {"redundancy": by, "replicas": copies}, f"{copies} copies of each byte, {description}"
    return None


def _to_valid_count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 1000 else 0


def _extract_layout(run: StoredRun) -> Mapping[str, Any]:
    machine = run.facts.get("machine")
    file_system = machine.get("filesystem") if isinstance(machine, Mapping) else None
    keys = ("copies", "copied_by", "data_parts", "parity_parts", "servers")
    return {key: file_system.get(key) for key in keys} if isinstance(file_system, Mapping) else {}


class OwnProbe(NamedTuple):
    """The directory that was probed, and whether servers' own disks were."""

    target: str
    has_server_disks: bool


def read_with_own_probe(description: SystemDescription, source: Source | None, level: float) -> Inputs:
    """Return the systems that ``description`` describes, as ``read_inputs`` does. A probe of the same nodes in the
    store fills unset fields. Raises InputError, DataError."""
    table = source.table if source else None
    probe = (
        None
        if description.probes or description.cluster is not None or source is None
        else _select_newest_probe(source)
    )
    if source is None or probe is None:
        return read_inputs(description, table, level)
    excluded_fields = {
        *description.lab_fields,
        *LabTruths.from_source(source).names,
        *(() if _has_disks_of_runs(probe, source) else _DISKS),
    }
    own = replace(description, probes=(source.path,), lab_fields=excluded_fields)
    try:
        inputs = read_inputs(own, table, level)
    except DataError:  # it holds nothing that limits
        return read_inputs(description, table, level)
    return replace(
        inputs, origins={field: OWN_PROBE if by == "the probe" else by for field, by in inputs.origins.items()}
    )


def _select_newest_probe(source: Source) -> OwnProbe | None:
    """Return the probe attached to the last run, else the newest probe of all nodes of the runs; None if there is
    none."""
    attached = next((run.facts["probe"] for run in reversed(source.runs) if _has_probe(run)), None)
    if attached is not None:
        return OwnProbe(str(attached.get("target") or ""), bool(attached.get("servers")))
    probes = hardware.select_complete_probes(source.all_runs)
    has_server_disks = any(probe.facts["probe"].get("servers") for probe in probes)
    clients = next((probe for probe in reversed(probes) if probe.facts["probe"].get("nodes")), None)
    hosts = {host for run in source.runs for host in run.facts.get("hosts") or ()}
    if clients is None:
        return OwnProbe("", has_server_disks) if has_server_disks else None
    is_theirs = bool(hosts) and hosts <= set(clients.facts.get("hosts") or ())
    return OwnProbe(str(clients.facts.get("target") or ""), has_server_disks) if is_theirs else None


def _has_probe(run: StoredRun) -> bool:
    return bool(run.facts.get("probe")) and run.source != SOURCE


def _has_disks_of_runs(probe: OwnProbe, source: Source) -> bool:
    """Return whether its disks are those of the runs: of servers, or of the same target."""
    return probe.has_server_disks or all(is_within(str(run.target), probe.target) for run in source.runs)
