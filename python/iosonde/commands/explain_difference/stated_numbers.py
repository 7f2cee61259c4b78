"""Numbers printed by a tool, as sides of ``explain-difference``, defined as far as tool and text state it. The settings
of an IO500 phase are those of its command, which ``result.txt`` keeps as ``exe = ./ior … --posix.odirect``. A run's
settings are those of its easy phase: ior-hard's 47,008 bytes are in its own command only."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import Run
from iosonde.core.vocabulary import IOR
from iosonde.importers.reading import parse_option_size, split_command
from iosonde.stats.definitions import fio, ior, iozone, mdtest
from iosonde.stats.definitions.clock import (
    CLOSE,
    FIRST_DONE,
    FSYNC,
    LAST_DONE,
    LONGEST_RANK,
    OPEN,
    PARTS,
    SUM_OF_RANKS,
    SUM_UNTIL_FIRST,
    Clock,
)
from iosonde.stats.definitions.difference import STOPS, Side

_EASY = ("record size", "O_DIRECT")  # of the easy phase, as settings of the run
_RATES = ("bandwidth", "rate")
_ENDS = {"last_done": LAST_DONE, "first_done": FIRST_DONE, "sum_of_ranks": SUM_OF_RANKS}
_DECIMAL = ("dd",)  # tools that print MB of 1000000 bytes
# Importer's name of a setting → name here; "block" is IOR's contiguous part, and others' record.
_NAMES = {
    "ranks": "threads",
    "threads": "threads",
    "nodes": "nodes",
    "transfer_size": "record size",
    "record_size": "record size",
    "io_depth": "queue depth",
    "direct": "O_DIRECT",
    "client_cache": "client cache",
}
# Begins of IOzone's operations that are not sequential.
_IOZONE_ORDERS = {"random": "random", "mixed": "random", "backward": "backward", "stride": "strided"}


def read_io500_settings(run: Run, operation: str, run_settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of one phase: those of the run, overridden by its own command. Bytes are excluded: the clock
    ends a phase, and ``-b`` is only an upper bound of what it writes."""
    phase_settings = dict(run_settings)
    if not operation.startswith("ior_easy"):
        for name in _EASY:
            phase_settings.pop(name, None)
    words = _split_command(run, operation)
    if not words or not operation.startswith("ior"):
        return phase_settings
    size = parse_option_size(IOR.find_value(words, "transfer_size") or "")
    if size is not None:
        phase_settings["record size"] = size
    return phase_settings | {
        "O_DIRECT": any(word.endswith(".odirect") or word in ("-B", "useO_DIRECT=1") for word in words),
        "shared file": "-F" not in words,
        "record order": "random" if "-z" in words else "sequential",
    }


def read_io500_clock_contents(run: Run, operation: str) -> frozenset[str] | None:
    """Return what is inside the clock of an IOR phase: open and close, and a requested fsync of a write. None if no
    command is known."""
    words = _split_command(run, operation)
    if not words or not operation.startswith("ior"):
        return None
    return frozenset({OPEN, CLOSE} | ({FSYNC} if "-e" in words and operation.endswith("write") else set()))


def _split_command(run: Run, operation: str) -> list[str]:
    commands = run.facts.get("commands")
    if not isinstance(commands, Mapping):
        return []
    return split_command(str(commands.get(operation) or commands.get(operation.replace("_", "-")) or ""))


