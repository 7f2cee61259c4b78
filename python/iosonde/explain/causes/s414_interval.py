"""S414: slow in one interval of the run

What it says
    Nearly all slow operations begin in one interval of the run, and few
    others do. In several trials it is the same interval.

How we know
    The run is cut into 40 parts. Of all intervals of parts with at least 90
    % of the slow operations, the one with the fewest others is taken; at
    most 25 % of the others may be in it. The agreement is that of equally
    many slow and other operations: however rare the slow ones are, it shows
    how well the interval separates them. It is tested by the binomial
    distribution, corrected for all intervals, and holds in at least half of
    the trials. It is looked for where no other finding explains the class.

When it is wrong
    When there is one trial, and the slow operations depend on each other:
    one event then makes one interval anywhere.

What to do
    Look at what happened then: a step of the workload, another job, a timer
    (iosonde plot --kind time). Measure again: an interval that stays
    belongs to the run, one that moves to something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.units import format_rate
from iosonde.core.words import format_share
from iosonde.stats.estimate.distributions import binomial_cdf

from .target import LEAST, Agreement, Suspect, compute_agreement

CODE = "S414"
LEAST_RECALL, MOST_OTHERS = 0.9, 0.25
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class CommonInterval:
    """The ``suspect``, and the number of trials in which the interval has nearly all slow operations, out of the
    trials with any."""

    suspect: Suspect
    n_matching: int
    of: int


def find_common_interval(place: int, runs: Sequence[Array], elapsed_s: Sequence[float]) -> CommonInterval | None:
    """Find the interval that nearly all operations of the class ``place`` share; None without one.

    ``runs``: of each trial, the number of operations by part of its time (rows) and class (columns); ``elapsed_s``:
    the trial's time."""
    slow = np.array([run[:, place] for run in runs], float)
    others = np.array([run.sum(axis=1) for run in runs], float) - slow
    if slow.sum() < LEAST or others.sum() < LEAST:
        return None
    begin, end = _select_interval(slow.sum(axis=0), others.sum(axis=0))
    agreement = _judge_interval(slow, others, begin, end)
    has_slow = slow.sum(axis=1) > 0
    inside = slow[has_slow, begin:end].sum(axis=1) >= LEAST_RECALL * slow[has_slow].sum(axis=1)
    usual = float(others[:, begin:end].sum() / others.sum())
    if not (agreement.is_significant and usual <= MOST_OTHERS and 2 * inside.sum() >= inside.size):
        return None
    shares = begin / slow.shape[1], end / slow.shape[1]
    suspect = _build_suspect(place, agreement, usual, shares, float(np.mean(elapsed_s)))
    return CommonInterval(suspect, int(inside.sum()), int(inside.size))


def _select_interval(slow: Array, others: Array) -> tuple[int, int]:
    """Return (first part, part after the last) of the interval that best separates nearly all slow operations."""
    recall, alarms = (
        np.subtract.outer(sums, sums).T
        for sums in (np.insert(np.cumsum(counts), 0, 0) / counts.sum() for counts in (slow, others))
    )
    best = int(np.argmax(np.where(recall >= LEAST_RECALL, recall - alarms, -1.0)))
    return best // recall.shape[1], best % recall.shape[1]


def _judge_interval(slow: Array, others: Array, begin: int, end: int) -> Agreement:
    parts = slow.shape[1]
    hits, false = float(slow[:, begin:end].sum()), float(others[:, begin:end].sum())
    n_slow, n_other = int(slow.sum()), int(others.sum())
    agreement = compute_agreement(hits, n_slow, false, n_other, n_slow / (n_slow + n_other))
    by_chance = (false + 1) / (n_other + 1)  # the interval was chosen for few others
    p = parts * (parts + 1) / 2 * (1 - binomial_cdf(int(hits) - 1, n_slow, by_chance))
    return replace(agreement, kappa=compute_agreement(hits, n_slow, false, n_other, 0.5).kappa, p=min(1.0, p))


def _build_suspect(
    place: int, agreement: Agreement, usual: float, shares: tuple[float, float], elapsed_s: float
) -> Suspect:
    first, last = (f"{100 * share:.3g} %" for share in shares)
    from_s, to_s = (share * elapsed_s for share in shares)
    when = f"between {first} and {last} of the run"
    sentence = (
        f"{format_share(agreement.recall)} of them begin {when} ({format_rate(from_s, 's')} to "
        f"{format_rate(to_s, 's')}), and {format_share(usual)} of all others"
    )
    return Suspect(
        CODE,
        place,
        when,
        sentence,
        agreement,
        "the same run again: an interval that stays belongs to the run, one that moves to something else",
        {"from_share": shares[0], "to_share": shares[1], "from_s": from_s, "to_s": to_s, "share_of_others": usual},
    )
