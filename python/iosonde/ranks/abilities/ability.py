"""What a check found out: the word that ``iosonde doctor`` and every check share."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Ability:
    """One thing that this machine can or cannot do.

    ``needed_for`` says what would miss it, ``cure`` how to get it; ``required``: nothing works without it.
    """

    name: str
    ok: bool
    detail: str
    needed_for: str = ""
    cure: str = ""
    required: bool = False

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form: name, ok, detail, needed_for, cure, required."""
        return asdict(self)
