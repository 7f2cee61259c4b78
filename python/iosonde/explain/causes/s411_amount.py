"""S411: slow after a constant amount of work

What it says
    The number of operations of a rank between two slow ones is about
    constant, though not at fixed places: something fills up, is emptied,
    and fills again. For writes this is write-behind: a write beyond the
    limit of dirty data waits until some of it is written.

How we know
    The median of the gaps (in operations) is learned from the first half;
    the test is the share of gaps in the second half within an eighth of it.
    The share by chance (a geometric distribution) is subtracted.

When it is wrong
    When slow operations come by the clock and all others take equally long:
    then S402 describes it better. An exact period is S401.

What to do
    Halve the request size: a buffer fills after as many bytes. Or change
    the limit (dirty_bytes, max_dirty_mb, a write-behind window): the gap
    follows it.
"""

import math

import numpy as np

from iosonde.core.units import format_size
from iosonde.core.words import format_share

from ..sizes import describe_size
from .target import LEAST, Agreement, Suspect, Target

CODE = "S411"
_PART = 8  # gaps within this part of each other count as equal
_SHORTEST = 3
_MOST_RANKS = 64


def find(target: Target) -> list[Suspect]:
    """Find the usual number of operations between slow ones."""
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
        f"between two of them there are about {usual} operations of a rank{unit}: {format_share(agreement.recall)} of "
        "the gaps have this length, within an eighth"
    )
    return [
        Suspect(
            CODE,
            target.place,
            cause,
            sentence,
            agreement,
            "half the request size: a buffer fills after as many bytes; or another limit of dirty data: "
            "the gap follows it",
            {"gap_operations": usual, "gap_bytes": amount, "gaps": int(gaps.size)},
        )
    ]


def _measure_gaps(gaps: np.ndarray, usual: int, mean_gap: float) -> Agreement:
    """Return the share of usual gaps, beyond that of a geometric distribution of the same mean."""
    near = max(1, usual // _PART)
    share = float((np.abs(gaps - usual) <= near).mean())
    rate = min(1.0, 1 / mean_gap)
    chance = (1 - rate) ** max(usual - near - 1, 0) - (1 - rate) ** (usual + near)
    p = math.erfc((share - chance) / math.sqrt(max(chance * (1 - chance), 1e-12) / gaps.size) / math.sqrt(2)) / 2
    return Agreement(share, share, (share - chance) / max(1 - chance, 1e-12), p)
