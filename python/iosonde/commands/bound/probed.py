"""Measured hardware limits for a bound: from ``iosonde probe``, as JSON or in a store, and from other tools: a link by
netperf or iperf, a disk's rate R by IOzone. IOzone's table of file and record sizes does not show the disk if files fit
into memory, nor does it hold the memory size. So memory is an input, and the largest file beyond it counts (Cheng,
2004, slides 10 to 13: ``iozone -Rab local.xls -g 2048M``)."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.filesystems import is_on_own_disk
from iosonde.core.hardware import SOURCE
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.core.units import format_rate, format_size
from iosonde.importers import Parsed, Row, read, understand
from iosonde.model.bound.probed import Ends, ProbedSystem, build_probed_system
from iosonde.stats.estimate.summarise import estimate_mean
from iosonde.stats.overview import hardware
from iosonde.store import Store

# Prefer received to sent data, which may be in buffers; with UDP both show only the requested rate.
_LINK = ("tcp_receive", "tcp_stream", "tcp_maerts", "tcp", "tcp_send")
_DISK = {"disk_write": "write", "disk_read": "read"}


def read_tool_output(file: Path, level: float, memory_bytes: float | None) -> ProbedSystem | None:
    """Return the system fields in another tool's output; None for a file of no tool. ``memory_bytes``: of the machine
    that IOzone ran on. Executions in one file are repetitions, with the interval of their mean at ``level``. Raises
    DataError if the output says nothing about the hardware, InputError if IOzone's machine is unknown."""
    try:
        with file.open("rb") as stream:
            parsed = understand(read(stream, str(file)))
    except DataError:
        return None
    complete = [run for run in parsed.runs if not run.missing]
    if parsed.format == "iozone":
        return _read_disk_rates(file, complete, memory_bytes)
    if parsed.format in ("netperf", "iperf2", "iperf3"):
        return _read_network_rate(file, parsed.format, complete, level)
    raise DataError(
        "unsuitable-format",
        "{file} is of {format}, which measures neither a network nor a disk alone",
        "netperf, iperf, IOzone, or iosonde probe --json > probe.json",
        file=file,
        format=parsed.format,
    )


def _read_network_rate(file: Path, tool: str, runs: Sequence[Parsed], level: float) -> ProbedSystem:
    rates = [streams[0].value for run in runs if (streams := _select_tcp_rows(run))]
    if not rates:
        raise DataError(
            "no-tcp-stream",
            "{file}: no complete TCP stream with its sum: the speed of the link is unknown",
            "netperf -t TCP_STREAM -H HOST, or iperf3 --json -c HOST",
            file=file,
        )
    rate = _compute_rate_ends(estimate_mean(rates, level).within(low=0.0), rates)
    note = Message(
        "link-goodput",
        "{tool} moved {mb_per_s:.5g} MB/s ({kib_per_s:,.0f} KiB/s) over the link{streams}: the headers of its packets "
        "are not in it",
        tool=tool,
        mb_per_s=rate[0] / 1e6,
        kib_per_s=rate[0] / 1024,
        streams=f", the mean of {len(rates)} streams" if len(rates) > 1 else "",
    )
    return ProbedSystem({"network": rate}, {}, (note,))


def _select_tcp_rows(run: Parsed) -> list[Row]:
    """Return the rates of a whole TCP stream, the most reliable first."""
    rows = [row for row in run.rows if row.metric == "bandwidth" and row.rank is None and row.operation in _LINK]
    return sorted(rows, key=lambda row: _LINK.index(row.operation))


def _read_disk_rates(file: Path, runs: Sequence[Parsed], memory_bytes: float | None) -> ProbedSystem:
    if memory_bytes is None:
        raise InputError(
            "missing-option",
            "{file}: only files larger than the machine's memory tell how fast its disk is",
            "give {spell.server_memory}, as 16GiB: of the machine that IOzone ran on",
            file=file,
        )
    fields, notes = dict[str, Ends](), list[str]()
    for name, operation in _DISK.items():
        rows = [
            row
            for run in runs
            for row in run.rows
            if row.operation == operation
            and row.unit == "bytes/s"
            and row.rank is None
            and float((row.factors or run.factors).get("file_size") or 0) > memory_bytes
        ]
        if rows:
            largest = max(
                _get_byte_factor(row, "file_size") for row in rows
            )  # memory serves a part of slightly larger files
            rows = [row for row in rows if _get_byte_factor(row, "file_size") == largest]
            best = max(rows, key=lambda row: row.value)
            fields[name] = (best.value, best.value, best.value)
            notes.append(_describe_disk_rate(operation, best, rows))
    if not fields:
        raise DataError(
            "fits-in-memory",
            "{file}: none of its files is larger than the memory of {memory_bytes}",
            "iozone -Rab FILE -g SIZE, with twice the memory",
            file=file,
            memory_bytes=format_size(memory_bytes),
        )
    return ProbedSystem(fields, {}, tuple(notes))


def _describe_disk_rate(operation: str, best: Row, rows: Sequence[Row]) -> str:
    slowest = min(row.value for row in rows)
    size, record = (format_size(_get_byte_factor(best, name)) for name in ("file_size", "record_size"))
    return Message(
        "disk-rate",
        "R of {operation} is IOzone's best at its largest files, {rate} at {file_size} in records of "
        "{record_size}{span}",
        operation=operation,
        rate=format_rate(best.value, "bytes/s"),
        file_size=size,
        record_size=record,
        span=f", others down to {format_rate(slowest, 'bytes/s')}" if slowest < best.value else "",
    )


def _get_byte_factor(row: Row, name: str) -> float:
    value = (row.factors or {}).get(name)
    return float(value) if isinstance(value, (int, float)) else 0.0


def _compute_rate_ends(rate: Estimate, values: Sequence[float]) -> Ends:
    value = sum(values) / len(values)
    return (value, value if rate.low is None else rate.low, value if rate.high is None else rate.high)


def read_first_system(
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
        return build_probed_system(_read_store_probe(place, level), operation, specified)
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
        return build_probed_system(document, operation, specified)
    system = read_tool_output(path, level, memory_bytes)
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
    probe = {
        **_read_attached_probe(every),
        **hardware.summarise_newest_parts(hardware.select_complete_probes(every), level),
    }
    if not probe:
        raise DataError(
            "no-probe", "{path}: no run of this store has a probe", "iosonde probe --store {path}", path=place
        )
    return probe


def _read_attached_probe(runs: Sequence[StoredRun]) -> Mapping[str, Any]:
    run = next((run for run in reversed(runs) if run.facts.get("probe") and run.source != SOURCE), None)
    if run is None:
        return {}
    probe = run.facts["probe"]
    is_same_target = run.filesystem is not None and probe.get("target") == run.target
    return {"own_disk": is_on_own_disk(run.filesystem) if is_same_target else None, **probe}
