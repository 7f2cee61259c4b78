"""The tried design for an estimator: settings, groups of each factor, and whether factors varied independently.

*factorial*: nearly every combination of levels was measured. *fraction*: only a part of the combinations was measured,
but levels are balanced in every pair of factors. *grid*: a good part of them, repeated (constraints make such holes).
*scattered*: anything else, as samples of ranges.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.errors import DataError
from iosonde.model.fit.features import Examples, Feature
from iosonde.stats.estimate.distributions import chi2_upper_p
from iosonde.stats.estimate.rank_correlation import compute_mean_ranks
from iosonde.stats.regression.scattered import SCATTERED, choose_bin_count, classify_design

_ASSOCIATED = 0.2  # Cramér's V
_MONOTONE = 0.3  # Spearman's ρ


@dataclass(frozen=True)
class FactorLink:
    """Two factors that were not varied independently; ``strength``: Cramér's V, or Spearman's |ρ| if larger.
    ``nested``: (inner, outer) if each level of one of them, such as a disk, has one level of the other."""

    first: str
    second: str
    strength: float
    nested: tuple[str, str] | None = None


@dataclass(frozen=True)
class Design:
    """Rows gathered by setting (cell).

    ``codes`` is cells × factors: the group (level, or bin) of each factor; ``n_groups`` are their numbers. ``counts``,
    ``means`` and ``ss_within`` are of each cell's rows, which ``rows`` lists in the order of the cells; ``y`` is the
    response of these rows. ``x`` is cells × factors: the coded values. ``imbalance`` is the largest Cramér's V of two
    factors, 0 if every pair is balanced."""

    kind: str
    features: tuple[Feature, ...]
    codes: Indices
    n_groups: tuple[int, ...]
    counts: Array
    means: Array
    ss_within: Array
    y: Array
    x: Array
    links: tuple[FactorLink, ...]
    binned: tuple[str, ...] = ()
    imbalance: float = 0.0

    @property
    def n(self) -> int:
        """The number of rows (trials)."""
        return len(self.y)

    @property
    def n_cells(self) -> int:
        """The number of distinct settings."""
        return len(self.counts)

    @property
    def df_repeats(self) -> int:
        """Degrees of freedom of the noise between repeats."""
        return self.n - self.n_cells

    @cached_property
    def starts(self) -> Indices:
        """The first of each cell's rows."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.intp)

    @cached_property
    def centred_means(self) -> Array:
        """The means of the cells less the mean of all rows, weighted by the square roots of the counts."""
        return np.asarray(np.sqrt(self.counts) * (self.means - self.y.mean()), float)

    @cached_property
    def total(self) -> float:
        """V(Y), population variance of the rows."""
        return float(np.mean((self.y - self.y.mean()) ** 2))

    def joint(self, factors: list[int]) -> tuple[Indices, int]:
        """Return (group of each cell by these factors together, number of groups)."""
        return number_combinations(self.codes[:, factors])


def number_combinations(codes: Indices) -> tuple[Indices, int]:
    """Return (number of each row's combination, number of combinations); no column makes one group."""
    joint = np.zeros(len(codes), np.intp)
    count = 1
    for column in codes.T:
        distinct, joint = np.unique(
            joint.astype(np.int64) * (int(column.max(initial=0)) + 1) + column, return_inverse=True
        )
        joint, count = joint.reshape(-1).astype(np.intp), len(distinct)
    return joint, count


def build_design(data: Examples) -> Design:
    """Build the design of the rows. Raises DataError unless there are more rows than factors."""
    n, k = data.x.shape
    if n <= k:
        raise DataError(
            "too-few-settings",
            "{rows} rows are too few to separate the effects of {factors} factors",
            "name fewer factors with {spell.on}, or measure more settings",
            factors=k,
            rows=n,
        )
    order = np.argsort(data.cells, kind="stable")
    _, starts, counts = np.unique(data.cells[order], return_index=True, return_counts=True)
    y, x = data.y[order], data.x[order][starts]
    means = np.add.reduceat(y, starts) / counts
    levels = np.column_stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in x.T]).astype(np.intp)
    kind = classify_design(levels, n)
    codes, binned = _bin_many_level_numbers(data.features, x, levels, counts) if kind == SCATTERED else (levels, ())
    links, imbalance = _find_links(data.features, x, levels, counts.astype(float), sample=kind == SCATTERED)
    return Design(
        kind,
        data.features,
        codes,
        tuple(int(column.max()) + 1 for column in codes.T),
        counts.astype(float),
        means,
        np.add.reduceat((y - np.repeat(means, counts)) ** 2, starts),
        y,
        x,
        links,
        binned,
        imbalance,
    )