def build_stated_sides(run: Run, tool: str, name: str) -> dict[str, Side]:
    """Map operations to their headline numbers; other numbers of the same operation are in ``at``."""
    means: dict[str, dict[str, float]] = {}
    for row in run.observations:
        if row.rank is None:
            means.setdefault(row.operation, {}).setdefault(row.metric, 0.0)
    for operation, metrics in means.items():
        for metric in metrics:
            metrics[metric] = statistics.fmean(
                row.value
                for row in run.observations
                if row.rank is None and (row.operation, row.metric) == (operation, metric)
            )
    by_operation = {}
    for operation, metrics in means.items():
        includes = {part for row in run.observations if row.operation == operation for part in row.includes.split(",")}
        table, unknown = _build_clock_table(tool, operation, metrics, includes, run)
        if table:
            clock, value = table[0]
            bandwidth = any(metric.startswith("bandwidth") for metric in metrics)
            by_operation[operation] = Side(
                name=name,
                operation=operation,
                value=value,
                unit="bytes/s" if bandwidth else "operations/s",
                clock=clock,
                at=partial(_find_value_by_clock, tuple(table)),
                published_clocks=tuple(table_clock for table_clock, _ in table),
                prefix=1 if not bandwidth else 10**6 if tool in _DECIMAL else 2**20,
                unknown=unknown,
                settings=read_io500_settings(run, operation, _collect_settings(run, tool))
                if tool == "io500"
                else _collect_settings(run, tool, operation),
                notes=_list_notes(run, tool, _count_iterations(run, operation, metrics, value)),
            )
    return by_operation


def _find_value_by_clock(table: Sequence[tuple[Clock, float]], clock: Clock) -> float | None:
    return next((value for other_clock, value in table if other_clock == clock), None)


def _build_clock_table(
    tool: str, operation: str, metrics: Mapping[str, float], includes: set[str], run: Run
) -> tuple[list[tuple[Clock, float]], frozenset[str]]:
    """Return the numbers of one operation with their clocks, the headline first, and the unknown parts of the
    clocks."""
    inside = frozenset(includes & set(PARTS))
    if tool == "ior" and "bandwidth_last_done" in metrics:
        return _build_ior_table(operation, metrics, inside, run)
    if tool == "iozone" and "bandwidth_sum_of_ranks" in metrics:
        table = [(Clock(inside, SUM_UNTIL_FIRST), metrics["bandwidth_sum_of_ranks"])]
        if "bandwidth_last_done" in metrics:
            table.append((iozone.build_parent_clock(inside), metrics["bandwidth_last_done"]))
        return table, frozenset()
    if tool == "iozone" and "bandwidth_last_done" in metrics:
        return [(Clock(inside, LAST_DONE), metrics["bandwidth_last_done"])], frozenset()
    if tool == "fio":
        ends = {"bandwidth_last_done": LONGEST_RANK, "bandwidth_sum_of_ranks": SUM_OF_RANKS}
        fsync = {FSYNC} if run.factors.get("end_fsync") or run.factors.get("fsync_on_close") else set()
        table = [
            (Clock(frozenset({OPEN, *fsync}), end, fio.STEP_NS), metrics[key])
            for key, end in ends.items()
            if key in metrics
        ]
        # Only JSON output holds the jobs' options.
        fsync_certain = fsync or operation == "read" or "size" in run.factors
        return table, frozenset() if fsync_certain else frozenset({FSYNC})
    if tool == "elbencho":
        has_directories = "directories" in run.factors
        table = [
            (
                Clock(frozenset({OPEN, CLOSE}) if has_directories else frozenset(), _ENDS[end]),
                metrics[f"bandwidth_{end}"],
            )
            for end in ("last_done", "first_done")
            if f"bandwidth_{end}" in metrics
        ]
        return table, frozenset() if has_directories else frozenset({OPEN, CLOSE})
    if tool == "io500" and (io500_parts := read_io500_clock_contents(run, operation)) is not None:
        table, _ = _build_generic_table(metrics, io500_parts)
        return table, frozenset()
    if tool == "mdtest" and (value := metrics.get("rate_last_done") or metrics.get("rate_mean")):
        return [(mdtest.CLOCK, value)], frozenset()
    return _build_generic_table(metrics, inside)


