"""S411: slow after so much was done

What it says
    From one slow operation of a rank to the next there are about as many
    others, though not at fixed places: something fills up, is emptied, and
    fills again. Of writes that is write-behind: who passes the limit of dirty
    data waits until some of it is written.

How we know
    The median of the gaps (in operations) is learned from the first half; of
    the second half it is asked how many gaps are within an eighth of it. What
    chance would give (a geometric distribution) is taken off.

When it is wrong
    When slow operations come by the clock and all others take equally long:
    then S402 says it better. An exact period is S401.

What to do
    Half the request size: what fills up does so after as many bytes. Another
    limit (dirty_bytes, max_dirty_mb, a write-behind window): the gap follows
    it.
"""

from __future__ import annotations

import math

import numpy as np

from iosonde.core.units import format_size
from iosonde.core.words import percent

from ..sizes import describe_size
from .target import LEAST, Agreement, Suspect, Target

CODE = "S411"
_PART = 8  # a gap is as long as another one within this part of it
_SHORTEST = 3
_MOST_RANKS = 64


def find(target: Target) -> list[Suspect]:
    """The usual number of operations between slow ones."""
    operations = target.operations
    if not operations.in_order or target.rows.size < 2 * LEAST:
        return []
    gaps = np.concatenate(
        [np.diff(np.flatnonzero(target.slow[begin:end])) for _, begin, end in operations.ranks[:_MOST_RANKS]]
    )
    if gaps.size < 2 * LEAST:
        return []
    usual = int(np.median(gaps[: gaps.size // 2]))
    agreement = _measure_gaps(gaps[gaps.size // 2 :], usual, float(gaps.mean()))
    if usual < _SHORTEST or not agreement.is_significant:
        return []
    amount, size = usual * operations.size, operations.size
    unit = f", {format_size(amount)}{describe_size(amount, operations.units)}" if size else ""
    cause = f"after about {usual} operations" + (f" = {format_size(amount)}" if size else "")
    sentence = (
        f"from one to the next there are about {usual} operations of a rank{unit}: {percent(agreement.recall)} of "
        f"the gaps are so long, within an eighth"
    )
    return [
        Suspect(
            CODE,
            target.place,
            cause,
            sentence,
            agreement,
            "half the request size: what fills up is full after as many bytes; or another limit of dirty data: "
            "the gap follows it",
            {"gap_operations": usual, "gap_bytes": amount, "gaps": int(gaps.size)},
        )
    ]


def _measure_gaps(gaps: np.ndarray, usual: int, mean_gap: float) -> Agreement:
    """The share of the gaps that are as usual, beyond that of a geometric distribution of the same mean."""
    near = max(1, usual // _PART)
    share = float((np.abs(gaps - usual) <= near).mean())
    rate = min(1.0, 1 / mean_gap)
    chance = (1 - rate) ** max(usual - near - 1, 0) - (1 - rate) ** (usual + near)
    spread = math.sqrt(max(chance * (1 - chance), 1e-12) / gaps.size)
    p = math.erfc((share - chance) / spread / math.sqrt(2)) / 2
    return Agreement(share, share, (share - chance) / max(1 - chance, 1e-12), p)
