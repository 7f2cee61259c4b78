"""Numbers of a table that were measured although their unit is that of a setting: bytes received, counts of packets.

Where a table repeats its settings, a setting repeats, too. A number that never comes twice among the repetitions of
any setting was therefore not set. Settings of a scattered design never repeat, either: they are told from outcomes
by what they vary over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iosonde.core.table import Column, Table

_REPETITIONS = frozenset(("repetition", "repeat", "repeats", "rep", "reps", "replicate", "iteration", "iter", "trial",
                          "run", "try", "attempt"))  # fmt: skip
_MIN_REPEATED_SHARE = 0.9  # of the rows: in a setting that has another row
_MIN_DISTINCT_SHARE = 0.9  # of the values inside one setting
_MAX_UNEXPLAINED_SHARE = 0.5  # of the variation that settings drawn at random would leave inside them
_MAX_RELATIVE_SPREAD = 0.1  # inside a setting: no design varies a size or a count by so little

Rows = Sequence[npt.NDArray[np.intp]]


def find_outcomes(
    table: Table, candidates: Sequence[Column], settings: Sequence[Column], numbering: Sequence[str]
) -> list[str]:
    """The names of the ``candidates`` that are outcomes; none where the ``settings`` are not repeated."""
    if not candidates:
        return []
    names = [column.name for column in settings if len(column.codes()[1]) > 1]
    cells = [rows for _, rows in table.groups(names) if rows.size > 1] if names else []
    if sum(rows.size for rows in cells) < _MIN_REPEATED_SHARE * len(table) or len(cells) < 2:
        return []
    numbered = any(_numbers_repetitions(table.columns[name], cells) for name in numbering)
    return [column.name for column in candidates if _is_outcome(column, cells, numbered)]


def _numbers_repetitions(column: Column, cells: Rows) -> bool:
    """Whether it counts anew in each setting, by a name that says so: then all rows of a setting are repetitions."""
    words = re.split(r"[\W_]+", column.label.lower())
    if not column.numeric or not _REPETITIONS & set(words):
        return False
    most = max(rows.size for rows in cells)
    return len(column.codes()[1]) <= most and all(len(set(column.values[rows])) == rows.size for rows in cells)


def _is_outcome(column: Column, cells: Rows, numbered: bool) -> bool:
    values = [column.values[rows].astype(float) for rows in cells]
    known = [inside[~np.isnan(inside)] for inside in values]
    known = [inside for inside in known if inside.size > 1]
    n = sum(inside.size for inside in known)
    if not n or sum(np.unique(inside).size for inside in known) < _MIN_DISTINCT_SHARE * n:
        return False
    return numbered or _varies_little(known) or _depends_on_cells(known, n)


def _varies_little(known: Sequence[npt.NDArray[np.float64]]) -> bool:
    spreads = [float(np.std(inside, ddof=1) / abs(np.mean(inside))) for inside in known if np.mean(inside)]
    return bool(spreads) and float(np.median(spreads)) < _MAX_RELATIVE_SPREAD


def _depends_on_cells(known: Sequence[npt.NDArray[np.float64]], n: int) -> bool:
    """Whether settings leave far less of its variation than of numbers that were drawn without regard to them."""
    total = float(np.var(np.concatenate(known)) * n)
    within = sum(float(np.var(inside) * inside.size) for inside in known)
    return within < _MAX_UNEXPLAINED_SHARE * total * (n - len(known)) / (n - 1)
