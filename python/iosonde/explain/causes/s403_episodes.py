"""S403: slow in episodes

What it says
    A slow operation is mostly followed by another slow one: they come in
    episodes, and no rule of place or period was found.

How we know
    The share of slow operations after a slow one of the same rank is
    compared with their overall share; the agreement is the part of the way
    to 1.

When it is wrong
    When the level moves slowly across the border of two classes.

What to do
    Look at what else happened at these moments: other jobs, a server that
    paused, a full queue (iosonde plot --kind time; counters of the
    servers).
"""

import numpy as np

from iosonde.core.words import format_count, format_share

from .target import LEAST, Suspect, Target

CODE = "S403"


def find(target: Target) -> list[Suspect]:
    """Test whether the operation before predicts a slow one."""
    operations, slow = target.operations, target.slow
    if not operations.in_order or target.rows.size < LEAST:
        return []
    first = np.array([begin for _, begin, _ in operations.ranks])
    after = target.rows + 1
    after = after[after < slow.size]
    after = after[~np.isin(after, first)]
    agreement = target.judge_rows(after)
    if not agreement.is_significant:
        return []
    episodes = int(target.rows[~np.isin(target.rows, after)].size)
    length = target.rows.size / max(episodes, 1)
    sentence = (
        f"they come in {format_count(episodes, 'episode')} of {length:.3g} operations on average: "
        f"{format_share(agreement.precision)} of those after a slow one are slow"
    )
    return [
        Suspect(
            CODE,
            target.place,
            "episodes",
            sentence,
            agreement,
            "the same run at another time: episodes of other users move",
            {"episodes": episodes, "mean_length": length},
        )
    ]
