"""Measurements in progress: experiments with missing trials, holders of their locks, states of the ranks, newest runs.

The target is not accessed: all data is from the store and from the spool of ranks on this machine.
"""

import time
from dataclasses import dataclass

from iosonde.core.where import Condition
from iosonde.measure.spools import read_local_beats
from iosonde.serve.shelf import Shelf, Shelved
from iosonde.store.index_query import IndexedExperiment, IndexedRun, IndexView
from iosonde.store.lock import find_lock_holder

from .web_page import Address, WebPage, render_page

_MOST = 20
_NEWEST = 5
_MOST_BEATS = 32


@dataclass(frozen=True)
class Begun:
    """An experiment with missing trials. ``process`` measures it here, None if unknown. ``beats`` are the last states
    of its ranks as sentences, ``more`` the number of others."""

    shelved: Shelved
    experiment: IndexedExperiment
    process: int | None
    beats: tuple[str, ...]
    more: int
    newest: tuple[IndexedRun, ...]


def render_live_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/live``, which the browser reloads every few seconds."""
    campaigns = [_describe_active_campaign(shelf, experiment) for experiment in shelf.view.begun()[:_MOST]]
    running = [campaign for campaign in campaigns if campaign.process is not None or campaign.beats]
    rest = [entry for entry in campaigns if entry not in running]
    return render_page("live.html", shelf, address, "Live", running=running, rest=rest)


def _describe_active_campaign(shelf: Shelf, experiment: IndexedExperiment) -> Begun:
    shelved = shelf.of(experiment.store)
    process = find_lock_holder(shelved.store.path, experiment.id)
    beats = read_local_beats(experiment.id) if process is not None else []
    sentences = tuple(beat.sentence(time.time()) for beat in beats[:_MOST_BEATS])
    view = IndexView(shelf.index, (experiment.store,))
    newest = view.runs([Condition("experiment", "=", experiment.id)], most=_NEWEST).runs if process is not None else ()
    return Begun(shelved, experiment, process, sentences, len(beats) - len(sentences), newest)
