"""Noise with a mean of 1: what trials at one setting are multiplied with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(cv: float) -> Draw:
    return lambda rng, n: 1 + cv * rng.standard_normal(n)


def lognormal(sigma: float) -> Draw:
    return lambda rng, n: np.exp(sigma * rng.standard_normal(n) - sigma**2 / 2)


def bimodal(rng: np.random.Generator, n: int) -> np.ndarray:
    """Three in ten at 0.6 of the others."""
    return (np.where(rng.random(n) < 0.3, 0.6, 1.0) + 0.02 * rng.standard_normal(n)) / 0.88


def rare_slow(rng: np.random.Generator, n: int) -> np.ndarray:
    """One in ten at 0.3 of the others."""
    return (np.where(rng.random(n) < 0.1, 0.3, 1.0) + 0.02 * rng.standard_normal(n)) / 0.93


def ticks(rng: np.random.Generator, n: int) -> np.ndarray:
    """A clock whose tick is three standard deviations; its grid lies anywhere."""
    tick = 0.03
    phase = tick * rng.random()
    return np.round((1 + 0.01 * rng.standard_normal(n) - phase) / tick) * tick + phase


def dependent(rng: np.random.Generator, n: int) -> np.ndarray:
    """AR(0.5), one after the other."""
    series = rng.standard_normal(n)
    for place in range(1, n):
        series[place] = 0.5 * series[place - 1] + np.sqrt(0.75) * series[place]
    return 1 + 0.05 * series


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    """As likely anywhere within a fifth."""
    return rng.uniform(0.9, 1.1, n)


def gamma(rng: np.random.Generator, n: int) -> np.ndarray:
    """Skewed: a sum of four waits."""
    return rng.gamma(4, 0.25, n)


def heavy_tails(rng: np.random.Generator, n: int) -> np.ndarray:
    """Student's t of three degrees of freedom."""
    return np.maximum(1 + 0.05 * rng.standard_t(3, n), 0.01)


def rare_hits(rng: np.random.Generator, n: int) -> np.ndarray:
    """One in five from a cache, three times as fast."""
    return (np.where(rng.random(n) < 0.2, 3.0, 1.0) + 0.05 * rng.standard_normal(n)) / 1.4


INDEPENDENT: dict[str, Draw] = {
    "normal, cv 3 %": normal(0.03),
    "normal, cv 10 %": normal(0.1),
    "log-normal, σ 0.1": lognormal(0.1),
    "log-normal, σ 0.3": lognormal(0.3),
}
DIFFICULT: dict[str, Draw] = {
    "log-normal, σ 1": lognormal(1.0),
    "bimodal": bimodal,
    "one in ten at 0.3": rare_slow,
    "ticks of 3 σ": ticks,
    "AR(0.5)": dependent,
}
UNIFORM: tuple[str, Draw] = ("uniform within a fifth", uniform)
SKEWED: dict[str, Draw] = {"gamma of 4": gamma, "Student's t of 3": heavy_tails, "one in five 3 × as fast": rare_hits}
