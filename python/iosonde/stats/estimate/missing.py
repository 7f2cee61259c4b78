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
    filled = [np.concatenate([x, np.full(n, beyond)]) for x, n in ((a, missing_a), (b, missing_b))]
    test = unpaired(filled[0], filled[1], 0.95)
    medians = [float(np.median(x)) for x in filled]
    base = medians[0]
    known = (base <= edge if above else base >= edge) and base > 0
    end = min(medians[1], edge) if above else max(medians[1], edge)
    return WorstCase(test.p, test.superiority, end / base if known else None)
