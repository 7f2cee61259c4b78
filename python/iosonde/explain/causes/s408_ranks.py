"""S408: slow on some ranks

What it says
    Most of the slow operations belong to a few ranks, to those of one host,
    or to a few files: a slow node, a slow link, or a server that holds
    these files.

How we know
    Ranks (hosts, files) are sorted by falling share of slow operations; as
    many of the first are taken as agree most with "slow".

When it is wrong
    When these ranks had other work: sizes and kinds are equal here, offsets
    need not be.

What to do
    Let another rank do the same on the same file. If it is slow too, the
    cause is the file's server (on a local file system: the file's place on
    the disk), else the rank's node.
"""

from typing import Any

import numpy as np

from iosonde.core.words import format_share, join_names

from .target import LEAST, Agreement, Suspect, Target, select_groups_with_slow

CODE = "S408"
_MAX_LISTED = 4
_SERVED = "another rank on the same file: if it is slow too, it is the file's server, else the node"
_LOCAL = "another rank on the same file: if it is slow too, it is the file's place on the node's disk, else the rank"
_MOST_FILES = 4096
_CHUNK = 1 << 18  # operations at a time: they are converted to another type


def find(target: Target) -> list[Suspect]:
    """Find the ranks, hosts or files that agree best with the slow operations."""
    if target.rows.size < LEAST:
        return []
    groups = [
        group for group in (_count_by_host(target), _count_by_rank(target), _count_by_file(target)) if group is not None
    ]
    best: tuple[Agreement, str, list[Any]] | None = None
    of = 0
    for word, names, slow, every in groups:
        agreement, members = select_groups_with_slow(names, slow, every)
        if agreement.is_significant and (best is None or agreement.kappa > best[0].kappa + 0.02):
            best, of = (agreement, word, members), len(names)
    if best is None:
        return []
    agreement, word, members = best
    some = join_names(
        [str(member) for member in sorted(members)[:_MAX_LISTED]]
        + ([f"{len(members) - _MAX_LISTED} more"] if len(members) > _MAX_LISTED else [])
    )
    which = f"{word}{'s' if len(members) > 1 else ''} {some}"
    confirm = _LOCAL if target.operations.local else _SERVED
    sentence = (
        f"{format_share(agreement.recall)} of them are on {which}, where {format_share(agreement.precision)} of the "
        "operations are "
        "slow"
    )
    return [
        Suspect(
            CODE, target.place, f"on {which}", sentence, agreement, confirm, {f"{word}s": sorted(members), "of": of}
        )
    ]


def _count_by_rank(target: Target) -> tuple[str, list[Any], np.ndarray, np.ndarray] | None:
    parts = target.operations.ranks
    if len(parts) < 2:
        return None
    slow = np.array([int(target.slow[begin:end].sum()) for _, begin, end in parts])
    return "rank", [rank for rank, _, _ in parts], slow, np.array([end - begin for _, begin, end in parts])


def _count_by_host(target: Target) -> tuple[str, list[Any], np.ndarray, np.ndarray] | None:
    by_rank = _count_by_rank(target)
    hosts = target.operations.hosts
    if by_rank is None or len({hosts.get(rank) for rank in by_rank[1]} - {None, ""}) < 2:
        return None
    names = sorted({hosts.get(rank, "") for rank in by_rank[1]})
    at = np.array([names.index(hosts.get(rank, "")) for rank in by_rank[1]])
    return "host", names, np.bincount(at, by_rank[2], len(names)), np.bincount(at, by_rank[3], len(names))


def _count_by_file(target: Target) -> tuple[str, list[Any], np.ndarray, np.ndarray] | None:
    operations = target.operations
    if not operations.placed or not len(operations) or int(operations.file.max()) >= _MOST_FILES:
        return None
    every = np.zeros(int(operations.file.max()) + 1, np.int64)
    for at in range(0, len(operations), _CHUNK):
        every += np.bincount(operations.file[at : at + _CHUNK], minlength=every.size)
    slow = np.bincount(operations.file[target.rows], minlength=every.size)
    names = np.flatnonzero(every)
    return ("file", names.tolist(), slow[names], every[names]) if names.size > 1 else None
