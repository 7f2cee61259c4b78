"""All files of a tree that is known as the truth: what surveys estimate of them, and what a look at some would find."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

COUNT, CAPACITY = "files", "capacity"
TYPE, COMPRESSED = "type", "compressed"
_QUANTILES = (0.5, 0.9)
_LEAST_SHARE, _MOST_KINDS = 0.001, 8
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Integers = npt.NDArray[np.int64]


class FileAttributes(Protocol):
    """Files whose contents are known."""

    @property
    def sizes(self) -> Floats:
        """Bytes of each."""

    @property
    def ages(self) -> Floats:
        """Seconds since each was modified."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of all kinds."""

    @property
    def kind(self) -> Integers:
        """The place of the kind of each in ``kinds``."""

    @property
    def part(self) -> Integers:
        """The number of the part of the tree that each is in."""

    @property
    def pieces(self) -> dict[str, Floats]:
        """By a name (``zeros``, ``entropy``, a codec) a value from 0 to 1 of each piece."""

    @property
    def first(self) -> Integers:
        """Those of file i are from ``first[i]`` to ``first[i + 1]``."""


@dataclass(frozen=True)
class TrueNumber:
    """One number of a tree that a survey estimates, and what it is."""

    what: str
    name: str
    of: str
    unit: str
    truth: float


class Population:
    """All files of a scan, and the truth of what surveys estimate."""

    def __init__(self, scan: FileAttributes) -> None:
        self.scan, self.sizes = scan, scan.sizes
        self.masses = {COUNT: np.ones(len(scan.sizes)), CAPACITY: scan.sizes}
        self.totals = {of: float(masses.sum()) for of, masses in self.masses.items()}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The largest, in one of the two ways."""
        shares = {
            name: max(self._compute_share(place, of) for of in self.masses)
            for place, name in enumerate(self.scan.kinds)
        }
        some = sorted((name for name in shares if shares[name] >= _LEAST_SHARE), key=lambda name: -shares[name])
        return tuple(some[:_MOST_KINDS])

    def has(self, kind: str, chosen: Places) -> npt.NDArray[np.bool_]:
        """Which of those that were chosen are of a kind."""
        return np.asarray(self.scan.kind[chosen] == self.scan.kinds.index(kind))

    def list_true_numbers(self, of: str) -> list[TrueNumber]:
        """The truth: kinds and quantiles, of the capacity what its pieces are like, too."""
        shares = {kind: self._compute_share(self.scan.kinds.index(kind), of) for kind in self.kinds}
        numbers = [TrueNumber(TYPE, kind, of, "share", part) for kind, part in shares.items() if part]
        if of == CAPACITY and self.scan.pieces:
            every = np.arange(len(self.sizes))
            weights = self.sizes / self.totals[CAPACITY]
            numbers += [
                TrueNumber(*_split_name(name), of, "share", float(weights @ self.exactly(name, every)))
                for name in self.scan.pieces
            ]
        for what, values, unit in (("size", self.sizes, "bytes"), ("age", self.scan.ages, "s")):
            numbers += [
                TrueNumber(what, f"{q:g}", of, unit, _compute_quantile(values, self.masses[of], q)) for q in _QUANTILES
            ]
        return numbers

    def _compute_share(self, place: int, of: str) -> float:
        return float(self.masses[of][self.scan.kind == place].sum()) / self.totals[of]

    def exactly(self, name: str, chosen: Places) -> Floats:
        """Of each file the mean over its four quarters of all their pieces."""
        sums = np.concatenate([[0.0], np.cumsum(self.scan.pieces[name])])
        low, high = self._locate_quarters(chosen)
        many = np.maximum(1, high - low)
        means = (sums[high] - sums[low]) / many
        used = (high > low).sum(axis=1)
        return np.asarray((means * (high > low)).sum(axis=1) / np.maximum(1, used))

    def drawn(self, name: str, chosen: Places, random: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Of each file the mean of one piece of each quarter, as a survey reads it, the variance of that mean, and how
        many pieces those are (0: the whole file)."""
        low, high = self._locate_quarters(chosen)
        large = (high > low).all(axis=1)
        at = low + (random.random(low.shape) * (high - low)).astype(np.int64)
        values = self.scan.pieces[name][np.minimum(at, len(self.scan.pieces[name]) - 1)]
        exact_means = self.exactly(name, chosen)
        means = np.where(large, values.mean(axis=1), exact_means)
        return means, np.where(large, values.var(axis=1, ddof=1) / 4, 0.0), np.where(large, 4.0, 0.0)

    def _locate_quarters(self, chosen: Places) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of each file the pieces of its quarters, from where to where; what is one piece is in the last."""
        first, last = self.scan.first[chosen], self.scan.first[chosen + 1]
        edges = first[:, None] + (last - first)[:, None] * np.arange(5)[None, :] // 4
        return edges[:, :-1], edges[:, 1:]


def _split_name(name: str) -> tuple[str, str]:
    return (name, "") if name in ("zeros", "entropy") else (COMPRESSED, name)


def _compute_quantile(values: Floats, masses: Floats, q: float) -> float:
    """The smallest value at or below which a share q of the mass lies."""
    order = np.argsort(values, kind="stable")
    filled = np.cumsum(masses[order])
    return float(values[order][int(np.searchsorted(filled, q * filled[-1] * (1 - 1e-12)))])
