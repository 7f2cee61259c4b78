"""Shapley effects: shares that add up to what the factors explain, fair also if factors are correlated.

φᵢ = Σ_u |u|!(k-|u|-1)!/k! · (c(u ∪ i) - c(u)) over all sets u without i, c(u) = V(E(Y|X_u))/V(Y). (Owen, SIAM/ASA J.
Uncertainty Quantification 2, 2014; Song, Nelson & Staum, ibid. 4, 2016.) c(u) is by group means if the sets repeat
enough, else by forests out of the bag (Williamson & Feng, ICML 2020); for many factors by an additive model.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.variance_share import NO_NOISE, clamp_share
from iosonde.stats.regression.scattered import SCATTERED

from . import factorial, scattered
from .design import Design
from .shapley_additive import AdditiveEffects, compute_additive_effects
from .shares import build_grouping
from .surrogate import fit_forest_out_of_bag
from .variances import Array, Groups, Resampled, VarianceShare

_MOST_MODELS = 6  # factors: beyond it there are too many sets for group means and forests
_TREES = 50
LEAST_ROWS = 5  # per group mean on average


@dataclass(frozen=True)
class Shapley:
    """The effect of each factor, and the estimator."""

    of: list[Estimate]
    name: str


def estimate_shapley_effects(design: Design, level: float, rng: np.random.Generator) -> Shapley:
    """Estimate the effect of each factor; values are None if the factors have more levels than the settings allow."""
    k = len(design.features)
    if k > _MOST_MODELS:
        return _estimate_by_additive_model(design, level, rng)
    sets: list[Groups] = [frozenset(u) for size in range(k + 1) for u in combinations(range(k), size)]
    if _has_full_groups(design):
        resampled = (scattered if design.kind == SCATTERED else factorial).resample_variances(design, sets, rng)
        return Shapley(_estimate_by_group_means(design, resampled, level), "group means")
    seed = int(rng.integers(2**31))
    closed = {u: max(0.0, fit_forest_out_of_bag(design, sorted(u), seed, _TREES)[1]) if u else 0.0 for u in sets}
    values = _compute_values({u: np.array(c) for u, c in closed.items()}, k)
    why = Message("unknown-interval", "a Shapley effect by forests has no interval")
    return Shapley([Estimate(float(np.clip(v, 0, 1)), None, None, level, design.n, (why,)) for v in values], "forests")


def _estimate_by_additive_model(design: Design, level: float, rng: np.random.Generator) -> Shapley:
    k = len(design.features)
    effects = compute_additive_effects(design, level, rng)
    if effects is None:
        why = Message(
            "too-few-settings",
            "Shapley effects of these {n_factors} factors need more settings than {n_settings}",
            n_factors=k,
            n_settings=design.n_cells,
        )
        return Shapley([Estimate(None, None, None, level, design.n, (why,))] * k, "")
    drawn = "; permutations drawn, Monte Carlo standard error up to {error:.2g}" if effects.error.any() else ""
    name = Message(
        "additive-model",
        "additive model, which leaves {left:.0f} % of the variance" + drawn,
        left=100 * effects.residual_share,
        error=effects.error.max(),
    )
    return Shapley([_estimate_limited_effect(effects, i, level, design.n) for i in range(k)], name)


def _estimate_limited_effect(effects: AdditiveEffects, factor: int, level: float, n: int) -> Estimate:
    value, limits = float(effects.observed[factor]), effects.limits(factor, level)
    return (
        Estimate(float(np.clip(value, 0, 1)), None, None, level, n, (NO_NOISE,))
        if limits is None
        else clamp_share(value, limits, level, n)
    )


def _has_full_groups(design: Design) -> bool:
    """Return whether even the set of all factors has groups of several rows."""
    groups = build_grouping(design.joint(list(range(len(design.features))))[0], design.counts)
    return design.kind != SCATTERED or design.n >= LEAST_ROWS * groups.n


def _estimate_by_group_means(design: Design, resampled: Resampled, level: float) -> list[Estimate]:
    k = len(design.features)
    names = list(resampled.observed.plain)

    def compute_closed(kind: str) -> list[Array]:
        if resampled.drawn is None or resampled.truth is None:
            return []
        source = {"seen": resampled.observed, "drawn": resampled.drawn, "truth": resampled.truth}[kind]
        reading = "true" if kind == "truth" else "corrected"
        return list(_compute_values({u: getattr(VarianceShare(u), reading)(source) for u in names}, k))

    plain = list(_compute_values({u: VarianceShare(u).plain(resampled.observed) for u in names}, k))
    observed, drawn, truth = compute_closed("seen"), compute_closed("drawn"), compute_closed("truth")
    estimates = []
    for i in range(k):
        if not drawn:
            estimates.append(Estimate(float(plain[i]), None, None, level, design.n))
            continue
        tails = np.quantile(drawn[i] - truth[i], [0.5 + level / 2, 0.5 - level / 2])
        low, high = (float(np.clip(observed[i] - tail, 0, 1)) for tail in tails)
        estimates.append(Estimate(float(np.clip(observed[i], 0, 1)), low, high, level, design.n))
    return estimates


def _compute_values(closed: dict[Groups, Array], k: int) -> Iterator[Array]:
    for i in range(k):
        others = [j for j in range(k) if j != i]
        value: Array = np.zeros(())
        for size in range(k):
            weight = math.factorial(size) * math.factorial(k - size - 1) / math.factorial(k)
            for u in combinations(others, size):
                value = value + weight * (closed[frozenset(u) | {i}] - closed[frozenset(u)])
        yield value