def _bin_many_level_numbers(
    features: tuple[Feature, ...], x: Array, levels: Indices, counts: Indices
) -> tuple[Indices, tuple[str, ...]]:
    """Bin numbers with more levels than bins, equally many rows each; code the rest by levels."""
    bins, codes, names = choose_bin_count(len(x)), [], []
    for place, feature in enumerate(features):
        column = levels[:, place]
        if feature.numeric and len(feature.levels) > bins:
            column = _rank_groups(x[:, place], counts, bins)
            names.append(feature.name)
        codes.append(column)
    return np.column_stack(codes), tuple(names)


def _rank_groups(values: Array, counts: Array | Indices, groups: int) -> Indices:
    """Return groups of about equally many rows, equal values in one group."""
    distinct, inverse = np.unique(values, return_inverse=True)
    weights = np.bincount(inverse.reshape(-1), counts)
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    return (
        np.unique(np.minimum((middle * groups).astype(np.intp), groups - 1), return_inverse=True)[1]
        .reshape(-1)
        .astype(np.intp)[inverse.reshape(-1)]
    )


def _find_links(
    features: tuple[Feature, ...], x: Array, levels: Indices, counts: Array, sample: bool
) -> tuple[tuple[FactorLink, ...], float]:
    """Return (pairs of dependent factors, the strongest first; the largest V of all pairs). In a ``sample`` weak
    dependence is due to chance."""
    coarse = [
        _rank_groups(x[:, i], counts, 5) if feature.numeric and len(feature.levels) > 5 else levels[:, i]
        for i, feature in enumerate(features)
    ]
    links, largest = [], 0.0
    for a, b in combinations(range(len(features)), 2):
        strength = _compute_cramers_v(coarse[a], coarse[b], counts, sample)
        largest = max(largest, strength)
        if features[a].numeric and features[b].numeric:
            rho = _compute_spearman(x[:, a], x[:, b])
            strength = max(strength, rho if rho >= _MONOTONE else 0.0)
        if strength >= _ASSOCIATED:
            names = (features[a].name, features[b].name)
            links.append(FactorLink(*names, strength, _find_nesting(features[a], features[b], levels[:, [a, b]])))
    return tuple(sorted(links, key=lambda link: -link.strength)), largest


def _find_nesting(first: Feature, other: Feature, levels: Indices) -> tuple[str, str] | None:
    """Return (inner, outer) if each level of one factor has one level of the other, which has fewer; None if not, or if
    the inner is a number with a value of its own for each setting."""
    n_first, n_other = (len(np.unique(column)) for column in levels.T)
    inner, outer = (first, other) if n_first > n_other else (other, first)
    n_inner = max(n_first, n_other)
    is_scattered = inner.numeric and n_inner == len(levels)
    is_nested = len(np.unique(levels, axis=0)) == n_inner > min(n_first, n_other)
    return (inner.name, outer.name) if is_nested and not is_scattered else None


def _compute_cramers_v(a: Indices, b: Indices, counts: Array, sample: bool) -> float:
    """Return Cramér's V; for a sample without its bias (Bergsma, J. Korean Statistical Society 42, 2013), 0 if not
    significant.

    A setting counts once however often it was repeated, weighted by its rows.
    """
    rows, columns = int(a.max()) + 1, int(b.max()) + 1
    table = np.bincount(a * columns + b, counts, rows * columns).reshape(rows, columns)
    table *= len(counts) / table.sum()
    n = table.sum()
    expected = np.outer(table.sum(1), table.sum(0)) / n
    chi2 = float(((table - expected) ** 2 / np.maximum(expected, 1e-300)).sum())
    df = (rows - 1) * (columns - 1)
    if df == 0 or n < 2:
        return 0.0
    plain = math.sqrt(chi2 / n / min(rows - 1, columns - 1))
    if plain > 0.999 or not sample:
        return min(1.0, plain)
    if chi2_upper_p(chi2, df) > 1e-3:
        return 0.0
    phi2 = max(0.0, chi2 / n - df / (n - 1))
    r, c = rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)
    return math.sqrt(phi2 / max(min(r - 1, c - 1), 1e-9))


def _compute_spearman(a: Array, b: Array) -> float:
    """Return |ρ| of mean ranks; 0 if not significant (|ρ|·√n below 3.3)."""
    rho = abs(float(np.corrcoef(compute_mean_ranks(a), compute_mean_ranks(b))[0, 1]))
    return rho if rho * math.sqrt(len(a)) > 3.3 else 0.0
