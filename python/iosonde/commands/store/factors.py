"""Factors that imported runs received from the paths of their files: shown, named and dropped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.ingest.stored_paths import StoredPaths, factor_to_json, name_and_drop
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
    """Name and drop factors of a store, and return those that it has then. Raises InputError, DataError."""
    pairs = [text.partition("=") for text in names]
    for text, (part, equal, new) in zip(names, pairs, strict=True):
        if not equal or not part or not new:
            raise InputError("invalid-pair", "'{text}' is not PART=NAME", "write it like dir1=system", text=text)
    return StoreFactors(name, name_and_drop(Store.open(name), {part: new for part, _, new in pairs}, dropped))
