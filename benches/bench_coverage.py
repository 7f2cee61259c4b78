"""Do intervals cover what they promise? Simulation of every interval that iosonde prints.

    python benches/bench_coverage.py [--samples N] [--quick]

Prints the tables of docs/method/coverage.md. The same functions that `summary` and `compare` call are called. Ends
with code 1 where an interval misses more often than it promises, in the populations for which it promises (`KEPT`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import limits
from iosonde.core.types import Estimate
from iosonde.stats.estimate.ratio import compute_moments, estimate_geometric_ratio, estimate_ratio_of_means
from iosonde.stats.estimate.stopping import PILOT, compute_stein_trials, estimate_stein_interval
from iosonde.stats.estimate.summarise import estimate_geometric_mean, estimate_mean, estimate_median

LEVELS = (0.90, 0.95, 0.99)
SIZES = (3, 4, 5, 6, 8, 10, 15, 20, 30)
WIDTH = 0.05  # Stein's relative half-width
BETTER = 1.05  # the true ratio of the compared means
SLACK = 0.005  # an approximation may miss by so much more often
TICK = 3.0  # of a clock, in standard deviations


@dataclass(frozen=True)
class Population:
    """Trials with a known mean, median and geometric mean. ``draw(rng, n)`` gives n of them in a row."""

    name: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    mean: float
    median: float
    geometric: float


def _lognormal(rng: np.random.Generator, n: int) -> np.ndarray:
    return 100 * np.exp(0.5 * rng.standard_normal(n))


def _bimodal(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.3, 60.0, 100.0) + 2 * rng.standard_normal(n)


def _autoregressive(rng: np.random.Generator, n: int, correlation: float = 0.5) -> np.ndarray:
    x = rng.standard_normal(n)
    for i in range(1, n):
        x[i] = correlation * x[i - 1] + np.sqrt(1 - correlation**2) * x[i]
    return 100 + 10 * x


def _skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return 100 * np.exp(rng.standard_normal(n))


def _rarely_slow(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.1, 30.0, 100.0) + 2 * rng.standard_normal(n)


def _ticking(rng: np.random.Generator, n: int) -> np.ndarray:
    return TICK * np.round((100 + rng.standard_normal(n)) / TICK)


def _median_above(share: float) -> float:
    """Of a mixture of so much of a lower mode and N(100, 2): the two do not overlap, so it is a quantile of the
    upper."""
    from scipy.special import ndtri

    return float(100 + 2 * ndtri((0.5 - share) / (1 - share)))


def _geometric(*parts: tuple[float, float, float]) -> float:
    """Of a mixture of normal distributions (share, mean, sd), by Gauss and Hermite's quadrature."""
    z, weights = np.polynomial.hermite_e.hermegauss(20)
    logs = [share * float(weights @ np.log(center + sd * z)) for share, center, sd in parts]
    return float(np.exp(sum(logs) / weights.sum()))


POPULATIONS = (
    Population(
        "normal, cv 10 %", lambda rng, n: 100 + 10 * rng.standard_normal(n), 100.0, 100.0, _geometric((1, 100, 10))
    ),
    Population("lognormal, sigma 0.5", _lognormal, 100 * float(np.exp(0.125)), 100.0, 100.0),
    Population(
        "bimodal, 30 % at 60, 70 % at 100", _bimodal, 88.0, _median_above(0.3), _geometric((0.3, 60, 2), (0.7, 100, 2))
    ),
    Population("AR(1), correlation 0.5", _autoregressive, 100.0, 100.0, _geometric((1, 100, 10))),
    Population(
        "one trial in ten at 0.3 times", _rarely_slow, 93.0, _median_above(0.1), _geometric((0.1, 30, 2), (0.9, 100, 2))
    ),
    Population("lognormal, sigma 1", _skewed, 100 * float(np.exp(0.5)), 100.0, 100.0),
    Population("ticks of 3 sd", _ticking, 100.0, 100.0, _geometric((1, 100, 1))),
)


def covered(estimate: Estimate, truth: float) -> bool | None:
    """None where no interval was given."""
    if estimate.low is None or estimate.high is None:
        return None
    return bool(estimate.low <= truth <= estimate.high)


def of_mean(population: Population, n: int, level: float, rng: np.random.Generator) -> bool | None:
    return covered(estimate_mean(population.draw(rng, n), level), population.mean)


def of_median(population: Population, n: int, level: float, rng: np.random.Generator) -> bool | None:
    return covered(estimate_median(population.draw(rng, n), level), population.median)


def of_geometric(population: Population, n: int, level: float, rng: np.random.Generator) -> bool | None:
    return covered(estimate_geometric_mean(population.draw(rng, n), level), population.geometric)


