"""The text of ``iosonde parse``: a block per execution in a file."""

from collections.abc import Iterator

from iosonde.core.message import spell
from iosonde.core.units import format_rate
from iosonde.importers import Note, Parsed, Row
from iosonde.layout.text import WIDTH, escape, table, wrapped

from .answer import Parse

MAX_ROWS, MAX_RUNS, MAX_NOTES = 40, 20, 10


def lines(parse: Parse) -> Iterator[str]:
    """Yield the lines of the text of one file."""
    text, understood = parse.text, parse.understood
    version = f" {understood.tool_version}" if understood.tool_version else ""
    claim = understood.claim
    yield escape(f"{text.name}: {understood.format}{version}, {_format_count(len(understood.runs), 'run')}")
    yield _truncate_line(f"  known by  line {claim.line}: {claim.evidence}")
    if understood.others:
        others = ", ".join(f"{name} (line {other.line})" for name, other in understood.others.items())
        yield _truncate_line(f"  also like {others}")
    for note in understood.notes[:MAX_NOTES]:
        yield from _format_note("note", note)
    for run in understood.runs[:MAX_RUNS]:
        yield ""
        yield from _format_run(run)
    if len(understood.runs) > MAX_RUNS:
        yield f"\nand {len(understood.runs) - MAX_RUNS} more runs ({spell.json})"


def _format_run(run: Parsed) -> Iterator[str]:
    if run.started_at:
        yield f"  started   {run.started_at.replace('T', ' ')}"
    if run.factors:
        settings = ", ".join(f"{name}={value}" for name, value in run.factors.items() if value is not None)
        yield from _wrap_lines("  settings  ", settings)
    for note in run.missing[:MAX_NOTES]:
        yield from _format_note("missing", note)
    for note in run.warnings[:MAX_NOTES]:
        yield from _format_note("note", note)
    rows = [
        (row.operation, row.metric, _format_source(row), format_rate(row.value, row.unit), row.line)
        for row in run.rows[:MAX_ROWS]
    ]
    if rows:
        yield table(("operation", "metric", "of", "value", "line"), rows, "lllrr")
    if len(run.rows) > MAX_ROWS:
        yield f"and {len(run.rows) - MAX_ROWS} more results ({spell.json})"


def _format_source(row: Row) -> str:
    """Format what a row is of: the only setting that distinguishes it from others, its rank, its iteration."""
    parts = [str(level) for level in (row.factors or {}).values()] if len(row.factors or {}) == 1 else []
    parts += [f"rank {row.rank}"] * (row.rank is not None) + [f"iteration {row.iteration}"] * (
        row.iteration is not None
    )
    return ", ".join(parts)


def _format_note(kind: str, note: Note) -> Iterator[str]:
    yield from _wrap_lines(f"  {kind:<8}  ", (f"line {note.line}: " if note.line else "") + note.sentence)


def _wrap_lines(head: str, text: str) -> Iterator[str]:
    yield from wrapped(text, " " * len(head), head)


def _truncate_line(line: str) -> str:
    line = escape(line)
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _format_count(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
