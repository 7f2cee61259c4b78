"""Do the intervals cover what they say, and how often does `check` cry wolf? Simulated, with a fixed seed.

``python benches/coverage.py [--draws N]`` prints the tables of docs/method/coverage.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from iosonde.core.types import Estimate  # noqa: E402
from iosonde.stats import checks, summarise  # noqa: E402
from iosonde.stats.cells import TrialCell  # noqa: E402

SIZES = (3, 6, 10, 20, 30)
LEVELS = (0.9, 0.95, 0.99)
Array = np.ndarray


def normal(rng: np.random.Generator, n: int) -> Array:
    return 100 + 10 * rng.standard_normal(n)


def skewed(rng: np.random.Generator, n: int) -> Array:
    return 100 * np.exp(0.5 * rng.standard_normal(n))


def bimodal(rng: np.random.Generator, n: int) -> Array:
    return np.where(rng.random(n) < 0.3, 60, 100) + 3 * rng.standard_normal(n)


def autocorrelated(rng: np.random.Generator, n: int) -> Array:
    noise = rng.standard_normal(n)
    x = [noise[0]]
    for e in noise[1:]:
        x.append(0.5 * x[-1] + math.sqrt(0.75) * e)
    return 100 + 10 * np.array(x)


# Shape → (draw, true mean, true median)
SHAPES: dict[str, tuple[Callable[[np.random.Generator, int], Array], float, float]] = {
    "normal": (normal, 100, 100),
    "skewed (log-normal, σ 0.5)": (skewed, 100 * math.exp(0.125), 100),
    "bimodal (30 % at 60)": (bimodal, 88, 98.302),
    "autocorrelated (0.5)": (autocorrelated, 100, 100),
}


def covered(estimates: list[Estimate], truth: float) -> str:
    known = [e for e in estimates if e.low is not None and e.high is not None]
    return f"{100 * np.mean([e.low <= truth <= e.high for e in known]):.1f}" if known else "~"


def row(name: str, estimate: Callable[[Array, float], Estimate], shape: str, truth: float, draws: int) -> list[str]:
    """One line: coverage in per cent for each level and n."""
    rng, cells = np.random.default_rng(7), []
    samples = {n: [SHAPES[shape][0](rng, n) for _ in range(draws)] for n in SIZES}
    for level in LEVELS:
        cells += [covered([estimate(x, level) for x in samples[n]], truth) for n in SIZES]
    return [name, shape, *cells]


def intervals(draws: int) -> list[list[str]]:
    rows = []
    for shape, (_, mean, median) in SHAPES.items():
        rows.append(row("mean", summarise.mean, shape, mean, draws))
        rows.append(row("median", summarise.median, shape, median, draws))
        if shape.startswith(("normal", "skewed")):
            typical = 100 if shape.startswith("skewed") else 100 * (1 - 0.005)
            rows.append(row("geometric mean", summarise.geometric_mean, shape, typical, draws))
    return rows


def false_alarms(draws: int, shape: str) -> Counter[str]:
    """How many of so many clean tables (6 cells of 12 trials) raise each finding."""
    rng, alarms = np.random.default_rng(8), Counter[str]()
    for _ in range(draws):
        cells = [TrialCell({"nodes": k}, "rate", "op/s", k * SHAPES[shape][0](rng, 12), "create") for k in range(1, 7)]
        found = {finding.code for finding in checks.run(checks.Subject(cells, 0.95))}
        alarms.update(found)
        alarms["any"] += bool(found)
    return alarms


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4000)
    draws = parser.parse_args().draws
    sizes = [f"{100 * level:g} %, n={n}" for level in LEVELS for n in SIZES]
    print(markdown(["interval", "population", *sizes], intervals(draws)))
    print()
    shapes = ["normal", "skewed (log-normal, σ 0.5)", "autocorrelated (0.5)"]
    seen = {shape: false_alarms(draws // 4, shape) for shape in shapes}
    codes = sorted({code for alarms in seen.values() for code in alarms} - {"any"}) + ["any"]
    rows = [[code, *(f"{100 * seen[shape][code] / (draws // 4):.1f} %" for shape in shapes)] for code in codes]
    print(markdown(["finding", *shapes], rows))


if __name__ == "__main__":
    main()
