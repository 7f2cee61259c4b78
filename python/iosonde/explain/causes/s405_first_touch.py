"""S405: slow at the first touch

What it says
    The first operation of a rank, the first on a file, or the first on a
    place of a file is slow, and later ones are not: something is looked up,
    opened, allocated, or fetched into a cache once.

How we know
    Each of these is compared with "slow"; the rule that agrees most is
    reported. The first touch of a place is tested only if places are
    accessed again.

When it is wrong
    When something else happens at the same operation, as a new file that
    lies on another server.

What to do
    Touch everything once before the clock runs, if you mean later
    operations; else measure the first ones alone.
"""

import numpy as np

from iosonde.core.words import format_share

from .target import LEAST, Rows, Suspect, Target

CODE = "S405"
_MOST = 1 << 21


def find(target: Target) -> list[Suspect]:
    """Find the kind of first touch that agrees best with the slow operations."""
    operations = target.operations
    if not operations.in_order or target.rows.size < LEAST:
        return []
    kinds: dict[str, Rows] = {"of its rank": np.array([begin for _, begin, _ in operations.ranks], np.intp)}
    if operations.placed:
        kinds |= {"on its file": _find_first_on_file(target)}
        if (places := _find_first_on_place(target)) is not None:
            kinds["on its place in the file"] = places
    agreements = {what: target.judge_rows(rows, len(kinds)) for what, rows in kinds.items() if rows.size >= LEAST}
    candidates = {what: agreement for what, agreement in agreements.items() if agreement.is_significant}
    if not candidates:
        return []
    what = max(candidates, key=lambda kind: candidates[kind].kappa)
    best = candidates[what]
    sentence = (
        f"{format_share(best.recall)} of them are the first operation {what}, and {format_share(best.precision)} of "
        "these are slow"
    )
    return [
        Suspect(
            CODE,
            target.place,
            f"first touch {what.removeprefix('on ')}",
            sentence,
            best,
            "the same operations once more before the clock runs",
            {"first": what},
        )
    ]


def _find_first_on_file(target: Target) -> Rows:
    """Return the first operations on a file other than the one before."""
    operations = target.operations
    changed = np.flatnonzero(operations.file[1:] != operations.file[:-1]) + 1
    begins = np.union1d(changed, [begin for _, begin, _ in operations.ranks]).astype(np.intp)
    if begins.size == len(operations.ranks) or begins.size > _MOST:
        return np.empty(0, np.intp)
    keys = operations.file[begins].astype(np.int64) + (
        0 if operations.shared else operations.rank[begins].astype(np.int64) << 32
    )
    order = np.argsort(operations.start_ns[begins], kind="stable")
    _, first = np.unique(keys[order], return_index=True)
    return np.sort(begins[order[first]])


def _find_first_on_place(target: Target) -> Rows | None:
    """Return the first operations at each offset; None if nearly every offset occurs once."""
    operations = target.operations
    if operations.sequential or len(operations) > _MOST:
        return None
    key = operations.offset.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + operations.file.astype(np.uint64)
    if not operations.shared:
        key = key * np.uint64(0x9E3779B97F4A7C15) + operations.rank.astype(np.uint64)
    order = np.argsort(operations.start_ns, kind="stable")
    _, first = np.unique(key[order], return_index=True)
    return np.sort(order[first]) if first.size < 0.9 * len(operations) else None
