"""Choice of a fraction of 2^k by default: the one of minimum aberration.

The better of two fractions of one size has fewer words of length 3, then of length 4, and so on. Its main effects and
two-factor interactions are aliased least (A. Fries and W. G. Hunter, Minimum aberration 2^(k-p) designs, Technometrics
22 (1980), 601-608). The search adds one generator after another and keeps the designs that differ in their words (J.
Chen, D. X. Sun and C. F. J. Wu, A catalogue of two-level and three-level fractional factorial designs with small runs,
International Statistical Review 61 (1993), 131-145). Here it keeps only the best WIDTH of them, and still finds every
design of the tables in the tests.
"""

from functools import lru_cache

from .words import Generator, word_lengths

WIDTH = 24
# A larger fraction does not serve screening, and the search would take seconds.
MOST_RUNS = 64
MOST_FACTORS = 16


@lru_cache(maxsize=64)
def generators(k: int, p: int) -> tuple[Generator, ...]:
    """Return generators for the last ``p`` of ``k`` factors, as products of the first k - p. ``k`` and ``p`` must
    satisfy ``possible``."""
    free = k - p
    candidates = [mask for mask in range(1, 2**free) if mask.bit_count() >= 2]
    beam: list[tuple[tuple[int, ...], list[int]]] = [((), [])]
    for target in range(free, k):
        extensions: dict[frozenset[int], tuple[tuple[int, ...], tuple[int, ...], list[int]]] = {}
        for chosen, words in beam:
            for mask in candidates:
                if mask in chosen:
                    continue
                word = mask | 1 << target
                more = [*words, word, *(old ^ word for old in words)]
                pattern = word_lengths(more, k)
                extensions.setdefault(frozenset((*chosen, mask)), (pattern, (*chosen, mask), more))
        best: dict[object, tuple[tuple[int, ...], list[int]]] = {}
        for pattern, chosen, words in sorted(extensions.values(), key=lambda extension: (extension[0], extension[1])):
            best.setdefault((pattern, _by_letter(words, k)), (chosen, words))
            if len(best) == WIDTH:
                break
        beam = list(best.values())
    return tuple(Generator(free + place, mask) for place, mask in enumerate(beam[0][0]))


def possible(k: int, p: int) -> bool:
    """Return whether ``generators`` searches for such a fraction: every factor has its own column, and it is small."""
    return p >= 1 and k <= MOST_FACTORS and 4 <= 2 ** (k - p) <= MOST_RUNS and k <= 2 ** (k - p) - 1


def _by_letter(words: list[int], k: int) -> tuple[object, ...]:
    """Return, for all factors, sorted, in how many words of each length each occurs: equal for designs that differ only
    in names."""
    counts = [word_lengths((word for word in words if word >> factor & 1), k) for factor in range(k)]
    return tuple(sorted(counts))
