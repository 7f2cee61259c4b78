"""S412: slow by chance

What it says
    Nothing tells which operation is slow: not its number, its place, its rank,
    its moment, nor the one before it. Each is with the same probability, as if
    a cache had its data or not: of two ways through the system it takes one.

How we know
    Asked only where no other finding is told. From one slow operation to the
    next there are as many others as chance gives (geometric gaps,
    Kolmogorov-Smirnov), the one before tells nothing (phi), and all parts of
    the run have as many (dispersion over 20 parts). Instead of kappa it has
    one minus the largest relation that these could have missed.

When it is wrong
    When what decides is not recorded: what other nodes did, what a server's
    cache held.

What to do
    Read the same places again: a miss of a cache is a hit then, unless the
    cache is too small. Counters of caches beside the run tell hits and misses.
"""

from __future__ import annotations

import math

import numpy as np

from iosonde.core.words import small_percent

from .target import Agreement, Suspect, Target

CODE = "S412"
LAST = True  # asked where nothing else was found
_LEAST = 20  # slow operations, and others
_PARTS = 20
_ALPHA = 0.001
_MOST_RELATION = 0.3
_Z = 1.96


def find(target: Target) -> list[Suspect]:
    """Whether the slow operations are as independent as draws."""
    operations = target.operations
    n_slow, n_other = target.rows.size, len(operations) - target.rows.size
    if not operations.in_order or min(n_slow, n_other) < _LEAST:
        return []
    p = min(_gaps_p(target), _parts_p(target))
    relation, error = _after_slow(target)
    most = abs(relation) + _Z * error
    if p < _ALPHA or abs(relation) > 3.3 * error or most > _MOST_RELATION:
        return []
    share = small_percent(target.prevalence)
    sentence = (f"{share} of the operations, by chance: no number, place, rank or moment tells which, nor does the one "
                f"before (relation {relation:+.2f} ± {_Z * error:.2f})")  # fmt: skip
    agreement = Agreement(1.0, target.prevalence, 1 - most, p)
    return [Suspect(CODE, target.place, f"by chance, {share}", sentence, agreement,
                    "the same places once more: what a cache missed it has then",
                    {"probability": target.prevalence, "relation": relation})]  # fmt: skip


def _gaps_p(target: Target) -> float:
    """Of gaps that are geometric: Kolmogorov's distribution, which is conservative for whole numbers. The parameter is
    that of all, which makes it more so."""
    gaps = np.sort(np.concatenate([np.diff(np.flatnonzero(target.slow[begin:end]))
                                   for _, begin, end in target.operations.ranks]))  # fmt: skip
    if gaps.size < _LEAST // 2:
        return 1.0
    levels, counts = np.unique(gaps, return_counts=True)
    observed = np.cumsum(counts) / gaps.size
    distance = float(np.abs(observed - (1 - (1 - target.prevalence) ** levels)).max())
    scaled = (math.sqrt(gaps.size) + 0.12 + 0.11 / math.sqrt(gaps.size)) * distance  # Stephens 1970
    return float(min(1.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101))))


def _parts_p(target: Target) -> float:
    """Of as many in every part of the run: the dispersion, by Wilson and Hilferty's normal."""
    edges = np.linspace(0, len(target.operations), _PARTS + 1).astype(np.intp)
    share, many = target.prevalence, np.diff(edges)
    counts = np.diff(np.searchsorted(target.rows, edges))
    chi2 = float((((counts - many * share) ** 2) / (many * share * (1 - share))).sum())
    free = _PARTS - 1
    z = ((chi2 / free) ** (1 / 3) - (1 - 2 / (9 * free))) / math.sqrt(2 / (9 * free))
    return math.erfc(z / math.sqrt(2)) / 2


def _after_slow(target: Target) -> tuple[float, float]:
    """Phi of "slow" with that of the operation before (its standard error beside): how much more often after a slow
    one."""
    before, after = target.slow[:-1], target.slow[1:]
    share = target.prevalence
    together = float((before & after).mean()) - share**2
    return together / (share * (1 - share)), 1 / math.sqrt(before.size)
