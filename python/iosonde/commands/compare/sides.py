"""Sides of a comparison, the cells, and the margin of equality; a published side, and the second DATA among words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from iosonde.core.errors import InputError
from iosonde.core.gate import Gate
from iosonde.data.source import Source
from iosonde.stats.estimate.compare import MARGIN, Group
from iosonde.stats.estimate.published import PublishedSummary, build_published_group

SideT = TypeVar("SideT")
_KEYS = ("mean", "n", "sd", "low", "high", "level", "kind", "name")
EXAMPLE = "write mean=177.1,low=167.6,high=186.6,n=8,level=0.9 or mean=177.1,sd=14.2,n=8"


@dataclass(frozen=True)
class Sides:
    """Sides of a comparison: the ``levels`` of the column ``group``, the first of which is the base; two columns; or
    DATA, the base, and the ``other`` DATA. ``by``: compare within each combination of these; for a store by default its
    other factors. ``adjust``: columns within whose combinations sides are compared before pooling; None: every setting
    that varies besides. ``pair``: columns whose equal values pair a trial of A with one of B. ``a``, ``b``: published
    sides. ``margin``: differences below it count as equal. ``gate``: conditions of a problem. ``base_only``: each side
    is compared with the first only, not with every other. ``notes``: what was noticed when two DATA were opened.
    ``is_one_source``: both are selections of one DATA, measured together."""

    levels: Sequence[str] = ()
    group: str | None = None
    by: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    margin: float = MARGIN
    a: Group | None = None
    b: Group | None = None
    other: Source | None = None
    adjust: tuple[str, ...] | None = None
    gate: Gate | None = None
    base_only: bool = False
    notes: tuple[str, ...] = ()
    is_one_source: bool = False

    @property
    def published(self) -> list[Group]:
        """Return the published sides."""
        return [side for side in (self.a, self.b) if side is not None]

    def pairs(self, measured: Sequence[SideT], published: Sequence[SideT]) -> Iterator[tuple[SideT, SideT]]:
        """Every pair of sides, a published one in its place."""
        sides = [*published, *measured] if self.a is not None else [*measured, *published]
        return ((sides[0], other) for other in sides[1:]) if self.base_only else combinations(sides, 2)


def parse_published_side(texts: Mapping[str, str], name: str) -> Group:
    """Return the side given by ``texts``, by key. Raises InputError naming the key."""
    for key, value in texts.items():
        if key not in _KEYS:
            raise InputError(
                "invalid-option-value",
                "'{key}={entry}' is not understood in the summary",
                EXAMPLE,
                key=key,
                entry=value,
            )
    for key in ("mean", "n"):
        if key not in texts:
            raise InputError("missing-key", "the summary has no {key}", EXAMPLE, key=key)
    words = {"kind": "t", "name": name, **texts}
    kind, label = words.pop("kind"), words.pop("name")
    numbers = {key: _parse_number(key, value) for key, value in words.items()}
    n = numbers.pop("n")
    if n != int(n):
        raise InputError("not-an-integer", "n={n:g} is not a whole number", EXAMPLE, n=n)
    return build_published_group(PublishedSummary(label, numbers.pop("mean"), int(n), kind=kind, **numbers))


def _parse_number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("not-a-number", "{key}={number} is not a number", EXAMPLE, key=key, number=text) from None


def find_second_data(source: Source, levels: Sequence[str], group: str | None) -> str | None:
    """Return the only level if it is a file or a store and no column. Raises InputError for several DATA, and for a
    path that does not exist."""
    paths = [text for text in levels if text not in source.table.columns and Path(text).exists()]
    if len(levels) == 1 and paths:
        return paths[0]
    if group is None and len(paths) == len(levels) > 1:
        raise InputError(
            "too-many-sources",
            "{n_sources} DATA are given",
            "compare takes two: the base and the other",
            n_sources=1 + len(paths),
        )
    is_path = source.knows_factors or any("/" in text or text.endswith((".csv", ".parquet")) for text in levels)
    if group is None and len(levels) == 1 and is_path:
        raise InputError(
            "no-such-file", "{path} does not exist", "name a store, a table or a tool's output", path=levels[0]
        )
    return None
