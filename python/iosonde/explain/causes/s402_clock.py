"""S402: slow at regular moments

What it says
    Slow operations come at equal distances in time, whatever the operations
    in between: something else runs by the clock.

How we know
    The autocorrelation of the number of slow operations in parts of the
    time gives the period, refined to the best agreement of the phases. Then
    either the slow moments of a period are learned from one half of the
    operations and judged on the other. Or the first operation of a rank
    after each moment (or the one under way then) is expected to be slow.
    The better rule is reported.

When it is wrong
    When the operations themselves have a period and all take equally long:
    then S401 describes it better. Periods below 8 steps of the clock of the
    record (fio logs whole milliseconds) are not looked for.

What to do
    Look for what has this period: the write-back of dirty pages (5 s, 30
    s), a journal's commit (5 s), keep-alives, a monitoring agent, another
    job that takes locks.
"""

from collections.abc import Iterator

import numpy as np

from iosonde.core.units import format_rate
from iosonde.core.words import format_share

from ..folding import compute_phases, find_best_slots_of_period, list_candidate_periods
from .target import LEAST, Agreement, Suspect, Target

CODE = "S402"
_BINS, _SLOTS = 4096, 32
_SOON = 8  # part of a period, at most
_LONGEST_USUAL, _USUAL_ONES = 0.99, 1.5
_OPERATIONS = 4  # in a period, at least: with fewer a period in time and one in operations look alike
_CLOCK_STEPS = 8  # of the clock of the record in a period, at least: below, its own steps look like a cause
_EDGE = 0.01  # share of the phases that lie before a moment


def find(target: Target) -> list[Suspect]:
    """Find the period of the moments at which slow operations begin."""
    operations = target.operations
    if not operations.comparable or target.rows.size < LEAST or operations.elapsed_ns <= 0:
        return []
    agreement, length = max(_iter_periods(target), key=lambda candidate: candidate[0].kappa, default=(None, 0.0))
    if agreement is None or not agreement.is_significant:
        return []
    every = format_rate(length / 1e9, "s")
    sentence = (
        f"they begin at regular moments, every {every}: {format_share(agreement.recall)} of them do, and "
        f"{format_share(agreement.precision)} of those that begin then are slow"
    )
    return [
        Suspect(
            CODE,
            target.place,
            f"every {every} by the clock",
            sentence,
            agreement,
            "a longer run, and one with pauses: a clock keeps its period",
            {"period_s": length / 1e9},
        )
    ]


def _iter_periods(target: Target) -> Iterator[tuple[Agreement, float]]:
    """Return the agreement of each candidate period (ns)."""
    starts, elapsed = target.operations.start_ns[target.some_slow], target.operations.elapsed_ns
    apart = elapsed * len(target.operations.ranks) / target.operations.start_ns.size
    for length in list_candidate_periods(starts, elapsed):
        if length < max(_OPERATIONS * apart, _CLOCK_STEPS * target.operations.clock_step_ns):
            continue
        for agreement in (_fold_starts(target, length), *_judge_operations_after_moments(target, length)):
            yield agreement, length


def _fold_starts(target: Target, length: float) -> Agreement:
    slow, others = (np.sort(target.operations.start_ns[rows]) for rows in (target.some_slow, target.some_others))
    slots = [((starts / length) % 1.0 * _SLOTS).astype(np.intp) for starts in (slow, others)]
    return find_best_slots_of_period(slots[0], slots[1], _SLOTS, target.prevalence, _BINS).agreement


def _judge_operations_after_moments(target: Target, length: float) -> list[Agreement]:
    """Judge the operations that begin first after each moment, within a usual operation, and those under way then.
    Later ones are unrelated to the clock: moments of a filling buffer vary by more than that."""
    operations = target.operations
    early = float(np.nanquantile(compute_phases(operations.start_ns[target.some_slow], length), _EDGE))
    moments = (early % 1.0 + np.arange(-1, int(operations.elapsed_ns / length) + 1)) * length
    usual = float(np.quantile(operations.duration_ns[target.some_others], _LONGEST_USUAL))
    begun, soon = [], min(length / _SOON, _USUAL_ONES * usual + length / _BINS)
    for _, begin, end in operations.ranks:
        starts = operations.start_ns[begin:end]
        at = np.searchsorted(starts, moments)
        inside = at < starts.size
        at = at[inside]
        begun.append(begin + np.unique(at[starts[at] - moments[inside] < soon]))
    after = np.concatenate(begun)
    return [target.judge_rows(after, _BINS), target.judge_rows(np.maximum(after - 1, 0), _BINS)]
