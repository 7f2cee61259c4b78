"""A table in a .json or .yaml: a list of records, also a nested one, a mapping of columns, or a record a line."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.table import Table

from .raw_rows import RawRows, build_table_from_rows


def parse_json(content: bytes, name: str) -> Table | None:
    """Return the table in a JSON document; None if it holds no list of records and no columns of equal length. Raises
    DataError."""
    return _build_table(_list_records(_load(content, name)), name)


def parse_yaml(content: bytes, name: str) -> Table | None:
    """Return the table in a YAML document, as of JSON; its values stay as they are written (5.10). Raises DataError."""
    import yaml

    try:
        nodes = list(yaml.compose_all(content.decode("utf-8-sig"), Loader=yaml.SafeLoader))
        documents = [_convert_node(node, set()) for node in nodes]
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise _build_error(name, error) from error
    return _build_table(_list_records(documents if len(documents) > 1 else documents[0] if documents else None), name)


def _convert_node(node: Any, visited: set[int]) -> Any:
    """Return a node of YAML as mappings, lists and texts. Raises ValueError for one that is used again: such documents
    can be larger than any memory."""
    if id(node) in visited:
        raise ValueError("aliases (*name) are not supported")
    visited.add(id(node))
    if isinstance(getattr(node, "value", None), str):
        return node.value
    items = node.value if node is not None else []
    if node is not None and node.id == "mapping":
        return {str(key.value): _convert_node(value, visited) for key, value in items}
    return [_convert_node(item, visited) for item in items]


def _build_table(records: Sequence[dict[str, Any]], name: str) -> Table | None:
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
        raise _build_error(name, error) from error


def _build_error(name: str, reason: Exception) -> DataError:
    return DataError(
        "unreadable-file", "cannot read {path}: {reason}", "check that it is complete", path=name, reason=reason
    )


def _list_records(document: Any) -> list[dict[str, Any]]:
    """Return the records of a document; none if it is no table of plain values."""
    document = _name_cells(document)
    if isinstance(document, dict):
        document = _turn_columns(document) or _find_nested_list(document)
    if isinstance(document, list) and all(isinstance(record, dict) for record in document):
        document = _flatten_records(document)
    are_records = isinstance(document, list) and all(isinstance(record, dict) for record in document)
    is_plain = are_records and not any(isinstance(cell, dict | list) for record in document for cell in record.values())
    return document if is_plain and any(document) else []


def _name_cells(document: Any) -> Any:
    """Return the records of ``[["fs", "MB/s"], ["xfs", 99.5], …]``, and of ``{"columns": […], "data": [[…], …]}`` as
    pandas splits a table; any other document as it is."""
    if isinstance(document, dict) and isinstance(document.get("columns"), list):
        document = [document["columns"], *(document.get("data") or [])]
    are_rows = isinstance(document, list) and len(document) > 1 and all(isinstance(row, list) for row in document)
    if not are_rows or not all(isinstance(name, str) for name in document[0]):
        return document
    names = document[0]
    is_complete = len(set(names)) == len(names) and all(len(row) == len(names) for row in document)
    return [dict(zip(names, row, strict=True)) for row in document[1:]] if is_complete else document


def _find_nested_list(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the only list of records in a document, with the plain values around it in each; else none."""
    around = {key: value for key, value in document.items() if not isinstance(value, dict | list)}
    lists = [
        records
        for value in document.values()
        if (records := _find_nested_list(value) if isinstance(value, dict) else value)
        and isinstance(records, list)
        and len(records) > 1
        and all(isinstance(record, dict) for record in records)
    ]
    return [around | record for record in lists[0]] if len(lists) == 1 else []


def _flatten_records(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records with the values of nested ones, by their last key where it is unique, else by all keys."""
    flat = [dict(_iterate_values(record, ())) for record in records]
    paths = dict.fromkeys(path for record in flat for path in record)
    lasts = Counter(path[-1] for path in paths)
    names = {path: path[-1] if lasts[path[-1]] == 1 else ".".join(path) for path in paths}
    return [{names[path]: value for path, value in record.items()} for record in flat]


def _iterate_values(record: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _iterate_values(value, (*path, str(key)))
        else:
            yield (*path, str(key)), value


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
