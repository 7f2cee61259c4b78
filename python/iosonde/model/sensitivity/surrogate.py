"""ST of scattered settings: a forest replaces the system, and pick-freeze evaluates it at unmeasured settings.

Jansen's estimator, ST = E[(f(A) - f(A with xᵢ of B))²] ÷ 2V. (Computer Physics Communications 117, 1999; best practice
in Saltelli et al., ibid. 181, 2010.) Rows of A and B are drawn from the factors' observed values, independently: the
factors must be independent. The interval includes what the forest leaves unexplained out of the bag: it may belong to
any factor.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from ..families.nodes import skip_sklearn_checks
from .design import Design
from .variances import Array

MOST_UNEXPLAINED = 0.2  # of V(Y), in addition to the noise between repeats
_TREES, _MOST_SETTINGS, _QUERIES = 100, 10_000, 2048


class Regressor(Protocol):
    """Interface of scikit-learn's regressors."""

    def predict(self, x: Array, /) -> Array:
        """The response at rows × features."""


@dataclass(frozen=True)
class ScaledRegressor:
    """A regressor of the response divided by ``scale``, which predicts the response."""

    regressor: Regressor
    scale: float

    def predict(self, x: Array, /) -> Array:
        """Return the response at rows × features."""
        return np.asarray(self.regressor.predict(x), dtype=np.float64) * self.scale


@dataclass(frozen=True)
class SurrogateShares:
    """ST of each factor, or the reason why there is none."""

    of: dict[int, Estimate]
    name: str
    refused: str = ""


def fit_forest_out_of_bag(
    design: Design, factors: list[int], seed: int, trees: int = _TREES
) -> tuple[Regressor, float]:
    """Return (forest of the cell means on these factors, share of V(Y) that it explains out of the bag)."""
    from sklearn.ensemble import ExtraTreesRegressor

    # A tree splits no node with a variance below 2e-16: small responses, such as latencies, are scaled up.
    # Powers of two change no digit.
    scale = min(1.0, 2.0 ** math.frexp(math.sqrt(design.total))[1])
    x, y, weights = design.x[:, factors], design.means / scale, design.counts
    forest = ExtraTreesRegressor(
        trees, bootstrap=True, max_samples=min(len(y), _MOST_SETTINGS), random_state=seed, n_jobs=1
    )
    guess, times = np.zeros(len(y)), np.zeros(len(y))
    with skip_sklearn_checks():
        forest.fit(x, y, weights)
        for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
            unused = np.ones(len(y), bool)
            unused[rows] = False
            if unused.any():
                guess[unused] += tree.predict(x[unused])
                times[unused] += 1
    covered = times > 0
    guess[covered] /= times[covered]
    error = np.average((y - guess)[covered] ** 2, weights=weights[covered])
    share = 1 - (error * scale**2 + design.ss_within.sum() / design.n) / design.total
    return ScaledRegressor(forest, scale), float(share)


def estimate_total_shares_by_forest(
    design: Design, level: float, noise: float, rng: np.random.Generator
) -> SurrogateShares:
    """Compute total shares by a forest; refused if more than a fifth of V(Y) stays unexplained, not counting the
    ``noise`` between repeats."""
    k = len(design.features)
    forest, explained = fit_forest_out_of_bag(design, list(range(k)), int(rng.integers(2**31)))
    open_ = max(0.0, 1 - noise - explained)
    name = f"forest surrogate with pick-freeze; out of the bag it leaves {100 * open_:.0f} % of the variance open"
    if open_ > MOST_UNEXPLAINED:
        return SurrogateShares(
            {},
            name,
            Message(
                "poor-surrogate",
                "refused: a surrogate leaves {open:.0f} % of the variance open, more than {limit:.0f} %: "
                "measure more settings",
                open=100 * open_,
                limit=100 * MOST_UNEXPLAINED,
            ),
        )
    a, b = (_draw_settings(design, rng) for _ in range(2))
    base = _predict_responses(forest, a)
    own = float(np.concatenate([base, _predict_responses(forest, b)]).var())
    shares = {}
    for i in range(k):
        mixed = a.copy()
        mixed[:, i] = b[:, i]
        halves = (base - _predict_responses(forest, mixed)) ** 2 / 2
        scale = max(0.0, min(1.0, explained)) / own if own > 0 else 0.0  # below 0: worse than the mean
        value = float(np.clip(halves.mean() * scale, 0.0, 1.0))
        wide = float(open_ + 2 * halves.std() * scale / np.sqrt(len(halves)))
        shares[i] = Estimate(value, max(0.0, value - wide), min(1.0, value + wide), level, design.n)
    return SurrogateShares(shares, name)


def _draw_settings(design: Design, rng: np.random.Generator) -> Array:
    share = design.counts / design.counts.sum()
    return np.column_stack([rng.choice(column, _QUERIES, p=share) for column in design.x.T])


def _predict_responses(forest: Regressor, x: Array) -> Array:
    return np.asarray(forest.predict(x), dtype=np.float64)
