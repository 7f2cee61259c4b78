"""S402: slow at regular moments

What it says
    Slow operations come at equal distances in time, whatever was done
    meanwhile: something else runs by the clock.

How we know
    The autocorrelation of the number of slow operations in 4096 parts of the
    time gives the period; folded by it, the moments are learned from one half
    of the operations and judged on the other.

When it is wrong
    When the operations themselves have a period and all take as long: then
    S401 says so, and better.

What to do
    Look for what has this period: the write-back of dirty pages (5 s, 30 s), a
    journal's commit (5 s), keep-alives, a monitoring agent, another job.
"""

from __future__ import annotations

import numpy as np

from iosonde.core.units import format_rate
from iosonde.core.words import percent

from ..folding import PeriodFold, fold, period
from .target import LEAST, Suspect, Target

CODE = "S402"
_BINS, _SLOTS = 4096, 32


def find(target: Target) -> list[Suspect]:
    """The period of the moments at which slow operations begin."""
    operations = target.operations
    if not operations.comparable or target.rows.size < LEAST or operations.elapsed_ns <= 0:
        return []
    width = operations.elapsed_ns / _BINS
    bins = np.minimum((operations.start_ns[target.rows] / width).astype(np.intp), _BINS - 1)
    steps = period(np.minimum(np.bincount(bins, minlength=_BINS), 3).astype(float))
    if steps is None or steps < 3:
        return []
    slow, others = (np.sort(operations.start_ns[rows]) for rows in (target.some_slow, target.some_others))
    best = max((_folded(target, slow, others, length)
                for length in np.linspace(steps - 0.5, steps + 0.5, 21) * width),
               key=lambda one: one[0].agreement.kappa)  # fmt: skip
    made, length = best
    if not made.agreement.seen:
        return []
    every = format_rate(length / 1e9, "s")
    sentence = (f"they begin at regular moments, every {every}: {percent(made.agreement.recall)} of them do, and "
                f"{percent(made.agreement.precision)} of what begins then is slow")  # fmt: skip
    return [Suspect(CODE, target.place, f"every {every} by the clock", sentence, made.agreement,
                    "a longer run, and one with pauses: what goes by the clock keeps its period",
                    {"period_s": length / 1e9})]  # fmt: skip


def _folded(target: Target, slow: np.ndarray, others: np.ndarray, length: float) -> tuple[PeriodFold, float]:
    slots = [((one / length) % 1.0 * _SLOTS).astype(np.intp) for one in (slow, others)]
    return fold(slots[0], slots[1], _SLOTS, target.prevalence, _BINS), length