def of_ratio(population: Population, n: int, level: float, rng: np.random.Generator) -> bool | None:
    """Two sides of the same form, one 5 % larger."""
    larger, smaller = compute_moments(BETTER * population.draw(rng, n)), compute_moments(population.draw(rng, n))
    return covered(estimate_ratio_of_means(larger, smaller, level), BETTER)


def of_unlike_ratio(population: Population, n: int, level: float, rng: np.random.Generator) -> bool | None:
    """The side below the line is normal, with the same mean."""
    below = population.mean * (1 + 0.1 * rng.standard_normal(n))
    return covered(
        estimate_ratio_of_means(compute_moments(BETTER * population.draw(rng, n)), compute_moments(below), level),
        BETTER,
    )


def of_geometric_ratio(population: Population, n: int, level: float, rng: np.random.Generator) -> bool | None:
    """Two sides of the same form, one 5 % larger."""
    larger, smaller = compute_moments(BETTER * population.draw(rng, n)), compute_moments(population.draw(rng, n))
    return covered(estimate_geometric_ratio(larger, smaller, level), BETTER)


def of_stein(population: Population, n: int, level: float, rng: np.random.Generator) -> bool | None:
    """A pilot of ``n`` fixes the number of trials."""
    pilot = population.draw(rng, max(n, PILOT))
    total = min(compute_stein_trials(pilot, WIDTH, level), 20_000)
    rest = population.draw(rng, total - pilot.size) if total > pilot.size else np.empty(0)
    return covered(estimate_stein_interval(np.concatenate([pilot, rest]), pilot.size, level), population.mean)


METHODS = {
    "mean (t)": of_mean,
    "median (order statistics)": of_median,
    "geometric mean": of_geometric,
    "ratio of means": of_ratio,
    "ratio of means, to a normal side": of_unlike_ratio,
    "ratio of geometric means": of_geometric_ratio,
    "mean (Stein's rule)": of_stein,
}


# Of which populations a method keeps its promise at every n; the others are shown beside them.
_NORMAL, _SKEWED, _MODES, _DEPENDENT = (population.name for population in POPULATIONS[:4])
KEPT = {
    "mean (t)": {_NORMAL},
    "median (order statistics)": {_NORMAL, _SKEWED, _MODES},
    "geometric mean": {_NORMAL, _SKEWED},
    "ratio of means": {_NORMAL, _SKEWED},
    "ratio of means, to a normal side": {_NORMAL},
    "ratio of geometric means": {_NORMAL, _SKEWED},
    "mean (Stein's rule)": {_NORMAL},
}


def hits(method: str, population: Population, n: int, level: float, samples: int, seed: int = 1) -> tuple[int, int]:
    """How many intervals hold the truth, and how many were given."""
    rng = np.random.default_rng(seed)
    seen = [METHODS[method](population, n, level, rng) for _ in range(samples)]
    return sum(hit is True for hit in seen), sum(hit is not None for hit in seen)


def coverage(method: str, population: Population, n: int, level: float, samples: int, seed: int = 1) -> float | None:
    """The share of intervals that hold the truth; None where the method gives none."""
    held, given = hits(method, population, n, level, samples, seed)
    return held / given if given else None


def is_beyond(method: str, population: Population, level: float, held: int, given: int) -> bool:
    """Whether a method promises an interval here, and breaks the promise."""
    return population.name in KEPT[method] and limits.too_many(given - held, given, 1 - level + SLACK)


def table(method: str, samples: int) -> list[str]:
    """Print one table: populations and levels down, n across, ``~`` where no interval is given. What is beyond its
    limit."""
    broken = []
    sizes = [n for n in SIZES if method != "mean (Stein's rule)" or n in (6, 10, 20)]
    print(f"| {method} | level | {' | '.join(f'n = {n}' for n in sizes)} |\n|---|---|{'---|' * len(sizes)}")
    for population in POPULATIONS:
        for level in LEVELS:
            found = [hits(method, population, n, level, samples) for n in sizes]
            cells = [f"{100 * held / given:.1f}" if given else "~" for held, given in found]
            print(f"| {population.name} | {100 * level:g} | {' | '.join(cells)} |", flush=True)
            broken += [
                f"{method}, {population.name}, {100 * level:g} %, n = {n}: {held} of {given}"
                for n, (held, given) in zip(sizes, found, strict=True)
                if is_beyond(method, population, level, held, given)
            ]
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--quick", action="store_true", help="100 samples of each")
    parser.add_argument("--only", default="", metavar="WORDS", help="only the tables whose name holds them")
    asked, _ = parser.parse_known_args()
    samples = 100 if asked.quick else asked.samples
    error = 100 * 1.96 * np.sqrt(0.95 * 0.05 / samples)
    print(f"per cent of intervals that hold the truth; {samples} samples each (± {error:.1f} at 95)\n")
    broken = []
    for method in (name for name in METHODS if asked.only in name):
        broken += table(method, samples)
        print()
    return limits.report(broken)


if __name__ == "__main__":
    sys.exit(main())
