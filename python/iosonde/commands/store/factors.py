"""Factors that imported runs received from the paths of their files: shown, named and dropped; levels renamed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.ingest.stored_paths import RenamedLevel, StoredPaths, factor_to_json
from iosonde.ingest.stored_paths import change_factors as change_stored_factors
from iosonde.store import Store


@dataclass(frozen=True)
class StoreFactors(Answer):
    """The factors that runs of a store received later, and the parts of paths that count as repetitions."""

    name: str
    paths: StoredPaths

    def content(self) -> dict[str, Any]:
        """As ``iosonde store factors --json``."""
        return {
            "factors": self.records(),
            "path_repetitions": self.paths.to_dict()["path_repetitions"],
            "dropped": list(self.paths.dropped),
            "pooled": [factor_to_json(factor) for factor in self.paths.pending],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per factor; ``named``: the user named it."""
        candidates = [{**factor_to_json(factor), "named": False} for factor in self.paths.candidates]
        return [*candidates, *({**factor_to_json(factor), "named": True} for factor in self.paths.confirmed)]


def change_factors(name: str, names: Sequence[str], dropped: Sequence[str]) -> StoreFactors:
    """Name and drop factors of a store, rename their levels, and return those that it has then. Raises InputError,
    DataError."""
    parts: dict[str, str] = {}
    renamed: list[RenamedLevel] = []
    for text in names:
        left, equal, new = text.rpartition("=") if _is_level(text) else text.partition("=")
        if not equal or not left or not new:
            raise InputError(
                "invalid-pair",
                "'{text}' is not PART=NAME or FACTOR:LEVEL=LEVEL",
                "write it like dir1=system, or system:Beta=beta",
                text=text,
            )
        if _is_level(text):
            factor, _, old = left.partition(":")
            renamed.append(RenamedLevel(factor, old, new))
        else:
            parts[left] = new
    return StoreFactors(name, change_stored_factors(Store.open(name), parts, dropped, renamed))


def _is_level(text: str) -> bool:
    """Return whether a pair is about a level: names of parts and factors have no colon."""
    return ":" in text.partition("=")[0]
