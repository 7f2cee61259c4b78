"""Places of a class's operations: in the run, in the file, on which ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .cost import Account, Array
from .operations import Operations

PARTS = 10  # of the run and of the file
_MOST_RANKS = 64
_CHUNK = 1 << 18


@dataclass(frozen=True)
class PlaceCounts:
    """Operations in each class (columns): by part of the run's time (``BLOCKS`` parts), by tenth of the offsets (None
    if these are unknown or all equal), and by rank."""

    run: Array
    offset: Array | None
    ranks: Mapping[int, Array]


class PlaceSums:
    """Incremental PlaceCounts over pieces of operations; ``reach``: the end of the file (bytes), 0 if places are
    unknown."""

    def __init__(self, count: int, reach: int) -> None:
        self._reach = reach
        self._offset = np.zeros((PARTS, count))
        self._ranks: dict[int, Array] = {}

    def add(self, parts: Iterable[tuple[int, int, int]], offset: npt.NDArray[Any], of: npt.NDArray[np.uint8]) -> None:
        """Add operations of ``parts``: (rank, first row, row after the last)."""
        count = self._offset.shape[1]
        if self._reach:
            self._offset += _profile_values(offset, self._reach, of, count)
        for rank, begin, end in parts:
            self._ranks[rank] = self._ranks.get(rank, np.zeros(count)) + np.bincount(of[begin:end], minlength=count)

    def counts(self, account: Account) -> PlaceCounts:
        """Return the counts of the added operations and their ``account``."""
        return PlaceCounts(account.counts, self._offset if self._reach else None, self._ranks)


def count_places(operations: Operations, of: npt.NDArray[np.uint8], account: Account) -> PlaceCounts:
    """Count the places of one trial; ``of`` is the class of each operation."""
    reach = int(operations.offset.max()) if operations.placed and len(operations) else 0
    sums = PlaceSums(account.counts.shape[1], reach + operations.size if reach else 0)
    sums.add(operations.ranks, operations.offset, of)
    return sums.counts(account)


def sum_place_counts(several: Sequence[PlaceCounts]) -> PlaceCounts:
    """Sum the counts of several trials."""
    offsets = [part.offset for part in several if part.offset is not None]
    ranks: dict[int, Array] = {}
    for trial in several:
        for rank, counts in trial.ranks.items():
            ranks[rank] = ranks.get(rank, np.zeros_like(counts)) + counts
    return PlaceCounts(
        np.sum([part.run for part in several], axis=0),
        np.sum(offsets, axis=0) if len(offsets) == len(several) else None,
        ranks,
    )


@dataclass(frozen=True)
class ClassPlaces:
    """Places of one class.

    Its share in each tenth of the run and of the offsets (empty if these are unknown), and on each rank, at most the
    first 64 by share. ``words``: where it is significantly frequent, '' if nowhere."""

    run: tuple[float, ...]
    offset: tuple[float, ...]
    ranks: Mapping[int, float]
    words: str


def profile_class_by_place(counts: PlaceCounts, place: int) -> ClassPlaces:
    """The profile of one class."""
    tenths = counts.run.reshape(PARTS, -1, counts.run.shape[1]).sum(axis=1)
    run, offset = (
        _compute_shares(tenths, place),
        () if counts.offset is None else _compute_shares(counts.offset, place),
    )
    total = sum(float(row[place]) for row in counts.ranks.values()) or 1.0
    ranks = {rank: float(row[place]) / total for rank, row in counts.ranks.items() if row[place]}
    most = dict(sorted(ranks.items(), key=lambda item: -item[1])[:_MOST_RANKS])
    several = len(counts.ranks) > 1 and total >= PARTS
    texts = [
        _describe_part(tenths, place, "the run"),
        "" if counts.offset is None else _describe_part(counts.offset, place, "the file"),
        _describe_ranks(counts.ranks, most) if several else "",
    ]
    return ClassPlaces(run, offset, most, ", ".join(text for text in texts if text))


def _profile_values(values: npt.NDArray[Any], reach: float, of: npt.NDArray[np.uint8], count: int) -> Array:
    profile = np.zeros(PARTS * count)
    for at in range(0, values.size, _CHUNK):
        part = np.minimum((values[at : at + _CHUNK] * (PARTS / max(reach, 1.0))).astype(np.int32), PARTS - 1)
        profile += np.bincount(part * count + of[at : at + _CHUNK], minlength=profile.size)
    return profile.reshape(PARTS, count)


def _compute_shares(table: Array, place: int) -> tuple[float, ...]:
    mine = table[:, place]
    return tuple((mine / max(mine.sum(), 1.0)).tolist())


def _describe_part(table: Array, place: int, what: str) -> str:
    """Describe the shortest part at either end with most of a class and few of all others."""
    mine, every = table[:, place], table.sum(axis=1)
    if mine.sum() < PARTS or (every > 0).sum() < 3:
        return ""
    for tenths in range(1, PARTS // 2 + 1):
        for side, at in (("first", slice(0, tenths)), ("last", slice(PARTS - tenths, PARTS))):
            share, usual = mine[at].sum() / mine.sum(), every[at].sum() / every.sum()
            if share > 0.8 and share > 1.5 * usual:
                return f"{side} {10 * tenths} % of {what}"
    return ""


def _describe_ranks(every: Mapping[int, Array], shares: Mapping[int, float]) -> str:
    total, ranks = 0.0, []
    for rank, share in shares.items():
        total += share
        ranks.append(rank)
        if total > 0.8:
            break
    if len(ranks) > min(3, len(every) / 2) or total <= 0.8:
        return ""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, sorted(ranks)))}"
