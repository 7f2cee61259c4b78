"""All that an importer reads in a file, as lines of text: to compare whole results with literals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from iosonde.core.message import Message
from iosonde.importers import Note, Row, Understood
from iosonde.importers.parsed import Parsed


def describe_reading(reading: Understood) -> str:
    """Describe the format, each execution's settings, facts, rows and operations, and every note by code and values."""
    return "\n".join(_describe(reading)) + "\n"


def _describe(reading: Understood) -> Iterator[str]:
    yield f"{reading.format} {reading.claim.score} line {reading.claim.line}: {reading.claim.evidence}"
    yield from (f"also {name} {claim.score} line {claim.line}" for name, claim in sorted(reading.others.items()))
    yield from _describe_notes("note", reading.notes)
    for run in reading.runs:
        yield from describe_run(run)


def describe_run(run: Parsed) -> Iterator[str]:
    """Describe one execution."""
    yield f"run {run.tool} {_as_json([run.version, run.started_at, run.seconds])}"
    for name in ("factors", "facts", "phase_facts", "unplaced", "operation_names"):
        if value := getattr(run, name):
            yield f"  {name} {_as_json(value)}"
    yield from (f"  {describe_row(row)}" for row in run.rows)
    if run.operations is not None:
        yield from (f"  {line}" for line in _describe_operations(run.operations))
    for kind in ("warnings", "missing", "invalid"):
        yield from (f"  {line}" for line in _describe_notes(kind, getattr(run, kind)))


def describe_row(row: Row) -> str:
    """Describe a row: its line, operation, metric, value and unit, then what only some rows have."""
    more = {
        "rank": row.rank,
        "iteration": row.iteration,
        "count": row.count,
        "includes": row.includes or None,
        "factors": row.factors,
    }
    rest = {name: value for name, value in more.items() if value is not None}
    words = [str(row.line), row.operation, row.metric, f"{row.value:.12g}", row.unit, _as_json(rest) if rest else ""]
    return " ".join(word for word in words if word)


def _describe_operations(operations: Any) -> Iterator[str]:
    """Describe the first and the last operation, and the sum of each column."""
    names = operations.dtype.names
    yield f"operations {len(operations)}: {' '.join(names)}"
    for label, row in [("first", operations[:1]), ("last", operations[-1:])]:
        yield from (f"{label} {' '.join(str(cell) for cell in record)}" for record in row.tolist())
    yield f"sums {' '.join(str(operations[name].astype(object).sum()) for name in names)}"


def _describe_notes(kind: str, notes: Iterable[Note]) -> Iterator[str]:
    for note in notes:
        message = note.sentence
        code, values = (message.code, message.values) if isinstance(message, Message) else (message, {})
        yield f"{kind} line {note.line}: {code} {_as_json({name: str(value) for name, value in values.items()})}"


def _as_json(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
