"""What is being measured: experiments that lack trials, who holds their lock, what the ranks say, the newest runs.

The target is not touched: all of it is from the store and from the spool of ranks on this machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from iosonde.core.where import Condition
from iosonde.measure.spools import beats_here
from iosonde.serve.shelf import Shelf, Shelved
from iosonde.store.index_query import IndexedExperiment, IndexedRun, IndexView
from iosonde.store.lock import holder

from .shown import Address, WebPage, rendered

_MOST = 20
_NEWEST = 5
_MOST_BEATS = 32


@dataclass(frozen=True)
class Begun:
    """An experiment that lacks trials. ``process`` measures it here, None where none is known; ``beats``: what its
    ranks said last, in sentences, and how many more there are."""

    shelved: Shelved
    experiment: IndexedExperiment
    process: int | None
    beats: tuple[str, ...]
    more: int
    newest: tuple[IndexedRun, ...]


def page(shelf: Shelf, asked: Address) -> WebPage:
    """``/live``; it is asked again by the browser every few seconds."""
    found = [_begun(shelf, one) for one in shelf.view.begun()[:_MOST]]
    running = [one for one in found if one.process is not None or one.beats]
    rest = [one for one in found if one not in running]
    return rendered("live.html", shelf, asked, "Live", running=running, rest=rest)


def _begun(shelf: Shelf, one: IndexedExperiment) -> Begun:
    shelved = shelf.of(one.store)
    process = holder(shelved.store.path, one.id)
    beats = beats_here(one.id) if process is not None else []
    said = tuple(beat.sentence(time.time()) for beat in beats[:_MOST_BEATS])
    view = IndexView(shelf.index, (one.store,))
    newest = view.runs([Condition("experiment", "=", one.id)], most=_NEWEST).runs if process is not None else ()
    return Begun(shelved, one, process, said, len(beats) - len(said), newest)
