"""Operations whose rate on few nodes and on many is not of the same thing: one over the other is no efficiency."""

from __future__ import annotations

from collections.abc import Sequence

from .shared_reads import without_the_writer
from .stored import StoredRun
from .wire import SERVED_BY_CACHE
from .words import listed


def without_efficiency(runs: Sequence[StoredRun]) -> tuple[set[str], tuple[str, ...]]:
    """(operations of which there is none in these runs, why)."""
    apart, of_the_writer = without_the_writer(runs)
    served, of_caches = _served_in_some(runs)
    return apart | served, tuple(said for said in (of_the_writer, of_caches) if said)


def _served_in_some(runs: Sequence[StoredRun]) -> tuple[set[str], str]:
    """Those that a client's cache served in some trials and servers in others."""
    states: dict[str, set[bool]] = {}
    for run in runs:
        for phase in run.phases if run.counts else ():
            if state := phase.cache.get("state"):
                states.setdefault(phase.operation, set()).add(state == SERVED_BY_CACHE)
    mixed = [operation for operation, both in states.items() if len(both) > 1]
    if not mixed:
        return set(), ""
    why = "no efficiency. In some trials a client's cache served it, in others servers did"
    return set(mixed), f"{listed(mixed)}: {why}"
