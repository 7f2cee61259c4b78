"""Would a dummy do as well? The share of a factor whose labels were shuffled: p, and the zero line.

In a factorial the labels are shuffled inside each setting of the other factors: exact for "no effect whatever the
others are", and the others' variance is no noise. Where nothing can be shuffled there (a balanced fraction), the
residuals of the other factors' main effects are (Freedman & Lane, J. Business & Economic Statistics 1, 1983); where
settings are scattered, the settings as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .design import FRACTION, SCATTERED, Design
from .shares import between, group_means, grouping
from .variances import Array, batches

_SHUFFLES, _SHUFFLES_OF_MANY, _MANY_ROWS = 999, 199, 20_000


@dataclass(frozen=True)
class Null:
    """``p``: how often a dummy has as large a share (Phipson & Smyth 2010: never 0); ``zero_line``: the share that a
    dummy passes with probability 1 - level."""

    p: float
    zero_line: float


def nulls(design: Design, level: float, rng: np.random.Generator) -> list[Null]:
    """A dummy in the place of each factor."""
    rounds = _SHUFFLES if design.n <= _MANY_ROWS else _SHUFFLES_OF_MANY
    factors = range(len(design.features))
    shuffled: dict[int, Array] = {}
    if design.kind == SCATTERED:
        shuffled = _over_cells(design, rounds, rng)
    found = []
    for i in factors:
        if i in shuffled:
            shares = shuffled[i]
        elif design.kind != FRACTION and _varies_inside(design, i):
            shares = _inside_strata(design, i, rounds, rng)
        else:
            shares = _of_residuals(design, i, rounds, rng)
        at_least = int((shares >= _share(design, i) * (1 - 1e-9)).sum())
        found.append(Null((at_least + 1) / (rounds + 1), float(np.quantile(shares, level))))
    return found


def _share(design: Design, factor: int) -> float:
    groups = grouping(design.codes[:, factor], design.counts)
    return float(between((design.means - design.y.mean()) * design.counts, groups)) / design.total


def _varies_inside(design: Design, factor: int) -> bool:
    """Whether any setting of the other factors was measured at several levels of this one."""
    others = [i for i in range(len(design.features)) if i != factor]
    return design.joint(others)[1] < design.n_cells


def _inside_strata(design: Design, factor: int, rounds: int, rng: np.random.Generator) -> Array:
    others = [i for i in range(len(design.features)) if i != factor]
    counts = design.counts.astype(np.intp)
    strata = np.repeat(design.joint(others)[0], counts)
    labels = np.repeat(design.codes[:, factor], counts)
    order = np.argsort(strata, kind="stable")
    strata, labels, y = strata[order].astype(float), labels[order], (design.y - design.y.mean())[order]
    groups = grouping(labels, np.ones(design.n))
    found = []
    for size in batches(rounds, 2 * design.n):
        keys = rng.random((size, design.n)) + strata
        found.append(between(y[np.argsort(keys, axis=1)], groups))
    return np.concatenate(found) / design.total


def _of_residuals(design: Design, factor: int, rounds: int, rng: np.random.Generator) -> Array:
    """What the other factors' main effects leave, shuffled over the cells."""
    values = design.means - design.y.mean()
    for other in range(len(design.features)):
        if other != factor:
            groups = grouping(design.codes[:, other], design.counts)
            values = values - group_means(values * design.counts, groups)[groups.codes]
    groups = grouping(design.codes[:, factor], design.counts)
    found = []
    for size in batches(rounds, 2 * design.n_cells):
        found.append(between(_shuffled(values, size, rng) * design.counts, groups))
    return np.concatenate(found) / design.total


def _over_cells(design: Design, rounds: int, rng: np.random.Generator) -> dict[int, Array]:
    """Cell means shuffled over the cells: repeats of one setting stay together; the same shuffles for every factor."""
    values = design.means - design.y.mean()
    groups = [grouping(column, design.counts) for column in design.codes.T]
    found: dict[int, list[Array]] = {i: [] for i in range(len(groups))}
    for size in batches(rounds, 2 * design.n_cells):
        sums = _shuffled(values, size, rng) * design.counts
        for i, group in enumerate(groups):
            found[i].append(between(sums, group))
    return {i: np.concatenate(parts) / design.total for i, parts in found.items()}


def _shuffled(values: Array, times: int, rng: np.random.Generator) -> Array:
    return rng.permuted(np.broadcast_to(values, (times, len(values))), axis=1)
