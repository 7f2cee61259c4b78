"""Measured hardware limits for a bound: from ``iosonde probe``, as JSON or in a store, and from other tools."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.filesystems import on_own_disk
from iosonde.core.hardware import SOURCE
from iosonde.core.stored import StoredRun
from iosonde.model.bound.probed import ProbedSystem, probed_system
from iosonde.stats.overview import hardware
from iosonde.store import Store

from .tools import measured_by_tools


def probed_by(
    places: Sequence[str], operation: str, specified: Collection[str], level: float, memory_bytes: float | None
) -> ProbedSystem:
    """Read a system from ``places``: JSON of a probe, a store, or another tool's output; the first that has a field
    wins. ``specified``: fields set by other sources. Raises DataError, InputError."""
    system = ProbedSystem()
    for place in places:
        probed = _read_place(place, operation, {*specified, *system.fields, *system.words}, level, memory_bytes)
        if not probed.fields:
            raise DataError(
                "no-limits",
                "{path}: the probe holds no limit",
                "probe with {spell.target}, on several nodes, or {spell.servers}",
                path=place,
            )
        system = ProbedSystem(
            {**probed.fields, **system.fields}, {**probed.words, **system.words}, system.notes + probed.notes
        )
    return system


def _read_place(
    place: str, operation: str, specified: Collection[str], level: float, memory_bytes: float | None
) -> ProbedSystem:
    path = Path(place)
    if path.is_dir():
        return probed_system(_read_store_probe(place, level), operation, specified)
    try:
        document = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise InputError(
            "unreadable-file",
            "cannot read {path}: {reason}",
            "iosonde probe --json > probe.json",
            path=place,
            reason=error.strerror,
        ) from error
    except ValueError:
        document = None
    if isinstance(document, dict) and {"pairs", "nodes"} <= set(document):
        return probed_system(document, operation, specified)
    system = measured_by_tools(path, level, memory_bytes)
    if system is None:
        raise DataError(
            "unknown-format",
            "{path} is not output of iosonde probe --json, netperf, iperf or IOzone",
            "iosonde probe --json > probe.json",
            path=place,
        )
    return system


def _read_store_probe(place: str, level: float) -> Mapping[str, Any]:
    """Return the newest probe of the clients, and the newest of the servers: they may be separate."""
    every = [StoredRun(document) for document in Store.open(place).runs()]
    probe = {**_read_attached_probe(every), **hardware.newest_parts(hardware.stored(every), level)}
    if not probe:
        raise DataError(
            "no-probe", "{path}: no run of this store has a probe", "iosonde probe --store {path}", path=place
        )
    return probe


def _read_attached_probe(runs: Sequence[StoredRun]) -> Mapping[str, Any]:
    """Return the probe attached to the last run that has one."""
    run = next((run for run in reversed(runs) if run.facts.get("probe") and run.source != SOURCE), None)
    if run is None:
        return {}
    probe = run.facts["probe"]
    is_same_target = run.filesystem is not None and probe.get("target") == run.target
    return {"own_disk": on_own_disk(run.filesystem) if is_same_target else None, **probe}
