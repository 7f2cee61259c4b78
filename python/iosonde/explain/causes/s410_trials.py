"""S410: slow in some trials

What it says
    Most of the slow operations are of some trials, which then consist of them:
    the trials of one setting are not alike.

How we know
    Trials by falling share of slow operations: as many of the first are taken
    as agree most with "slow".

When it is wrong
    When the trials were made at settings that nobody declared: then these are
    factors (S110).

What to do
    Compare the facts of these trials with those of the others: their order,
    the nodes, other load, caches (iosonde show STORE RUN; iosonde check).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iosonde.core.words import listed, percent

from .grouping import which_groups
from .target import LEAST, Suspect

CODE = "S410"
_NAMED = 3


def between(place: int, names: Sequence[str], slow: Sequence[float], every: Sequence[float]) -> list[Suspect]:
    """Of a class with so many ``slow`` of ``every`` operation in each trial."""
    if len(names) < 2 or not LEAST <= sum(slow) < sum(every):
        return []
    made, kept = which_groups(names, np.array(slow), np.array(every))
    if not made.seen:
        return []
    some = kept[:_NAMED] + ([f"{len(kept) - _NAMED} more"] if len(kept) > _NAMED else [])
    which = f"trial{'s' if len(kept) > 1 else ''} {listed(some)}"
    sentence = (
        f"{percent(made.recall)} of them are of {which}, where {percent(made.precision)} of the operations are slow"
    )
    return [Suspect(CODE, place, f"in {which}", sentence, made,
                    "more trials, and their facts beside: what changed between them", {"trials": kept})]  # fmt: skip
