"""Shapley effects of many factors: shares of an additive least-squares model, for every set of factors or sampled ones.

The share of a set follows from one matrix of products of the factors' columns, whatever the number of rows: the 2^12
sets of twelve factors are 4096 small systems of equations. Beyond ``MOST_EXACT`` factors permutations are drawn, each
with its reverse, and the Monte Carlo error is known. (Castro, Gómez & Tejada, Computers & Operations Research 36, 2009;
Mitchell et al., J. Machine Learning Research 23, 2022.)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iosonde.stats.estimate.distributions import normal_quantile
from iosonde.stats.estimate.variance_share import LEAST_DF

from .additive import build_factor_columns, compute_orthonormal_basis
from .design import Design
from .parts import Scale, build_scale
from .variances import Array

MOST_EXACT = 12  # factors
_PERMUTATIONS = 64
_DRAWS = 399
_MOST_COLUMNS = 400
_SINGULAR = 1e-10

Closed = Callable[[frozenset[int]], Array]


@dataclass(frozen=True)
class AdditiveEffects:
    """``observed`` are the effects, one a factor.

    ``moved`` (factors × draws): with other draws of the noise, minus the truth there; ``dummies``: of the noise alone;
    both have no draws if the noise is unknown. ``error`` is the Monte Carlo standard error of each, 0 for exact ones;
    ``residual_share`` the share of the variance outside the additive model.
    """

    observed: Array
    moved: Array
    dummies: Array
    error: Array
    residual_share: float

    def limits(self, factor: int, level: float) -> tuple[float, float] | None:
        """Return the basic bootstrap interval, at least as wide as noise alone, and widened by the Monte Carlo error.

        The spread of an effect grows with it: an underestimated small effect would have too short an interval."""
        if not self.moved.shape[1]:
            return None
        value, tails = float(self.observed[factor]), (0.5 + level / 2, 0.5 - level / 2)
        down, up = np.quantile(self.moved[factor], tails)
        up = min(float(up), -float(np.quantile(self.dummies[factor], tails[0])))
        more = normal_quantile(tails[0]) * float(self.error[factor])
        return value - math.hypot(max(0.0, float(down)), more), value + math.hypot(max(0.0, -up), more)


def compute_additive_effects(design: Design, level: float, rng: np.random.Generator) -> AdditiveEffects | None:
    """Compute the effects of all factors; None if they have more columns than the settings allow."""
    matrices = [build_factor_columns(design, i) for i in range(len(design.features))]
    if sum(matrix.shape[1] for matrix in matrices) > min(_MOST_COLUMNS, design.n_cells - 1):
        return None
    joint_basis = compute_orthonormal_basis(design, np.column_stack(matrices))
    along = joint_basis.T @ design.centred_means
    scale, _ = build_scale(design, along, level)
    closed = _build_closed(
        [joint_basis.T @ compute_orthonormal_basis(design, matrix) for matrix in matrices], along, scale, rng
    )
    k = len(matrices)
    effects, error = (
        (_compute_exact(closed, k), np.zeros(k))
        if k <= MOST_EXACT
        else sample_effects_by_permutations(closed, k, _PERMUTATIONS, rng)
    )
    draws = (effects.shape[1] - 1) // 2
    return AdditiveEffects(
        effects[:, 0], effects[:, 1 : 1 + draws], effects[:, 1 + draws :], error, scale.residual_ss / scale.total
    )


def _build_closed(turned: list[Array], along: Array, scale: Scale, rng: np.random.Generator) -> Closed:
    """Return c(u): the share of V(Y) that the factors u explain together, minus the noise's part; then with other draws
    of the noise, minus the truth there; then of the noise alone."""
    signal, p = float(along @ along), len(along)
    remainder = max(0.0, scale.total - scale.residual_ss - signal)
    worlds, variances, totals, truth = along[:, None], np.array([scale.variance]), np.array([scale.total]), math.inf
    if scale.noise.df >= LEAST_DF:
        noise = scale.noise.df * scale.variance
        chi2 = noise * rng.chisquare(scale.noise.df, _DRAWS) / scale.noise.df
        alone = math.sqrt(scale.variance) * rng.normal(size=(p, _DRAWS))
        drawn = along[:, None] + alone
        worlds = np.column_stack([worlds, drawn, alone])
        variances = np.concatenate([variances, *[chi2 / scale.noise.df] * 2])
        rest = scale.residual_ss - noise  # with few repeats of scattered settings: no part of the noise behind F
        totals = np.concatenate([totals, *[(drawn**2).sum(0) + remainder + chi2 + rest] * 2])
        truth = signal + remainder + (p + 1 + scale.noise.df) * scale.variance + rest
    gram = np.column_stack(turned).T @ np.column_stack(turned)
    pulled = np.column_stack(turned).T @ worlds
    owner = np.repeat(np.arange(len(turned)), [matrix.shape[1] for matrix in turned])

    def compute_closed(u: frozenset[int]) -> Array:
        if not u:
            return np.zeros(worlds.shape[1])
        at = np.flatnonzero(np.isin(owner, list(u)))
        ss, df = _compute_explained(gram[np.ix_(at, at)], pulled[at])
        share: Array = (ss - df * variances) / (totals + variances)
        share[1 : 1 + _DRAWS] -= ss[0] / truth
        return share

    return compute_closed


def _compute_explained(gram: Array, pulled: Array) -> tuple[Array, int]:
    """Return (sums of squares along these columns, one per world; the rank)."""
    values, vectors = np.linalg.eigh(gram)
    mask = values > _SINGULAR * values[-1]
    return np.asarray(((vectors[:, mask].T @ pulled) ** 2 / values[mask, None]).sum(0), float), int(mask.sum())


def _compute_exact(closed: Closed, k: int) -> Array:
    """Compute from all 2^k sets, numbered by their bits."""
    shares = [closed(frozenset(i for i in range(k) if u >> i & 1)) for u in range(2**k)]
    weights = [math.factorial(size) * math.factorial(k - size - 1) / math.factorial(k) for size in range(k)]
    effects = np.zeros((k, len(shares[0])))
    for u, share in enumerate(shares):
        for i in range(k):
            if not u >> i & 1:
                effects[i] += weights[u.bit_count()] * (shares[u | 1 << i] - share)
    return effects


def sample_effects_by_permutations(
    closed: Closed, k: int, permutations: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return (effects, the standard error of each) by ``permutations``, half of them drawn and half their reverses."""
    pairs = []
    for _ in range(permutations // 2):
        order = rng.permutation(k)
        pairs.append((_walk_order(closed, order) + _walk_order(closed, order[::-1])) / 2)
    return np.mean(pairs, axis=0), np.asarray(
        np.std([pair[:, 0] for pair in pairs], axis=0, ddof=1) / math.sqrt(len(pairs)), float
    )


def _walk_order(closed: Closed, order: np.ndarray) -> Array:
    added, before, u = [], closed(frozenset()), frozenset[int]()
    for i in order.tolist():
        u |= {i}
        after = closed(u)
        added.append(after - before)
        before = after
    effects = np.zeros((len(order), len(before)))
    effects[order] = added
    return effects
