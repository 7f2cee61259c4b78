"""A fully known tree of files: the true values of survey estimates, and simulated readings of its files."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from iosonde.core.arrays import Array, Flags, Indices, Integers

COUNT, CAPACITY = "files", "capacity"
TYPE, COMPRESSED = "type", "compressed"
_QUANTILES = (0.5, 0.9)
_LEAST_SHARE, _MOST_KINDS = 0.001, 8


class FileAttributes(Protocol):
    """Files whose contents are known."""

    @property
    def sizes(self) -> Array:
        """Return the bytes of each file."""

    @property
    def ages(self) -> Array:
        """Return the seconds since each file was modified."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the names of all kinds."""

    @property
    def kind(self) -> Integers:
        """Return the index in ``kinds`` of each file."""

    @property
    def part(self) -> Integers:
        """Return the number of the part of the tree of each file."""

    @property
    def pieces(self) -> dict[str, Array]:
        """Return, by name (``zeros``, ``entropy``, a codec), a value from 0 to 1 of each piece."""

    @property
    def first(self) -> Integers:
        """Return offsets: the pieces of file i are from ``first[i]`` to ``first[i + 1]``."""


@dataclass(frozen=True)
class TrueNumber:
    """A number of a tree that a survey estimates, and its true value."""

    what: str
    name: str
    of: str
    unit: str
    truth: float


class Population:
    """All files of a scan, and the true values of survey estimates."""

    def __init__(self, scan: FileAttributes) -> None:
        self.scan, self.sizes = scan, scan.sizes
        self.masses = {COUNT: np.ones(len(scan.sizes)), CAPACITY: scan.sizes}
        self.totals = {of: float(masses.sum()) for of, masses in self.masses.items()}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Return the largest kinds, by count or by size."""
        shares = {
            name: max(self._compute_share(place, of) for of in self.masses)
            for place, name in enumerate(self.scan.kinds)
        }
        some = sorted((name for name in shares if shares[name] >= _LEAST_SHARE), key=lambda name: -shares[name])
        return tuple(some[:_MOST_KINDS])

    def has(self, kind: str, chosen: Indices) -> Flags:
        """Return which of the chosen files are of a kind."""
        return np.asarray(self.scan.kind[chosen] == self.scan.kinds.index(kind))

    def list_true_numbers(self, of: str) -> list[TrueNumber]:
        """Return the true values: kinds and quantiles and, for the capacity, the means of the pieces."""
        shares = {kind: self._compute_share(self.scan.kinds.index(kind), of) for kind in self.kinds}
        numbers = [TrueNumber(TYPE, kind, of, "share", part) for kind, part in shares.items() if part]
        if of == CAPACITY and self.scan.pieces:
            every = np.arange(len(self.sizes))
            weights = self.sizes / self.totals[CAPACITY]
            numbers += [
                TrueNumber(
                    *((name, "") if name in ("zeros", "entropy") else (COMPRESSED, name)),
                    of,
                    "share",
                    float(weights @ self.exactly(name, every)),
                )
                for name in self.scan.pieces
            ]
        for what, values, unit in (("size", self.sizes, "bytes"), ("age", self.scan.ages, "s")):
            numbers += [
                TrueNumber(what, f"{q:g}", of, unit, _compute_quantile(values, self.masses[of], q)) for q in _QUANTILES
            ]
        return numbers

    def _compute_share(self, place: int, of: str) -> float:
        return float(self.masses[of][self.scan.kind == place].sum()) / self.totals[of]

    def exactly(self, name: str, chosen: Indices) -> Array:
        """Return, for each file, the mean over its four quarters of all their pieces."""
        sums = np.concatenate([[0.0], np.cumsum(self.scan.pieces[name])])
        low, high = self._locate_quarters(chosen)
        many = np.maximum(1, high - low)
        means = (sums[high] - sums[low]) / many
        return np.asarray((means * (high > low)).sum(axis=1) / np.maximum(1, (high > low).sum(axis=1)))

    def drawn(self, name: str, chosen: Indices, random: np.random.Generator) -> tuple[Array, Array, Array]:
        """Simulate a survey's reading of one random piece per quarter. Return, for each file, their mean, its variance,
        and the number of pieces (0: the whole file)."""
        low, high = self._locate_quarters(chosen)
        large = (high > low).all(axis=1)
        at = low + (random.random(low.shape) * (high - low)).astype(np.int64)
        values = self.scan.pieces[name][np.minimum(at, len(self.scan.pieces[name]) - 1)]
        means = np.where(large, values.mean(axis=1), self.exactly(name, chosen))
        return means, np.where(large, values.var(axis=1, ddof=1) / 4, 0.0), np.where(large, 4.0, 0.0)

    def _locate_quarters(self, chosen: Indices) -> tuple[Integers, Integers]:
        """Return, for each file, the first and last pieces of its quarters; a single piece is in the last quarter."""
        first, last = self.scan.first[chosen], self.scan.first[chosen + 1]
        edges = first[:, None] + (last - first)[:, None] * np.arange(5)[None, :] // 4
        return edges[:, :-1], edges[:, 1:]


def _compute_quantile(values: Array, masses: Array, q: float) -> float:
    """Return the smallest value at or below which a share q of the mass lies."""
    order = np.argsort(values, kind="stable")
    filled = np.cumsum(masses[order])
    return float(values[order][int(np.searchsorted(filled, q * filled[-1] * (1 - 1e-12)))])
