"""Blocks of confounded factors, whose effects least squares cannot separate, or hardly.

Exactly: a linear combination of the columns of several factors is 0 (the same levels under two names; one factor nested
in another; ranks = nodes × ranks per node). These combinations are the null space of all columns. The projector onto it
is zero between two factors unless one of them takes part. Nearly: Cramér's V of two factors, which is the mean
canonical correlation of their columns; of two scattered numbers, whose columns are broken lines, it is the first. A
number that is the product of two others is made of both, whether their columns show it or not.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from iosonde.core.arrays import Array

NEARLY = 0.85  # Cramér's V: the variance of an effect is multiplied by 3.6
_RANK = 1e-9
_ZERO = 1e-6
_SEPARATE = 1e-7  # sine of the angle between separable effects
_MOST_CODED = 2  # levels of a factor that is coded by signs
_MOST_COLUMNS = 1000  # with more columns only pairs are tested


def build_orthonormal_basis(parts: Sequence[Array], weights: Array) -> Array:
    """Return an orthonormal basis, in √weight of the rows, of all columns without their means."""
    root = np.sqrt(weights)
    if not parts:
        return np.empty((weights.size, 0))
    x = np.column_stack(parts)
    centred = (x - weights @ x / weights.sum()) * root[:, None]
    centred = centred[:, np.linalg.norm(centred, axis=0) > _RANK * np.sqrt(weights.sum())]
    if not centred.shape[1]:
        return np.empty((weights.size, 0))
    u, values, _ = np.linalg.svd(centred / np.linalg.norm(centred, axis=0), full_matrices=False)
    return np.asarray(u[:, values > _RANK * values.max()])


def remove_basis(basis: Array, other: Array) -> Array:
    """Return an orthonormal basis of the part of ``basis`` outside ``other``."""
    u, values, _ = np.linalg.svd(basis - other @ (other.T @ basis), full_matrices=False)
    return np.asarray(u[:, values > _SEPARATE])


def group_confounded_factors(
    columns: Mapping[str, Array],
    weights: Array,
    lines: Collection[str] = (),
    products: Sequence[tuple[str, str, str]] = (),
) -> tuple[tuple[str, ...], ...]:
    """Group the factors into blocks, in their order; a factor confounded with no other is alone. ``columns``: of each
    factor by row, with the ``weights`` of the rows; those of ``lines`` are broken lines. ``products``: of
    ``find_products``."""
    names = list(columns)
    bases = [build_orthonormal_basis([columns[name]], weights) for name in names]

    def associate(i: int, j: int) -> float:
        are_lines = names[i] in lines and names[j] in lines
        return (_compute_first_correlation if are_lines else _compute_cramers_v)(bases[i], bases[j])

    links = [(i, j) for i, j in combinations(range(len(names)), 2) if associate(i, j) >= NEARLY]
    links += _find_dependent(bases)
    links += [(names.index(name), names.index(part)) for name, *parts in products for part in parts]
    block = list(range(len(names)))
    for i, j in links:
        low, high = sorted((block[i], block[j]))
        block = [low if number == high else number for number in block]
    return tuple(
        tuple(name for name, number in zip(names, block, strict=True) if number == first)
        for first in dict.fromkeys(block)
    )


def find_products(settings: Mapping[str, Sequence[object]]) -> list[tuple[str, str, str]]:
    """Return each number that is the product of two others in all settings, with these: (ranks, nodes, per node). Two
    levels, as -1 and 1 of a fraction of a design, are no product: they are separable."""
    numbers = {
        name: np.array(levels, dtype=float)
        for name, levels in settings.items()
        if all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels)
    }
    results = [name for name, values in numbers.items() if np.unique(values).size > _MOST_CODED]
    return [
        (name, first, second)
        for first, second in combinations(numbers, 2)
        for name in results
        if name not in (first, second) and np.allclose(numbers[name], numbers[first] * numbers[second], rtol=_RANK)
    ]


def _compute_cramers_v(basis: Array, other: Array) -> float:
    least = min(basis.shape[1], other.shape[1])
    return float(np.linalg.norm(basis.T @ other)) / np.sqrt(least) if least else 0.0


def _compute_first_correlation(basis: Array, other: Array) -> float:
    return float(np.linalg.norm(basis.T @ other, 2)) if basis.shape[1] and other.shape[1] else 0.0


def _find_dependent(bases: Sequence[Array]) -> list[tuple[int, int]]:
    """Return pairs of factors that take part in one combination that is 0."""
    sizes = [basis.shape[1] for basis in bases]
    if not 1 < sum(sizes) <= _MOST_COLUMNS:
        return []
    stacked = np.column_stack(bases)
    values, vectors = np.linalg.eigh(stacked.T @ stacked)
    null = vectors[:, values < _RANK]
    projector = null @ null.T
    starts = np.cumsum([0, *sizes])
    parts = [slice(a, b) for a, b in zip(starts, starts[1:], strict=False)]
    return [
        (i, j)
        for i, j in combinations(range(len(bases)), 2)
        if sizes[i] and sizes[j] and np.abs(projector[parts[i], parts[j]]).max() > _ZERO
    ]
