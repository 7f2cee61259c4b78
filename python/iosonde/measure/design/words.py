"""The algebra of two-level fractions: an effect is a set of factors (bits), a fraction a group of such words.

In a fraction some products of columns are constant: its *defining words*. Two effects whose product is such a word have
the same column up to sign: they are *aliases*, which no data of this fraction can separate. The length of the shortest
word is the *resolution*. G. E. P. Box and J. S. Hunter, The 2^(k-p) fractional factorial designs, Technometrics 3
(1961), 311-351 and 449-458.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

Words = dict[int, int]  # a word's bits → its sign
WIDTH = 24  # designs that the search for generators keeps
# A larger fraction does not serve screening, and the search would take seconds.
MOST_RUNS = 64
MOST_FACTORS = 16


@dataclass(frozen=True)
class Generator:
    """The column of factor ``target`` is the product of the columns in ``sources`` (bits), times ``sign``."""

    target: int
    sources: int
    sign: int = 1


def compute_defining_words(generators: Iterable[Generator]) -> Words:
    """Return all words whose column is constant, except the empty one: 2^p - 1 for p independent generators."""
    words: Words = {0: 1}
    for generator in generators:
        mask = generator.sources | 1 << generator.target
        words |= {word ^ mask: sign * generator.sign for word, sign in words.items()}
    return {word: sign for word, sign in words.items() if word}


def compute_resolution(words: Mapping[int, int]) -> int:
    """Return the length of the shortest word."""
    return min(word.bit_count() for word in words)


def count_word_lengths(words: Iterable[int], k: int) -> tuple[int, ...]:
    """Return the number of words of length 3, 4, … k: the word-length pattern. The smaller, the less aliased."""
    counts = [0] * (k + 1)
    for word in words:
        counts[word.bit_count()] += 1
    return tuple(counts[3:])


def build_factor_columns(k: int, generators: Sequence[Generator]) -> list[list[int]]:
    """Return the runs of the fraction as rows of -1 and +1, in the order of its free factors, the last changing
    fastest."""
    generator_by_target = {generator.target: generator for generator in generators}
    free = [factor for factor in range(k) if factor not in generator_by_target]
    rows = []
    for number in range(2 ** len(free)):
        row = [0] * k
        for place, factor in enumerate(reversed(free)):
            row[factor] = 1 if number >> place & 1 else -1
        for target, generator in generator_by_target.items():
            row[target] = generator.sign
            for factor in free:
                if generator.sources >> factor & 1:
                    row[target] *= row[factor]
        rows.append(row)
    return rows


def list_aliases(k: int, words: Mapping[int, int]) -> list[list[tuple[int, int]]]:
    """Return aliased main effects and two-factor interactions: groups of (effect, sign), shortest first.

    The first of a group has the sign +1. Longer interactions are left out: they are assumed to be small.
    """
    effects = [1 << i for i in range(k)] + [1 << i | 1 << j for i, j in combinations(range(k), 2)]
    groups: list[list[tuple[int, int]]] = []
    grouped: set[int] = set()
    for effect in effects:
        if effect in grouped:
            continue
        same = {effect ^ word: sign for word, sign in words.items()}
        group = [(effect, 1), *((other, same[other]) for other in effects if other in same)]
        grouped.update(other for other, _ in group)
        if len(group) > 1:
            groups.append(group)
    return groups


@lru_cache(maxsize=64)
def find_generators(k: int, p: int) -> tuple[Generator, ...]:
    """Return generators for the last ``p`` of ``k`` factors, as products of the first k - p: a fraction of minimum
    aberration. ``k`` and ``p`` must satisfy ``has_generators``.

    The better of two fractions of one size has fewer words of length 3, then of length 4, and so on. Its main effects
    and two-factor interactions are aliased least (A. Fries and W. G. Hunter, Minimum aberration 2^(k-p) designs,
    Technometrics 22 (1980), 601-608). The search adds one generator after another and keeps the designs that differ in
    their words (J. Chen, D. X. Sun and C. F. J. Wu, A catalogue of two-level and three-level fractional factorial
    designs with small runs, International Statistical Review 61 (1993), 131-145). Here it keeps only the best WIDTH of
    them, and still finds every design of the tables in the tests.
    """
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
                pattern = count_word_lengths(more, k)
                extensions.setdefault(frozenset((*chosen, mask)), (pattern, (*chosen, mask), more))
        best: dict[object, tuple[tuple[int, ...], list[int]]] = {}
        for pattern, chosen, words in sorted(extensions.values(), key=lambda extension: (extension[0], extension[1])):
            best.setdefault((pattern, _count_words_by_letter(words, k)), (chosen, words))
            if len(best) == WIDTH:
                break
        beam = list(best.values())
    return tuple(Generator(free + place, mask) for place, mask in enumerate(beam[0][0]))


def has_generators(k: int, p: int) -> bool:
    """Return whether ``find_generators`` searches for such a fraction: every factor has its own column, and it is
    small."""
    return p >= 1 and k <= MOST_FACTORS and 4 <= 2 ** (k - p) <= MOST_RUNS and k <= 2 ** (k - p) - 1


def _count_words_by_letter(words: list[int], k: int) -> tuple[object, ...]:
    """Return, for all factors, sorted, in how many words of each length each occurs: equal for designs that differ only
    in names."""
    return tuple(sorted([count_word_lengths((word for word in words if word >> factor & 1), k) for factor in range(k)]))
