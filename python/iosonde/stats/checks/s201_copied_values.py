"""S201: copied values

What it says
    Values occur several times, to the last digit, more often than rounding
    explains: rows were pasted twice, or measured once and written down for
    several settings.

How we know
    Pairs of equal values are counted and held against the number that chance
    gives, known from the step that the values come in and how many pairs of
    values are near each other (Poisson, 1 in 10 000).

When it is wrong
    When a cap or a time limit gives the same number again and again, or the
    value is a count.

What to do
    Find the original rows and drop the copies: they make intervals too narrow
    and every validation too good.
"""

from __future__ import annotations

import numpy as np

from iosonde.core.types import Finding, Severity

from ..copies import expected_ties, step, ties
from . import Subject, families

CODE = "S201"
ALPHA = 1e-4


def check(subject: Subject) -> list[Finding]:
    """More equal values than rounding explains."""
    from scipy.special import pdtrc

    found = []
    for (operation, metric), cells in families(subject).items():
        values = np.concatenate([cell.values for cell in cells])
        equal, width = ties(values), step(values)
        by_chance = expected_ties(values, width) + 1e-3
        if equal < 2 or pdtrc(equal - 1, by_chance) >= ALPHA or np.unique(values).size < 3:
            continue
        counts = np.unique(values, return_counts=True)[1]
        n_rows = int(counts[counts > 1].sum())
        found.append(
            Finding(
                CODE,
                Severity.WARNING,
                f"{n_rows} of {values.size} values of {operation or metric} occur more than once to the last digit "
                f"({equal} equal pairs, {by_chance:.1f} expected by rounding)",
                {
                    "operation": operation,
                    "metric": metric,
                    "n_rows": n_rows,
                    "pairs": equal,
                    "expected": by_chance,
                    "step": width,
                },
                "find the original rows and drop the copies",
            )  # fmt: skip
        )
    return found