def _build_ior_table(
    operation: str, metrics: Mapping[str, float], inside: frozenset[str], run: Run
) -> tuple[list[tuple[Clock, float]], frozenset[str]]:
    """Return bw, and bytes ÷ wr/rd(s): the accesses (and the fsync) without open and close."""
    table = [(Clock(inside, ior.CLOCK.stops), metrics["bandwidth_last_done"])]
    rows = {(row.metric, row.repetition): row.value for row in run.observations if row.operation == operation}
    bare = [
        bandwidth * rows["total_time", iteration] / rows["access_time", iteration]
        for (metric, iteration), bandwidth in rows.items()
        if metric == "bandwidth_last_done"
        and rows.get(("access_time", iteration))
        and ("total_time", iteration) in rows
    ]
    if bare:
        table.append((Clock(inside - {OPEN, CLOSE}, ior.CLOCK.stops), statistics.fmean(bare)))
    fsync_certain = FSYNC in inside or operation != "write" or run.facts.get("command")
    return table, frozenset() if fsync_certain else frozenset({FSYNC})


def _build_generic_table(
    metrics: Mapping[str, float], inside: frozenset[str]
) -> tuple[list[tuple[Clock, float]], frozenset[str]]:
    """Return the numbers of another tool, with clocks derived from the names of the metrics."""
    table = [
        (Clock(inside, _ENDS[end]), metrics[f"{kind}_{end}"])
        for kind in _RATES
        for end in _ENDS
        if f"{kind}_{end}" in metrics
    ]
    unknown = frozenset(PARTS) - inside
    if not table:
        mean = next((metrics[key] for kind in _RATES for key in (kind, f"{kind}_mean") if key in metrics), None)
        return ([(Clock(inside, LAST_DONE), mean)] if mean else []), unknown | {STOPS}
    return table, unknown


def _count_iterations(run: Run, operation: str, metrics: Mapping[str, float], value: float) -> int:
    """Return the number of values whose mean is ``value``: rows of other metrics, such as samples, do not count."""
    averaged = {metric for metric, mean in metrics.items() if mean == value}
    rows = Counter(row.metric for row in run.observations if row.operation == operation and row.rank is None)
    return max((rows[metric] for metric in averaged), default=1)


def _collect_settings(run: Run, tool: str, operation: str = "") -> dict[str, Any]:
    factors = run.factors
    settings = {_NAMES[key]: value for key, value in factors.items() if key in _NAMES}
    command = str(run.facts.get("command", "")).split()
    if tool in ("ior", "iozone") and command and "O_DIRECT" not in settings:
        flags = {"ior": ("-B", "--posix.odirect"), "iozone": ("-I",)}[tool]
        settings["O_DIRECT"] = any(word in flags for word in command)
    if "O_DIRECT" in settings:
        settings["O_DIRECT"] = bool(settings["O_DIRECT"])
    if tool in ("fio", "elbencho", "dd") and "block_size" in factors:
        settings["record size"] = factors["block_size"]
    if tool == "ior" and "block_size" in factors:
        settings["bytes of each"] = int(factors["block_size"] or 0) * int(factors.get("segments") or 1)
    elif "size" in factors or "file_size" in factors:
        settings["bytes of each"] = factors.get("size", factors.get("file_size"))
    if "ordering" in factors:
        settings["record order"] = "random" if str(factors["ordering"]).startswith("random") else "sequential"
    elif "random" in factors:
        settings["record order"] = "random" if factors["random"] else "sequential"
    elif "rw" in factors:
        settings["record order"] = "random" if str(factors["rw"]).startswith("rand") else "sequential"
    elif tool == "iozone":
        settings["record order"] = next(
            (o for begin, o in _IOZONE_ORDERS.items() if operation.startswith(begin)), "sequential"
        )
    if "access" in factors:
        settings["shared file"] = factors["access"] == "single-shared-file"
    return settings


def build_incomplete_note(reason: str) -> Message:
    """Return the note that a side is incomplete."""
    return Message("incomplete", "it is incomplete: {reason}", reason=reason)


def _list_notes(run: Run, tool: str, iterations: int) -> tuple[str, ...]:
    notes = []
    if tool == "iozone":
        notes.append(Message("unit-of-tool", "IOzone's kB are of 1024 bytes"))
    if iterations > 1:
        notes.append(
            Message(
                "mean-of-iterations", "its number is the mean of {n_iterations} iterations", n_iterations=iterations
            )
        )
    if run.missing:
        notes.append(build_incomplete_note(run.missing[0]))
    return tuple(notes)
