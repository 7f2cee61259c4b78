"""Operations of a helper process whose texts name options."""

from __future__ import annotations

from iosonde.core.errors import InputError
from iosonde.core.message import Message


def refuse() -> None:
    raise InputError("too-many-files", "{spell.max_files} is too small", "raise {spell.max_files}")


def tell() -> dict[str, str]:
    return {"hint": Message("advice", "give {spell.max_files:3}")}


OPERATIONS = {"refuse": refuse, "tell": tell}
