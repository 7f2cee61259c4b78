"""S208: rows look like means

What it says
    Every combination of levels occurs exactly once on a grid, as in a table of
    means. The spread between trials is then lost: no interval of a cell can be
    computed, and R² of any model is too high.

How we know
    By counting: at least 12 cells, at least two factors, every cell with one
    row, every factor with fewer levels than half of the rows.

When it is wrong
    When each setting was really measured only once (S101 says that too).

What to do
    Analyse the raw repeats. If only means are left, keep their standard
    deviations and numbers beside them.
"""

from __future__ import annotations

from iosonde.core.types import Finding, Severity

from . import Subject, families

CODE = "S208"


def check(subject: Subject) -> list[Finding]:
    """A grid with one row a cell."""
    found = []
    for (operation, metric), cells in families(subject).items():
        levels = {name: len({cell.by[name] for cell in cells}) for name in cells[0].by}
        grid = sum(count > 1 for count in levels.values()) >= 2 and all(
            2 * count <= len(cells) for count in levels.values()
        )
        if len(cells) < 12 or not grid or any(cell.values.size > 1 for cell in cells):
            continue
        found.append(
            Finding(
                CODE,
                Severity.WARNING,
                f"every one of {len(cells)} settings of {operation or metric} has one row, as in a table of means: "
                "no spread is known",
                {"operation": operation, "metric": metric, "n_cells": len(cells), "levels": levels},
                "analyse the raw repeats",
            )
        )
    return found
