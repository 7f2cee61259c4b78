"""S404: slow from or until a moment

What it says
    Before (or after) one moment nearly all operations are slow. From a
    moment on: a buffer is full (write-behind up to a limit of dirty data, a
    device's cache). Until a moment: something was warmed up.

How we know
    The run is cut at 200 moments; the cut that agrees most with "slow" is
    taken.

When it is wrong
    When something else began or ended at that moment: another user, a
    throttle, a frequency governor.

What to do
    Write (or read) less, or more: a limit in bytes keeps its bytes. Measure
    both parts separately, and report which one is meant.
"""

import numpy as np

from iosonde.core.units import format_rate, format_size
from iosonde.core.words import format_share

from .target import LEAST, Agreement, Suspect, Target, compute_agreement

CODE = "S404"
_CUTS = 200


def find(target: Target) -> list[Suspect]:
    """Find the cut of the time that agrees best with the slow operations."""
    operations = target.operations
    if target.rows.size < LEAST or operations.elapsed_ns <= 0:
        return []
    width = operations.elapsed_ns / _CUTS
    slow, others = (
        np.bincount(np.minimum((operations.start_ns[rows] / width).astype(np.intp), _CUTS - 1), minlength=_CUTS)
        for rows in (target.some_slow, target.some_others)
    )
    best: tuple[Agreement, bool, float] | None = None
    for late in (True, False):
        before = [np.cumsum(counts)[:-1] for counts in (slow, others)]
        hits, false = (
            (counts.sum() - early) if late else early for counts, early in zip((slow, others), before, strict=True)
        )
        for cut in range(_CUTS - 1):
            score = compute_agreement(
                int(hits[cut]), int(slow.sum()), int(false[cut]), int(others.sum()), target.prevalence, 2 * _CUTS
            )
            if best is None or score.kappa > best[0].kappa:
                best = score, late, (cut + 1) * width
    return [] if best is None or not best[0].is_significant else [_build_suspect(target, *best)]


def _build_suspect(target: Target, agreement: Agreement, late: bool, moment: float) -> Suspect:
    operations = target.operations
    done = round(float((operations.start_ns < moment).sum()) * operations.stand_for)
    after = format_rate(moment / 1e9, "s")
    moved = f" ({format_size(done * operations.size)} by all ranks)" if operations.size else ""
    when = f"from {after}{moved} on" if late else f"until {after}{moved}"
    sentence = (
        f"{format_share(agreement.recall)} of them are {when}, where {format_share(agreement.precision)} of the "
        "operations are slow"
    )
    units = "bytes" if operations.size else "operations"
    more = "twice the data" if operations.size else "twice as many"
    confirm = (
        f"{more}: a full buffer shows after as many {units}, a clock after as many seconds"
        if late
        else "the same data again: it is warm then"
    )
    return Suspect(
        CODE,
        target.place,
        when,
        sentence,
        agreement,
        confirm,
        {"moment_s": moment / 1e9, "operations_before": done, "bytes_before": done * operations.size, "late": late},
    )
