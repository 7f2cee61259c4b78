"""S205: neighbouring trials are alike

What it says
    A trial resembles the one before it: the trials are not independent, and
    intervals that take them for so are too narrow.

How we know
    Inside every cell each trial's deviation from the cell's mean is multiplied
    with its neighbour's; the sum over all cells is held against 2000 random
    orders inside the cells (a permutation test, fixed seed, one-sided). A
    correlation below 0.1 is too small to matter.

When it is wrong
    A drift (S103) makes neighbours alike too: then that is the finding to
    follow. For a plain table the order is that of its rows.

What to do
    Let more time pass between trials, randomise their order, or take blocks of
    neighbours as one trial.
"""

from __future__ import annotations

from iosonde.core.types import Finding, Severity

from ..trend import neighbour_correlation
from . import FAMILY_ALPHA, Subject, families

CODE = "S205"
LEAST = 4
LEAST_CORRELATION = 0.1


def check(subject: Subject) -> list[Finding]:
    """Neighbours' products against random orders."""
    found, by_kind = [], families(subject)
    for (operation, metric), cells in by_kind.items():
        correlation, p = neighbour_correlation([cell.values for cell in cells if cell.values.size >= LEAST])
        if correlation < LEAST_CORRELATION or p >= max(FAMILY_ALPHA / len(by_kind), 1 / 2000):
            continue
        found.append(
            Finding(
                CODE,
                Severity.WARNING,
                f"neighbouring trials of {operation or metric} are alike (correlation {correlation:.2f}, p={p:.2g}): "
                "intervals are too narrow",
                {"operation": operation, "metric": metric, "correlation": correlation, "p": p},
                "randomise the order of trials, or leave more time between them",
            )
        )
    return found
