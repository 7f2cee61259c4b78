"""The longest operations as a table under 80 columns."""

import errno
import os
from collections.abc import Iterator

from iosonde.core.schema import STATUS_MISMATCH, STATUS_SHORT
from iosonde.core.units import format_rate
from iosonde.core.words import format_count
from iosonde.layout.text import table, warning_lines, wrapped
from iosonde.stats.overview.slowest import SlowOperation

from .slowest import Slowest

_PREFIXES = ("B", "KiB", "MiB", "GiB", "TiB")
_PATH = 24  # characters of a path
_ENDED = {STATUS_SHORT: "short", STATUS_MISMATCH: "mismatch"}


def lines(slowest: Slowest) -> Iterator[str]:
    """Yield the selection, the table, and notes on missing operations."""
    every = slowest.operations
    runs = list(dict.fromkeys(operation.run for operation in every))
    of = f"run {runs[0]}" if slowest.runs == 1 else format_count(slowest.runs, "run")
    yield from wrapped(
        f"the {len(every)} longest of {format_count(slowest.recorded, 'recorded operation')} of {of}; start: "
        "after the phase's first operation"
    )
    common = os.path.commonprefix(runs) if len(runs) > 1 else ""
    common = common[: common.rfind("-") + 1]
    columns = {
        "took": [format_rate(operation.duration_s, "s") for operation in every],
        "start": [
            "-" if operation.start_s != operation.start_s else format_rate(operation.start_s, "s")
            for operation in every
        ],
        "phase": [operation.operation for operation in every],
        "kind": [operation.kind for operation in every],
        "rank": [str(operation.rank) for operation in every],
        "node": [operation.host for operation in every],
        "file": [_format_file(operation) for operation in every],
        "offset": [_format_offset(operation) for operation in every],
        "size": [_format_bytes(operation.size) if operation.size else "" for operation in every],
        "ended": [_format_status(operation.status) for operation in every],
        "run": [operation.run.removeprefix(common) for operation in every],
    }
    if columns["kind"] == columns["phase"]:
        del columns["kind"]
    for name in ("node", "offset", "ended"):
        if not any(columns[name]):
            del columns[name]
    if slowest.runs == 1 or len(runs) == 1:
        del columns["run"]
    if slowest.runs > 1 and (
        run_note := f"all of run {runs[0]}" if len(runs) == 1 else common and f"runs are {common}…"
    ):
        yield from wrapped(run_note, "  ")
    yield ""
    align = "".join("l" if name in ("phase", "kind", "node", "run", "ended") else "r" for name in columns)
    yield from table(list(columns), list(zip(*columns.values(), strict=True)), align).splitlines()
    if slowest.notes:
        yield ""
    yield from warning_lines(slowest.notes)


def _format_file(operation: SlowOperation) -> str:
    """Return the file's number, or the end of its path."""
    path = operation.path
    return str(operation.file) if not path else path if len(path) <= _PATH else f"…{path[1 - _PATH :]}"


def _format_offset(operation: SlowOperation) -> str:
    return "" if operation.offset is None or not operation.size else _format_bytes(operation.offset)


def _format_bytes(amount: int) -> str:
    """Format bytes in the largest unit that divides them: ``4 KiB``, ``1025 KiB``."""
    step = 0
    while amount and amount % 1024 == 0 and step < len(_PREFIXES) - 1:
        amount, step = amount // 1024, step + 1
    return f"{amount} {_PREFIXES[step]}"


def _format_status(status: int) -> str:
    return "" if status == 0 else _ENDED.get(status) or errno.errorcode.get(status, str(status))
