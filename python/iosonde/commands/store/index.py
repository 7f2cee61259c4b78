"""Index of many runs, refreshed from their stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.store import Store
from iosonde.store.index import Index, Refreshed


@dataclass(frozen=True)
class StoresIndexed(Answer):
    """Changes of the index, store by store. ``problem``: runs are damaged."""

    stores: tuple[tuple[str, Refreshed], ...]

    @property
    def problem(self) -> bool:
        """Return whether a run could not be read."""
        return any(refresh.unread for _, refresh in self.stores)

    def content(self) -> dict[str, Any]:
        """As ``iosonde store index --json``."""
        return {"stores": self.records()}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per store."""
        return [
            {"store": name, "added": refresh.added, "dropped": refresh.dropped, "unread": refresh.unread}
            for name, refresh in self.stores
        ]


def index_stores(names: Sequence[str], into: str = "") -> StoresIndexed:
    """Index every run of these stores; ``into``: the address of a PostgreSQL database, '' is the file in the user's
    cache. Raises InputError, DataError if a name is not a store, SystemFaultError if the database cannot be used."""
    stores = [(name, Store.open(name)) for name in names]
    index = Index.at(into)
    try:
        return StoresIndexed(tuple((name, index.refresh(store, thorough=True)) for name, store in stores))
    finally:
        index.close()
