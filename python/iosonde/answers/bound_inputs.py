"""What a bound is computed from: what was said of the system, as numbers or as columns of DATA, and what a probe
found."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import bytes_per_s
from iosonde.core.errors import DataError, InputError
from iosonde.core.filesystems import MEMORY_TYPES, is_network
from iosonde.core.stored import StoredRun
from iosonde.core.system_words import FLAGS, OPTIONS, READS, count, whole
from iosonde.core.table import Table
from iosonde.model.bound.system import System, idle, with_settings
from iosonde.stats.overview import hardware
from iosonde.store import Store

Ends = tuple[float, float, float]  # value, worst, best


@dataclass(frozen=True)
class Said:
    """What was said of a system. ``fields``: field → text, a number with its unit or the name of a column of DATA.
    ``words``: further fields, ready (see :func:`words_of`). ``probe``: a file of ``iosonde probe --json``, or a
    store."""

    fields: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    probe: str | None = None


@dataclass(frozen=True)
class Inputs:
    """The systems that were said: as they are, and with every measured input at its worst and best end (the same where
    nothing was measured). ``columns``: field → column of DATA that gives it row by row."""

    system: System
    worst: System
    best: System
    columns: dict[str, str]
    notes: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[System, System, System]:
        """As it is, at its worst, at its best."""
        return self.system, self.worst, self.best


def words_of(
    operation: str | None, redundancy: str | None, erasure: str | None, placement: str | None
) -> dict[str, Any]:
    """The fields of a System that are words. Raises InputError."""
    if erasure and redundancy not in (None, "none"):
        raise InputError("--erasure and --redundancy are both given", "leave one out")
    words: dict[str, Any] = {"operation": operation, "redundancy": redundancy, "placement": placement}
    if erasure:
        code = re.fullmatch(r"([0-9]{1,6})\+([0-9]{1,6})", erasure)
        if not code or int(code[1]) < 1:
            raise InputError(f"--erasure '{erasure}' is not an erasure code", "write data + parity chunks, as 4+2")
        words |= {"redundancy": "erasure", "data_chunks": int(code[1]), "parity_chunks": int(code[2])}
    return {name: value for name, value in words.items() if value is not None}


def read(said: Said, table: Table | None, level: float) -> Inputs:
    """The systems of what was ``said``; texts that are no numbers name columns of ``table``. Raises InputError,
    DataError."""
    fixed, columns = dict(said.words), dict[str, str]()
    for flag, word in OPTIONS.items():
        text = said.fields.get(word.field)
        if text is None:
            continue
        try:
            fixed[word.field] = word.read(text)
        except InputError as error:
            if table is None or not _has(table, text):
                raise InputError(f"{flag}: {error.message}", _hint(error.hint, table)) from error
            columns[word.field] = table.column(text).name
    if "replicas" in {*fixed, *columns} and "redundancy" not in fixed:
        fixed["redundancy"] = "client"
    operation = str(fixed.get("operation", "write"))
    measured, notes = _measured(said.probe, operation, level) if said.probe else ({}, list[str]())
    if said.probe and "disks" not in {*fixed, *columns} and "servers" not in {*fixed, *columns} and _alone(said, level):
        fixed["disks"] = 1
        notes.append("the disk that the probe measured is taken for the only one: --disks says otherwise")
    _check_idle({*fixed, *columns}, measured)
    if fixed.get("redundancy") in ("client", "chained") and "replicas" not in {*fixed, *columns}:
        raise InputError("--redundancy says nothing without --replicas", "give --replicas, as 2")
    systems = [with_settings(System(), {name: ends[i] for name, ends in measured.items()} | fixed) for i in range(3)]
    return Inputs(systems[0], systems[1], systems[2], columns, tuple(notes))


def of_column(table: Table, field: str, column: str, rows: npt.NDArray[np.intp]) -> float:
    """The one value that a column has in these rows, in base units. Raises InputError where it varies or lacks."""
    found, values = table.column(column), {str(value) for value in table.column(column).values[rows]}
    if len(values) != 1 or found.missing[rows].any():
        raise InputError(f"column '{column}' is not the same in all trials of a cell", f"add {column} to --by")
    text, parse = values.pop(), READS[field]
    try:
        if parse in (count, whole) or not found.numeric:
            return parse(text)
        scale = bytes_per_s(found.unit)[0] if bytes_per_s(found.unit) else parse(f"1{found.unit}")
    except InputError as error:
        hint = error.hint if not found.numeric else f"{error.hint}, or the unit into the column's name"
        raise InputError(f"column '{column}': {error.message}", hint) from error
    return float(text) * scale


def own_probe(store: Store | None) -> str | None:
    """The store itself as a place of a probe, where one of its runs is a probe or knows one."""
    if store is None:
        return None
    known = any(StoredRun(run).facts.get("probe") for run in store.runs())
    return str(store.path) if known else None


def _check_idle(given: Collection[str], measured: Collection[str]) -> None:
    """Raises InputError for what would be ignored silently."""
    flags = FLAGS | {"placement": "--placement", "data_chunks": "--erasure"}
    lost = idle([name for name in flags if name in given], {*given, *measured})
    if lost:
        raise InputError(f"{flags[lost[0]]} says nothing without {flags[lost[1]]}", f"give {flags[lost[1]]} too")


def _has(table: Table, name: str) -> bool:
    try:
        table.column(name)
    except DataError:
        return False
    return True


def _hint(hint: str, table: Table | None) -> str:
    return hint if table is None else f"{hint}, or name a column: {', '.join(table.names[:12])}"


# A probe

_OF_NODE = {"disk_read": "disk_read", "disk_write": "disk_write", "memory_copy": "memory_copy_all_cores"}


def _measured(place: str, operation: str, level: float) -> tuple[dict[str, Ends], list[str]]:
    """(field → value, worst, best, and notes) of what ``iosonde probe`` found: its JSON, or the newest in a store."""
    document = _document(place, level)
    pairs, nodes, notes = document.get("pairs") or [], document.get("nodes") or [], list(document.get("warnings") or [])
    found: dict[str, Ends] = {}
    links = [pair[way] for pair in pairs for way in ("bandwidth", "bandwidth_back") if pair["medium"] == "network"]
    if links:
        found["network"] = _slowest(links)
    elif pairs:
        notes.append("the probe saw no network between its ranks: give --net")
    for name, key in _OF_NODE.items():
        if nodes and all(node.get(key) for node in nodes):
            found[name] = _slowest([node[key] for node in nodes])
    key = "cpu_read" if operation == "read" else "cpu_write"
    if nodes and all(node.get(key) for node in nodes):
        slow = max(nodes, key=lambda node: node[key]["value"] / node["cores"])
        value, worst, best = (_end(slow[key], end) / slow["cores"] for end in ("value", "high", "low"))
        found["cpu"] = value, worst, best
    for name, (value, worst, best) in found.items():
        if worst <= 0:  # an interval of few repetitions, cut at zero: no system has a rate of nothing
            found[name] = (value, value, best)
            notes.append(f"the probe's interval of {name.replace('_', ' ')} reaches 0 and is left out below its mean: "
                         "probe with more --repetitions")  # fmt: skip
    if not found:
        raise DataError(f"{place}: the probe holds nothing that limits", "probe with --target and on several nodes")
    return found, notes


def _alone(said: Said, level: float) -> bool:
    """Whether the probe measured the disk of one node, on which the target lies: no server's, whose disks it cannot
    count, and no memory."""
    document = _document(said.probe or "", level)
    nodes, notes = document.get("nodes") or [], document.get("warnings") or []
    kind = str(document.get("filesystem") or "")
    elsewhere = any("its 'disk' is" in note for note in notes) or kind in MEMORY_TYPES or is_network(kind)
    return len(nodes) == 1 and bool(nodes[0].get("disk_write")) and not elsewhere


def _slowest(estimates: Sequence[Mapping[str, Any]]) -> Ends:
    slow = min(estimates, key=lambda one: one["value"])
    return _end(slow, "value"), _end(slow, "low"), _end(slow, "high")


def _end(estimate: Mapping[str, Any], end: str) -> float:
    return float(estimate["value"] if estimate[end] is None else estimate[end])


def _document(place: str, level: float) -> Mapping[str, Any]:
    path = Path(place)
    if path.is_dir():
        return _of_store(place, level)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {place}: {error.strerror}", "iosonde probe --json > probe.json") from error
    except ValueError as error:
        raise DataError(f"{place} is not JSON: {error}", "iosonde probe --json > probe.json") from error
    if not isinstance(document, dict) or not {"pairs", "nodes"} <= set(document):
        raise DataError(f"{place} is not what iosonde probe --json prints", "iosonde probe --json > probe.json")
    return document


def _of_store(place: str, level: float) -> Mapping[str, Any]:
    store = Store.open(place)
    every = [StoredRun(document) for document in store.runs()]
    probes = hardware.stored(every)
    if probes:
        newest = [dict(run.facts) for run in probes if run.experiment == probes[-1].experiment]
        return {**hardware.to_json(hardware.summarise(newest, level)), "filesystem": probes[-1].filesystem}
    held = [run.facts.get("probe") for run in every]
    known = [dict(one) for one in held if one]
    if not known:
        raise DataError(f"{place}: no run of this store knows a probe", f"iosonde probe --store {place}")
    return known[-1]
