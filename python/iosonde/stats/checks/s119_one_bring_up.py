"""S119: only one bring-up of a level

What it says
    A hard-to-change factor (a lab's network, a remounted file system, anything
    an experiment lists in hard_to_change) was set once at some level, and all
    trials of that level share this bring-up. Its effect is confounded with the
    variation between bring-ups: there is no interval and no p, whatever the
    number of trials.

How we know
    The column bring_up of a run identifies trials that share the setting of
    hard-to-change factors. The level occurs in one bring-up only.

When it is wrong
    When bring-ups do not vary. Only a second one shows that.

What to do
    Use more repetitions: each brings everything up again (repetitions: 6).
    More trials inside one bring-up do not help.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.core.types import Finding, Severity

from ..regression import strata
from . import Subject


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all such levels."""
    table = subject.table
    if table is None or not subject.cells:
        return []
    if "run" in table.columns:  # a store has one row per metric of a trial
        table = table.take(np.sort(np.unique(table.columns["run"].values.astype(str), return_index=True)[1]))
    names = [name for name in subject.cells[0].by if name in table.columns]
    units = strata.list_nested_units(table)
    return build_finding(strata.find_levels_brought_up_once(table, names, units)) if units else []


def build_finding(once: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Return a finding for these levels by factor; empty without levels."""
    if not once:
        return []
    listing = "; ".join(f"{name} {', '.join(levels)}" for name, levels in once.items())
    return [
        Finding(
            "S119",
            Severity.WARNING,
            f"brought up once: {listing}; the effect is confounded with the variation between bring-ups",
            {"levels": {name: list(levels) for name, levels in once.items()}},
            "use more repetitions: each brings everything up again; more trials in one bring-up do not help",
        )
    ]
