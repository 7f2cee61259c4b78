"""Parsed → Runs: what the store keeps of a foreign result, with ids that come from the file's content.

Rows whose factors differ (record sizes of an IOzone table, jobs of fio) are different cells: each becomes a run of its
own. Iterations of one setting stay together; ``Observation.repetition`` distinguishes them.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from iosonde.core.contradiction import CONTRADICTIONS, Contradiction, group_doubtful_metrics
from iosonde.core.headlines import list_headline_kinds
from iosonde.core.message import prepend_place
from iosonde.core.types import FactorValue, Observation, Run

from .parsed import Parsed, Row
from .registry import Understood
from .text import Note, Text

DIGEST_CHARACTERS = 16
# Counts and ordinal numbers: as factors they would split a cell.
_COUNTED = ("iterations", "test_id")
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=@-]+")


def compute_digest(raw: bytes) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(raw).hexdigest()


def build_run_prefix(form: str, digest: str) -> str:
    """Return the common prefix of the ids of all runs of a file."""
    return f"{form}-{digest[:DIGEST_CHARACTERS]}-"


def build_runs(
    understood: Understood, text: Text, experiment: str, factors: Mapping[str, FactorValue] | None = None
) -> list[Run]:
    """Return the runs of a file, the first with the file itself as ``raw``; ``factors`` come from its path or a
    manifest.

    An execution without any number becomes a run only if something is missing in it: a list of settings is not a run.
    """
    digest = compute_digest(text.raw)
    runs: list[Run] = []
    for parsed in understood.runs:
        if not parsed.rows and not parsed.missing:
            continue
        for cell, rows in _group_cells(parsed):
            runs.append(
                _build_run(
                    f"{build_run_prefix(understood.format, digest)}{len(runs):04d}",
                    experiment,
                    understood,
                    parsed,
                    cell,
                    rows,
                    dict(factors or {}),
                )
            )
    if runs:
        runs[0].raw = {(_UNSAFE.sub("_", PurePath(text.name).name)[-120:].lstrip(".") or "output"): text.raw}
        for run in runs:
            run.facts["import"] |= {
                "file": text.name,
                "sha256": digest,
                "raw_of_run": runs[0].id,
                "warnings": [format_note(note) for note in understood.notes] + run.facts["import"]["warnings"],
            }
    return runs


def format_note(note: Note) -> str:
    """Return a note as a sentence."""
    return prepend_place(note.sentence, f"line {note.line}") if note.line else note.sentence


def _group_cells(parsed: Parsed) -> list[tuple[dict[str, FactorValue], list[Row]]]:
    """Group rows by their own factors. Rows without any (a summary) stay with the only cell, else by themselves."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in parsed.rows:
        cells.setdefault(tuple(sorted((row.factors or {}).items())), []).append(row)
    if len(cells) == 2 and () in cells:
        summary = cells.pop(())
        next(iter(cells.values())).extend(summary)
    return [(dict(key), rows) for key, rows in cells.items()] or [({}, [])]


def _build_run(
    identity: str,
    experiment: str,
    understood: Understood,
    parsed: Parsed,
    cell: dict[str, FactorValue],
    rows: list[Row],
    extra_factors: dict[str, FactorValue],
) -> Run:
    counted = {name: value for name, value in parsed.factors.items() if name in _COUNTED}
    contradictions = _select_contradictions(parsed, rows)
    doubtful = group_doubtful_metrics(contradictions)
    settings = {name: value for name, value in parsed.factors.items() if name not in _COUNTED}
    run = Run(
        id=identity,
        experiment=experiment,
        source=f"{parsed.tool or understood.format} {parsed.version}".strip(),
        started_at=parsed.started_at,
        seconds=parsed.seconds,
        factors={"tool": parsed.tool or understood.format, **settings, **cell, **extra_factors},
        observations=[_build_observation(row) for row in rows],
        facts={
            **parsed.facts,
            **counted,
            **({CONTRADICTIONS: [entry.to_json() for entry in contradictions]} if contradictions else {}),
            "import": _build_facts(understood, parsed, rows),
        },
        missing=[format_note(note) for note in parsed.missing],
        headlines=list_headline_kinds(
            (
                (row.operation, row.metric)
                for row in rows
                if row.rank is None and row.metric not in doubtful.get(row.operation, ())
            ),
            parsed.headline,
        ),
    )
    if parsed.operations is not None and len(parsed.operations):
        run.operations = parsed.operations
        run.phases = [
            {
                "index": index,
                "name": name,
                "operation": name,
                "recorded_all": True,
                "placed": name not in parsed.unplaced,
                **parsed.phase_facts,
            }
            for index, name in enumerate(parsed.operation_names)
        ]
    return run


def _select_contradictions(parsed: Parsed, rows: Sequence[Row]) -> list[Contradiction]:
    """Return the contradictions of these rows, each once: iterations may break the same rule."""
    settings, operations = {repr(row.factors) for row in rows}, {row.operation for row in rows}
    unique: dict[tuple[str, str, tuple[str, ...]], Contradiction] = {}
    for entry in parsed.contradictions:
        if entry.operation in operations and (entry.factors is None or repr(entry.factors) in settings):
            unique.setdefault((entry.code, entry.operation, entry.metrics), entry)
    return list(unique.values())


def _build_observation(row: Row) -> Observation:
    return Observation(
        row.operation, row.metric, float(row.value), row.unit, row.rank, row.iteration or 0, row.count, row.includes
    )


def _build_facts(understood: Understood, parsed: Parsed, rows: list[Row]) -> dict[str, Any]:
    lines = [row.line for row in rows if row.line]
    return {
        "format": parsed.tool or understood.format,
        "evidence": understood.claim.evidence,
        "also_claimed_by": sorted(understood.others),
        "lines": [min(lines), max(lines)] if lines else None,
        **({"span": list(parsed.span)} if parsed.span else {}),
        "warnings": [format_note(note) for note in parsed.warnings],
    }
