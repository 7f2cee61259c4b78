"""S110: hidden factor

What it says
    A column that is not a factor has several values inside one cell: its
    trials were not measured at one setting. The mean mixes them, and the
    interval is too wide or too narrow.

How we know
    Every column but the response and those of {spell.by} is checked. Columns that
    number the trials, or are another measurement (values hardly ever repeat),
    are left out.

When it is wrong
    When the column is a label without effect, such as the name of the person
    who measured.

What to do
    Group by it ({spell.by}), keep one of its values ({spell.where}), or average over it on
    purpose and report that.
"""

from iosonde.core.message import Message, spell
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject, format_some_names


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all columns that vary inside a cell."""
    if not subject.hidden:
        return []
    columns = list(subject.hidden)
    cells = list(dict.fromkeys(cell for names in subject.hidden.values() for cell in names))
    return [
        Finding(
            "S110",
            Severity.WARNING,
            Message(
                "hidden-factors",
                "trials of one cell differ in {columns} ({cells})",
                columns=", ".join(columns),
                cells=format_some_names(cells),
            ),
            {
                "columns": columns[:MAX_LISTED],
                "cells": {name: cells[:MAX_LISTED] for name, cells in subject.hidden.items()},
            },
            f"keep it fixed with {spell.where}, or make it a factor with {spell.by}",
        )
    ]
