"""The wait for the slowest rank: duration of a phase that ends when the last of N ranks is done.

A phase is ``operations`` operations of each rank, then a barrier. Alone, a rank would need a time of mean
``operations`` × (sum of all demands), gamma distributed. While j ranks are active each proceeds at the speed that
the closed network gives to j clients (the flow-equivalent server of Chandy, Herzog and Woo 1975, IBM J. Res. Dev. 19,
36-42). With S the survival function of the time alone and J(x) ~ Binomial(N, S(x)) active ranks,

    T = ∫ E[J(x) ÷ (X(J(x)) · R₁)] dx      X(j): rate of j clients; R₁: response time of one

Exact where nobody waits (T is the expected maximum of N gamma times), for a single server (T is its whole work), and
for one operation each at one exponential queue; between these an approximation, tested against a simulation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array

from .queueing import Station, compute_rate

_POINTS = 240  # of the integral
_POPULATIONS = 32  # at which the network is solved; between them its speed is interpolated


@dataclass(frozen=True)
class SlowestPhase:
    """``seconds`` until the slowest is done, ``mean_s`` of a rank if none had to wait for others; ``rate`` counts the
    whole phase, ``waiting`` is the share of the ranks' time that is spent at the barrier."""

    clients: int
    seconds: float
    mean_s: float
    rate: float
    waiting: float


def predict_synchronised_phase(
    stations: Sequence[Station], clients: int, operations: int, cv: float = 1.0
) -> SlowestPhase:
    """A synchronised phase; ``cv`` is the coefficient of variation of the time at each station (1: exponential)."""
    demands = np.array([station.demand_s for station in stations])
    alone_s = float(demands.sum())
    # Times at several stations even each other out: variances add up.
    cv *= float(np.sqrt(np.sum(demands**2))) / alone_s
    slowed = _compute_slowdown(stations, clients, alone_s)
    x, weight = _build_grid(clients, operations, cv)
    survival = _compute_survival(x, operations, cv)
    seconds = alone_s * float(np.array([_compute_expectation(slowed, clients, share) for share in survival]) @ weight)
    # Finished ranks wait at the barrier: N·T minus the ranks' active time, in the same stretched time.
    busy = alone_s * float(
        np.array([_compute_expectation(slowed * np.arange(clients + 1), clients, s) for s in survival]) @ weight
    )
    done = clients * operations
    return SlowestPhase(clients, seconds, operations * alone_s, done / seconds, 1 - busy / (clients * seconds))


def _compute_survival(x: Array, operations: int, cv: float) -> Array:
    """S of the time alone, in units of one operation's mean."""
    from scipy.special import gammaincc

    shape = operations / cv**2
    return np.asarray(gammaincc(shape, x * shape / operations), float)


def _build_grid(clients: int, operations: int, cv: float) -> tuple[Array, Array]:
    """Points and weights: Gauss-Legendre between the quantiles before which all are active and after which none is."""
    from scipy.special import gammainccinv, gammaincinv

    shape = operations / cv**2
    first = float(gammaincinv(shape, 1e-12 / clients)) * operations / shape
    last = float(gammainccinv(shape, 1e-10 / clients)) * operations / shape
    x, weight = np.polynomial.legendre.leggauss(_POINTS)
    half = (last - first) / 2
    return np.concatenate([[first / 2], first + half * (x + 1)]), np.concatenate([[first], half * weight])


def _compute_slowdown(stations: Sequence[Station], clients: int, alone_s: float) -> Array:
    """Return for 0 … N active ranks how many times longer than alone one operation takes: j ÷ (X(j)·R₁); 0 for none."""
    populations = (
        np.arange(1, clients + 1)
        if clients < _POPULATIONS * 2
        else np.unique(np.round(np.geomspace(1, clients, _POPULATIONS)).astype(int))
    )
    speed = np.array([j / (compute_rate(stations, int(j)) * alone_s) for j in populations])
    if len(populations) < clients:
        from scipy.interpolate import PchipInterpolator

        smooth = PchipInterpolator(np.log(populations), np.log(speed))
        speed = np.exp(smooth(np.log(np.arange(1, clients + 1))))
    return np.concatenate([[0.0], speed])


def _compute_expectation(values: Array, clients: int, share: float) -> float:
    """The mean of values[J] for J ~ Binomial(clients, share): over those J that are not out of reach."""
    from scipy.special import gammaln

    if share >= 1.0 or share <= 0.0:
        return float(values[clients if share >= 1.0 else 0])
    spread = 12 * math.sqrt(clients * share * (1 - share)) + 12
    low, high = max(0, int(clients * share - spread)), min(clients, int(clients * share + spread) + 1)
    j = np.arange(low, high + 1)
    logs = gammaln(clients + 1) - gammaln(j + 1) - gammaln(clients - j + 1)
    logs = logs + j * math.log(share) + (clients - j) * math.log1p(-share)
    return float(np.exp(logs) @ values[low : high + 1])
