"""Suspected changes: significant by this look alone, not yet over all looks; and how many values would settle them.

A store is looked at every day. The 5 % of false alarms of a year leave little for one look, so that a change that is
plain to see waits for nights. One that is significant by this look alone, over all series, is a suspicion: as every
look may raise it, it is no alarm.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array

from .find import Break, Search, find_break, search_newest
from .places import locate
from .pooled import Pool, find_changes_together

_LEAST = 3  # values after a suspected change
# A look searches segments of several lengths, so that p of one look is about half of what it should be (simulations in
# docs/method/watching.md). Over a year of looks it is not, as its looks are alike.
_LOOKS = 2
MOST = 60  # further values that are tried


@dataclass(frozen=True)
class Suspicion:
    """A suspected change of a series. ``p``: by this look alone. ``remaining``: further values at the level after it
    that make it significant over all looks by itself; None if ``MOST`` do not."""

    change: Break
    remaining: int | None


def find_suspected(
    series: Sequence[Array], pools: Sequence[Pool], breaks: Sequence[Sequence[Break]], search: Search
) -> list[Suspicion | None]:
    """Return the suspicion among the newest values of each series, if there is one. ``breaks``: its changes; a drift
    that goes on explains its newest values."""
    look = replace(search, looks=_LOOKS, least=min(_LEAST, search.least))
    limit = search.rate / max(1, len(series))
    newest = find_changes_together(series, pools, look, search_newest)
    return [
        _build_suspicion(values, candidates, changes, search, limit)
        for values, candidates, changes in zip(series, newest, breaks, strict=True)
    ]


def _build_suspicion(
    values: Array, candidates: Sequence[Break], changes: Sequence[Break], search: Search, limit: float
) -> Suspicion | None:
    begin = max((change.end if change.is_drift else change.last for change in changes), default=0)
    first_new = max(begin + 1, values.size - search.newest)
    new = [candidate for candidate in candidates if candidate.at >= first_new and candidate.first > begin]
    if not new:
        return None
    change = locate(values, min(new, key=lambda candidate: candidate.p))
    start = max((other.at for other in changes), default=0)
    return Suspicion(change, _count_remaining(values[start:], change.at - start, search, limit))


def _count_remaining(values: Array, at: int, search: Search, limit: float) -> int | None:
    """Return how many further values are needed if the values since ``at`` come again in turn."""
    after = values[at:]
    for more in range(1, MOST + 1):
        longer = np.concatenate([values, np.resize(after, more)])
        change = find_break(longer, 0, longer.size, search)
        if change and change.p <= limit and change.first <= at <= change.last:
            return more
    return None
