"""elbencho's ``--csvfile`` (a row for each phase) and ``--livecsv`` (a row for each interval)."""

import csv

from iosonde.core.message import Message

from .parsed import Parsed, Row
from .reading import date_to_iso, parse_integer, parse_number
from .text import Text

MIB = 1024.0**2
_VALUES = {
    "time ms": ("time", "s", 1e3),
    "entries/s": ("rate", "operations/s", 1.0),
    "IOPS": ("access_rate", "operations/s", 1.0),
    "MiB/s": ("bandwidth", "bytes/s", 1 / MIB),
    "CPU%": ("cpu_utilization", "", 100.0),
    "entries": ("operations", "operations", 1.0),
    "MiB": ("bytes", "bytes", 1 / MIB),
    "Ent lat us": ("latency", "s", 1e6),
    "IO lat us": ("access_latency", "s", 1e6),
}
# --sync and --dropcache precede each phase, and begin no other execution.
BETWEEN = ("sync", "dropcache", "dropcaches")
_SUFFIX = {"first": "first_done", "last": "last_done", "min": "min", "avg": "mean", "max": "max"}
_FACTORS = {
    "hosts": "nodes",
    "threads": "threads",
    "file size": "file_size",
    "block size": "block_size",
    "dirs": "directories",
    "files": "files",
    "direct IO": "direct",
    "random": "random",
    "IO depth": "io_depth",
}


def parse_csv(text: Text, head: int) -> list[Parsed]:
    """Return the rows of one command as one run until a phase repeats: the file is appended to."""
    names = next(csv.reader([text.lines[head - 1]]))
    runs: list[Parsed] = []
    operations: set[str] = set()
    command = ""
    for at, line in enumerate(text.lines[head:], head + 1):
        if not line.strip() or line.startswith("ISO date,"):
            continue
        # The command is the last column, unquoted: everything after the others belongs to it.
        cells = line.split(",", len(names) - 1)
        row = dict(zip(names, cells, strict=False))
        operation = row.get("operation", "").lower()
        if len(cells) < len(names) or not operation:
            (runs[-1] if runs else begin_run(runs)).lacks(at, Message("damaged-lines", "the row is cut: left out"))
            continue
        if not runs or (operation in operations and operation not in BETWEEN) or row.get("command", "") != command:
            run, command = begin_run(runs), row.get("command", "")
            operations.clear()
            _read_settings(run, row)
        operations.add(operation)
        _add_row(runs[-1], at, operation, row)
    if not runs:
        begin_run(runs).lacks(head, Message("no-results", "the table has no rows"))
    return runs


_SWITCHES = ("direct", "random")  # the JSON has them as booleans


def begin_run(runs: list[Parsed]) -> Parsed:
    """Append an execution and return it."""
    runs.append(Parsed())
    return runs[-1]


def _read_settings(run: Parsed, row: dict[str, str]) -> None:
    run.version = row.get("version", "")[:60]
    run.started_at = date_to_iso(row.get("ISO date", "")[:19])
    run.facts |= {"command": row.get("command", "").strip()}
    if row.get("label"):
        run.facts["label"] = row["label"][:200]
    for name, factor in _FACTORS.items():
        if (value := parse_integer(row.get(name, ""))) is not None:
            run.factors[factor] = bool(value) if factor in _SWITCHES else value


def _add_row(run: Parsed, at: int, operation: str, row: dict[str, str]) -> None:
    run.warn(
        at, Message("low-resolution", "MiB/s and MiB are whole numbers in the CSV, times whole ms: the JSON has bytes")
    )
    mix = any(cell for name, cell in row.items() if name.startswith("rwmix read "))
    for name, cell in row.items():
        base, _, suffix = name.rpartition(" [")
        prefix = base.removeprefix("rwmix read ")
        if prefix not in _VALUES or not cell:
            continue
        quantity, unit, per_base = _VALUES[prefix]
        value = parse_number(cell)
        if value is None or value < 0:
            run.lacks(
                at,
                Message(
                    "invalid-number", "'{cell}' of {column} is not a number: left out", cell=cell[:40], column=name
                ),
            )
        elif value > 0 or not unit.endswith("/s"):
            run.rows.append(
                Row(
                    choose_mix_operation(operation, quantity, mix, prefix != base),
                    f"{quantity}_{_SUFFIX.get(suffix.rstrip(']'), suffix)}",
                    value / per_base,
                    unit,
                    at,
                )
            )


def choose_mix_operation(operation: str, quantity: str, mix: bool, read: bool) -> str:
    """Return the operation of a mix that a number belongs to: reads or writes, as in the text; time and CPU belong to
    both."""
    shared = not mix or quantity in ("time", "cpu_utilization")
    return f"{operation}_read" if read else operation if shared else f"{operation}_write"


def parse_live(text: Text, head: int) -> list[Parsed]:
    """Read the state of a phase at intervals: each row a sample, numbered by ``iteration``."""
    run = Parsed()
    names = text.lines[head - 1].strip().split(",")
    counts: dict[str, int] = {}
    for at, line in enumerate(text.lines[head:], head + 1):
        cells = line.strip().split(",")
        row = dict(zip(names, cells, strict=False))
        if cells == [""] or row.get("Rank", "") not in ("Total", "") and parse_integer(row["Rank"]) is None:
            continue
        operation = row.get("Phase", "").lower()
        if not operation or len(cells) < len(names):
            run.warn(at, Message("damaged-lines", "the row is cut: left out"))
            continue
        rank = parse_integer(row["Rank"])
        key = f"{operation} {rank}"
        counts[key] = counts.get(key, -1) + 1
        for name, metric, unit, per_base in (
            ("RuntimeMS", "sample_time", "s", 1e3),
            ("MiB/s", "bandwidth_sample", "bytes/s", 1 / MIB),
            ("IOPS", "access_rate_sample", "operations/s", 1.0),
            ("DoneBytes", "bytes_done", "bytes", 1.0),
        ):
            if (value := parse_number(row.get(name, ""))) is not None and value >= 0:
                run.rows.append(Row(operation, metric, value / per_base, unit, at, rank, counts[key]))
    run.warn(head, Message("samples-only", "samples of a running phase: the final values are in the result table"))
    if not run.rows:
        run.lacks(head, Message("no-results", "the table has no rows"))
    return [run]
