"""Min-law and queue: laws with a ceiling C, and one number θ that bends them between linear and flat.

    X(N) = min(λN, C)                  min-law: θ = C/λ, the size at the knee (asymptotic bounds, Denning, Buzen 1978)
    X(N) = (1 − B(N, Z/D)) ÷ D         queue: N clients that think for Z, then ask one server that needs D for each

The queue is the closed network M/M/1//N (machine repairman; Lazowska et al. 1984, Quantitative System Performance). B
is Erlang's loss formula: the chance that the server has nothing to do. λ = 1/(Z + D), C = 1/D, θ = D ÷ (Z + D).

Both have rate λ at N = 1. λ is found in closed form (logs), θ on a grid and then exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .points import Array, Points

_GRID, _SPARSE, _FAR = 240, 24, 1e14
_LEAST_SHARE = 1e-15


@dataclass(frozen=True)
class Bend:
    """A law with a ceiling. ``log_shape(sizes, thetas)`` is log(X/λ), one row for each θ, sizes may be infinite;
    ``grid(largest size)`` are the θ to try, ascending."""

    log_shape: Callable[[Array, Array], Array]
    grid: Callable[[float], Array]


def fit_knee_law(
    bend: Bend, points: Points, at: tuple[float, float] | None = None, theta: float | None = None
) -> Array:
    """Return (λ, θ) of least squares in logs. ``at`` = (size, log rate) fixes the rate at one size (infinity: the
    ceiling), ``theta`` fixes θ."""
    if theta is not None:
        return _select_best_theta(bend, points, np.array([theta]), at)[0]
    grid = bend.grid(float(points.sizes[-1]))
    parameters, place = _select_best_theta(bend, points, grid, at)
    lower, right = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    for _ in range(3):
        # Three times eleven steps between the neighbours of the best: θ to one part in 10⁴.
        finer = np.linspace(lower, right, 12)
        parameters, place = _select_best_theta(bend, points, finer, at)
        lower, right = finer[max(place - 1, 0)], finer[min(place + 1, 11)]
    return parameters


def _select_best_theta(bend: Bend, points: Points, thetas: Array, at: tuple[float, float] | None) -> tuple[Array, int]:
    shapes = _compute_shapes(bend, points.sizes.tobytes(), thetas.tobytes())
    level = (
        (points.log_rates - shapes) @ points.weights / points.weights.sum()
        if at is None
        else at[1] - _compute_shapes(bend, np.array([at[0]], dtype=float).tobytes(), thetas.tobytes())[:, 0]
    )
    off = points.log_rates - shapes - level[:, None]
    place = int(np.argmin(np.where(np.isfinite(level), (off * off) @ points.weights, np.inf)))
    return np.array([np.exp(np.minimum(level[place], 700.0)), thetas[place]]), place


@lru_cache(64)
def _compute_shapes(bend: Bend, sizes: bytes, thetas: bytes) -> Array:
    """Compute log_shape with a cache: a profile needs the same grid a hundred times."""
    return bend.log_shape(np.frombuffer(sizes), np.frombuffer(thetas))


def _compute_log_min_shape(sizes: Array, thetas: Array) -> Array:
    return np.log(np.minimum(sizes[None, :], thetas[:, None]))


def _build_knee_grid(largest: float) -> Array:
    """Return knees from one node to beyond the largest size; any knee beyond looks linear."""
    return np.append(np.geomspace(1.0, 64 * largest, _GRID), np.geomspace(128 * largest, _FAR * largest, _SPARSE))


def _compute_log_queue_shape(sizes: Array, thetas: Array) -> Array:
    shares, n = np.broadcast_arrays(
        np.maximum(thetas, _LEAST_SHARE)[:, None], np.where(np.isfinite(sizes), sizes, 1.0)[None, :]
    )
    queued = np.isfinite(sizes)[None, :] & (shares < 1)
    busy: Array = np.ones(shares.shape)
    busy[queued] = _compute_busy_share(n[queued], (1 - shares[queued]) / shares[queued])
    return np.asarray(np.log(busy) - np.log(shares), float)


def _compute_busy_share(n: Array, load: Array) -> Array:
    """1 − B(n, load): Erlang's B is the Poisson mass at n over the sum up to n."""
    from scipy.special import gammaincc, gammaln

    busy = np.empty(len(load))
    light = load > n + 20 * np.sqrt(n + 1) + 20
    k, a = n[~light], load[~light]
    busy[~light] = 1 - np.exp(k * np.log(a) - a - gammaln(k + 1)) / gammaincc(k + 1, a)
    # There the sum underflows: 1/B = ∫ exp(−u) (1 + u/a)ⁿ du, and 1/B − 1 without loss of digits, by Gauss-Laguerre.
    k, a = n[light][:, None], load[light][:, None]
    v, weight = _compute_laguerre_rule()
    rest = 1 - k / a
    u = v / rest
    grown = k * np.log1p(u / a)
    excess = np.sum(weight * np.exp(v - u + grown) * -np.expm1(-grown) / rest, axis=1)
    busy[light] = excess / (1 + excess)
    return busy


@lru_cache(1)
def _compute_laguerre_rule() -> tuple[Array, Array]:
    return np.polynomial.laguerre.laggauss(24)


def _build_server_share_grid(largest: float) -> Array:
    """Return shares of the server in an operation; below 1/64 of the inverse of the largest size no queue is
    visible."""
    return np.append(
        np.geomspace(1 / (_FAR * largest), 1 / (128 * largest), _SPARSE), np.geomspace(1 / (64 * largest), 1.0, _GRID)
    )


MIN_LAW = Bend(_compute_log_min_shape, _build_knee_grid)
QUEUE = Bend(_compute_log_queue_shape, _build_server_share_grid)
