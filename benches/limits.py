"""Whether so many misses of so many draws are more than a promise allows: luck alone is no reason to fail."""

from __future__ import annotations

from scipy.stats import binom

LUCK = 1e-4  # the chance at which a bench that keeps its promise exactly fails, in each cell


def too_many(misses: int, draws: int, allowed: float) -> bool:
    """Whether a share of ``allowed`` would show so many misses, or more, in less than one of 10,000 repetitions."""
    return bool(draws) and float(binom.sf(misses - 1, draws, allowed)) < LUCK


def report(broken: list[str]) -> int:
    """Print what is beyond its limit; the exit code."""
    for line in broken:
        print(f"beyond its limit: {line}", flush=True)
    return 1 if broken else 0
