"""Names of factors that an experiment file speaks of, whether or not they are measured: a part of it leaves some out,
and so does a real system in place of its labs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_EXTENTS = ("quick", "full")
_NO_WORDS = ("set", "levels", "profile")  # of a lab, of which a list makes no factor


def declared_names(data: Mapping[str, Any]) -> frozenset[str]:
    """Of a file as it was read, checked or not: its factors, those of its labs, and the words of its labs, of which a
    list makes a factor; in each of its extents."""
    return frozenset(
        name for part in (data, *(data.get(extent) for extent in _EXTENTS)) for name in _iter_names(_to_mapping(part))
    )


def name_of_word(word: str) -> str:
    """The factor that a list makes of a word of a lab, or of an option of its file system: that is its last word."""
    return word.rpartition(".")[2].replace("-", "_")


def _iter_names(part: Mapping[str, Any]) -> Iterator[str]:
    yield from _to_mapping(part.get("factors"))
    lab = _to_mapping(part.get("lab"))
    yield from _to_mapping(lab.get("levels"))
    meant = [
        _to_mapping(level)
        for levels in _to_mapping(lab.get("levels")).values()
        for level in _to_mapping(levels).values()
    ]
    for words in (lab, *meant):
        yield from map(
            name_of_word, (*(word for word in words if word not in _NO_WORDS), *_to_mapping(words.get("set")))
        )


def _to_mapping(value: Any) -> Mapping[str, Any]:
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}
