"""What ``iosonde bound`` is given: options as numbers with units or as columns of DATA, and what a probe found."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import DataError, InputError
from iosonde.core.units import parse_per_byte, parse_rate, parse_seconds, parse_size

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.model.bound.system import System


def count(text: str) -> float:
    """A finite number. Raises InputError."""
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"'{text}' is no number", "write it like 4") from error
    if not math.isfinite(value):
        raise InputError(f"'{text}' is no finite number", "write it like 4")
    return value


def whole(text: str) -> int:
    """A whole number of things. Raises InputError."""
    value = count(text)
    if value != int(value):
        raise InputError(f"'{text}' is no whole number", "write it like 4")
    return int(value)


def _size(text: str) -> float:
    return float(parse_size(text))


# Option → field of System, what reads it, metavar, help.
OPTIONS: dict[str, tuple[str, Callable[[str], Any], str, str]] = {
    "--clients": ("clients", whole, "N", "Clients [default: 1; a store's nodes]."),
    "--servers": ("servers", whole, "M", "Servers that hold data [default: 1]."),
    "--disks": ("disks", whole, "P", "Disks of all servers together."),
    "--net": ("network", parse_rate, "I", "One link of a client and of a server: 117MB/s, 1Gbit/s."),
    "--client-net": ("client_network", parse_rate, "I", "One client's link, where it differs."),
    "--server-net": ("server_network", parse_rate, "I", "One server's link, where it differs."),
    "--fabric": ("fabric", parse_rate, "F", "What all links together can carry (bisection)."),
    "--disk": ("disk", parse_rate, "R", "One disk."),
    "--disk-read": ("disk_read", parse_rate, "R", "One disk when it reads."),
    "--disk-write": ("disk_write", parse_rate, "R", "One disk when it writes."),
    "--cpu": ("cpu", parse_per_byte, "C", "What a client computes for the data: 0.02s/MB."),
    "--server-cpu": ("server_cpu", parse_per_byte, "C", "What a server computes for the data."),
    "--memory-copy": ("memory_copy", parse_rate, "B", "What a client can copy in memory."),
    "--copies": ("copies", count, "K", "How often a client copies each byte [default: 1]."),
    "--latency": ("latency", parse_seconds, "L", "One request's time, as 2ms; with --request."),
    "--request": ("request_size", _size, "SIZE", "One request's size, as 64KiB."),
    "--queue-depth": ("queue_depth", count, "Q", "Requests under way at each client [default: 1]."),
    "--metadata-rate": ("metadata_rate", count, "K", "Operations/s of all metadata servers; with --file-size."),
    "--metadata-operations": ("metadata_operations", count, "O", "Metadata operations of each file [default: 1]."),
    "--file-size": ("file_size", _size, "SIZE", "One file's size."),
    "--replicas": ("replicas", whole, "R", "Copies of everything; with --redundancy [default of it: client]."),
    "--chunk": ("chunk_size", _size, "SIZE", "One chunk of an erasure code."),
    "--stripe": ("stripe_count", whole, "S", "Each file lies on so many servers."),
    "--files": ("files", whole, "F", "Files in use at once, for --stripe [default: one for each client]."),
}


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options that describe the system; they arrive as keyword arguments, as text."""
    for flag, (name, _, metavar, text) in reversed(OPTIONS.items()):
        command = click.option(flag, name, metavar=metavar, help=text)(command)
    return command


@dataclass(frozen=True)
class Inputs:
    """The systems that options and probe describe: as they are, and with every measured input at its worst and best
    end (the same where nothing was measured). ``columns``: field → column of DATA that gives it row by row."""

    system: System
    worst: System
    best: System
    columns: dict[str, str]
    notes: tuple[str, ...] = ()


def read(
    given: Mapping[str, Any], words: Mapping[str, Any], table: Table | None, probe: str | None, level: float
) -> Inputs:  # fmt: skip
    """``given``: field → text of the options; ``words``: further fields, ready. Raises InputError, DataError."""
    from iosonde.model.bound.system import System, with_settings

    fixed, columns = dict(words), {}
    for flag, (name, parse, _, _) in OPTIONS.items():
        text = given.get(name)
        if text is None:
            continue
        try:
            fixed[name] = parse(text)
        except InputError as error:
            if table is None or not _has(table, text):
                raise InputError(f"{flag}: {error.message}", _hint(error.hint, table)) from error
            columns[name] = table.column(text).name
    if "replicas" in {*fixed, *columns} and "redundancy" not in fixed:
        fixed["redundancy"] = "client"
    measured, notes = _measured(probe, str(fixed.get("operation", "write")), level) if probe else ({}, ())
    _check_idle({*fixed, *columns}, measured)
    if fixed.get("redundancy") in ("client", "chained") and "replicas" not in {*fixed, *columns}:
        raise InputError("--redundancy says nothing without --replicas", "give --replicas, as 2")
    systems = [with_settings(System(), {name: ends[i] for name, ends in measured.items()} | fixed) for i in range(3)]
    return Inputs(systems[0], systems[1], systems[2], columns, tuple(notes))


