"""The result type of every check of ``iosonde doctor``."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Ability:
    """A capability of this machine.

    ``needed_for`` names its users, ``cure`` how to get it; ``required``: nothing works without it.
    """

    name: str
    ok: bool
    detail: str
    needed_for: str = ""
    cure: str = ""
    required: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form: name, ok, detail, needed_for, cure, required."""
        return asdict(self)
