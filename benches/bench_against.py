"""Does `run --against` keep its promise? Simulation of pairs that are looked at after every pair.

    python benches/bench_against.py [--samples N] [--quick]

Prints the tables of docs/method/against.md. The boundary is the product's own; a verdict is what its interval says.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from iosonde.stats.estimate.distributions import t_critical
from iosonde.stats.estimate.sequential import LEAST, MOST, compute_critical_t

LEVEL, MARGIN = 0.95, 0.05
PLANS = (12, 20, 30, 50, 100)  # pairs at most
LONGEST = 400  # trials a side of a fixed plan

# n trials in a row of so many campaigns, around 1, with a coefficient of variation
Draw = Callable[[np.random.Generator, tuple[int, int], float], np.ndarray]


def normal(rng: np.random.Generator, shape: tuple[int, int], cv: float) -> np.ndarray:
    return 1 + cv * rng.standard_normal(shape)


def lognormal(rng: np.random.Generator, shape: tuple[int, int], cv: float) -> np.ndarray:
    return np.exp(math.sqrt(math.log1p(cv**2)) * rng.standard_normal(shape))


def exponential(rng: np.random.Generator, shape: tuple[int, int], cv: float) -> np.ndarray:
    """A least time, and what comes on top of it."""
    return 1 - cv + cv * rng.standard_exponential(shape)


def autoregressive(rng: np.random.Generator, shape: tuple[int, int], cv: float) -> np.ndarray:
    x = rng.standard_normal(shape)
    for i in range(1, shape[1]):
        x[:, i] = 0.5 * x[:, i - 1] + math.sqrt(0.75) * x[:, i]
    return 1 + cv * x


def outliers(rng: np.random.Generator, shape: tuple[int, int], cv: float) -> np.ndarray:
    """One trial in ten takes ten standard deviations longer."""
    return 1 + cv * rng.standard_normal(shape) + 10 * cv * (rng.random(shape) < 0.1)


NOISE: dict[str, Draw] = {
    "normal": normal,
    "lognormal": lognormal,
    "shifted exponential": exponential,
    "AR(1), 0.5": autoregressive,
    "10 % outliers": outliers,
}


@dataclass(frozen=True)
class Outcome:
    """Of many campaigns: shares of verdicts, how often the interval missed at the end and at any look, pairs."""

    different: float
    above: float
    equal: float
    missed: float
    missed_ever: float
    wrong_way: float
    pairs: np.ndarray

    @property
    def told(self) -> float:
        return self.different + self.equal


def paths(draw: Draw, cv: float, ratio: float, most: int, samples: int, seed: int = 1) -> np.ndarray:
    """log(B ÷ A) of every pair: trials in a row, the order within each pair at random."""
    rng = np.random.default_rng(seed)
    trials = draw(rng, (samples, 2 * most), cv).reshape(samples, most, 2)
    b_first = rng.random((samples, most)) < 0.5
    a, b = (np.where(b_first, trials[..., place], trials[..., 1 - place]) for place in (1, 0))
    return np.log(b) - np.log(a) + math.log(ratio)


@cache
def boundary(most: int, level: float = LEVEL) -> np.ndarray:
    return np.array([compute_critical_t(n, level, most) for n in range(LEAST, most + 1)])


def followed(logs: np.ndarray, ratio: float, margin: float = MARGIN, bound: np.ndarray | None = None) -> Outcome:
    """What the rule does with these pairs; ``bound`` replaces its boundary."""
    most = logs.shape[1]
    n = np.arange(LEAST, most + 1)
    mean = logs.cumsum(axis=1)[:, LEAST - 1 :] / n
    squares = (logs**2).cumsum(axis=1)[:, LEAST - 1 :]
    sd = np.sqrt(np.maximum(squares - n * mean**2, 0) / (n - 1))
    half = (boundary(most) if bound is None else bound) * sd / np.sqrt(n)
    apart = np.abs(mean) > half
    inside = np.abs(mean) + half <= math.log1p(margin)
    told = apart | inside
    stop = np.where(told.any(axis=1), told.argmax(axis=1), n.size - 1)
    at = (np.arange(len(logs)), stop)
    truth = math.log(ratio)
    misses = np.abs(mean - truth) > half
    return Outcome(
        different=float(np.mean(apart[at])),
        above=float(np.mean(apart[at] & (mean[at] > 0))),
        equal=float(np.mean(inside[at] & ~apart[at])),
        missed=float(np.mean(misses[at])),
        missed_ever=float(np.mean(misses.any(axis=1))),
        wrong_way=float(np.mean(apart[at] & (mean[at] * truth <= 0))),
        pairs=n[stop],
    )


def fixed_plan(cv: float, ratio: float, power: float) -> int:
    """Trials a side after which Student's t over two sides finds the ratio with this power."""
    from scipy.stats import nct

    effect = math.log(ratio) / cv
    found = (
        n
        for n in range(2, LONGEST)
        if nct.sf(t_critical(LEVEL, 2 * n - 2), 2 * n - 2, effect * math.sqrt(n / 2)) >= power
    )
    return next(found, LONGEST)


