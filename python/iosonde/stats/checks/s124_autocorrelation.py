"""S124: trials depend on each other

What it says
    A trial resembles the one before it more than chance allows. The trials
    then tell less than their number: intervals of the mean are too narrow.

How we know
    The correlation of neighbouring trials on ranks inside each cell, over all
    cells of a metric in the order in which they were made (Wald & Wolfowitz
    1943; Bartels 1982), against what permuting the trials inside their cells
    gives, at one in a hundred tables. For a plain table the order is that of
    its dates if it has a column of them, else of its rows. How much an
    interval loses is in docs/method/coverage.md.

When it is wrong
    When the rows were sorted by value before they came here. A drift (S103) is
    seen here too. Below 8 trials nothing is seen.

What to do
    Let more time pass between trials, put the cells in random order within
    blocks (the default of iosonde run), average neighbouring trials into one,
    or use fewer degrees of freedom: the number of independent trials that
    these are worth is in the evidence.
"""

from __future__ import annotations

import numpy as np

from iosonde.core.types import Finding, Severity

from ..estimate.autocorrelation import autocorrelation
from . import FAMILY_ALPHA, Subject

CODE = "S124"
_IN_ORDER = "let more time pass between trials, or put the cells in random order"
_DRAWN = "let more time pass between trials, or average neighbouring ones (their order was random already)"


def check(subject: Subject) -> list[Finding]:
    """Metrics whose neighbouring trials resemble each other."""
    by_kind = subject.families
    findings = []
    for (operation, metric), cells in by_kind.items():
        order = [np.arange(cell.values.size) if cell.rows is None else cell.rows for cell in cells]
        dependence = autocorrelation([cell.values for cell in cells], order)
        if dependence is None or dependence.p >= FAMILY_ALPHA / len(by_kind):
            continue
        findings.append(
            Finding(
                CODE,
                Severity.WARNING,
                f"neighbouring trials of {subject.name(operation, metric)} resemble each other "
                f"(correlation {dependence.lag1:.2f}, "
                f"p={dependence.p:.2g}): {dependence.n} trials are worth about "
                f"{dependence.n * dependence.effective_share:.0f}",
                {
                    "operation": operation,
                    "metric": metric,
                    "lag1": dependence.lag1,
                    "p": dependence.p,
                    "n": dependence.n,
                    "effective_n": dependence.n * dependence.effective_share,
                },
                _DRAWN if subject.is_order_drawn else _IN_ORDER,
            )
        )
    return findings
