"""S204: missing or unequal cells

What it says
    Some combinations of levels were never measured, or the cells hold
    different numbers of trials. Effects then mix: a mean over the rows of one
    level is over another mix of the other factors.

How we know
    By counting. A table in which less than half of all combinations occur is
    not taken for a grid, and only its unequal numbers are said.

When it is wrong
    When the combinations that lack make no sense (a buffer size where
    buffering is off).

What to do
    Measure what lacks, or compare inside cells only (--by), with anova's sums
    of squares of type II.
"""

from __future__ import annotations

from math import prod

from iosonde.core.types import Finding, Severity

from . import Subject, families

CODE = "S204"


def check(subject: Subject) -> list[Finding]:
    """Combinations that lack, numbers that differ."""
    found = []
    for (operation, metric), cells in families(subject).items():
        levels = {name: {cell.by[name] for cell in cells} for name in cells[0].by}
        possible = prod(len(known) for known in levels.values())
        sizes = [cell.values.size for cell in cells]
        absent = possible - len(cells) if 2 * len(cells) >= possible else 0
        said = []
        if absent:
            said.append(f"{absent} of {possible} combinations of {', '.join(levels)} were never measured")
        if min(sizes) < max(sizes):
            said.append(f"the cells hold {min(sizes)} to {max(sizes)} trials")
        if said:
            found.append(
                Finding(
                    CODE,
                    Severity.INFO,
                    f"{operation or metric}: {'; '.join(said)}",
                    {
                        "operation": operation,
                        "metric": metric,
                        "absent": absent,
                        "possible": possible,
                        "fewest": min(sizes),
                        "most": max(sizes),
                    },
                    "measure what lacks, or compare inside cells only",
                )  # fmt: skip
            )
    return found
