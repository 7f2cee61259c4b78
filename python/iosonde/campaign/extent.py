"""``quick`` and ``full`` of an experiment file: the same question with less work, or with as much as its source.

Each holds keys of the file, which replace the file's own, and extend ``factors`` and ``lab``, name by name.
"""

from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.yaml_text import Document

QUICK, FULL = "quick", "full"
_JOINED = ("factors", "lab")


def apply_extent(document: Document, quick: bool, full: bool) -> Document:
    """Return the document to be measured. Raises InputError for ``full`` without that key, and for an invalid
    section."""
    if quick and full:
        raise InputError("conflicting-options", "{spell.quick} and {spell.full} exclude each other", "give one of them")
    data = {key: value for key, value in document.data.items() if key not in (QUICK, FULL)}
    if full and FULL not in document.data:
        raise InputError(
            "missing-key",
            "{experiment} does not define {spell.full}",
            "add the key full",
            experiment=document.name or "this",
        )
    places = dict(document.places)
    for part in (QUICK, FULL):
        _check_extent(document, part)
        if part == (QUICK if quick else FULL if full else None):
            for key, value in document.data.get(part, {}).items():
                before = data.get(key)
                joins = key in _JOINED and isinstance(before, dict) and isinstance(value, dict)
                data[key] = {**before, **value} if joins and before is not None else value
            places |= {path[1:]: line for path, line in document.places.items() if path[:1] == (part,) and path[1:]}
    return Document(data, document.name, places, document.text)


def _check_extent(document: Document, part: str) -> None:
    value: Any = document.data.get(part, {})
    if not isinstance(value, dict):
        error = InputError(
            "not-a-mapping",
            "{key}: not keys of an experiment with their values",
            "{key}: {{repetitions: 2}}",
            key=part,
        )
        line = document.place((part,))
        raise error.prefixed(f"{document.name}:{line}") if line else error
