"""CSVs of single operations: IOR's and mdtest's ``savePerOpDataCSV``, md-workbench's latencies (``-L``).

    time,runtime,tp
    9.53674316e-07,1.90734863e-05,3.435974e+09

Begin and duration in seconds and, for IOR and mdtest, bytes/s, which times the duration are the bytes. Only the file's
name contains the operation, if anything: then they become recorded operations; else they are only counted.
"""

import re
from pathlib import PurePath
from typing import Any, NamedTuple

from iosonde.core.message import Message

from .operation_log import add_summary_rows, read_number_rows
from .parsed import PART, Parsed
from .text import Text
from .trace import note_end, record_operations

_LONGEST_S = 1e9
_MDTEST = re.compile(r"-(File|Directory) (creation|stat|read|removal)-(\d{1,9})\.csv(?:\.gz)?$")
_MDTEST_KINDS = {
    ("File", "creation"): "create",
    ("File", "stat"): "stat",
    ("File", "read"): "read",
    ("File", "removal"): "unlink",
    ("Directory", "creation"): "mkdir",
    ("Directory", "stat"): "stat",
    ("Directory", "removal"): "rmdir",
}
_IOR = re.compile(r"-(\d{1,9})-(\d{1,9})\.csv(?:\.gz)?$")
_WORKBENCH = re.compile(r"-\d+\.\d\d-(\d{1,9})-(precreate|cleanup|create|delete|read|stat)(-all)?\.csv(?:\.gz)?$")
_WORKBENCH_KINDS = {
    "precreate": "create",
    "cleanup": "unlink",
    "create": "create",
    "delete": "unlink",
    "read": "read",
    "stat": "stat",
}
_FLOAT_DIGITS = 2.0**24


class Meaning(NamedTuple):
    """Name of a file's operations, their kind in the engine ('' if unknown), and their rank."""

    operation: str
    kind: str
    rank: int = 0


def is_mdtest_csv(text: Text) -> bool:
    """Return whether a CSV of operations is mdtest's, by its name: IOR writes the same columns."""
    return _MDTEST.search(PurePath(text.name).name) is not None


def parse_mdtest(text: Text) -> Parsed:
    """Read one phase of one rank."""
    run = Parsed()
    match = _MDTEST.search(PurePath(text.name).name)
    if match is None:
        return _reject_file(
            run,
            text,
            3,
            Message("unknown-operation", "the file's name lacks the operation (PREFIX-File creation-00000.csv)"),
        )
    what, did, rank = match.groups()
    run.factors[PART] = f"rank {int(rank)}"
    # For operations without bytes mdtest divides 1 by the duration.
    meaning = Meaning(f"{what.lower()}_{did}", _MDTEST_KINDS.get((what, did), ""), int(rank))
    return _read_operations(run, text, 3, meaning, smallest=2)


def parse_ior(text: Text) -> Parsed:
    """Read the last phase of one rank and repetition: a read phase overwrites the file of the write phase."""
    run, name = Parsed(), PurePath(text.name).name
    if match := _IOR.search(name):
        run.factors[PART] = f"iteration {int(match.group(1))} of rank {int(match.group(2))}"
    words = {word for word in ("write", "read") if word in name.lower()}
    if len(words) != 1:
        return _reject_file(
            run,
            text,
            3,
            Message(
                "unknown-operation",
                "IOR's file does not show whether these are reads or writes (with -w -r the reads): with one "
                "of these words in its name they are recorded, and can be diagnosed",
            ),
        )
    word = words.pop()
    return _read_operations(run, text, 3, Meaning(word, word, int(match.group(2)) if match else 0))


def parse_workbench(text: Text) -> Parsed:
    """Read one kind of operation of rank 0, or (``-all``) of all ranks."""
    run = Parsed()
    match = _WORKBENCH.search(PurePath(text.name).name)
    if match is None:
        return _reject_file(
            run,
            text,
            2,
            Message(
                "unknown-operation",
                "the file's name lacks the operation (PREFIX-0.00-0-read.csv): read, stat, create and delete "
                "are different operations",
            ),
        )
    iteration, what, everybody = match.groups()
    kind = _WORKBENCH_KINDS[what]
    phase = what if what in ("precreate", "cleanup") else "benchmark"
    run.factors[PART] = f"iteration {int(iteration)}{' of all ranks' if everybody else ''}"
    if everybody:
        run.cannot_tell(Message("unknown-ranks", "operations of all ranks: the file lacks the rank of each"))
    run = _read_operations(run, text, 2, Meaning(f"{phase}_{'delete' if kind == 'unlink' else kind}", kind))
    if run.operations is not None and len(run.operations):
        last_s = float(run.operations["start_ns"].max()) / 1e9
        run.warn(
            0,
            Message(
                "low-resolution",
                "start times have 24 bits: at the end of these {seconds:.3g} s in steps of {step_s:.1g} s",
                seconds=last_s,
                step_s=last_s / _FLOAT_DIGITS,
            ),
        )
    return run


def _read_operations(run: Parsed, text: Text, columns: int, meaning: Meaning, smallest: float = 1) -> Parsed:
    import numpy as np

    table, lines = _read_rows(run, text, columns)
    if not meaning.kind or not len(table):
        add_summary_rows(run, meaning.operation, table[:, 1], lines)
        return run
    from iosonde.engine._native import KINDS

    size = 0
    if columns == 3 and (timed := table[:, 1] > 0).any():
        # Both have seven digits or more; all operations of a file have one size.
        size = round(float(np.median(table[timed, 2] * table[timed, 1])))
    nothing = np.zeros(len(table), np.int64)
    operations = {
        "rank": nothing + meaning.rank,
        "phase": nothing,
        "kind": nothing + KINDS.index(meaning.kind),
        "size": nothing + (size if size >= smallest else 0),
        "file": nothing,
        "offset": nothing,
        "start_ns": np.round(table[:, 0] * 1e9).astype(np.int64),
        "duration_ns": np.round(table[:, 1] * 1e9).astype(np.int64),
        "line": lines,
    }
    record_operations(run, [meaning.operation], operations, unplaced=[meaning.operation])
    return run


def _reject_file(run: Parsed, text: Text, columns: int, why: Message) -> Parsed:
    table, lines = _read_rows(run, text, columns)
    add_summary_rows(run, "access", table[:, 1], lines)
    run.warn(1, why)
    return run


def _read_rows(run: Parsed, text: Text, columns: int) -> tuple[Any, Any]:
    """Return the rows of times and durations, and their lines."""
    import numpy as np

    if ",inf\n" in text.content:  # bytes over a duration that the clock rounds to 0
        text = Text(text.content.replace(",inf\n", ",0\n").encode(), text.name)
    note_end(run, text)
    table, lines = read_number_rows(text, 2, columns, run)
    good = (
        (table[:, :2] >= 0).all(axis=1) & (table[:, :2] < _LONGEST_S).all(axis=1) if len(table) else np.zeros(0, bool)
    )
    if not good.all():
        run.lacks(
            int(lines[~good][0]),
            Message("impossible-times", "an operation with a negative or impossible time: left out"),
        )
    return table[good], lines[good]
