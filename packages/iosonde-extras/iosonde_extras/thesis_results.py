"""Reader of the results file that ``iosonde.core.many_task`` describes."""

import json
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.json_integers import parse_json_integer


def read(path: Path) -> dict[int, dict[str, Any]]:
    """Read a results file, ours or the thesis's, by node count. Raises DataError that says where it is invalid."""
    try:
        content = json.loads(path.read_text("utf-8"), parse_int=parse_json_integer)
    except OSError as error:
        raise DataError(
            "unreadable-file",
            "cannot read {path}: {reason}",
            "name a results file or a store",
            path=path,
            reason=error.strerror,
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(
            "invalid-json",
            "{path} is not JSON: {error}",
            "iosonde show STORE --thesis-json writes one",
            path=path,
            error=error,
        ) from error
    if isinstance(content, dict) and isinstance(content.get("results"), dict):
        content = content["results"]
    if not isinstance(content, dict) or not content:
        raise DataError(
            "no-results",
            "{path} holds no results by node count",
            "iosonde show STORE --thesis-json writes such a file",
            path=path,
        )
    return {_parse_node_count(path, key): _check_entry(path, key, entry) for key, entry in content.items()}


def _parse_node_count(path: Path, key: str) -> int:
    if not key.isdecimal() or int(key) < 1:
        raise DataError(
            "invalid-number",
            "{path}: '{key}' is not a number of nodes",
            "the keys are node counts: 1, 2, 4, …",
            path=path,
            key=key,
        )
    return int(key)


def _check_entry(path: Path, key: str, entry: Any) -> dict[str, Any]:
    totals = [entry] if isinstance(entry, dict) else []
    totals += entry.get("repetitions", []) if totals and isinstance(entry.get("repetitions", []), list) else []
    well = bool(totals)
    for repetition in totals:
        total = repetition.get("total") if isinstance(repetition, dict) else None
        well = well and isinstance(total, dict) and all(_is_number(value) for value in total.values())
    if not well or not isinstance(entry, dict):
        raise DataError(
            "missing-key",
            "{path}: {key}: 'total' with numbers is missing",
            'write {{"total": {{"reader": 123}}, …}}',
            path=path,
            key=key,
        )
    return entry


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
