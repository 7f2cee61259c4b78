"""The algebra of two-level fractions: an effect is a set of factors (bits), a fraction a group of such words.

In a fraction some products of columns are constant: its *defining words*. Two effects whose product is such a word have
the same column up to sign: they are *aliases*, which no data of this fraction can separate. The length of the shortest
word is the *resolution*. G. E. P. Box and J. S. Hunter, The 2^(k-p) fractional factorial designs, Technometrics 3
(1961), 311-351 and 449-458.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

Words = dict[int, int]  # a word's bits → its sign


@dataclass(frozen=True)
class Generator:
    """The column of factor ``target`` is the product of the columns in ``sources`` (bits), times ``sign``."""

    target: int
    sources: int
    sign: int = 1


def defining_words(generators: Iterable[Generator]) -> Words:
    """Return all words whose column is constant, except the empty one: 2^p - 1 for p independent generators."""
    words: Words = {0: 1}
    for generator in generators:
        mask = generator.sources | 1 << generator.target
        words |= {word ^ mask: sign * generator.sign for word, sign in words.items()}
    return {word: sign for word, sign in words.items() if word}


def resolution(words: Mapping[int, int]) -> int:
    """Return the length of the shortest word."""
    return min(word.bit_count() for word in words)


def word_lengths(words: Iterable[int], k: int) -> tuple[int, ...]:
    """Return the number of words of length 3, 4, … k: the word-length pattern. The smaller, the less aliased."""
    counts = [0] * (k + 1)
    for word in words:
        counts[word.bit_count()] += 1
    return tuple(counts[3:])


def columns(k: int, generators: Sequence[Generator]) -> list[list[int]]:
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


def aliases(k: int, words: Mapping[int, int]) -> list[list[tuple[int, int]]]:
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
