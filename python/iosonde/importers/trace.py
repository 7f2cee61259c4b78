"""Operations of a trace from any tool: columns → the records that our own engine writes, and their summary.

A trace of another tool is one run, with a phase for each operation that it names. Unknown offsets are 0 and their phase
is not ``placed``.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.core.message import Message
from iosonde.core.schema import OPERATION, STATUS_OK

from .operation_log import add_summary_rows
from .parsed import Parsed, Row
from .text import Text

MOST_BYTES = 2**32 - 1  # of one operation, in the store
LONGEST_NS = 10**18  # thirty years: longer durations are damaged
MOST_FILES = 1000  # names that are kept


class Numbered:
    """Numbers for names, in the order of their first occurrence: paths, processes, operations."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def get_number(self, name: Any) -> int:
        """Return its number, from 0."""
        return self.numbers.setdefault(name, len(self.numbers))


class Gathered:
    """Operations gathered line by line: ``rows`` takes the numbers of ``FIELDS`` one after another, where ``phase`` is
    the number of its name in ``names`` and ``file`` in ``files``."""

    FIELDS = ("rank", "phase", "status", "size", "file", "offset", "start_ns", "duration_ns", "line")

    def __init__(self) -> None:
        self.rows, self.names, self.files = array("q"), Numbered(), Numbered()
        self.lost = 0

    def columns(self) -> dict[str, Any]:
        """Return arrays, as ``record_operations`` takes them."""
        table = np.frombuffer(self.rows, np.int64).reshape(-1, len(self.FIELDS))
        return dict(zip(self.FIELDS, table.T, strict=True))

    def note_unreadable(self, run: Parsed, line: int, sentence: str) -> None:
        """Note an unreadable line: the run is marked, and its first ones are named."""
        self.lost += 1
        run.lacks(line, sentence)

    def into(self, run: Parsed, kinds: Mapping[str, str], text: Text, **how: Any) -> dict[str, Any]:
        """Put them into ``run``; ``kinds`` maps each name to the engine's kind. Return the columns, with the times as
        given."""
        from iosonde.engine._native import KINDS

        names = list(self.names.numbers)
        columns = drop_cut_operation(run, text, self.columns())
        codes = np.array([KINDS.index(kinds[name]) for name in names], np.int64)
        columns["kind"] = codes[columns["phase"]] if names else columns["phase"]
        if len(columns["start_ns"]):
            columns["start_ns"] = columns["start_ns"] - columns["start_ns"].min()
        record_operations(run, names, columns, **how)
        if self.lost > 1:
            run.facts["lines_left_out"] = self.lost
        return columns


def record_operations(
    run: Parsed,
    names: Sequence[str],
    columns: Mapping[str, Any],
    *,
    unplaced: Sequence[str] = (),
    hosts: Mapping[int, str] | None = None,
    comparable: bool = True,
    shared: bool = True,
) -> None:
    """Put operations into ``run``: ``columns`` are arrays of the fields of ``OPERATION`` (``phase`` numbers ``names``;
    absent fields are 0), the ``line`` of each, and ``moved``, its bytes, if they differ from ``size``.

    ``unplaced``: names whose offsets are unknown; ``shared``: a file's number is the same on all ranks.
    """
    columns = _select_believable(run, columns)
    lines = np.asarray(columns["line"], np.int64)
    records = np.zeros(len(lines), OPERATION)
    for field in OPERATION.names or ():
        if field in columns:
            records[field] = np.minimum(columns[field], MOST_BYTES) if field == "size" else columns[field]
    if len(records):
        records["start_ns"] -= records["start_ns"].min()
    moved = columns.get("moved", columns.get("size", records["size"]))
    if large := int((np.asarray(columns.get("size", 0)) > MOST_BYTES).sum()):
        run.warn(
            0,
            Message(
                "value-cut",
                "{n_operations} operations are of 4 GiB or more: the store keeps them as one byte less than that",
                n_operations=large,
            ),
        )
    used = [place for place in range(len(names)) if (records["phase"] == place).any()]
    for place in used:
        mine = records["phase"] == place
        _summarise_phase(run, names[place], records[mine], lines[mine], np.asarray(moved)[mine])
    if not used:
        run.lacks(0, Message("no-results", "the trace holds no readable operation"))
    records["phase"] = np.searchsorted(used, records["phase"]) if used else 0
    run.operations = records[np.lexsort((records["start_ns"], records["rank"]))]
    run.operation_names = tuple(names[place] for place in used)
    run.phase_facts = {
        "comparable": comparable,
        "shared": shared,
        "ranks": [{"rank": rank, "host": host} for rank, host in sorted((hosts or {}).items())],
    }
    run.unplaced = tuple(name for name in run.operation_names if name in unplaced)


def _select_believable(run: Parsed, columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the columns without operations whose time or duration is implausible."""
    start, took = (np.asarray(columns[name], np.int64) for name in ("start_ns", "duration_ns"))
    good = (took >= 0) & (took < LONGEST_NS) & (start - start.min(initial=0) >= 0)
    for name in ("size", "offset", "rank", "file"):
        good &= np.asarray(columns.get(name, took)) >= 0
    if good.all():
        return columns
    run.lacks(
        int(columns["line"][~good][0]),
        Message(
            "impossible-times",
            "{n_operations} operations have impossible times or sizes: left out",
            n_operations=int((~good).sum()),
        ),
    )
    return {name: np.asarray(values)[good] for name, values in columns.items()}


def _summarise_phase(run: Parsed, name: str, records: Any, lines: Any, moved: Any) -> None:
    good = records["status"] == STATUS_OK
    if failed := int((~good).sum()):
        run.warn(
            int(lines[~good][0]),
            Message(
                "operations-failed",
                "{operation}: {n_operations} operations failed or moved nothing: recorded, not counted",
                operation=name,
                n_operations=failed,
            ),
        )
    if not good.any():
        return
    add_summary_rows(run, name, records["duration_ns"][good] / 1e9, lines[good])
    if moved[good].any():
        total = float(moved[good].sum())
        run.rows.append(Row(name, "bytes", total, "bytes", int(lines[good][0]), count=int(good.sum())))


def note_end(run: Parsed, text: Text) -> bool:
    """Return whether the trace ends with a complete line; the run is marked if not."""
    is_complete = not text.content or text.content.endswith("\n")
    if not is_complete:
        run.lacks(text.last_line, Message("ended-early", "the last line has no line end: the trace was cut there"))
    return is_complete


def drop_cut_operation(run: Parsed, text: Text, columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns without the operation of a last line without a line end; the run is marked then."""
    if note_end(run, text):
        return columns
    mask = columns["line"] != text.last_line
    return {name: values[mask] for name, values in columns.items()}


def keep_names(run: Parsed, what: str, names: Mapping[Any, int]) -> None:
    """Store the numbers of files or processes as a fact of the run; the first of many."""
    run.facts[what] = {str(number): str(name) for name, number in list(names.items())[:MOST_FILES]}
