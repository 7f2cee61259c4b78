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


def page(shelf: Shelf, address: Address) -> WebPage:
    """``/live``; it is asked again by the browser every few seconds."""
    campaigns = [_begun(shelf, experiment) for experiment in shelf.view.begun()[:_MOST]]
    running = [campaign for campaign in campaigns if campaign.process is not None or campaign.beats]
    rest = [entry for entry in campaigns if entry not in running]
    return rendered("live.html", shelf, address, "Live", running=running, rest=rest)


def _begun(shelf: Shelf, experiment: IndexedExperiment) -> Begun:
    shelved = shelf.of(experiment.store)
    process = holder(shelved.store.path, experiment.id)
    beats = beats_here(experiment.id) if process is not None else []
    sentences = tuple(beat.sentence(time.time()) for beat in beats[:_MOST_BEATS])
    view = IndexView(shelf.index, (experiment.store,))
    newest = view.runs([Condition("experiment", "=", experiment.id)], most=_NEWEST).runs if process is not None else ()
    return Begun(shelved, experiment, process, sentences, len(beats) - len(sentences), newest)
