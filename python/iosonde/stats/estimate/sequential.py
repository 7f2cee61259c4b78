"""Sequential pairs: an interval of the ratio that is valid at every look.

Student's t after each pair, with the verdict as soon as it is clear, finds a difference in 24 of 100 comparisons
without one. Here all looks together, from the 6th pair to the last planned one, miss the true ratio with probability at
most alpha. So the interval may be looked at after every pair. The one at the last look is the result, whatever the
reason to stop (repeated confidence intervals: Jennison & Turnbull 1989, JRSS B 51, 305-361).

A pair is the logarithm of B ÷ A. The boundary has the form of the sequential t-test whose alternative is an effect of
one standard deviation of a pair. The Bayes factor of N(0, 1) against 0 for mean ÷ sd, with the right Haar prior of the
sd, is a test martingale (Lai 1976, Annals of Statistics 4, 265-280; Wang & Ramdas 2023, arXiv:2310.03722; Pérez-Ortiz
et al. 2024, Annals of Statistics 52, 1410-1432). Ville's inequality would put it at 1 ÷ alpha, which also pays for
looks that nobody takes. ``solve_log_threshold`` computes it for the looks that are taken, as Jennison & Turnbull do for
sequential t tests (1991, Biometrika 78, 133-141). docs/method/against.md has simulations.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .logs import exp_estimate
from .summarise import Values, compute_sd

LEAST = 6  # pairs before the first look
MOST = 100  # pairs by default

_ABSCISSAE, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_DEGREE = 12  # of the polynomials that approximate a smooth function
_ANGLES = np.pi * (2 * np.arange(_DEGREE) + 1) / (2 * _DEGREE)
_NODES = (1 + np.cos(_ANGLES)) / 2  # Chebyshev nodes in [0, 1]
_TO_CHEBYSHEV = np.cos(np.outer(np.arange(_DEGREE), _ANGLES)) * np.where(np.arange(_DEGREE), 2, 1)[:, None] / _DEGREE
_FAR = 7.0  # standard deviations, beyond which the density is negligible
_SETTLED = 1e-3  # share of alpha


def estimate_sequential_ratio(logs: Values, level: float, most: int = MOST) -> Estimate:
    """Return the geometric mean of the pairs' ratios, with an interval that is valid at every look up to ``most``
    pairs.

    ``logs`` are log(B ÷ A) of each pair. Raises InputError for more pairs than planned.
    """
    check_level(level)
    x = np.asarray(logs, dtype=float)
    n = int(x.size)
    if n > most:
        raise InputError(
            "too-many-pairs",
            "{n} pairs are more than the planned {limit}",
            "the plan is sealed",
            n=n,
            limit=most,
        )
    value = math.exp(float(np.mean(x))) if n else None
    if n < LEAST:
        return Estimate(
            value,
            None,
            None,
            level,
            n,
            (
                Message(
                    "too-few-pairs",
                    "{pairs} not enough: at least {least} are needed",
                    pairs="1 pair is" if n == 1 else f"{n} pairs are",
                    least=LEAST,
                ),
            ),
        )
    half = compute_critical_t(n, level, most) * compute_sd(x) / math.sqrt(n)
    if not math.isfinite(half):
        return Estimate(
            value, None, None, level, n, (Message("too-few-pairs", "too few pairs for an interval at this level"),)
        )
    center = float(np.mean(x))
    return exp_estimate(Estimate(center, center - half, center + half, level, n))


def compute_critical_t(n: int, level: float, most: int = MOST) -> float:
    """Return the critical value of Student's t at the look after ``n`` pairs; infinite if no pairs can reach it."""
    u2 = _compute_boundary(n, solve_log_threshold(1 - level, most)) ** 2
    return math.inf if u2 >= n * (1 - 1e-12) else math.sqrt((n - 1) * u2 / (n - u2))


@lru_cache(256)
def solve_log_threshold(alpha: float, most: int = MOST) -> float:
    """Return the threshold of the log Bayes factor that looks after LEAST … ``most`` pairs cross with total probability
    ``alpha`` without a difference. Ville's bound, log(1 ÷ alpha), is its upper limit."""
    low, high = 0.0, math.log(1 / alpha)
    p_low, p_high = compute_crossing_probability(most, low), compute_crossing_probability(most, high)
    if p_low <= alpha:
        return low
    for _ in range(40):
        # log p is nearly linear; the limits of the share make it bisect elsewhere.
        share = math.log(p_low / alpha) / math.log(p_low / p_high)
        at = low + (high - low) * min(max(share, 0.02), 0.98)
        p = compute_crossing_probability(most, at)
        if abs(p / alpha - 1) < _SETTLED:
            break
        low, high, p_low, p_high = (at, high, p, p_high) if p > alpha else (low, at, p_low, p)
    return at


