"""S129: the first trial differs

What it says
    The first trial of the cells is the slowest (or the fastest) of its cell
    more often than chance allows: a cold cache, a mount, a connection, a clock
    that speeds up. The later trials then measure a warmed-up system.

How we know
    In a cell of n trials without such an effect, the first is the lowest with
    probability 1/n. The cells of a metric in which the first trial is the
    lowest, or the highest, are counted (Poisson-binomial, one false alarm in a
    hundred tables). A single cell of a few trials is not enough.

When it is wrong
    When the first row of a cell is not its first trial in time.

What to do
    Decide which state to measure. For a cold system make every trial cold
    ({spell.cache:cold}); for a warm one discard a first trial on purpose, in every
    cell, and report that.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.core.types import Finding, Severity

from . import FAMILY_ALPHA, MAX_LISTED, Subject


def check(subject: Subject) -> Iterator[Finding]:
    """Report metrics whose first trial is an extreme one too often."""
    by_kind = subject.finest_families
    for (operation, metric), cells in by_kind.items():
        used = [cell for cell in cells if cell.values.size >= 3 and np.unique(cell.values).size == cell.values.size]
        chances = [1 / cell.values.size for cell in used]
        for way, extreme in (("lowest", np.argmin), ("highest", np.argmax)):
            hit = [cell for cell in used if extreme(cell.values) == 0]
            p = compute_p_at_least(len(hit), chances)
            if p >= FAMILY_ALPHA / 2 / len(by_kind):
                continue
            change = float(np.median([cell.values[0] / np.median(cell.values[1:]) - 1 for cell in hit]))
            yield Finding(
                "S129",
                Severity.WARNING,
                f"the first trial of {subject.name(operation, metric)} is the {way} in "
                f"{len(hit)} of {len(used)} cells (by {100 * abs(change):.0f} %, p={p:.2g})",
                {
                    "operation": operation,
                    "metric": metric,
                    "way": way,
                    "n_cells": len(hit),
                    "of_cells": len(used),
                    "p": p,
                    "relative_change": change,
                    "cells": list(dict.fromkeys(cell.name for cell in hit))[:MAX_LISTED],
                },
                "make every trial cold, or discard the first one of every cell on purpose",
            )


def compute_p_at_least(count: int, chances: Sequence[float]) -> float:
    """Return P(at least ``count`` of independent events with these chances)."""
    exactly = np.ones(1)
    for chance in chances:
        exactly = np.convolve(exactly, [1 - chance, chance])
    return float(min(1.0, exactly[count:].sum()))
