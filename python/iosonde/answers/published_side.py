"""``mean=177.1,low=167.6,high=186.6,n=8,level=0.9``: what a paper prints, as one side of a comparison."""

from __future__ import annotations

from iosonde.core.errors import InputError
from iosonde.stats.estimate.compare import Group, PublishedSummary, published

_KEYS = ("mean", "n", "sd", "low", "high", "level", "kind", "name")
_EXAMPLE = "write mean=177.1,low=167.6,high=186.6,n=8,level=0.9 or mean=177.1,sd=14.2,n=8"


def side_of(text: str, name: str) -> Group:
    """The side that ``text`` describes. Raises InputError naming the key."""
    given: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in _KEYS:
            raise InputError(f"'{part.strip()}' is not understood in the summary", _EXAMPLE)
        given[key] = value
    for key in ("mean", "n"):
        if key not in given:
            raise InputError(f"the summary has no {key}", _EXAMPLE)
    kind, named = given.pop("kind", "t"), given.pop("name", name)
    numbers = {key: _number(key, value) for key, value in given.items()}
    n = numbers.pop("n")
    if n != int(n):
        raise InputError(f"n={n:g} is not a whole number", _EXAMPLE)
    return published(PublishedSummary(named, numbers.pop("mean"), int(n), kind=kind, **numbers))


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{key}={text} is not a number", _EXAMPLE) from None
