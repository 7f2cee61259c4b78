"""S407: slow far from the operation before

What it says
    Operations that do not begin where the one before them ended are slow: a
    seek. For reads perhaps a read-ahead that fetched unneeded data, for
    writes blocks that are looked up or allocated first.

How we know
    "Not the next bytes", "backwards", and distances from 4 KiB to 1 GiB are
    compared with "slow"; the rule that agrees most is reported.

When it is wrong
    When jumps lead to places that are slow for another reason (another
    server, not in the cache).

What to do
    Use the same offsets in ascending order. For reads also switch off
    read-ahead (posix_fadvise RANDOM), which avoids useless fetches. For
    writes also repeat them on a file that already exists.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from iosonde.core.units import format_size
from iosonde.core.words import format_share

from .target import LEAST, Rows, Suspect, Target

CODE = "S407"


def find(target: Target) -> list[Suspect]:
    """Find the kind of jump that agrees best with the slow operations."""
    operations = target.operations
    if not (operations.placed and operations.in_order) or target.rows.size < LEAST:
        return []
    slow, others = _compute_gaps(target, target.some_slow), _compute_gaps(target, target.some_others)
    rules: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "do not begin where the one before ended": lambda gap: gap != 0,
        "go backwards": lambda gap: gap < 0,
    }
    far = {f"are {format_size(1 << power)} or more from the one before": 1 << power for power in range(12, 31, 2)}
    rules |= {name: partial(_is_beyond, least) for name, least in far.items()}
    agreements = {name: target.judge(rule(slow), rule(others), len(rules)) for name, rule in rules.items()}
    candidates = {name: agreement for name, agreement in agreements.items() if agreement.is_significant}
    if not candidates:
        return []
    name = max(candidates, key=lambda label: candidates[label].kappa)
    best = candidates[name]
    sentence = (
        f"{format_share(best.recall)} of them {name}, and {format_share(best.precision)} of those that do are slow"
    )
    cause = (
        "jump backwards"
        if "backwards" in name
        else "jump"
        if name not in far
        else f"jump of {format_size(far[name])} or more"
    )
    return [
        Suspect(
            CODE,
            target.place,
            cause,
            sentence,
            best,
            "the same offsets in ascending order",
            {"least_bytes": far.get(name), "backwards": "backwards" in name},
        )
    ]


def _compute_gaps(target: Target, rows: Rows) -> np.ndarray:
    """Return the bytes from the end of the operation before, on the same rank and file; operations without one are
    omitted."""
    operations = target.operations
    rows = rows[rows > 0]
    before = rows - 1
    same = (operations.rank[rows] == operations.rank[before]) & (operations.file[rows] == operations.file[before])
    rows, before = rows[same], before[same]
    ends = operations.offset[before].astype(np.int64) + operations.size
    return np.asarray(operations.offset[rows].astype(np.int64) - ends)


def _is_beyond(least: int, gap: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(gap) >= least)
