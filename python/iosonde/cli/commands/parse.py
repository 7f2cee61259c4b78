"""``iosonde parse``: what an importer understands of other tools' output, without storing it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import DataError, InputError

if TYPE_CHECKING:
    from iosonde.importers import Note, Parsed, Row, Text, Understood

SCHEMA = 1
SHOWN = 40


@click.command(epilog="Example: mdtest -n 1000 -d /mnt/x | iosonde parse -")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--format", "form", metavar="TOOL", help="Read as this tool's output, whatever it looks like.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(files: tuple[str, ...], form: str | None, as_json: bool) -> None:
    """What other tools' results in FILE (- for standard input) say, in base units, with warnings.

    The tool is found by what is in the file; the evidence is shown. Nothing is stored: that is 'iosonde import'.
    """
    unknown: list[DataError] = []
    documents = []
    for name in files:
        try:
            text, understood = understand_file(name, form)
        except DataError as error:
            unknown.append(error)
            documents.append(_unknown(name, error))
            continue
        if as_json:
            documents.append(document(text, understood))
        else:
            from .._parse_text import lines

            for line in lines(text, understood):
                click.echo(line)
    if as_json:
        from .show import print_json

        print_json(documents[0] if len(files) == 1 else {"schema": SCHEMA, "files": documents})
    if unknown:
        if len(unknown) == 1:
            raise unknown[0]
        raise DataError("; ".join(error.message for error in unknown), unknown[0].hint)


def understand_file(name: str, form: str | None = None) -> tuple[Text, Understood]:
    """Read a file (``-``: standard input) and let an importer understand it. Raises InputError, DataError."""
    from iosonde.importers import read, understand

    if name == "-":
        text = read(sys.stdin.buffer, name)
    else:
        try:
            with Path(name).open("rb") as file:
                text = read(file, name)
        except IsADirectoryError:
            raise InputError(
                f"{name} is a directory", f"iosonde import -r {name} --store DIR reads all in it"
            ) from None
        except OSError as error:
            raise InputError(
                f"cannot read {name}: {error.strerror}", "name a file that is there and readable"
            ) from error
    return text, understand(text, form)


def document(text: Text, understood: Understood) -> dict[str, Any]:
    """The JSON of one file."""
    claim = understood.claim
    return {
        "schema": SCHEMA,
        "file": text.name,
        "format": understood.format,
        "tool_version": understood.tool_version,
        "complete": all(not run.missing for run in understood.runs),
        "evidence": {"line": claim.line, "text": claim.evidence, "score": claim.score},
        "also_claimed_by": {
            name: {"line": other.line, "score": other.score} for name, other in understood.others.items()
        },
        "runs": [_run(run) for run in understood.runs],
        "results": [_row(index, run, row) for index, run in enumerate(understood.runs) for row in run.rows],
        "warnings": [_note(understood, note) for note in understood.warnings],
    }


def _unknown(name: str, error: DataError) -> dict[str, Any]:
    warning = {"line": 0, "sentence": error.message, "missing": True}
    return {"schema": SCHEMA, "file": name, "format": None, "tool_version": "", "complete": False, "evidence": None,
            "also_claimed_by": {}, "runs": [], "results": [], "warnings": [warning]}  # fmt: skip


def _run(run: Parsed) -> dict[str, Any]:
    return {
        "tool_version": run.version,
        "started_at": run.started_at,
        "complete": not run.missing,
        "missing": [note.sentence for note in run.missing],
        "factors": run.factors,
        "facts": run.facts,
        "operations": None if run.operations is None else len(run.operations),
    }


def _row(index: int, run: Parsed, row: Row) -> dict[str, Any]:
    return {
        "run": index,
        "operation": row.operation,
        "metric": row.metric,
        "value": row.value,
        "unit": row.unit,
        "rank": row.rank,
        "iteration": row.iteration,
        "count": row.count,
        "includes": row.includes,
        "line": row.line,
        "factors": {**run.factors, **(row.factors or {})},
    }


def _note(understood: Understood, note: Note) -> dict[str, Any]:
    missing = any(note in run.missing for run in understood.runs)
    return {"line": note.line, "sentence": note.sentence, "missing": missing}
