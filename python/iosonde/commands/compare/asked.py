"""Options of a comparison: the sides, the cells, and the margin of equality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from iosonde.core.gate import Gate
from iosonde.data.source import Source
from iosonde.stats.estimate.compare import Group

SideT = TypeVar("SideT")


@dataclass(frozen=True)
class Sides:
    """Sides of a comparison: the ``levels`` of the column ``group``, the first of which is the base; two columns; or
    DATA, the base, and the ``other`` DATA. ``by``: compare within each combination of these; for a store by default its
    other factors. ``adjust``: columns within whose combinations sides are compared before pooling; None: every setting
    that varies besides. ``pair``: columns whose equal values pair a trial of A with one of B. ``a``, ``b``: published
    sides. ``margin``: differences below it count as equal. ``gate``: conditions of a problem. ``base_only``: each side
    is compared with the first only, not with every other."""

    levels: Sequence[str] = ()
    group: str | None = None
    by: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    margin: float = 0.02
    a: Group | None = None
    b: Group | None = None
    other: Source | None = None
    adjust: tuple[str, ...] | None = None
    gate: Gate | None = None
    base_only: bool = False

    @property
    def published(self) -> list[Group]:
        """Return the published sides."""
        return [side for side in (self.a, self.b) if side is not None]

    def pairs(self, measured: Sequence[SideT], published: Sequence[SideT]) -> Iterator[tuple[SideT, SideT]]:
        """Every pair of sides, a published one in its place."""
        sides = [*published, *measured] if self.a is not None else [*measured, *published]
        return ((sides[0], other) for other in sides[1:]) if self.base_only else combinations(sides, 2)
