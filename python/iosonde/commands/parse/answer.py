"""Importers' interpretation of other tools' output, without storing it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.core.errors import DataError, InputError
from iosonde.importers import Text, Understood, understand
from iosonde.importers.columns import understand_columns
from iosonde.importers.columns_map import ColumnsMap, read_map
from iosonde.importers.registry import build_no_result_error
from iosonde.ingest.temporary_stores import read_text


@dataclass(frozen=True)
class Parse(Answer):
    """A file: its ``text`` and the interpretation ``understood``."""

    text: Text
    understood: Understood

    @property
    def error(self) -> DataError | None:
        """Return the error of a file without any result; None if it has one."""
        return build_no_result_error(self.text.name, self.understood)

    def content(self) -> dict[str, Any]:
        """As ``iosonde parse FILE --json``."""
        interpretation, claim = self.understood, self.understood.claim
        return {
            "file": self.text.name,
            "format": interpretation.format,
            "tool_version": interpretation.tool_version,
            "complete": all(not run.missing for run in interpretation.runs),
            "evidence": {"line": claim.line, "text": claim.evidence, "score": claim.score},
            "also_claimed_by": {
                name: {"line": other.line, "score": other.score} for name, other in interpretation.others.items()
            },
            "runs": [
                {
                    "tool_version": run.version,
                    "started_at": run.started_at,
                    "complete": not run.missing,
                    "missing": [note.sentence for note in run.missing],
                    "factors": run.factors,
                    "facts": run.facts,
                    "operations": None if run.operations is None else len(run.operations),
                }
                for run in interpretation.runs
            ],
            "results": list(self._iterate_results()),
            "warnings": [
                {
                    "line": note.line,
                    "sentence": note.sentence,
                    "missing": any(note in run.missing for run in interpretation.runs),
                }
                for note in interpretation.warnings
            ],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per number, with its factors and its line."""
        return [{**build_level_columns(row.pop("factors"), row), **row} for row in self._iterate_results()]

    def _iterate_results(self) -> Iterator[dict[str, Any]]:
        return (
            {
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
            for index, run in enumerate(self.understood.runs)
            for row in run.rows
        )


@dataclass(frozen=True)
class NotUnderstood(Answer):
    """A file of no known tool, and the reason."""

    name: str
    error: DataError

    def content(self) -> dict[str, Any]:
        """Return the same keys as a Parse."""
        return {
            "file": self.name,
            "format": None,
            "tool_version": "",
            "complete": False,
            "evidence": None,
            "also_claimed_by": {},
            "runs": [],
            "results": [],
            "warnings": [{"line": 0, "sentence": self.error.message, "missing": True}],
        }


@dataclass(frozen=True)
class Parses(Answer):
    """Several files, in the given order; the JSON of a single one is its own."""

    files: tuple[Parse | NotUnderstood, ...]

    def content(self) -> dict[str, Any]:
        """As ``iosonde parse FILE… --json``."""
        if len(self.files) == 1:
            return self.files[0].content()
        return {"files": [file.to_dict() for file in self.files]}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per number."""
        return [
            {"file": file.text.name, **row} for file in self.files if isinstance(file, Parse) for row in file.records()
        ]

    @property
    def errors(self) -> list[DataError]:
        """Return the errors of files that were not understood, or hold no result."""
        return [error for file in self.files if (error := file.error)]


def parse(
    name: str, form: str | None = None, stdin: BinaryIO | None = None, columns: str | Path | None = None
) -> Parse | NotUnderstood:
    """Parse one file, or ``-`` for ``stdin``. ``form``: read it as this tool's output; ``columns``: by the map in this
    file. Raises InputError if it cannot be read."""
    by = read_columns_map(columns, form)
    try:
        text = read_text(name, stdin)
        return Parse(text, understand_columns(text, by) if by else understand(text, form))
    except DataError as error:
        return NotUnderstood(name, error)


def read_columns_map(columns: str | Path | None, form: str | None = None) -> ColumnsMap | None:
    """Read the map in a file; None without a file. Raises InputError, also if ``form`` names a tool."""
    if columns is not None and form is not None:
        raise InputError(
            "conflicting-options",
            "a file is read by a map of its columns or as a tool's output",
            "leave {spell.format} out",
        )
    return None if columns is None else read_map(columns)
