"""S101: too few repetitions

What it says
    Some cells have fewer trials than an interval of the median needs (6 at 95
    %), or only one trial at all.

How we know
    With n trials the smallest and the largest enclose the median with
    probability 1 - 2·0.5ⁿ: 93.75 % for 5 trials, 96.9 % for 6. A single trial
    shows no spread: the next value cannot be predicted.

When it is wrong
    When each trial is itself a long average of a process known to be steady.
    Even then the spread between trials is usually larger than the spread
    within one, and only repetitions show it.

What to do
    Measure again with {spell.repetitions:6} or more (the same command continues
    where it ended), or request a half-width with {spell.until:'ci<5%'}.
"""

from iosonde.core.types import Finding, Severity

from ..estimate.summarise import compute_least_n_for_median
from . import MAX_LISTED, Subject, format_some_names


def check(subject: Subject) -> list[Finding]:
    """Cells with fewer trials than the median's interval needs."""
    least = compute_least_n_for_median(subject.level)
    few = [cell for cell in subject.cells if cell.n < least]
    if not few:
        return []
    fewest = min(cell.n for cell in few)
    every = len(few) == len(subject.cells)
    names = [cell.name for cell in (few[:MAX_LISTED] if every else few)]
    which = "all cells have" if every else f"{len(few)} of {len(subject.cells)} cells have"
    listing = "" if every else f": {format_some_names(list(dict.fromkeys(names)))}"
    return [
        Finding(
            "S101",
            Severity.WARNING,
            f"{which} fewer than {least} trials (the fewest: {fewest}){listing}",
            {"needed": least, "fewest": fewest, "cells": names[:MAX_LISTED], "n_cells": len(few)},
            f"measure at least {least} trials of every cell",
        )
    ]
