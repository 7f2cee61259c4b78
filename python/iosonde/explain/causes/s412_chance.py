"""S412: slow by chance

What it says
    Nothing predicts which operation is slow: neither its number, place,
    rank or moment, nor the operation before it. Each is slow with the same
    probability, as with cache hits and misses: one of two ways through the
    system.

How we know
    Tested only if there is no other finding. Gaps between slow operations
    are as by chance (geometric, Kolmogorov-Smirnov), the operation before
    predicts nothing (phi), and all parts of the run have equally many
    (dispersion over 20 parts). Instead of kappa it has one minus the
    largest relation that these tests could have missed.

When it is wrong
    When the deciding factor is not recorded: the load of other nodes, the
    contents of a server's cache.

What to do
    Read the same places again: a cache miss is then a hit, unless the cache
    is too small. Counters of caches during the run show hits and misses.
"""

import math

import numpy as np

from iosonde.core.words import format_small_share

from .target import Agreement, Suspect, Target

CODE = "S412"
LAST = True  # runs only if no other finder has a result
_LEAST = 20  # slow operations, and others
_PARTS = 20
_ALPHA = 0.001
_MOST_RELATION = 0.3
_Z = 1.96


def find(target: Target) -> list[Suspect]:
    """Test whether the slow operations are as independent as random draws."""
    operations = target.operations
    n_slow, n_other = target.rows.size, len(operations) - target.rows.size
    if not operations.in_order or min(n_slow, n_other) < _LEAST:
        return []
    p = min(_compute_gaps_p(target), _compute_dispersion_p(target))
    relation, error = _correlate_with_previous(target)
    most = abs(relation) + _Z * error
    if p < _ALPHA or abs(relation) > 3.3 * error or most > _MOST_RELATION:
        return []
    share = format_small_share(target.prevalence)
    sentence = (
        f"{share} of the operations, by chance: neither number, place, rank, moment nor the one "
        f"before predicts them (relation {relation:+.2f} ± {_Z * error:.2f})"
    )
    agreement = Agreement(1.0, target.prevalence, 1 - most, p)
    return [
        Suspect(
            CODE,
            target.place,
            f"by chance, {share}",
            sentence,
            agreement,
            "the same places once more: a cache has them then",
            {"probability": target.prevalence, "relation": relation},
        )
    ]


def _compute_gaps_p(target: Target) -> float:
    """Return p of geometric gaps by Kolmogorov's distribution, which is conservative for whole numbers. The parameter
    is estimated from all gaps, which makes it more so."""
    gaps = np.sort(
        np.concatenate([np.diff(np.flatnonzero(target.slow[begin:end])) for _, begin, end in target.operations.ranks])
    )
    if gaps.size < _LEAST // 2:
        return 1.0
    levels, counts = np.unique(gaps, return_counts=True)
    distance = float(np.abs((np.cumsum(counts) / gaps.size) - (1 - (1 - target.prevalence) ** levels)).max())
    scaled = (math.sqrt(gaps.size) + 0.12 + 0.11 / math.sqrt(gaps.size)) * distance  # Stephens 1970
    return float(min(1.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101))))


def _compute_dispersion_p(target: Target) -> float:
    """Return p of equal numbers in every part of the run: the dispersion, by Wilson and Hilferty's normal."""
    edges = np.linspace(0, len(target.operations), _PARTS + 1).astype(np.intp)
    share, many = target.prevalence, np.diff(edges)
    counts = np.diff(np.searchsorted(target.rows, edges))
    chi2 = float((((counts - many * share) ** 2) / (many * share * (1 - share))).sum())
    free = _PARTS - 1
    z = ((chi2 / free) ** (1 / 3) - (1 - 2 / (9 * free))) / math.sqrt(2 / (9 * free))
    return math.erfc(z / math.sqrt(2)) / 2


def _correlate_with_previous(target: Target) -> tuple[float, float]:
    """Return phi of "slow" with "slow" of the operation before, and its standard error."""
    before, after = target.slow[:-1], target.slow[1:]
    share = target.prevalence
    return (float((before & after).mean()) - share**2) / (share * (1 - share)), 1 / math.sqrt(before.size)
