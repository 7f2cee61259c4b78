"""Values that are missing: more on one side than on the other, and what it is at the worst."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from .rank_tests import unpaired

Array = npt.NDArray[np.float64]


def fisher_exact(missing_a: int, n_a: int, missing_b: int, n_b: int) -> float:
    """P of so unlike shares of missing values, two-sided, where both sides lose a value alike (Fisher 1935, Journal of
    the Royal Statistical Society 98, 39-54): the sum over all tables that are no likelier."""
    missing = missing_a + missing_b
    ways = [comb(n_a, k) * comb(n_b, missing - k) for k in range(max(0, missing - n_b), min(n_a, missing) + 1)]
    seen = comb(n_a, missing_a) * comb(n_b, missing_b)
    return sum(way for way in ways if way <= seen) / comb(n_a + n_b, missing)


@dataclass(frozen=True)
class WorstCase:
    """Missing values counted as beyond all that were seen. ``p`` and ``superiority`` (P(B > A)) by ranks. ``ratio`` of
    the medians B ÷ A: at least that where missing values count as above, at most where as below; None where it is
    bounded by nothing."""

    p: float
    superiority: float
    ratio: float | None


def worst_case(a: Array, missing_a: int, b: Array, missing_b: int, above: bool) -> WorstCase | None:
    """With ``above`` missing values are larger than all others, else smaller. None where a side has none at all."""
    if not a.size or not b.size:
        return None
    seen = np.concatenate([a, b])
    edge = float(seen.max() if above else seen.min())
    beyond = edge + (1 if above else -1) * (float(np.ptp(seen)) or 1.0)
    test = unpaired(_filled(a, missing_a, beyond), _filled(b, missing_b, beyond), 0.95)
    # The edge bounds what B's missing values do to the ratio, and nothing what A's do.
    base = float(np.median(_filled(a, missing_a, edge)))
    known = missing_a < a.size and base > 0
    return WorstCase(test.p, test.superiority, float(np.median(_filled(b, missing_b, edge))) / base if known else None)


def _filled(seen: Array, missing: int, value: float) -> Array:
    return np.concatenate([seen, np.full(missing, value)])
