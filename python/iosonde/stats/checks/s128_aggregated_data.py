"""S128: means instead of measurements

What it says
    The values look like means of several measurements. Means have a smaller
    spread: intervals are too narrow and a regression's R² is too high.

How we know
    From any of these: the column's name says mean, average or median. Or there
    is one row per setting and a column of standard deviations, errors or
    counts. Or there is one row per setting and all values, multiplied by the
    same small number, need a decimal less (a mean of 5 values with 6 decimals
    has a 7th, which is always even).

When it is wrong
    When a tool prints a mean over the operations of one trial: this is a
    single measurement. When a clock counts in steps of 2 or 5 units of the
    last digit.

What to do
    Get the raw values. Until then compare only with the published standard
    deviations and numbers of trials, and do not use the number of rows as the
    number of trials.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.core.types import Finding, Severity

from ..estimate.coarse import ENDLESS, count_decimals
from ..overview.cells import TrialCell
from . import Subject

_CENTERS = frozenset(("mean", "means", "avg", "average", "averaged", "median", "geomean", "hmean"))
_SPREADS = frozenset(("sd", "std", "stdev", "stddev", "stderr", "sem", "ci", "ci95", "cv", "variance", "var"))
_LEAST = 20
_SHARE = 0.95
_FEW = 6  # decimals of a sum whose mean has infinitely many
_MEANS_OF = (2, 3, 5, 6, 7, 9, 11, 12, 13, 14)  # multiples of 10 always need a decimal less


def check(subject: Subject) -> Iterator[Finding]:
    """Report measured columns of a plain table that look like means."""
    if subject.table is None or subject.runs:
        return
    spreads = [name for name, column in subject.table.columns.items() if _split_words(column.label) & _SPREADS]
    for (_, metric), cells in subject.families.items():
        single = max(cell.values.size for cell in cells) == 1
        has_center_name = bool(_split_words(subject.table.column(metric).label) & _CENTERS)
        of = _find_averaged_count(cells) if single else None
        reasons = [f"its name says so ('{metric}')"] if has_center_name else []
        reasons += [f"one row per setting, with a column '{spreads[0]}'"] if single and spreads else []
        reasons += [f"every value times {of} needs a decimal less"] if of else []
        if reasons and metric not in spreads:
            yield Finding(
                "S128",
                Severity.WARNING,
                f"{metric} holds means, not measurements: {'; '.join(reasons)}",
                {"metric": metric, "reasons": reasons, "mean_of": of, "one_row_a_cell": single},
                "get the raw values; the number of rows is not a number of trials",
            )


def _split_words(label: str) -> frozenset[str]:
    return frozenset(re.split(r"[\W_\d]+", label.lower()))


def _find_averaged_count(cells: Sequence[TrialCell]) -> int | None:
    """Return the smallest k for which k·x needs a decimal less than x, for nearly all values with the most decimals.

    Values with fewer decimals (a trailing 0 is not written) are ignored, and so are a few means of another k.
    """
    values = np.unique(np.concatenate([cell.values for cell in cells]))
    own = count_decimals(values)
    longest = next(places for places in range(ENDLESS + 1) if np.mean(own <= places) >= _SHARE)
    informative = values[own == longest]
    if informative.size < _LEAST or longest == 0:
        return None
    enough = _FEW if longest == ENDLESS else longest - 1
    return next((k for k in _MEANS_OF if np.mean(count_decimals(informative * k) <= enough) >= _SHARE), None)
