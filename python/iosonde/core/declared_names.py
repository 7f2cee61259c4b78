"""Names of the factors in an experiment file, measured or not. A part of the file, or a real system in place of its
labs, leaves some out."""

from collections.abc import Iterator, Mapping
from typing import Any

_EXTENTS = ("quick", "full")
_NO_WORDS = ("set", "levels", "profile")  # keys of a lab that never become a factor


def collect_declared_names(data: Mapping[str, Any]) -> frozenset[str]:
    """Return the factors of a file as it was read, checked or not, in each of its extents: its own, those of its labs,
    and each lab option that a list would make a factor."""
    return frozenset(
        name for part in (data, *(data.get(extent) for extent in _EXTENTS)) for name in _iter_names(_to_mapping(part))
    )


def factor_name_from_word(word: str) -> str:
    """Return the name of the factor that a list makes of an option of a lab or its file system: the last word."""
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
            factor_name_from_word, (*(word for word in words if word not in _NO_WORDS), *_to_mapping(words.get("set")))
        )


def _to_mapping(value: Any) -> Mapping[str, Any]:
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}