def verdicts(samples: int) -> Iterator[str]:
    yield "| trials | CV | B ÷ A | different | equal | cannot tell | wrong | missed at the end | missed ever | pairs |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, draw in NOISE.items():
        for cv in (0.03, 0.10):
            for ratio in (1.0, 1.02, 1.05, 1.10):
                seen = followed(paths(draw, cv, ratio, MOST, samples), ratio)
                wrong = seen.different if ratio == 1 else seen.wrong_way + (seen.equal if ratio > 1 + MARGIN else 0)
                shares = (seen.different, seen.equal, 1 - seen.told, wrong, seen.missed, seen.missed_ever)
                cells = " | ".join(f"{100 * share:.1f}" for share in shares)
                middle = f"{np.mean(seen.pairs):.1f} ({np.median(seen.pairs):.0f}, {np.quantile(seen.pairs, 0.9):.0f})"
                yield f"| {name} | {100 * cv:g} % | {ratio:g} | {cells} | {middle} |"


def at_limit(samples: int, limit: float = MARGIN) -> Iterator[str]:
    """Campaigns that end when the interval lies wholly above a limit, or wholly below it."""
    yield "| trials | CV | B ÷ A | above the limit | below | not told | pairs |"
    yield "|---|---|---|---|---|---|---|"
    for name, draw in NOISE.items():
        for cv in (0.03, 0.10):
            for ratio in (1.0, 1.02, 1 + limit, 1.08, 1.10, 1.20):
                # Around the limit all is as around 1: what is apart from it lies above or below.
                logs = paths(draw, cv, ratio, MOST, samples) - math.log1p(limit)
                seen = followed(logs, ratio / (1 + limit), 0.0)
                shares = (seen.above, seen.different - seen.above, 1 - seen.different)
                cells = " | ".join(f"{100 * share:.1f}" for share in shares)
                middle = f"{np.mean(seen.pairs):.1f} ({np.median(seen.pairs):.0f}, {np.quantile(seen.pairs, 0.9):.0f})"
                yield f"| {name} | {100 * cv:g} % | {ratio:g} | {cells} | {middle} |"


def few(samples: int) -> Iterator[str]:
    """Campaigns that a budget ends early: the interval then, and the false alarms until then."""
    yield "| trials | ends after | false differences | missed at the end | by Student's t after each pair |"
    yield "|---|---|---|---|---|"
    for name, draw in NOISE.items():
        logs = paths(draw, 0.03, 1.0, MOST, samples)
        for pairs in (6, 8, 12, 100):
            student = np.array([t_critical(LEVEL, n - 1) for n in range(LEAST, pairs + 1)])
            seen = followed(logs[:, :pairs], 1.0, 0.0, boundary(MOST)[: pairs - LEAST + 1])
            peeking = followed(logs[:, :pairs], 1.0, 0.0, student)
            cells = (seen.different, seen.missed, peeking.different)
            yield f"| {name} | {pairs} pairs | " + " | ".join(f"{100 * share:.1f}" for share in cells) + " |"


def savings(samples: int, cv: float = 0.03, ratio: float = 1.05) -> Iterator[str]:
    yield "| at most | power | pairs (mean) | trials (mean) | trials of a fixed plan of that power | share |"
    yield "|---|---|---|---|---|---|"
    for most in PLANS:
        seen = followed(paths(normal, cv, ratio, most, samples), ratio, margin=0.0)
        power = min(seen.different, 1 - 1 / samples)
        trials, fixed = 2 * float(np.mean(seen.pairs)), 2 * fixed_plan(cv, ratio, power)
        row = (f"{most} pairs", f"{100 * power:.2f} %", f"{trials / 2:.1f}", f"{trials:.1f}", str(fixed))
        yield f"| {' | '.join(row)} | {trials / fixed:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--quick", action="store_true", help="500 campaigns of each")
    asked, _ = parser.parse_known_args()
    samples = 500 if asked.quick else asked.samples
    error = 100 * 1.96 * math.sqrt(0.95 * 0.05 / samples)
    print(f"per cent of {samples} simulated campaigns (± {error:.1f} at 5), margin {MARGIN:.0%}, {LEVEL:.0%}\n")
    for title, table in (
        ("verdicts", verdicts),
        ("a limit of 5 %", at_limit),
        ("few pairs", few),
        ("a difference of 5 % at CV 3 %", savings),
    ):
        print(f"{title}\n", *table(samples), "", sep="\n", flush=True)


if __name__ == "__main__":
    main()
