"""The displayed stores, and the index of their runs, updated in parallel with requests."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.core.errors import InputError, IosondeError
from iosonde.core.where import Condition
from iosonde.store import Store
from iosonde.store.decisions import locate_decisions
from iosonde.store.files import read_file_state
from iosonde.store.index import Index, Refreshed
from iosonde.store.index_query import IndexView

from .answer_cache import AnswerCache

_LOOK_EVERY_S = 5.0
_MAX_PAGES = 16  # slow pages in the cache


@dataclass(frozen=True)
class Shelved:
    """A store: ``name`` for people, ``place`` its number in an address, ``number`` that of the index."""

    name: str
    place: int
    store: Store
    number: int


@dataclass
class State:
    """Progress of a store's index: ``done`` of ``total`` new runs read; ``trouble`` is the reason if it
    is unreadable."""

    done: int = 0
    total: int = 0
    looked: bool = False
    trouble: str = ""


@dataclass
class Shelf:
    """All displayed stores. Only ``look`` writes, and only to the index, which is outside the stores."""

    stores: tuple[Shelved, ...]
    index: Index
    answers: AnswerCache
    states: dict[int, State] = field(default_factory=dict)
    changes: int = 0
    _pages: OrderedDict[tuple[object, ...], bytes] = field(default_factory=OrderedDict)
    _page_lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def view(self) -> IndexView:
        """The index of all stores."""
        return IndexView(self.index, tuple(store.number for store in self.stores))

    def at(self, place: str) -> Shelved:
        """Return the store with this number in an address. Raises InputError."""
        matches = [store for store in self.stores if str(store.place) == place]
        if not matches:
            raise InputError("unknown-store", "unknown store", "known: 1 to {n_stores}", n_stores=len(self.stores))
        return matches[0]

    def of(self, number: int) -> Shelved:
        """Return the store with this number in the index."""
        return next(store for store in self.stores if store.number == number)

    def narrowed(self, place: str) -> IndexView:
        """Return the index of one store, or of all if none is named. Raises InputError."""
        return IndexView(self.index, (self.at(place).number,)) if place else self.view

    def part(self, shelved: Shelved, where: Sequence[Condition], most: int) -> tuple[Store, int]:
        """Return a view of the store with only the newest ``most`` runs that fulfil the conditions, and their total
        number. Raises InputError."""
        view = IndexView(self.index, (shelved.number,))
        return shelved.store.part([run for _, run in view.ids(where, most)]), view.runs(where, most=0).total

    def look(self, thorough: bool = False) -> None:
        """Update the index from every store."""
        for store in self.stores:
            self.look_at(store, thorough)

    def look_at(self, shelved: Shelved, thorough: bool = False) -> None:
        """Update the index from one store. If it is unreadable, the reason is kept for the pages."""
        state = self.states.setdefault(shelved.number, State())

        def say(done: int, total: int) -> None:
            state.done, state.total = done, total

        try:
            refreshed = self.index.refresh(shelved.store, thorough or not state.looked, say)
            state.trouble = ""
        except (IosondeError, OSError) as error:
            refreshed, state.trouble = Refreshed(), getattr(error, "message", str(error))
        state.done = state.total = 0
        state.looked = True
        self.changes += refreshed != Refreshed()

    def look_until(
        self, shelved: Shelved, ended: threading.Event, prepare: Callable[[Shelved], None] = lambda shelved: None
    ) -> None:
        """Update every few seconds; each store has its own thread, as one may be slow, or hang. ``prepare`` is called
        after the first look and after every change."""
        prepared_changes = None
        while not ended.is_set():
            self.look_at(shelved)
            if self.changes != prepared_changes:
                prepared_changes = self.changes
                prepare(shelved)
            ended.wait(_LOOK_EVERY_S)

    def once(self, address: str, make: Callable[[], bytes]) -> bytes:
        """Return a slow page from the cache, or render it, one at a time; a change of a store, or of the decisions on
        its history, invalidates it."""
        with self._page_lock:
            decisions = tuple(read_file_state(locate_decisions(shelved.store.path)) for shelved in self.stores)
            key = (address, self.changes, decisions)
            if key not in self._pages:
                page = make()
                self._pages[key] = page
                while len(self._pages) > _MAX_PAGES:
                    self._pages.popitem(last=False)
            self._pages.move_to_end(key)
            return self._pages[key]


def open_shelf(paths: Sequence[str], index: Index) -> Shelf:
    """Open the stores, each with a unique name. Raises InputError, DataError."""
    stores = [Store.open(path) for path in paths]
    names = [Path(path).resolve().name or str(path) for path in paths]
    called = [name if names.count(name) == 1 else str(path) for name, path in zip(names, paths, strict=True)]
    shelved = [
        Shelved(name, place, store, index.number(store))
        for place, (name, store) in enumerate(zip(called, stores, strict=True), 1)
    ]
    if len({entry.number for entry in shelved}) < len(shelved):
        raise InputError("duplicate-store", "duplicate store", "name each once")
    return Shelf(tuple(shelved), index, AnswerCache(index.path.parent / "answers" if index.path else None))
