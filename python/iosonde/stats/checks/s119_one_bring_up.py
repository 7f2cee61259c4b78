"""S119: a level was brought up once

What it says
    A factor that is hard to change (a lab's network, a file system that is
    mounted anew, anything an experiment names in hard_to_change) was set once
    at some level, and all trials of that level share this bring-up. What
    differs between levels and what differs from one bring-up to the next
    cannot be told apart: there is no interval and no p, whatever the number of
    trials.

How we know
    The column bring_up of a run says which trials share the setting of what is
    hard to change. The level stands in one of them.

When it is wrong
    Where nothing differs from one bring-up to the next. Only a second one
    shows that.

What to do
    More repetitions: each brings everything up anew (repetitions: 6). More
    trials inside one bring-up do not help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.core.types import Finding, Severity

from ..regression import strata
from . import Subject

CODE = "S119"


def check(subject: Subject) -> list[Finding]:
    """One finding for all such levels."""
    table = subject.table
    if table is None or not subject.cells:
        return []
    if "run" in table.columns:  # of a store a row is a number of a trial
        table = table.take(np.sort(np.unique(table.columns["run"].values.astype(str), return_index=True)[1]))
    names = [name for name in subject.cells[0].by if name in table.columns]
    units = strata.units_of(table)
    return finding(strata.once(table, names, units)) if units else []


def finding(once: Mapping[str, Sequence[str]]) -> list[Finding]:
    """One for these levels by factor; none where there are none."""
    if not once:
        return []
    listing = "; ".join(f"{name} {', '.join(levels)}" for name, levels in once.items())
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"brought up once: {listing}; what it does cannot be told from what differs between bring-ups",
            {"levels": {name: list(levels) for name, levels in once.items()}},
            "more repetitions: each brings everything up anew; more trials in one bring-up do not help",
        )
    ]
