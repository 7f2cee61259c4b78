"""A table in a .json: a list of records, a mapping of columns, or a record a line."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.table import Table

from .raw_rows import RawRows, build_table_from_rows


def parse_json(content: bytes, name: str) -> Table | None:
    """Return the table in a JSON document; None if it holds no list of records and no columns of equal length. Raises
    DataError."""
    records = _list_records(_load(content, name))
    if not records:
        return None
    names = list(dict.fromkeys(key for record in records for key in record))
    rows = [[_format_value(record.get(key)) for key in names] for record in records]
    table = build_table_from_rows(RawRows(name, [names, *rows], list(range(len(rows) + 1))))
    return replace(table, lines=None)  # a record has no line


def _load(content: bytes, name: str) -> Any:
    try:
        text = content.decode("utf-8-sig")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        are_lines = len(lines) > 1 and all(line[0] + line[-1] == "{}" for line in lines)
        return [json.loads(line) for line in lines] if are_lines else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            "unreadable-file", "cannot read {path}: {reason}", "check that it is complete", path=name, reason=error
        ) from error


def _list_records(document: Any) -> list[dict[str, Any]]:
    """Return the records of a document; none if it is no table of plain values."""
    if isinstance(document, dict):
        document = _turn_columns(document)
    are_records = isinstance(document, list) and all(isinstance(record, dict) for record in document)
    is_plain = are_records and not any(isinstance(cell, dict | list) for record in document for cell in record.values())
    return document if is_plain and any(document) else []


def _turn_columns(columns: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the records of ``{"fs": ["nfs", …], …}``, or of pandas' ``{"fs": {"0": "nfs", …}, …}``."""
    if all(isinstance(column, dict) for column in columns.values()):
        columns = {name: list(column.values()) for name, column in columns.items()}
    are_alike = all(isinstance(column, list) for column in columns.values())
    if not are_alike or len({len(column) for column in columns.values()}) != 1:
        return []
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _format_value(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
