"""Deduplication of what several figures of a page share: marks, axes and tooltips.
A shared part is replaced by ``{"$part": number}``; the page's script restores it. Rows of data stay in place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

REFERENCE = "$part"
_LEAST = 40  # characters: shorter parts are hardly longer than a reference
_DATA = {"values", "data", "layer"}  # an object with such a key holds rows


def share(specs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return (shared parts, the specifications with references to them)."""
    counts: Counter[str] = Counter()
    parts: dict[str, Any] = {}

    def count_part(text: str, part: Any) -> Any:
        counts[text] += 1
        if counts[text] == 1:
            return None
        parts[text] = part
        return part  # do not descend: its content was counted at its first occurrence

    for spec in specs.values():
        _replace_parts(spec, count_part)
    numbers = {text: number for number, text in enumerate(parts)}

    def refer_part(text: str, _: Any) -> Any:
        return {REFERENCE: numbers[text]} if text in numbers else None

    return list(parts.values()), {place: _replace_parts(spec, refer_part) for place, spec in specs.items()}


def _replace_parts(value: Any, replace: Callable[[str, Any], Any], row: bool = False) -> Any:
    """Replace every long text, and every object without rows, by the result of ``replace``.
    If that is None, descend into the object.
    """
    if isinstance(value, (list, tuple)):
        return [_replace_parts(item, replace, row) for item in value]
    is_shareable = isinstance(value, str) or (isinstance(value, Mapping) and not row and not _DATA & value.keys())
    text = json.dumps(value) if is_shareable else ""
    shared_part = replace(text, value) if len(text) >= _LEAST else None
    if shared_part is not None or not isinstance(value, Mapping):
        return value if shared_part is None else shared_part
    return {key: _replace_parts(item, replace, row or key == "values") for key, item in value.items()}
