"""Rows of failed trials, as a column of outcomes states them (``ok``, ``FAIL``): their numbers were not measured."""

import re
from dataclasses import replace

import numpy as np

from iosonde.core.column_units import split_column_name
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

_NAMES = frozenset(("status", "result", "outcome", "success", "passed", "state", "ergebnis", "statut", "estado"))
_SUCCESS = re.compile(
    r"ok(?:ay)?|pass(?:ed)?|succe(?:ss(?:ful)?|eded)|done|completed?|finished|true|yes", re.IGNORECASE
)
FAILURE = re.compile(
    r"time[ds]?[ -]?out|fail(?:ed|ure)?|err(?:or)?|killed|crash(?:ed)?|abort(?:ed)?|cancell?ed|oom|hung|dnf",
    re.IGNORECASE,
)
_NEGATIONS = ("false", "no")


def drop_failed_rows(table: Table) -> Table:
    """Return the table without the rows that a column of outcomes calls failed, if those are fewer than half, with a
    warning."""
    for column in table.columns.values():
        mask = _find_failed(column)
        if mask is not None:
            levels = dict.fromkeys(column.values[mask].tolist())
            message = Message(
                "failed-rows",
                "{n} of {n_rows} trials failed ({column} is {levels}; {place}): they are left out;"
                " under another name of the column they stay",
                n=int(mask.sum()),
                n_rows=len(table),
                column=column.name,
                levels=" or ".join(map(str, levels)),
                place=table.place(int(np.flatnonzero(mask)[0])),
            )
            return replace(table.take(~mask), warnings=(*table.warnings, message))
    return table


def _find_failed(column: Column) -> np.ndarray | None:
    """Return which rows failed; None if the column holds no outcomes, or none or half of them are failures."""
    words = split_column_name(column.label or column.name)
    if column.numeric or _NAMES.isdisjoint(words):
        return None
    texts = [str(value).strip(" !.") if value is not None else "ok" for value in column.values]
    failed = np.array([bool(FAILURE.fullmatch(text)) or text.lower() in _NEGATIONS for text in texts])
    has_others = not all(_SUCCESS.fullmatch(text) for text, fails in zip(texts, failed, strict=True) if not fails)
    return None if has_others or not 0 < 2 * failed.sum() < len(failed) else failed
