"""S206: the clock is too coarse

What it says
    The values come in steps so large that the spread inside a cell cannot be
    seen: a clock or a printout with too few digits.

How we know
    The step is the largest power of ten that all values are multiples of. It
    is too coarse if it is above 1 % of the median, or if in half of the cells
    with 3 or more trials all values are equal.

When it is wrong
    When the value is a small count by nature.

What to do
    Measure longer, print more digits. Standard deviations below the step mean
    nothing.
"""

from __future__ import annotations

import numpy as np

from iosonde.core.types import Finding, Severity

from ..copies import step
from . import Subject, families

CODE = "S206"


def check(subject: Subject) -> list[Finding]:
    """Steps of the values against their size and spread."""
    found = []
    for (operation, metric), cells in families(subject).items():
        values = np.concatenate([cell.values for cell in cells])
        middle, width = float(np.median(np.abs(values))), step(values)
        repeated = [cell for cell in cells if cell.values.size >= 3]
        still = [cell for cell in repeated if np.ptp(cell.values) == 0]
        coarse = middle > 0 and width > 0.01 * middle
        if values.size < 6 or not (coarse or (repeated and 2 * len(still) >= len(repeated))):
            continue
        reason = f"come in steps of {width:g}, {100 * width / middle:.0f} % of their median" if coarse else (
            f"are all equal in {len(still)} of {len(repeated)} cells")  # fmt: skip
        found.append(
            Finding(
                CODE,
                Severity.WARNING,
                f"the values of {operation or metric} {reason}: the spread between trials cannot be seen",
                {"operation": operation, "metric": metric, "step": width, "median": middle, "equal_cells": len(still)},
                "measure longer, or keep more digits",
            )
        )
    return found
