"""S203: copies would leak into validation

What it says
    Copied cells (S202) would stand in the training and in the test part of a
    random split, so that a model is tested on rows it has seen: its error
    looks smaller than it is.

How we know
    Among k equal folds a row's copy is in another fold, and so in the training
    part, with (k - 1)/k. The share of test rows that were seen is that times
    the share of rows with a twin.

When it is wrong
    When no model is fitted to these data.

What to do
    Drop the copies, or split by settings: all rows of one setting and their
    copies in one fold.
"""

from __future__ import annotations

from iosonde.core.types import Finding, Severity

from ..copies import copied_levels
from . import Subject, families

CODE = "S203"


def check(subject: Subject) -> list[Finding]:
    """The share of rows with a twin, from the copied cells."""
    found = []
    for (operation, metric), cells in families(subject).items():
        copies = {row for copied in copied_levels(cells) for row in copied.rows}
        total = sum(cell.values.size for cell in cells)
        if not copies or not total:
            continue
        twins = min(1.0, 2 * len(copies) / total)
        found.append(
            Finding(
                CODE,
                Severity.WARNING,
                f"{100 * twins:.0f} % of the rows of {operation or metric} have a copy: in a random 10-fold validation "
                f"{90 * twins:.0f} % of the test rows were seen in training",
                {
                    "operation": operation,
                    "metric": metric,
                    "n_copies": len(copies),
                    "n": total,
                    "share_with_twin": twins,
                },
                "drop the copies, or keep a setting and its copies in one fold",
            )
        )
    return found
