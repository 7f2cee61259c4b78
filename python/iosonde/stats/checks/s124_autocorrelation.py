"""S124: autocorrelated trials

What it says
    A trial resembles the one before it more than chance allows. The trials are
    then worth fewer independent ones: intervals of the mean are too narrow.

How we know
    The rank correlation of neighbouring trials inside each cell, over all
    cells of a metric in the order of measurement (Wald & Wolfowitz 1943;
    Bartels 1982). It is compared with permutations of the trials inside their
    cells, at one false alarm in a hundred tables. For a plain table the order
    is that of a column of dates if there is one, else that of its rows.
    docs/method/coverage.md shows how much coverage an interval loses.

When it is wrong
    When the rows were sorted by value before. A drift (S103) is reported here,
    too. With fewer than 8 trials nothing is detected.

What to do
    Let more time pass between trials, put the cells in random order within
    blocks (the default of iosonde run), average neighbouring trials into one,
    or use fewer degrees of freedom: the evidence has the equivalent number of
    independent trials.
"""

from collections.abc import Iterator

import numpy as np

from iosonde.core.types import Finding, Severity

from ..estimate.autocorrelation import estimate_autocorrelation
from . import FAMILY_ALPHA, Subject

_IN_ORDER = "let more time pass between trials, or put the cells in random order"
_DRAWN = "let more time pass between trials, or average neighbouring ones (their order was random already)"


def check(subject: Subject) -> Iterator[Finding]:
    """Report metrics whose neighbouring trials resemble each other."""
    by_kind = subject.finest_families
    for (operation, metric), cells in by_kind.items():
        dependence = estimate_autocorrelation(
            [cell.values for cell in cells],
            [np.arange(cell.values.size) if cell.rows is None else cell.rows for cell in cells],
        )
        if dependence is None or dependence.p >= FAMILY_ALPHA / len(by_kind):
            continue
        yield Finding(
            "S124",
            Severity.WARNING,
            f"neighbouring trials of {subject.name(operation, metric)} resemble each other "
            f"(correlation {dependence.lag1:.2f}, "
            f"p={dependence.p:.2g}): {dependence.n} trials are worth about "
            f"{dependence.n * dependence.independent_share:.0f}",
            {
                "operation": operation,
                "metric": metric,
                "lag1": dependence.lag1,
                "p": dependence.p,
                "n": dependence.n,
                "effective_n": dependence.n * dependence.independent_share,
            },
            _DRAWN if subject.is_order_drawn else _IN_ORDER,
        )
