"""Variances of group means: V(E(Y|G)) for one response or for many resampled ones at once."""

from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices


@dataclass(frozen=True)
class Grouping:
    """Cells in groups, ready for sums: ``order`` sorts the cells by group, ``starts`` are the groups' first cells,
    ``weights`` their rows."""

    order: Indices
    starts: Indices
    weights: Array
    codes: Indices

    @property
    def n(self) -> int:
        """The number of groups."""
        return len(self.starts)


def build_grouping(codes: Indices, counts: Array) -> Grouping:
    """Build the groups with these numbers, of cells with ``counts`` rows each."""
    order = np.argsort(codes, kind="stable").astype(np.intp)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1)).astype(np.intp)
    return Grouping(order, starts, np.add.reduceat(counts[order], starts), codes)


def group_means(sums: Array, groups: Grouping) -> Array:
    """Return the mean of every group; ``sums`` are the cells' sums of rows, (…, cells)."""
    return np.add.reduceat(sums[..., groups.order], groups.starts, axis=-1) / groups.weights


def compute_variance_between_groups(sums: Array, groups: Grouping) -> Array:
    """Return V(E(Y|G)) with groups weighted by their share of the rows; (…) for ``sums`` of (…, cells).

    Centre the response first: squares of large means cancel badly.
    """
    means = group_means(sums, groups)
    n = groups.weights.sum()
    return np.asarray((means**2 @ groups.weights) / n - ((means @ groups.weights) / n) ** 2, float)


def compute_highest_interaction(values: Array, without: list[Grouping], counts: Array) -> Array:
    """Return the residual of (…, cells) ``values`` after every function of all factors but one.

    Group means are removed in turn until nothing changes (alternating projections; one round in a complete factorial).
    """
    rest = values
    scale = float(np.abs(values).max()) or 1.0
    for _ in range(100):
        before = rest
        for groups in without:
            rest = rest - group_means(rest * counts, groups)[..., groups.codes]
        if float(np.abs(rest - before).max()) <= 1e-9 * scale:
            break
    return rest