def _check_idle(given: Collection[str], measured: Collection[str]) -> None:
    """Raises InputError for what would be ignored silently."""
    from iosonde.model.bound.system import idle

    flags = {name: flag for flag, (name, _, _, _) in OPTIONS.items()}
    flags |= {"placement": "--placement", "data_chunks": "--erasure"}
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


def of_column(table: Table, field: str, column: str, rows: Any) -> Any:
    """The one value that a column has in these rows, in base units. Raises InputError where it varies or lacks."""
    from iosonde.core.column_units import bytes_per_s

    found, values = table.column(column), {str(value) for value in table.column(column).values[rows]}
    if len(values) != 1 or found.missing[rows].any():
        raise InputError(f"column '{column}' is not the same in all trials of a cell", f"add {column} to --by")
    text, parse = values.pop(), next(parse for name, parse, _, _ in OPTIONS.values() if name == field)
    try:
        if parse in (count, whole) or not found.numeric:
            return parse(text)
        scale = bytes_per_s(found.unit)[0] if bytes_per_s(found.unit) else float(parse(f"1{found.unit}"))
    except InputError as error:
        hint = error.hint if not found.numeric else f"{error.hint}, or the unit into the column's name"
        raise InputError(f"column '{column}': {error.message}", hint) from error
    return float(text) * scale


_OF_NODE = {"disk_read": "disk_read", "disk_write": "disk_write", "memory_copy": "memory_copy_all_cores"}


def _measured(place: str, operation: str, level: float) -> tuple[dict[str, tuple[float, float, float]], list[str]]:
    """(field → value, worst, best, and notes) of what ``iosonde probe`` found: its JSON, or the newest in a store."""
    document = _document(place, level)
    pairs, nodes, notes = document.get("pairs") or [], document.get("nodes") or [], list(document.get("warnings") or [])
    found: dict[str, tuple[float, float, float]] = {}
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
        found["cpu"] = tuple(  # type: ignore[assignment]
            _end(slow[key], end) / slow["cores"] for end in ("value", "high", "low")
        )
    for name, (value, worst, best) in found.items():
        if worst <= 0:  # an interval of few repetitions, cut at zero: no system has a rate of nothing
            found[name] = (value, value, best)
            notes.append(f"the probe's interval of {name.replace('_', ' ')} reaches 0 and is left out below its mean: "
                         "probe with more --repetitions")  # fmt: skip
    if not found:
        raise DataError(f"{place}: the probe holds nothing that limits", "probe with --target and on several nodes")
    return found, notes


def _slowest(estimates: list[Mapping[str, Any]]) -> tuple[float, float, float]:
    slow = min(estimates, key=lambda one: one["value"])
    return _end(slow, "value"), _end(slow, "low"), _end(slow, "high")


def _end(estimate: Mapping[str, Any], end: str) -> float:
    return float(estimate["value"] if estimate[end] is None else estimate[end])


def _document(place: str, level: float) -> Mapping[str, Any]:
    path = Path(place)
    if path.is_dir():
        from iosonde.stats.overview import hardware as probes
        from iosonde.store import Store

        store = Store.open(place)
        runs = probes.stored(store.runs())
        if runs:
            newest = [run["facts"] for run in runs if run["experiment"] == runs[-1]["experiment"]]
            return probes.to_json(probes.summarise(newest, level))  # type: ignore[no-any-return]
        held = [run["facts"]["probe"] for run in store.runs() if (run.get("facts") or {}).get("probe")]
        if held:
            return held[-1]  # type: ignore[no-any-return]
        raise DataError(f"{place}: no run of this store knows a probe", f"iosonde probe --store {place}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {place}: {error.strerror}", "iosonde probe --json > probe.json") from error
    except ValueError as error:
        raise DataError(f"{place} is not JSON: {error}", "iosonde probe --json > probe.json") from error
    if not isinstance(document, dict) or not {"pairs", "nodes"} <= set(document):
        raise DataError(f"{place} is not what iosonde probe --json prints", "iosonde probe --json > probe.json")
    return document
