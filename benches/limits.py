"""Whether so many misses of so many draws are more than a promise allows: luck alone is no reason to fail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom, ttest_1samp

LUCK = 1e-4  # the chance at which a bench that keeps its promise exactly fails, in each cell


def too_many(misses: int, draws: int, allowed: float) -> bool:
    """Whether a share of ``allowed`` would show so many misses, or more, in less than one of 10,000 repetitions."""
    return bool(draws) and float(binom.sf(misses - 1, draws, allowed)) < LUCK


def is_above(shares: Sequence[float], allowed: float) -> bool:
    """Whether the mean of independent shares is above ``allowed`` by more than luck, by Student's t."""
    values = np.asarray(shares)
    if values.size < 2 or np.ptp(values) == 0:
        return values.size > 0 and float(values.mean()) > allowed
    return float(ttest_1samp(values, allowed, alternative="greater").pvalue) < LUCK


def report(broken: list[str]) -> int:
    """Print what is beyond its limit; the exit code."""
    for line in broken:
        print(f"beyond its limit: {line}", flush=True)
    return 1 if broken else 0
