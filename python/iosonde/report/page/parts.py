"""What several figures of a page say alike, their marks, axes and tooltips, stands in it once.

Such a part is named where it was by ``{"$part": number}``; the page's script puts it back. Rows stay where they are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

REFERENCE = "$part"
_LEAST = 40  # characters: shorter ones are hardly longer than their name
_DATA = {"values", "data", "layer"}  # an object with such a key holds rows


def share(specs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """(parts, the specifications with references to them)."""
    counts: Counter[str] = Counter()
    parts: dict[str, Any] = {}

    def count_part(text: str, part: Any) -> Any:
        counts[text] += 1
        if counts[text] == 1:
            return None
        parts[text] = part
        return part  # as it is: what is in it counts with its first occurrence

    for spec in specs.values():
        _replace_parts(spec, count_part)
    numbers = {text: number for number, text in enumerate(parts)}

    def refer_part(text: str, _: Any) -> Any:
        return {REFERENCE: numbers[text]} if text in numbers else None

    return list(parts.values()), {place: _replace_parts(spec, refer_part) for place, spec in specs.items()}


def _replace_parts(value: Any, replace: Callable[[str, Any], Any], row: bool = False) -> Any:
    """``value`` with every long text, and every object that neither is a row nor holds any, as ``replace`` gives it;
    where that is None, what is in the object is looked at."""
    if isinstance(value, (list, tuple)):
        return [_replace_parts(item, replace, row) for item in value]
    is_shareable = isinstance(value, str) or (isinstance(value, Mapping) and not row and not _DATA & value.keys())
    text = json.dumps(value) if is_shareable else ""
    shared_part = replace(text, value) if len(text) >= _LEAST else None
    if shared_part is not None or not isinstance(value, Mapping):
        return value if shared_part is None else shared_part
    return {key: _replace_parts(item, replace, row or key == "values") for key, item in value.items()}
