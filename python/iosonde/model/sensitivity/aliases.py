"""Aliases: interactions of two factors that a design confounds with a main effect (Box, Hunter & Hunter, Statistics for
Experimenters, 2nd ed. 2005, ch. 6).

They are known before measuring, from the angle between the columns of the main effect and those of the interaction. In
a regular fraction it is 0 or 90°; in Plackett-Burman designs and Latin squares it may be between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from iosonde.stats.regression.scattered import FRACTION, GRID

from .additive import build_factor_columns, compute_orthonormal_basis
from .design import Design
from .variances import Array

_FULL, _PARTLY = 0.999, 0.1  # cosines
MOST_FACTORS, _MOST_COLUMNS = 20, 64  # of all factors; of one interaction


@dataclass(frozen=True)
class Alias:
    """An interaction of two other factors; ``strength`` is 1 if it is fully confounded with the main effect."""

    first: str
    second: str
    strength: float

    @property
    def name(self) -> str:
        """``servers×clients``."""
        return f"{self.first}×{self.second}"

    @property
    def is_full(self) -> bool:
        """True if it is fully confounded with the main effect."""
        return self.strength >= _FULL

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {"factors": [self.first, self.second], "strength": self.strength}


def find_aliases(design: Design) -> list[tuple[Alias, ...]] | None:
    """Return the aliases of each factor, the strongest first; None if the design is not a fraction, or has too many
    factors."""
    k = len(design.features)
    if design.kind not in (FRACTION, GRID) or not 2 < k <= MOST_FACTORS:
        return None
    least = _PARTLY if design.kind == FRACTION else _FULL
    main = [compute_orthonormal_basis(design, build_factor_columns(design, i)) for i in range(k)]
    aliases: list[list[Alias]] = [[] for _ in range(k)]
    for j, m in combinations(range(k), 2):
        both = _build_interaction(design, main[j], main[m])
        for i in range(k):
            strength = _compute_cosine(main[i], both) if i not in (j, m) else 0.0
            if strength >= least:
                aliases[i].append(Alias(design.features[j].name, design.features[m].name, min(1.0, strength)))
    return [tuple(sorted(group, key=lambda alias: -alias.strength)) for group in aliases]


def _build_interaction(design: Design, first: Array, other: Array) -> Array:
    """Return orthonormal columns of the interaction of two factors beyond their main effects."""
    products = (first[:, :, None] * other[:, None, :]).reshape(len(first), -1)[:, :_MOST_COLUMNS]
    root = np.sqrt(design.counts)[:, None]
    return compute_orthonormal_basis(design, products / root / root, np.linalg.qr(np.column_stack([first, other]))[0])


def _compute_cosine(first: Array, other: Array) -> float:
    return 0.0 if not first.shape[1] or not other.shape[1] else float(np.linalg.norm(first.T @ other, 2))


def format_aliases(aliases: Sequence[Alias], most: int = 3) -> str:
    """``a×b, c×d and 4 more``."""
    text = ", ".join(alias.name for alias in aliases[:most])
    return f"{text} and {len(aliases) - most} more" if len(aliases) > most else text
