"""S110: something varied unseen

What it says
    A column that was not grouped by has several values inside one cell: the
    trials of that cell were not made at one setting, so its mean mixes them
    and its interval is too wide or too narrow.

How we know
    Every column but the response and those of --by is looked at. A column that
    merely numbers the trials, or that is another measurement (hardly any value
    comes twice), is left out.

When it is wrong
    When the column is a label without effect, such as the name of the person
    who measured.

What to do
    Group by it (--by), keep one of its values (--where), or average over it on
    purpose and say so.
"""

from __future__ import annotations

from iosonde.core.message import Message, spell
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject, some

CODE = "S110"


def check(subject: Subject) -> list[Finding]:
    """One finding for all columns that vary inside a cell."""
    if not subject.hidden:
        return []
    columns = list(subject.hidden)
    cells = list(dict.fromkeys(cell for names in subject.hidden.values() for cell in names))
    return [
        Finding(
            CODE,
            Severity.WARNING,
            Message(
                "hidden-factors",
                "trials of one cell differ in {columns} ({cells})",
                columns=", ".join(columns),
                cells=some(cells),
            ),
            {
                "columns": columns[:MAX_LISTED],
                "cells": {name: cells[:MAX_LISTED] for name, cells in subject.hidden.items()},
            },
            f"hold it fixed with {spell.where}, or make it a factor with {spell.by}",
        )
    ]
