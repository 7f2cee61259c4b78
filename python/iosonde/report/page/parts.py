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
    seen: Counter[str] = Counter()
    parts: dict[str, Any] = {}

    def count(text: str, part: Any) -> Any:
        seen[text] += 1
        if seen[text] == 1:
            return None
        parts[text] = part
        return part  # as it is: what is in it counts with its first occurrence

    for spec in specs.values():
        _replaced(spec, count)
    numbers = {text: number for number, text in enumerate(parts)}

    def refer(text: str, _: Any) -> Any:
        return {REFERENCE: numbers[text]} if text in numbers else None

    return list(parts.values()), {place: _replaced(spec, refer) for place, spec in specs.items()}


def _replaced(value: Any, replace: Callable[[str, Any], Any], row: bool = False) -> Any:
    """``value`` with every long text, and every object that neither is a row nor holds any, as ``replace`` gives it;
    where that is None, what is in the object is looked at."""
    if isinstance(value, (list, tuple)):
        return [_replaced(item, replace, row) for item in value]
    whole = isinstance(value, str) or (isinstance(value, Mapping) and not row and not _DATA & value.keys())
    text = json.dumps(value) if whole else ""
    made = replace(text, value) if len(text) >= _LEAST else None
    if made is not None or not isinstance(value, Mapping):
        return value if made is None else made
    return {key: _replaced(item, replace, row or key == "values") for key, item in value.items()}
