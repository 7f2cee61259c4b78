"""A published result as one side of a comparison: ``mean=177.1,low=167.6,high=186.6,n=8,level=0.9``."""

from __future__ import annotations

from collections.abc import Mapping

from iosonde.core.errors import InputError
from iosonde.stats.estimate.compare import Group
from iosonde.stats.estimate.published import PublishedSummary, published

_KEYS = ("mean", "n", "sd", "low", "high", "level", "kind", "name")
EXAMPLE = "write mean=177.1,low=167.6,high=186.6,n=8,level=0.9 or mean=177.1,sd=14.2,n=8"


def side_of(texts: Mapping[str, str], name: str) -> Group:
    """Return the side given by ``texts``, by key. Raises InputError naming the key."""
    for key, value in texts.items():
        if key not in _KEYS:
            raise InputError(
                "invalid-option-value",
                "'{key}={entry}' is not understood in the summary",
                EXAMPLE,
                key=key,
                entry=value,
            )
    for key in ("mean", "n"):
        if key not in texts:
            raise InputError("missing-key", "the summary has no {key}", EXAMPLE, key=key)
    words = {"kind": "t", "name": name, **texts}
    kind, label = words.pop("kind"), words.pop("name")
    numbers = {key: _number(key, value) for key, value in words.items()}
    n = numbers.pop("n")
    if n != int(n):
        raise InputError("not-an-integer", "n={n:g} is not a whole number", EXAMPLE, n=n)
    return published(PublishedSummary(label, numbers.pop("mean"), int(n), kind=kind, **numbers))


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("not-a-number", "{key}={number} is not a number", EXAMPLE, key=key, number=text) from None