def compute_crossing_probability(most: int, log_factor: float) -> float:
    """Return the probability that normal pairs without a difference cross the boundary at any look up to ``most``.

    u = Σx ÷ √Σx² is a Markov chain. The next one is u·cos φ + sin φ, φ being the angle between the previous pairs and
    the next one. Its density is cos(φ)^(n-1) in any case, as the direction of normal pairs does not depend on their
    length. So the probability of no crossing from here on is a function of u, computed from the last look backwards.
    """
    bound, next_bound = _compute_boundary(most, log_factor), math.inf
    after = _fit_curve(bound, next_bound, np.ones_like)
    for n in range(most - 1, LEAST - 1, -1):
        bound, next_bound = _compute_boundary(n, log_factor), bound
        after = _fit_curve(bound, next_bound, _StepBack(n, next_bound, after))
    return 1 - 2 * after.integrate(lambda u: _compute_density(u, LEAST))


@dataclass(frozen=True)
class _Curve:
    """An even function of u up to ``bound``: smooth to the ``knee``, a smooth function of √(u - knee) beyond it.

    Beyond the knee the next pair may cross: there the function falls as that root does.
    """

    bound: float
    knee: float
    inner: Array
    outer: Array

    def __call__(self, u: Array) -> Array:
        u = np.abs(u)
        below = _evaluate_chebyshev(np.minimum(u, self.knee) ** 2 / self.knee**2, self.inner)
        if self.knee >= self.bound:
            return below
        root = np.sqrt(np.maximum(u - self.knee, 0) / (self.bound - self.knee))
        return np.where(u <= self.knee, below, _evaluate_chebyshev(root, self.outer))

    def integrate(self, density: Callable[[Array], Array]) -> float:
        """Integrate the function times a density from 0 to the bound."""
        at = (_ABSCISSAE + 1) / 2
        inner, width = self.knee * at, self.bound - self.knee
        outer = self.knee + width * at**2
        parts = self.knee * density(inner) * self(inner) + 2 * at * width * density(outer) * self(outer)
        return float(np.sum(_WEIGHTS / 2 * parts))


def _fit_curve(bound: float, next_bound: float, function: Callable[[Array], Array]) -> _Curve:
    knee = min(bound, math.sqrt(next_bound**2 - 1))
    return _Curve(
        bound,
        knee,
        _TO_CHEBYSHEV @ function(knee * np.sqrt(_NODES)),
        _TO_CHEBYSHEV @ function(knee + (bound - knee) * _NODES**2),
    )


@dataclass(frozen=True)
class _StepBack:
    """The probability of no crossing from look ``n`` on as a function of u, computed from that of the next look."""

    n: int
    next_bound: float
    after: _Curve

    def __call__(self, u: Array) -> Array:
        radius, turn = np.sqrt(1 + u * u), np.arctan(u)
        far = min(math.pi / 2, _FAR / math.sqrt(self.n))
        # An arc lies beyond the boundary; before and after it the pairs continue.
        edge = np.arcsin(np.minimum(1, self.next_bound / radius))
        first = np.clip(edge - turn, -far, far)
        again = np.clip(math.pi - edge - turn, first, far)
        total = np.zeros_like(u)
        for start, end in ((np.full_like(u, -far), first), (again, np.full_like(u, far))):
            half = (end - start)[:, None] / 2
            angle = start[:, None] + half * (_ABSCISSAE + 1)
            reached = radius[:, None] * np.sin(angle + turn[:, None])
            total += np.sum(half * _WEIGHTS * np.cos(angle) ** (self.n - 1) * self.after(reached), axis=1)
        return total * _compute_sphere_factor(self.n)


def _compute_boundary(n: int, log_factor: float) -> float:
    """Return |u| at which the Bayes factor, (n+1)^(-1/2)·(1 - u²/(n+1))^(-n/2), equals the threshold; at most √n, the
    upper limit of u."""
    return math.sqrt(min(float(n), (n + 1) * -math.expm1(-(2 * log_factor + math.log(n + 1)) / n)))


def _compute_density(u: Array, n: int) -> Array:
    """Return the density of u = Σx ÷ √Σx² of ``n`` normal pairs without a difference."""
    return _compute_sphere_factor(n - 1) / math.sqrt(n) * np.maximum(1 - u**2 / n, 0) ** ((n - 3) / 2)


def _compute_sphere_factor(n: int) -> float:
    """Return 1 ÷ ∫cos(φ)^(n-1) over half a turn."""
    return math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi)


def _evaluate_chebyshev(x: Array, coefficients: Array) -> Array:
    return np.asarray(np.polynomial.chebyshev.chebval(2 * x - 1, coefficients), dtype=float)
