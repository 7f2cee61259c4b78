"""Interactions: pairs of factors, the effect of one of which depends on the other.

The sum of squares of a pair is what it adds to all effects of single factors and to all other pairs (type II), as in
``anova``. Confounded factors are one side of a pair: what one of them adds to the others of its block is none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.units import format_percent
from iosonde.core.words import join_names

from ..estimate.multiple import adjust_by_holm
from .blocks import build_orthonormal_basis, remove_basis
from .mixed import compute_column_basis

_MOST_NAMED = 4  # pairs
_MOST_COLUMNS, _MOST_FACTORS = 300, 8
_MIN_SHARE = 0.005  # of the variation
Unit = tuple[str, ...]


@dataclass(frozen=True)
class Interaction:
    """A significant interaction of two ``units``, which are factors or blocks of confounded ones. ``share``: of the
    variation; ``p``: corrected (Holm) over all pairs."""

    units: tuple[Unit, Unit]
    share: float
    p: float

    @property
    def factors(self) -> Unit:
        """Return all factors of both sides."""
        return (*self.units[0], *self.units[1])

    @property
    def first(self) -> str:
        """Return the name of one side."""
        return "+".join(self.units[0])

    @property
    def second(self) -> str:
        """Return the name of the other side."""
        return "+".join(self.units[1])

    @property
    def name(self) -> str:
        """``fs × net (1.8 %)``."""
        return f"{self.first} × {self.second} ({format_percent(self.share)})"

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {"factors": [list(unit) for unit in self.units], "share": self.share, "p": self.p}


def find_interactions(
    columns: Sequence[tuple[Unit, Array]],
    weights: Array,
    measure: Callable[[Unit, Array, Array], tuple[float, float | None]],
    level: float,
) -> tuple[Interaction, ...]:
    """Return the significant pairs of units, the largest first. ``columns``: of each unit, by cell; ``weights``: trials
    of each cell. ``measure`` returns the share and the p of (the factors of a pair, the basis of what the pair adds,
    that of all else)."""
    if not 1 < len(columns) <= _MOST_FACTORS:
        return ()
    main = [part for _, part in columns]
    pairs = {(i, j): multiply_columns(main[i], main[j]) for i, j in combinations(range(len(main)), 2)}
    if sum(part.shape[1] for part in (*main, *pairs.values())) > _MOST_COLUMNS:
        return ()
    space = build_orthonormal_basis([*main, *pairs.values()], weights)
    bases = {
        key: space.T @ build_orthonormal_basis([part], weights) for key, part in (*enumerate(main), *pairs.items())
    }
    tests = {}
    for pair in pairs:
        rest = compute_column_basis(np.column_stack([part for key, part in bases.items() if key != pair]))
        added = remove_basis(bases[pair], rest) if bases[pair].shape[1] else bases[pair]
        if added.shape[1]:
            units = columns[pair[0]][0], columns[pair[1]][0]
            tests[units] = measure((*units[0], *units[1]), space @ added, space @ rest)
    p_values = adjust_by_holm([p for _, p in tests.values()])
    significant = [
        Interaction(units, share, p)
        for (units, (share, _)), p in zip(tests.items(), p_values, strict=True)
        if p is not None and p < 1 - level and share >= _MIN_SHARE
    ]
    return tuple(sorted(significant, key=lambda interaction: -interaction.share))


def join_interactions(interactions: Sequence[Interaction]) -> str:
    """Return the names of the largest ones: ``a × b (58 %) and c × d (26 %)``."""
    more = len(interactions) - _MOST_NAMED
    names = [interaction.name for interaction in interactions[:_MOST_NAMED]]
    return join_names([*names, f"{more} more"] if more > 0 else names)


def describe_pairs(interactions: Sequence[Interaction]) -> str:
    """Describe the significant pairs: ``a × b (58 %): the effect of one depends on the other``."""
    return f"{join_interactions(interactions)}: the effect of one depends on the other"


def multiply_columns(first: Array, other: Array) -> Array:
    """Return the products of each column of one side with each of the other."""
    return (first[:, :, None] * other[:, None, :]).reshape(len(first), -1)
