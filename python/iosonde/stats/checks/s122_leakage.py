"""S122: copies would leak into a validation

What it says
    Rows that are copies of each other (S121) would fall into different folds
    of a cross-validation. The model is then tested on values that it was
    trained on, and its error looks smaller than it is.

How we know
    A row with one copy meets it in the training part of k random folds with
    probability (k - 1) / k. The share of such rows is computed for 2, 4 and 8
    folds.

When it is wrong
    When the folds are made by hand so that copies stay together, or nothing is
    to be validated.

What to do
    Remove the copies, or keep all rows of one origin in one fold. Trials of
    one cell belong into one fold too: to predict a new setting, leave whole
    settings out.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from ..estimate.copies import find_copies
from . import Subject

FOLDS = (2, 4, 8)


def check(subject: Subject) -> Iterator[Finding]:
    """Report, for each metric with copies, how many rows would be tested on training values."""
    for (operation, metric), cells in subject.families.items():
        copies = find_copies(cells, subject.records)
        if copies is None:
            continue
        name = f"{operation} {metric}".strip()
        rows = sum(cell.values.size for cell in cells)
        share = copies.rows_with_twin / rows
        leaked = {str(k): share * (k - 1) / k for k in FOLDS}
        yield Finding(
            "S122",
            Severity.WARNING,
            f"random folds would test {100 * leaked['8']:.0f} % of the rows of {name} on training "
            f"values (8 folds; {copies.rows_with_twin} of {rows} rows have a copy)",
            {
                "metric": name,
                "rows_with_twin": copies.rows_with_twin,
                "n_rows": rows,
                "leaked_share_by_folds": leaked,
            },
            "remove the copies, or keep all rows of one origin in one fold",
        )
