"""``a=9,b=nfs``: values by name, as people write them."""

from __future__ import annotations

from iosonde.core.errors import InputError


def pair_of(text: str) -> tuple[str, str]:
    """``A=V`` as (A, V). Raises InputError."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise InputError(f"'{text}' is not NAME=VALUE", "write it as stripe_count=2")
    return name.strip(), value.strip()


def pairs_of(text: str) -> dict[str, str]:
    """``A=V,B=W`` as a mapping. Raises InputError."""
    pairs = [pair_of(part) for part in text.split(",")]
    for name, _ in pairs:
        if [other for other, _ in pairs].count(name) > 1:
            raise InputError(f"'{text}' names {name} twice", "give one value for each column")
    return dict(pairs)
