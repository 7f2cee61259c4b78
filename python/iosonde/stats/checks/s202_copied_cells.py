"""S202: copied cells

What it says
    Whole cells are copies of others: at two levels of a factor the same values
    stand, to the last digit, wherever both were measured. One of the two
    levels was not measured.

How we know
    For every factor and every pair of its levels the cells that differ in
    nothing else are compared, all their values at once. At least 3 pairs of
    cells, and nine in ten of them, must be equal.

When it is wrong
    When the factor truly does nothing and the measurement is deterministic (a
    simulation with a fixed seed).

What to do
    Ask where the data come from. Leave one of the two levels out (--where), or
    keep both in one fold of any validation.
"""

from __future__ import annotations

from iosonde.core.types import Finding, Severity

from ..copies import copied_levels
from . import SHOWN, Subject, families

CODE = "S202"


def check(subject: Subject) -> list[Finding]:
    """Pairs of levels with equal values."""
    found = []
    for (operation, metric), cells in families(subject).items():
        for copied in copied_levels(cells):
            found.append(
                Finding(
                    CODE,
                    Severity.ERROR,
                    f"{copied.n_equal} cells are copies: {operation or metric} at {copied.factor}={copied.other} "
                    f"equals that at {copied.factor}={copied.one} to the last digit, "
                    f"in {copied.n_equal} of {copied.n_pairs} cells",
                    {
                        "operation": operation,
                        "metric": metric,
                        "factor": copied.factor,
                        "levels": [copied.one, copied.other],
                        "n_cells": copied.n_equal,
                        "n_pairs": copied.n_pairs,
                        "n_rows": len(copied.rows),
                        "rows": [subject.table.place(row) for row in copied.rows[:SHOWN]] if subject.table else [],
                    },
                    f"leave one of them out: --where '{copied.factor}!={copied.other}'",
                )  # fmt: skip
            )
    return found
