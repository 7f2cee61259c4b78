"""S109: two modes

What it says
    The trials of a cell fall into two groups. Their mean is then a value that
    the system never shows.

How we know
    The best split of the sorted trials explains more of their sum of squares
    (Engelman & Hartigan 1969) than even a flat population with one mode lets
    expect once in a hundred tables, for the values and for their logs. Each
    group holds at least a fifth of the trials. Below 10 trials two modes
    cannot be seen.

When it is wrong
    When a slow drift makes the first half of the trials differ from the
    second: then S103 says so too.

What to do
    Find the factor that switches (which server, which path, NUMA, cache hit or
    miss, power state) and make it a factor, or report both groups with their
    shares instead of one mean.
"""

from __future__ import annotations

from iosonde.core.types import Finding, Severity
from iosonde.core.units import significant

from ..estimate.modes import two_modes
from . import FAMILY_ALPHA, SHOWN, Subject

CODE = "S109"


def check(subject: Subject) -> list[Finding]:
    """Cells whose trials fall into two groups."""
    tested = [(cell, two_modes(cell.values)) for cell in subject.repeated]
    seen = [(cell, split) for cell, split in tested if split is not None]
    split_cells = [(cell, split) for cell, split in seen if split.p < max(FAMILY_ALPHA / len(seen), 1 / 10_000)]
    if not split_cells:
        return []
    cell, split = split_cells[0]
    more = f" (and in {len(split_cells) - 1} more cells)" if len(split_cells) > 1 else ""
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"the trials of {cell.name} fall into two groups around {significant(split.low_mean)} "
            f"({split.n_low} trials) and {significant(split.high_mean)} ({cell.values.size - split.n_low}){more}",
            {
                "cells": {
                    c.name: {"low_mean": s.low_mean, "high_mean": s.high_mean, "n_low": s.n_low, "p": s.p}
                    for c, s in split_cells[:SHOWN]
                }
            },
            "find what switches and make it a factor, or report both groups",
        )  # fmt: skip
    ]
