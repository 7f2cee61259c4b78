"""Linear, Amdahl and USL: laws in which N ÷ X is a sum of non-negative parts.

    X(N) = λN ÷ (1 + α(N − 1) + κN(N − 1))        Universal Scalability Law; Amdahl: κ = 0; linear: α = κ = 0
    N ÷ X = a + b(N − 1) + cN(N − 1)              a = 1/λ, b = α/λ, c = κ/λ, all ≥ 0

λ is the rate of one node as the law sees it, fitted as all others; α the share that is serial (contention), κ the cost
of agreement between each pair (coherency). Source: Gunther 2008, A General Theory of Computational Capacity Scaling,
arXiv:0808.1431; Amdahl 1967.

The sum of squared log residuals is made least by Gauss-Newton, each step a non-negative least squares (Lawson and
Hanson). The value that a profile likelihood fixes (a parameter, the place of the peak, the rate at some size) is in any
case one linear equation in (a, b, c), so that one function fits them all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .points import Array, Points

_STEPS = 60
_NOTHING = 1e-12  # of N ÷ X at the largest size
_CONSTRAINT_WEIGHT = 1e6  # weight of the fixed equation, against rows of weight 1


@dataclass(frozen=True)
class LinearConstraint:
    """The constraint row · (a, b, c) = value of a fit."""

    row: tuple[float, float, float]
    value: float


def build_rational_columns(sizes: Array) -> Array:
    """The parts of N ÷ X at each size: 1, N − 1, N(N − 1)."""
    return np.column_stack([np.ones_like(sizes), sizes - 1, sizes * (sizes - 1)])


def compute_log_rates(parts: Array, sizes: Array) -> Array:
    """log X of a law with these (a, b, c)."""
    with np.errstate(divide="ignore"):  # a = 0 has no end at N = 1
        return np.log(sizes) - np.log(build_rational_columns(sizes) @ parts)


def fit_rational_law(
    points: Points, terms: Sequence[int], constraint: LinearConstraint | None = None, offset: Array | None = None
) -> Array:
    """Return (a, b, c) of least squares in logs. ``terms`` are the indices that may be other than 0; ``offset`` is
    added to the law's log rate at each size."""
    return fit_jumps(points, terms, np.zeros((len(points), 0)), constraint, offset)[0]


def fit_jumps(
    points: Points,
    terms: Sequence[int],
    beyond: Array,
    constraint: LinearConstraint | None = None,
    offset: Array | None = None,
) -> tuple[Array, Array]:
    """Return ((a, b, c), log factors) as :func:`fit`. Each column of ``beyond`` (0 or 1 at each size) adds a free
    number to the law's log rate where it is 1."""
    from scipy.optimize import nnls

    parts = build_rational_columns(points.sizes)[:, list(terms)]
    scale = parts.max(axis=0)
    scale[scale == 0] = 1.0
    parts, n_parts = parts / scale, parts.shape[1]
    target = np.log(points.sizes) - points.log_rates + (0.0 if offset is None else offset)
    weight = np.sqrt(points.weights)
    extra, value = _build_equation(constraint, terms, scale, target)
    # A jump has any sign: it is the difference of two non-negative numbers.
    signed = np.hstack([beyond, -beyond])
    extra = np.hstack([extra, np.zeros((1, signed.shape[1]))])

    def compute_step(current: Array | None) -> Array:
        # Around `current`, log(sum) ≈ log(sum₀) + sum/sum₀ − 1; at first around the measured N ÷ X.
        around = np.exp(target) if current is None else parts @ current[:n_parts]
        rhs = np.ones_like(target) if current is None else 1 + target - np.log(around)
        rows = np.hstack([parts / around[:, None], -signed]) * weight[:, None]
        solution: Array = nnls(np.vstack([rows, extra]), np.append(rhs * weight, value))[0]
        return solution

    def compute_loss(candidate: Array) -> float:
        total = parts @ candidate[:n_parts]
        off = target + signed @ candidate[n_parts:]
        return float(np.sum((weight * (off - np.log(total))) ** 2)) if np.all(total > 0) else np.inf

    best = compute_step(None)
    if not np.isfinite(compute_loss(best)):
        # At N = 1 only a is left: if it is 0 the law has no logarithm there. Begin inside.
        best[list(terms).index(0)] += 0.05 * float(np.exp(target.min()))
    best = _minimise_by_gauss_newton(best, compute_step, compute_loss)
    law, jumps = best[:n_parts], best[n_parts:]
    coefficients = np.zeros(3)
    coefficients[list(terms)] = np.where(law > _NOTHING * law.max(), law, 0.0) / scale
    return coefficients, jumps[: beyond.shape[1]] - jumps[beyond.shape[1] :]


def _minimise_by_gauss_newton(best: Array, step: Callable[[Array], Array], loss: Callable[[Array], float]) -> Array:
    """Run Gauss-Newton from ``best``, each step halved until it descends."""
    least = loss(best)
    for _ in range(_STEPS):
        move, size = step(best) - best, 1.0
        while size > 1e-4 and not (new := loss(best + size * move)) < least:
            size /= 2
        if size <= 1e-4:
            break
        gained, best, least = least - new, best + size * move, new
        if gained <= 1e-12 * least:
            break
    return best


def _build_equation(
    constraint: LinearConstraint | None, terms: Sequence[int], scale: Array, target: Array
) -> tuple[Array, float]:
    """Return the fixed equation as a heavy row of the least squares, in the scaled parts."""
    if constraint is None:
        return np.zeros((1, len(terms))), 0.0
    row = np.array(constraint.row)[list(terms)] / scale
    # Divided by N ÷ X the other rows are near 1; the heavy one must outweigh them.
    size = float(np.max(np.abs(row))) or 1.0
    unit = float(np.exp(np.mean(target)))
    return (_CONSTRAINT_WEIGHT * row / size / unit)[None, :], _CONSTRAINT_WEIGHT * constraint.value / size / unit
