"""``a=9,b=nfs``: values by name, as people write them."""

from __future__ import annotations

from collections.abc import Iterable

from iosonde.core.errors import InputError

_HINT = "write it as stripe_count=2"


def pair_of(text: str, hint: str = _HINT) -> tuple[str, str]:
    """``A=V`` as (A, V). Raises InputError."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise InputError(f"'{text}' is not NAME=VALUE", hint)
    return name.strip(), value.strip()


def pairs_of(texts: str | Iterable[str], hint: str = _HINT) -> dict[str, str]:
    """``A=V,B=W``, one text or several, as one mapping. Raises InputError, also for a name that comes twice."""
    pairs: dict[str, str] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        for part in text.split(","):
            name, value = pair_of(part, hint)
            if name in pairs:
                raise InputError(f"'{text}': {name} is given twice", "give it once")
            pairs[name] = value
    return pairs
