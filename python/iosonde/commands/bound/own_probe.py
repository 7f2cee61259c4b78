"""The store's own probe as a source of inputs, used if no other probe is given."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from iosonde.core.errors import DataError
from iosonde.core.hardware import SOURCE
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.stats.overview import hardware
from iosonde.stats.overview.probed_limits import is_within

from .inputs import Inputs, SystemDescription, read
from .lab_truth import LabTruths

OWN_PROBE = "the probe in this store"
_DISKS = ("disk", "disk_read", "disk_write", "disks")


class OwnProbe(NamedTuple):
    """The directory that was probed, and whether servers' own disks were."""

    target: str
    has_server_disks: bool


def read_with_own_probe(description: SystemDescription, source: Source | None, level: float) -> Inputs:
    """Return the systems that ``description`` describes, as ``read`` does. A probe of the same nodes in the store fills
    unset fields. Raises InputError, DataError."""
    table = source.table if source else None
    probe = (
        None
        if description.probes or description.cluster is not None or source is None
        else _select_newest_probe(source)
    )
    if source is None or probe is None:
        return read(description, table, level)
    excluded_fields = {
        *description.lab_fields,
        *LabTruths.from_source(source).names,
        *(() if _is_of_target(probe, source) else _DISKS),
    }
    own = replace(description, probes=(source.path,), lab_fields=excluded_fields)
    try:
        inputs = read(own, table, level)
    except DataError:  # it holds nothing that limits
        return read(description, table, level)
    who = {field: OWN_PROBE if by == "the probe" else by for field, by in inputs.origins.items()}
    return replace(inputs, origins=who)


def _select_newest_probe(source: Source) -> OwnProbe | None:
    """Return the probe attached to the last run, else the newest probe of all nodes of the runs; None if there is
    none."""
    attached = next((run.facts["probe"] for run in reversed(source.runs) if _has_probe(run)), None)
    if attached is not None:
        return OwnProbe(str(attached.get("target") or ""), bool(attached.get("servers")))
    probes = hardware.stored(source.all_runs)
    has_server_disks = any(probe.facts["probe"].get("servers") for probe in probes)
    clients = next((probe for probe in reversed(probes) if probe.facts["probe"].get("nodes")), None)
    hosts = {host for run in source.runs for host in run.facts.get("hosts") or ()}
    if clients is None:
        return OwnProbe("", has_server_disks) if has_server_disks else None
    is_theirs = bool(hosts) and hosts <= set(clients.facts.get("hosts") or ())
    return OwnProbe(str(clients.facts.get("target") or ""), has_server_disks) if is_theirs else None


def _has_probe(run: StoredRun) -> bool:
    return bool(run.facts.get("probe")) and run.source != SOURCE


def _is_of_target(probe: OwnProbe, source: Source) -> bool:
    """Return whether its disks are those of the runs: of servers, or of the same target."""
    return probe.has_server_disks or all(is_within(str(run.target), probe.target) for run in source.runs)
