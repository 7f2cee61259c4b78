"""S401: slow at the same places of a period

What it says
    Operations at the same places of a period are slow: every n-th operation
    of a rank, or several in a row. If the access is sequential the period
    is a number of bytes, which suggests a unit of that size: a read-ahead
    window, a request (RPC), a stripe, an extent.

How we know
    The autocorrelation of "slow" over the operations of a rank gives the
    shortest period. The slow places within it are learned from one half of
    the operations and judged on the other.

When it is wrong
    When the workload itself has a period (every tenth operation goes to
    another file): then that is the cause.

What to do
    Change the size of a request: a unit in bytes keeps its bytes, one in
    operations its number. Or change the unit (read-ahead, rsize, stripe)
    and see whether the period follows.
"""

from collections.abc import Sequence

import numpy as np

from iosonde.core.units import format_size
from iosonde.core.words import format_share

from ..folding import LONGEST, PeriodFold, find_best_slots_of_period, find_shortest_period
from ..sizes import describe_size
from .target import LEAST, Suspect, Target

CODE = "S401"
_MOST_RANKS = 4
_IN_BYTES = (
    "half the request size: a unit in bytes doubles the period in operations; or another read-ahead, rsize or stripe: "
    "the period follows it"
)


def find(target: Target) -> list[Suspect]:
    """Find the period in the operations of the ranks with most slow ones."""
    operations = target.operations
    if not operations.in_order or target.rows.size < LEAST:
        return []
    folds = [
        rank_fold
        for begin, end in _select_slow_ranks(target)
        if (rank_fold := _fold_rank(target, begin, end)) is not None
    ]
    same = [candidate for candidate in folds if candidate.of == folds[0].of and candidate.agreement.is_significant]
    return [] if not same or 2 * len(same) < len(folds) else [_build_suspect(target, same)]


def _select_slow_ranks(target: Target) -> Sequence[tuple[int, int]]:
    """Return the rows of the ranks with most slow operations."""
    by_slow = sorted(target.operations.ranks, key=lambda entry: -int(target.slow[entry[1] : entry[2]].sum()))
    return [(begin, end) for _, begin, end in by_slow[:_MOST_RANKS]]


def _fold_rank(target: Target, begin: int, end: int) -> PeriodFold | None:
    slow = target.slow[begin : min(end, begin + LONGEST)]
    if slow.sum() < LEAST or slow.all():
        return None
    steps = find_shortest_period(slow.astype(float))
    if steps is None:
        return None
    place = np.arange(slow.size) % steps
    return find_best_slots_of_period(place[slow], place[~slow], steps, float(slow.mean()), steps)


def _build_suspect(target: Target, same: Sequence[PeriodFold]) -> Suspect:
    first, operations = same[0], target.operations
    many = len(first.slots)
    evidence = {"period_operations": first.of, "slow_operations": many, "ranks_seen": len(same)}
    cause, unit = f"every {first.of} operations", ""
    if operations.sequential:
        period_bytes, part = first.of * operations.size, first.runs * operations.size
        evidence |= {"period_bytes": period_bytes, "slow_bytes": many * operations.size}
        cause += f" = {format_size(period_bytes)}"
        unit = f", {format_size(period_bytes)}{describe_size(period_bytes, operations.units)}"
        if first.runs > 1:
            unit += f", {format_size(part)}{describe_size(part, operations.units)} of it in a row"
    sentence = (
        f"{many} of every {first.of} operations of a rank{unit}: {format_share(first.agreement.recall)} of them are "
        f"there, and {format_share(first.agreement.precision)} of the operations there are slow"
    )
    confirm = _IN_BYTES if unit else "another order of operations: the period goes with it"
    return Suspect(CODE, target.place, cause, sentence, first.agreement, confirm, evidence)
