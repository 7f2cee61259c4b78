"""The factors whose effects are estimated together: those that most trials have and that add a setting.

A factor that most trials lack would exclude these trials. A label, such as a file name ``read-4k``, has one level for
each combination of two or more others: it adds nothing but their interaction, which would become a part of its effect
and change the tests of all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from iosonde.core.arrays import Array, Indices

_MOST_ROWS = 20_000  # with more, labels are not searched
_MISSING = -1


@dataclass(frozen=True)
class ComparableFactors:
    """The ``names`` of the factors. Others are ``rare``, which most trials lack, ``single``, which are constant where
    all others are known, or ``labels``: label → the factors whose combinations it names."""

    names: tuple[str, ...]
    rare: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def number_levels(levels: Sequence[object]) -> Indices:
    """Number levels in order of appearance; a missing one is -1."""
    numbers: dict[object, int] = {None: _MISSING}
    return np.array([numbers.setdefault(level, len(numbers)) for level in levels], dtype=np.intp)


def choose_comparable_factors(levels: Mapping[str, Indices], weights: Array) -> ComparableFactors:
    """Choose among factors, given the number of the level of each row (-1: missing), and the trials ``weights`` of each
    row."""
    varying = [name for name, numbers in levels.items() if np.ptp(numbers)]
    usual = [name for name in varying if 2 * weights[levels[name] == _MISSING].sum() <= weights.sum()]
    if not usual:
        return ComparableFactors(tuple(varying))
    labels = _find_labels(_select_complete(levels, usual)) if weights.size <= _MOST_ROWS else {}
    complete = _select_complete(levels, [name for name in usual if name not in labels])
    names = tuple(name for name, numbers in complete.items() if numbers.size and np.ptp(numbers))
    return ComparableFactors(
        names,
        tuple(name for name in varying if name not in usual),
        tuple(name for name in complete if name not in names),
        labels,
    )


def _select_complete(levels: Mapping[str, Indices], names: Sequence[str]) -> dict[str, Indices]:
    """Return the levels of these factors at the rows that have one of each."""
    complete = np.all([levels[name] != _MISSING for name in names], axis=0)
    return {name: levels[name][complete] for name in names}


def _find_labels(levels: Mapping[str, Indices]) -> dict[str, tuple[str, ...]]:
    sizes = {name: np.unique(numbers).size for name, numbers in levels.items()}
    labels: dict[str, tuple[str, ...]] = {}
    for name in sorted(levels, key=lambda name: -sizes[name]):
        combined = tuple(
            other
            for other in levels
            if other not in labels
            and sizes[other] < sizes[name]
            and _count_combinations([levels[name], levels[other]]) == sizes[name]
        )
        if len(combined) > 1 and _count_combinations([levels[other] for other in combined]) == sizes[name]:
            labels[name] = combined
    return labels


def _count_combinations(columns: Sequence[Indices]) -> int:
    return len(set(zip(*(column.tolist() for column in columns), strict=True)))
