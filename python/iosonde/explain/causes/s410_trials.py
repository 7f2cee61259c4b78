"""S410: slow in some trials

What it says
    Most of the slow operations are in a few trials, which mostly consist of
    them: the trials of one setting are not alike.

How we know
    Trials are sorted by falling share of slow operations; as many of the
    first are taken as agree most with "slow".

When it is wrong
    When the trials differ in undeclared settings: then these are factors
    (S110).

What to do
    Compare the facts of these trials with those of the others: their order,
    the nodes, other load, caches (iosonde show STORE RUN; iosonde check).
"""

from collections.abc import Sequence

import numpy as np

from iosonde.core.words import format_share, join_names

from .target import LEAST, Suspect, select_groups_with_slow

CODE = "S410"
_MAX_LISTED = 3


def find_suspect_trials(
    place: int, names: Sequence[str], slow: Sequence[float], every: Sequence[float]
) -> list[Suspect]:
    """Compare the trials of a class with ``slow`` of ``every`` operation in each."""
    if len(names) < 2 or not LEAST <= sum(slow) < sum(every):
        return []
    agreement, members = select_groups_with_slow(names, np.array(slow), np.array(every))
    if not agreement.is_significant:
        return []
    some = members[:_MAX_LISTED] + ([f"{len(members) - _MAX_LISTED} more"] if len(members) > _MAX_LISTED else [])
    which = f"trial{'s' if len(members) > 1 else ''} {join_names(some)}"
    sentence = (
        f"{format_share(agreement.recall)} of them are in {which}, where {format_share(agreement.precision)} of the "
        "operations are slow"
    )
    return [
        Suspect(
            CODE,
            place,
            f"in {which}",
            sentence,
            agreement,
            "more trials, with their facts: what changed between them",
            {"trials": members},
        )
    ]
