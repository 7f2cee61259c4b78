"""S409: all ranks wait at the same moments

What it says
    The slow operations of different ranks fall on the same moments: all
    ranks wait for one thing. A server that paused, a lock, a journal's
    commit, a switch.

How we know
    A rank is expected to wait when operations of at least half of the other
    ranks are slow at the same moment. Agreement is measured in the ranks'
    time; at least five such moments are needed.

When it is wrong
    When ranks start operations in step by themselves and each is slow by
    its own number (a period in operations): then S401 reports it as well.

What to do
    Look at the servers at these moments (iosonde plot --kind time). Try
    fewer ranks, or a file for each: this removes a lock on a shared file.
"""

import numpy as np

from iosonde.core.words import format_share

from .target import LEAST, Suspect, Target, compute_agreement

CODE = "S409"
_MOST_BINS = 200_000
_PARTS = 8  # of a usual slow operation
_LEAST_MOMENTS = 5
_MOST_RANKS = 256


def find(target: Target) -> list[Suspect]:
    """Test whether the other ranks predict when a rank is slow."""
    operations, ranks = target.operations, target.operations.ranks
    if not operations.comparable or not 2 <= len(ranks) <= _MOST_RANKS or target.rows.size < LEAST:
        return []
    usual = float(np.median(operations.duration_ns[target.some_slow]))
    width = max(usual / _PARTS, operations.elapsed_ns / _MOST_BINS, 1.0)
    bins = int(operations.elapsed_ns / width) + 2
    waiting = np.zeros((len(ranks), bins), bool)
    for place, (_, begin, end) in enumerate(ranks):
        rows = begin + np.flatnonzero(target.slow[begin:end])
        start, took = operations.start_ns[rows], operations.duration_ns[rows].astype(np.int64)
        first = np.ceil(start / width).astype(np.intp)  # bins that are wholly inside
        after = np.maximum(((start + took) / width).astype(np.intp), first)
        edges = np.bincount(first, minlength=bins + 1) - np.bincount(after, minlength=bins + 1)
        waiting[place] = np.cumsum(edges)[:bins] > 0
    together = waiting.sum(axis=0)
    expected = 2 * (together - waiting) >= len(ranks) - 1
    weight = target.rows.size / max(1, int(waiting.sum()))  # parts of the time are not independent operations
    n_other = int(weight * (waiting.size - waiting.sum()))
    hits, false = weight * int((waiting & expected).sum()), weight * int((expected & ~waiting).sum())
    score = compute_agreement(hits, target.rows.size, false, n_other, float(waiting.mean()))
    moments = int((np.diff((2 * together >= len(ranks)).astype(np.int8), prepend=0) == 1).sum())
    if not score.is_significant or moments < _LEAST_MOMENTS:
        return []
    sentence = (
        f"in {format_share(score.recall)} of the ranks' waiting time at least half of the other ranks "
        f"wait too ({moments:,} moments); in {format_share(score.precision)} of such time "
        "the remaining ranks do"
    )
    return [
        Suspect(
            CODE,
            target.place,
            "all ranks wait together",
            sentence,
            score,
            "fewer ranks, or a file for each rank: stalls of a lock go away, those of "
            f"{'the disk' if operations.local else 'a server'} stay",
            {"moments": moments, "ranks": len(ranks)},
        )
    ]
