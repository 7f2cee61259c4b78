"""The JSON Schema of experiment files, as an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ExperimentSchema:
    """The JSON Schema of experiment files, for editors and other tools."""

    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the schema."""
        schema: dict[str, Any] = json.loads(self.text)
        return schema

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each key of a file."""
        return [{"key": key} for key in self.to_dict()["properties"]]


def schema_lines(schema: ExperimentSchema) -> Iterator[str]:
    """Return the lines of its text, as it is."""
    yield from schema.text.splitlines()
